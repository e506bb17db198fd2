// A flag between blocks whose store is neither volatile nor atomic.
// launch: hand_over --grid 2 --block 32 data=f32[32] flag=i32[1] y=f32[32]
// says: global race in kernel hand_over: block (
// says: plain_flag.cu:
__global__ void hand_over(float *data, int *flag, float *y) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 1.f;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            *flag = 1;
    } else if (*(volatile int *)flag) {
        y[threadIdx.x] = data[threadIdx.x];
    } else {
        y[threadIdx.x] = 0.f;
    }
}
