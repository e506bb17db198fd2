// Every thread of a warp takes the lock in its turn.
// launch: add --grid 2 --block 64 lock=i32[1] value=f64[1]
__global__ void add(int *lock, double *value) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *value += 1.0;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
        __syncwarp();
    }
}
