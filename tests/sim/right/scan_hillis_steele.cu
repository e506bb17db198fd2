// An inclusive scan, with two barriers for each step.
// launch: scan --grid 2 --block 128 x=i32[256] y=i32[256]
__global__ void scan(const int *x, int *y) {
    __shared__ int a[128];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    a[t] = x[i] + 1;
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        int v = t >= d ? a[t - d] : 0;
        __syncthreads();
        a[t] += v;
        __syncthreads();
    }
    y[i] = a[t];
}
