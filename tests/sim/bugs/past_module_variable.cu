// One element past an array of the module.
// launch: use --grid 1 --block 64 y=i32[65]
// says: out of bounds in kernel use: block (0,0,0) thread (63,0,0) at
// says: past_module_variable.cu:9
__device__ int table[64];
__device__ int other[64];
__global__ void use(int *y) {
    int *p = table;
    y[threadIdx.x] = p[threadIdx.x + 1] + other[threadIdx.x];
}
