// A scan over blocks: each block waits for those before it, one after the other.
// launch: scan --grid 12 --block 32 x=i32[384] y=i32[384] state=i32[12] sums=i32[12] totals=i32[12]
__global__ void scan(const int *x, int *y, volatile int *state, int *sums, int *totals) {
    __shared__ int before;
    unsigned b = blockIdx.x, i = b * 32 + threadIdx.x;
    int v = x[i] + 1;
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffffu, v, d);
        v += (int)threadIdx.x >= d ? left : 0;
    }
    if (threadIdx.x == 31) {
        sums[b] = v;
        __threadfence();
        state[b] = 1;
        int sum = 0;
        for (int k = (int)b - 1; k >= 0; k--) {
            int s;
            while ((s = state[k]) == 0) {
            }
            __threadfence();
            if (s == 2) {
                sum += totals[k];
                break;
            }
            sum += sums[k];
        }
        totals[b] = sum + v;
        __threadfence();
        state[b] = 2;
        before = sum;
    }
    __syncthreads();
    y[i] = before + v;
}
