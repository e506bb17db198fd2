// The last element of a tile is read and never written.
// launch: smooth --grid 1 --block 64 x=f32[64] y=f32[64]
// says: uninitialized read in kernel smooth: block (0,0,0) thread (63,0,0) at
// says: uninitialized_shared.cu:11
// says: reads 4 bytes at byte 256 of shared 'tile' (260 bytes), which nothing has written
__global__ void smooth(const float *x, float *y) {
    __shared__ float tile[65];
    unsigned t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    y[t] = tile[t] + tile[t + 1];
}
