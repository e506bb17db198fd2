// A null pointer that is known at compile time.
// launch: store --grid 1 --block 1 y=i32[1]
// says: out of bounds in kernel store: block (0,0,0) thread (0,0,0) at null_constant.cu:7
__global__ void store(int *y) {
    int *p = nullptr;
    y[0] = 1;
    *p = 2;
}
