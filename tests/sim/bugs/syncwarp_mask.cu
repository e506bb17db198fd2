// A mask includes lanes that never arrive.
// launch: half --grid 1 --block 32 y=i32[32]
// says: divergent barrier in kernel half: block (0,0,0) thread (
// says: syncwarp_mask.cu:9
__global__ void half(int *y) {
    __shared__ int s[32];
    s[threadIdx.x] = (int)threadIdx.x;
    if (threadIdx.x < 16)
        __syncwarp(0xffffffffu);
    y[threadIdx.x] = s[threadIdx.x];
}
