// Threads read a flag that others may be setting.
// launch: search --grid 1 --block 128 x=i32[128] y=i32[128]
// says: shared race in kernel search: block (0,0,0) thread (
// says: of shared 'found' (1 byte)
__global__ void search(const int *x, int *y) {
    __shared__ bool found;
    if (threadIdx.x == 0)
        found = false;
    __syncthreads();
    if (x[threadIdx.x] + (int)threadIdx.x == 70)
        found = true;
    y[threadIdx.x] = found;
}
