// A loop over a tile runs one iteration too many.
// launch: sum --grid 1 --block 32 x=f32[32] y=f32[32]
// says: out of bounds in kernel sum: block (0,0,0) thread (
// says: loop_one_too_far.cu:11
__global__ void sum(const float *x, float *y) {
    __shared__ float tile[32];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float all = 0;
    for (int k = 0; k <= 32; k++)
        all += tile[k];
    y[threadIdx.x] = all;
}
