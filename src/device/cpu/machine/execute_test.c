/* Control flow over lanes: code that repeats until no lane is left, leaves loops, skips bodies, and runs loops once.
 * The other instructions are the machine's own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "device/cpu/machine/execute.h"
#include <string.h>

enum { FAULT, LIMIT, ONE, ZERO, COUNTS, VALUE, MASK, OUT, LENGTH, HOST, REGS };

static const struct le_reg regs[REGS] = {
    [FAULT] = {.kind = LE_REG_FAULT, .type = LE_I64},
    [LIMIT] = {.kind = LE_REG_STREAM, .type = LE_I64, .buffer = 0},
    [ONE] = {.kind = LE_REG_SLOT, .type = LE_I64},
    [ZERO] = {.kind = LE_REG_CONST, .type = LE_I64, .bits = 0},
    [COUNTS] = {.kind = LE_REG_SLOT, .type = LE_I64},
    [VALUE] = {.kind = LE_REG_SLOT, .type = LE_I64},
    [MASK] = {.kind = LE_REG_SLOT, .type = LE_BOOL},
    [OUT] = {.kind = LE_REG_STREAM, .type = LE_I64, .buffer = 1},
    [LENGTH] = {.kind = LE_REG_CONST, .type = LE_I64, .bits = 20},
    [HOST] = {.kind = LE_REG_STREAM, .type = LE_I64, .buffer = 2},
};

static struct le_instr make_instr(int code, enum le_type type, int d, int a, int b, int c, int64_t imm) {
    return (struct le_instr){.code = (uint16_t)code,
                             .type = (uint8_t)type,
                             .type2 = (uint8_t)type,
                             .d = (uint16_t)d,
                             .a = (uint16_t)a,
                             .b = (uint16_t)b,
                             .c = (uint16_t)c,
                             .e = LE_NO_REG,
                             .imm = imm};
}

static void run_unit(const struct le_instr *instrs, int count, struct le_loop *loops, void *const *buffers,
                     struct le_fault *faults) {
    struct le_unit unit = {.name = "test",
                           .instrs = (struct le_instr *)(uintptr_t)instrs,
                           .instr_count = count,
                           .regs = (struct le_reg *)(uintptr_t)regs,
                           .reg_count = REGS,
                           .loops = loops,
                           .loop_count = 1,
                           .block = 8};
    struct le_arena arena;
    struct le_cpu_code code;
    struct le_pool *pool = NULL;
    static _Alignas(64) char scratch[1 << 16];
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    assert_int_equal(le_cpu_prepare(&arena, &unit, le_simd_best(), &code), LEAT_OK);
    assert_true(code.scratch_bytes <= sizeof scratch);
    assert_int_equal(le_pool_new(1, &pool), LEAT_OK);
    struct le_cpu_job job = {.code = &code,
                             .tasks = 1,
                             .buffers = buffers,
                             .scratch = scratch,
                             .scratch_stride = sizeof scratch,
                             .faults = faults};
    assert_int_equal(le_cpu_run(pool, &job), LEAT_OK);
    le_pool_free(pool);
    le_arena_finish(&arena);
}

#define NONE LE_NO_REG

/* each lane counts up to its own limit; odd ones then get 100 more */
static void lanes_repeat_until_they_are_done(void **state) {
    (void)state;
    struct le_loop_stream streams[] = {{.reg = LIMIT, .stride = 8}, {.reg = OUT, .stride = 8}};
    struct le_loop loops[] = {{.name = "i",
                               .lane = true,
                               .low = ZERO,
                               .high = LENGTH,
                               .by = 1,
                               .by_reg = NONE,
                               .value = NONE,
                               .clip = -1,
                               .end = 14,
                               .streams = streams,
                               .stream_count = 2}};
    const struct le_instr instrs[] = {
        make_instr(LE_CODE_LOOP, LE_I64, 0, 0, 0, 0, 0),
        make_instr(LE_CODE_SPLAT, LE_I64, COUNTS, ZERO, NONE, NONE, 0),
        make_instr(LE_CODE_IOTA, LE_I64, ONE, ZERO, NONE, NONE, 0),
        make_instr(LE_OP_NOT, LE_I64, ONE, ONE, NONE, NONE, 0), /* -1 */
        make_instr(LE_CODE_REPEAT, LE_I64, 0, 0, 0, 0, 9),
        make_instr(LE_OP_LT, LE_I64, MASK, COUNTS, LIMIT, NONE, 0),
        make_instr(LE_CODE_LEAVE, LE_BOOL, NONE, MASK, NONE, NONE, 0),
        make_instr(LE_OP_SUB, LE_I64, VALUE, COUNTS, ONE, NONE, 0),
        make_instr(LE_CODE_SELECT, LE_I64, COUNTS, MASK, VALUE, COUNTS, 0),
        make_instr(LE_OP_GT, LE_I64, MASK, LIMIT, COUNTS, NONE, 0), /* no lane */
        make_instr(LE_CODE_SKIP, LE_BOOL, NONE, MASK, NONE, NONE, 12),
        make_instr(LE_OP_NOT, LE_I64, COUNTS, COUNTS, NONE, NONE, 0),
        make_instr(LE_OP_SUB, LE_I64, COUNTS, COUNTS, ONE, NONE, 0),
        make_instr(LE_CODE_COPY, LE_I64, OUT, COUNTS, NONE, NONE, 0),
    };
    int64_t limits[20], out[20];
    struct le_fault faults[1] = {{0}};
    void *buffers[] = {limits, out, NULL};
    for (int k = 0; k < 20; k++)
        limits[k] = k * 7 % 11;
    run_unit(instrs, 14, loops, buffers, faults);
    for (int k = 0; k < 20; k++)
        assert_int_equal(out[k], limits[k] + 1);
}

/* a LEAVE ends the loop, and the streams are reset */
static void a_loop_is_left(void **state) {
    (void)state;
    struct le_loop_stream streams[] = {{.reg = LIMIT, .stride = 8}};
    struct le_loop loops[] = {{.name = "i",
                               .low = ZERO,
                               .high = LENGTH,
                               .by = 1,
                               .by_reg = NONE,
                               .value = NONE,
                               .clip = -1,
                               .end = 5,
                               .streams = streams,
                               .stream_count = 1}};
    const struct le_instr instrs[] = {
        make_instr(LE_CODE_COPY, LE_I64, COUNTS, ZERO, NONE, NONE, 0),
        make_instr(LE_CODE_LOOP, LE_I64, 0, 0, 0, 0, 0),
        make_instr(LE_OP_NE, LE_I64, MASK, LIMIT, ZERO, NONE, 0),
        make_instr(LE_CODE_LEAVE, LE_BOOL, NONE, MASK, NONE, NONE, 0),
        make_instr(LE_OP_ADD, LE_I64, COUNTS, COUNTS, LIMIT, NONE, 0),
        make_instr(LE_OP_ADD, LE_I64, OUT, COUNTS, LIMIT, NONE, 0),
    };
    int64_t numbers[20] = {1, 2, 3, 0, 100}, out[1] = {0};
    struct le_fault faults[1] = {{0}};
    void *buffers[] = {numbers, out, NULL};
    run_unit(instrs, 6, loops, buffers, faults);
    assert_int_equal(out[0], 1 + 2 + 3 + 1);
}

static void a_host_loop_runs_once(void **state) {
    (void)state;
    struct le_loop_stream streams[] = {{.reg = LIMIT, .stride = 8}};
    struct le_loop loops[] = {{.name = "k",
                               .low = HOST,
                               .high = NONE,
                               .by = 1,
                               .by_reg = NONE,
                               .value = NONE,
                               .once = true,
                               .clip = -1,
                               .end = 2,
                               .streams = streams,
                               .stream_count = 1}};
    const struct le_instr instrs[] = {make_instr(LE_CODE_LOOP, LE_I64, 0, 0, 0, 0, 0),
                                      make_instr(LE_CODE_COPY, LE_I64, OUT, LIMIT, NONE, NONE, 0)};
    int64_t numbers[20] = {10, 11, 12, 13}, out[1] = {0}, at = 3;
    struct le_fault faults[1] = {{0}};
    void *buffers[] = {numbers, out, &at};
    run_unit(instrs, 2, loops, buffers, faults);
    assert_int_equal(out[0], 13);
}

/* reads out of range give 0: a loop that waits for another value ends by the fault */
static void a_fault_ends_what_repeats(void **state) {
    (void)state;
    struct le_loop loops[1] = {{.by = 1}};
    const struct le_instr instrs[] = {make_instr(LE_CODE_REPEAT, LE_I64, 0, 0, 0, 0, 3),
                                      make_instr(LE_OP_NE, LE_I64, MASK, ZERO, ZERO, NONE, 0),
                                      make_instr(LE_CODE_FAULT, LE_I64, NONE, ZERO, NONE, MASK, 8)};
    struct le_fault faults[1] = {{0}};
    void *buffers[] = {NULL, NULL, NULL};
    run_unit(instrs, 3, loops, buffers, faults);
    assert_true(faults[0].set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_repeat_until_they_are_done),
        cmocka_unit_test(a_loop_is_left),
        cmocka_unit_test(a_host_loop_runs_once),
        cmocka_unit_test(a_fault_ends_what_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
