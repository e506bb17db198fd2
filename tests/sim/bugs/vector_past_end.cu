// A float4 is read where only two floats are left.
// launch: scale --grid 1 --block 32 x=f32[102]
// says: out of bounds in kernel scale: block (0,0,0) thread (25,0,0) at
// says: of them after the end of an array of 408 bytes
__global__ void scale(float4 *x) {
    if (threadIdx.x < 26) {
        float4 v = x[threadIdx.x];
        v.x *= 2;
        v.y *= 2;
        v.z *= 2;
        v.w *= 2;
        x[threadIdx.x] = v;
    }
}
