// Blocks at the edge fill the outside of the image with zeros; all threads reach every barrier.
// launch: blur --grid 3,3 --block 8,8 x=f32[20,20] y=f32[20,20] n=20
__global__ void blur(const float *x, float *y, int n) {
    __shared__ float tile[10][10];
    int ox = (int)blockIdx.x * 8 - 1, oy = (int)blockIdx.y * 8 - 1;
    for (int k = (int)(threadIdx.y * 8 + threadIdx.x); k < 100; k += 64) {
        int i = oy + k / 10, j = ox + k % 10;
        tile[k / 10][k % 10] = i >= 0 && i < n && j >= 0 && j < n ? x[i * n + j] : 0.f;
    }
    __syncthreads();
    int i = oy + 1 + (int)threadIdx.y, j = ox + 1 + (int)threadIdx.x;
    float sum = 0;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            sum += tile[threadIdx.y + a][threadIdx.x + b];
    if (i < n && j < n)
        y[i * n + j] = sum / 9;
}
