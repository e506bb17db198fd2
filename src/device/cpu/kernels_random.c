/* Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). The key's words
 * are a's low and high half; the counter's b's and c's. */
#include "device/cpu/kernels.h"
#include "device/cpu/functions.h"

#define LOW 0xffffffffu

struct block {
    uint64_t low, high; /* words 0 and 1; words 2 and 3 */
};

static inline struct block philox(uint64_t key, uint64_t first, uint64_t second)
{
    uint64_t w0 = first & LOW, w1 = first >> 32, w2 = second & LOW, w3 = second >> 32;
    uint64_t k0 = key & LOW, k1 = key >> 32;
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = w0 * 0xD2511F53u, p1 = w2 * 0xCD9E8D57u;
        w0 = (p1 >> 32) ^ w1 ^ k0;
        w1 = p1 & LOW;
        w2 = (p0 >> 32) ^ w3 ^ k1;
        w3 = p0 & LOW;
        k0 = (k0 + 0x9E3779B9u) & LOW;
        k1 = (k1 + 0xBB67AE85u) & LOW;
    }
    return (struct block){w0 | w1 << 32, w2 | w3 << 32};
}

/* Uniform in [0, 1): the upper 53 bits. */
static inline double uniform(uint64_t bits) { return (double)(int64_t)(bits >> 11) * 0x1p-53; }

#define EACH(R, expression)                                                                                                      \
    {                                                                                                                            \
        R *d = reg[instr->d];                                                                                                    \
        const le_u64 *x = reg[instr->a], *y = reg[instr->b], *z = reg[instr->c];                                                 \
        LANES for (int64_t k = 0; k < n; k++)                                                                                    \
        {                                                                                                                        \
            const struct block block = philox(x[k], y[k], z[k]);                                                                 \
            d[k] = (expression);                                                                                                 \
        }                                                                                                                        \
    }
KERNEL(rand_key) EACH(le_u64, block.low)
KERNEL(rand_uniform) EACH(le_f64, uniform(block.low))

KERNEL(rand_normal)
{
    double radius[LE_BLOCK_MAX], angle[LE_BLOCK_MAX];
    le_f64 *d = reg[instr->d];
    const le_u64 *x = reg[instr->a], *y = reg[instr->b], *z = reg[instr->c];
    LANES for (int64_t k = 0; k < n; k++)
    {
        const struct block block = philox(x[k], y[k], z[k]);
        radius[k] = 1 - uniform(block.low);
        angle[k] = 6.283185307179586 * uniform(block.high);
    }
    LE_SET(le_log_f64)(radius, n);
    LE_SET(le_cos_f64)(angle, n);
    LANES for (int64_t k = 0; k < n; k++) d[k] = __builtin_sqrt(-2 * radius[k]) * angle[k];
}

le_cpu_op *LE_SET(le_random_find)(const struct le_instr *instr)
{
    switch (instr->code) {
    case LE_CODE_RAND_KEY: return rand_key;
    case LE_CODE_RAND: return rand_uniform;
    case LE_CODE_RANDN: return rand_normal;
    default: return NULL;
    }
}
