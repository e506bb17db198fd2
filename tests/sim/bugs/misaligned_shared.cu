// Doubles in an array of shared bytes, at an offset that is not a multiple of 8.
// launch: carve --grid 1 --block 32 y=f64[32]
// says: misaligned access in kernel carve: block (0,0,0) thread (
// says: misaligned_shared.cu:9
// says: of shared 'memory' (268 bytes), an address that is not a multiple of 8
__global__ void carve(double *y) {
    __shared__ __align__(16) char memory[268];
    double *d = (double *)(memory + 12);
    d[threadIdx.x] = threadIdx.x;
    y[threadIdx.x] = d[threadIdx.x];
}
