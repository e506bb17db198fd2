/* The order among threads, compared with a simple model in which every thread has a vector of what it knows of every
 * other. Blocks, barriers, masks, fences and strong accesses are random, and every thread is asked about every stamp.
 * Without memory, less must be known, never more. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/memory.h"
#include "base/status.h"
#include "sim/check/sim_happens_before.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 5, BLOCK_THREADS = 40, THREADS = BLOCKS * BLOCK_THREADS, LOCATIONS = 4, STAMPS = 64 };
struct vector {
    uint32_t of[THREADS];
};
static struct {
    struct vector knows[THREADS], may[THREADS][2];
    bool fenced[THREADS];
    struct {
        struct vector everywhere, within;
        int block;
    } at[LOCATIONS];
    struct {
        int thread;
        uint32_t count;
        struct sim_stamp stamp;
    } stamps[STAMPS];
} model;
static struct sim_known known;
static struct sim_resident residents[BLOCKS];
static uint32_t seed;

static unsigned random_below(unsigned limit) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % limit;
}

static void join(struct vector *to, const struct vector *from) {
    for (int k = 0; k < THREADS; k++)
        to->of[k] = from->of[k] > to->of[k] ? from->of[k] : to->of[k];
}

static uint64_t number_of(int block) {
    return (uint64_t)block * 37 + 2;
} /* far apart, so that trees have several levels */

static void access_by(int thread, unsigned slot) {
    int block = thread / BLOCK_THREADS;
    model.stamps[slot].thread = thread;
    model.stamps[slot].count = ++model.knows[thread].of[thread];
    model.stamps[slot].stamp = (struct sim_stamp){.who = 1 << SIM_THREAD_BITS | (uint32_t)(thread % BLOCK_THREADS),
                                                  .block = (uint32_t)number_of(block),
                                                  .time = residents[block].clock};
}

/* Threads of a block share all that they know and may publish. */
static void meet(int first, int count, uint64_t mask) {
    struct vector all = {0}, may[2] = {0};
    bool fenced = false;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
            int t = first + k;
            if (!(mask >> k & 1))
                continue;
            if (pass == 0) {
                join(&all, &model.knows[t]);
                join(&may[0], &model.may[t][0]);
                join(&may[1], &model.may[t][1]);
                fenced = fenced || model.fenced[t];
            } else {
                model.knows[t] = all;
                model.may[t][0] = may[0];
                model.may[t][1] = may[1];
                model.fenced[t] = fenced;
            }
        }
}

static void strong(int thread, unsigned address, enum sim_strong kind) {
    int block = thread / BLOCK_THREADS;
    if (kind != SIM_STRONG_STORE) {
        join(&model.knows[thread], &model.at[address].everywhere);
        if (model.at[address].block == block)
            join(&model.knows[thread], &model.at[address].within);
    }
    if (kind == SIM_STRONG_STORE)
        memset(&model.at[address], 0, sizeof model.at[address]);
    if (kind != SIM_STRONG_READ && model.fenced[thread]) {
        if (model.at[address].block != block)
            memset(&model.at[address].within, 0, sizeof model.at[address].within);
        model.at[address].block = block;
        join(&model.at[address].within, &model.may[thread][0]);
        join(&model.at[address].everywhere, &model.may[thread][1]);
    }
    le_sim_known_strong_access(&known, &residents[block], (unsigned)(thread % BLOCK_THREADS), 4096 + 4 * address, 0,
                               kind);
}

static void fence(int thread, enum sim_fence scope) {
    join(&model.may[thread][0], &model.knows[thread]);
    if (scope != SIM_FENCE_BLOCK)
        join(&model.may[thread][1], &model.knows[thread]);
    model.fenced[thread] = true;
    le_sim_known_fence(&known, &residents[thread / BLOCK_THREADS], (unsigned)(thread % BLOCK_THREADS), scope);
}

static void warp_barrier(int block, unsigned warp, uint32_t mask) {
    int count = warp ? BLOCK_THREADS - SIM_WARP : SIM_WARP;
    meet(block * BLOCK_THREADS + (int)warp * SIM_WARP, count, mask);
    le_sim_known_warp_barrier(&known, &residents[block], warp, mask);
}

static void step(void) {
    int thread = (int)random_below(THREADS), block = thread / BLOCK_THREADS;
    switch (random_below(24)) {
    case 0:
        meet(block * BLOCK_THREADS, BLOCK_THREADS, ~UINT64_C(0));
        le_sim_known_barrier(&known, &residents[block]);
        return;
    case 1:
        warp_barrier(block, random_below(2), ~UINT32_C(0));
        return;
    case 2:
    case 3:
        warp_barrier(block, random_below(2), random_below(1 << 16) * 65539 | 1);
        return;
    case 4:
    case 5:
    case 6:
        fence(thread, SIM_FENCE_DEVICE);
        return;
    case 7:
        fence(thread, SIM_FENCE_BLOCK);
        return;
    case 8:
    case 9:
    case 10:
    case 11:
        strong(thread, random_below(LOCATIONS), SIM_STRONG_UPDATE);
        return;
    case 12:
    case 13:
        strong(thread, random_below(LOCATIONS), SIM_STRONG_READ);
        return;
    case 14:
        strong(thread, random_below(LOCATIONS), SIM_STRONG_STORE);
        return;
    default:
        access_by(thread, random_below(STAMPS));
    }
}

static void start_model(uint32_t with_seed) {
    memset(&model, 0, sizeof model);
    for (int k = 0; k < LOCATIONS; k++)
        model.at[k].block = -1;
    seed = with_seed;
    le_sim_known_begin(&known, number_of(BLOCKS));
    for (int b = 0; b < BLOCKS; b++)
        le_sim_resident_begin(&residents[b], number_of(b), BLOCK_THREADS);
}

static void finish_model(void) {
    le_sim_known_end(&known);
    for (int b = 0; b < BLOCKS; b++)
        le_sim_resident_finish(&residents[b]);
    memset(residents, 0, sizeof residents);
}

/* Counts the answers "before". Each answer must be the model's; with less, an answer may also be a false "no". */
static size_t compare(bool less) {
    size_t count = 0;
    for (int k = 0; k < STAMPS; k++)
        for (int t = 0; model.stamps[k].count && t < THREADS; t++) {
            bool want = model.knows[t].of[model.stamps[k].thread] >= model.stamps[k].count;
            bool have = le_sim_known_before(&known, &residents[t / BLOCK_THREADS], (unsigned)(t % BLOCK_THREADS),
                                            &model.stamps[k].stamp);
            assert_true(less ? want || !have : want == have);
            count += have;
        }
    return count;
}

static void as_the_model(void **state) {
    (void)state;
    size_t before = 0, all = 0;
    for (uint32_t round = 1; round <= 60; round++) {
        start_model(round);
        for (int k = 0; k < 600; k++) {
            step();
            if (k % 20 == 0) {
                before += compare(false);
                all += (size_t)STAMPS * THREADS;
            }
        }
        finish_model();
    }
    assert_true(before > all / 100 && before < all * 9 / 10); /* the answers vary */
}

static int left;
static void *fail_later(size_t size_bytes, void *user) {
    (void)user;
    return left-- > 0 ? malloc(size_bytes) : NULL;
}
static void *never_grow(void *memory, size_t size_bytes, void *user) {
    (void)user;
    return left-- > 0 ? realloc(memory, size_bytes) : NULL;
}
static void release(void *memory, void *user) {
    (void)user;
    free(memory);
}

static void without_memory(void **state) {
    (void)state;
    const struct le_allocator allocator = {.allocate = fail_later, .reallocate = never_grow, .release = release};
    bool failed = true;
    le_memory_set_allocator(&allocator);
    for (int round = 0; failed; round++) {
        left = round;
        start_model(7);
        for (int k = 0; k < 600; k++)
            step();
        failed = known.failed;
        compare(failed);
        finish_model();
    }
    le_memory_set_allocator(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_model), cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
