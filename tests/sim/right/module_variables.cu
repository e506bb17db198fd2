// Constants, a counter and a table of the module.
// launch: use --grid 4 --block 32 y=i32[128]
__constant__ int table[8] = {1, 2, 3, 5, 8, 13, 21, 34};
__device__ unsigned counter;
__device__ int scratch[128];
__global__ void use(int *y) {
    static const int local[4] = {4, 3, 2, 1};
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    scratch[i] = table[i % 8] + local[i % 4];
    atomicAdd(&counter, 1u);
    int stack[16];
    for (unsigned k = 0; k < 16; k++)
        stack[(k + i) % 16] = (int)k;
    y[i] = scratch[i] + stack[i % 16];
}
