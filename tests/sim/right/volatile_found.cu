// A volatile flag that ends the search of all threads of a block.
// launch: search --grid 2 --block 64 n=1000 y=i32[2]
__global__ void search(int n, int *y) {
    __shared__ volatile int found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n && !found; i += blockDim.x)
        if (i % 100 == 7)
            found = 1;
    __syncthreads();
    if (threadIdx.x == 0)
        y[blockIdx.x] = found;
}
