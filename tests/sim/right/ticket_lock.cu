// A ticket lock: an atomic draws a ticket, and volatile reads wait for its turn.
// launch: add --grid 8 --block 32 ticket=u32[1] serving=u32[1] value=i32[1]
__global__ void add(unsigned *ticket, volatile unsigned *serving, int *value) {
    if (threadIdx.x == 0) {
        unsigned mine = atomicAdd(ticket, 1u);
        while (*serving != mine) {
        }
        __threadfence();
        *value = *value + (int)mine;
        __threadfence();
        *serving = mine + 1;
    }
}
