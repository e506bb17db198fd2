// Two threads write different values to the same address.
// launch: halve --grid 1 --block 64 y=i32[32]
// says: global race in kernel halve: block (0,0,0) thread (
// says: two_writers.cu:6
// says: wrote at
__global__ void halve(int *y) { y[threadIdx.x / 2] = (int)threadIdx.x; }
