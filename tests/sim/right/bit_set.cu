// A set of bits that all threads fill and then read.
// launch: primes --grid 1 --block 64 y=i32[256]
__global__ void primes(int *y) {
    __shared__ unsigned composite[8];
    if (threadIdx.x < 8)
        atomicExch(&composite[threadIdx.x], 0u);
    __syncthreads();
    for (unsigned k = 2 * (threadIdx.x + 2); k < 256; k += threadIdx.x + 2)
        atomicOr(&composite[k / 32], 1u << k % 32);
    __syncthreads();
    for (unsigned k = threadIdx.x; k < 256; k += 64)
        y[k] = !(composite[k / 32] >> k % 32 & 1);
}
