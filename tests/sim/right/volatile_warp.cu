// Old code: a warp's last steps on volatile shared memory, with __syncwarp between them.
// launch: reduce --grid 2 --block 64 x=f32[128] y=f32[2]
__device__ void warp_reduce(volatile float *s, unsigned t) {
    float v = s[t];
    for (int d = 16; d; d /= 2) {
        v += s[t + d];
        __syncwarp();
        s[t] = v;
        __syncwarp();
    }
}
__global__ void reduce(const float *x, float *y) {
    __shared__ float s[64];
    unsigned t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t] + 1.f;
    __syncthreads();
    if (t < 32)
        s[t] += s[t + 32];
    __syncthreads();
    if (t < 32)
        warp_reduce(s, t);
    if (t == 0)
        y[blockIdx.x] = s[0];
}
