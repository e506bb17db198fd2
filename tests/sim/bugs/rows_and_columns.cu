// Rows and columns are mixed up: accesses past the end of the array are found.
// launch: turn --grid 2,3 --block 16,16 x=f32[48,32] y=f32[48,32]
// says: out of bounds in kernel turn: block (
// says: rows_and_columns.cu:7
__global__ void turn(const float *x, float *y) {
    unsigned i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    y[i * 32 + j] = x[i * 48 + j];
}
