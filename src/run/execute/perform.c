/* Runs one action: its launches, faults and notes. control.c decides which action comes next; storage.c allocates the
 * values. */
#include "run/call.h"
#include "run/plan/contraction.h"
#include "run/device/device_run.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- scratch memory and faults */

leat_status le_ensure_scratch(struct leat_call *call, size_t worker_bytes) {
    struct le_specialised *s = call->specialised;
    size_t total = worker_bytes * (size_t)le_pool_threads(call->program->ctx->threads) + 64;
    if (s->scratch && s->scratch_bytes >= total)
        return LEAT_OK;
    le_free(s->scratch);
    s->scratch = le_alloc(total);
    s->scratch_bytes = s->scratch ? total : 0;
    return s->scratch ? LEAT_OK : le_fail_out_of_memory(total);
}

/* Memory for partial results. The next action may overwrite what an action leaves in it. */
leat_status le_ensure_work(struct leat_call *call, size_t size_bytes) {
    struct le_specialised *s = call->specialised;
    if (s->work && s->work_bytes >= size_bytes)
        return LEAT_OK;
    le_free(s->work);
    s->work = le_alloc(size_bytes);
    s->work_bytes = s->work ? size_bytes : 0;
    return s->work ? LEAT_OK : le_fail_out_of_memory(size_bytes);
}

/* The number of workers that may run tasks: a single task runs on the first worker. */
static int workers_of(const struct leat_call *call, const struct le_launch *launches, int count) {
    for (int k = 0; k < count; k++)
        if (launches[k].tasks > 1)
            return le_pool_threads(call->program->ctx->threads);
    return 1;
}

static void clear_faults(struct leat_call *call, int workers) {
    memset(call->specialised->faults, 0, (size_t)workers * sizeof(struct le_fault));
}

/* A fault of a step has no access, so the error points to the statement. A `for` may count down, so its only fault is a
 * step of 0. */
static leat_status report_step(struct leat_call *call, const struct le_stage *stage, const struct le_fault *fault) {
    const struct le_specialised *s = call->specialised;
    struct le_location location = {0};
    if (stage)
        location = s->ir->statements.at[stage->statement].location;
    leat_status status = fault->value == 0
                             ? le_fail_at(LEAT_DATA, location, LE_LOOP_STEP_ADVICE, "`by` must not be zero")
                             : le_fail_at(LEAT_DATA, location, LE_STEP_ADVICE, "`by` must be positive, not %lld",
                                          (long long)fault->value);
    le_program_source(call->program);
    return status;
}

static leat_status report_end(struct leat_call *call, const struct le_stage *stage, const struct le_fault *fault) {
    const struct le_specialised *s = call->specialised;
    struct le_location def = {(int)(fault->value >> 32), (int)(fault->value & INT32_MAX), (int)strlen("def")};
    leat_status status = le_fail_at(LEAT_DATA, def, "end the block with `return EXPRESSION`",
                                    "`def` ended without `return`, called on line %d",
                                    stage ? s->ir->statements.at[stage->statement].location.line : def.line);
    le_program_source(call->program);
    return status;
}

/* The subscript as the program computed it: a u64 may exceed every i64. */
static const char *subscript_text(const struct le_ir_access *a, int axis, int64_t value, char *text, size_t room) {
    const struct le_node *n = a->subscripts[axis];
    if (n->kind == LE_NODE_CAST && n->operands[0]->type == LE_U64)
        snprintf(text, room, "%llu", (unsigned long long)value);
    else
        snprintf(text, room, "%lld", (long long)value);
    return text;
}

leat_status le_report_fault(struct leat_call *call, const struct le_stage *stage, const struct le_fault *fault) {
    const struct le_specialised *s = call->specialised;
    if (fault->access_axis == LE_FAULT_STEP)
        return report_step(call, stage, fault);
    if (fault->access_axis == LE_FAULT_END)
        return report_end(call, stage, fault);
    const struct le_ir_access *a = &s->ir->accesses.at[fault->access_axis / 8];
    int axis = (int)(fault->access_axis % 8);
    char text[32];
    leat_status status =
        le_fail_at(LEAT_DATA, a->location, a->left ? LE_DATA_WRITE_ADVICE : LE_DATA_READ_ADVICE,
                   "%s%s axis %d (length %lld): subscript is %s", a->left ? "write to " : "",
                   s->tree->symbols[a->symbol]->name, axis, (long long)s->plan->space.shape[a->symbol][axis],
                   subscript_text(a, axis, fault->value, text, sizeof text));
    le_program_source(call->program);
    return status;
}

/* Reports each kind of note once per action. */
void le_report_notes(struct leat_call *call, struct le_action *action, unsigned notes) {
    const struct le_ir_statement *st = &call->specialised->ir->statements.at[action->stage->statement];
    notes &= ~action->notes_reported;
    action->notes_reported |= notes;
    if (notes & LE_NOTE_DIVISION)
        le_context_note(call->program->ctx, "line %d: %s: an integer was divided by zero, which gives 0",
                        st->location.line, st->text);
    if (notes & LE_NOTE_POWER)
        le_context_note(call->program->ctx, "line %d: %s: an integer was raised to a negative power, which gives 0",
                        st->location.line, st->text);
}

static unsigned notes_of(const struct leat_call *call, int workers) {
    unsigned notes = 0;
    for (int k = 0; k < workers; k++)
        notes |= call->specialised->faults[k].notes;
    return notes;
}

static const struct le_fault *first_fault(const struct leat_call *call, int workers) {
    const struct le_fault *first = NULL;
    for (int k = 0; k < workers; k++) {
        const struct le_fault *f = &call->specialised->faults[k];
        if (f->set && (!first || f->task < first->task))
            first = f;
    }
    return first;
}

static leat_status check_faults(struct leat_call *call, int workers) {
    const struct le_fault *first = first_fault(call, workers);
    return first ? le_report_fault(call, call->specialised->plan->running, first) : LEAT_OK;
}

/* ---- launches */

/* The argument of area_of: the call, and the memory of the launch for the results of its tasks. */
struct launch_memory {
    const struct leat_call *call;
    char *parts;
    size_t parts_bytes;
};

/* The host's copy of a device array; NULL: there is none now. */
static const struct le_mirror *find_mirror(const struct leat_call *call, int value) {
    for (int k = call->device ? call->device->mirrors.count - 1 : -1; k >= 0; k--)
        if (call->device->mirrors.at[k].value == value)
            return &call->device->mirrors.at[k];
    return NULL;
}

/* The array that holds a value now. The value being written may have taken over the memory of its base. */
static const leat_array *holder_of(const struct le_specialised *s, int value) {
    const struct le_stage *stage = s->plan->running;
    if (s->part && s->buffers[value] == s->part->data)
        return s->part;
    if (s->cells[value].array || !stage)
        return s->cells[value].array;
    if (stage->pair_count == 0)
        return le_storage_base(s->plan, stage->target) == value ? s->cells[stage->target].array : NULL;
    for (int k = 0; k < stage->pair_count; k++)
        if (le_storage_base(s->plan, stage->pairs[k].target) == value)
            return s->cells[stage->pairs[k].target].array;
    return NULL;
}

static struct le_cpu_area area_of(void *user, int buffer) {
    const struct launch_memory *memory = user;
    const struct le_specialised *s = memory->call->specialised;
    if (buffer == LE_PARTS)
        return (struct le_cpu_area){"the tasks' results", memory->parts, memory->parts + memory->parts_bytes};
    struct le_cpu_area area = {.name = s->ir->values.at[buffer].name, .low = s->buffers[buffer]};
    const struct le_mirror *mirror = find_mirror(memory->call, buffer);
    const leat_array *array = holder_of(s, buffer);
    area.high = area.low;
    if (s->ir->values.at[buffer].rank == 0) {
        area.high = area.low + sizeof(uint64_t);
    } else if (mirror) {
        area.low = mirror->memory;
        area.high = area.low + mirror->size_bytes;
    } else if (array) {
        le_array_range(array, &area.low, &area.high);
    }
    return area;
}

struct le_cpu_job le_job_of(const struct leat_call *call, const struct le_launch *launch,
                            const struct le_cpu_code *code) {
    const struct le_specialised *s = call->specialised;
    char *scratch = s->scratch;
    return (struct le_cpu_job){.code = code,
                               .tasks = launch->tasks,
                               .clip_count = {launch->clip_count[0], launch->clip_count[1]},
                               .clip_size = {launch->clip_size[0], launch->clip_size[1]},
                               .clip_pieces = {launch->clip_pieces[0], launch->clip_pieces[1]},
                               .row_count = launch->row_count,
                               .buffers = s->buffers,
                               .scratch = scratch + (64 - (uintptr_t)scratch % 64) % 64,
                               .scratch_stride = (code->scratch_bytes + 63) / 64 * 64,
                               .faults = s->faults,
                               .links = launch->links,
                               .cancel = le_cancel_here()};
}

static leat_status run_launch(struct leat_call *call, const struct le_launch *launch, const struct le_cpu_code *code,
                              void *parts, size_t parts_bytes) {
    struct launch_memory memory = {.call = call, .parts = parts, .parts_bytes = parts_bytes};
    struct le_cpu_job job = le_job_of(call, launch, code);
    job.parts = parts;
    job.area = area_of;
    job.area_user = &memory;
    return le_cpu_run(call->program->ctx->threads, &job);
}

leat_status le_perform_scalar(struct leat_call *call, const struct le_launch *launch, const struct le_cpu_code *code,
                              uint64_t *bits, bool *failed) {
    leat_status status = le_ensure_scratch(call, code->scratch_bytes);
    if (status != LEAT_OK)
        return status;
    clear_faults(call, 1);
    *bits = 0;
    status = run_launch(call, launch, code, bits, sizeof *bits);
    if (status != LEAT_OK)
        return status;
    if (!failed)
        return check_faults(call, 1);
    *failed = first_fault(call, 1) != NULL;
    return LEAT_OK;
}

/* Runs the tasks, then joins their partial totals into one for the stage and one for each sibling. */
static leat_status run_parts(struct leat_call *call, const struct le_action *action) {
    struct le_specialised *s = call->specialised;
    const struct le_launch *launch = &action->launches.at[0];
    size_t one = (size_t)launch->tasks * 8, all = one;
    for (int k = action->generated->sibling; k >= 0; k = s->ir->stages.at[k].sibling)
        all += one;
    leat_status status = le_ensure_work(call, all);
    if (status != LEAT_OK)
        return status;
    char *parts = s->work;
    status = run_launch(call, launch, &action->codes[0], parts, all);
    if (status != LEAT_OK)
        return status;
    const struct le_stage *stage = action->generated;
    for (char *p = parts; p < parts + all; p += one) {
        le_acc_join(call->program->ctx->simd, stage->node->type, (enum le_reduction)stage->node->code, p, launch->tasks,
                    &s->cells[stage->target].scalar);
        if (stage->sibling >= 0)
            stage = &s->ir->stages.at[stage->sibling];
    }
    return LEAT_OK;
}

/* ---- scatters into copies */

/* The neutral element; for sums of floats that is -0.0. */
static uint64_t neutral(enum le_type type, enum le_scatter op) {
    double d = op == LE_SCATTER_MIN ? INFINITY : op == LE_SCATTER_MAX ? -INFINITY : -0.0;
    float f = (float)d;
    uint64_t bits = 0;
    if (type == LE_F64)
        memcpy(&bits, &d, sizeof d);
    else if (type == LE_F32)
        memcpy(&bits, &f, sizeof f);
    else if (op == LE_SCATTER_ADD)
        bits = 0;
    else if (type == LE_BOOL)
        bits = op == LE_SCATTER_MIN;
    else if (le_type_is_unsigned(type))
        bits = op == LE_SCATTER_MIN ? UINT64_MAX : 0;
    else
        bits = op == LE_SCATTER_MIN ? ((uint64_t)1 << (le_type_bits(type) - 1)) - 1
                                    : (uint64_t)1 << (le_type_bits(type) - 1);
    return bits;
}

static void fill_elements(void *memory, size_t count, size_t size, uint64_t bits) {
    for (size_t k = 0; k < count; k++)
        memcpy((char *)memory + k * size, &bits, size);
}

static void add_copies(struct leat_call *call, const struct le_action *action, char *copies, int64_t count,
                       size_t elements) {
    static const enum le_op ops[] = {
        [LE_SCATTER_ADD] = LE_OP_ADD, [LE_SCATTER_MIN] = LE_OP_MIN, [LE_SCATTER_MAX] = LE_OP_MAX};
    enum le_type type = call->specialised->ir->values.at[action->stage->target].type;
    size_t size = le_type_size(type);
    struct le_instr instr = {.code = (uint16_t)ops[action->stage->scatter],
                             .type = (uint8_t)type,
                             .type2 = (uint8_t)type,
                             .d = 0,
                             .a = 0,
                             .b = 1,
                             .c = LE_NO_REG,
                             .e = LE_NO_REG};
    le_cpu_op *op = le_cpu_op_find(call->program->ctx->simd, &instr);
    char *target = call->specialised->buffers[action->stage->target];
    for (int64_t c = 0; c < count; c++)
        for (size_t k = 0; k < elements; k += LE_BLOCK_MAX) {
            void *regs[] = {target + k * size, copies + ((size_t)c * elements + k) * size};
            op(regs, &instr, (int64_t)(elements - k < LE_BLOCK_MAX ? elements - k : LE_BLOCK_MAX));
        }
}

static leat_status run_copies(struct leat_call *call, const struct le_action *action) {
    const struct le_launch *launch = &action->launches.at[0];
    const struct le_specialised *s = call->specialised;
    enum le_type type = s->ir->values.at[action->stage->target].type;
    size_t elements = le_array_count(s->cells[action->stage->target].array), size = le_type_size(type), bytes;
    if (!le_mul_size(elements * size, (size_t)launch->tasks, &bytes))
        return le_fail_out_of_memory(SIZE_MAX);
    leat_status status = le_ensure_work(call, bytes + 1);
    if (status != LEAT_OK)
        return status;
    char *copies = s->work;
    fill_elements(copies, elements * (size_t)launch->tasks, size, neutral(type, action->stage->scatter));
    status = run_launch(call, launch, &action->codes[0], copies, bytes);
    if (status == LEAT_OK)
        add_copies(call, action, copies, launch->tasks, elements);
    return status;
}

/* Runs a scan, whose tasks pass the totals of their chunks to each other. */
static leat_status run_links(struct leat_call *call, const struct le_launch *launch, const struct le_cpu_code *code) {
    size_t bytes = ((size_t)launch->tasks + 1) * sizeof(struct le_scan_link);
    leat_status status = le_ensure_work(call, bytes);
    if (status != LEAT_OK)
        return status;
    struct le_scan_link *links = (struct le_scan_link *)(void *)call->specialised->work;
    memset(links, 0, bytes);
    links->state = LE_LINK_START;
    return run_launch(call, launch, code, links, bytes);
}

/* ---- one action */

static leat_status fill_array(struct leat_call *call, const struct le_action *action) {
    struct le_specialised *s = call->specialised;
    enum le_type type = s->ir->values.at[action->stage->target].type;
    uint64_t bits;
    leat_status status = le_perform_scalar(call, &action->launches.at[0], &action->codes[0], &bits, NULL);
    if (status == LEAT_OK)
        status = le_storage_prepare(call, action, bits == 0);
    if (status != LEAT_OK || bits == 0)
        return status;
    const leat_array *array = s->cells[action->stage->target].array;
    fill_elements(array->data, le_array_count(array), le_type_size(type), bits);
    return LEAT_OK;
}

static leat_status run_launches(struct leat_call *call, struct le_action *action) {
    int workers = workers_of(call, action->launches.at, action->launches.count);
    leat_status status = LEAT_OK;
    clear_faults(call, workers);
    for (int k = 0; k < action->launches.count && status == LEAT_OK; k++) {
        const struct le_launch *launch = &action->launches.at[k];
        if (launch->parts)
            status = run_parts(call, action);
        else if (launch->copies)
            status = run_copies(call, action);
        else if (launch->links)
            status = run_links(call, launch, &action->codes[k]);
        else
            status = run_launch(call, launch, &action->codes[k], NULL, 0);
        if (status == LEAT_OK)
            status = check_faults(call, workers);
    }
    if (status == LEAT_OK)
        le_report_notes(call, action, notes_of(call, workers));
    return status;
}

/* Prepares a scalar that the host computes in a device's context: fetches its operands, which are scalars. */
static leat_status bring_operands(struct leat_call *call, const struct le_stage *stage) {
    int mark;
    leat_status status = le_device_fetch_operands(call, stage->node, &mark);
    le_device_release_mirrors(call, mark);
    if (status == LEAT_OK && stage->base >= 0)
        status = le_device_fetch(call, stage->base);
    le_device_scalar_release(call, &call->specialised->cells[stage->target]);
    return status;
}

leat_status le_perform_action(struct leat_call *call, struct le_action *action) {
    if (action->device)
        return le_device_perform(call, action);
    leat_status brought = call->device ? bring_operands(call, action->stage) : LEAT_OK;
    if (brought != LEAT_OK)
        return brought;
    if (action->stage->kind == LE_STAGE_FILL)
        return fill_array(call, action);
    leat_status status = le_ensure_scratch(call, call->specialised->plan->scratch_bytes);
    if (status == LEAT_OK)
        status = le_storage_prepare(call, action, false);
    if (status == LEAT_OK && action->contract)
        return le_contract_run(call, action->contract);
    if (status == LEAT_OK)
        status = run_launches(call, action);
    return le_storage_put_back(call, action, status);
}
