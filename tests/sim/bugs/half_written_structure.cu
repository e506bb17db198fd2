// One member of the structures is never set.
// launch: move --grid 1 --block 32 y=f32[32]
// says: uninitialized read in kernel move: block (0,0,0) thread (
// says: half_written_structure.cu:13
struct body {
    float x, y, z, mass;
};
__global__ void move(float *y) {
    __shared__ body bodies[32];
    body &b = bodies[threadIdx.x];
    b.x = b.y = b.z = 1.f;
    __syncthreads();
    y[threadIdx.x] = bodies[31 - threadIdx.x].x * bodies[31 - threadIdx.x].mass;
}
