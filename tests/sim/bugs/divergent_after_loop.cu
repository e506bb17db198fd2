// Threads that leave the loop early do not reach its barrier.
// launch: search --grid 1 --block 64 x=i32[64] y=i32[64]
// says: divergent barrier in kernel search: block (0,0,0) thread (
// says: divergent_after_loop.cu:12
__global__ void search(const int *x, int *y) {
    __shared__ int s[64];
    int t = (int)threadIdx.x;
    s[t] = t;
    for (int k = 0; k < 4; k++) {
        if (x[t] + t > 50)
            break;
        __syncthreads();
        s[t] += k;
    }
    __syncthreads();
    y[t] = s[t];
}
