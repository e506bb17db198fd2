// Neighbouring threads write neighbouring bytes, halves and bools of one word.
// launch: narrow --grid 2 --block 64 a=u8[128] b=i16[128] c=bool[128]
__global__ void narrow(unsigned char *a, short *b, bool *c) {
    __shared__ unsigned char bytes[64];
    __shared__ bool bools[64];
    unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;
    a[i] = (unsigned char)i;
    b[i] = (short)i;
    c[i] = i % 2;
    bytes[t] = (unsigned char)t;
    bools[t] = t % 3 == 0;
    __syncthreads();
    a[i] = (unsigned char)(a[i] + bytes[63 - t] + bools[63 - t]);
}
