/* See device_run.h: runs an action with the device's interpreter (gen/interpreter/interpreter.h) while its own code is
 * being compiled. Bytecode and tapes are made for each run and not kept, because there are few such runs.
 *
 * Compiled kernels run every action that the interpreter does not support, or should not run at the moment. */
#include "base/clock.h"
#include "gen/interpreter/interpreter.h"
#include "run/device/device_run.h"
#include <string.h>

/* A context requests the interpreter's compilation once it is this old and has waited for this many compilations. The
 * compilation takes seconds and leat_close waits for it once begun, so it pays only in long-lived processes. */
#define AGE_MIN_NS 5000000000u
enum { WAITS_MIN = 2 };
/* Per multiprocessor: interpreting more would take longer than compiling. An H200 interprets about 10^11 a second. */
#define OPERATIONS_MOST 30000000

struct le_interpretation {
    struct leat_call *call;
    struct le_action *action;
    struct le_arena arena;
    struct le_kernel_work work;
    enum le_interpreter which;
    /* The stages of the action's kernel, each with its own bytecode; the one whose tapes are made or launched now. */
    const struct le_stage *stages[1 + LE_ALSO_MAX], *stage;
    struct le_launches launches[1 + LE_ALSO_MAX];
    int stage_count;
    struct {
        struct le_tape *at;
        int count, capacity;
    } tapes;
    int first_tape[2 + LE_ALSO_MAX]; /* by stage, and their number */
    int64_t part_bytes;
    struct le_allocation *tape_allocation, *parts;
    struct le_loaded_code *interpreter; /* the context's */
};

/* ---- bytecode and tapes */

static bool is_target(const struct le_stage *stage, int value) {
    return value == stage->target;
}

/* Scalars that the host has become constants in the bytecode; others are read from device memory. */
static void put_numbers(const struct le_interpretation *n, struct le_unit *unit) {
    const struct le_specialised *s = n->call->specialised;
    for (int k = 0; k < unit->reg_count; k++) {
        struct le_reg *reg = &unit->regs[k];
        bool number = reg->kind == LE_REG_STREAM && reg->buffer >= 0 && s->ir->values.at[reg->buffer].rank == 0;
        if (!number || is_target(n->stage, reg->buffer) || s->cells[reg->buffer].on_device.address)
            continue;
        reg->kind = LE_REG_CONST;
        reg->bits = s->cells[reg->buffer].scalar;
    }
}

static bool add_join_tape(struct le_interpretation *n, const struct le_launch *launch, size_t shared_bytes) {
    const struct le_stage *stage = n->stage;
    struct le_tape *tape = LE_PUSH(&n->arena, &n->tapes);
    n->part_bytes = launch->tasks * (int64_t)sizeof(uint64_t);
    return le_tape_join(&n->arena, n->which, stage->node->type, (enum le_reduction)stage->node->code, launch->tasks,
                        stage->target, shared_bytes, tape);
}

static bool encode_stage(struct le_interpretation *n, const struct le_launches *launches) {
    size_t shared_bytes = le_device_limits_of(n->call->home.device)->shared_optin_bytes;
    shared_bytes = shared_bytes > LE_INTERPRETER_SHARED_BYTES ? shared_bytes - LE_INTERPRETER_SHARED_BYTES : 0;
    for (int k = 0; k < launches->count; k++) {
        const struct le_launch *launch = &launches->at[k];
        put_numbers(n, launch->unit);
        struct le_tape *tape = LE_PUSH(&n->arena, &n->tapes);
        if (!le_tape_encode(&n->arena, n->which, launch, shared_bytes, tape) ||
            (launch->parts && !add_join_tape(n, launch, shared_bytes)))
            return false;
    }
    return true;
}

static bool encode_tapes(struct le_interpretation *n) {
    bool encoded = true;
    n->tapes.count = 0;
    for (int k = 0; k < n->stage_count && encoded; k++) {
        n->stage = n->stages[k];
        n->first_tape[k] = n->tapes.count;
        encoded = encode_stage(n, &n->launches[k]);
    }
    n->first_tape[n->stage_count] = n->tapes.count;
    return encoded;
}

/* The generator does not restore its work space if memory runs out, so it gets its own. The plan is running, so the
 * generator may use only numbers that the host already has. */
static leat_status generate_bytecode(struct le_interpretation *n, int stage) {
    struct le_specialised *s = n->call->specialised;
    struct le_space space = s->plan->space;
    space.evaluate = le_evaluate_on_host;
    struct le_kernel kernel = {.ir = s->ir,
                               .stage = n->stages[stage],
                               .space = &space,
                               .layouts = s->plan->layouts,
                               .threads = 4 * le_device_limits_of(n->call->home.device)->multiprocessors,
                               .block = LE_INTERPRETER_LANES,
                               .arena = &n->arena,
                               .work = &n->work};
    return le_kernel_generate(&kernel, &n->launches[stage]);
}

/* Few tasks of many operations. */
static bool takes_long(const struct le_interpretation *n, const struct le_launch *launch) {
    int multiprocessors = le_device_limits_of(n->call->home.device)->multiprocessors;
    int64_t at_once = launch->tasks < multiprocessors ? launch->tasks : multiprocessors;
    return n->call->program->ctx->interpret != LEAT_INTERPRET_ONLY && launch->operations > OPERATIONS_MOST * at_once;
}

static bool generate_and_encode(struct le_interpretation *n) {
    for (int k = 0; k < n->stage_count; k++) {
        if (generate_bytecode(n, k) != LEAT_OK || n->launches[k].count == 0)
            return false;
        for (int q = 0; q < n->launches[k].count; q++)
            if (takes_long(n, &n->launches[k].at[q]))
                return false;
    }
    for (n->which = 0; n->which < LE_INTERPRETERS; n->which++)
        if (encode_tapes(n))
            return true;
    return false;
}

static bool within_memory(struct le_interpretation *n, struct le_arena *program) {
    if (setjmp(n->arena.failure))
        return false;
    if (setjmp(program->failure))
        return false;
    return generate_and_encode(n);
}

/* false: the interpreter does not support the action, or memory ran out. Numbers that the generator asks for may take
 * memory from the program's arena, whose failure would otherwise end the run. */
static bool make_tapes(struct le_interpretation *n) {
    struct le_arena *program = n->call->specialised->ir->arena;
    jmp_buf outside;
    memcpy(&outside, &program->failure, sizeof outside);
    bool made = within_memory(n, program);
    memcpy(&program->failure, &outside, sizeof outside);
    return made;
}

/* ---- the interpreter's code */

static struct le_code_source source_of(struct le_interpretation *n) {
    return (struct le_code_source){.kernel = LE_INTERPRETER_KERNEL,
                                   .text = le_interpreter_text(&n->arena, n->which),
                                   .what = le_interpreter_name(n->which),
                                   .cause = "so that new expressions need not wait for a compiler"};
}

/* NULL: it is not compiled, and we do not wait for it. */
static struct le_loaded_code *ask_interpreter(struct le_interpretation *n) {
    leat_context *ctx = n->call->program->ctx;
    struct le_loaded_code *code = NULL;
    if (setjmp(n->arena.failure))
        return NULL;
    const struct le_code_source source = source_of(n);
    if (ctx->interpret != LEAT_INTERPRET_READY)
        return le_code_get(ctx, &source, &code) == LEAT_OK ? code : NULL;
    bool pays = le_code_waits(ctx) >= WAITS_MIN && le_clock_ns() - ctx->opened_ns >= AGE_MIN_NS;
    return le_code_request(ctx, &source, pays ? LE_CODE_SPARE : LE_CODE_KEPT, &code) == LE_CODE_READY ? code : NULL;
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

static size_t padded_bytes(const struct le_tape *tape) {
    return (tape->size_bytes + 15) / 16 * 16;
}

static size_t total_bytes(const struct le_interpretation *n) {
    size_t all_bytes = 0;
    for (int k = 0; k < n->tapes.count; k++)
        all_bytes += padded_bytes(&n->tapes.at[k]);
    return all_bytes;
}

/* Concatenates the tapes, each padded; NULL: no memory. */
static char *gather_tapes(struct le_interpretation *n) {
    if (setjmp(n->arena.failure))
        return NULL;
    char *bytes = LE_NEW_ARRAY(&n->arena, total_bytes(n), char), *at = bytes;
    for (int k = 0; k < n->tapes.count; k++) {
        memcpy(at, n->tapes.at[k].bytes, n->tapes.at[k].size_bytes);
        at += padded_bytes(&n->tapes.at[k]);
    }
    return bytes;
}

static leat_status upload_tapes(struct le_interpretation *n) {
    struct leat_call *call = n->call;
    const size_t all_bytes = total_bytes(n);
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
                                 .what = n->action->name,
                                 .cause = "its bytecode",
                                 .wait = true};
    return le_device_copy(call->home.stream, &copy);
}

/* Passes the address of a buffer of the bytecode. */
static void pass_buffer(const struct le_interpretation *n, int buffer, uint64_t *address,
                        struct le_launch_argument *to) {
    const struct le_specialised *s = n->call->specialised;
    bool target = buffer >= 0 && is_target(n->stage, buffer);
    to->access = buffer == LE_PARTS || target ? LE_ACCESS_BOTH : LE_ACCESS_READ;
    if (buffer == LE_PARTS) {
        *address = n->parts->address;
        to->allocation = n->parts;
    } else if (s->ir->values.at[buffer].rank == 0) {
        const struct le_device_scalar *on_device =
            target ? le_device_find_result(n->action->device, buffer) : &s->cells[buffer].on_device;
        *address = on_device->address;
        to->allocation = on_device->allocation;
    } else {
        const leat_array *array = le_device_array_of(n->call, n->action, buffer, target);
        *address = le_device_address(array);
        to->allocation = array->buffer->allocation;
    }
}

static leat_status launch_tape(const struct le_interpretation *n, const struct le_tape *tape, uint64_t at) {
    struct le_launch_argument arguments[1 + LE_INTERPRETER_BUFFERS] = {{0}};
    uint64_t addresses[1 + LE_INTERPRETER_BUFFERS] = {n->tape_allocation->address + at};
    arguments[0].allocation = n->tape_allocation;
    for (int k = 0; k < tape->buffer_count; k++)
        pass_buffer(n, tape->buffers[k], &addresses[k + 1], &arguments[k + 1]);
    for (int k = 0; k <= LE_INTERPRETER_BUFFERS; k++) {
        arguments[k].value = &addresses[k];
        arguments[k].size_bytes = sizeof addresses[k];
    }
    const struct le_kernel_launch launch = {.grid = {(unsigned)tape->tasks, 1, 1},
                                            .block = {LE_INTERPRETER_THREADS, 1, 1},
                                            .shared_bytes = tape->shared_bytes,
                                            .arguments = arguments,
                                            .argument_count = 1 + LE_INTERPRETER_BUFFERS,
                                            .what = n->action->name};
    return le_device_launch(le_code_kernel(n->interpreter), &launch, n->call->home.stream);
}

/* ---- choosing the interpreter */

void le_interpretation_free(struct le_interpretation *n) {
    if (!n)
        return;
    le_allocation_free(n->tape_allocation);
    le_allocation_free(n->parts);
    le_arena_finish(&n->arena);
    le_free(n);
}

static bool is_large(const struct leat_call *call, const struct le_action *action) {
    uint64_t most = (uint64_t)OPERATIONS_MOST * (uint64_t)le_device_limits_of(call->home.device)->multiprocessors;
    return call->program->ctx->interpret != LEAT_INTERPRET_ONLY && action->operations > most;
}

/* Whether the action's kernel does not store a value that bytecode of another of its stages would read. */
static bool leaves_out(const struct le_action *action) {
    bool found = action->is_unstored;
    for (int k = 0; k < action->device->also_count; k++)
        found |= action->device->also[k]->is_unstored;
    return found;
}

/* Actions that may report faults or notes need compiled kernels. */
static bool may_interpret(const struct leat_call *call, const struct le_action *action) {
    const struct le_device_work *w = action->device;
    const struct le_stage *stage = action->generated;
    return call->program->ctx->interpret != LEAT_INTERPRET_NEVER && !le_device_is_opening(call->home.device) &&
           stage->kind == LE_STAGE_MAP && stage->sibling < 0 && stage->pair_count == 0 && !leaves_out(action) &&
           w->step_count > 0 && !w->may_report && !is_large(call, action);
}

/* Whether the action's own code is compiled; SOON: requests it if not. */
static bool is_compiled(struct leat_call *call, struct le_action *action, enum le_code_wish wish) {
    return call->program->ctx->interpret != LEAT_INTERPRET_ONLY && le_device_request_code(call, action, wish);
}

struct le_interpretation *le_interpretation_new(struct leat_call *call, struct le_action *action) {
    if (!may_interpret(call, action) || is_compiled(call, action, LE_CODE_KEPT))
        return NULL;
    struct le_interpretation *n = le_alloc_zero(1, sizeof *n);
    if (!n)
        return NULL;
    n->call = call;
    n->action = action;
    n->stages[n->stage_count++] = action->device->alone ? action->device->alone : action->generated;
    for (int k = 0; k < action->device->also_count; k++)
        n->stages[n->stage_count++] = action->device->also[k]->generated;
    le_arena_init(&n->arena);
    le_kernel_work_init(&n->work, &n->arena);
    le_errors_save();
    bool can = make_tapes(n) && find_interpreter(n) && !is_compiled(call, action, LE_CODE_SOON);
    le_errors_restore();
    if (can)
        return n;
    le_interpretation_free(n);
    return NULL;
}

leat_status le_interpretation_run(struct le_interpretation *n) {
    leat_status status = upload_tapes(n);
    uint64_t at = 0;
    for (int k = 0, stage = 0; k < n->tapes.count && status == LEAT_OK; k++) {
        while (k >= n->first_tape[stage + 1])
            stage++;
        n->stage = n->stages[stage];
        status = launch_tape(n, &n->tapes.at[k], at);
        at += padded_bytes(&n->tapes.at[k]);
    }
    leat_context *ctx = n->call->program->ctx;
    if (status == LEAT_OK)
        le_ledger_add(
            ctx->ledger, LEAT_COST_INTERPRET, n->action->name,
            ctx->interpret == LEAT_INTERPRET_ONLY ? "nothing is compiled for it" : "its code is being compiled", 0);
    return status;
}
