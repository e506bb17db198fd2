// Sums over warps with shuffles, then over the block through shared memory.
// launch: sum --grid 3 --block 160 x=f32[480] y=f32[3]
__global__ void sum(const float *x, float *y) {
    __shared__ float warps[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float v = x[blockIdx.x * blockDim.x + threadIdx.x] + 1.f;
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    if (lane == 0)
        warps[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < blockDim.x / 32 ? warps[lane] : 0.f;
        for (int d = 16; d; d /= 2)
            v += __shfl_down_sync(0xffffffffu, v, d);
        if (lane == 0)
            y[blockIdx.x] = v;
    }
}
