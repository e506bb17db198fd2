// The launch provides no dynamic shared memory.
// launch: copy --grid 1 --block 64 y=f32[64]
// says: dynamic shared memory too small in kernel copy: block (0,0,0) thread (
// says: dynamic_shared_none.cu:8
// says: of dynamic shared memory, but the launch provides 0 bytes
__global__ void copy(float *y) {
    extern __shared__ float s[];
    s[threadIdx.x] = 1.f;
    __syncthreads();
    y[threadIdx.x] = s[63 - threadIdx.x];
}
