// A counter is read before all threads have counted.
// launch: count --grid 1 --block 128 y=u32[1]
// says: shared race in kernel count: block (0,0,0) thread (
// says: of shared 'n' (4 bytes)
__global__ void count(unsigned *y) {
    __shared__ unsigned n;
    if (threadIdx.x == 0)
        n = 0;
    __syncthreads();
    atomicAdd(&n, 1u);
    if (threadIdx.x == 0)
        *y = n;
}
