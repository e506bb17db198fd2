/* Runs a grid: schedules the threads of a block and the blocks of the grid. A block runs until all of its threads have
 * ended or only wait for others; only then is another one started beside it. In a round, each ready thread runs once,
 * until it waits. */
#include "sim/grid/sim_thread_block.h"
#include "base/memory.h"
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { RESIDENT = 132, SPIN_LIMIT_MS = 10000, YIELD_NS = 1000000 };
static _Thread_local struct sim_run *running;

struct sim_run *le_sim_current_run(void) {
    return running;
}

struct sim_thread_id le_sim_thread_id_of(const struct sim_run *run, const struct sim_thread *thread) {
    return (struct sim_thread_id){.block = run->thread_block->number,
                                  .thread = (unsigned)(thread - run->thread_block->threads)};
}

/* ---- turns */

static void switch_home(struct sim_run *run) {
    struct sim_thread *thread = run->thread;
    le_sim_fiber_switch(&thread->fiber, &run->home,
                        run->thread_block->state[thread - run->thread_block->threads] == SIM_ENDED);
}

static struct sim_thread *next_ready_thread(struct sim_run *run) {
    struct sim_thread_block *thread_block = run->thread_block;
    while (thread_block->position < run->threads) {
        unsigned k = thread_block->order[thread_block->position++];
        if (thread_block->state[k] == SIM_READY) {
            run->thread = &thread_block->threads[k];
            *run->self = run->thread->self;
            return run->thread;
        }
    }
    return NULL;
}

void le_sim_run_next_thread(struct sim_run *run) {
    struct sim_thread *from = run->thread, *to = next_ready_thread(run);
    bool last = run->thread_block->state[from - run->thread_block->threads] == SIM_ENDED;
    if (!to)
        switch_home(run);
    else if (to != from)
        le_sim_fiber_switch(&from->fiber, &to->fiber, last);
}

static void thread_main(void *argument) {
    struct sim_thread *thread = argument;
    struct sim_run *run = running;
    le_sim_fiber_arrived(&thread->fiber, &run->home);
    run->grid->kernel->call(run->arguments);
    struct sim_thread_block *thread_block = run->thread_block;
    le_sim_flush_deferred_read(run);
    thread_block->state[thread - thread_block->threads] = SIM_ENDED;
    thread_block->live--;
    thread_block->progressed = true;
    le_sim_warp_ended(run, thread->self->warp);
    le_sim_cluster_thread_ended(run, thread);
    le_sim_run_next_thread(run);
    __builtin_unreachable();
}

void le_sim_run_stop(struct sim_run *run, enum sim_grid_status status, const char *format, ...) {
    struct sim_grid *grid = run->grid;
    va_list arguments;
    if (run->status == SIM_GRID_OK) {
        run->status = status;
        size_t length = 0;
        if (run->thread && run->thread->self) {
            const struct sim_self *self = run->thread->self;
            length =
                (size_t)snprintf(grid->message, sizeof grid->message,
                                 "kernel %s, block (%u,%u,%u), thread (%u,%u,%u): ", grid->kernel->name, self->block.x,
                                 self->block.y, self->block.z, self->thread.x, self->thread.y, self->thread.z);
        }
        va_start(arguments, format);
        if (length < sizeof grid->message)
            vsnprintf(grid->message + length, sizeof grid->message - length, format, arguments);
        va_end(arguments);
    }
    if (run->thread)
        le_sim_fiber_switch(&run->thread->fiber, &run->home, true);
}

void le_sim_run_stop_if_canceled(struct sim_run *run) {
    if (run->must_stop)
        le_sim_run_stop(run, SIM_GRID_CANCELED, "canceled");
}

/* The same before a round. Looks at the tokens, because the timer may be missing, and sanitizers defer signals. */
static bool is_canceled(struct sim_run *run) {
    if (!run->must_stop && !(run->grid->tokens && le_cancel_tokens_requested(run->grid->tokens)))
        return false;
    run->thread = NULL;
    le_sim_run_stop(run, SIM_GRID_CANCELED, "kernel %s was canceled", run->grid->kernel->name);
    return true;
}

/* ---- barriers */

static void report_divergence(struct sim_run *run, const struct sim_thread_block *thread_block, unsigned char waiting) {
    const struct sim_thread *first = NULL, *other = NULL;
    char location[300];
    for (unsigned k = 0; k < run->threads; k++) {
        const struct sim_thread *thread = &thread_block->threads[k];
        if (thread_block->state[k] != waiting)
            continue;
        if (!first)
            first = thread;
        else if (thread->line != first->line || strcmp(thread->file, first->file) != 0)
            other = thread;
    }
    if (!first)
        return;
    struct sim_thread_id id = le_sim_thread_id_of(run, first);
    snprintf(location, sizeof location, "%s:%d", first->file, first->line);
    if (other) {
        unsigned k = (unsigned)(other - thread_block->threads);
        le_sim_check_report(run->check, SIM_REPORT_DIVERGENT_BARRIER, &id, location,
                            "threads of the block wait at different barriers: thread %u here, thread %u at %s:%d",
                            id.thread, k, other->file, other->line);
    } else if (thread_block->live < run->threads)
        le_sim_check_report(run->check, SIM_REPORT_DIVERGENT_BARRIER, &id, location,
                            "%u of the block's %u threads have ended without reaching this barrier",
                            run->threads - thread_block->live, run->threads);
}

static void give_results(struct sim_run *run, struct sim_thread_block *thread_block) {
    unsigned yes = 0;
    for (unsigned k = 0; k < run->threads; k++)
        yes += thread_block->state[k] == SIM_AT_BARRIER && thread_block->threads[k].value;
    for (unsigned k = 0; k < run->threads; k++) {
        struct sim_thread *thread = &thread_block->threads[k];
        thread->result = thread->kind == SIM_BARRIER_AND  ? yes == thread_block->live
                         : thread->kind == SIM_BARRIER_OR ? yes != 0
                                                          : yes;
    }
    thread_block->predicated = false;
}

static void release_barrier(struct sim_run *run, struct sim_thread_block *thread_block, unsigned char waiting) {
    if (run->check)
        report_divergence(run, thread_block, waiting);
    if (thread_block->predicated && waiting == SIM_AT_BARRIER)
        give_results(run, thread_block);
    if (thread_block->live == run->threads)
        memset(thread_block->state, SIM_READY, run->threads);
    for (unsigned k = 0; thread_block->live < run->threads && k < run->threads; k++)
        if (thread_block->state[k] == waiting)
            thread_block->state[k] = SIM_READY;
    if (run->check && waiting == SIM_AT_BARRIER)
        le_sim_check_barrier(run->check, thread_block->number);
    *(waiting == SIM_AT_BARRIER ? &thread_block->at_barrier : &thread_block->at_grid) = 0;
    le_sim_order_choose(run, thread_block);
}

/* ---- a block's rounds */

enum round_outcome { OUTCOME_ENDED, OUTCOME_STALLED, OUTCOME_WAITS, OUTCOME_STOPPED };

static void report_deadlock(struct sim_run *run, const struct sim_thread_block *thread_block) {
    static const char *const waits[] = {[SIM_AT_BARRIER] = "__syncthreads",
                                        [SIM_AT_GRID] = "the grid's barrier",
                                        [SIM_AT_CLUSTER] = "the cluster's barrier",
                                        [SIM_AT_WARP] = "the lanes of its mask"};
    const struct sim_thread *first = NULL, *other = NULL;
    for (unsigned k = 0; k < run->threads; k++) {
        const struct sim_thread *thread = &thread_block->threads[k];
        if (thread_block->state[k] == SIM_ENDED)
            continue;
        if (!first || (thread_block->state[k] == SIM_AT_WARP &&
                       thread_block->state[first - thread_block->threads] != SIM_AT_WARP)) {
            other = first ? first : other;
            first = thread;
        } else if (!other && (thread->line != first->line || thread->mask != first->mask))
            other = thread;
    }
    char location[300], second[400] = "";
    unsigned k = (unsigned)(first - thread_block->threads);
    snprintf(location, sizeof location, "%s:%d", first->file, first->line);
    if (other)
        snprintf(second, sizeof second, ", thread %u waits for %s at %s:%d", (unsigned)(other - thread_block->threads),
                 waits[thread_block->state[other - thread_block->threads]], other->file, other->line);
    struct sim_thread_id id = le_sim_thread_id_of(run, first);
    if (run->check)
        le_sim_check_report(run->check, SIM_REPORT_DIVERGENT_BARRIER, &id, location,
                            "the block's threads wait for each other forever: thread %u waits for %s%s", k,
                            waits[thread_block->state[k]], second);
    run->thread = NULL;
    le_sim_run_stop(run, SIM_GRID_DEADLOCK,
                    "kernel %s, block %llu: its threads wait for each other forever: thread %u waits for %s at %s%s",
                    run->grid->kernel->name, (unsigned long long)thread_block->number, k, waits[thread_block->state[k]],
                    location, second);
}

/* Ends a round: completes a barrier or answers lanes if possible. true: the block has another round; otherwise sets
 * outcome. */
static bool finish_round(struct sim_run *run, struct sim_thread_block *thread_block, enum round_outcome *outcome) {
    if (thread_block->progressed)
        run->idle_since_ns = 0;
    if (thread_block->live == 0) {
        *outcome = OUTCOME_ENDED;
        return false;
    }
    if (thread_block->at_barrier && thread_block->at_barrier == thread_block->live) {
        release_barrier(run, thread_block, SIM_AT_BARRIER);
        return true;
    }
    if (memchr(thread_block->state, SIM_READY, run->threads)) {
        *outcome = OUTCOME_STALLED;
        return thread_block->progressed;
    }
    if (le_sim_warp_answer_activemask(run))
        return true;
    *outcome = OUTCOME_WAITS;
    if (thread_block->at_grid == thread_block->live || le_sim_cluster_may_go_on(run, thread_block))
        return false;
    *outcome = OUTCOME_STOPPED;
    report_deadlock(run, thread_block);
    return false;
}

static enum round_outcome run_thread_block(struct sim_run *run, struct sim_thread_block *thread_block) {
    enum round_outcome outcome = OUTCOME_STOPPED;
    le_sim_thread_block_switch_in(run, thread_block);
    le_sim_order_choose(run, thread_block);
    if (run->status != SIM_GRID_OK)
        return OUTCOME_STOPPED;
    do {
        if (is_canceled(run))
            return OUTCOME_STOPPED;
        thread_block->position = 0;
        thread_block->progressed = false;
        struct sim_thread *thread = next_ready_thread(run);
        if (thread)
            le_sim_fiber_switch(&run->home, &thread->fiber, false);
        if (run->status != SIM_GRID_OK)
            return OUTCOME_STOPPED;
    } while (finish_round(run, thread_block, &outcome));
    return outcome;
}

/* ---- the grid's blocks */

static struct sim_thread_block *free_thread_block(struct sim_run *run) {
    for (unsigned slot = 0; slot < run->thread_block_limit; slot++) {
        if (!run->thread_blocks[slot])
            run->thread_blocks[slot] = le_sim_thread_block_new(run, slot);
        if (!run->thread_blocks[slot]) {
            run->thread = NULL;
            le_sim_run_stop(run, SIM_GRID_MEMORY, "out of memory for the threads of a block");
            return NULL;
        }
        if (slot >= run->thread_block_count)
            run->thread_block_count = slot + 1;
        if (!run->thread_blocks[slot]->started)
            return run->thread_blocks[slot];
    }
    return NULL;
}

static struct sim_cluster *free_cluster(struct sim_run *run) {
    struct sim_cluster *cluster = run->clusters;
    while (cluster->live)
        cluster++;
    *cluster = (struct sim_cluster){.live = run->cluster_blocks * run->threads};
    return cluster;
}

/* Starts the blocks of the next cluster. false: out of memory. */
static bool start_blocks(struct sim_run *run) {
    struct sim_cluster *cluster = free_cluster(run);
    uint64_t clusters = run->blocks / run->cluster_blocks, k = run->started / run->cluster_blocks;
    uint64_t number = (uint64_t)(((unsigned __int128)k * run->stride + run->first) % clusters);
    for (unsigned rank = 0; rank < run->cluster_blocks && run->status == SIM_GRID_OK; rank++) {
        struct sim_thread_block *thread_block = free_thread_block(run);
        if (!thread_block)
            return false;
        run->thread = NULL;
        run->started++;
        thread_block->started = true;
        thread_block->cluster = cluster;
        cluster->thread_blocks[rank] = thread_block;
        le_sim_thread_block_begin(run, thread_block, le_sim_cluster_block(run, number, rank), thread_main);
    }
    return run->status == SIM_GRID_OK;
}

/* If all resident blocks wait at the grid's barrier or have ended, releases them. false: they do not. */
static bool release_grid(struct sim_run *run) {
    unsigned waiting = 0;
    if (run->started < run->blocks)
        return false;
    for (unsigned k = 0; k < run->thread_block_count; k++) {
        const struct sim_thread_block *thread_block = run->thread_blocks[k];
        if (thread_block->started && thread_block->at_grid != thread_block->live)
            return false;
        waiting += thread_block->started;
    }
    for (unsigned k = 0; waiting && k < run->thread_block_count; k++)
        if (run->thread_blocks[k]->started) {
            le_sim_thread_block_switch_in(run, run->thread_blocks[k]);
            release_barrier(run, run->thread_blocks[k], SIM_AT_GRID);
        }
    if (waiting && run->check)
        le_sim_check_grid_barrier(run->check);
    return waiting != 0;
}

static uint64_t thread_time_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Called when all threads wait, perhaps for the host. false: they have waited for too long. The time is the CPU time of
 * this thread, so time in which other threads have the processor does not count. The processor is yielded once per
 * YIELD_NS, not in every round. */
static bool keep_waiting(struct sim_run *run) {
    uint64_t now = thread_time_ns(), limit_ms = run->grid->spin_limit_ms ? run->grid->spin_limit_ms : SPIN_LIMIT_MS;
    if (!run->idle_since_ns)
        run->idle_since_ns = now;
    if (now - run->idle_since_ns > limit_ms * 1000000) {
        run->thread = NULL;
        le_sim_run_stop(run, SIM_GRID_TIMEOUT,
                        "kernel %s: for %llu ms its threads have only waited, and none has made progress",
                        run->grid->kernel->name, (unsigned long long)limit_ms);
        return false;
    }
    if (now - run->yielded_ns > YIELD_NS) {
        sched_yield();
        run->yielded_ns = now;
    }
    return true;
}

static void end_block(struct sim_run *run, struct sim_thread_block *thread_block) {
    for (unsigned k = 0; k < run->cluster_blocks; k++)
        if (thread_block->cluster->thread_blocks[k] == thread_block)
            thread_block->cluster->thread_blocks[k] = NULL;
    thread_block->started = false;
    run->ended++;
    run->idle_since_ns = 0;
    if (run->check)
        le_sim_check_block_end(run->check, thread_block->number);
}

static void run_blocks(struct sim_run *run) {
    unsigned at = 0, stalled = 0, resident = 0;
    while (run->grid->cooperative && run->started < run->blocks && start_blocks(run))
        resident += run->cluster_blocks;
    while (run->ended < run->blocks && run->status == SIM_GRID_OK) {
        bool more = run->started < run->blocks && resident + run->cluster_blocks <= run->thread_block_limit;
        if (more && stalled >= resident) {
            if (!start_blocks(run))
                return;
            resident += run->cluster_blocks;
            stalled = 0;
        }
        if (stalled >= resident && !release_grid(run) && !keep_waiting(run))
            return;
        stalled = stalled >= resident ? 0 : stalled;
        do
            at = (at + 1) % run->thread_block_count;
        while (!run->thread_blocks[at]->started);
        run->released = false;
        enum round_outcome outcome = run_thread_block(run, run->thread_blocks[at]);
        if (outcome == OUTCOME_STOPPED)
            return;
        stalled = outcome == OUTCOME_ENDED || run->released ? 0 : stalled + 1;
        if (outcome == OUTCOME_ENDED) {
            end_block(run, run->thread_blocks[at]);
            resident--;
        }
    }
}

/* ---- begin and end */

static void report_fault(struct sim_run *run) {
    bool address = !run->fault_guard && (run->fault_signal == SIGSEGV || run->fault_signal == SIGBUS);
    enum sim_grid_status status = run->fault_guard ? SIM_GRID_STACK : address ? SIM_GRID_ADDRESS : SIM_GRID_TRAP;
    char at[32] = "";
    const char *what = run->fault_guard              ? "stack overflow"
                       : run->fault_signal == SIGFPE ? "integer division by zero or overflow"
                       : run->fault_signal == SIGILL ? "illegal instruction"
                       : run->fault_null             ? "null pointer"
                       : run->fault_signal == SIGBUS ? "misaligned or unmapped address"
                                                     : "invalid address";
    if (address && run->fault_address)
        snprintf(at, sizeof at, " %p", run->fault_address);
    const struct sim_self *self = run->thread ? run->thread->self : NULL;
    run->status = SIM_GRID_OK;
    run->thread = NULL;
    le_sim_run_stop(run, status, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u): %s%s", run->grid->kernel->name,
                    self ? self->block.x : 0, self ? self->block.y : 0, self ? self->block.z : 0,
                    self ? self->thread.x : 0, self ? self->thread.y : 0, self ? self->thread.z : 0, what, at);
}

/* Takes the module, not the run, because reports also name source lines of grids that have ended. */
static bool find_source_line(void *module, uintptr_t pc, char *text, size_t size_bytes) {
    return le_sim_source_line_find(module, pc, text, size_bytes);
}

static void begin_check(struct sim_run *run) {
    struct sim_grid *grid = run->grid;
    struct sim_grid_info info = {.op = grid->op,
                                 .kernel = grid->kernel->name,
                                 .shared_low = run->area.low,
                                 .shared_high = run->area.high,
                                 .variables = run->variables,
                                 .variable_count = (int)run->module->shared_count,
                                 .dynamic = run->area.dynamic,
                                 .dynamic_bytes = grid->dynamic_bytes,
                                 .source_line = find_source_line,
                                 .user = run->module};
    memcpy(info.grid, grid->grid, sizeof info.grid);
    memcpy(info.block, grid->block, sizeof info.block);
    memcpy(info.cluster, run->cluster_dim, sizeof info.cluster);
    for (size_t k = 0; k < run->module->shared_count; k++)
        run->variables[k] = (struct sim_shared_variable){.name = run->module->shared[k].name,
                                                         .address = run->area.low + run->module->shared[k].offset,
                                                         .size_bytes = run->module->shared[k].size_bytes};
    le_sim_check_grid_begin(run->check, &info);
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool make_run(struct sim_run *run) {
    struct sim_grid *grid = run->grid;
    run->threads = grid->block[0] * grid->block[1] * grid->block[2];
    run->warps = (run->threads + SIM_WARP - 1) / SIM_WARP;
    run->blocks = (uint64_t)grid->grid[0] * grid->grid[1] * grid->grid[2];
    uint64_t limit = grid->cooperative ? run->blocks : grid->resident ? grid->resident : RESIDENT;
    uint64_t clusters = run->blocks / run->cluster_blocks;
    limit = limit > run->cluster_blocks ? limit : run->cluster_blocks;
    run->thread_block_limit = (unsigned)(limit < run->blocks ? limit : run->blocks);
    run->random = grid->seed * 0x9e3779b97f4a7c15u + 1;
    run->first = le_sim_random(&run->random) % clusters;
    do
        run->stride = le_sim_random(&run->random) % clusters + 1;
    while (common_divisor(run->stride, clusters) != 1);
    unsigned count = grid->kernel->parameter_count;
    run->orders = le_alloc(SIM_ORDERS * run->threads * sizeof *run->orders);
    run->thread_blocks = le_alloc_zero(run->thread_block_limit, sizeof(struct sim_thread_block *));
    run->clusters = le_alloc_zero(run->thread_block_limit, sizeof *run->clusters);
    run->arguments = le_alloc_zero(count + 1, sizeof(void *));
    run->variables = le_alloc_zero(run->module->shared_count + 1, sizeof *run->variables);
    if (!run->orders || !run->thread_blocks || !run->clusters || !run->arguments || !run->variables)
        return false;
    for (unsigned k = 0; k < count; k++)
        run->arguments[k] =
            grid->parameters ? grid->parameters[k] : (char *)grid->buffer + grid->kernel->parameters[k].offset;
    le_sim_orders_make(run);
    return true;
}

static void drop_run(struct sim_run *run) {
    for (unsigned k = 0; run->thread_blocks && k < run->thread_block_limit; k++)
        le_sim_thread_block_free(run, run->thread_blocks[k]);
    le_free(run->thread_blocks);
    le_free(run->clusters);
    le_free(run->orders);
    le_free(run->arguments);
    le_free(run->variables);
}

enum sim_grid_status le_sim_grid_run(struct sim_grid *grid) {
    grid->message[0] = '\0';
    struct sim_run *run = le_alloc_zero(1, sizeof *run);
    if (!run)
        return SIM_GRID_MEMORY;
    run->grid = grid;
    run->module = grid->module;
    run->check = le_sim_module_checking(grid->module) ? grid->check : NULL;
    run->self = grid->module->table->self;
    enum sim_grid_status status = SIM_GRID_MEMORY;
    if (!le_sim_clusters_make(run)) {
        snprintf(grid->message, sizeof grid->message, "kernel %s: the grid does not consist of whole clusters",
                 grid->kernel->name);
        status = SIM_GRID_TRAP;
    } else if (make_run(run) && le_sim_trap_begin(run)) {
        run->area = le_sim_module_area(run->module);
        if (run->check)
            begin_check(run);
        running = run;
        run_blocks(run);
        if (run->fault_signal) {
            if (run->check && run->thread)
                le_sim_flush_deferred_read(run); /* it may be the access that faulted */
            report_fault(run);
        }
        running = NULL;
        if (run->check)
            le_sim_check_grid_end(run->check);
        le_sim_trap_end(run);
        status = run->status;
    }
    drop_run(run);
    le_free(run);
    return status;
}
