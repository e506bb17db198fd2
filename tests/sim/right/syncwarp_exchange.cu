// Lanes of a warp exchange values through shared memory, with __syncwarp and no barrier.
// launch: turn --grid 2 --block 96 x=i32[192] y=i32[192]
__global__ void turn(const int *x, int *y) {
    __shared__ int tile[96];
    unsigned t = threadIdx.x, base = t & ~31u, lane = t & 31u, i = blockIdx.x * blockDim.x + t;
    tile[t] = x[i] + (int)t;
    __syncwarp();
    int v = tile[base + (31 - lane)];
    __syncwarp();
    tile[t] = v * 2;
    __syncwarp();
    if (lane < 16) {
        tile[t] += tile[t + 16];
        __syncwarp(0xffffu);
        if (lane < 8)
            v = tile[t] + tile[t + 8];
    }
    y[i] = v;
}
