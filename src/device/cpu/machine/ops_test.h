/* Shared by the tests of the kernels: values of all types, and running one instruction on every instruction set of this
 * machine. */
#ifndef LE_OPS_TEST_H
#define LE_OPS_TEST_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/cpu/machine/ops.h"
#include "spec/op.h"
#include <math.h>
#include <string.h>

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/* One element: an integer's or bool's value in i, a float's in f. */
struct value {
    int128 i;
    double f;
};

static const int64_t lengths[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 65, 512, 1000, 1023, 1024};

static inline uint64_t next_random(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline bool is_whole(enum le_type type) {
    return type == LE_BOOL || le_type_is_int(type);
}
static inline int128 least_of(enum le_type type) {
    return type == LE_BOOL || le_type_is_unsigned(type) ? 0 : -((int128)1 << (le_type_bits(type) - 1));
}
static inline int128 greatest_of(enum le_type type) {
    if (type == LE_BOOL)
        return 1;
    return ((int128)1 << (le_type_bits(type) - (le_type_is_unsigned(type) ? 0 : 1))) - 1;
}
static inline int128 wrapped(enum le_type type, int128 x) {
    if (type == LE_BOOL)
        return x & 1;
    const int128 span = (int128)1 << le_type_bits(type);
    x &= span - 1;
    return x > greatest_of(type) ? x - span : x;
}

static inline struct value get(enum le_type type, const void *at, int64_t k) {
    const char *from = (const char *)at + (size_t)k * le_type_size(type);
    uint64_t bits = 0;
    memcpy(&bits, from, le_type_size(type));
    if (is_whole(type))
        return (struct value){.i = wrapped(type, (int128)bits)};
    float single;
    double twice;
    memcpy(&single, from, sizeof single);
    if (type == LE_F32)
        return (struct value){.f = (double)single};
    memcpy(&twice, from, sizeof twice);
    return (struct value){.f = twice};
}

static inline void put(enum le_type type, void *at, int64_t k, struct value value) {
    char *to = (char *)at + (size_t)k * le_type_size(type);
    const uint64_t bits = (uint64_t)value.i;
    const float single = (float)value.f;
    if (is_whole(type))
        memcpy(to, &bits, le_type_size(type));
    else if (type == LE_F32)
        memcpy(to, &single, sizeof single);
    else
        memcpy(to, &value.f, sizeof value.f);
}

/* Equal bits, or both NaN. */
static inline bool same(enum le_type type, struct value a, struct value b) {
    if (is_whole(type))
        return a.i == b.i;
    return memcmp(&a.f, &b.f, sizeof a.f) == 0 || (a.f != a.f && b.f != b.f);
}

static const double special_floats[] = {0.0,
                                        -0.0,
                                        1,
                                        -1,
                                        0.5,
                                        -0.5,
                                        1.5,
                                        2,
                                        -2,
                                        2.5,
                                        3,
                                        -3,
                                        7,
                                        -7,
                                        1e10,
                                        -1e10,
                                        0x1p24,
                                        0x1p53,
                                        0x1.fffffep127,
                                        -0x1.fffffep127,
                                        0x1p-126,
                                        0x1p-149,
                                        -0x1p-149,
                                        0x1.fffffffffffffp1023,
                                        0x1p-1074,
                                        (double)INFINITY,
                                        -(double)INFINITY,
                                        (double)NAN};

/* Special values first and then random ones. */
static inline struct value sample(enum le_type type, uint64_t *state) {
    const uint64_t draw = next_random(state), kind = draw % 4;
    if (is_whole(type)) {
        const int128 ends[] = {
            0, 1, -1, 2, -2, least_of(type), greatest_of(type), least_of(type) + 1, le_type_bits(type), 7};
        if (kind == 0)
            return (struct value){.i = wrapped(type, ends[draw / 4 % (sizeof ends / sizeof *ends)])};
        if (kind == 1)
            return (struct value){.i = wrapped(type, (int128)(draw >> 32) % 21 - 10)};
        return (struct value){.i = wrapped(type, (int128)next_random(state))};
    }
    double x = special_floats[draw / 4 % (sizeof special_floats / sizeof *special_floats)];
    if (kind == 1)
        x = (double)((int64_t)(draw >> 32) % 41 - 20) / 4;
    if (kind == 2)
        x = ((double)(next_random(state) >> 11) * 0x1p-53 - 0.5) * 200;
    if (kind == 3) {
        const uint64_t bits = next_random(state);
        memcpy(&x, &bits, sizeof x);
        const uint32_t half = (uint32_t)bits;
        float single;
        memcpy(&single, &half, sizeof single);
        if (type == LE_F32)
            x = (double)single;
    }
    return (struct value){.f = type == LE_F32 ? (double)(float)x : x};
}

/* Runs one instruction; it must exist. */
static inline void run_op(enum le_simd simd, const struct le_instr *instr, void *const *reg, int64_t n) {
    le_cpu_op *op = le_cpu_op_find(simd, instr);
    if (op == NULL)
        fail_msg("no %d of type %d, %d on %s", instr->code, instr->type, instr->type2, le_simd_name(simd));
    op(reg, instr, n);
}

#define EACH_SIMD(simd)                                                                                                \
    for (enum le_simd simd = LE_SIMD_BASELINE; simd < LE_SIMDS; simd++)                                                \
        if (le_simd_here(simd))
#define EACH_LENGTH(n)                                                                                                 \
    for (int64_t at_##n = 0, n; at_##n < (int64_t)(sizeof lengths / sizeof *lengths) && (n = lengths[at_##n], true);   \
         at_##n++)
#endif
