// A scan that overwrites what others still read.
// launch: scan --grid 1 --block 64 x=i32[64] y=i32[64]
// says: shared race in kernel scan: block (0,0,0) thread (
// says: scan_one_buffer.cu:12
__global__ void scan(const int *x, int *y) {
    __shared__ int a[64];
    unsigned t = threadIdx.x;
    a[t] = x[t] + 1;
    __syncthreads();
    for (unsigned d = 1; d < 64; d *= 2) {
        if (t >= d)
            a[t] += a[t - d];
        __syncthreads();
    }
    y[t] = a[t];
}
