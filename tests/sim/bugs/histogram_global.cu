// All blocks count without atomics.
// launch: count --grid 4 --block 64 bins=u32[16]
// says: global race in kernel count: block (
// says: histogram_global.cu:6
__global__ void count(unsigned *bins) {
    bins[(blockIdx.x * 64 + threadIdx.x) % 16]++;
}
