// The neighbour's shared memory is read before the neighbour has written it.
// launch: turn --grid 4 --block 32 y=f32[128]
// says: shared 'own' (128 bytes) of block (
// says: cluster_read_too_early.cu:
__global__ void __cluster_dims__(2, 1, 1) turn(float *y) {
    __shared__ float own[32];
    own[threadIdx.x] = (float)threadIdx.x + 0.5f;
    __syncthreads();
    const float *other = (const float *)__cluster_map_shared_rank(own, 1 - __clusterRelativeBlockRank());
    y[blockIdx.x * 32 + threadIdx.x] = other[threadIdx.x];
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}
