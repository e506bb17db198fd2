// Blocks take work items from a counter: one thread draws an item for all threads of its block.
// launch: work --grid 3 --block 32 next=u32[1] y=u32[640] items=20
__global__ void work(unsigned *next, unsigned *y, unsigned items) {
    __shared__ unsigned item;
    for (;;) {
        if (threadIdx.x == 0)
            item = atomicAdd(next, 1u);
        __syncthreads();
        unsigned mine = item;
        __syncthreads();
        if (mine >= items)
            break;
        y[mine * 32 + threadIdx.x] = mine + threadIdx.x;
    }
}
