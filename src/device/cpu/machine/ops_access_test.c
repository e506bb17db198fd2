/* Moves, subscripts and scatters, on each instruction set. */
#include "device/cpu/machine/ops_test.h"

static const enum le_type of_size[] = {LE_U8, LE_F16, LE_F32, LE_I64};
static _Alignas(64) uint64_t a[LE_BLOCK_MAX + 8], b[LE_BLOCK_MAX + 8], c[LE_BLOCK_MAX + 8], d[LE_BLOCK_MAX + 8],
    array[4 * LE_BLOCK_MAX];
static uint64_t copy[LE_BLOCK_MAX + 8];

static void fill(void *at, size_t size_bytes, uint64_t seed) {
    for (size_t k = 0; k < size_bytes / 8; k++)
        ((uint64_t *)at)[k] = next_random(&seed);
}
static void fill_all(void) {
    fill(a, sizeof a, 1);
    fill(b, sizeof b, 2);
    fill(c, sizeof c, 3);
    fill(array, sizeof array, 4);
    memset(d, 0xab, sizeof d);
}
static void fill_bools(void *at, int64_t n, uint64_t seed) {
    for (int64_t k = 0; k < n; k++)
        ((uint8_t *)at)[k] = next_random(&seed) & 1;
}
static const void *item(const void *at, int64_t k, size_t size) {
    return (const char *)at + k * (int64_t)size;
}
static void assert_item(const void *got, int64_t k, const void *want, int64_t j, size_t size) {
    assert_memory_equal(item(got, k, size), item(want, j, size), size);
}
static void assert_end(int64_t n, size_t size) {
    assert_int_equal(*(const uint8_t *)item(d, n, size), 0xab);
}
static void assert_none(const void *got, int64_t k, size_t size) {
    assert_item(got, k, "\0\0\0\0\0\0\0", 0, size);
}

static struct le_instr instruction(int code, enum le_type type, int64_t imm) {
    return (struct le_instr){
        .code = (uint16_t)code, .type = (uint8_t)type, .d = 0, .a = 1, .b = 2, .c = 3, .e = 4, .imm = imm};
}

static void selects(enum le_simd simd, enum le_type type, size_t size, int64_t n) {
    const struct le_instr instr = instruction(LE_CODE_SELECT, type, 0);
    for (int place = 0; place < 4; place++) {
        void *reg[] = {d, a, b, c};
        fill_all();
        fill_bools(a, n, 5);
        uint8_t chosen[LE_BLOCK_MAX];
        uint64_t yes[LE_BLOCK_MAX], no[LE_BLOCK_MAX];
        memcpy(chosen, a, sizeof chosen);
        memcpy(yes, b, sizeof yes);
        memcpy(no, c, sizeof no);
        reg[0] = place == 0 ? (void *)d : reg[place];
        run_op(simd, &instr, reg, n);
        for (int64_t k = 0; k < n; k++)
            assert_item(reg[0], k, chosen[k] ? yes : no, k, size);
        if (place == 0)
            assert_end(n, size);
    }
}

static void splats_and_copies(enum le_simd simd, enum le_type type, size_t size, int64_t n) {
    struct le_instr instr = instruction(LE_CODE_SPLAT, type, 0);
    void *reg[] = {d, a};
    fill_all();
    run_op(simd, &instr, reg, n);
    for (int64_t k = 0; k < n; k++)
        assert_item(d, k, a, 0, size);
    assert_end(n, size);
    instr.code = LE_CODE_COPY;
    run_op(simd, &instr, reg, n);
    assert_memory_equal(d, a, (size_t)n * size);
    assert_end(n, size);
}

static void loads_and_stores(enum le_simd simd, enum le_type type, size_t size, int64_t n) {
    const int64_t strides[] = {(int64_t)size, 2 * (int64_t)size, -(int64_t)size, (int64_t)size + 1, 0};
    char *middle = (char *)(array + 2 * LE_BLOCK_MAX);
    for (int s = 0; s < 5; s++) {
        const struct le_instr load = instruction(LE_CODE_LOAD, type, strides[s]),
                              store = instruction(LE_CODE_STORE, type, strides[s]);
        fill_all();
        run_op(simd, &load, (void *[]){d, middle}, n);
        for (int64_t k = 0; k < n; k++)
            assert_memory_equal(item(d, k, size), middle + k * strides[s], size);
        assert_end(n, size);
        run_op(simd, &store, (void *[]){middle, a}, n);
        for (int64_t k = strides[s] == 0 && n > 0 ? n - 1 : 0; k < n; k++)
            assert_memory_equal(item(a, k, size), middle + k * strides[s], size);
    }
}

static void gathers(enum le_simd simd, enum le_type type, size_t size, int64_t n) {
    for (int mode = 0; mode < 4; mode++) { /* without a mask, with one, d the mask, d the index */
        struct le_instr instr = instruction(LE_CODE_GATHER, type, 0);
        void *reg[] = {mode == 2 ? (void *)c : mode == 3 ? (void *)b : (void *)d, array, b, c};
        uint8_t mask[LE_BLOCK_MAX];
        if (mode == 0)
            instr.c = LE_NO_REG;
        fill_all();
        fill_bools(c, n, 6);
        memcpy(mask, c, sizeof mask);
        for (int64_t k = 0; k < n; k++)
            b[k] = mode != 0 && !mask[k] ? UINT64_MAX / 4 : b[k] % LE_BLOCK_MAX;
        memcpy(copy, b, sizeof copy);
        run_op(simd, &instr, reg, n);
        for (int64_t k = 0; k < n; k++) {
            if (mode == 0 || mask[k])
                assert_item(reg[0], k, array, (int64_t)copy[k], size);
            else
                assert_none(reg[0], k, size);
        }
    }
}

static void plain_scatters(enum le_simd simd, enum le_type type, size_t size, int64_t n) {
    static uint64_t want[4 * LE_BLOCK_MAX];
    for (int masked = 0; masked < 2; masked++) {
        struct le_instr instr = instruction(LE_CODE_SCATTER, type, LE_SCATTER_SET);
        if (!masked)
            instr.c = LE_NO_REG;
        fill_all();
        fill_bools(c, n, 7);
        memcpy(want, array, sizeof want);
        for (int64_t k = 0; k < n; k++) {
            b[k] %= 40;
            if (!masked || ((uint8_t *)c)[k])
                memcpy((char *)want + b[k] * size, item(a, k, size), size);
        }
        run_op(simd, &instr, (void *[]){array, a, b, c}, n);
        assert_memory_equal(want, array, sizeof want);
    }
}

static void moves(void **state) {
    (void)state;
    EACH_SIMD(simd)
    for (int s = 0; s < 4; s++)
        EACH_LENGTH(n) {
            const enum le_type type = of_size[s];
            const size_t size = (size_t)1 << s;
            selects(simd, type, size, n);
            splats_and_copies(simd, type, size, n);
            loads_and_stores(simd, type, size, n);
            gathers(simd, type, size, n);
            plain_scatters(simd, type, size, n);
        }
}

static struct value updated(enum le_scatter how, enum le_type type, struct value now, struct value x) {
    const bool whole = is_whole(type), either = type == LE_BOOL;
    switch (how) {
    case LE_SCATTER_ADD:
        return (struct value){either ? now.i | x.i : wrapped(type, now.i + x.i), now.f + x.f};
    case LE_SCATTER_SUB:
        return (struct value){wrapped(type, now.i - x.i), now.f - x.f};
    case LE_SCATTER_MUL:
        return (struct value){wrapped(type, (int128)((uint128)now.i * (uint128)x.i)), now.f * x.f};
    case LE_SCATTER_DIV:
        return (struct value){0, now.f / x.f};
    case LE_SCATTER_MIN:
        return (whole ? now.i < x.i : isnan(now.f) || now.f < x.f) ? now : x;
    case LE_SCATTER_MAX:
        return (whole ? now.i > x.i : isnan(now.f) || now.f > x.f) ? now : x;
    default:
        return x;
    }
}

static void updates(enum le_simd simd, enum le_type type, enum le_scatter how, int64_t n, bool masked) {
    static double want[40];
    uint64_t seed = (uint64_t)n;
    struct le_instr instr = instruction(LE_CODE_SCATTER, type, how);
    if (!masked)
        instr.c = LE_NO_REG;
    for (int64_t k = 0; k < 40; k++)
        put(type, array, k, sample(type, &seed));
    for (int64_t k = 0; k < n; k++)
        put(type, a, k, sample(type, &seed));
    memcpy(want, array, sizeof want);
    fill_bools(c, n, seed);
    for (int64_t k = 0; k < n; k++) {
        b[k] = next_random(&seed) % 40;
        if (masked && !((uint8_t *)c)[k])
            continue;
        put(type, want, (int64_t)b[k], updated(how, type, get(type, want, (int64_t)b[k]), get(type, a, k)));
    }
    run_op(simd, &instr, (void *[]){array, a, b, c}, n);
    for (int64_t k = 0; k < 40; k++)
        assert_true(same(type, get(type, want, k), get(type, array, k)));
}

static void updating_scatters(void **state) {
    (void)state;
    const enum le_type types[] = {LE_BOOL, LE_I8,  LE_I16, LE_I32, LE_I64, LE_U8,
                                  LE_U16,  LE_U32, LE_U64, LE_F32, LE_F64};
    EACH_SIMD(simd)
    for (int t = 0; t < 11; t++)
        for (enum le_scatter how = LE_SCATTER_ADD; how <= LE_SCATTER_MAX; how++) {
            if (how == LE_SCATTER_DIV && !le_type_is_float(types[t]))
                continue;
            if (how == LE_SCATTER_SUB && types[t] == LE_BOOL)
                continue;
            EACH_LENGTH(n) for (int masked = 0; masked < 2; masked++) updates(simd, types[t], how, n, masked);
        }
}

static void counting_and_ranges(void **state) {
    (void)state;
    int64_t extent = 10;
    EACH_SIMD(simd) EACH_LENGTH(n) {
        struct le_instr instr = instruction(LE_CODE_IOTA, LE_I64, -3);
        int64_t first = 100;
        memset(d, 0xab, sizeof d);
        run_op(simd, &instr, (void *[]){d, &first}, n);
        for (int64_t k = 0; k < n; k++)
            assert_int_equal((int64_t)d[k], 100 - 3 * k);
        assert_end(n, 8);
        for (int mode = 0; mode < 3; mode++) { /* without a mask, with one, d the subscript */
            instr = instruction(LE_CODE_INRANGE, LE_I64, 0);
            if (mode == 0)
                instr.b = LE_NO_REG;
            fill_bools(b, n, 3);
            for (int64_t k = 0; k < n; k++)
                a[k] = (uint64_t)(k % 14 - 2);
            void *reg[] = {mode == 2 ? (void *)a : (void *)d, a, b, c, &extent};
            run_op(simd, &instr, reg, n);
            for (int64_t k = 0; k < n; k++) {
                const bool wanted = mode == 0 || ((uint8_t *)b)[k];
                assert_int_equal(((uint8_t *)reg[0])[k], wanted && k % 14 >= 2 && k % 14 < 12);
            }
        }
    }
}

static void faults(void **state) {
    (void)state;
    EACH_SIMD(simd) EACH_LENGTH(n) for (int mode = 0; mode < 4; mode++) {
        struct le_instr instr = {.code = LE_CODE_FAULT, .type = LE_I64, .a = 1, .b = 2, .c = 3, .imm = 17};
        struct le_fault fault = {.task = 5};
        int64_t first = -1;
        uint8_t *wanted = (uint8_t *)b, *good = (uint8_t *)c;
        fill_bools(b, n, (uint64_t)n);
        for (int64_t k = 0; k < n; k++) {
            a[k] = (uint64_t)(k - 9);
            good[k] = k < n / 2;
        }
        if (mode & 1)
            instr.b = LE_NO_REG;
        if (mode & 2)
            instr.c = LE_NO_REG;
        for (int64_t k = n - 1; k >= 0; k--)
            if ((mode & 1 || wanted[k]) && (mode & 2 || !good[k]))
                first = k;
        run_op(simd, &instr, (void *[]){&fault, a, b, c}, n);
        assert_int_equal(fault.set, first >= 0);
        assert_int_equal(fault.task, 5);
        if (!fault.set)
            continue;
        assert_int_equal(fault.access_axis, 17);
        assert_int_equal(fault.value, first - 9);
        a[first] = 1234;
        run_op(simd, &instr, (void *[]){&fault, a, b, c}, n);
        assert_int_equal(fault.value, first - 9);
        instr = (struct le_instr){.code = LE_CODE_OUTSIDE, .type = LE_BOOL, .d = 1, .b = instr.b, .c = instr.c};
        memset(d, 0, sizeof d);
        ((uint8_t *)d)[0] = 1;
        run_op(simd, &instr, (void *[]){NULL, d, b, c}, n);
        for (int64_t k = 0; k < n; k++)
            assert_int_equal(((uint8_t *)d)[k], k == 0 || ((mode & 1 || wanted[k]) && (mode & 2 || !good[k])));
    }
}

static void notes(void **state) {
    (void)state;
    EACH_SIMD(simd) EACH_LENGTH(n) {
        const struct le_instr instr = {.code = LE_CODE_NOTE, .type = LE_BOOL, .a = 1, .imm = LE_NOTE_POWER};
        struct le_fault fault = {.notes = LE_NOTE_DIVISION};
        memset(a, 0, sizeof a);
        ((uint8_t *)a)[n] = 1;
        run_op(simd, &instr, (void *[]){&fault, a}, n);
        assert_int_equal(fault.notes, LE_NOTE_DIVISION);
        if (n == 0)
            continue;
        ((uint8_t *)a)[n - 1] = 1;
        run_op(simd, &instr, (void *[]){&fault, a}, n);
        assert_int_equal(fault.notes, LE_NOTE_DIVISION | LE_NOTE_POWER);
        assert_false(fault.set);
    }
}

static int64_t index_inside(enum le_edge edge, int64_t x, int64_t extent) {
    if (extent == 0)
        return 0;
    if (edge == LE_EDGE_CLAMP)
        return x < 0 ? 0 : x >= extent ? extent - 1 : x;
    while (x < 0 || x >= extent) { /* one reflection or wrap at a time */
        if (edge == LE_EDGE_WRAP)
            x += x < 0 ? extent : -extent;
        else if (edge == LE_EDGE_MIRROR)
            x = extent == 1 ? 0 : x < 0 ? -x : 2 * (extent - 1) - x;
        else
            x = x < 0 ? -1 - x : 2 * extent - 1 - x;
    }
    return x;
}

static void edges(void **state) {
    (void)state;
    EACH_SIMD(simd)
    for (enum le_edge edge = LE_EDGE_CLAMP; edge <= LE_EDGE_SYMMETRIC; edge++)
        for (int64_t extent = 0; extent < 7; extent++) {
            const struct le_instr instr = instruction(LE_CODE_EDGE, LE_I64, edge);
            for (int64_t k = 0; k < 65; k++)
                a[k] = (uint64_t)(k - 32);
            run_op(simd, &instr, (void *[]){d, a, b, c, &extent}, 65);
            for (int64_t k = 0; k < 65; k++)
                assert_int_equal((int64_t)d[k], index_inside(edge, k - 32, extent));
            a[0] = (uint64_t)INT64_MIN;
            a[1] = INT64_MAX;
            run_op(simd, &instr, (void *[]){d, a, b, c, &extent}, 2);
            assert_true(d[0] < 7 && d[1] < 7);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(moves),
                                       cmocka_unit_test(updating_scatters),
                                       cmocka_unit_test(counting_and_ranges),
                                       cmocka_unit_test(faults),
                                       cmocka_unit_test(notes),
                                       cmocka_unit_test(edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
