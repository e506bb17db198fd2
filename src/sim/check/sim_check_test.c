/* The checks, called as by an executor and a driver: what is reported, verbatim where it matters, and what is not. The
 * kernels of tests/sim test the same from source text on. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/clock.h"
#include "sim/check/sim_check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(4096) unsigned char memory[1 << 16]; /* of the device */
static _Alignas(128) unsigned char shared_memory[4096];
static const struct sim_shared_variable variables[] = {
    {.name = "sums", .address = (uintptr_t)shared_memory, .size_bytes = 512},
    {.name = "flag", .address = (uintptr_t)shared_memory + 512, .size_bytes = 1},
    {.name = "tail", .address = (uintptr_t)shared_memory + 576, .size_bytes = 40},
};
static struct sim_check *check;
static uint64_t ordered_up_to; /* operations up to this one are complete before any other */

static bool before(void *user, uint64_t a, uint64_t b) {
    (void)user, (void)b;
    return a <= ordered_up_to;
}

static bool source_line(void *user, uintptr_t pc, char *text, size_t size_bytes) {
    (void)user;
    snprintf(text, size_bytes, "k.cu:%u", (unsigned)(pc & 0xffff));
    return true;
}

static int begin(void **state) {
    (void)state;
    memset(memory, 0, sizeof memory);
    memset(shared_memory, 0, sizeof shared_memory);
    ordered_up_to = 0;
    if (le_sim_check_new(before, NULL, &check) != LEAT_OK)
        return 1;
    le_sim_check_memory(check, (uintptr_t)memory, sizeof memory, SIM_MEMORY_NONE, "reserved");
    le_sim_check_memory(check, (uintptr_t)memory + 4096, 4000, SIM_MEMORY_VALID, "array of 4,000 bytes");
    le_sim_check_memory(check, (uintptr_t)memory + 16384, 16384, SIM_MEMORY_VALID, "array of 16,384 bytes");
    return 0;
}

static int end(void **state) {
    (void)state;
    le_sim_check_free(check);
    return 0;
}

static void grid_with(uint64_t op, const char *name, unsigned blocks, unsigned threads, size_t dynamic_bytes) {
    struct sim_grid_info info = {.op = op,
                                 .cluster = {1, 1, 1},
                                 .kernel = name,
                                 .grid = {blocks, 1, 1},
                                 .block = {threads, 1, 1},
                                 .shared_low = (uintptr_t)shared_memory,
                                 .shared_high = (uintptr_t)shared_memory + sizeof shared_memory,
                                 .variables = variables,
                                 .variable_count = ARRAY_LEN(variables),
                                 .dynamic = (uintptr_t)shared_memory + 1024,
                                 .dynamic_bytes = dynamic_bytes,
                                 .source_line = source_line};
    le_sim_check_grid_begin(check, &info);
}

static void grid(unsigned blocks, unsigned threads) {
    grid_with(1, "k", blocks, threads, 256);
    for (unsigned b = 0; b < blocks; b++)
        le_sim_check_block_begin(check, b);
}

static void touch(unsigned block, unsigned thread, void *at, size_t size_bytes, unsigned flags, int line) {
    le_sim_check_access(check, (struct sim_thread_id){block, thread}, (uintptr_t)at, size_bytes, flags,
                        0x55550000u + (unsigned)line);
}
static void get(unsigned block, unsigned thread, void *at, int line) {
    touch(block, thread, at, 4, 0, line);
}
static void put(unsigned block, unsigned thread, void *at, unsigned value, int line) {
    touch(block, thread, at, 4, SIM_WRITE, line);
    memcpy(at, &value, 4);
}
static void atomic(unsigned block, unsigned thread, void *at, int line) {
    touch(block, thread, at, 4, SIM_ATOMIC, line);
}
static void store(unsigned block, unsigned thread, void *at, int line) {
    touch(block, thread, at, 4, SIM_VOLATILE | SIM_WRITE, line);
}
static void load(unsigned block, unsigned thread, void *at, int line) {
    touch(block, thread, at, 4, SIM_VOLATILE, line);
}
static void fence(unsigned block, unsigned thread) {
    le_sim_check_fence(check, (struct sim_thread_id){block, thread}, SIM_FENCE_DEVICE);
}
static void *array(size_t word) {
    return memory + 16384 + 4 * word;
}
static void *shared_word(size_t word) {
    return shared_memory + 4 * word;
}
static void expect_no_reports(void) {
    le_sim_check_resolve_pending(check);
    if (le_sim_check_report_count(check))
        print_error("%s", le_sim_check_reports(check));
    assert_int_equal(le_sim_check_report_count(check), 0);
    assert_null(le_sim_check_reports(check));
}
static void expect_report(const char *text) {
    const char *said = le_sim_check_reports(check);
    assert_non_null(said);
    assert_string_equal(said, text);
}
static void expect_part(const char *text) {
    const char *said = le_sim_check_reports(check);
    assert_non_null(said);
    if (!strstr(said, text))
        print_error("%s", said);
    assert_non_null(strstr(said, text));
}

/* ---- races in shared memory */
static void shared_race(void **state) {
    (void)state;
    grid(1, 64);
    for (unsigned t = 0; t < 64; t++)
        put(0, t, shared_word(t), t + 1, 12);
    le_sim_check_barrier(check, 0);
    expect_no_reports();
    put(0, 35, shared_word(3), 9, 12);
    get(0, 3, shared_word(3), 14);
    le_sim_check_grid_end(check);
    expect_report("shared race in kernel k: block (0,0,0) thread (3,0,0) at k.cu:14\n"
                  "    reads 4 bytes at byte 12 of shared 'sums' (512 bytes)\n"
                  "    which thread (35,0,0) wrote at k.cu:12, with no barrier between\n");
}

static void race_of_a_warp(void **state) {
    (void)state;
    grid(1, 64);
    put(0, 1, shared_word(0), 7, 3);
    le_sim_check_warp_barrier(check, 0, 0, ~UINT32_C(0));
    get(0, 2, shared_word(0), 4);
    expect_no_reports();
    put(0, 5, shared_word(8), 7, 5);
    le_sim_check_warp_barrier(check, 0, 0, 0xff);
    get(0, 6, shared_word(8), 6);
    expect_no_reports();
    get(0, 9, shared_word(8), 7); /* was not in the mask */
    expect_part("thread (9,0,0) at k.cu:7");
    expect_part("thread (5,0,0) wrote at k.cu:5, with no barrier or __syncwarp between");
}

static void partial_warp_barriers_add_up(void **state) {
    (void)state;
    grid(1, 32);
    put(0, 0, shared_word(0), 7, 1);
    le_sim_check_warp_barrier(check, 0, 0, 0x3); /* lanes 0 and 1 */
    le_sim_check_warp_barrier(check, 0, 0, 0x6); /* lanes 1 and 2: lane 2 learns what lane 1 knew */
    get(0, 2, shared_word(0), 2);
    expect_no_reports();
    get(0, 3, shared_word(0), 3);
    expect_part("thread (3,0,0) at k.cu:3");
}

static void reads_of_many_then_a_write(void **state) {
    (void)state;
    grid(1, 128);
    put(0, 0, shared_word(0), 1, 1);
    le_sim_check_barrier(check, 0);
    for (unsigned t = 0; t < 128; t++)
        get(0, t, shared_word(0), 2);
    put(0, 0, shared_word(0), 2, 3);
    expect_part("writes 4 bytes at byte 0 of shared 'sums' (512 bytes)\n    which thread (");
    expect_part("read at k.cu:2, with no barrier");
}

static void atomics(void **state) {
    (void)state;
    grid(2, 64);
    for (unsigned t = 0; t < 64; t++) {
        atomic(0, t, array(0), 1);
        atomic(1, t, array(0), 1);
        store(0, t, array(1), 2);
        load(1, t, array(1), 3);
        atomic(0, t, array(1), 3);
    }
    expect_no_reports();
    atomic(1, 3, array(0), 1);
    get(1, 3, array(0), 4); /* its own atomic was the last, and those of others are not ordered before it */
    expect_part("global race in kernel k: block (1,0,0) thread (3,0,0) at k.cu:4\n"
                "    reads 4 bytes at byte 0 of an array of 16,384 bytes\n"
                "    which ");
    expect_part(" updated atomically at k.cu:1, ");
}

static void bytes_of_one_word(void **state) {
    (void)state;
    grid(2, 32);
    unsigned char *at = array(0);
    for (unsigned t = 0; t < 16; t++)
        touch(0, t, at + t, 1, SIM_WRITE, 1);
    for (unsigned t = 0; t < 8; t++)
        touch(1, t, at + 16 + 2 * t, 2, SIM_WRITE, 2);
    expect_no_reports();
    get(0, 0, at, 3); /* four bytes written by four threads */
    expect_part("thread (0,0,0) at k.cu:3");
    expect_part("wrote at k.cu:1");
}

/* ---- values */
static void same_value(void **state) {
    (void)state;
    grid(2, 64);
    for (unsigned t = 0; t < 64; t++)
        put(0, t, shared_word(0), 0x40490fdb, 1); /* one block, one source line: any value is accepted */
    for (unsigned t = 0; t < 64; t++)
        put(t & 1, t, array(0), 1, 2); /* a flag: accepted from any block */
    expect_no_reports();
    for (unsigned t = 0; t < 64; t++)
        put(0, t, shared_word(1), 5 + (t == 40), 3);
    expect_part("thread (40,0,0) at k.cu:3");
    for (unsigned t = 0; t < 2; t++)
        put(t, 0, array(1), 0x3f800000, 4); /* data */
    expect_part("global race in kernel k: block (1,0,0) thread (0,0,0) at k.cu:4");
}

/* ---- order between blocks */
static void last_block(void **state) {
    (void)state;
    grid(8, 32);
    for (unsigned b = 0; b < 8; b++) {
        put(b, 0, array(b), b, 1);
        fence(b, 0);
        atomic(b, 0, array(100), 2);
        put(b, 0, shared_word(0), b == 7, 3);
        le_sim_check_barrier(check, b);
        get(b, 5, shared_word(0), 4);
        if (b < 7)
            le_sim_check_block_end(check, b);
    }
    for (unsigned t = 0; t < 8; t++)
        get(7, t, array(t), 5);
    expect_no_reports();
    le_sim_check_grid_end(check);
    expect_no_reports();
}

static void last_block_cumulative(void **state) {
    (void)state;
    grid(300, 32);
    for (unsigned b = 0; b < 300; b++) {
        for (unsigned t = 0; t < 8; t++)
            put(b, t, array(8 * b + t), b, 1);
        le_sim_check_barrier(check, b);
        fence(b, 0);
        atomic(b, 0, array(4000), 2);
    }
    le_sim_check_barrier(check, 299);
    for (unsigned t = 0; t < 2400; t++)
        get(299, t % 32, array(t), 5);
    expect_no_reports();
}

static void every_thread_fences(void **state) {
    (void)state;
    grid(4, 64);
    for (unsigned b = 0; b < 4; b++) {
        for (unsigned t = 0; t < 64; t++) {
            put(b, t, array(64 * b + t), b, 1);
            fence(b, t);
        }
        le_sim_check_barrier(check, b);
        atomic(b, 0, array(4000), 2);
    }
    le_sim_check_barrier(check, 3);
    for (unsigned t = 0; t < 256; t++)
        get(3, t % 64, array(t), 5);
    expect_no_reports();
}

static void last_block_with_its_fence_too_early(void **state) {
    (void)state;
    grid(2, 32);
    for (unsigned b = 0; b < 2; b++) {
        fence(b, 0);
        put(b, 0, array(b), b, 1);
        atomic(b, 0, array(100), 2);
    }
    get(1, 0, array(0), 5);
    expect_report("global race in kernel k: block (1,0,0) thread (0,0,0) at k.cu:5\n"
                  "    reads 4 bytes at byte 0 of an array of 16,384 bytes\n"
                  "    which block (0,0,0) thread (0,0,0) wrote at k.cu:1, with nothing that orders the two blocks\n");
}

static void fence_of_a_block(void **state) {
    (void)state;
    grid(2, 64);
    put(0, 0, array(0), 1, 1);
    le_sim_check_fence(check, (struct sim_thread_id){0, 0}, SIM_FENCE_BLOCK);
    store(0, 0, array(100), 2);
    load(0, 40, array(100), 3);
    get(0, 40, array(0), 4);
    expect_no_reports();
    load(1, 0, array(100), 3);
    get(1, 0, array(0), 5);
    expect_part("block (1,0,0) thread (0,0,0) at k.cu:5");
}

static void lock(unsigned block, unsigned thread, bool release) {
    atomic(block, thread, array(100), 1);
    fence(block, thread);
    get(block, thread, array(0), 2);
    put(block, thread, array(0), block + 7, 3);
    if (release)
        fence(block, thread);
    atomic(block, thread, array(100), 4);
}

static void locks(void **state) {
    (void)state;
    grid(20, 32);
    for (unsigned b = 0; b < 20; b++)
        for (unsigned t = 0; t < 3; t++)
            lock(b, t, true);
    expect_no_reports();
}

static void lock_released_without_fence(void **state) {
    (void)state;
    grid(2, 32);
    lock(0, 0, false);
    lock(1, 0, false);
    expect_part("block (1,0,0) thread (0,0,0) at k.cu:2");
}

static void look_back(void **state) {
    (void)state;
    grid(100, 32);
    for (unsigned b = 0; b < 100; b++) {
        if (b) {
            load(b, 0, array(1000 + b - 1), 1);
            get(b, 0, array(b - 1), 2);
        }
        put(b, 0, array(b), b, 3);
        fence(b, 0);
        store(b, 0, array(1000 + b), 4);
    }
    get(99, 0, array(0), 5); /* the whole chain */
    expect_no_reports();
}

static void grid_barrier(void **state) {
    (void)state;
    grid(2, 32);
    put(0, 0, array(0), 1, 1);
    le_sim_check_grid_barrier(check);
    le_sim_check_block_switch(check, 1);
    get(1, 0, array(0), 2);
    expect_no_reports();
    put(0, 3, array(1), 1, 3);
    get(1, 3, array(1), 4);
    expect_part("block (1,0,0) thread (3,0,0) at k.cu:4");
}

/* ---- memory */
static void uninitialized(void **state) {
    (void)state;
    le_sim_check_memory(check, (uintptr_t)memory + 8192, 256, SIM_MEMORY_FRESH, "array of 256 bytes");
    grid(2, 32);
    put(0, 0, memory + 8192, 1, 1);
    get(0, 0, memory + 8192, 2);
    put(0, 0, shared_word(0), 1, 3);
    get(0, 0, shared_word(0), 4);
    le_sim_check_block_end(check, 0);
    expect_no_reports();
    get(1, 0, shared_word(0), 5);
    get(1, 0, memory + 8192 + 16, 6);
    expect_report("uninitialized read in kernel k: block (1,0,0) thread (0,0,0) at k.cu:5\n"
                  "    reads 4 bytes at byte 0 of shared 'sums' (512 bytes), which nothing has written\n"
                  "\n"
                  "uninitialized read in kernel k: block (1,0,0) thread (0,0,0) at k.cu:6\n"
                  "    reads 4 bytes at byte 16 of an array of 256 bytes, which nothing has written\n");
}

static void padding_is_copied(void **state) {
    (void)state;
    grid(1, 32);
    put(0, 0, shared_word(0), 1, 1);
    touch(0, 0, shared_word(2), 8, SIM_WRITE, 1);
    touch(0, 0, shared_word(0), 16, 0, 2); /* struct { int a; double b; } */
    expect_no_reports();
    put(0, 0, shared_word(4), 1, 1);
    touch(0, 0, shared_word(4), 16, 0, 3); /* a float4 of which one element is set */
    expect_part("at k.cu:3\n    reads 16 bytes at byte 16 of shared 'sums' (512 bytes), which nothing has written");
}

static void fills_initialize(void **state) {
    (void)state;
    le_sim_check_memory(check, (uintptr_t)memory + 8192, 8000, SIM_MEMORY_FRESH, "array of 8,000 bytes");
    le_sim_check_range(check, 1, "fill", (uintptr_t)memory + 8192, 8000, true);
    ordered_up_to = 1;
    grid_with(2, "k", 1, 32, 0);
    le_sim_check_block_begin(check, 0);
    get(0, 0, memory + 8192 + 7996, 1);
    expect_no_reports();
}

static void out_of_bounds(void **state) {
    (void)state;
    grid(1, 32);
    get(0, 7, memory + 4096 + 3996, 1);
    expect_no_reports();
    get(0, 7, memory + 4096 + 4000, 2);
    get(0, 7, memory + 4096 - 8, 3);
    touch(0, 7, memory + 4096 + 3992, 16, SIM_UNALIGNED, 4);
    get(0, 7, (void *)16, 5);
    expect_report("out of bounds in kernel k: block (0,0,0) thread (7,0,0) at k.cu:2\n"
                  "    reads 4 bytes, just after the end of an array of 4,000 bytes\n"
                  "\n"
                  "out of bounds in kernel k: block (0,0,0) thread (7,0,0) at k.cu:3\n"
                  "    reads 4 bytes, 4 bytes before the start of an array of 4,000 bytes\n"
                  "\n"
                  "out of bounds in kernel k: block (0,0,0) thread (7,0,0) at k.cu:4\n"
                  "    reads 16 bytes, the last 8 of them after the end of an array of 4,000 bytes\n"
                  "\n"
                  "out of bounds in kernel k: block (0,0,0) thread (7,0,0) at k.cu:5\n"
                  "    reads 4 bytes at address 0x10: a null pointer\n");
    le_sim_check_reports_clear(check);
    get(0, 7, (void *)0x87654320, 6);
    expect_part("at k.cu:6\n    reads 4 bytes at address 0x87654320, which is not in device memory\n");
}

static void out_of_bounds_shared(void **state) {
    (void)state;
    grid(1, 32);
    put(0, 1, shared_memory + 576 + 40, 1, 1);
    put(0, 1, shared_memory + 1024 + 252, 1, 2);
    put(0, 1, shared_memory + 1024 + 256, 1, 3);
    expect_report("out of bounds in kernel k: block (0,0,0) thread (1,0,0) at k.cu:1\n"
                  "    writes 4 bytes, just after the end of shared 'tail' (40 bytes)\n"
                  "\n"
                  "dynamic shared memory too small in kernel k: block (0,0,0) thread (1,0,0) at k.cu:3\n"
                  "    writes 4 bytes at byte 256 of dynamic shared memory, but the launch provides 256 bytes\n");
}

static void misaligned(void **state) {
    (void)state;
    grid(1, 32);
    touch(0, 1, (char *)array(0) + 4, 16, 0, 1);
    touch(0, 1, (char *)array(0) + 1, 4, SIM_UNALIGNED, 2);
    expect_report(
        "misaligned access in kernel k: block (0,0,0) thread (1,0,0) at k.cu:1\n"
        "    reads 16 bytes at byte 4 of an array of 16,384 bytes, an address that is not a multiple of 16\n");
}

static void use_after_free(void **state) {
    (void)state;
    le_sim_check_memory(check, (uintptr_t)memory + 16384, 16384, SIM_MEMORY_FREED, "array of 16,384 bytes");
    grid(1, 32);
    put(0, 1, array(2), 1, 1);
    expect_report("use after free in kernel k: block (0,0,0) thread (1,0,0) at k.cu:1\n"
                  "    writes 4 bytes at byte 8 of an array of 16,384 bytes that was freed\n");
}

static void regions_are_cut(void **state) {
    (void)state;
    le_sim_check_memory(check, (uintptr_t)memory + 20480, 64, SIM_MEMORY_FREED, "middle");
    grid(1, 32);
    put(0, 0, memory + 20480 - 4, 1, 1);
    put(0, 0, memory + 20480 + 64, 1, 2);
    expect_no_reports();
    put(0, 0, memory + 20480, 1, 3);
    put(0, 0, memory + 20480 + 60, 1, 4);
    le_sim_check_resolve_pending(check);
    assert_int_equal(le_sim_check_report_count(check), 2);
}

/* ---- order of operations */
static void stream_order(void **state) {
    (void)state;
    grid(1, 32);
    put(0, 5, array(1), 1, 1);
    le_sim_check_grid_end(check);
    le_sim_check_range(check, 2, "copy to the host", (uintptr_t)array(0), 16384, false);
    expect_report("wrong stream order: copy to the host\n"
                  "    reads 16,384 bytes at byte 0 of an array of 16,384 bytes\n"
                  "    which kernel k, block (0,0,0) thread (5,0,0), wrote at k.cu:1, with nothing that orders the two "
                  "operations\n");
    le_sim_check_reports_clear(check);
    grid_with(3, "later", 1, 32, 0);
    le_sim_check_block_begin(check, 0);
    put(0, 1, array(2), 1, 9);
    expect_report("wrong stream order in kernel later: block (0,0,0) thread (1,0,0) at k.cu:9\n"
                  "    writes 4 bytes at byte 8 of an array of 16,384 bytes\n"
                  "    which a copy to the host read, with nothing that orders the two operations\n");
}

static void operations_in_order(void **state) {
    (void)state;
    for (uint64_t op = 1; op < 400; op += 2) {
        ordered_up_to = op - 1;
        le_sim_check_range(check, op, "copy to the device", (uintptr_t)array(0), 16384, true);
        ordered_up_to = op;
        grid_with(op + 1, "k", 1, 32, 0);
        le_sim_check_block_begin(check, 0);
        for (unsigned t = 0; t < 32; t++)
            put(0, t, array(t * 100), t, 1);
        le_sim_check_grid_end(check);
    }
    expect_no_reports();
}

/* ---- the list of reports */
static void one_report_for_a_pair_of_places(void **state) {
    (void)state;
    grid(1, 64);
    for (unsigned t = 0; t < 63; t++) {
        put(0, t, shared_word(t), t + 7, 1);
        get(0, t + 1, shared_word(t), 2);
    }
    le_sim_check_resolve_pending(check);
    assert_int_equal(le_sim_check_report_count(check), 1);
    expect_part("(63 times)\n");
}

static void reports_of_others(void **state) {
    (void)state;
    grid(2, 64);
    struct sim_thread_id thread = {.block = 1, .thread = 33};
    for (int k = 0; k < 3; k++)
        le_sim_check_report(check, SIM_REPORT_DIVERGENT_BARRIER, &thread, "k.cu:8", "%d of 64 threads wait here", 32);
    le_sim_check_grid_end(check);
    le_sim_check_report(check, SIM_REPORT_HOST_READ, NULL, NULL, "the host reads what a kernel writes");
    expect_report("divergent barrier in kernel k: block (1,0,0) thread (33,0,0) at k.cu:8\n"
                  "    32 of 64 threads wait here\n"
                  "    (3 times)\n"
                  "\n"
                  "missing synchronization\n"
                  "    the host reads what a kernel writes\n");
}

/* ---- cost: a generous bound */
static void speed(void **state) {
    (void)state;
    grid(1, 256);
    uint64_t start_ns = le_clock_ns();
    enum { ROUNDS = 20000 };
    for (unsigned k = 0; k < ROUNDS; k++) {
        for (unsigned t = 0; t < 32; t++) {
            get(0, t, array(t + k % 2048), 1);
            touch(0, t, shared_word(t), 4, SIM_WRITE, 2);
        }
        le_sim_check_barrier(check, 0);
    }
    double each_ns = (double)(le_clock_ns() - start_ns) / (64.0 * ROUNDS);
    expect_no_reports();
    if (getenv("LEAT_SHOW_SPEED"))
        print_message("%.1f ns an access\n", each_ns);
    assert_true(each_ns < 5000);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(shared_race),
        TEST(race_of_a_warp),
        TEST(partial_warp_barriers_add_up),
        TEST(reads_of_many_then_a_write),
        TEST(atomics),
        TEST(bytes_of_one_word),
        TEST(same_value),
        TEST(last_block),
        TEST(last_block_cumulative),
        TEST(every_thread_fences),
        TEST(last_block_with_its_fence_too_early),
        TEST(fence_of_a_block),
        TEST(locks),
        TEST(lock_released_without_fence),
        TEST(look_back),
        TEST(grid_barrier),
        TEST(uninitialized),
        TEST(padding_is_copied),
        TEST(fills_initialize),
        TEST(out_of_bounds),
        TEST(out_of_bounds_shared),
        TEST(misaligned),
        TEST(use_after_free),
        TEST(regions_are_cut),
        TEST(stream_order),
        TEST(operations_in_order),
        TEST(one_report_for_a_pair_of_places),
        TEST(reports_of_others),
        TEST(speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
