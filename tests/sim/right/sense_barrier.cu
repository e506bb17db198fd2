// A barrier of all blocks with a phase: the last block to arrive changes the phase and so releases the others.
// launch: steps --grid 4 --block 32 x=i32[128] y=i32[128] count=u32[1] phase=u32[1]
__device__ void meet(unsigned *count, volatile unsigned *phase) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned now = *phase;
        __threadfence();
        if (atomicAdd(count, 1u) == gridDim.x - 1) {
            atomicExch(count, 0u);
            __threadfence();
            *phase = now + 1;
        } else {
            while (*phase == now) {
            }
            __threadfence();
        }
    }
    __syncthreads();
}
__global__ void steps(int *x, int *y, unsigned *count, unsigned *phase) {
    int n = (int)(gridDim.x * blockDim.x), i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    x[i] = i;
    for (int k = 0; k < 3; k++) {
        meet(count, phase);
        y[i] = x[(i + 40) % n];
        meet(count, phase);
        x[i] = y[(i + 77) % n];
    }
}
