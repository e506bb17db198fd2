/* The tables of operations, reductions and edge modes: every name that programs may use finds its row, and no other
 * name does. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "spec/op.h"
#include <ctype.h>
#include <string.h>

static void finds_functions(void **state) {
    (void)state;
    for (enum le_op op = 0; op < LE_OPS; op++) {
        const struct le_op_properties *info = le_op_info(op);
        assert_true(info->arity >= 1 && info->arity <= 3 && info->cost > 0);
        bool callable = islower((unsigned char)info->name[0]) && op != LE_OP_NEG;
        assert_int_equal(le_op_function(info->name, strlen(info->name)), callable ? op : LE_OPS);
    }
    assert_int_equal(le_op_function("sqrtx", 4), LE_OP_SQRT);
    assert_int_equal(le_op_function("sqrtx", 5), LE_OPS);
    assert_int_equal(le_op_function("", 0), LE_OPS);
    assert_int_equal(le_op_function("neg", 3), LE_OPS);
}

static void finds_special_functions(void **state) {
    (void)state;
    for (enum le_special special = 0; special < LE_SPECIALS; special++) {
        const char *name = le_special_words(special)->name;
        assert_int_equal(le_special_parse(name, strlen(name)), special);
        assert_int_equal(le_op_function(name, strlen(name)), LE_OPS);
    }
    assert_int_equal(le_special_parse("le", 2), LE_SPECIALS);
}

static void finds_reductions(void **state) {
    (void)state;
    for (enum le_reduction red = 0; red < LE_REDUCTIONS; red++)
        assert_int_equal(le_reduction_parse(le_reduction_name(red), strlen(le_reduction_name(red))), red);
    assert_int_equal(le_reduction_parse("argmi", 5), LE_REDUCTIONS);
    assert_int_equal(le_reduction_parse("", 0), LE_REDUCTIONS);
}

static void finds_edges(void **state) {
    (void)state;
    for (enum le_edge edge = 0; edge < LE_EDGES; edge++)
        assert_int_equal(le_edge_parse(le_edge_name(edge), strlen(le_edge_name(edge))), edge);
    assert_int_equal(le_edge_parse("mirrors", 7), LE_EDGES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_functions),
        cmocka_unit_test(finds_special_functions),
        cmocka_unit_test(finds_reductions),
        cmocka_unit_test(finds_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
