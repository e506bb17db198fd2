// A lock without an atomic: tests the lock, then takes it.
// launch: add --grid 4 --block 32 lock=i32[1] value=i32[1]
// says: global race in kernel add: block (
// says: lock_of_plain_reads.cu:
__global__ void add(volatile int *lock, int *value) {
    if (threadIdx.x == 0) {
        while (*lock != 0) {
        }
        *lock = 1;
        *value = *value + 1;
        *lock = 0;
    }
}
