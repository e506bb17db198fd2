// An int at an odd address in a variable of the module.
// launch: set --grid 1 --block 1 y=i32[1] n=1
// says: misaligned access in kernel set: block (0,0,0) thread (0,0,0) at
// says: misaligned_variable.cu:8
// says: writes 4 bytes at byte 1 of
__device__ int x[2];
__global__ void set(int *y, int n) {
    *(int *)((char *)x + n) = 42;
    y[0] = x[0];
}
