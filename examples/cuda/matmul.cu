// c = a b for square matrices of n rows, n a multiple of TILE. Each block computes one tile of c from tiles of a and b in shared
// memory. Blocks have TILE x TILE threads; the grid has n/TILE x n/TILE blocks.

#ifndef TILE
#define TILE 8
#endif

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        a_tile[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < TILE; j++)
            sum += a_tile[threadIdx.y][j] * b_tile[j][threadIdx.x];
        __syncthreads(); // no thread may load the next tiles while others still read these
    }
    c[row * n + column] = sum;
}
