// A function returns a structure that is stored where another warp reads without a barrier.
// launch: swap --grid 1 --block 64 y=i32[64]
// says: shared race in kernel swap: block (
// says: returned_structure_race.cu:18
// says: returned_structure_race.cu:19
// says: of shared 'tile' (512 bytes)
struct pair {
    int first, second;
};
__device__ __noinline__ pair make_pair(int a, int b) {
    pair p;
    p.first = a;
    p.second = b;
    return p;
}
__global__ void swap(int *y) {
    __shared__ pair tile[64];
    tile[threadIdx.x] = make_pair((int)threadIdx.x, 1);
    y[threadIdx.x] = tile[threadIdx.x ^ 32].first;
}
