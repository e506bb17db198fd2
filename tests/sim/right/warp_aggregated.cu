// One atomic for all active lanes.
// launch: keep --grid 4 --block 64 y=i32[256] count=i32[1]
__device__ int next(int *count) {
    unsigned here = __activemask();
    int leader = __ffs((int)here) - 1, first = 0;
    unsigned lane = threadIdx.x & 31u;
    if ((int)lane == leader)
        first = atomicAdd(count, __popc(here));
    first = __shfl_sync(here, first, leader);
    return first + __popc(here & ((1u << lane) - 1));
}
__global__ void keep(int *y, int *count) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i % 3 == 0)
        y[next(count)] = i;
}
