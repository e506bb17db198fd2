// All threads but one use an atomic.
// launch: greatest --grid 2 --block 64 y=i32[1]
// says: global race in kernel greatest: block (
// says: atomic_beside_plain.cu:
__global__ void greatest(int *y) {
    int i = (int)(blockIdx.x * 64 + threadIdx.x);
    if (i == 77) {
        if (*y < i)
            *y = i;
    } else {
        atomicMax(y, i);
    }
}
