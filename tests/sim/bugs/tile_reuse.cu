// A tile is filled again before all threads have read it.
// launch: matmul --grid 2,2 --block 8,8 a=f32[16,16] b=f32[16,16] c=f32[16,16] n=16
// says: shared race in kernel matmul: block (
// says: tile_reuse.cu:
// says: with no barrier
__global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[8][8], tb[8][8];
    int x = (int)threadIdx.x, y = (int)threadIdx.y, i = (int)blockIdx.y * 8 + y, j = (int)blockIdx.x * 8 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 8) {
        ta[y][x] = a[i * n + k + x];
        tb[y][x] = b[(k + y) * n + j];
        __syncthreads();
        for (int m = 0; m < 8; m++)
            sum += ta[y][m] * tb[m][x];
    }
    c[i * n + j] = sum;
}
