// Blocks wait for each other: they arrive with an atomic, and wait with volatile reads.
// launch: steps --grid 6 --block 32 a=f32[192] b=f32[192] arrived=u32[1]
__device__ void wait_for_all(unsigned *arrived, unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1u);
        while (*(volatile unsigned *)arrived < goal) {
        }
        __threadfence();
    }
    __syncthreads();
}
__global__ void steps(float *a, float *b, unsigned *arrived) {
    unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = (float)i;
    for (unsigned step = 1; step <= 4; step++) {
        wait_for_all(arrived, (2 * step - 1) * gridDim.x);
        b[i] = a[(i + 33) % n] + 1.f;
        wait_for_all(arrived, 2 * step * gridDim.x);
        a[i] = b[(i + 65) % n] * 0.5f;
    }
}
