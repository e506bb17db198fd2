// An inclusive scan between two halves of dynamic shared memory.
// launch: scan --grid 2 --block 64 --shared 512 x=f32[128] y=f32[128]
__global__ void scan(const float *x, float *y) {
    extern __shared__ float buffer[];
    int t = (int)threadIdx.x, n = (int)blockDim.x, out = 0, in = 1;
    buffer[t] = x[blockIdx.x * n + t] + 1.f;
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        out = 1 - out;
        in = 1 - out;
        buffer[out * n + t] = t >= d ? buffer[in * n + t] + buffer[in * n + t - d] : buffer[in * n + t];
        __syncthreads();
    }
    y[blockIdx.x * n + t] = buffer[out * n + t];
}
