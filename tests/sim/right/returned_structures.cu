// Functions return structures that are stored in shared and global memory: small and large ones, from calls within calls.
// launch: reverse --grid 1 --block 32 sums=i32[32] planes=i32[96]
struct one {
    int part[1];
};
struct three {
    int part[3];
};
struct many {
    double part[5];
};
__device__ __noinline__ one make_one(int a) {
    one p;
    p.part[0] = a;
    return p;
}
__device__ __noinline__ three make_three(int a) { return three{{a, make_one(2 * a).part[0], 3 * a}}; }
__device__ __noinline__ many make_many(int a) {
    many p;
    for (int k = 0; k < 5; k++)
        p.part[k] = a + k;
    return p;
}
template <class T> __device__ T made_by(T (*make)(int), int a) { return make(a + 1); }
__global__ void reverse(int *sums, three *planes) {
    __shared__ one ones[32];
    __shared__ three threes[32];
    __shared__ many manies[32];
    __shared__ one others[32];
    int t = (int)threadIdx.x;
    ones[t] = make_one(t);
    threes[t] = make_three(t);
    manies[t] = make_many(t);
    others[t] = made_by(make_one, t);
    planes[t] = make_three(t);
    __syncthreads();
    int u = 31 - t;
    sums[t] = ones[u].part[0] + threes[u].part[1] + (int)manies[u].part[4] + others[u].part[0];
}
