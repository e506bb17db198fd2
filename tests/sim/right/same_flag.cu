// Many threads set one flag to the same value.
// launch: search --grid 4 --block 64 x=i32[256] found=i32[1] counts=i32[4]
__global__ void search(const int *x, int *found, int *counts) {
    __shared__ bool any;
    __shared__ int count;
    any = false;
    count = 0;
    __syncthreads();
    if (x[blockIdx.x * 64 + threadIdx.x] == 0) {
        any = true;
        atomicAdd(&count, 1);
    }
    __syncthreads();
    if (any)
        *found = 1;
    counts[blockIdx.x] = count;
}
