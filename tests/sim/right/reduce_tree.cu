// A tree reduction, with a barrier at every level.
// launch: reduce --grid 4 --block 128 x=f32[512] y=f32[4]
__global__ void reduce(const float *x, float *y) {
    __shared__ float sums[128];
    unsigned t = threadIdx.x;
    sums[t] = x[blockIdx.x * blockDim.x + t] + (float)t;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s)
            sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0)
        y[blockIdx.x] = sums[0];
}
