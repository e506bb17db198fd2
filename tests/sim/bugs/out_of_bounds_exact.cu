// One element past an array whose size is a power of two, with others beside it.
// launch: shift --grid 4 --block 256 w=f32[1024] x=f32[1024] y=f32[1024] z=f32[1024]
// says: out of bounds in kernel shift: block (3,0,0) thread (255,0,0) at
// says: out_of_bounds_exact.cu:8
// says: reads 4 bytes, just after the end of an array of 4,096 bytes
__global__ void shift(float *w, const float *x, float *y, float *z) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    y[i] = x[i + 1];
    w[i] = z[i] = y[i];
}
