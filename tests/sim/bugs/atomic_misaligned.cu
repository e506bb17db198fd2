// An atomic on an address that is not a multiple of its size.
// launch: count --grid 1 --block 32 y=i32[4] n=2
// says: misaligned access in kernel count: block (0,0,0) thread (
// says: atomic_misaligned.cu:6
__global__ void count(int *y, int n) {
    atomicAdd((int *)((char *)y + n), 1);
}
