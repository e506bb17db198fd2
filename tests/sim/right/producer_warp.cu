// One warp produces tiles and the other uses them, with a volatile counter and fences of the block.
// launch: pipeline --grid 2 --block 64 y=i32[64]
__global__ void pipeline(int *y) {
    __shared__ int tile[32];
    __shared__ volatile int made, used;
    unsigned lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        made = 0;
        used = 0;
    }
    __syncthreads();
    int sum = 0;
    for (int k = 1; k <= 5; k++) {
        if (threadIdx.x < 32) {
            if (lane == 0) {
                while (used < k - 1) {
                }
                __threadfence_block();
            }
            __syncwarp();
            tile[lane] = k * (int)lane;
            __syncwarp();
            if (lane == 0) {
                __threadfence_block();
                made = k;
            }
        } else {
            if (lane == 0) {
                while (made < k) {
                }
                __threadfence_block();
            }
            __syncwarp();
            sum += tile[31 - lane];
            __syncwarp();
            if (lane == 0) {
                __threadfence_block();
                used = k;
            }
        }
    }
    if (threadIdx.x >= 32)
        y[blockIdx.x * 32 + lane] = sum;
}
