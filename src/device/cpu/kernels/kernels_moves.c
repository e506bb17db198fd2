/* Moves of whole elements; only their size matters: copies, splats, selects, strided loads and stores, gathers and
 * plain scatters. */
#include "device/cpu/kernels/kernels.h"
#ifdef __SSE2__
#include <immintrin.h>
#endif

/* Stores past the caches, a whole cache line at a time, so that the line is not read first. */
static void store_past_caches(char *d, const char *a, size_t size_bytes) {
#ifdef __SSE2__
    size_t head = (64 - (uintptr_t)d % 64) % 64, at = head < size_bytes ? head : size_bytes;
    memcpy(d, a, at);
    for (; at + 64 <= size_bytes; at += 64)
        for (size_t k = 0; k < 64; k += VECTOR_BYTES)
#if LE_SIMD == 2
            _mm512_stream_si512((void *)(d + at + k), _mm512_loadu_si512(a + at + k));
#elif LE_SIMD == 1
            _mm256_stream_si256((void *)(d + at + k), _mm256_loadu_si256((const void *)(a + at + k)));
#else
            _mm_stream_si128((void *)(d + at + k), _mm_loadu_si128((const void *)(a + at + k)));
#endif
    memcpy(d + at, a + at, size_bytes - at);
#else
    memcpy(d, a, size_bytes);
#endif
}

/* Whether the indices are consecutive and no lane is masked out. */
static bool is_run(const le_i64 *index, const le_bool *mask, int64_t n) {
    uint64_t gaps = 0;
    for (int64_t k = 0; k < n; k++)
        gaps |= ((uint64_t)index[k] - (uint64_t)index[0]) ^ (uint64_t)k;
    return gaps == 0 && (mask == NULL || memchr(mask, 0, (size_t)n) == NULL);
}

/* Reads and writes of size_bytes need no alignment: the fields of a strided array may be at any address. */
#define MOVES(T, size_)                                                                                                \
    KERNEL(select_##size_) {                                                                                           \
        le_bool room[LE_BLOCK_MAX];                                                                                    \
        T *d = reg[instr->d];                                                                                          \
        const T *y = reg[instr->b], *z = reg[instr->c];                                                                \
        const le_bool *x = le_kernel_apart(reg[instr->a], d, (size_t)n, room);                                         \
        LANES for (int64_t k = 0; k < n; k++) {                                                                        \
            const T b = y[k], c = z[k];                                                                                \
            d[k] = x[k] ? b : c;                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    KERNEL(splat_##size_) {                                                                                            \
        T *d = reg[instr->d];                                                                                          \
        const T a = *(const T *)reg[instr->a];                                                                         \
        for (int64_t k = 0; k < n; k++)                                                                                \
            d[k] = a;                                                                                                  \
    }                                                                                                                  \
    KERNEL(copy_##size_) {                                                                                             \
        memmove(reg[instr->d], reg[instr->a], (size_t)n * sizeof(T));                                                  \
    }                                                                                                                  \
    KERNEL(stream_##size_) {                                                                                           \
        store_past_caches(reg[instr->d], reg[instr->a], (size_t)n * sizeof(T));                                        \
    }                                                                                                                  \
    KERNEL(load_##size_) {                                                                                             \
        T *d = reg[instr->d];                                                                                          \
        const char *x = reg[instr->a];                                                                                 \
        const int64_t stride = instr->imm;                                                                             \
        if (stride == (int64_t)sizeof(T))                                                                              \
            copy_##size_(reg, instr, n);                                                                               \
        else                                                                                                           \
            for (int64_t k = 0; k < n; k++)                                                                            \
                memcpy(d + k, x + k * stride, sizeof(T));                                                              \
    }                                                                                                                  \
    KERNEL(store_##size_) {                                                                                            \
        char *d = reg[instr->d];                                                                                       \
        const T *x = reg[instr->a];                                                                                    \
        const int64_t stride = instr->imm;                                                                             \
        if (stride == (int64_t)sizeof(T))                                                                              \
            copy_##size_(reg, instr, n);                                                                               \
        else                                                                                                           \
            for (int64_t k = 0; k < n; k++)                                                                            \
                memcpy(d + k * stride, x + k, sizeof(T));                                                              \
    }                                                                                                                  \
    KERNEL(gather_##size_) {                                                                                           \
        le_bool room[LE_BLOCK_MAX];                                                                                    \
        T *d = reg[instr->d];                                                                                          \
        const T *x = reg[instr->a];                                                                                    \
        const le_i64 *index = reg[instr->b];                                                                           \
        const le_bool *mask = le_kernel_optional(reg, instr->c);                                                       \
        if (instr->imm && is_run(index, mask, n))                                                                      \
            memcpy(d, x + index[0], (size_t)n * sizeof(T));                                                            \
        else if (mask == NULL)                                                                                         \
            for (int64_t k = 0; k < n; k++)                                                                            \
                d[k] = x[index[k]];                                                                                    \
        else {                                                                                                         \
            mask = le_kernel_apart(mask, d, (size_t)n, room);                                                          \
            for (int64_t k = 0; k < n; k++)                                                                            \
                d[k] = mask[k] ? x[index[k]] : 0;                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    KERNEL(scatter_##size_) {                                                                                          \
        T *d = reg[instr->d];                                                                                          \
        const T *x = reg[instr->a];                                                                                    \
        const le_i64 *index = reg[instr->b];                                                                           \
        const le_bool *mask = le_kernel_optional(reg, instr->c);                                                       \
        for (int64_t k = 0; k < n; k++)                                                                                \
            if (mask == NULL || mask[k])                                                                               \
                d[index[k]] = x[k];                                                                                    \
    }
MOVES(le_u8, 1)
MOVES(le_u16, 2)
MOVES(le_u32, 4)
MOVES(le_u64, 8)

// clang-format off
#define ROW(code, name) [(code) - LE_CODE_SELECT] = {name##_1, name##_2, name##_4, name##_8}
static le_cpu_op *const moves[][4] = {
    ROW(LE_CODE_SELECT, select), ROW(LE_CODE_SPLAT, splat), ROW(LE_CODE_COPY, copy), ROW(LE_CODE_STREAM, stream), ROW(LE_CODE_LOAD, load),
    ROW(LE_CODE_STORE, store), ROW(LE_CODE_GATHER, gather), ROW(LE_CODE_SCATTER, scatter),
};
// clang-format on

static int size_log2(enum le_type type) {
    switch (type) {
    case LE_BOOL:
    case LE_I8:
    case LE_U8:
        return 0;
    case LE_I16:
    case LE_U16:
    case LE_F16:
    case LE_BF16:
        return 1;
    case LE_I32:
    case LE_U32:
    case LE_F32:
        return 2;
    case LE_I64:
    case LE_U64:
    case LE_F64:
        return 3;
    default:
        return -1;
    }
}

le_cpu_op *LE_SET(le_moves_find)(const struct le_instr *instr) {
    const int size = size_log2((enum le_type)instr->type);
    if (size < 0 || instr->code < LE_CODE_SELECT || instr->code > LE_CODE_SCATTER)
        return NULL;
    if (instr->code == LE_CODE_SCATTER && instr->imm != LE_SCATTER_SET)
        return NULL;
    return moves[instr->code - LE_CODE_SELECT][size];
}
