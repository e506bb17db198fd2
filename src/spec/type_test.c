/* Types and promotion, compared with NumPy's results in tests/numpy/promotion.txt (written by promotion.py), and what
 * NumPy does not have: bf16, indices, names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "spec/op.h"
#include <stdio.h>
#include <string.h>

#ifndef LEAT_SOURCE_DIR
#define LEAT_SOURCE_DIR "."
#endif
#define COLUMNS_MAX 16

static enum le_type parse(const char *name) {
    if (strcmp(name, "wi") == 0)
        return LE_WEAK_INT;
    if (strcmp(name, "wf") == 0)
        return LE_WEAK_FLOAT;
    return le_type_parse(name, strlen(name));
}

static enum le_op operation(const char *spelling) {
    for (enum le_op op = 0; op < LE_OPS; op++)
        if (strcmp(le_op_info(op)->name, spelling) == 0)
            return op;
    return LE_OPS;
}

static enum le_type without_bool(enum le_type type) {
    return type == LE_BOOL ? LE_I64 : type;
}

static bool is_whole(enum le_type type) {
    return type == LE_BOOL || le_type_is_int(type);
}

/* The type of op over arguments that promote to t, by the op's rule; LE_NONE: an error. */
static enum le_type result_type(enum le_op op, enum le_type t) {
    bool on_bools = op == LE_OP_ADD || op == LE_OP_MUL;
    switch (le_op_info(op)->rule) {
    case LE_RULE_ARITH:
        return on_bools ? t : without_bool(t);
    case LE_RULE_TRUEDIV:
    case LE_RULE_FLOAT:
        return le_type_to_float(t);
    case LE_RULE_BITS:
        return is_whole(t) ? t : LE_NONE;
    case LE_RULE_SHIFT:
        return is_whole(t) ? without_bool(t) : LE_NONE;
    case LE_RULE_COMPARE:
    case LE_RULE_LOGIC:
    case LE_RULE_CLASSIFY:
        return LE_BOOL;
    case LE_RULE_ROUND:
    case LE_RULE_SAME:
        return without_bool(t);
    case LE_RULE_CHOOSE:
        return t;
    case LE_RULE_INTEGER:
        return le_type_is_int(t) ? t : LE_NONE;
    }
    return LE_NONE;
}

static enum le_type unary_type(const char *name, enum le_type type) {
    enum le_reduction reduction = le_reduction_parse(name, strlen(name));
    if (reduction == LE_RED_SUM || reduction == LE_RED_PROD)
        return le_type_summed(type);
    if (reduction == LE_RED_MEAN)
        return le_type_strong(le_type_to_float(type));
    return result_type(operation(name), type);
}

/* ---- the table */

struct table {
    bool unary;
    char name[16];
    char columns[COLUMNS_MAX][16];
    int count;
};

static void read_heading(struct table *table, char *line) {
    char *rest = NULL;
    table->unary = strcmp(strtok_r(line, " \n", &rest), "unary") == 0;
    snprintf(table->name, sizeof table->name, "%s", strtok_r(NULL, " \n", &rest));
    table->count = 0;
    for (char *name; (name = strtok_r(NULL, " \n", &rest));)
        snprintf(table->columns[table->count++], sizeof table->columns[0], "%s", name);
}

static int check_cell(const struct table *table, const char *left, const char *right, char *cell) {
    cell[strcspn(cell, "(")] = 0;
    enum le_type expected = strcmp(cell, "error") == 0 ? LE_NONE : parse(cell);
    enum le_type found, type = parse(right);
    if (table->unary) {
        found = unary_type(table->name, type);
    } else {
        assert_int_equal(le_type_promote(parse(left), type), le_type_promote(type, parse(left)));
        found = le_type_strong(result_type(operation(table->name), le_type_promote(parse(left), type)));
    }
    if (found != expected)
        fail_msg("%s %s %s: %s, not %s", left, table->name, right, le_type_name(found), cell);
    return 1;
}

static void promotes_as_numpy(void **state) {
    (void)state;
    FILE *file = fopen(LEAT_SOURCE_DIR "/tests/numpy/promotion.txt", "r");
    assert_non_null(file);
    struct table table = {0};
    char line[512];
    int checked = 0;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        if (strncmp(line, "binary ", 7) == 0 || strncmp(line, "unary ", 6) == 0) {
            read_heading(&table, line);
            continue;
        }
        char *rest = NULL, *left = strtok_r(line, " \n", &rest);
        int column = 0;
        for (char *cell; (cell = strtok_r(NULL, " \n", &rest)); column++)
            checked += check_cell(&table, left, table.columns[column], cell);
    }
    fclose(file);
    assert_true(checked > 4000);
}

/* ---- not in NumPy */

static void promotes_bf16(void **state) {
    (void)state;
    static const struct {
        enum le_type with, result;
    } cases[] = {
        {LE_BOOL, LE_BF16}, {LE_I8, LE_BF16},       {LE_U8, LE_BF16},         {LE_I16, LE_F32},
        {LE_U16, LE_F32},   {LE_I32, LE_F64},       {LE_U32, LE_F64},         {LE_I64, LE_F64},
        {LE_U64, LE_F64},   {LE_F16, LE_F32},       {LE_BF16, LE_BF16},       {LE_F32, LE_F32},
        {LE_F64, LE_F64},   {LE_WEAK_INT, LE_BF16}, {LE_WEAK_INDEX, LE_BF16}, {LE_WEAK_FLOAT, LE_BF16},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_int_equal(le_type_promote(LE_BF16, cases[k].with), cases[k].result);
        assert_int_equal(le_type_promote(cases[k].with, LE_BF16), cases[k].result);
    }
}

static void promotes_indices(void **state) {
    (void)state;
    assert_int_equal(le_type_promote(LE_WEAK_INDEX, LE_I8), LE_I64);
    assert_int_equal(le_type_promote(LE_U8, LE_WEAK_INDEX), LE_I64);
    assert_int_equal(le_type_promote(LE_U64, LE_WEAK_INDEX), LE_F64);
    assert_int_equal(le_type_promote(LE_BOOL, LE_WEAK_INDEX), LE_I64);
    assert_int_equal(le_type_promote(LE_F16, LE_WEAK_INDEX), LE_F16);
    assert_int_equal(le_type_promote(LE_WEAK_INDEX, LE_WEAK_INT), LE_WEAK_INDEX);
    assert_int_equal(le_type_promote(LE_WEAK_INDEX, LE_WEAK_FLOAT), LE_WEAK_FLOAT);
    assert_int_equal(le_type_to_float(LE_WEAK_INDEX), LE_WEAK_FLOAT);
    assert_int_equal(le_type_summed(LE_WEAK_INDEX), LE_I64);
    assert_int_equal(le_type_summed(LE_WEAK_FLOAT), LE_F64);
}

static void promotes_complex(void **state) {
    (void)state;
    static const struct {
        enum le_type with, c64, c128, weak;
    } cases[] = {
        {LE_BOOL, LE_C64, LE_C128, LE_C128},
        {LE_I8, LE_C64, LE_C128, LE_C128},
        {LE_U8, LE_C64, LE_C128, LE_C128},
        {LE_I16, LE_C64, LE_C128, LE_C128},
        {LE_U16, LE_C64, LE_C128, LE_C128},
        {LE_I32, LE_C128, LE_C128, LE_C128},
        {LE_U32, LE_C128, LE_C128, LE_C128},
        {LE_I64, LE_C128, LE_C128, LE_C128},
        {LE_U64, LE_C128, LE_C128, LE_C128},
        {LE_F16, LE_C64, LE_C128, LE_C64},
        {LE_BF16, LE_C64, LE_C128, LE_C64},
        {LE_F32, LE_C64, LE_C128, LE_C64},
        {LE_F64, LE_C128, LE_C128, LE_C128},
        {LE_C64, LE_C64, LE_C128, LE_C64},
        {LE_C128, LE_C128, LE_C128, LE_C128},
        {LE_WEAK_INT, LE_C64, LE_C128, LE_WEAK_COMPLEX},
        {LE_WEAK_INDEX, LE_C64, LE_C128, LE_WEAK_COMPLEX},
        {LE_WEAK_FLOAT, LE_C64, LE_C128, LE_WEAK_COMPLEX},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        enum le_type with = cases[k].with;
        assert_int_equal(le_type_promote(LE_C64, with), cases[k].c64);
        assert_int_equal(le_type_promote(with, LE_C64), cases[k].c64);
        assert_int_equal(le_type_promote(LE_C128, with), cases[k].c128);
        assert_int_equal(le_type_promote(with, LE_C128), cases[k].c128);
        assert_int_equal(le_type_promote(LE_WEAK_COMPLEX, with), cases[k].weak);
        assert_int_equal(le_type_promote(with, LE_WEAK_COMPLEX), cases[k].weak);
    }
    assert_int_equal(le_type_to_float(LE_C64), LE_C64);
    assert_int_equal(le_type_summed(LE_WEAK_COMPLEX), LE_C128);
    assert_int_equal(le_type_part(LE_C64), LE_F32);
    assert_int_equal(le_type_part(LE_WEAK_COMPLEX), LE_WEAK_FLOAT);
    assert_int_equal(le_type_part(LE_I8), LE_I8);
    assert_true(le_type_is_complex(LE_C128) && !le_type_is_float(LE_C128) && !le_type_is_complex(LE_F64));
    assert_int_equal(le_type_size(LE_C64), 8);
}

static void nothing_promotes_to_the_other(void **state) {
    (void)state;
    for (enum le_type type = LE_NONE; type < LE_TYPES_ALL; type++) {
        assert_int_equal(le_type_promote(LE_NONE, type), type);
        assert_int_equal(le_type_promote(type, LE_NONE), type);
        assert_int_equal(le_type_promote(type, type), type);
    }
}

static void knows_names_and_sizes(void **state) {
    (void)state;
    for (enum le_type type = LE_BOOL; type < LE_TYPES; type++) {
        const char *name = le_type_name(type);
        assert_int_equal(le_type_parse(name, strlen(name)), type);
        assert_int_equal(le_type_parse(name, strlen(name) - 1), LE_NONE);
        assert_false(le_type_is_weak(type));
        assert_int_equal(le_type_strong(type), type);
    }
    assert_int_equal(le_type_parse("", 0), LE_NONE);
    assert_int_equal(le_type_parse("f322", 4), LE_NONE);
    assert_string_equal(le_type_name(LE_NONE), "?");
    assert_string_equal(le_type_name(LE_WEAK_FLOAT), "f64");
    assert_int_equal(le_type_size(LE_NONE), 0);
    assert_int_equal(le_type_size(LE_BF16), 2);
    assert_int_equal(le_type_size(LE_WEAK_INT), 8);
    assert_int_equal(le_type_compute(LE_F16), LE_F32);
    assert_int_equal(le_type_compute(LE_I8), LE_I8);
    assert_int_equal(le_type_compute(LE_WEAK_FLOAT), LE_F64);
    assert_string_equal(le_type_npy(LE_U16), "u2");
    assert_true(le_type_is_unsigned(LE_U8) && !le_type_is_unsigned(LE_I8) && !le_type_is_unsigned(LE_BOOL));
    assert_true(le_type_is_int(LE_WEAK_INDEX) && !le_type_is_int(LE_BOOL) && le_type_is_float(LE_WEAK_FLOAT));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promotes_as_numpy), cmocka_unit_test(promotes_bf16),
        cmocka_unit_test(promotes_indices),  cmocka_unit_test(nothing_promotes_to_the_other),
        cmocka_unit_test(promotes_complex),  cmocka_unit_test(knows_names_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
