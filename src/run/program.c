#include "run/program.h"
#include <string.h>

static void add_name(leat_program *p, leat_name_kind kind, const struct le_symbol *s) {
    p->names[kind][p->name_counts[kind]++] = s;
}

/* Lists the symbols by kind. A symbol that is an input and a result is in both lists. */
static void list_names(leat_program *p, const struct le_tree *tree) {
    int input_count, *inputs = le_tree_inputs(&p->arena, tree, &input_count);
    bool *is_result = LE_NEW_ARRAY(&p->arena, tree->symbol_count, bool);
    for (int k = 0; k < p->result_count; k++)
        is_result[p->results[k]] = true;
    for (int kind = 0; kind <= LEAT_NAME_TEMPORARY; kind++)
        p->names[kind] = LE_NEW_ARRAY(&p->arena, tree->symbol_count, const struct le_symbol *);
    for (int k = 0; k < input_count; k++)
        add_name(p, LEAT_NAME_INPUT, tree->symbols[inputs[k]]);
    for (int k = 0; k < p->result_count; k++)
        add_name(p, LEAT_NAME_RESULT, tree->symbols[p->results[k]]);
    for (int id = 0; id < tree->symbol_count; id++) {
        const struct le_symbol *s = tree->symbols[id];
        bool is_named =
            s->name && *s->name && !s->in_block; /* the fill of an edge is not, names in a block end there */
        if (is_named && !s->is_input && !is_result[s->id])
            add_name(p, LEAT_NAME_TEMPORARY, s);
    }
    p->name_counts[LEAT_NAME_INDEX] = (size_t)tree->index_name_count;
}

static const struct le_tree *check_text(leat_program *p) {
    if (setjmp(p->arena.failure)) {
        le_fail_out_of_memory(0);
        return NULL;
    }
    p->text = le_arena_copy(&p->arena, p->text, p->text_bytes);
    p->name = le_arena_copy(&p->arena, p->name, strlen(p->name));
    const struct le_tree *tree = le_check(&p->arena, p->text, p->text_bytes);
    if (tree) {
        p->results = le_tree_results(&p->arena, tree, &p->result_count);
        list_names(p, tree);
    }
    return tree;
}

/* The kind of file that begins with these bytes; NULL: perhaps a program. */
static const char *binary_kind(const char *text, size_t size_bytes) {
    static const struct {
        const char *magic, *kind;
    } kinds[] = {{"\x93NUMPY", "an .npy file"}, {"PK\x03\x04", "an .npz file"}, {"\x89PNG", "a picture"}};
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        if (size_bytes >= strlen(kinds[k].magic) && memcmp(text, kinds[k].magic, strlen(kinds[k].magic)) == 0)
            return kinds[k].kind;
    return memchr(text, '\0', size_bytes) ? "a binary file" : NULL;
}

leat_status le_program_new(leat_context *ctx, const char *text, size_t size_bytes, const char *name,
                           leat_program **program) {
    const char *kind = binary_kind(text, size_bytes);
    if (kind)
        return le_fail(LEAT_PROGRAM, "%s is %s, not a program", name ? name : "the text", kind);
    leat_program *p = le_alloc_zero(1, sizeof *p);
    if (!p)
        return le_fail_out_of_memory(sizeof *p);
    struct le_span span;
    atomic_init(&p->refcount, 1);
    le_arena_init(&p->arena);
    p->text = text;
    p->text_bytes = size_bytes;
    p->name = name ? name : "program";
    le_span_begin(&span, ctx->ledger, LEAT_COST_CHECK, p->name, "");
    le_errors_clear();
    p->tree = check_text(p);
    le_span_end(&span, size_bytes, 0);
    if (!p->tree) {
        leat_status status = le_error_at(0) ? le_error_at(0)->code : LEAT_INTERNAL;
        if (le_error_at(0) && le_error_at(0)->line)
            le_errors_source(name ? name : "program", text, size_bytes);
        le_arena_finish(&p->arena);
        le_free(p);
        return status;
    }
    p->ctx = le_context_retain(ctx);
    *program = p;
    return LEAT_OK;
}

leat_program *le_program_retain(leat_program *program) {
    atomic_fetch_add_explicit(&program->refcount, 1, memory_order_relaxed);
    return program;
}

void le_program_release(leat_program *program) {
    if (!program || atomic_fetch_sub_explicit(&program->refcount, 1, memory_order_acq_rel) != 1)
        return;
    leat_context *ctx = program->ctx;
    le_arena_finish(&program->arena);
    le_free(program);
    le_context_release(ctx);
}

void le_program_source(const leat_program *program) {
    const leat_error *e = le_error_at(0);
    if (e && e->line > 0)
        le_errors_source(program->name, program->text, program->text_bytes);
}

/* ---- names */

static enum le_type known_type(const struct le_symbol *s) {
    enum le_type type = s->declared ? s->declared : s->type;
    return type == LE_NONE ? LE_NONE : le_type_strong(type);
}

bool le_program_name(const leat_program *program, leat_name_kind kind, size_t k, leat_name_info *info) {
    const struct le_tree *tree = program->tree;
    if (k >= program->name_counts[kind])
        return false;
    if (kind == LEAT_NAME_INDEX) {
        *info = (leat_name_info){.name = tree->index_names[k], .line = tree->index_locations[k].line};
        return true;
    }
    const struct le_symbol *s = program->names[kind][k];
    *info = (leat_name_info){.name = s->name,
                             .dtype = (leat_dtype)known_type(s),
                             .rank = s->any_rank || s->any_kind ? -1
                                     : s->is_array              ? s->rank
                                                                : 0,
                             .optional = s->optional || s->update_only,
                             .has_value = true,
                             .line = s->location.line};
    return true;
}

int le_program_symbol(const leat_program *program, leat_name_kind kind, size_t k) {
    return k < program->name_counts[kind] ? program->names[kind][k]->id : -1;
}

bool le_program_is_index(const leat_program *program, const char *name) {
    for (int k = 0; k < program->tree->index_name_count; k++)
        if (!strcmp(program->tree->index_names[k], name))
            return true;
    return false;
}
