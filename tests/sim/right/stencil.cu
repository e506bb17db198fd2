// Each block reads its neighbours' edges of the input.
// launch: stencil --grid 4 --block 64 x=f32[250] y=f32[250] n=250
__global__ void stencil(const float *x, float *y, int n) {
    __shared__ float tile[66];
    int t = (int)threadIdx.x, i = (int)(blockIdx.x * blockDim.x) + t;
    tile[t + 1] = i < n ? x[i] : 0.f;
    if (t == 0)
        tile[0] = i > 0 ? x[i - 1] : 0.f;
    if (t == (int)blockDim.x - 1)
        tile[t + 2] = i + 1 < n ? x[i + 1] : 0.f;
    __syncthreads();
    if (i < n)
        y[i] = tile[t] + tile[t + 1] + tile[t + 2];
}
