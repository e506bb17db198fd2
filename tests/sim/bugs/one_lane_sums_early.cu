// The first lane of each warp sums the values of its warp, without __syncwarp.
// launch: sum --grid 1 --block 128 x=i32[128] y=i32[1]
// says: shared race in kernel sum: block (0,0,0) thread (
// says: one_lane_sums_early.cu:13
// says: with no barrier or __syncwarp between
__global__ void sum(const int *x, int *y) {
    __shared__ int values[128], sums[4];
    unsigned t = threadIdx.x, warp = t / 32;
    values[t] = x[t] + (int)t;
    if (t % 32 == 0) {
        sums[warp] = 0;
        for (unsigned k = 0; k < 32; k++)
            sums[warp] += values[warp * 32 + k];
    }
    __syncthreads();
    if (t == 0)
        *y = sums[0] + sums[1] + sums[2] + sums[3];
}
