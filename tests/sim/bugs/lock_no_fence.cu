// A lock is released without a fence before.
// launch: add --grid 8 --block 32 lock=i32[1] value=i32[1]
// says: global race in kernel add: block (
// says: lock_no_fence.cu:10
__global__ void add(int *lock, int *value) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        value[0] = value[0] + 1;
        atomicExch(lock, 0);
    }
}
