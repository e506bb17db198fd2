/* Accesses out of bounds abort the process with a report; those within bounds pass. Each runs in its own process. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "device/cpu/machine/bounds_check.h"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAULT, ARRAY, LANES, INDEX, MASK, ONE, REGS };
enum { BLOCK = 8, ELEMENTS = 20 };

static const struct le_reg regs[REGS] = {
    [FAULT] = {.kind = LE_REG_FAULT, .type = LE_I64}, [ARRAY] = {.kind = LE_REG_STREAM, .type = LE_I32},
    [LANES] = {.kind = LE_REG_SLOT, .type = LE_I32},  [INDEX] = {.kind = LE_REG_SLOT, .type = LE_I64},
    [MASK] = {.kind = LE_REG_SLOT, .type = LE_BOOL},  [ONE] = {.kind = LE_REG_CONST, .type = LE_I64, .bits = 1},
};
static int32_t array[ELEMENTS];
static int64_t lanes[BLOCK], where[BLOCK];
static uint8_t mask[BLOCK];

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

/* Returns what a child process writes to stderr while it runs `work`: "" if it ends normally. */
static const char *report_of(void (*work)(const void *user), const void *user) {
    static char text[1024];
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        work(user);
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
        length += (size_t)got;
    close(ends[0]);
    text[length] = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(length ? WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT : WIFEXITED(status));
    return text;
}

struct access {
    struct le_instr instr;
    int64_t at, n;
};

/* Checks with ARRAY at element `at`. */
static void check_access(const void *user) {
    const struct access *access = user;
    const struct le_unit unit = {
        .name = "y[i] = x[i]", .regs = (struct le_reg *)(uintptr_t)regs, .reg_count = REGS, .block = BLOCK};
    const struct le_cpu_area areas[REGS] = {
        [ARRAY] = {"x", (const char *)array, (const char *)(array + ELEMENTS)},
        [LANES] = {"a block", (const char *)lanes, (const char *)(lanes + BLOCK)},
        [INDEX] = {"a block", (const char *)where, (const char *)(where + BLOCK)},
        [MASK] = {"a block", (const char *)mask, (const char *)(mask + BLOCK)},
        [ONE] = {"a constant", (const char *)&regs[ONE].bits, (const char *)(&regs[ONE].bits + 1)},
    };
    void *pointers[REGS] = {[ARRAY] = array + access->at,
                            [LANES] = lanes,
                            [INDEX] = where,
                            [MASK] = mask,
                            [ONE] = (void *)(uintptr_t)&regs[ONE].bits};
    le_bounds_check(&unit, pointers, areas, &access->instr, access->n);
}

static void inside(struct le_instr instr, int64_t at, int64_t n) {
    assert_string_equal(report_of(check_access, &(struct access){instr, at, n}), "");
}

static void outside(struct le_instr instr, int64_t at, int64_t n, const char *words) {
    const char *text = report_of(check_access, &(struct access){instr, at, n});
    if (!strstr(text, words))
        fail_msg("not in the report: %s\n%s", words, text);
}

#define NONE LE_NO_REG

static void rows_of_elements(void **state) {
    (void)state;
    const struct le_instr add = make_instr(LE_OP_ADD, LE_I32, LANES, ARRAY, LANES, NONE, 0);
    inside(add, 0, BLOCK);
    inside(add, ELEMENTS - BLOCK, BLOCK);
    outside(add, ELEMENTS - BLOCK + 1, BLOCK, "bytes 52 to 83 of x, which has 80 bytes");
    outside(add, -1, 1, "read out of bounds");
    outside(make_instr(LE_OP_ADD, LE_I32, ARRAY, LANES, LANES, NONE, 0), ELEMENTS, 1,
            "y[i] = x[i]: write out of bounds");
    outside(make_instr(LE_OP_NEG, LE_I64, LANES, ONE, NONE, NONE, 0), 0, 2, "of a constant, which has 8 bytes");
    /* a comparison writes one byte per lane */
    inside(make_instr(LE_OP_LT, LE_I64, MASK, LANES, LANES, NONE, 0), 0, BLOCK);
    inside(make_instr(LE_CODE_SPLAT, LE_I32, LANES, ARRAY, NONE, NONE, BLOCK), ELEMENTS - 1, BLOCK);
}

static void strides(void **state) {
    (void)state;
    const struct le_instr load = make_instr(LE_CODE_LOAD, LE_I32, LANES, ARRAY, NONE, NONE, 8);
    inside(load, 5, BLOCK);
    outside(load, 6, BLOCK, "LOAD.i32");
    const struct le_instr back = make_instr(LE_CODE_STORE, LE_I32, ARRAY, LANES, NONE, NONE, -8);
    inside(back, 14, BLOCK);
    outside(back, 13, BLOCK, "bytes -4 to 55 of x");
}

static void gathers_and_scatters(void **state) {
    (void)state;
    const struct le_instr gather = make_instr(LE_CODE_GATHER, LE_I32, LANES, ARRAY, INDEX, NONE, 0);
    const struct le_instr scatter = make_instr(LE_CODE_SCATTER, LE_I32, ARRAY, LANES, INDEX, MASK, 0);
    memset(mask, 1, sizeof mask);
    for (int k = 0; k < BLOCK; k++)
        where[k] = k * 2;
    inside(gather, 5, BLOCK);
    inside(scatter, 5, BLOCK);
    outside(gather, 6, BLOCK, "bytes 80 to 83 of x");
    outside(scatter, 6, BLOCK, "write out of bounds");
    mask[BLOCK - 1] = 0; /* that lane accesses nothing */
    inside(scatter, 6, BLOCK);
    where[0] = -1;
    outside(gather, 0, BLOCK, "bytes -4 to -1 of x");
}

static void reductions(void **state) {
    (void)state;
    inside(make_instr(LE_CODE_ACC_ADD, LE_I32, FAULT, ARRAY, NONE, NONE, LE_RED_SUM), ELEMENTS - BLOCK, BLOCK);
    outside(make_instr(LE_CODE_ACC_ADD, LE_I32, FAULT, ARRAY, NONE, NONE, LE_RED_SUM), ELEMENTS - BLOCK + 1, BLOCK,
            "ACC_ADD");
    /* a second factor is of the same type */
    inside(make_instr(LE_CODE_ACC_ADD, LE_F32, FAULT, ARRAY, ARRAY, NONE, LE_RED_CHAIN_OF_PRODUCTS), ELEMENTS - BLOCK,
           BLOCK);
    outside(make_instr(LE_CODE_VEC_ADD, LE_F32, FAULT, LANES, ARRAY, NONE, LE_RED_CHAIN), ELEMENTS - BLOCK + 1, BLOCK,
            "VEC_ADD");
    inside(make_instr(LE_CODE_ACC_END, LE_I32, ARRAY, FAULT, NONE, NONE, LE_RED_SUM), ELEMENTS - 1, BLOCK);
    outside(make_instr(LE_CODE_ACC_END, LE_I32, ARRAY, FAULT, NONE, NONE, LE_RED_ARGMIN), ELEMENTS - 1, 1, "ACC_END");
    outside(make_instr(LE_CODE_SCAN, LE_I32, ARRAY, LANES, NONE, FAULT, LE_RED_SUM), ELEMENTS - 1, 2, "SCAN.i32");
}

static void blocks_hold_so_many_lanes(void **state) {
    (void)state;
    outside(make_instr(LE_CODE_COPY, LE_I64, LANES, LANES, NONE, NONE, 0), 0, BLOCK + 1,
            "of a block, which has 64 bytes");
}

static struct le_cpu_area area_of(void *user, int buffer) {
    (void)user, (void)buffer;
    return (struct le_cpu_area){"x", (const char *)array, (const char *)(array + ELEMENTS)};
}

/* Runs LANES = -ARRAY on the machine for one element, which lies after the end of the array. */
static void run_machine(const void *user) {
    static _Alignas(64) char scratch[1 << 16];
    static struct le_reg moved[REGS];
    struct le_instr instr = make_instr(LE_OP_NEG, LE_I32, LANES, ARRAY, NONE, NONE, 0);
    memcpy(moved, regs, sizeof moved);
    moved[ARRAY].offset = ELEMENTS * (int64_t)sizeof *array;
    struct le_unit unit = {
        .name = "y = -x", .instrs = &instr, .instr_count = 1, .regs = moved, .reg_count = REGS, .block = BLOCK};
    struct le_arena arena;
    struct le_cpu_code code;
    struct le_pool *pool = NULL;
    struct le_fault fault = {0};
    (void)user;
    le_arena_init(&arena);
    if (setjmp(arena.failure) || le_cpu_prepare(&arena, &unit, le_simd_best(), &code) || le_pool_new(1, &pool))
        return;
    struct le_cpu_job job = {.code = &code,
                             .tasks = 1,
                             .buffers = (void *[]){array},
                             .area = area_of,
                             .scratch = scratch,
                             .scratch_stride = sizeof scratch,
                             .faults = &fault};
    if (le_cpu_run(pool, &job))
        return;
}

static void the_machine_checks(void **state) {
    (void)state;
    if (!LE_CHECKS_BOUNDS)
        skip();
    const char *text = report_of(run_machine, NULL);
    if (!strstr(text, "y = -x: read out of bounds") || !strstr(text, "bytes 80 to 83 of x"))
        fail_msg("%s", text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_elements),     cmocka_unit_test(strides),
        cmocka_unit_test(gathers_and_scatters), cmocka_unit_test(blocks_hold_so_many_lanes),
        cmocka_unit_test(reductions),           cmocka_unit_test(the_machine_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
