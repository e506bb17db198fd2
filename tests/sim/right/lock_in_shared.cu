// A lock within a block: fences of the block are enough.
// launch: add --grid 3 --block 64 y=i32[3]
__global__ void add(int *y) {
    __shared__ int lock, sum;
    if (threadIdx.x == 0) {
        lock = 0;
        sum = 0;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence_block();
        sum = sum + (int)threadIdx.x + 1;
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        y[blockIdx.x] = sum;
}
