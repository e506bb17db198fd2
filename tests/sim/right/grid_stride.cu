// Grid-stride loops over an array whose size is not a multiple of the grid.
// launch: scale --grid 3 --block 64 x=f32[1000] y=f32[1000] n=1000 k=2.5
__global__ void scale(const float *x, float *y, int n, float k) {
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += (int)(gridDim.x * blockDim.x))
        y[i] = k * x[i] + y[i];
}
