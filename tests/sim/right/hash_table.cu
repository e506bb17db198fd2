// Keys are inserted by compare-and-swap; the thread that inserts a key writes the value.
// launch: insert --grid 2 --block 64 keys=u32[256] values=u32[256]
__global__ void insert(unsigned *keys, unsigned *values) {
    unsigned key = blockIdx.x * 64 + threadIdx.x + 1, slot = key * 2654435761u >> 24;
    for (;;) {
        unsigned old = atomicCAS(&keys[slot], 0u, key);
        if (old == 0u) {
            values[slot] = key * 10;
            break;
        }
        slot = (slot + 1) % 256;
    }
}
