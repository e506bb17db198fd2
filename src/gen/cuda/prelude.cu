//: le_scalar
struct le_scalar { unsigned long long bits; const void *at; };
//: le_value
template <class T> __device__ inline T le_value(le_scalar s) { return s.at ? *(const T *)s.at : (T)s.bits; }
template <> __device__ inline float le_value<float>(le_scalar s) {
    return s.at ? *(const float *)s.at : __uint_as_float((unsigned)s.bits);
}
template <> __device__ inline double le_value<double>(le_scalar s) {
    return s.at ? *(const double *)s.at : __longlong_as_double((long long)s.bits);
}
//: le_fault_record
struct le_fault_record {
    unsigned long long point;
    long long access_axis, value;
    unsigned set, notes, lock, unused;
};
//: le_fault
// Of an action's faults that of the least point stays; of several actions' the first one's.
__device__ __noinline__ void le_fault(le_fault_record *f, long long action, unsigned long long point,
                                      long long access_axis, long long value) {
    volatile le_fault_record *v = f;
    bool done = v->set == (unsigned)action + 1 && v->point <= point;
    while (!done) {
        if (atomicCAS(&f->lock, 0u, 1u) != 0)
            continue;
        __threadfence();
        if (v->set == 0 || (v->set == (unsigned)action + 1 && point < v->point)) {
            v->point = point;
            v->access_axis = access_axis;
            v->value = value;
            v->set = (unsigned)action + 1;
        }
        __threadfence();
        atomicExch(&f->lock, 0u);
        done = true;
    }
}
//: le_note
__device__ inline void le_note(le_fault_record *f, unsigned note) {
    if ((*(volatile unsigned *)&f->notes & note) == 0)
        atomicOr(&f->notes, note);
}
//: le_step
// Of a range's values: 0 if there are none, or no step leads on. One that leads past the end leads right there, so that
// some more of them, which threads may take, do not come round to below it.
__device__ inline long long le_step(long long low, long long high, long long by) {
    const unsigned long long way = (unsigned long long)high - (unsigned long long)low;
    return by <= 0 || high <= low ? 0 : (unsigned long long)by < way ? by : (long long)way;
}
//: le_nan le_infinity
template <class T> __device__ inline T le_nan() { return (T)__uint_as_float(0x7fc00000u); }
template <class T> __device__ inline T le_infinity() { return (T)__uint_as_float(0x7f800000u); }
//: le_from_f16
__device__ inline float le_from_f16(unsigned short half) {
#ifndef __LEAT_SIM__
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
    return x;
#else
    const unsigned sign = (unsigned)(half & 0x8000) << 16, magnitude = half & 0x7fff;
    if (magnitude >= 0x7c00)
        return __uint_as_float(sign | magnitude << 13 | 0x7f800000u | (magnitude > 0x7c00 ? 0x400000u : 0u));
    if (magnitude >= 0x400)
        return __uint_as_float(sign | ((magnitude << 13) + (112u << 23)));
    const float small = __uint_as_float((magnitude << 13) + (113u << 23)) - __uint_as_float(113u << 23);
    return __uint_as_float(sign | __float_as_uint(small));
#endif
}
//: le_to_f16
__device__ inline unsigned short le_to_f16(float x) {
#ifndef __LEAT_SIM__
    unsigned short half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    return half;
#else
    const unsigned bits = __float_as_uint(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude >= 0x47800000u)
        return (unsigned short)(sign | (magnitude > 0x7f800000u ? 0x7e00 | (magnitude >> 13 & 0x3ff) : 0x7c00));
    if (magnitude >= 0x38800000u)
        return (unsigned short)(sign | (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13);
    return (unsigned short)(sign | (__float_as_uint(__uint_as_float(magnitude) + 0.5f) - __float_as_uint(0.5f)));
#endif
}
//: le_from_bf16
__device__ inline float le_from_bf16(unsigned short half) { return __uint_as_float((unsigned)half << 16); }
//: le_to_bf16
__device__ inline unsigned short le_to_bf16(float x) {
#if !defined(__LEAT_SIM__) && __CUDA_ARCH__ >= 800
    unsigned short half;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(x));
    return half;
#else
    const unsigned bits = __float_as_uint(x);
    return (unsigned short)(x != x ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
}
//: le_to_odd
// To f32, inexact results with the last bit set: rounding that once more to fewer bits is rounding once.
__device__ inline float le_to_odd(double x) {
    const float near = (float)x;
    const double error = (double)near - x;
    if (x != x || error == 0 || (double)near == x)
        return near;
    const bool away = (near > 0 && error > 0) || (near < 0 && error < 0);
    return __uint_as_float((__float_as_uint(near) - (away ? 1u : 0u)) | 1u);
}
//: le_whole
// To a double with the bits below the upper 48 gathered in the last of them, which no 16-bit float keeps.
__device__ inline double le_gathered(unsigned long long x) {
    return x >> 48 == 0 ? (double)x : (double)(long long)(x >> 16 | ((x & 0xffff) != 0)) * 65536.0;
}
template <class T> __device__ inline double le_whole(T x) {
    return x < 0 ? -le_gathered(0 - (unsigned long long)x) : le_gathered((unsigned long long)x);
}
//: le_saturate
// From a float to the integers between least and greatest; above: the power of two after greatest; NaN to 0.
template <class T, class F> __device__ inline T le_saturate(F x, T least, T greatest, F above) {
    if (x >= above)
        return greatest;
    if (x <= (F)least)
        return least;
    return x == x ? (T)x : (T)0;
}
//: le_floordiv
// Rounded down; 0 where b is 0; wraps.
template <class T> __device__ inline T le_floordiv(T a, T b) {
    if (b == 0)
        return 0;
    if ((T)-1 < (T)0 && b == (T)-1)
        return (T)(0 - (unsigned long long)a);
    const T quotient = (T)(a / b);
    return a % b != 0 && (a < 0) != (b < 0) ? (T)(quotient - 1) : quotient;
}
//: le_mod
// Of the divisor's sign; 0 where b is 0.
template <class T> __device__ inline T le_mod(T a, T b) {
    if (b == 0 || ((T)-1 < (T)0 && b == (T)-1))
        return 0;
    const T rest = (T)(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? (T)(rest + b) : rest;
}
//: le_pow
template <class T> __device__ inline T le_pow(T a, T b) {
    if (b < 0)
        return 0;
    unsigned long long base = (unsigned long long)a, result = 1;
    for (unsigned long long rest = (unsigned long long)b; rest != 0; rest >>= 1) {
        if (rest & 1)
            result *= base;
        base *= base;
    }
    return (T)result;
}
//: le_shl
template <class T> __device__ inline T le_shl(T a, T b) {
    return b >= 0 && b < (T)(8 * sizeof(T)) ? (T)((unsigned long long)a << (int)b) : (T)0;
}
//: le_shr
template <class T> __device__ inline T le_shr(T a, T b) {
    const bool within = b >= 0 && b < (T)(8 * sizeof(T));
    if ((T)-1 < (T)0)
        return (T)(a >> (within ? (int)b : (int)(8 * sizeof(T) - 1)));
    return within ? (T)(a >> (int)b) : (T)0;
}
//: le_float_mod
// As Python's: the exact remainder, of the divisor's sign, and the quotient that goes with it. f32 in f64, then rounded.
__device__ inline double le_float_mod(double a, double b) {
    const double rest = fmod(a, b), moved = rest + ((rest < 0) != (b < 0) ? b : 0.0);
    return copysign(rest != 0 ? moved : 0.0, rest != 0 ? moved : b);
}
//: le_float_floordiv
__device__ inline double le_float_floordiv(double a, double b) {
    if (b == 0)
        return a / b;
    if (fabs(a) == le_infinity<double>())
        return le_nan<double>();
    const double rest = fmod(a, b);
    const double quotient = (a - rest) / b - (rest != 0 && (rest < 0) != (b < 0) ? 1.0 : 0.0);
    const double whole = floor(quotient), nearest = whole + (quotient - whole > 0.5 ? 1.0 : 0.0);
    return copysign(nearest, quotient != 0 ? nearest : a / b);
}
//: le_min
template <class T> __device__ inline T le_min(T a, T b) { return a != a || a < b ? a : b; }
//: le_max
template <class T> __device__ inline T le_max(T a, T b) { return a != a || a > b ? a : b; }
//: le_fmin
template <class T> __device__ inline T le_fmin(T a, T b) { return a != a || b < a ? b : a; }
//: le_fmax
template <class T> __device__ inline T le_fmax(T a, T b) { return a != a || b > a ? b : a; }
//: le_sign
template <class T> __device__ inline T le_sign(T a) { return a != a ? a : (T)((a > 0) - (a < 0)); }
//: le_wrapped
// x modulo period, 0 <= result < period
__device__ inline long long le_wrapped(long long x, unsigned long long period) {
    const unsigned long long rest = x < 0 ? (unsigned long long)~x % period : (unsigned long long)x % period;
    return (long long)(x < 0 ? period - 1 - rest : rest);
}
//: le_edge_clamp
template <class T> __device__ inline T le_edge_clamp(T x, T extent) { return x < 0 ? 0 : x >= extent ? extent - 1 : x; }
//: le_edge_wrap
template <class T> __device__ inline T le_edge_wrap(T x, T extent) {
    return x >= 0 && x < extent ? x : (T)le_wrapped(x, (unsigned long long)extent);
}
//: le_edge_mirror
template <class T> __device__ inline T le_edge_mirror(T x, T extent) {
    if (x >= 0 && x < extent)
        return x;
    const unsigned long long period = extent > 1 ? 2 * ((unsigned long long)extent - 1) : 1;
    const long long at = le_wrapped(x, period);
    return (T)(at < extent ? at : (long long)(period - (unsigned long long)at));
}
//: le_edge_symmetric
template <class T> __device__ inline T le_edge_symmetric(T x, T extent) {
    if (x >= 0 && x < extent)
        return x;
    const unsigned long long period = 2 * (unsigned long long)extent;
    const long long at = le_wrapped(x, period);
    return (T)(at < extent ? at : (long long)(period - 1 - (unsigned long long)at));
}
//: le_philox le_rand_key le_rand le_randn
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011)
struct le_philox_block { unsigned long long low, high; };
__device__ inline le_philox_block le_philox(unsigned long long key, unsigned long long first,
                                            unsigned long long second) {
    unsigned w0 = (unsigned)first, w1 = (unsigned)(first >> 32), w2 = (unsigned)second, w3 = (unsigned)(second >> 32);
    unsigned k0 = (unsigned)key, k1 = (unsigned)(key >> 32);
    for (int round = 0; round < 10; round++) {
        const unsigned long long p0 = (unsigned long long)w0 * 0xD2511F53u, p1 = (unsigned long long)w2 * 0xCD9E8D57u;
        w0 = (unsigned)(p1 >> 32) ^ w1 ^ k0;
        w1 = (unsigned)p1;
        w2 = (unsigned)(p0 >> 32) ^ w3 ^ k1;
        w3 = (unsigned)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    le_philox_block block;
    block.low = (unsigned long long)w1 << 32 | w0;
    block.high = (unsigned long long)w3 << 32 | w2;
    return block;
}
__device__ inline unsigned long long le_rand_key(unsigned long long key, unsigned long long first,
                                                 unsigned long long second) {
    return le_philox(key, first, second).low;
}
__device__ inline double le_uniform(unsigned long long bits) { return (double)(bits >> 11) * (1.0 / 9007199254740992.0); }
__device__ inline double le_rand(unsigned long long key, unsigned long long first, unsigned long long second) {
    return le_uniform(le_philox(key, first, second).low);
}
__device__ inline double le_randn(unsigned long long key, unsigned long long first, unsigned long long second) {
    const le_philox_block block = le_philox(key, first, second);
    return sqrt(-2 * log(1 - le_uniform(block.low))) * cos(6.283185307179586 * le_uniform(block.high));
}
//: le_counted
// What a quick way came to, and whether it counts.
template <class T> __device__ inline T le_counted(T x, bool counts, bool &usual) {
    usual &= counts;
#ifdef __LEAT_SIM__
    if (!counts)
        return (T)0.6875; // so that it is seen where it was taken
#endif
    return x;
}
//: le_quotient
// a / b, rounded once. It is not usual where a remainder or the quotient is too small for this way, or there is no
// number: then what comes out does not count. Nothing branches, so that many are under way at once. A quotient that is
// corrected once by a rounded reciprocal is right but for a divisor whose mantissa is all ones, whose reciprocal may not
// be (P. Markstein, 1990). In f64 that is so: 1 / 0x1.fffffffffffffp0 was wrong on an H200, and of 8 10^9 pairs these
// alone. In f32 the first approximation is that of the compiler's own division, and right there.
__device__ inline float le_quotient(float a, float b, bool &usual) {
#ifdef __LEAT_SIM__
    const float quotient = a / b;
#else
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
    inverse = fmaf(inverse, fmaf(-b, inverse, 1.0f), inverse);
    const float near = a * inverse, quotient = fmaf(inverse, fmaf(-b, near, a), near);
#endif
    return le_counted(quotient, (fabsf(quotient) >= 0x1p-125f) & (fabsf(a) >= 0x1p-100f), usual);
}
__device__ inline double le_quotient(double a, double b, bool &usual) {
#ifdef __LEAT_SIM__
    const double quotient = a / b;
#else
    double inverse;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(b));
    const double error = fma(-b, inverse, 1.0);
    inverse = fma(inverse, fma(error, error, error), inverse);
    inverse = fma(inverse, fma(-b, inverse, 1.0), inverse);
    const double near = a * inverse, quotient = fma(inverse, fma(-b, near, a), near);
#endif
    return le_counted(quotient, (fabs(quotient) >= 0x1p-1020) & (fabs(a) >= 0x1p-960) & (__double2loint(b) != -1), usual);
}
//: le_root
// The square root, in the same way.
__device__ inline float le_root(float x, bool &usual) {
#ifdef __LEAT_SIM__
    const float root = sqrtf(x);
#else
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
    const float near = x * inverse, root = fmaf(fmaf(-near, near, x), inverse * 0.5f, near);
#endif
    return le_counted(root, root >= 0x1p-50f, usual);
}
//: le_divided
// a / b, rounded once, for all numbers: by way of double, whose range no step leaves, and which is wide enough that
// rounding twice is rounding once. What zeros, infinities and NaNs come to is what the first product comes to.
__device__ inline float le_divided(float a, float b) {
#ifdef __LEAT_SIM__
    return a / b;
#else
    double inverse;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"((double)b));
    const double rough = a * inverse, error = fma(-(double)b, inverse, 1.0);
    inverse = fma(inverse, fma(error, error, error), inverse);
    const double near = a * inverse, quotient = fma(inverse, fma(-(double)b, near, (double)a), near);
    return (float)(quotient == quotient && a != 0 ? quotient : rough);
#endif
}
//: le_rooted
// The square root, in the same way.
__device__ inline float le_rooted(float x) {
#ifdef __LEAT_SIM__
    return sqrtf(x);
#else
    const double wide = x;
    double inverse;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(wide));
    const double half = 0.5 * inverse;
    double root = wide * inverse;
    root = fma(fma(-root, root, wide), half, root);
    root = fma(fma(-root, root, wide), half, root);
    return x == 0 || x == __uint_as_float(0x7f800000u) ? x : (float)root;
#endif
}
//: le_tree
// A sum or product of floats, term after term, by the one tree that all devices follow: T(n terms) = T(first h) + T(the
// rest), h the largest power of two below n. Bit b of count says that the total of 2^b terms is pending.
template <class T, bool PRODUCT> struct le_tree {
    unsigned long long count;
    T near[4], far[60];
    __device__ inline le_tree() : count(0) {}
    __device__ static inline T join(T a, T b) { return PRODUCT ? a * b : a + b; }
    __device__ inline void add(T x) {
        const unsigned long long c = count++;
        if (!(c & 1)) { near[0] = x; return; }
        x = join(near[0], x);
        if (!(c & 2)) { near[1] = x; return; }
        x = join(near[1], x);
        if (!(c & 4)) { near[2] = x; return; }
        x = join(near[2], x);
        if (!(c & 8)) { near[3] = x; return; }
        x = join(near[3], x);
        int b = 4;
        for (; c >> b & 1; b++)
            x = join(far[b - 4], x);
        far[b - 4] = x;
    }
    __device__ inline T total() const {
        T x = PRODUCT ? (T)1 : (T)0;
        bool empty = true;
        if (count & 1) { x = near[0]; empty = false; }
        if (count & 2) { x = empty ? near[1] : join(near[1], x); empty = false; }
        if (count & 4) { x = empty ? near[2] : join(near[2], x); empty = false; }
        if (count & 8) { x = empty ? near[3] : join(near[3], x); empty = false; }
        for (int b = 4; count >> b != 0; b++)
            if (count >> b & 1) {
                x = empty ? far[b - 4] : join(far[b - 4], x);
                empty = false;
            }
        return x;
    }
};
//: le_chain
// A sum of floats with reuse, term after term (NUMERICS, rule 3b): chunks of 32 terms are added in order, 32 chunks' totals
// are added in order, and le_tree joins those.
template <class T> struct le_chain {
    unsigned long long count;
    T chunk, unit;
    le_tree<T, false> units;
    __device__ inline le_chain() : count(0), chunk((T)-0.0), unit((T)-0.0) {}
    __device__ inline void put(T now) {
        chunk = now;
        if (++count % 32 != 0) return;
        unit = unit + chunk;
        chunk = (T)-0.0;
        if (count % 1024 != 0) return;
        units.add(unit);
        unit = (T)-0.0;
    }
    __device__ inline void add(T x) { put(chunk + x); }
    __device__ inline T total() const {
        if (count % 1024 == 0) return units.total();
        const T last = count % 32 != 0 ? unit + chunk : unit;
        if (count < 1024) return last;
        le_tree<T, false> all = units;
        all.add(last);
        return all.total();
    }
};
//: le_lower le_higher
// Of the extreme so far and a term: a NaN stays, and of the zeros -0.0 is the lower. Integers have neither.
template <class T> __device__ inline T le_lower(T m, T a) {
    if ((T)0.5f == 0)
        return a < m ? a : m;
    return a < m || a != a ? a : a == 0 && m == 0 ? (T)-(-m - a) : m;
}
template <class T> __device__ inline T le_higher(T m, T a) {
    if ((T)0.5f == 0)
        return a > m ? a : m;
    return a > m || a != a ? a : a == 0 && m == 0 ? (T)(m + a) : m;
}
#if !defined(__LEAT_SIM__) && __CUDA_ARCH__ >= 800
template <> __device__ inline float le_lower<float>(float m, float a) {
    float x;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(m), "f"(a));
    return x;
}
template <> __device__ inline float le_higher<float>(float m, float a) {
    float x;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(m), "f"(a));
    return x;
}
#endif
//: le_canonical
// One NaN.
template <class T> __device__ inline T le_canonical(T x) { return x != x ? le_nan<T>() : x; }
//: le_nowhere
// No index of a program is that.
static constexpr long long le_nowhere = -9223372036854775807LL - 1;
//: le_is_lower le_is_higher
// Whether a term takes the place of the best so far, which stands at index `at`, or le_nowhere.
template <class T> __device__ inline bool le_is_lower(long long at, T best, T a) {
    return at == le_nowhere || (best == best && (a < best || a != a));
}
template <class T> __device__ inline bool le_is_higher(long long at, T best, T a) {
    return at == le_nowhere || (best == best && (a > best || a != a));
}
//: le_atomic_change
// *at = next(*at); W: the word of its size
template <class W, class T> union le_word { W word; T value; };
template <class W, class T, class F> __device__ inline void le_atomic_change(T *at, F next) {
    le_word<W, T> before, after;
    before.word = *(volatile W *)at;
    for (;;) {
        after.value = next(before.value);
        if (after.word == before.word)
            return;
        const W seen = atomicCAS((W *)at, before.word, after.word);
        if (seen == before.word)
            return;
        before.word = seen;
    }
}
//: le_atomic_add le_atomic_sub
template <class T> __device__ inline void le_atomic_add(T *at, T x) {
    if (sizeof(T) == 8)
        atomicAdd((unsigned long long *)at, (unsigned long long)x);
    else if (sizeof(T) == 4)
        atomicAdd((unsigned *)at, (unsigned)x);
    else
        le_atomic_change<unsigned short>(at, [=](T now) -> T { return (T)((unsigned)now + (unsigned)x); });
}
template <class T> __device__ inline void le_atomic_sub(T *at, T x) { le_atomic_add<T>(at, (T)(0 - (unsigned long long)x)); }
//: le_atomic_by_size
template <int SIZE> struct le_word_of { typedef unsigned short type; };
template <> struct le_word_of<4> { typedef unsigned type; };
template <> struct le_word_of<8> { typedef unsigned long long type; };
template <class T, class F> __device__ inline void le_atomic_by_size(T *at, F next) {
    le_atomic_change<typename le_word_of<sizeof(T)>::type>(at, next);
}
//: le_atomic_mul
template <class T> __device__ inline void le_atomic_mul(T *at, T x) {
    le_atomic_by_size(at, [=](T now) -> T { return (T)((unsigned long long)now * (unsigned long long)x); });
}
//: le_atomic_min le_atomic_max
// The order does not show: a NaN stays, and of the zeros -0.0 is the lower.
template <class T> __device__ inline bool le_is_negative_zero(T x) { return x == 0 && (T)0.5 != 0 && 1 / x < 0; }
template <class T> __device__ inline bool le_is_below(T a, T b) {
    return a != a || a < b || (a == b && le_is_negative_zero(a) && !le_is_negative_zero(b));
}
template <class T> __device__ inline void le_atomic_min(T *at, T x) {
    le_atomic_by_size(at, [=](T now) -> T { return now == now && le_is_below(x, now) ? x : now; });
}
template <class T> __device__ inline void le_atomic_max(T *at, T x) {
    le_atomic_by_size(at, [=](T now) -> T { return now == now && (x != x || le_is_below(now, x)) ? x : now; });
}
//: le_is_lower_back le_is_higher_back
// Where the terms come from the last one on: of equal ones the one that comes last, which is the first, wins.
template <class T> __device__ inline bool le_is_lower_back(long long at, T best, T a) {
    return at == le_nowhere || a != a || (best == best && a <= best);
}
template <class T> __device__ inline bool le_is_higher_back(long long at, T best, T a) {
    return at == le_nowhere || a != a || (best == best && a >= best);
}
//: le_scan
// All prefixes of a row of terms. The order of sums and products of floats is that of device/cpu/kernels/kernels_scans.c: T(the
// terms of a group of 16 up to this one) after the groups before it in its chunk of 16384, after the chunks before it.
template <class T, bool PRODUCT> struct le_scan {
    int count;
    T before, inside, one, two, four, eight;
    __device__ inline le_scan() : count(0), before(PRODUCT ? (T)1 : (T)-0.0), inside(before) {}
    __device__ inline le_scan(T start) : count(0), before(start), inside(PRODUCT ? (T)1 : (T)-0.0) {}
    __device__ static inline T join(T a, T b) { return PRODUCT ? a * b : a + b; }
    __device__ inline T next(T x) {
        if (count == 16384) {
            before = join(before, inside);
            inside = PRODUCT ? (T)1 : (T)-0.0;
            count = 0;
        }
        const int n = count % 16 + 1;
        if (!(n & 1)) x = join(one, x);
        if (!(n & 3)) x = join(two, x);
        if (!(n & 7)) x = join(four, x);
        if (!(n & 15)) x = join(eight, x);
        if (n & 1) one = x;
        else if (n & 2) two = x;
        else if (n & 4) four = x;
        else if (n & 8) eight = x;
        if ((n & 2) && (n & 1)) x = join(two, x);
        if ((n & 4) && (n & 3)) x = join(four, x);
        if ((n & 8) && (n & 7)) x = join(eight, x);
        x = join(inside, x);
        if (n == 16)
            inside = x;
        count++;
        return join(before, x);
    }
};
