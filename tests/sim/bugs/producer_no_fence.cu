// A volatile flag hands data over, but nothing orders the data before the flag.
// launch: hand_over --grid 2 --block 32 data=f32[1] flag=i32[1] y=f32[1]
// says: global race in kernel hand_over: block (
// says: producer_no_fence.cu:
__global__ void hand_over(float *data, volatile int *flag, float *y) {
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        *data = 3.f;
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        *y = *data;
    }
}
