// One byte past an array of bytes.
// launch: text --grid 1 --block 64 x=u8[101] y=u8[101]
// says: out of bounds in kernel text: block (0,0,0) thread (0,0,0) at
// says: out_of_bounds_bytes.cu:9
// says: writes 1 byte, just after the end of an array of 101 bytes
__global__ void text(const unsigned char *x, unsigned char *y) {
    if (threadIdx.x == 0)
        for (int k = 0; k <= 101; k++)
            y[k] = k < 101 ? x[k] : 0;
}
