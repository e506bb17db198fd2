/* The services that modules call while their grid runs: barriers, warp operations, pauses, fences, printf, and, if
 * instrumented, every memory access. */
#include "base/clock.h"
#include "base/memory.h"
#include "sim/grid/sim_thread_block.h"
#include <stdio.h>

static unsigned service_barrier(int kind, unsigned predicate, const char *file, int line) {
    struct sim_run *run = le_sim_current_run();
    struct sim_thread *thread = run->thread;
    struct sim_thread_block *thread_block = run->thread_block;
    unsigned k = (unsigned)(thread - thread_block->threads);
    le_sim_run_stop_if_canceled(run);
    le_sim_flush_deferred_read(run);
    thread->kind = kind;
    thread->value = predicate;
    thread->file = file;
    thread->line = line;
    thread->self->budget = SIM_BUDGET;
    if (kind == SIM_BARRIER_GRID) {
        if (!run->grid->cooperative)
            le_sim_run_stop(run, SIM_GRID_TRAP, "%s:%d: a grid barrier needs a cooperative launch", file, line);
        thread_block->state[k] = SIM_AT_GRID;
        thread_block->at_grid++;
    } else {
        thread_block->state[k] = SIM_AT_BARRIER;
        thread_block->at_barrier++;
        thread_block->predicated |= kind != SIM_BARRIER;
    }
    thread_block->progressed = true;
    le_sim_run_next_thread(run);
    return (unsigned)thread->result;
}

static unsigned long long service_collective(int kind, unsigned mask, unsigned long long value, unsigned argument,
                                             const char *file, int line) {
    struct sim_run *run = le_sim_current_run();
    struct sim_thread *thread = run->thread;
    unsigned k = (unsigned)(thread - run->thread_block->threads), width = argument >> 8;
    le_sim_run_stop_if_canceled(run);
    if (kind >= SIM_SHUFFLE && kind <= SIM_SHUFFLE_XOR && (!width || width > SIM_WARP || (width & (width - 1))))
        le_sim_run_stop(run, SIM_GRID_TRAP, "%s:%d: a warp shuffle's width must be 1, 2, 4, 8, 16 or 32, not %u", file,
                        line, width);
    if (kind != SIM_ACTIVE && !(mask >> thread->self->lane & 1)) {
        struct sim_thread_id id = le_sim_thread_id_of(run, thread);
        char location[300];
        snprintf(location, sizeof location, "%s:%d", file, line);
        if (run->check)
            le_sim_check_report(run->check, SIM_REPORT_DIVERGENT_BARRIER, &id, location,
                                "the mask 0x%08x does not include the calling lane, %u", mask, thread->self->lane);
        else
            le_sim_run_stop(run, SIM_GRID_TRAP, "%s: the warp mask 0x%08x does not include the calling lane, %u",
                            location, mask, thread->self->lane);
        mask |= 1u << thread->self->lane;
    }
    le_sim_flush_deferred_read(run);
    thread->kind = kind;
    thread->mask = mask;
    thread->value = value;
    thread->argument = argument;
    thread->file = file;
    thread->line = line;
    thread->self->budget = SIM_BUDGET;
    run->thread_block->state[k] = SIM_AT_WARP;
    run->thread_block->progressed = true;
    le_sim_warp_try_complete(run, thread);
    if (run->thread_block->state[k] != SIM_READY)
        le_sim_run_next_thread(run);
    return thread->result;
}

static void service_pause(void) {
    struct sim_run *run = le_sim_current_run();
    struct sim_self *self = run->thread->self;
    le_sim_run_stop_if_canceled(run);
    le_sim_flush_deferred_read(run);
    run->thread_block->progressed |= self->changed != 0;
    self->budget = SIM_BUDGET;
    self->changed = 0;
    le_sim_run_next_thread(run);
}

static void service_fence(int scope) {
    struct sim_run *run = le_sim_current_run();
    le_sim_run_stop_if_canceled(run);
    le_sim_flush_deferred_read(run);
    if (run->check)
        le_sim_check_fence(run->check, le_sim_thread_id_of(run, run->thread), (enum sim_fence)scope);
    if (--run->thread->self->budget == 0)
        service_pause();
}

static void service_stop(int kind) {
    struct sim_run *run = le_sim_current_run();
    le_sim_flush_deferred_read(run);
    if (kind == SIM_STOP_ASSERT)
        le_sim_run_stop(run, SIM_GRID_ASSERT, "an assertion failed");
    le_sim_run_stop(run, SIM_GRID_TRAP, "the kernel called __trap()");
}

/* An overflow in a service, unlike one in the kernel, could leave the check or the allocator in the middle of a change.
 */
static void stop_if_stack_is_short(struct sim_run *run) {
    enum { SERVICE_BYTES = 16 << 10 };
    if ((uintptr_t)__builtin_frame_address(0) - run->thread->self->stack_low < SERVICE_BYTES)
        le_sim_run_stop(run, SIM_GRID_STACK, "stack overflow");
}

static int service_print(const char *format, __builtin_va_list arguments) {
    struct sim_run *run = le_sim_current_run();
    char small[1024], *text = small;
    va_list again;
    le_sim_run_stop_if_canceled(run);
    stop_if_stack_is_short(run);
    va_copy(again, arguments);
    int length = vsnprintf(small, sizeof small, format, arguments);
    if (length >= (int)sizeof small && (text = le_alloc((size_t)length + 1)))
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    if (length > 0 && text && run->grid->print)
        run->grid->print(run->grid->user, text, (size_t)length);
    if (text != small)
        le_free(text);
    return length;
}

static unsigned long long service_clock(void) {
    le_sim_run_stop_if_canceled(le_sim_current_run());
    return le_clock_ns();
}

void le_sim_flush_deferred_read(struct sim_run *run) {
    size_t size_bytes = run->deferred.size_bytes;
    if (!size_bytes)
        return;
    run->deferred.size_bytes = 0;
    le_sim_check_access_of(run->check, le_sim_thread_id_of(run, run->thread), run->deferred.home, run->deferred.address,
                           size_bytes, 0, run->deferred.pc);
}

/* Passes an unaligned access to the check as aligned pieces. */
static void check_in_pieces(struct sim_run *run, struct sim_thread_id id, uint64_t home, uintptr_t address,
                            size_t size_bytes, unsigned flags, uintptr_t pc) {
    while (size_bytes) {
        size_t piece = address & (~address + 1);
        piece = piece && piece < 8 ? piece : 8;
        while (piece > size_bytes)
            piece /= 2;
        le_sim_check_access_of(run->check, id, home, address, piece, flags, pc);
        address += piece;
        size_bytes -= piece;
    }
}

/* A compare-and-swap loop starts with a plain read of the value to swap, as in CUDA's programming guide. The value is
 * only a guess, which the swap verifies. A plain read is therefore deferred until the thread's next access, and dropped
 * if that is a compare-and-swap of the same address. */
static void service_access(const void *address, unsigned long size_bytes, unsigned flags, const void *pc) {
    struct sim_run *run = le_sim_current_run();
    le_sim_run_stop_if_canceled(run);
    stop_if_stack_is_short(run);
    uintptr_t at = (uintptr_t)address;
    const struct sim_module *module = run->module;
    enum { RANGE = 16, SWAP = 32 }; /* flags of the prelude */
    if (!run->check || (at >= module->low && at < module->high && !(at >= module->data_low && at < module->data_high)))
        return;
    for (size_t k = 0; k < module->init_guard_count; k++)
        if (at == run->area.low + module->init_guards[k])
            return;
    uint64_t home = run->thread_block->number;
    le_sim_cluster_find(run, &at, &home);
    if (flags & SWAP && run->deferred.address == at && run->deferred.home == home &&
        run->deferred.size_bytes == size_bytes)
        run->deferred.size_bytes = 0;
    le_sim_flush_deferred_read(run);
    struct sim_thread_id id = le_sim_thread_id_of(run, run->thread);
    if (flags & RANGE)
        check_in_pieces(run, id, home, at, size_bytes, flags & ~(unsigned)RANGE, (uintptr_t)pc);
    else if (flags == 0)
        run->deferred =
            (struct sim_deferred_read){.address = at, .pc = (uintptr_t)pc, .home = home, .size_bytes = size_bytes};
    else
        le_sim_check_access_of(run->check, id, home, at, size_bytes, flags & ~(unsigned)SWAP, (uintptr_t)pc);
}

static void service_subscript(const char *file, unsigned line, long long index, const char *type) {
    struct sim_run *run = le_sim_current_run();
    le_sim_run_stop_if_canceled(run);
    if (!run->check)
        return;
    le_sim_flush_deferred_read(run);
    char location[300];
    struct sim_thread_id id = le_sim_thread_id_of(run, run->thread);
    snprintf(location, sizeof location, "%s:%u", file, line);
    le_sim_check_report(run->check, SIM_REPORT_OUT_OF_BOUNDS, &id, location, "subscript %lld of an array of type %s",
                        index, type);
}

const struct sim_services le_sim_services = {
    .barrier = service_barrier,
    .collective = service_collective,
    .cluster = le_sim_cluster_service,
    .map_shared = le_sim_cluster_map,
    .pause = service_pause,
    .fence = service_fence,
    .stop = service_stop,
    .print = service_print,
    .clock = service_clock,
    .access = service_access,
    .subscript = service_subscript,
};
