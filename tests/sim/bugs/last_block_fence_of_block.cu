// A fence of the block, where one of the device is needed.
// launch: total --grid 8 --block 32 partial=f32[8] sum=f32[1] count=u32[1]
// says: global race in kernel total: block (
// says: last_block_fence_of_block.cu:16
__global__ void total(float *partial, float *sum, unsigned *count) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = 1.f;
        __threadfence_block();
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
