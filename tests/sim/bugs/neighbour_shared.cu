// A pointer that runs from one shared array into the next.
// launch: clear --grid 1 --block 33 y=i32[33]
// says: out of bounds in kernel clear: block (0,0,0) thread (32,0,0) at
// says: neighbour_shared.cu:12
__global__ void clear(int *y) {
    __shared__ int a[32];
    __shared__ int b[32];
    int *p = a, t = (int)threadIdx.x;
    if (t < 32)
        b[t] = t;
    __syncthreads();
    p[t] = 0;
    __syncthreads();
    if (t < 32)
        y[t] = a[t] + b[t];
}
