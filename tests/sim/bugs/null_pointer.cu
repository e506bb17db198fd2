// A pointer that is never set.
// launch: copy --grid 1 --block 32 y=f32[32]
// says: out of bounds in kernel copy: block (0,0,0) thread (
// says: null_pointer.cu:7
// says: a null pointer
__device__ float *table;
__global__ void copy(float *y) { y[threadIdx.x] = table[threadIdx.x]; }
