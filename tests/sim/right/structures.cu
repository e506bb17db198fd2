// Structures with padding, member by member and whole.
// launch: sort_pairs --grid 1 --block 32 keys=i32[32] values=f64[32]
struct pair {
    int key;
    double value;
};
struct small {
    char a;
    short b;
    char c;
};
__global__ void sort_pairs(int *keys, double *values) {
    __shared__ pair pairs[32];
    __shared__ small smalls[32];
    unsigned t = threadIdx.x;
    pairs[t].key = (int)(t * 7 % 32);
    pairs[t].value = 0.5 * t;
    smalls[t].a = (char)t;
    smalls[t].b = (short)t;
    smalls[t].c = 1;
    __syncthreads();
    pair p = pairs[31 - t];
    small s = smalls[(t + 1) % 32];
    __syncthreads();
    pairs[p.key] = p;
    smalls[t] = s;
    __syncthreads();
    keys[t] = pairs[t].key + smalls[t].b;
    values[t] = pairs[t].value;
}
