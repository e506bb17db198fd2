// Atomic counts in shared memory, added to the totals with atomics.
// launch: count --grid 4 --block 128 x=u8[4096] bins=u32[256]
__global__ void count(const unsigned char *x, unsigned *bins) {
    __shared__ unsigned mine[256];
    for (unsigned k = threadIdx.x; k < 256; k += blockDim.x)
        mine[k] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < 4096; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[(x[i] + i) % 256], 1u);
    __syncthreads();
    for (unsigned k = threadIdx.x; k < 256; k += blockDim.x)
        if (mine[k])
            atomicAdd(&bins[k], mine[k]);
}
