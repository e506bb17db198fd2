// The flag of the last block is read before the barrier that makes it visible.
// launch: total --grid 4 --block 64 partial=f32[4] sum=f32[1] count=u32[1]
// says: in kernel total: block (
// says: flag_before_barrier.cu:13
// says: shared 'last' (1 byte)
__global__ void total(float *partial, float *sum, unsigned *count) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = 1.f;
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    if (last && threadIdx.x == 1)
        *sum = partial[0] + partial[1] + partial[2] + partial[3];
}
