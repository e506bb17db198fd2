// Divides the elements of an array by their sum, with three kernels, as in textbooks: partial sums of blocks in shared memory, one
// thread that adds the partial sums, and a division.

#define THREADS 256

// partials[b] is the sum of the elements that block b reads. Blocks have THREADS threads.
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

// partials[0] becomes the sum of all partial sums. Runs with one thread.
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
