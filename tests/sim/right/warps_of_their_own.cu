// Each warp has its own part of shared memory and its own __syncwarp, in loops of different length.
// launch: rounds --grid 2 --block 128 y=i32[256]
__global__ void rounds(int *y) {
    __shared__ int parts[4][32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int v = (int)lane;
    for (unsigned k = 0; k <= warp; k++) {
        parts[warp][lane] = v;
        __syncwarp();
        v = parts[warp][(lane + 1) % 32] + 1;
        __syncwarp();
    }
    y[blockIdx.x * 128 + threadIdx.x] = v;
}
