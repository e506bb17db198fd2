// A bitonic sort by one block, in shared memory.
// launch: sort --grid 2 --block 128 y=i32[256]
__global__ void sort(int *y) {
    __shared__ int a[128];
    unsigned t = threadIdx.x;
    a[t] = (int)(t * 37 % 128);
    for (unsigned size = 2; size <= 128; size *= 2)
        for (unsigned d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            unsigned other = t ^ d;
            if (other > t && (a[t] > a[other]) == ((t & size) == 0)) {
                int v = a[t];
                a[t] = a[other];
                a[other] = v;
            }
        }
    __syncthreads();
    y[blockIdx.x * 128 + t] = a[t];
}
