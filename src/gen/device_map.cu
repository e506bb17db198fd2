//: le_over
// n / d for n below 2^31; by: the number that stands for d, and a shift.
__device__ inline unsigned le_over(unsigned n, long long by) {
    return __umulhi(n + n, (unsigned)by) >> (int)(by >> 32);
}
