// Clusters of two dimensions use a counter in their first block's shared memory; blocks without work end early.
// launch: count --grid 4,4,2 --block 32 n=i32[8]
__global__ void __cluster_dims__(2, 2) count(int *n) {
    __shared__ int counter;
    const dim3 cluster = __clusterIdx(), extents = __clusterGridDimInClusters();
    if (__clusterRelativeBlockRank() == 0 && threadIdx.x == 0)
        counter = 0;
    __cluster_barrier_arrive();
    if (threadIdx.x >= 24)
        return;
    __cluster_barrier_wait();
    atomicAdd((int *)__cluster_map_shared_rank(&counter, 0), (int)__clusterRelativeBlockIdx().y + 1);
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    if (__clusterRelativeBlockRank() == 0 && threadIdx.x == 0) {
        n[(cluster.z * extents.y + cluster.y) * extents.x + cluster.x] = counter;
        if (counter != 2 * 24 * (1 + 2))
            __trap();
    }
}
