/* Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). The
 * key's words are the low and high half of a; the counter's words are those of b and c. */
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/functions.h"
#ifdef __SSE2__
#include <immintrin.h>
#endif

/* Lanes of 64 bits. Each has one 32-bit word in its lower half; the upper half is ignored. */
typedef uint64_t words __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t words_anywhere __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
typedef double doubles __attribute__((vector_size(VECTOR_BYTES)));
typedef double doubles_anywhere __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
enum { WIDTH = VECTOR_BYTES / 8 };

#if LE_SIMD == 2
#define MULTIPLY(a, b) ((words)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#elif LE_SIMD == 1
#define MULTIPLY(a, b) ((words)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#elif defined(__SSE2__)
#define MULTIPLY(a, b) ((words)_mm_mul_epu32((__m128i)(a), (__m128i)(b)))
#else
#define MULTIPLY(a, b) (((a)&0xffffffff) * (b))
#endif

struct philox_words {
    words low, high; /* words 0 and 1; words 2 and 3 */
};

static inline struct philox_words philox(words key, words first, words second) {
    const words m0 = (words){0} + 0xD2511F53u, m1 = (words){0} + 0xCD9E8D57u;
    words w0 = first, w1 = first >> 32, w2 = second, w3 = second >> 32, k0 = key, k1 = key >> 32;
#pragma GCC unroll 10
    for (int round = 0; round < 10; round++) {
        const words p0 = MULTIPLY(w0, m0), p1 = MULTIPLY(w2, m1);
        w0 = (p1 >> 32) ^ w1 ^ k0;
        w1 = p1;
        w2 = (p0 >> 32) ^ w3 ^ k1;
        w3 = p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (struct philox_words){(w0 & 0xffffffff) | w1 << 32, (w2 & 0xffffffff) | w3 << 32};
}

/* Uniform in [0, 1): the upper 53 bits, converted to a double exactly, in two parts. */
static inline doubles to_uniform(words bits) {
    const words upper = bits >> 43 | 0x4530000000000000, lower = ((bits >> 11) & 0xffffffff) | 0x4330000000000000;
    return (((doubles)upper - 0x1p84) + ((doubles)lower - 0x1p52)) * 0x1p-53;
}

/* The vector of operand elements k, k + 1, ...; zeros where fewer than WIDTH are left. */
static inline words load_words(const void *operand, int64_t k, int64_t n) {
    const le_u64 *x = (const le_u64 *)operand + k;
    if (k + WIDTH <= n)
        return *(const words_anywhere *)x;
    words few = {0};
    memcpy(&few, x, (size_t)(n - k) * 8);
    return few;
}
static inline struct philox_words philox_words_of(void *const *reg, const struct le_instr *instr, int64_t k,
                                                  int64_t n) {
    return philox(load_words(reg[instr->a], k, n), load_words(reg[instr->b], k, n), load_words(reg[instr->c], k, n));
}
static inline void store_words(void *result, int64_t k, int64_t n, words value) {
    le_u64 *d = (le_u64 *)result + k;
    if (k + WIDTH <= n)
        *(words_anywhere *)d = value;
    else
        memcpy(d, &value, (size_t)(n - k) * 8);
}

KERNEL(rand_key) {
    for (int64_t k = 0; k < n; k += WIDTH)
        store_words(reg[instr->d], k, n, philox_words_of(reg, instr, k, n).low);
}
KERNEL(rand_uniform) {
    for (int64_t k = 0; k < n; k += WIDTH)
        store_words(reg[instr->d], k, n, (words)to_uniform(philox_words_of(reg, instr, k, n).low));
}

KERNEL(rand_normal) {
    double radius[LE_BLOCK_MAX], angle[LE_BLOCK_MAX];
    le_f64 *d = reg[instr->d];
    for (int64_t k = 0; k < n; k += WIDTH) {
        const struct philox_words block = philox_words_of(reg, instr, k, n);
        *(doubles_anywhere *)(radius + k) = 1 - to_uniform(block.low);
        *(doubles_anywhere *)(angle + k) = 6.283185307179586 * to_uniform(block.high);
    }
    LE_SET(le_log_f64)(radius, n);
    LE_SET(le_cos_f64)(angle, n);
    LANES for (int64_t k = 0; k < n; k++) d[k] = __builtin_sqrt(-2 * radius[k]) * angle[k];
}

le_cpu_op *LE_SET(le_random_find)(const struct le_instr *instr) {
    switch (instr->code) {
    case LE_CODE_RAND_KEY:
        return rand_key;
    case LE_CODE_RAND:
        return rand_uniform;
    case LE_CODE_RANDN:
        return rand_normal;
    default:
        return NULL;
    }
}
