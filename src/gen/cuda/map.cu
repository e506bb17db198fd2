//: le_over
// n / d for n below 2^31; by: the number that stands for d, and a shift.
__device__ inline unsigned le_over(unsigned n, long long by) {
    return __umulhi(n + n, (unsigned)by) >> (int)(by >> 32);
}
//: le_read_at
// W neighbours from an address that is a multiple of their size, or of 16 bytes.
template <int W, class T> __device__ inline void le_read_at(T *to, const T *from) {
    T all[W];
    le_read<W>(all, from);
#pragma unroll
    for (int k = 0; k < W; k++)
        to[k] = all[k];
}
