// Two steps of all blocks, without a grid barrier between them.
// launch: steps --grid 4 --block 32 a=f32[128] b=f32[128]
// says: global race in kernel steps: block (
// says: grid_barrier_forgotten.cu:
// says: with nothing that orders the two blocks
__global__ void steps(float *a, float *b) {
    unsigned i = blockIdx.x * 32 + threadIdx.x;
    a[i] = (float)i;
    __syncthreads();
    b[i] = a[(i + 32) % 128];
}
