// Threads that repeatedly write and read only their own elements need no barrier.
// launch: own --grid 2 --block 64 y=i32[128]
__global__ void own(int *y) {
    __shared__ int mine[64];
    unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;
    for (int k = 0; k < 10; k++) {
        mine[t] = k;
        mine[t] += (int)t;
        y[i] = y[i] + mine[t];
    }
}
