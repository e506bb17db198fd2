// Groups of any kind as thread_group, partitions of groups, and sums and scans over them.
// launch: groups --grid 2 --block 64 --shared 256 x=i32[128]
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

struct triple {
    double x, y, z;
};

__device__ int sum_of(cg::thread_group group, int *room, int value) {
    unsigned rank = group.thread_rank();
    for (unsigned half = group.size() / 2; half > 0; half /= 2) {
        room[rank] = value;
        group.sync();
        if (rank < half)
            value += room[rank + half];
        group.sync();
    }
    return value;
}

__global__ void groups(int *x) {
    extern __shared__ int room[];
    cg::thread_block block = cg::this_thread_block();
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int sum = sum_of(block, room, t);
    assert(t != 0 || sum == 2016);
    cg::thread_group half = cg::tiled_partition(block, 16);
    block.sync();
    sum = sum_of(half, room + t / 16 * 16, t);
    assert(t % 16 != 0 || sum == 16 * t + 120);

    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    assert(tile.meta_group_rank() == warp && tile.meta_group_size() == 2);
    auto eighth = cg::tiled_partition<4>(tile);
    assert(eighth.meta_group_rank() == lane / 4 && eighth.meta_group_size() == 8 && eighth.thread_rank() == t % 4);
    assert(eighth.shfl(t, 3) == t / 4 * 4 + 3);
    assert(cg::inclusive_scan(tile, 1) == lane + 1);
    assert(cg::exclusive_scan(tile, lane, cg::plus<int>()) == lane * (lane - 1) / 2);
    triple there = tile.shfl_xor(triple{1. * t, 2. * t, 3. * t}, 1);
    assert(there.x == (t ^ 1) && there.y == 2 * (t ^ 1) && there.z == 3 * (t ^ 1));

    cg::coalesced_group third = cg::labeled_partition(tile, lane % 3);
    assert(third.size() == (lane % 3 == 2 ? 10 : 11) && third.thread_rank() == lane / 3);
    assert(third.meta_group_rank() == lane % 3 && third.meta_group_size() == 3);
    assert(cg::reduce(third, lane, cg::greater<int>()) == (lane % 3 == 2 ? 29 : 30 + lane % 3));
    cg::coalesced_group part = cg::binary_partition(tile, lane < 5);
    assert(part.size() == (lane < 5 ? 5 : 27) && part.ballot(lane == 7) == (lane < 5 ? 0 : 4));
    if (lane % 2) {
        cg::coalesced_group odd = cg::coalesced_threads(), pair = cg::tiled_partition(odd, 2);
        assert(odd.size() == 16 && pair.size() == 2 && pair.meta_group_rank() == lane / 4);
        assert(cg::reduce(pair, lane, cg::plus<int>()) == lane / 4 * 8 + 4);
    }
    cg::sync(block);
    x[blockIdx.x * 64 + t] = t;
}
