// A loop with a barrier, with a different number of iterations in each thread.
// launch: rounds --grid 1 --block 64 y=i32[64]
// says: divergent barrier in kernel rounds: block (0,0,0) thread (
// says: barrier_in_loop.cu:9
__global__ void rounds(int *y) {
    int v = 0;
    for (unsigned k = 0; k <= threadIdx.x / 32; k++) {
        v += (int)k;
        __syncthreads();
    }
    y[threadIdx.x] = v;
}
