// Local arrays of a thread, passed to functions by address.
// launch: local --grid 2 --block 64 y=i32[128]
__device__ void fill(int *a, int n, int from) {
    for (int k = 0; k < n; k++)
        a[k] = from + k;
}
__device__ int sum(const int *a, int n) {
    int all = 0;
    for (int k = 0; k < n; k++)
        all += a[k];
    return all;
}
__global__ void local(int *y) {
    int a[20], i = (int)(blockIdx.x * 64 + threadIdx.x);
    fill(a, 20, i);
    y[i] = sum(a + i % 4, 16);
}
