//: le_copy
// A lane's copy of element k.
template <class T> __device__ inline T *le_copy(T *mine, long long k, unsigned copies) {
    return (T *)((char *)mine + k * (long long)(copies * (unsigned)sizeof(T)));
}
//: le_pair_add
// To a sum of 64 bits whose high word lies `far` words behind the low one.
__device__ inline void le_pair_add(unsigned *at, unsigned far, unsigned long long x) {
    const unsigned before = atomicAdd(at, (unsigned)x);
    const unsigned high = (unsigned)(x >> 32) + (before + (unsigned)x < before ? 1u : 0u);
    if (high != 0)
        atomicAdd(at + far, high);
}
//: le_copies_sum
// Of an element's copies, whose number is a power of two: each lane begins with another one, in a bank of its own.
__device__ inline unsigned long long le_copies_sum(const unsigned *at, unsigned count) {
    unsigned long long sum = 0;
    for (unsigned k = 0; k < count; k++)
        sum += at[(k + threadIdx.x) & (count - 1)];
    return sum;
}
//: le_copies_least le_copies_greatest
template <class T> __device__ inline T le_copies_least(const T *at, unsigned count) {
    T best = at[0];
    for (unsigned k = 1; k < count; k++)
        best = best == best && le_is_below(at[k], best) ? at[k] : best;
    return best;
}
template <class T> __device__ inline T le_copies_greatest(const T *at, unsigned count) {
    T best = at[0];
    for (unsigned k = 1; k < count; k++)
        best = best == best && (at[k] != at[k] || le_is_below(best, at[k])) ? at[k] : best;
    return best;
}
