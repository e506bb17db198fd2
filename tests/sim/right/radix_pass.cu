// One pass of a radix sort, by one bit: ballots within warps, counts through shared memory.
// launch: split --grid 1 --block 128 y=u32[128]
__global__ void split(unsigned *y) {
    __shared__ unsigned zeros[4], values[128];
    unsigned t = threadIdx.x, lane = t % 32, warp = t / 32, v = t * 37 % 128;
    for (unsigned bit = 0; bit < 7; bit++) {
        bool one = v >> bit & 1;
        unsigned ones = __ballot_sync(0xffffffffu, one), before = (1u << lane) - 1;
        if (lane == 0)
            zeros[warp] = 32 - (unsigned)__popc(ones);
        __syncthreads();
        unsigned all = 0, mine = 0;
        for (unsigned k = 0; k < 4; k++) {
            mine += k < warp ? zeros[k] : 0;
            all += zeros[k];
        }
        unsigned to = one ? all + (32 * warp - mine) + (unsigned)__popc(ones & before)
                          : mine + (unsigned)__popc(~ones & before);
        values[to] = v;
        __syncthreads();
        v = values[t];
    }
    y[t] = v;
}
