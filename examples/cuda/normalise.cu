// Divides the elements of an array by their sum, in three kernels, as textbooks do it: partial sums of blocks in shared
// memory, a single thread that adds the partial sums, a division.

#define THREADS 256

// partials[b]: the sum of the elements that block b passes over. THREADS threads a block.
extern "C" __global__ void partial_sums(const float *x, float *partials, unsigned n) {
    __shared__ float sums[THREADS];
    float sum = 0;
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        sum += x[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partials[blockIdx.x] = sums[0];
}

// partials[0]: the sum of all. One thread.
extern "C" __global__ void total(float *partials, unsigned count) {
    float sum = 0;
    for (unsigned k = 0; k < count; k++)
        sum += partials[k];
    partials[0] = sum;
}

extern "C" __global__ void divide(float *x, const float *sum, unsigned n) {
    float scale = 1 / sum[0];
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] *= scale;
}
