// Two arrays in dynamic shared memory; the second one's offset is a count of elements instead of bytes.
// launch: split --grid 1 --block 64 --shared 512 y=f32[64]
// says: shared race in kernel split: block (0,0,0) thread (
// says: carved_too_close.cu:
// says: of dynamic shared memory (512 bytes)
__global__ void split(float *y) {
    extern __shared__ char memory[];
    float *a = (float *)memory, *b = (float *)(memory + 64);
    unsigned t = threadIdx.x;
    a[t] = (float)t;
    b[t] = 2.f * t;
    __syncthreads();
    y[t] = a[t] + b[63 - t];
}
