// Grids and blocks of three dimensions.
// launch: fill --grid 2,2,2 --block 4,4,4 y=u32[512]
__global__ void fill(unsigned *y) {
    __shared__ unsigned tile[4][4][4];
    uint3 t = threadIdx, b = blockIdx;
    tile[t.z][t.y][t.x] = t.x + 10 * t.y + 100 * t.z;
    __syncthreads();
    unsigned block = b.x + gridDim.x * (b.y + gridDim.y * b.z), at = t.x + 4 * (t.y + 4 * t.z);
    y[block * 64 + at] = tile[t.x][t.z][t.y];
}
