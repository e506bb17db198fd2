// Two halves of a warp, each with its own mask.
// launch: halves --grid 1 --block 64 y=i32[64]
__global__ void halves(int *y) {
    __shared__ int tile[64];
    unsigned t = threadIdx.x, half = t % 32 / 16, mask = half ? 0xffff0000u : 0x0000ffffu, base = t & ~15u;
    for (int round = 0; round < 3; round++) {
        tile[t] = (int)t + round;
        __syncwarp(mask);
        int v = tile[base + (t + 5) % 16];
        __syncwarp(mask);
        y[t] = v;
    }
}
