/* See device_run.h: an action by the interpreter for devices (gen/device_interpreter.h), while the code of its own is
 * compiled. Nothing of it is kept: its bytecode and tapes are made for each run, of which there are few.
 *
 * What the interpreter does not run, or what is not interpreted as things stand, is left to compiled kernels. */
#include "base/clock.h"
#include "gen/device_interpreter.h"
#include "run/device/device_run.h"
#include <string.h>

/* A context asks for an interpreter when it is so old and has waited for so many compilations: what takes a compiler
 * seconds is for processes that stay, since leat_close waits for what has begun. */
#define AGE_MIN_NS 5000000000u
enum { WAITS_MIN = 2 };
/* For each multiprocessor: more would take longer than a compiler does. An H200 interprets about 10^11 in a second. */
#define OPERATIONS_MOST 30000000

struct le_interpretation {
    struct leat_call *call;
    struct le_action *action;
    struct le_arena arena;
    enum le_interpreter which;
    struct le_launches launches;
    struct {
        struct le_tape *at;
        int count, capacity;
    } tapes;
    int64_t part_bytes;
    struct le_allocation *tape_allocation, *parts;
    struct le_loaded_code *interpreter; /* the context's */
};

/* ---- bytecode and tapes */

static bool is_target(const struct le_stage *stage, int value) {
    return value == stage->target;
}

/* A number that the host knows stands in the code; others are read where they are. */
static void put_numbers(const struct le_interpretation *n, struct le_unit *unit) {
    const struct le_specialised *s = n->call->specialised;
    for (int k = 0; k < unit->reg_count; k++) {
        struct le_reg *reg = &unit->regs[k];
        bool number = reg->kind == LE_REG_STREAM && reg->buffer >= 0 && s->ir->values.at[reg->buffer].rank == 0;
        if (!number || is_target(n->action->made, reg->buffer) || s->cells[reg->buffer].away.at)
            continue;
        reg->kind = LE_REG_CONST;
        reg->bits = s->cells[reg->buffer].scalar;
    }
}

static bool join(struct le_interpretation *n, const struct le_launch *launch, size_t shared_bytes) {
    const struct le_stage *stage = n->action->made;
    struct le_tape *tape = LE_PUSH(&n->arena, &n->tapes);
    n->part_bytes = launch->tasks * (int64_t)sizeof(uint64_t);
    return le_tape_join(&n->arena, n->which, stage->node->type, (enum le_reduction)stage->node->code, launch->tasks,
                        stage->target, shared_bytes, tape);
}

static bool encode(struct le_interpretation *n) {
    size_t shared_bytes = le_device_limits_of(n->call->home.device)->shared_optin_bytes;
    shared_bytes = shared_bytes > LE_INTERPRETER_SHARED_BYTES ? shared_bytes - LE_INTERPRETER_SHARED_BYTES : 0;
    n->tapes.count = 0;
    for (int k = 0; k < n->launches.count; k++) {
        const struct le_launch *launch = &n->launches.at[k];
        put_numbers(n, launch->unit);
        struct le_tape *tape = LE_PUSH(&n->arena, &n->tapes);
        if (!le_tape_encode(&n->arena, n->which, launch, shared_bytes, tape) ||
            (launch->parts && !join(n, launch, shared_bytes)))
            return false;
    }
    return true;
}

/* With ranges and work space of its own, which the generator changes for a while: where memory runs out in between,
 * nobody puts them back. The plan is being run, so that the generator may ask only for numbers at hand. */
static leat_status generate(struct le_interpretation *n) {
    struct le_specialised *s = n->call->specialised;
    const int indices = s->ir->indices.count;
    struct le_space *space = LE_NEW(&n->arena, struct le_space);
    *space = s->plan->space;
    space->evaluate = le_evaluate_at_hand;
    space->ranges = LE_NEW_ARRAY(&n->arena, indices, struct le_range);
    memcpy(space->ranges, s->plan->space.ranges, (size_t)indices * sizeof *space->ranges);
    struct le_kernel kernel = {.ir = s->ir,
                               .stage = n->action->made,
                               .space = space,
                               .layouts = s->plan->layouts,
                               .threads = 4 * le_device_limits_of(n->call->home.device)->multiprocessors,
                               .block = LE_INTERPRETER_LANES,
                               .arena = &n->arena,
                               .merged_into = LE_NEW_ARRAY(&n->arena, indices, int),
                               .merged_count = LE_NEW_ARRAY(&n->arena, indices, int64_t)};
    for (int k = 0; k < indices; k++)
        kernel.merged_into[k] = k;
    return le_kernel_generate(&kernel, &n->launches);
}

static bool generate_and_encode(struct le_interpretation *n) {
    if (generate(n) != LEAT_OK || n->launches.count == 0)
        return false;
    for (n->which = 0; n->which < LE_INTERPRETERS; n->which++)
        if (encode(n))
            return true;
    return false;
}

static bool within_memory(struct le_interpretation *n, struct le_arena *nodes) {
    if (setjmp(n->arena.failure))
        return false;
    if (setjmp(nodes->failure))
        return false;
    return generate_and_encode(n);
}

/* false: it is not for the interpreter, or memory runs out. Nodes that the generator makes live in the IR's arena,
 * whose failure is the run's otherwise. */
static bool make_tapes(struct le_interpretation *n) {
    struct le_arena *nodes = n->call->specialised->ir->arena;
    jmp_buf outside;
    memcpy(&outside, &nodes->failure, sizeof outside);
    bool made = within_memory(n, nodes);
    memcpy(&nodes->failure, &outside, sizeof outside);
    return made;
}

/* ---- the interpreter's code */

static struct le_code_source source_of(struct le_interpretation *n) {
    return (struct le_code_source){.kernel = LE_INTERPRETER_KERNEL,
                                   .text = le_interpreter_text(&n->arena, n->which),
                                   .what = le_interpreter_name(n->which),
                                   .cause = "so that new expressions need not wait"};
}

/* NULL: it is not there, and not waited for. */
static struct le_loaded_code *ask_interpreter(struct le_interpretation *n) {
    leat_context *ctx = n->call->program->ctx;
    struct le_loaded_code *code = NULL;
    if (setjmp(n->arena.failure))
        return NULL;
    const struct le_code_source source = source_of(n);
    if (ctx->interpret != LEAT_INTERPRET_READY)
        return le_code_get(ctx, &source, &code) == LEAT_OK ? code : NULL;
    bool pays = le_code_waits(ctx) >= WAITS_MIN && le_clock_ns() - ctx->opened_ns >= AGE_MIN_NS;
    return le_code_ask(ctx, &source, pays ? LE_CODE_SPARE : LE_CODE_KEPT, &code) == LE_CODE_READY ? code : NULL;
}

static bool find_interpreter(struct le_interpretation *n) {
    _Atomic(struct le_loaded_code *) *kept = &n->call->program->ctx->interpreters[n->which];
    n->interpreter = atomic_load(kept);
    if (n->interpreter)
        return true;
    struct le_loaded_code *none = NULL;
    n->interpreter = ask_interpreter(n);
    if (n->interpreter && !atomic_compare_exchange_strong(kept, &none, n->interpreter))
        le_code_release(n->interpreter); /* another thread holds it */
    return n->interpreter != NULL;
}

/* ---- running */

static size_t room_of(const struct le_tape *tape) {
    return (tape->size_bytes + 15) / 16 * 16;
}

static size_t room_of_all(const struct le_interpretation *n) {
    size_t all_bytes = 0;
    for (int k = 0; k < n->tapes.count; k++)
        all_bytes += room_of(&n->tapes.at[k]);
    return all_bytes;
}

/* One after the other; NULL: no memory. */
static char *gather_tapes(struct le_interpretation *n) {
    if (setjmp(n->arena.failure))
        return NULL;
    char *bytes = LE_NEW_ARRAY(&n->arena, room_of_all(n), char), *at = bytes;
    for (int k = 0; k < n->tapes.count; k++) {
        memcpy(at, n->tapes.at[k].bytes, n->tapes.at[k].size_bytes);
        at += room_of(&n->tapes.at[k]);
    }
    return bytes;
}

static leat_status upload(struct le_interpretation *n) {
    struct leat_call *call = n->call;
    const size_t all_bytes = room_of_all(n);
    const char *bytes = gather_tapes(n);
    if (!bytes)
        return le_fail_out_of_memory(all_bytes);
    leat_status status =
        le_allocation_new(call->home.device, LE_MEMORY_DEVICE, all_bytes, call->home.stream, &n->tape_allocation);
    if (status == LEAT_OK && n->part_bytes)
        status =
            le_allocation_new(call->home.device, LE_MEMORY_DEVICE, (size_t)n->part_bytes, call->home.stream, &n->parts);
    if (status != LEAT_OK)
        return status;
    const struct le_copy copy = {.target = n->tape_allocation,
                                 .target_memory = (char *)(uintptr_t)n->tape_allocation->address,
                                 .source_memory = bytes,
                                 .element_bytes = all_bytes,
                                 .what = n->action->stage->name,
                                 .cause = "its bytecode",
                                 .wait = true};
    return le_device_copy(call->home.stream, &copy);
}

/* A buffer of the bytecode's. */
static void pass(const struct le_interpretation *n, int buffer, uint64_t *address, struct le_launch_argument *to) {
    const struct le_specialised *s = n->call->specialised;
    bool target = buffer >= 0 && is_target(n->action->made, buffer);
    to->access = buffer == LE_PARTS || target ? LE_ACCESS_BOTH : LE_ACCESS_READ;
    if (buffer == LE_PARTS) {
        *address = n->parts->address;
        to->allocation = n->parts;
    } else if (s->ir->values.at[buffer].rank == 0) {
        const struct le_device_scalar *away =
            target ? le_device_result(n->action->device, buffer) : &s->cells[buffer].away;
        *address = away->at;
        to->allocation = away->allocation;
    } else {
        const leat_array *array = le_device_array_of(n->call, n->action, buffer, target);
        *address = le_device_address(array);
        to->allocation = array->buffer->allocation;
    }
}

static leat_status launch(const struct le_interpretation *n, const struct le_tape *tape, uint64_t at) {
    struct le_launch_argument arguments[1 + LE_INTERPRETER_BUFFERS] = {{0}};
    uint64_t addresses[1 + LE_INTERPRETER_BUFFERS] = {n->tape_allocation->address + at};
    arguments[0].allocation = n->tape_allocation;
    for (int k = 0; k < tape->buffer_count; k++)
        pass(n, tape->buffers[k], &addresses[k + 1], &arguments[k + 1]);
    for (int k = 0; k <= LE_INTERPRETER_BUFFERS; k++) {
        arguments[k].value = &addresses[k];
        arguments[k].size_bytes = sizeof addresses[k];
    }
    const struct le_kernel_launch launch = {.grid = {(unsigned)tape->tasks, 1, 1},
                                            .block = {LE_INTERPRETER_THREADS, 1, 1},
                                            .shared_bytes = tape->shared_bytes,
                                            .arguments = arguments,
                                            .argument_count = 1 + LE_INTERPRETER_BUFFERS,
                                            .what = n->action->stage->name};
    return le_device_launch(le_code_kernel(n->interpreter), &launch, n->call->home.stream);
}

/* ---- */

void le_interpretation_free(struct le_interpretation *n) {
    if (!n)
        return;
    le_allocation_free(n->tape_allocation);
    le_allocation_free(n->parts);
    le_arena_finish(&n->arena);
    le_free(n);
}

static bool takes_long(const struct leat_call *call, const struct le_action *action) {
    uint64_t most = (uint64_t)OPERATIONS_MOST * (uint64_t)le_device_limits_of(call->home.device)->multiprocessors;
    return call->program->ctx->interpret != LEAT_INTERPRET_ONLY && action->operations > most;
}

/* Faults and notes are for kernels that can tell them. */
static bool may_interpret(const struct leat_call *call, const struct le_action *action) {
    const struct le_device_work *w = action->device;
    const struct le_stage *stage = action->made;
    return call->program->ctx->interpret != LEAT_INTERPRET_NEVER && !le_device_is_opening(call->home.device) &&
           stage->kind == LE_STAGE_MAP && stage->sibling < 0 && stage->pair_count == 0 && w->step_count > 0 &&
           !w->may_report && !takes_long(call, action);
}

/* Whether the code of its own is there; SOON: it is asked for, else. */
static bool has_come(struct leat_call *call, struct le_action *action, enum le_code_wish wish) {
    return call->program->ctx->interpret != LEAT_INTERPRET_ONLY && le_device_ask(call, action, wish);
}

struct le_interpretation *le_interpretation_new(struct leat_call *call, struct le_action *action) {
    if (!may_interpret(call, action) || has_come(call, action, LE_CODE_KEPT))
        return NULL;
    struct le_interpretation *n = le_alloc_zero(1, sizeof *n);
    if (!n)
        return NULL;
    n->call = call;
    n->action = action;
    le_arena_init(&n->arena);
    le_errors_save();
    bool can = make_tapes(n) && find_interpreter(n) && !has_come(call, action, LE_CODE_SOON);
    le_errors_restore();
    if (can)
        return n;
    le_interpretation_free(n);
    return NULL;
}

leat_status le_interpretation_run(struct le_interpretation *n) {
    leat_status status = upload(n);
    uint64_t at = 0;
    for (int k = 0; k < n->tapes.count && status == LEAT_OK; k++) {
        status = launch(n, &n->tapes.at[k], at);
        at += room_of(&n->tapes.at[k]);
    }
    leat_context *ctx = n->call->program->ctx;
    if (status == LEAT_OK)
        le_ledger_add(
            ctx->ledger, LEAT_COST_INTERPRET, n->action->stage->name,
            ctx->interpret == LEAT_INTERPRET_ONLY ? "nothing is compiled for it" : "its code is being compiled", 0);
    return status;
}
