// A lock around plain loads and stores: a compare-and-swap takes it, an exchange frees it, with fences on both sides.
// launch: add --grid 16 --block 32 lock=i32[1] value=i32[4]
__device__ void acquire(int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
}
__device__ void release(int *lock) {
    __threadfence();
    atomicExch(lock, 0);
}
__global__ void add(int *lock, int *value) {
    if (threadIdx.x == 0) {
        acquire(lock);
        value[0] = value[0] + 1;
        value[1] = value[0];
        release(lock);
    }
}
