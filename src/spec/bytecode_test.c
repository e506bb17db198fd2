/* Printing bytecode: a whole unit, every code, and damaged code, which must be printed too. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "spec/bytecode.h"
#include "base/status.h"
#include "base/text.h"
#include <string.h>

static uint64_t bits_of_f32(float value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

static void prints_a_unit(void **state) {
    (void)state;
    struct le_reg regs[] = {
        {.kind = LE_REG_FAULT},
        {.kind = LE_REG_CONST, .type = LE_I64},
        {.kind = LE_REG_SCALAR, .type = LE_I64},
        {.kind = LE_REG_STREAM, .type = LE_F32, .buffer = 1, .offset = 8},
        {.kind = LE_REG_SLOT, .type = LE_F32},
        {.kind = LE_REG_CONST, .type = LE_F32, .bits = bits_of_f32(0.1f)},
        {.kind = LE_REG_CONST, .type = LE_I8, .bits = 0xff},
        {.kind = LE_REG_ACC, .type = LE_F32, .levels = 5},
    };
    struct le_loop_stream streams[] = {{.reg = 3, .stride = 4}};
    struct le_loop loops[] = {
        {.name = "i",
         .lane = true,
         .low = 1,
         .high = 2,
         .by = 1,
         .value = LE_NO_REG,
         .clip = 0,
         .end = 4,
         .streams = streams,
         .stream_count = 1},
    };
    struct le_instr instrs[] = {
        {.code = LE_CODE_ACC_INIT, .type = LE_F32, .d = 7, .imm = LE_RED_SUM},
        {.code = LE_CODE_LOOP, .imm = 0},
        {.code = LE_OP_MUL, .type = LE_F32, .d = 4, .a = 3, .b = 5},
        {.code = LE_CODE_ACC_ADD, .type = LE_F32, .d = 7, .a = 4, .b = LE_NO_REG, .imm = LE_RED_SUM},
        {.code = LE_CODE_CAST, .type = LE_I8, .type2 = LE_F32, .d = 4, .a = 6},
    };
    struct le_unit unit = {.name = "s = sum(i: x[i])",
                           .instrs = instrs,
                           .instr_count = ARRAY_LEN(instrs),
                           .regs = regs,
                           .reg_count = ARRAY_LEN(regs),
                           .loops = loops,
                           .loop_count = 1,
                           .block = 512};
    struct le_text text = {0};
    le_unit_print(&unit, &text);
    assert_false(text.failed);
    assert_string_equal(text.at, "unit s = sum(i: x[i]); blocks of 512\n"
                                 "  m3: f32 in buffer 1 from byte 8\n"
                                 "  a7: f32 total over lanes, 5 levels\n"
                                 "   0 ACC_INIT.f32 a7 sum\n"
                                 "   1 LOOP lanes i #0..s2 task 0; m3 += 4\n"
                                 "   2   MUL.f32 v4 m3 #0.1\n"
                                 "   3   ACC_ADD.f32 a7 v4 - sum\n"
                                 "   4 CAST.i8.f32 v4 #-1\n");
    le_text_finish(&text);
}

static void prints_chains_and_distances(void **state) {
    (void)state;
    struct le_reg regs[] = {{.kind = LE_REG_VEC, .type = LE_F64, .levels = 6},
                            {.kind = LE_REG_SLOT, .type = LE_F64},
                            {.kind = LE_REG_SLOT, .type = LE_F64},
                            {.kind = LE_REG_ROWS, .type = LE_F64},
                            {.kind = LE_REG_SLOT, .type = LE_I64}};
    struct le_instr instrs[] = {
        {.code = LE_CODE_VEC_ADD, .type = LE_F64, .a = 1, .b = 2, .c = LE_NO_REG, .imm = LE_RED_CHAIN_OF_PRODUCTS},
        {.code = LE_CODE_ROWS_ADD, .type = LE_F64, .d = 3, .a = 1, .b = 4, .c = 4, .e = 2, .imm = LE_RED_CHAIN},
        {.code = LE_CODE_DISTANCE,
         .type = LE_F64,
         .d = 2,
         .a = 1,
         .b = 2,
         .c = 1,
         .imm = LE_DISTANCE_FUSED | LE_DISTANCE_ONE},
    };
    struct le_unit unit = {.name = "chains",
                           .instrs = instrs,
                           .instr_count = ARRAY_LEN(instrs),
                           .regs = regs,
                           .reg_count = ARRAY_LEN(regs),
                           .block = 512};
    struct le_text text = {0};
    le_unit_print(&unit, &text);
    assert_string_equal(text.at, "unit chains; blocks of 512\n"
                                 "  A0: f64 totals lane by lane, 6 levels\n"
                                 "   0 VEC_ADD.f64 A0 v1 v2 - chain_of_products\n"
                                 "   1 ROWS_ADD.f64 R3 v1 v4 v4 v2 chain\n"
                                 "   2 DISTANCE.f64 v2 v1 v2 v1 fused one\n");
    le_text_finish(&text);
}

static void every_code_has_a_name_and_prints(void **state) {
    (void)state;
    struct le_text text = {0};
    for (int code = 0; code < LE_CODES; code++) {
        assert_non_null(le_code_name(code));
        struct le_instr instr = {.code = (uint16_t)code, .type = LE_F32, .type2 = LE_F64, .imm = 1};
        struct le_unit unit = {.instrs = &instr, .instr_count = 1};
        text.length = 0;
        le_unit_print(&unit, &text);
        assert_non_null(strstr(text.at, le_code_name(code)));
    }
    le_text_finish(&text);
    assert_string_equal(le_code_name(-1), "?");
    assert_string_equal(le_code_name(LE_CODES), "?");
}

static void prints_damaged_code(void **state) {
    (void)state;
    struct le_text text = {0};
    for (int code = 0; code < LE_CODES + 2; code++) {
        struct le_instr instr = {.code = (uint16_t)code,
                                 .type = 255,
                                 .type2 = 200,
                                 .d = 9,
                                 .a = 10,
                                 .b = 11,
                                 .c = 12,
                                 .e = 13,
                                 .imm = INT64_MIN};
        struct le_unit unit = {.instrs = &instr, .instr_count = 1};
        le_unit_print(&unit, &text);
    }
    assert_false(text.failed);
    le_text_finish(&text);
}

/* A loop whose body ends before it begins is empty; printing continues and terminates. */
static void prints_loops_that_end_nowhere(void **state) {
    (void)state;
    struct le_loop loops[] = {{.name = "i", .end = 0}, {.name = "j", .end = 99}};
    struct le_instr instrs[] = {
        {.code = LE_CODE_LOOP, .imm = 0}, {.code = LE_CODE_LOOP, .imm = 1}, {.code = LE_OP_ADD}};
    struct le_unit unit = {.instrs = instrs, .instr_count = 3, .loops = loops, .loop_count = 2};
    struct le_text text = {0};
    le_unit_print(&unit, &text);
    assert_non_null(strstr(text.at, "ADD"));
    le_text_finish(&text);
}

/* Bodies are indented. */
static void prints_control(void **state) {
    (void)state;
    struct le_reg regs[] = {
        {.kind = LE_REG_FAULT}, {.kind = LE_REG_SLOT, .type = LE_BOOL}, {.kind = LE_REG_SCALAR, .type = LE_I64}};
    struct le_loop loops[] = {{.name = "k", .once = true, .low = 2, .by = 1, .value = LE_NO_REG, .clip = -1, .end = 6}};
    struct le_instr instrs[] = {
        {.code = LE_CODE_LOOP, .imm = 0},
        {.code = LE_CODE_REPEAT, .imm = 6},
        {.code = LE_OP_LNOT, .type = LE_BOOL, .d = 1, .a = 1},
        {.code = LE_CODE_LEAVE, .type = LE_BOOL, .a = 1},
        {.code = LE_CODE_SKIP, .type = LE_BOOL, .a = 1, .imm = 6},
        {.code = LE_OP_NEG, .type = LE_I64, .d = 2, .a = 2, .single = true},
        {.code = LE_OP_LNOT, .type = LE_BOOL, .d = 1, .a = 1},
    };
    struct le_unit unit = {.name = "x",
                           .instrs = instrs,
                           .instr_count = ARRAY_LEN(instrs),
                           .regs = regs,
                           .reg_count = ARRAY_LEN(regs),
                           .loops = loops,
                           .loop_count = 1,
                           .block = 512};
    struct le_text text = {0};
    le_unit_print(&unit, &text);
    assert_string_equal(text.at, "unit x; blocks of 512\n"
                                 "   0 LOOP once k s2\n"
                                 "   1   REPEAT\n"
                                 "   2     LNOT.bool v1 v1\n"
                                 "   3     LEAVE.bool v1\n"
                                 "   4     SKIP.bool v1\n"
                                 "   5       NEG.1.i64 s2 s2\n"
                                 "   6 LNOT.bool v1 v1\n");
    le_text_finish(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_a_unit),
        cmocka_unit_test(prints_control),
        cmocka_unit_test(prints_chains_and_distances),
        cmocka_unit_test(every_code_has_a_name_and_prints),
        cmocka_unit_test(prints_damaged_code),
        cmocka_unit_test(prints_loops_that_end_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
