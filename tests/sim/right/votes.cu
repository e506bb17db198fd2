// Ballots, any, all, match.
// launch: vote --grid 2 --block 64 y=u32[128]
__global__ void vote(unsigned *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned odd = __ballot_sync(0xffffffffu, i & 1);
    int any = __any_sync(0xffffffffu, i == 5), all = __all_sync(0xffffffffu, i < 200);
    unsigned same = __match_any_sync(0xffffffffu, i / 4);
    int count = __syncthreads_count(i % 3 == 0);
    y[i] = odd + (unsigned)any + (unsigned)all + same + (unsigned)count;
}
