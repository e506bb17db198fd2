// The last steps of a reduction as in old code: volatile alone no longer keeps the lanes of a warp in step.
// launch: sum --grid 2 --block 64 y=i32[2]
// says: shared race in kernel sum: block (
// says: with no barrier or __syncwarp between
__device__ void finish(volatile int *s, int t) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}
__global__ void sum(int *y) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t < 32)
        finish(s, t);
    if (t == 0)
        y[blockIdx.x] = s[0];
}
