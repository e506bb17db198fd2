// A tile with a column of padding that is never written or read.
// launch: transpose --grid 3,2 --block 16,16 x=f32[32,48] y=f32[48,32]
__global__ void transpose(const float *x, float *y) {
    __shared__ float tile[16][17];
    unsigned i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = x[j * 48 + i];
    __syncthreads();
    i = blockIdx.y * 16 + threadIdx.x;
    j = blockIdx.x * 16 + threadIdx.y;
    y[j * 32 + i] = tile[threadIdx.x][threadIdx.y];
}
