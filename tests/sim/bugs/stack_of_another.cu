// Threads read another thread's local array through a pointer.
// launch: share --grid 1 --block 32 y=i32[32]
// says: out of bounds in kernel share: block (0,0,0) thread (
// says: stack_of_another.cu:11
__global__ void share(int *y) {
    __shared__ int *pointer;
    int mine[4] = {(int)threadIdx.x, 1, 2, 3};
    if (threadIdx.x == 0)
        pointer = mine;
    __syncthreads();
    y[threadIdx.x] = pointer[threadIdx.x % 4] + mine[0];
    __syncthreads();
}
