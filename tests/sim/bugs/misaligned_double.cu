// A double at an address that is only a multiple of 4.
// launch: load --grid 1 --block 4 x=f32[32] y=f64[4]
// says: misaligned access in kernel load: block (0,0,0) thread (
// says: misaligned_double.cu:8
// says: reads 8 bytes at byte
__global__ void load(const float *x, double *y) {
    const double *d = (const double *)(x + 1);
    y[threadIdx.x] = d[threadIdx.x];
}
