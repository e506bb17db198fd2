// Warps hand values over many times with a shared flag and fences of the block; each value is read once.
// launch: relay --grid 2 --block 128 y=i32[2]
__global__ void relay(int *y) {
    __shared__ int value;
    __shared__ volatile int turn;
    unsigned warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        value = 0;
        turn = 0;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < 3; k++) {
            while (turn != k * 4 + (int)warp) {
            }
            __threadfence_block();
            value = value * 3 + (int)warp;
            __threadfence_block();
            turn = k * 4 + (int)warp + 1;
        }
    __syncthreads();
    if (threadIdx.x == 0)
        y[blockIdx.x] = value;
}
