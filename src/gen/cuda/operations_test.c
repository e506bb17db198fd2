/* Each operation as CUDA C, for a type of each kind, is compared with operations_test.txt. A new operation adds its
 * lines there. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "gen/cuda/spelling.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

/* Bools are made i64 before. */
static bool never_occurs(int code, int type) {
    if (type != LE_BOOL || code >= LE_OPS)
        return false;
    const struct le_op_properties *info = le_op_info((enum le_op)code);
    return (info->rule == LE_RULE_ARITH || info->rule == LE_RULE_SAME) && !info->cuda.bools;
}

/* The other ways are printed only where they differ from the exact one. */
static void add_ways(struct le_arena *arena, struct le_text *out, int code, int type, const char *type_name) {
    static const char *const x[] = {"a", "b", "c"}, *const ways[] = {"exact", "quick", "short"};
    const char *exact = never_occurs(code, type) ? NULL : le_cuda_op(arena, code, type, x, LE_WAY_EXACT, "usual");
    for (int way = LE_WAY_EXACT; way <= LE_WAY_SHORT && exact; way++) {
        const char *text = le_cuda_op(arena, code, type, x, (enum le_way)way, "usual");
        if (way == LE_WAY_EXACT)
            le_text_add(out, "%s %s: %s\n", le_code_name(code), type_name, text);
        else if (strcmp(text, exact) != 0)
            le_text_add(out, "%s %s %s: %s\n", le_code_name(code), type_name, ways[way], text);
    }
}

static void spells_operations(void **state) {
    static const struct {
        int type;
        const char *name;
    } types[] = {{LE_BOOL, "bool"}, {LE_I16, "i16"}, {LE_U64, "u64"},
                 {LE_F32, "f32"},   {LE_F64, "f64"}, {LE_KTREE_INT, "position"}};
    static char expected[1 << 16];
    struct le_arena arena;
    struct le_text found = {0};
    (void)state;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    for (int code = 0; code <= LE_CODE_NMULADD; code++)
        for (size_t k = 0; k < ARRAY_LEN(types) && code != LE_CODE_CAST && code != LE_CODE_ROUND; k++)
            add_ways(&arena, &found, code, types[k].type, types[k].name);
    FILE *file = fopen("src/gen/cuda/operations_test.txt", "r");
    assert_non_null(file);
    expected[fread(expected, 1, sizeof expected - 1, file)] = 0;
    fclose(file);
    if (strcmp(found.at, expected) != 0) {
        fputs(found.at, stdout);
        fail_msg("The texts above are not those of operations_test.txt.");
    }
    le_text_finish(&found);
    le_arena_finish(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spells_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
