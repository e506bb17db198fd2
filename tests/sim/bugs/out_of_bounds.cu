// One element too far.
// launch: shift --grid 4 --block 256 x=f32[1000] y=f32[1000] n=1000
// says: out of bounds in kernel shift: block (3,0,0) thread (231,0,0) at
// says: out_of_bounds.cu:9
// says: reads 4 bytes, just after the end of an array of 4,000 bytes
__global__ void shift(const float *x, float *y, int n) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        y[i] = x[i + 1];
}
