// Rounds until no value changes, decided by all threads of the block.
// launch: settle --grid 2 --block 64 y=i32[128]
__global__ void settle(int *y) {
    __shared__ int a[64];
    unsigned t = threadIdx.x;
    a[t] = (int)t;
    __syncthreads();
    int changed;
    do {
        int least = a[t], left = t ? a[t - 1] : least;
        __syncthreads();
        changed = left < least;
        if (changed)
            a[t] = left;
    } while (__syncthreads_or(changed));
    y[blockIdx.x * 64 + t] = a[t];
}
