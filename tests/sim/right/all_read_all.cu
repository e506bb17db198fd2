// All threads read the whole array and write to another one: no order is needed.
// launch: nearest --grid 2 --block 64 x=f32[128] y=f32[128]
__global__ void nearest(const float *__restrict__ x, float *__restrict__ y) {
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    float best = 1e30f;
    for (unsigned k = 0; k < 128; k++)
        best = fminf(best, fabsf(x[k] + (float)k - (float)i));
    y[i] = best;
}
