// Every block adds to the same address without an atomic.
// launch: total --grid 4 --block 32 x=f32[128] sum=f32[1]
// says: global race in kernel total: block (
// says: global_race.cu:12
// says: 4 bytes at byte 0 of an array of 4 bytes
// says: with nothing that orders the two blocks
__global__ void total(const float *x, float *sum) {
    float v = x[blockIdx.x * 32 + threadIdx.x] + 1.f;
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0)
        *sum += v;
}
