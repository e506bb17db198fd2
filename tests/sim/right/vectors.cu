// Loads and stores of 8 and 16 bytes.
// launch: vectors --grid 2 --block 32 x=f32[256] y=f32[256] z=f64[128]
__global__ void vectors(const float4 *x, float4 *y, double2 *z) {
    __shared__ float4 tile[32];
    unsigned t = threadIdx.x, i = blockIdx.x * 32 + t;
    float4 v = x[i];
    v.x += 1.f;
    v.w = v.x + v.y;
    tile[t] = v;
    __syncthreads();
    y[i] = tile[31 - t];
    float2 pair = reinterpret_cast<const float2 *>(tile)[2 * (31 - t)];
    z[i] = make_double2(pair.x, pair.y);
}
