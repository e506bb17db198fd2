/* Thread blocks of a running grid: the stacks of their threads, the order of turns, and shared memory. */
#include "base/memory.h"
#include "sim/grid/sim_thread_block.h"
#include <string.h>

/* STACK_BYTES: the 512 KiB of local memory that CUDA allows, and room for larger host frames and the services. Memory
 * is used only for the pages that a thread touches. */
enum { STACK_BYTES = 640 << 10, GUARDED_BLOCKS = 8, ALIGNMENT = 128 };

uint64_t le_sim_random(uint64_t *state) { /* splitmix64 */
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void shuffle(struct sim_run *run, uint16_t *order, unsigned count) {
    for (unsigned k = count; k > 1; k--) {
        unsigned other = (unsigned)(le_sim_random(&run->random) % k);
        uint16_t kept = order[k - 1];
        order[k - 1] = order[other];
        order[other] = kept;
    }
}

/* Shuffles the warps. The lanes of each warp run forward or backward, starting with any lane. */
static void order_by_warps(struct sim_run *run, uint16_t *order) {
    uint16_t warps[SIM_BLOCK_WARPS];
    unsigned at = 0;
    for (unsigned w = 0; w < run->warps; w++)
        warps[w] = (uint16_t)w;
    shuffle(run, warps, run->warps);
    for (unsigned w = 0; w < run->warps; w++) {
        unsigned base = warps[w] * (unsigned)SIM_WARP;
        unsigned count = run->threads - base < SIM_WARP ? run->threads - base : SIM_WARP;
        uint64_t random = le_sim_random(&run->random);
        unsigned first = random >> 8 & 1 ? (unsigned)(random >> 16) % count : 0;
        for (unsigned k = 0; k < count; k++) {
            unsigned lane = (first + k) % count;
            order[at++] = (uint16_t)(base + (random & 1 ? count - 1 - lane : lane));
        }
    }
}

/* The last quarter of the orders mixes the lanes of all warps. */
void le_sim_orders_make(struct sim_run *run) {
    for (unsigned k = 0; k < SIM_ORDERS; k++) {
        uint16_t *order = run->orders + (size_t)k * run->threads;
        order_by_warps(run, order);
        if (k >= SIM_ORDERS * 3 / 4)
            shuffle(run, order, run->threads);
    }
}

void le_sim_order_choose(struct sim_run *run, struct sim_thread_block *thread_block) {
    thread_block->order = run->orders + (le_sim_random(&run->random) % SIM_ORDERS) * run->threads;
}

static struct sim_stacks *new_stacks(const struct sim_run *run, bool guarded) {
    return le_sim_stacks_new(run->threads, run->grid->stack_bytes ? run->grid->stack_bytes : STACK_BYTES, guarded);
}

/* Guard pages take two mappings of the process per thread, so all modules share one set of guarded stacks. */
static struct sim_stacks *cached_stacks(const struct sim_run *run) {
    struct sim_stack_cache *kept = run->grid->stack_cache;
    if (kept->stacks && kept->stack_bytes == run->grid->stack_bytes &&
        le_sim_stacks_count(kept->stacks) >= run->threads)
        return kept->stacks;
    le_sim_stacks_free(kept->stacks);
    kept->stack_bytes = run->grid->stack_bytes;
    kept->stacks = new_stacks(run, true);
    return kept->stacks;
}

struct sim_thread_block *le_sim_thread_block_new(struct sim_run *run, unsigned slot) {
    struct sim_thread_block *thread_block = le_alloc_zero(1, sizeof *thread_block);
    if (!thread_block)
        return NULL;
    thread_block->threads = le_alloc_zero(run->threads, sizeof *thread_block->threads);
    thread_block->state = le_alloc_zero(run->threads, 1);
    thread_block->stacks =
        slot || !run->grid->stack_cache ? new_stacks(run, slot < GUARDED_BLOCKS) : cached_stacks(run);
    if (!thread_block->threads || !thread_block->state || !thread_block->stacks) {
        le_sim_thread_block_free(run, thread_block);
        return NULL;
    }
    return thread_block;
}

void le_sim_thread_block_free(struct sim_run *run, struct sim_thread_block *thread_block) {
    if (!thread_block)
        return;
    for (unsigned k = 0; thread_block->threads && k < run->threads; k++)
        le_sim_fiber_finish(&thread_block->threads[k].fiber);
    if (!run->grid->stack_cache || thread_block->stacks != run->grid->stack_cache->stacks)
        le_sim_stacks_free(thread_block->stacks);
    le_free(thread_block->threads);
    le_free(thread_block->state);
    le_free(thread_block->aside);
    le_free(thread_block);
}

/* A block's shared memory: the module's variables before and after the dynamic memory, and as much dynamic memory as
 * the launch provides. In the set-aside copy, each byte has the same alignment as in place. */
struct shared_parts {
    size_t before, dynamic, after, aside; /* in bytes; aside: offset of the part after the dynamic memory in the copy */
};

static struct shared_parts shared_parts_of(const struct sim_run *run) {
    const struct sim_shared_area *area = &run->area;
    uintptr_t end = area->dynamic + SIM_DYNAMIC_BYTES;
    struct shared_parts parts = {.before = area->dynamic - area->low, .dynamic = run->grid->dynamic_bytes};
    parts.after = area->high > end ? area->high - end : 0;
    parts.aside = parts.before + (parts.dynamic + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return parts;
}

bool le_sim_aside_offset(const struct sim_run *run, uintptr_t address, size_t *offset) {
    struct shared_parts parts = shared_parts_of(run);
    size_t from_low = address - run->area.low, from_end = address - run->area.dynamic - SIM_DYNAMIC_BYTES;
    bool is_first = from_low <= parts.before + parts.dynamic;
    *offset = is_first ? from_low : parts.aside + from_end;
    return is_first || from_end < parts.after;
}

uintptr_t le_sim_aside_address(const struct sim_run *run, size_t offset) {
    struct shared_parts parts = shared_parts_of(run);
    return offset < parts.aside ? run->area.low + offset
                                : run->area.dynamic + SIM_DYNAMIC_BYTES + (offset - parts.aside);
}

static void move_shared(const struct sim_run *run, unsigned char *copy, bool out) {
    struct shared_parts parts = shared_parts_of(run);
    char *low = (char *)run->area.low, *end = (char *)run->area.dynamic + SIM_DYNAMIC_BYTES;
    if (out) {
        memcpy(copy, low, parts.before + parts.dynamic);
        memcpy(copy + parts.aside, end, parts.after);
    } else {
        memcpy(low, copy, parts.before + parts.dynamic);
        memcpy(end, copy + parts.aside, parts.after);
    }
}

size_t le_sim_aside_bytes(const struct sim_run *run) {
    struct shared_parts parts = shared_parts_of(run);
    return parts.aside + parts.after;
}

static bool move_aside(struct sim_run *run, struct sim_thread_block *thread_block) {
    if (!thread_block->aside) {
        thread_block->aside = le_alloc(le_sim_aside_bytes(run) + ALIGNMENT);
        if (thread_block->aside)
            thread_block->shared = thread_block->aside + (run->area.low - (uintptr_t)thread_block->aside) % ALIGNMENT;
    }
    if (thread_block->aside)
        move_shared(run, thread_block->shared, true);
    return thread_block->aside != NULL;
}

void le_sim_thread_block_switch_in(struct sim_run *run, struct sim_thread_block *thread_block) {
    if (run->thread_block == thread_block)
        return;
    if (run->thread_block && run->thread_block->live && !move_aside(run, run->thread_block)) {
        run->thread = NULL; /* there is no fiber to leave */
        le_sim_run_stop(run, SIM_GRID_MEMORY, "out of memory for the shared memory of waiting blocks");
        return;
    }
    if (thread_block->aside && thread_block->live)
        move_shared(run, thread_block->shared, false);
    run->thread_block = thread_block;
    if (run->check && thread_block->live)
        le_sim_check_block_switch(run->check, thread_block->number);
}

/* Uninitialized shared memory has all bits set: NaN as float, -1 as integer. */
static void poison_shared(const struct sim_run *run) {
    const struct sim_shared_area *area = &run->area;
    uintptr_t after = area->dynamic + SIM_DYNAMIC_BYTES;
    memset((void *)area->low, 0xff, area->dynamic + run->grid->dynamic_bytes - area->low);
    if (area->high > after)
        memset((void *)after, 0xff, area->high - after);
}

static void begin_thread(struct sim_run *run, struct sim_thread_block *thread_block, unsigned k,
                         void (*entry)(void *)) {
    struct sim_thread *thread = &thread_block->threads[k];
    const unsigned *block = run->grid->block, *grid = run->grid->grid;
    size_t size_bytes;
    char *stack = le_sim_stacks_at(thread_block->stacks, k, &size_bytes);
    size_t self_bytes = (sizeof *thread->self + 63) / 64 * 64;
    thread->arrived = false;
    thread->self = (struct sim_self *)(void *)(stack + size_bytes - self_bytes);
    *thread->self = (struct sim_self){
        .thread = {k % block[0], k / block[0] % block[1], k / block[0] / block[1]},
        .block = {(unsigned)(thread_block->number % grid[0]), (unsigned)(thread_block->number / grid[0] % grid[1]),
                  (unsigned)(thread_block->number / grid[0] / grid[1])},
        .block_dim = {block[0], block[1], block[2]},
        .grid_dim = {grid[0], grid[1], grid[2]},
        .cluster_dim = {run->cluster_dim[0], run->cluster_dim[1], run->cluster_dim[2]},
        .lane = k % SIM_WARP,
        .warp = k / SIM_WARP,
        .budget = SIM_BUDGET,
        .stack_low = (uintptr_t)stack,
        .stack_size = size_bytes,
    };
    le_sim_fiber_start(&thread->fiber, stack, size_bytes - self_bytes, entry, thread);
}

void le_sim_thread_block_begin(struct sim_run *run, struct sim_thread_block *thread_block, uint64_t number,
                               void (*entry)(void *)) {
    thread_block->live = 0;
    le_sim_thread_block_switch_in(run, thread_block);
    poison_shared(run);
    thread_block->number = number;
    thread_block->live = run->threads;
    thread_block->at_barrier = thread_block->at_grid = 0;
    thread_block->predicated = false;
    memset(thread_block->state, SIM_READY, run->threads);
    for (unsigned k = 0; k < run->threads; k++)
        begin_thread(run, thread_block, k, entry);
    if (run->check)
        le_sim_check_block_begin(run->check, number);
}
