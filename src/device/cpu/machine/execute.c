#include "device/cpu/machine/execute.h"
#include "device/cpu/machine/accumulator.h"
#include "device/cpu/machine/bounds_check.h"
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

/* ---- preparing */

static size_t reg_size(const struct le_unit *unit, const struct le_reg *reg) {
    switch (reg->kind) {
    case LE_REG_SLOT:
        return (size_t)unit->block * 8 + 64;
    case LE_REG_SCALAR:
        return 64;
    case LE_REG_ACC:
        return le_acc_size();
    case LE_REG_VEC:
        return le_vec_size(unit->block, reg->levels);
    case LE_REG_ROWS:
        return le_rows_size(unit->block);
    case LE_REG_SCRATCH:
        return (size_t)reg->bits;
    case LE_REG_CONST:
    case LE_REG_STREAM:
    case LE_REG_FAULT:
        return 0;
    }
    return 0;
}

static bool lies_elsewhere(const struct le_reg *reg) {
    return reg->kind == LE_REG_CONST || reg->kind == LE_REG_STREAM || reg->kind == LE_REG_FAULT ||
           reg->kind == LE_REG_SCRATCH;
}

leat_status le_cpu_prepare(struct le_arena *arena, const struct le_unit *unit, enum le_simd simd,
                           struct le_cpu_code *code) {
    *code = (struct le_cpu_code){.unit = unit};
    code->ops = LE_NEW_ARRAY(arena, unit->instr_count, le_cpu_op *);
    code->offsets = LE_NEW_ARRAY(arena, unit->reg_count, size_t);
    code->elsewhere = LE_NEW_ARRAY(arena, unit->reg_count, int);
    for (int k = 0; k < unit->instr_count; k++) {
        const struct le_instr *instr = &unit->instrs[k];
        if (le_code_is_control(instr->code))
            continue;
        code->past_caches |= instr->code == LE_CODE_STREAM;
        code->ops[k] = le_cpu_op_find(simd, instr);
        if (!code->ops[k])
            return le_fail(LEAT_INTERNAL, "%s: the machine has no %s on %s, %s", unit->name, le_code_name(instr->code),
                           le_type_name((enum le_type)instr->type), le_type_name((enum le_type)instr->type2));
    }
    /* the pointers of the worker's registers come first */
    code->scratch_bytes = ((size_t)unit->reg_count * sizeof(void *) + 63) / 64 * 64;
    for (int k = 0; k < unit->reg_count; k++) {
        code->offsets[k] = code->scratch_bytes;
        code->scratch_bytes += (reg_size(unit, &unit->regs[k]) + 63) / 64 * 64;
        if (lies_elsewhere(&unit->regs[k]))
            code->elsewhere[code->elsewhere_count++] = k;
    }
    code->areas_offset = code->scratch_bytes;
    if (LE_CHECKS_BOUNDS)
        code->scratch_bytes += ((size_t)unit->reg_count * sizeof(struct le_cpu_area) + 63) / 64 * 64;
    return LEAT_OK;
}

/* ---- running */

#define LANES_PER_LOOK 8192 /* iterations of loops, times lanes, between looks at the clock */

struct frame {
    const struct le_cpu_code *code;
    void **regs;
    struct le_cpu_area *areas;        /* per register, if bounds are checked */
    int64_t clip_from[2], clip_to[2]; /* range of iterations of this task; -1: all */
    int64_t piece[2], pieces[2];      /* or piece of pieces, if the count is known only here; 0: see clip_from */
    int64_t row_count, term_from, term_to, row; /* terms of this task, if rows are cut; the current row */
    const atomic_bool *requested;               /* to cancel the run */
    struct le_cancel *watched;                  /* on the run's thread, if it has a callback; else NULL */
    int64_t until_look;                         /* lanes */
    bool stopped;                               /* no further instruction of the task may run */
};

/* Whether the task must stop. Called before each iteration of a loop, on n lanes. */
static bool must_stop(struct frame *f, int64_t n) {
    if (f->watched && (f->until_look -= n) <= 0) {
        f->until_look = LANES_PER_LOOK;
        le_cancel_look(f->watched);
    }
    f->stopped = atomic_load_explicit(f->requested, memory_order_relaxed);
    return f->stopped;
}

static void move_pointer(void **reg, int64_t bytes) {
    *reg = (void *)((uintptr_t)*reg + (uintptr_t)bytes);
}

static void move_streams(struct frame *f, const struct le_loop *loop, int64_t steps) {
    for (int k = 0; k < loop->stream_count; k++)
        move_pointer(&f->regs[loop->streams[k].reg], (int64_t)((uint64_t)loop->streams[k].stride * (uint64_t)steps));
}

static void prefetch_streams(const struct frame *f, const struct le_loop *loop, int64_t n) {
    for (int k = 0; k < loop->stream_count; k++) {
        const struct le_loop_stream *s = &loop->streams[k];
        if (s->ahead == 0 || s->stride <= 0 || s->stride > 16)
            continue;
        uintptr_t next = (uintptr_t)f->regs[s->reg] + (uintptr_t)s->ahead;
        for (int64_t at = 0; at < n * s->stride * loop->by; at += 64)
            __builtin_prefetch((const void *)(next + (uintptr_t)at));
    }
}

static bool run_code(struct frame *f, int from, int to, int64_t n);

/* If rows are cut, the first and last row of the task may be partial. */
static void clip_row(const struct frame *f, int64_t *from, int64_t *to) {
    int64_t start = f->row * f->row_count;
    *from = f->term_from > start ? f->term_from - start : 0;
    *to = f->term_to - start < f->row_count ? f->term_to - start : f->row_count;
}

static void clip_iterations(const struct frame *f, const struct le_loop *loop, int64_t *from, int64_t *to) {
    int64_t pieces = f->pieces[loop->clip], grain = loop->lane ? f->code->unit->block : 1;
    int64_t end = f->clip_to[loop->clip];
    if (loop->clip == 1 && f->row_count) {
        clip_row(f, from, to);
        return;
    }
    if (pieces) {
        int64_t size = ((*to + pieces - 1) / pieces + grain - 1) / grain * grain;
        *from = f->piece[loop->clip] * size;
        end = *from + size;
    } else if (end >= 0) {
        *from = f->clip_from[loop->clip];
    }
    if (end >= 0 && end < *to)
        *to = end;
}

/* A computed step may turn out not to be positive: a fault, and no iterations. */
static int64_t step_of(const struct frame *f, const struct le_loop *loop) {
    if (loop->by_reg == LE_NO_REG)
        return loop->by;
    int64_t by = *(const int64_t *)f->regs[loop->by_reg];
    struct le_fault *fault = f->regs[0];
    if (by <= 0 && !fault->set) {
        fault->set = true;
        fault->access_axis = LE_FAULT_STEP;
        fault->value = by;
    }
    return by;
}

/* Gathers the next values of rows, as many as fit in a block, starting with row `row` at value `at`. */
static int64_t gather_rows(const struct frame *f, const struct le_loop *loop, int64_t rows, int64_t *row, int64_t *at) {
    const int64_t *low = f->regs[loop->low], *high = f->regs[loop->high], block = f->code->unit->block;
    int64_t *value = f->regs[loop->value], *owner = loop->owner == LE_NO_REG ? NULL : f->regs[loop->owner], n = 0;
    while (*row < rows && n < block) {
        int64_t from = *at < low[*row] ? low[*row] : *at, rest = le_row_length(from, high[*row]);
        int64_t count = rest < block - n ? rest : block - n;
        for (int64_t k = 0; k < count; k++)
            value[n + k] = from + k;
        for (int64_t k = 0; owner && k < count; k++)
            owner[n + k] = *row;
        n += count;
        *at = from + count;
        if (count == rest) {
            ++*row;
            *at = INT64_MIN;
        }
    }
    return n;
}

static void run_rows(struct frame *f, const struct le_loop *loop, int body, int64_t rows) {
    int64_t row = 0, at = INT64_MIN;
    for (int64_t n; (n = gather_rows(f, loop, rows, &row, &at)) > 0 && !must_stop(f, n);)
        run_code(f, body, loop->end, n);
}

static void run_loop(struct frame *f, const struct le_loop *loop, int body, int64_t lanes) {
    if (LE_CHECKS_BOUNDS)
        le_bounds_check_loop(f->code->unit, f->regs, f->areas, loop, lanes);
    if (loop->rows) {
        run_rows(f, loop, body, lanes);
        return;
    }
    int64_t low = *(const int64_t *)f->regs[loop->low];
    int64_t high = loop->once ? low : *(const int64_t *)f->regs[loop->high];
    int64_t by = step_of(f, loop);
    if ((high <= low && !loop->once) || by <= 0)
        return;
    int64_t at = 0, count = loop->once ? 1 : (int64_t)(((uint64_t)high - (uint64_t)low - 1) / (uint64_t)by) + 1;
    int64_t all = count, block = loop->lane ? f->code->unit->block : 1, moved = 0;
    if (loop->clip >= 0)
        clip_iterations(f, loop, &at, &count);
    for (; at < count; at += block) {
        int64_t n = loop->lane ? (count - at < block ? count - at : block) : lanes;
        int64_t first = low + (loop->down ? all - at - (loop->lane ? n : 1) : at) * by;
        if (must_stop(f, n))
            break;
        move_streams(f, loop, first - moved);
        moved = first;
        if (loop->clip == 0)
            f->row = at;
        if (loop->value != LE_NO_REG)
            *(int64_t *)f->regs[loop->value] = first;
        if (loop->lane)
            prefetch_streams(f, loop, n);
        if (run_code(f, body, loop->end, n))
            break;
    }
    move_streams(f, loop, -moved);
}

/* Repeats until a LEAVE, or until a fault: reads out of range give 0, so a loop that waits for another value would
 * never end. */
static void run_repeat(struct frame *f, int from, int to, int64_t n) {
    const struct le_fault *fault = f->regs[0];
    while (!must_stop(f, n) && !run_code(f, from, to, n) && !fault->set) {
    }
}

static bool no_lane_set(const uint8_t *lanes, int64_t n) {
    return memchr(lanes, 1, (size_t)n) == NULL;
}

static int64_t lanes_of(const struct le_instr *instr, int64_t n) {
    if (instr->code == LE_CODE_SPLAT && instr->imm)
        return instr->imm;
    return instr->single ? 1 : n;
}

/* Runs instructions [from, to) on n lanes. true: a LEAVE has ended the body, or the task has stopped. */
static bool run_code(struct frame *f, int from, int to, int64_t n) {
    const struct le_unit *unit = f->code->unit;
    le_cpu_op *const *ops = f->code->ops;
    void *const *regs = f->regs;
    for (int k = from; k < to; k++) {
        const struct le_instr *instr = &unit->instrs[k];
        if (LE_CHECKS_BOUNDS && instr->code != LE_CODE_LOOP && instr->code != LE_CODE_REPEAT)
            le_bounds_check(unit, regs, f->areas, instr, lanes_of(instr, n));
        if (instr->code == LE_CODE_LOOP) {
            const struct le_loop *loop = &unit->loops[instr->imm];
            run_loop(f, loop, k + 1, n);
            if (f->stopped)
                return true;
            k = loop->end - 1;
        } else if (instr->code == LE_CODE_REPEAT) {
            run_repeat(f, k + 1, (int)instr->imm, n);
            if (f->stopped)
                return true;
            k = (int)instr->imm - 1;
        } else if (instr->code == LE_CODE_LEAVE) {
            if (no_lane_set(regs[instr->a], n))
                return true;
        } else if (instr->code == LE_CODE_SKIP) {
            if (no_lane_set(regs[instr->a], n))
                k = (int)instr->imm - 1;
        } else {
            ops[k](regs, instr, lanes_of(instr, n));
        }
    }
    return false;
}

static void *reg_pointer(const struct le_cpu_job *job, int k, char *scratch, int64_t task, struct le_fault *fault) {
    const struct le_reg *reg = &job->code->unit->regs[k];
    switch (reg->kind) {
    case LE_REG_CONST:
        return (void *)(uintptr_t)&reg->bits;
    case LE_REG_FAULT:
        return fault;
    case LE_REG_STREAM: {
        void *p = reg->buffer < 0 ? job->parts : job->buffers[reg->buffer];
        move_pointer(&p, reg->offset + task * reg->task_stride);
        return p;
    }
    case LE_REG_SCRATCH: {
        void *p = scratch + job->code->offsets[k];
        move_pointer(&p, reg->offset + task * reg->task_stride);
        return p;
    }
    default:
        return scratch + job->code->offsets[k];
    }
}

/* Turns the task's range of terms into a range of rows. */
static void cut_rows(struct frame *f, const struct le_cpu_job *job) {
    f->row_count = job->row_count;
    f->term_from = f->clip_from[0];
    f->term_to = f->clip_to[0] < job->clip_count[0] ? f->clip_to[0] : job->clip_count[0];
    f->clip_from[0] = f->term_from / f->row_count;
    f->clip_to[0] = (f->term_to - 1) / f->row_count + 1;
}

static int64_t pieces_of(const struct le_cpu_job *job, int c) {
    if (job->clip_pieces[c])
        return job->clip_pieces[c];
    return job->clip_count[c] ? (job->clip_count[c] + job->clip_size[c] - 1) / job->clip_size[c] : 1;
}

/* A task that stops hands on some total, because a later task may already be waiting for it. */
static void open_link(const struct le_cpu_job *job, int64_t task) {
    struct le_scan_link *links = job->parts;
    atomic_store_explicit(&links[task + 1].state, LE_LINK_READY, memory_order_release);
}

/* Worker 0 is the thread that runs the job. */
static void run_task(void *user, int64_t task, int worker) {
    static const atomic_bool never = false;
    const struct le_cpu_job *job = user;
    char *scratch = job->scratch + (size_t)worker * job->scratch_stride;
    struct frame f = {.code = job->code, .regs = (void **)(void *)scratch, .clip_to = {-1, -1}};
    f.requested = job->cancel ? &job->cancel->requested : &never;
    f.watched = job->cancel && job->cancel->proceed && worker == 0 ? job->cancel : NULL;
    struct le_fault *fault = &job->faults[worker];
    if (!fault->set)
        fault->task = task;
    for (int k = 0; k < job->code->unit->reg_count; k++)
        f.regs[k] = scratch + job->code->offsets[k];
    for (int k = 0; k < job->code->elsewhere_count; k++)
        f.regs[job->code->elsewhere[k]] = reg_pointer(job, job->code->elsewhere[k], scratch, task, fault);
    if (LE_CHECKS_BOUNDS) {
        f.areas = (struct le_cpu_area *)(void *)(scratch + job->code->areas_offset);
        le_bounds_start(job, scratch, f.areas);
    }
    int64_t inner = pieces_of(job, 1);
    f.piece[0] = task / inner;
    f.piece[1] = task % inner;
    for (int c = 0; c < 2; c++) {
        f.pieces[c] = job->clip_pieces[c];
        if (job->clip_count[c]) {
            f.clip_from[c] = f.piece[c] * job->clip_size[c];
            f.clip_to[c] = f.clip_from[c] + job->clip_size[c];
        }
    }
    if (job->row_count)
        cut_rows(&f, job);
    run_code(&f, 0, job->code->unit->instr_count, 1);
    if (f.stopped && job->links)
        open_link(job, task);
#ifdef __SSE2__
    if (job->code->past_caches)
        _mm_sfence(); /* makes those stores visible before the task ends */
#endif
}

leat_status le_cpu_run(struct le_pool *pool, const struct le_cpu_job *job) {
    return le_pool_run(pool, run_task, (void *)(uintptr_t)job, job->tasks);
}
