// Several arrays in dynamic shared memory.
// launch: parts --grid 2 --block 32 --shared 544 y=f64[64]
__global__ void parts(double *y) {
    extern __shared__ char memory[];
    double *a = (double *)memory;
    int *b = (int *)(a + 32);
    short *c = (short *)(b + 32);
    char *d = (char *)(c + 32), *e = d + 32;
    unsigned t = threadIdx.x;
    a[t] = t;
    b[t] = (int)t;
    c[t] = (short)t;
    d[t] = (char)t;
    e[t] = (char)t;
    __syncthreads();
    y[blockIdx.x * 32 + t] = a[31 - t] + b[31 - t] + c[31 - t] + d[31 - t] + e[31 - t];
}
