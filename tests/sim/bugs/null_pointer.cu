// An array that is not there.
// launch: copy --grid 1 --block 32 x=0:u64 y=f32[32]
// says: out of bounds in kernel copy: block (0,0,0) thread (
// says: null_pointer.cu:6
// says: a null pointer
__global__ void copy(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }
