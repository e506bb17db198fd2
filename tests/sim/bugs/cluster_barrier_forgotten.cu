// Values from another block are read after a barrier of only this block.
// launch: turn --grid 4 --block 32 y=f32[128]
// says: shared race in kernel turn: block (
// says: of shared 'given' (128 bytes)
// says: with nothing that orders the two blocks
__global__ void __cluster_dims__(2, 1, 1) turn(float *y) {
    __shared__ float given[32];
    const unsigned rank = __clusterRelativeBlockRank();
    given[threadIdx.x] = 0.5f;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    ((float *)__cluster_map_shared_rank(given, 1 - rank))[threadIdx.x] = (float)threadIdx.x + (float)rank * 0.25f;
    __syncthreads();
    y[blockIdx.x * 32 + threadIdx.x] = given[threadIdx.x];
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}
