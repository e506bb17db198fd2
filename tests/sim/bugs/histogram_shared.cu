// The threads of one block count without atomics.
// launch: count --grid 1 --block 64 bins=u32[16]
// says: shared race in kernel count: block (0,0,0) thread (
// says: histogram_shared.cu:10
__global__ void count(unsigned *bins) {
    __shared__ unsigned mine[16];
    if (threadIdx.x < 16)
        mine[threadIdx.x] = 0;
    __syncthreads();
    mine[threadIdx.x % 16]++;
    __syncthreads();
    if (threadIdx.x < 16)
        bins[threadIdx.x] = mine[threadIdx.x];
}
