// Half of the block does not reach a barrier.
// launch: half --grid 2 --block 64 y=f32[128]
// says: divergent barrier in kernel half: block (
// says: divergent_barrier.cu:9
__global__ void half(float *y) {
    __shared__ float s[64];
    s[threadIdx.x] = (float)threadIdx.x;
    if (threadIdx.x < 32)
        __syncthreads();
    else
        s[threadIdx.x] += 1.f;
    y[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}
