// The last block sums the results of all blocks, without a fence.
// launch: total --grid 8 --block 32 partial=f32[8] sum=f32[1] count=u32[1]
// says: global race in kernel total: block (
// says: last_block_no_fence.cu:17
// says: wrote at
// says: with nothing that orders the two blocks
__global__ void total(float *partial, float *sum, unsigned *count) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = 1.f;
        last = atomicInc(count, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;
        for (unsigned k = 0; k < gridDim.x; k++)
            all += partial[k];
        *sum = all;
    }
}
