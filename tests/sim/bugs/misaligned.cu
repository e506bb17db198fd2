// A float4 is read from an address that is only a multiple of 4.
// launch: load --grid 1 --block 4 x=f32[32] y=f32[32]
// says: misaligned access in kernel load: block (0,0,0) thread (
// says: misaligned.cu:8
// says: reads 16 bytes at byte
// says: of an array of 128 bytes, an address that is not a multiple of 16
__global__ void load(const float *x, float4 *y) {
    y[threadIdx.x] = *reinterpret_cast<const float4 *>(x + 4 * threadIdx.x + 1);
}
