// One thread sums values that the others may not have written yet.
// launch: sum --grid 1 --block 128 x=i32[128] y=i32[1]
// says: shared race in kernel sum: block (0,0,0) thread (
// says: one_thread_sums_early.cu:13
// says: of shared 'values' (512 bytes)
__global__ void sum(const int *x, int *y) {
    __shared__ int values[128];
    unsigned t = threadIdx.x;
    values[t] = x[t] + (int)t;
    if (t == 0) {
        *y = 0;
        for (int k = 0; k < 128; k++)
            *y += values[k];
    }
}
