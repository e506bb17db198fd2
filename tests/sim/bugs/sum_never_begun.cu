// A shared sum that is never set to zero.
// launch: total --grid 1 --block 64 y=i32[1]
// says: uninitialized read in kernel total: block (0,0,0) thread (
// says: sum_never_begun.cu:8
// says: updates 4 bytes at byte 0 of shared 'sum' (4 bytes), which nothing has written
__global__ void total(int *y) {
    __shared__ int sum;
    atomicAdd(&sum, (int)threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0)
        *y = sum;
}
