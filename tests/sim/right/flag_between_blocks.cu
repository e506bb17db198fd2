// Block 0 produces data, and the others wait for its flag.
// launch: hand_over --grid 4 --block 64 data=f32[64] flag=i32[1] y=f32[256]
__global__ void hand_over(float *data, volatile int *flag, float *y) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 2.f * threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            *flag = 1;
        }
    } else {
        if (threadIdx.x == 0) {
            while (*flag == 0) {
            }
            __threadfence();
        }
        __syncthreads();
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = data[threadIdx.x];
}
