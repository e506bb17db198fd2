// The tile's edge is filled only where the image continues, but it is always read.
// launch: blur --grid 2 --block 32 x=f32[64] y=f32[64]
// says: uninitialized read in kernel blur: block (
// says: tile_half_filled.cu:15
// says: of shared 'tile' (136 bytes), which nothing has written
__global__ void blur(const float *x, float *y) {
    __shared__ float tile[34];
    int t = (int)threadIdx.x, i = (int)blockIdx.x * 32 + t;
    tile[t + 1] = x[i];
    if (t == 0 && i > 0)
        tile[0] = x[i - 1];
    if (t == 31 && i < 63)
        tile[33] = x[i + 1];
    __syncthreads();
    y[i] = tile[t] + tile[t + 1] + tile[t + 2];
}
