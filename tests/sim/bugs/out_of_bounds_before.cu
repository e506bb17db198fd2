// One element before the first.
// launch: shift --grid 1 --block 64 x=f64[64] y=f64[64]
// says: out of bounds in kernel shift: block (0,0,0) thread (0,0,0) at
// says: out_of_bounds_before.cu:8
// says: reads 8 bytes, just before the start of an array of 512 bytes
__global__ void shift(const double *x, double *y) {
    int i = (int)threadIdx.x;
    y[i] = x[i - 1];
}
