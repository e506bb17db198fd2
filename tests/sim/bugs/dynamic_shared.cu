// The launch provides half of the dynamic shared memory that the kernel uses.
// launch: copy --grid 2 --block 64 --shared 128 x=f32[128] y=f32[128]
// says: dynamic shared memory too small in kernel copy: block (
// says: dynamic_shared.cu:9
// says: of dynamic shared memory, but the launch provides 128 bytes
__global__ void copy(const float *x, float *y) {
    extern __shared__ float s[];
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = s[63 - threadIdx.x];
}
