/* LEAT_MAPPING: what it says of a mapping, and the errors in it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "gen/mapping/mapping.h"
#include <string.h>

static void well_formed(void **state) {
    (void)state;
    static const char *const texts[] = {"", "warp", " ; columns chunk=64 ; ", "columns chunk=64; warp",
                                        "columns chunk=64 unrolled=2;block threads=999999999999999999999"};
    for (size_t k = 0; k < ARRAY_LEN(texts); k++)
        if (le_mapping_check(texts[k]) != LEAT_OK)
            fail_msg("'%s': %s", texts[k], le_errors_text());
}

static void errors(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"colums", "unknown mapping 'colums' in LEAT_MAPPING; the mappings are loop, map, window, tile, columns"},
        {"warp; chunk=64", "unknown mapping 'chunk=64'"},
        {"warps", "unknown mapping 'warps'"},
        {"columns, warp", "unknown mapping 'columns,'"},
        {"columns rows=64", "mapping 'columns' has no setting 'rows' (LEAT_MAPPING)"},
        {"columns rows=64", "its settings are: unrolled chunk"},
        {"columns chunks=64", "has no setting 'chunks'"},
        {"warp; loop chunk=64", "it has no settings"},
        {"columns =64", "has no setting ''"},
        {"columns chunk", "'chunk' in LEAT_MAPPING is not SETTING=NUMBER"},
        {"columns chunk=", "'chunk=' in LEAT_MAPPING is not"},
        {"columns chunk=-64", "'chunk=-64' in LEAT_MAPPING is not"},
        {"columns chunk=64k; warp", "'chunk=64k' in LEAT_MAPPING is not"},
        {"columns chunk = 64", "'chunk' in LEAT_MAPPING is not"},
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++)
        if (le_mapping_check(cases[k][0]) != LEAT_INVALID || !strstr(le_errors_text(), cases[k][1]))
            fail_msg("'%s': %s", cases[k][0], le_errors_text());
}

/* The message has all names. */
static void names(void **state) {
    (void)state;
    assert_int_equal(le_mapping_check("?"), LEAT_INVALID);
    for (int k = 0; k < LE_MAPPING_KINDS; k++)
        if (!strstr(le_errors_text(), le_mapping_name((enum le_mapping_kind)k)))
            fail_msg("%s", le_mapping_name((enum le_mapping_kind)k));
}

static void forced(void **state) {
    (void)state;
    static const char text[] = "columns chunk=64 unrolled=2; warp; block threads=128";
    int64_t value;
    const char *columns = le_mapping_forced(text, LE_MAPPING_COLUMNS), *warp = le_mapping_forced(text, LE_MAPPING_WARP);
    assert_non_null(columns);
    assert_true(warp > columns);
    assert_null(le_mapping_forced(text, LE_MAPPING_SCAN_COLUMNS));
    assert_null(le_mapping_forced(NULL, LE_MAPPING_WARP));
    assert_true(le_mapping_forced_number(columns, "unrolled", &value));
    assert_int_equal(value, 2);
    assert_true(le_mapping_forced_number(columns, "chunk", &value));
    assert_int_equal(value, 64);
    assert_false(le_mapping_forced_number(columns, "threads", &value));
    assert_false(le_mapping_forced_number(warp, "threads", &value)); /* the next mapping's */
    assert_false(le_mapping_forced_number(NULL, "threads", &value));
    assert_true(le_mapping_has_setting(LE_MAPPING_BLOCK, "threads"));
    assert_false(le_mapping_has_setting(LE_MAPPING_BLOCK, "thread"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(well_formed), cmocka_unit_test(errors), cmocka_unit_test(names),
                                       cmocka_unit_test(forced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
