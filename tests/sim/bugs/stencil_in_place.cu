// Blocks that read what their neighbours overwrite.
// launch: smooth --grid 4 --block 64 x=f32[256]
// says: global race in kernel smooth: block (
// says: stencil_in_place.cu:
__global__ void smooth(float *x) {
    __shared__ float tile[66];
    int t = (int)threadIdx.x, i = (int)blockIdx.x * 64 + t;
    tile[t + 1] = x[i];
    if (t == 0)
        tile[0] = i ? x[i - 1] : 0.f;
    if (t == 63)
        tile[65] = i < 255 ? x[i + 1] : 0.f;
    __syncthreads();
    x[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / 3;
}
