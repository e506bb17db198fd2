/* Builds the text of a kernel: words, C names, parameters, blocks, and the whole unit. */
#include "gen/device_gen.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- words */

void le_words_put(struct le_arena *arena, struct words *w, const char *bytes, size_t length) {
    if (w->length + length + 1 > w->capacity) {
        size_t capacity = 2 * (w->length + length + 1) + 64;
        char *at = le_arena_alloc(arena, capacity);
        if (w->length)
            memcpy(at, w->at, w->length);
        w->at = at;
        w->capacity = capacity;
    }
    memcpy(w->at + w->length, bytes, length);
    w->length += length;
    w->at[w->length] = 0;
}

static void add_list(struct le_arena *arena, struct words *words, const char *format, va_list arguments) {
    char few[512];
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(few, sizeof few, format, arguments);
    if (length >= 0 && (size_t)length < sizeof few) {
        le_words_put(arena, words, few, (size_t)length);
    } else if (length >= 0) {
        char *many = le_arena_alloc(arena, (size_t)length + 1);
        vsnprintf(many, (size_t)length + 1, format, again);
        le_words_put(arena, words, many, (size_t)length);
    }
    va_end(again);
}

void le_words_add(struct le_arena *arena, struct words *words, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_list(arena, words, format, arguments);
    va_end(arguments);
}

/* ---- names */

/* Words of C++ and CUDA, macros that are there without an include, and the functions that generated code calls by
 * their own names. */
static const char reserved[] =
    " alignas alignof and and_eq asm assert atomicAdd atomicCAS atomicExch atomicMax atomicMin atomicOr auto bitand "
    "bitor blockDim blockIdx bool break case catch char char16_t char32_t char8_t class co_await co_return co_yield "
    "compl concept const const_cast consteval constexpr constinit continue copysign decltype default delete do double "
    "dynamic_cast else enum explicit export extern false float fma fmaf for friend goto gridDim if inline int linux "
    "long mutable namespace new noexcept not not_eq nullptr operator or or_eq printf private protected public register "
    "reinterpret_cast requires return rint rintf short signed sizeof static static_assert static_cast struct "
    "switch template this thread_local threadIdx throw true try typedef typeid typename uint2 uint4 union unix "
    "unsigned using virtual void volatile "
    "warpSize wchar_t while xor xor_eq main i386 NULL INFINITY NAN HUGE_VAL HUGE_VALF action fault ";

static bool is_reserved(const char *name, size_t length) {
    char word[40];
    if (strncmp(name, "le_", 3) == 0 || strncmp(name, "M_", 2) == 0 || strncmp(name, "CUDART_", 7) == 0 ||
        strncmp(name, "LEAT_", 5) == 0 || strstr(name, "__"))
        return true;
    if (length > sizeof word - 3)
        return false;
    snprintf(word, sizeof word, " %s ", name);
    return strstr(reserved, word) || le_op_function(name, length) != LE_OPS ||
           (length > 1 && name[length - 1] == 'f' && le_op_function(name, length - 1) != LE_OPS);
}

/* Letters, digits and single underscores, a letter first. */
static char *cleaned(struct le_arena *arena, const char *wish) {
    char *name = LE_NEW_ARRAY(arena, strlen(wish) + 3, char);
    size_t length = 0;
    if (!isalpha((unsigned char)wish[0]))
        name[length++] = 'v';
    for (; *wish; wish++) {
        char next = isalnum((unsigned char)*wish) && !((unsigned char)*wish & 0x80) ? *wish : '_';
        if (next != '_' || (length > 0 && name[length - 1] != '_'))
            name[length++] = next;
    }
    while (length > 1 && name[length - 1] == '_')
        length--;
    name[length] = 0;
    return name;
}

const char *le_cuda_name(struct cuda *c, const char *wish) {
    const char *base = cleaned(c->arena, wish), *name = base;
    int k = le_names_get(&c->names, base, strlen(base));
    if (k < 0 && is_reserved(base, strlen(base))) {
        name = base = le_arena_format(c->arena, "v_%s", base);
        k = le_names_get(&c->names, base, strlen(base));
    }
    for (; k >= 0; k++) {
        name = le_arena_format(c->arena, "%s_%d", base, k + 1);
        if (le_names_get(&c->names, name, strlen(name)) >= 0)
            continue;
        le_names_put(c->arena, &c->names, base, strlen(base), k + 1);
        break;
    }
    le_names_put(c->arena, &c->names, name, strlen(name), 1);
    return name;
}

static const char *shared_name(struct cuda *c, const char **name, const char *wish) {
    if (!*name)
        *name = le_cuda_name(c, wish);
    return *name;
}

const char *le_cuda_value_name(struct cuda *c, int value) {
    const char *name = c->ir->values.at[value].name; /* "u.2" */
    return shared_name(c, &c->value_names[value], le_arena_copy(c->arena, name, strcspn(name, ".")));
}

const char *le_cuda_index_name(struct cuda *c, int index) {
    return shared_name(c, &c->index_names[index], c->ir->indices.at[index].name);
}

/* ---- parameters */

static const char *add_parameter(struct cuda *c, const struct parameter *p) {
    *LE_PUSH(c->arena, &c->parameters) = *p;
    return p->name;
}

const char *le_cuda_number(struct cuda *c, const char *name, int64_t value) {
    for (int k = 0; k < c->parameters.count; k++)
        if (c->parameters.at[k].wish && strcmp(c->parameters.at[k].wish, name) == 0 &&
            c->parameters.at[k].argument.number == value)
            return c->parameters.at[k].name;
    return add_parameter(c, &(struct parameter){.type = "long long ",
                                                .name = le_cuda_name(c, name),
                                                .wish = name,
                                                .argument = {.kind = LE_ARGUMENT_NUMBER, .number = value}});
}

const char *le_cuda_parameter(struct cuda *c, enum le_argument_kind kind, int value, int64_t number, const char *type,
                              const char *wish) {
    for (int k = 0; k < c->parameters.count; k++) {
        const struct le_argument *a = &c->parameters.at[k].argument;
        if (a->kind == kind && a->value == value && a->number == number)
            return c->parameters.at[k].name;
    }
    return add_parameter(c, &(struct parameter){.type = type,
                                                .name = wish ? le_cuda_name(c, wish) : le_cuda_value_name(c, value),
                                                .argument = {.kind = kind, .value = value, .number = number}});
}

const char *le_cuda_fault(struct cuda *c) {
    for (int k = 0; k < c->parameters.count; k++)
        if (c->parameters.at[k].argument.kind == LE_ARGUMENT_FAULT)
            return c->parameters.at[k].name;
    return add_parameter(c, &(struct parameter){.type = "le_fault_record *",
                                                .name = "fault",
                                                .argument = {.kind = LE_ARGUMENT_FAULT, .value = -1}});
}

const char *le_cuda_and_fails(struct cuda *c) {
    return c->failed ? le_arena_format(c->arena, ", %s = true;", c->failed) : ";";
}

/* ---- blocks */

void le_cuda_line(struct cuda *c, struct block *block, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_list(c->arena, &block->code, format, arguments);
    va_end(arguments);
    le_words_put(c->arena, &block->code, "\n", 1);
}

struct block *le_cuda_open(struct cuda *c, struct block *parent, const char *head) {
    struct block *block = LE_NEW(c->arena, struct block);
    *block = (struct block){.parent = parent, .head = head};
    return block;
}

/* The pragma is of the head, since what the loop does not change may come to stand before it. A loop of one turn is
 * none: each that is unrolled costs the compiler as much as 40 operations. */
struct block *le_cuda_unrolled(struct cuda *c, struct block *parent, const char *name, int count) {
    const char *loop = "#pragma unroll\nfor (int %s = 0; %s < %d; %s++)";
    const char *head = count == 1 ? "" : le_arena_format(c->arena, loop, name, name, count, name);
    struct block *block = le_cuda_open(c, parent, head);
    if (count == 1)
        le_cuda_line(c, block, "const int %s = 0;", name);
    return block;
}

void le_cuda_close(struct cuda *c, struct block *block) {
    struct words *to = &block->parent->code;
    const char *at = block->code.length ? block->code.at : "";
    if (!block->head) {
        le_words_put(c->arena, to, at, strlen(at));
        return;
    }
    le_words_add(c->arena, to, "%s%s{\n", block->head, block->head[0] ? " " : "");
    while (*at) {
        size_t length = strcspn(at, "\n") + 1;
        if (length > 1)
            le_words_put(c->arena, to, "    ", 4);
        le_words_put(c->arena, to, at, length);
        at += length;
    }
    le_words_add(c->arena, to, "}%s\n", block->tail ? block->tail : "");
}

/* ---- the unit */

static const char *kernel_name(struct cuda *c, const char *suffix) {
    const struct le_stage *stage = c->stage;
    static const char *const kinds[] = {
        [LE_STAGE_MAP] = "map",   [LE_STAGE_SCATTER] = "scatter", [LE_STAGE_FILL] = "fill",
        [LE_STAGE_EACH] = "each", [LE_STAGE_SCAN] = "scan",       [LE_STAGE_CONTRACT] = "product"};
    const char *target = stage->target >= 0 ? c->ir->values.at[stage->target].name : "scalar";
    size_t length = strcspn(target, ".");
    const char *clean = cleaned(c->arena, le_arena_copy(c->arena, target, length));
    return le_cuda_name(c, le_arena_format(c->arena, "%s_%s%s", clean, kinds[stage->kind], suffix));
}

void le_cuda_begin(struct cuda *c, const struct le_device_kernel_job *job, const struct le_stage *stage,
                   const char *suffix) {
    const struct le_kernel *k = &job->kernel;
    *c = (struct cuda){.job = job,
                       .ir = k->ir,
                       .stage = stage,
                       .space = k->space,
                       .reach = k->space,
                       .layouts = k->layouts,
                       .arena = k->arena,
                       .notes = &k->work->notes,
                       .epoch = ++k->work->notes.epoch};
    c->indices = LE_NEW_ARRAY(c->arena, k->ir->indices.count + 1, struct held);
    c->value_names = LE_NEW_ARRAY(c->arena, k->ir->values.count + 1, const char *);
    c->index_names = LE_NEW_ARRAY(c->arena, k->ir->indices.count + 1, const char *);
    c->locals = LE_NEW_ARRAY(c->arena, k->ir->locals.count + 1, const char *);
    c->root = le_cuda_open(c, NULL, NULL);
    c->kernel = kernel_name(c, suffix);
}

/* The statement's text: one line, and none that goes on in the next. */
static void add_comment(struct cuda *c, struct words *unit) {
    const char *text = c->ir->statements.at[c->stage->statement].text;
    le_words_add(c->arena, unit, "// ");
    for (; text && *text && *text != '\n'; text++)
        le_words_put(c->arena, unit, *text == '\\' || *text == '\r' ? "/" : text, 1);
    le_words_add(c->arena, unit, "\n");
}

static void add_head(struct cuda *c, struct words *unit) {
    const char *bounds = c->blocks
                             ? le_arena_format(c->arena, "__launch_bounds__(%d, %d) ", c->block_threads, c->blocks)
                         : c->block_threads ? le_arena_format(c->arena, "__launch_bounds__(%d) ", c->block_threads)
                                            : "";
    const char *cluster = c->cluster > 1 ? le_arena_format(c->arena, "__cluster_dims__(%d, 1, 1) ", c->cluster) : "";
    le_words_add(c->arena, unit, "extern \"C\" __global__ void %s%s%s(", cluster, bounds, c->kernel);
    size_t column = 0;
    for (int k = 0; k < c->parameters.count; k++) {
        const struct parameter *p = &c->parameters.at[k];
        size_t length = strlen(p->type) + strlen(p->name) + 2;
        column += length;
        if (column > 80) {
            le_words_add(c->arena, unit, "\n        ");
            column = length;
        }
        le_words_add(c->arena, unit, "%s%s%s", p->type, p->name, k + 1 < c->parameters.count ? ", " : "");
    }
    le_words_add(c->arena, unit, ")");
}

struct le_generated_launch *le_cuda_finish(struct cuda *c, struct le_generated_launches *out) {
    struct words kernel = {0}, unit = {0};
    struct block *outer = le_cuda_open(c, NULL, NULL);
    c->root->parent = outer;
    c->root->head = "";
    le_cuda_close(c, c->root);
    le_cuda_sweep(c, outer->code.at);
    add_comment(c, &kernel);
    add_head(c, &kernel);
    le_words_put(c->arena, &kernel, " ", 1);
    le_words_put(c->arena, &kernel, outer->code.at, strlen(outer->code.at)); /* of which some was swept away */
    le_prelude_add(c->arena, &unit, kernel.at);
    le_words_put(c->arena, &unit, kernel.at, kernel.length);
    struct le_generated_launch *launch = LE_PUSH(c->arena, out);
    *launch = (struct le_generated_launch){.kernel = c->kernel,
                                           .text = unit.at,
                                           .argument_count = c->parameters.count,
                                           .may_fault = c->may_fault,
                                           .may_note = c->may_note};
    launch->arguments = LE_NEW_ARRAY(c->arena, c->parameters.count + 1, struct le_argument);
    for (int k = 0; k < c->parameters.count; k++)
        launch->arguments[k] = c->parameters.at[k].argument;
    return launch;
}
