/* Begins and finishes a kernel: its name, its parameters, and the whole unit. */
#include "gen/tree/codegen.h"
#include <string.h>

enum { BLOCK_LEAST = 64 }; /* threads of a block of a small grid */

/* ---- names */

static const char *shared_name(struct codegen *c, const char **name, const char *wish) {
    if (!*name)
        *name = le_ktree_name(c->tree, wish);
    return *name;
}

const char *le_codegen_value_name(struct codegen *c, int value) {
    const char *name = c->ir->values.at[value].name; /* "u.2" */
    return shared_name(c, &c->value_names[value], le_arena_copy(c->arena, name, strcspn(name, ".")));
}

const char *le_codegen_index_name(struct codegen *c, int index) {
    return shared_name(c, &c->index_names[index], c->ir->indices.at[index].name);
}

static struct le_variable *named_variable(struct codegen *c, const char *name, int type) {
    struct le_variable *v = LE_NEW(c->arena, struct le_variable);
    *v = (struct le_variable){.name = name, .type = type, .id = c->tree->variable_count++};
    return v;
}

struct le_variable *le_codegen_index_variable(struct codegen *c, int index, int type) {
    const char *name = le_codegen_index_name(c, index);
    bool first = !c->index_has_variable[index];
    c->index_has_variable[index] = true;
    return first ? named_variable(c, name, type) : le_ktree_variable(c->tree, name, type);
}

/* ---- parameters */

static struct le_variable *add_parameter(struct codegen *c, struct parameter p) {
    *LE_PUSH(c->arena, &c->parameters) = p;
    *LE_PUSH(c->arena, &c->tree->parameters) = p.variable;
    return p.variable;
}

struct le_expression *le_codegen_number(struct codegen *c, const char *name, int64_t value) {
    for (int k = 0; k < c->parameters.count; k++)
        if (c->parameters.at[k].wish && strcmp(c->parameters.at[k].wish, name) == 0 &&
            c->parameters.at[k].argument.number == value)
            return le_ktree_use(c->tree, c->parameters.at[k].variable);
    return le_ktree_use(
        c->tree, add_parameter(c, (struct parameter){.variable = le_ktree_variable(c->tree, name, LE_KTREE_LONG),
                                                     .wish = name,
                                                     .argument = {.kind = LE_ARGUMENT_NUMBER, .number = value}}));
}

struct le_variable *le_codegen_parameter(struct codegen *c, enum le_argument_kind kind, int value, int64_t number,
                                         int type, const char *wish) {
    for (int k = 0; k < c->parameters.count; k++) {
        const struct le_argument *a = &c->parameters.at[k].argument;
        if (a->kind == kind && a->value == value && a->number == number)
            return c->parameters.at[k].variable;
    }
    const char *name = kind == LE_ARGUMENT_FAULT ? "fault"
                       : wish                    ? le_ktree_name(c->tree, wish)
                                                 : le_codegen_value_name(c, value);
    struct le_variable *v = named_variable(c, name, type);
    v->memory = LE_KTREE_BUFFER;
    v->read_only = kind == LE_ARGUMENT_ARRAY;
    v->axes = 1;
    if (kind == LE_ARGUMENT_SCALAR) {
        v->memory = LE_KTREE_NO_ARRAY;
        v->object = le_ktree_call(c->tree, LE_CALL_SCALAR, LE_KTREE_VOID, NULL, NULL);
    } else if (kind == LE_ARGUMENT_FAULT) {
        v->object = le_ktree_call(c->tree, LE_CALL_FAULT_RECORD, LE_KTREE_VOID, NULL, NULL);
    }
    return add_parameter(
        c, (struct parameter){.variable = v, .argument = {.kind = kind, .value = value, .number = number}});
}

void le_codegen_reports(struct codegen *c) {
    c->tree->fault = le_codegen_parameter(c, LE_ARGUMENT_FAULT, -1, 0, LE_KTREE_VOID, NULL);
}

void le_codegen_add_fault(struct codegen *c, struct le_block *block, int64_t access_axis, struct le_expression *value) {
    c->may_fault = true;
    le_codegen_reports(c);
    c->tree->action = le_codegen_number(c, "action", c->job->action);
    le_ktree_add(c->tree, block,
                 (struct le_statement){.kind = LE_STATEMENT_FAULT,
                                       .code = (int)access_axis,
                                       .x = le_codegen_point(c),
                                       .to = value,
                                       .variable = c->failed});
}

/* ---- the unit */

static const char *kernel_name(struct codegen *c, const char *suffix) {
    const struct le_stage *stage = c->stage;
    static const char *const kinds[] = {
        [LE_STAGE_MAP] = "map",   [LE_STAGE_SCATTER] = "scatter", [LE_STAGE_FILL] = "fill",
        [LE_STAGE_EACH] = "each", [LE_STAGE_SCAN] = "scan",       [LE_STAGE_CONTRACT] = "product"};
    const char *target = stage->target >= 0 ? c->ir->values.at[stage->target].name : "scalar";
    const char *clean = le_ktree_clean_name(c->arena, le_arena_copy(c->arena, target, strcspn(target, ".")));
    return le_ktree_name(c->tree, le_arena_format(c->arena, "%s_%s%s", clean, kinds[stage->kind], suffix));
}

/* The first line of the statement's text, without backslashes, which would continue the comment. */
static const char *comment_of(struct codegen *c) {
    const char *text = c->ir->statements.at[c->stage->statement].text;
    char *line = le_arena_copy(c->arena, text ? text : "", text ? strcspn(text, "\n") : 0);
    for (char *at = line; *at; at++)
        *at = *at == '\\' || *at == '\r' ? '/' : *at;
    return line;
}

void le_codegen_begin(struct codegen *c, const struct le_device_kernel_job *job, const struct le_stage *stage,
                      const char *suffix) {
    const struct le_kernel *k = &job->kernel;
    *c = (struct codegen){.job = job,
                          .ir = k->ir,
                          .stage = stage,
                          .space = k->space,
                          .layouts = k->layouts,
                          .arena = k->arena,
                          .tree = le_ktree_new(k->arena),
                          .notes = &k->work->notes};
    c->safety = (struct le_safety){.ir = k->ir,
                                   .space = k->space,
                                   .layouts = k->layouts,
                                   .notes = c->notes,
                                   .epoch = ++c->notes->epoch,
                                   .edges_move = true,
                                   .notes_count = true,
                                   .steps_fault = true};
    c->indices = LE_NEW_ARRAY(c->arena, k->ir->indices.count + 1, struct held);
    c->value_names = LE_NEW_ARRAY(c->arena, k->ir->values.count + 1, const char *);
    c->index_names = LE_NEW_ARRAY(c->arena, k->ir->indices.count + 1, const char *);
    c->index_has_variable = LE_NEW_ARRAY(c->arena, k->ir->indices.count + 1, bool);
    c->locals = LE_NEW_ARRAY(c->arena, k->ir->locals.count + 1, struct le_variable *);
    c->root = c->tree->root;
    c->tree->name = kernel_name(c, suffix);
}

/* Drops parameters that the sweep removed. */
static void keep_parameters(struct codegen *c) {
    int kept = 0;
    for (int k = 0; k < c->parameters.count && kept < c->tree->parameters.count; k++)
        if (c->parameters.at[k].variable == c->tree->parameters.at[kept])
            c->parameters.at[kept++] = c->parameters.at[k];
    c->parameters.count = kept;
}

struct le_generated_launch *le_codegen_finish(struct codegen *c, struct le_generated_launches *out) {
    struct words kernel = {0}, unit = {0};
    le_ktree_sweep(c->tree);
    keep_parameters(c);
    c->tree->comment = comment_of(c);
#ifndef NDEBUG /* it takes a twentieth of the time to generate; release builds verify in tests and in le_code_show */
    if (c->status == LEAT_OK)
        c->status = le_ktree_verify(c->tree);
#endif
    le_cuda_print(c->tree, &kernel);
    le_prelude_add(c->arena, &unit, kernel.at);
    le_words_put(c->arena, &unit, kernel.at, kernel.length);
    struct le_generated_launch *launch = LE_PUSH(c->arena, out);
    *launch = (struct le_generated_launch){.kernel = c->tree->name,
                                           .text = unit.at,
                                           .tree = c->tree,
                                           .grid = {1, 1, 1},
                                           .block = {1, 1, 1},
                                           .argument_count = c->parameters.count,
                                           .may_fault = c->may_fault,
                                           .may_note = c->may_note};
    launch->arguments = LE_NEW_ARRAY(c->arena, c->parameters.count + 1, struct le_argument);
    for (int k = 0; k < c->parameters.count; k++)
        launch->arguments[k] = c->parameters.at[k].argument;
    return launch;
}

int le_codegen_block_threads(const struct codegen *c, int64_t threads, int most) {
    while (most > BLOCK_LEAST && threads < (int64_t)c->job->facts->multiprocessors * most)
        most /= 2;
    return most;
}

struct le_generated_launch *le_codegen_launch(struct codegen *c, struct le_generated_launches *out, int64_t blocks,
                                              int threads, int64_t elements, const char *how) {
    struct le_generated_launch *launch = le_codegen_finish(c, out);
    launch->grid[0] = (unsigned)blocks;
    launch->block[0] = (unsigned)threads;
    launch->elements = elements;
    launch->how = how;
    return launch;
}
