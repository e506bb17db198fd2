// Addition of doubles by compare-and-swap that starts with a plain read, as in CUDA's programming guide.
// launch: total --grid 4 --block 64 sum=f64[1]
__device__ double add(double *address, double value) {
    unsigned long long *at = (unsigned long long *)address, old = *at, assumed;
    do {
        assumed = old;
        old = atomicCAS(at, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
__global__ void total(double *sum) { add(sum, 1.0); }
