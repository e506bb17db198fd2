// One thread writes a pair, another its second half.
// launch: pairs --grid 1 --block 64 y=f32[64]
// says: shared race in kernel pairs: block (0,0,0) thread (
// says: pair_beside_half.cu:
__global__ void pairs(float *y) {
    __shared__ __align__(8) float s[64];
    unsigned t = threadIdx.x;
    if (t < 32)
        reinterpret_cast<float2 *>(s)[t] = make_float2((float)t, 0.f);
    else
        s[2 * (t - 32) + 1] = (float)t;
    __syncthreads();
    y[t] = s[t];
}
