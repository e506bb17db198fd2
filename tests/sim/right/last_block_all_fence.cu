// Every thread fences its own write; after the barrier, one thread counts.
// launch: total --grid 12 --block 96 partial=f32[1152] sum=f32[1] count=u32[1]
__device__ float load_volatile(const volatile float *p) { return *p; }
__global__ void total(float *partial, float *sum, unsigned *count) {
    __shared__ unsigned ticket;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[i] = (float)i;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        ticket = atomicInc(count, gridDim.x - 1);
    __syncthreads();
    if (ticket == gridDim.x - 1 && threadIdx.x < 32) {
        float mine = 0;
        for (unsigned k = threadIdx.x; k < gridDim.x * blockDim.x; k += 32)
            mine += k % 2 ? partial[k] : load_volatile(&partial[k]);
        for (int d = 16; d; d /= 2)
            mine += __shfl_down_sync(0xffffffffu, mine, d);
        if (threadIdx.x == 0)
            *sum = mine;
    }
}
