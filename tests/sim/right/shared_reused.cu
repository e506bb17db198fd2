// The same shared memory is used as floats, then as ints in another layout.
// launch: reuse --grid 2 --block 64 --shared 256 x=f32[128] y=i32[128]
__global__ void reuse(const float *x, int *y) {
    extern __shared__ float f[];
    int *n = (int *)f;
    unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;
    f[t] = x[i] + (float)t;
    __syncthreads();
    float v = f[(t + 1) % 64];
    __syncthreads();
    n[63 - t] = (int)v;
    __syncthreads();
    y[i] = n[t];
}
