// A tree reduction without the barrier between its levels.
// launch: reduce --grid 2 --block 128 x=f32[256] y=f32[2]
// says: shared race in kernel reduce: block (
// says: shared_race.cu:14
// says: of shared 'sums' (512 bytes)
// says: with no barrier
__global__ void reduce(const float *x, float *y) {
    __shared__ float sums[128];
    unsigned t = threadIdx.x;
    sums[t] = x[blockIdx.x * blockDim.x + t] + (float)t;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s)
            sums[t] += sums[t + s];
    }
    __syncthreads();
    if (t == 0)
        y[blockIdx.x] = sums[0];
}
