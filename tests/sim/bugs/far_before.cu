// An unsigned subscript wraps around below zero.
// launch: back --grid 1 --block 32 x=i32[64] y=i32[32]
// says: out of bounds in kernel back: block (0,0,0) thread (0,0,0) at
// says: far_before.cu:6
__global__ void back(const int *x, int *y) {
    y[threadIdx.x] = x[threadIdx.x - 1u];
}
