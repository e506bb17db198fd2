// Cooperative groups: tiles of 8 threads exchange values through shared memory, then the block.
// launch: tiles --grid 2 --block 64 x=i32[128] y=i32[128]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void tiles(const int *x, int *y) {
    __shared__ int s[64];
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    unsigned t = block.thread_rank(), first = t - tile.thread_rank();
    s[t] = x[blockIdx.x * 64 + t] + (int)t;
    tile.sync();
    int v = s[first + 7 - tile.thread_rank()];
    for (int d = 4; d; d /= 2)
        v += tile.shfl_down(v, (unsigned)d);
    tile.sync();
    s[t] = v;
    block.sync();
    y[blockIdx.x * 64 + t] = s[63 - t];
}
