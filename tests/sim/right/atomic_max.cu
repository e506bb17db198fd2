// The maximum of floats by compare-and-swap.
// launch: greatest --grid 4 --block 64 y=f32[1]
__device__ float atomic_max(float *address, float value) {
    int *at = (int *)address, old = *(volatile int *)at, assumed;
    do {
        assumed = old;
        if (__int_as_float(assumed) >= value)
            break;
        old = atomicCAS(at, assumed, __float_as_int(value));
    } while (assumed != old);
    return __int_as_float(old);
}
__global__ void greatest(float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomic_max(y, (float)(i * 97 % 256));
}
