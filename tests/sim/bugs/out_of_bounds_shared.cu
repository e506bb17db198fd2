// One element past a shared array, through a pointer.
// launch: rotate --grid 1 --block 32 y=i32[32]
// says: out of bounds in kernel rotate: block (0,0,0) thread (31,0,0) at
// says: out_of_bounds_shared.cu:6
// says: writes 4 bytes, just after the end of shared 'a' (128 bytes)
__device__ void put(int *at, int v) { *at = v; }
__global__ void rotate(int *y) {
    __shared__ int a[32];
    a[threadIdx.x] = 0;
    __syncthreads();
    put(a + threadIdx.x + 1, (int)threadIdx.x);
    __syncthreads();
    y[threadIdx.x] = a[threadIdx.x];
}
