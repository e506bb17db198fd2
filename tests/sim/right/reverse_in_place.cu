// Each thread swaps two elements that no other thread accesses.
// launch: reverse --grid 2 --block 64 x=i32[256]
__device__ void swap(int *a, int *b) {
    int v = *a;
    *a = *b;
    *b = v;
}
__global__ void reverse(int *x) {
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    swap(&x[i], &x[255 - i]);
}
