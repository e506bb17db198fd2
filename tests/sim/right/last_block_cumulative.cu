// All threads write, a barrier, then thread 0 fences and counts for all of them.
// launch: total --grid 20 --block 64 partial=i32[1280] sum=i32[1] count=u32[1]
__global__ void total(int *partial, int *sum, unsigned *count) {
    __shared__ bool last;
    partial[blockIdx.x * blockDim.x + threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    int mine = 0;
    for (unsigned k = threadIdx.x; k < gridDim.x * blockDim.x; k += blockDim.x)
        mine += partial[k];
    atomicAdd(sum, mine);
}
