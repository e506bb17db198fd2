// Each warp's total goes to all blocks of the cluster, which add them in the same order. Then each block reads its
// neighbour's dynamic memory, with a barrier before it ends.
// launch: sums --grid 8 --block 64 --shared 256 x=f32[512] y=f32[512]
__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(64) sums(const float *x, float *y) {
    __shared__ float totals[8];
    extern __shared__ float kept[];
    const unsigned rank = __clusterRelativeBlockRank(), lane = threadIdx.x % 32, i = blockIdx.x * 64 + threadIdx.x;
    __cluster_barrier_arrive_relaxed();
    float total = kept[threadIdx.x] = x[i] + (float)i;
    for (int d = 16; d > 0; d /= 2)
        total += __shfl_xor_sync(0xffffffffu, total, d);
    __cluster_barrier_wait();
    if (lane < __clusterSizeInBlocks())
        *(float *)__cluster_map_shared_rank(&totals[rank * 2 + threadIdx.x / 32], lane) = total;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    const float *next = (const float *)__cluster_map_shared_rank(kept, (rank + 1) % 4);
    float all = next[threadIdx.x];
    for (int k = 0; k < 8; k++)
        all += totals[k];
    y[i] = all;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}
