// Lanes exchange values through shared memory as if they ran in step.
// launch: reduce --grid 1 --block 64 x=f32[64] y=f32[1]
// says: shared race in kernel reduce: block (0,0,0) thread (
// says: warp_no_syncwarp.cu:13
// says: with no barrier or __syncwarp between
__global__ void reduce(const float *x, float *y) {
    __shared__ float s[64];
    unsigned t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (unsigned d = 32; d; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        if (d > 32)
            __syncthreads();
    }
    if (t == 0)
        *y = s[0];
}
