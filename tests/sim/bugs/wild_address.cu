// An address outside all memory.
// launch: set --grid 1 --block 32 y=i32[1]
// says: out of bounds in kernel set: block (0,0,0) thread (
// says: wild_address.cu:7
// says: writes 4 bytes at address 0x87654320, which is not in device memory
__global__ void set(int *y) {
    *(int *)0x87654320 = 42;
    y[0] = 1;
}
