/* Random numbers: Random123's known answers for philox4x32-10, and the values derived from the halves of a block. */
#include "device/cpu/machine/ops_test.h"

static const struct {
    uint64_t key, first, second, low, high;
} known[] = {
    {0, 0, 0, 0xe169c58d6627e8d5, 0x9b00dbd8bc57ac4c},
    {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0x41c83b0e408f276d, 0x6d5451fda20bc7c6},
    {0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e, 0x94fdccebd16cfe09, 0x24126ea15001e420},
};
static uint64_t key[LE_BLOCK_MAX], first[LE_BLOCK_MAX], second[LE_BLOCK_MAX], result[LE_BLOCK_MAX + 1];

static void run_random(enum le_simd simd, int code, int64_t n) {
    const struct le_instr instr = {.code = (uint16_t)code, .type = LE_F64, .d = 3, .b = 1, .c = 2};
    for (int64_t k = 0; k < n; k++) {
        key[k] = known[k % 3].key;
        first[k] = known[k % 3].first;
        second[k] = known[k % 3].second;
    }
    result[n] = 99;
    run_op(simd, &instr, (void *[]){key, first, second, result}, n);
    assert_int_equal(result[n], 99);
}

static void known_answers(void **state) {
    (void)state;
    EACH_SIMD(simd) EACH_LENGTH(n) {
        run_random(simd, LE_CODE_RAND_KEY, n);
        for (int64_t k = 0; k < n; k++)
            assert_int_equal(result[k], known[k % 3].low);
        run_random(simd, LE_CODE_RAND, n);
        for (int64_t k = 0; k < n; k++)
            assert_true(get(LE_F64, result, k).f == (double)(known[k % 3].low >> 11) * 0x1p-53);
        run_random(simd, LE_CODE_RANDN, n);
        for (int64_t k = 0; k < n; k++) {
            const double u = (double)(known[k % 3].low >> 11) * 0x1p-53,
                         v = (double)(known[k % 3].high >> 11) * 0x1p-53;
            const double want = sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
            assert_true(fabs(get(LE_F64, result, k).f - want) < 1e-14);
        }
    }
}

/* The result may overwrite an operand. */
static void in_place(void **state) {
    (void)state;
    EACH_SIMD(simd)
    for (uint16_t place = 0; place < 3; place++)
        for (int code = LE_CODE_RAND_KEY; code <= LE_CODE_RANDN; code++) {
            const struct le_instr instr = {.code = (uint16_t)code, .type = LE_F64, .d = place, .b = 1, .c = 2};
            uint64_t *reg[] = {key, first, second};
            run_random(simd, code, 1000);
            run_op(simd, &instr, (void *[]){key, first, second}, 1000);
            assert_memory_equal(reg[place], result, 8000);
        }
}

/* Mean and variance of many draws. */
static void moments(void **state) {
    const struct le_instr instr = {.code = LE_CODE_RANDN, .type = LE_F64, .d = 3, .b = 1, .c = 2};
    double sum = 0, squares = 0;
    (void)state;
    for (int64_t block = 0; block < 1000; block++) {
        for (int64_t k = 0; k < LE_BLOCK_MAX; k++) {
            key[k] = 42;
            first[k] = (uint64_t)block;
            second[k] = (uint64_t)k;
        }
        run_op(le_simd_best(), &instr, (void *[]){key, first, second, result}, LE_BLOCK_MAX);
        for (int64_t k = 0; k < LE_BLOCK_MAX; k++) {
            sum += get(LE_F64, result, k).f;
            squares += get(LE_F64, result, k).f * get(LE_F64, result, k).f;
        }
    }
    assert_true(fabs(sum / 1024000) < 0.005);
    assert_true(fabs(squares / 1024000 - 1) < 0.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_answers), cmocka_unit_test(in_place),
                                       cmocka_unit_test(moments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
