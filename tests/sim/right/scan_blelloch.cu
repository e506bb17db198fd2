// An exclusive scan, up and down a tree.
// launch: scan --grid 1 --block 64 x=i32[128] y=i32[128]
__global__ void scan(const int *x, int *y) {
    __shared__ int a[128];
    int t = (int)threadIdx.x, offset = 1;
    a[2 * t] = x[2 * t] + 1;
    a[2 * t + 1] = x[2 * t + 1] + 1;
    for (int d = 64; d > 0; d /= 2) {
        __syncthreads();
        if (t < d)
            a[offset * (2 * t + 2) - 1] += a[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0)
        a[127] = 0;
    for (int d = 1; d < 128; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int left = a[offset * (2 * t + 1) - 1];
            a[offset * (2 * t + 1) - 1] = a[offset * (2 * t + 2) - 1];
            a[offset * (2 * t + 2) - 1] += left;
        }
    }
    __syncthreads();
    y[2 * t] = a[2 * t];
    y[2 * t + 1] = a[2 * t + 1];
}
