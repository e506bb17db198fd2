// Structures of three floats, loaded and stored whole.
// launch: move --grid 2 --block 32 p=f32[192] v=f32[192]
__device__ float3 add(const float3 &a, const float3 &b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__global__ void move(float3 *p, const float3 *__restrict__ v) {
    __shared__ float3 tile[32];
    unsigned i = blockIdx.x * 32 + threadIdx.x;
    tile[threadIdx.x] = v[i];
    __syncthreads();
    p[i] = add(p[i], tile[(threadIdx.x + 1) % 32]);
}
