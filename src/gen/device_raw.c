/* For generators that write text still. */
#include "gen/device_gen.h"

const char *le_cuda_name(struct cuda *c, const char *wish) {
    return le_ktree_name(c->tree, wish);
}

void le_cuda_line(struct cuda *c, struct le_block *block, const char *format, ...) {
    struct words line = {0};
    va_list arguments;
    va_start(arguments, format);
    le_words_add_list(c->arena, &line, format, arguments);
    va_end(arguments);
    le_ktree_add(c->tree, block, (struct le_statement){.kind = LE_STATEMENT_RAW, .text = line.at});
}

struct le_block *le_cuda_open(struct cuda *c, struct le_block *parent, const char *head) {
    struct le_block *block = le_ktree_open(c->tree, parent);
    if (head) {
        block->owner = LE_NEW(c->arena, struct le_statement);
        *block->owner = (struct le_statement){.kind = LE_STATEMENT_RAW, .text = head, .body = block};
    }
    return block;
}

struct le_block *le_cuda_unrolled(struct cuda *c, struct le_block *parent, const char *name, int count) {
    const char *loop = "#pragma unroll\nfor (int %s = 0; %s < %d; %s++)";
    const char *head = count == 1 ? "" : le_arena_format(c->arena, loop, name, name, count, name);
    struct le_block *block = le_cuda_open(c, parent, head);
    if (count == 1)
        le_cuda_line(c, block, "const int %s = 0;", name);
    return block;
}

void le_cuda_close(struct cuda *c, struct le_block *block) {
    le_ktree_close(c->tree, block);
}

/* As a primary expression. */
const char *le_cuda_text(struct cuda *c, struct le_expression *x) {
    const char *text = le_cuda_expression(c->tree, x);
    bool atom = x->kind == LE_EXPRESSION_VARIABLE || x->kind == LE_EXPRESSION_CONSTANT ||
                x->kind == LE_EXPRESSION_RAW || x->kind == LE_EXPRESSION_ELEMENT || x->kind == LE_EXPRESSION_CALL ||
                x->kind == LE_EXPRESSION_CAST;
    return atom ? text : le_arena_format(c->arena, "(%s)", text);
}

struct le_expression *le_cuda_raw(struct cuda *c, int type, const char *text) {
    return text ? le_ktree_raw(c->tree, type, text) : NULL;
}

const char *le_cuda_number_text(struct cuda *c, const char *name, int64_t value) {
    return le_cuda_text(c, le_cuda_number(c, name, value));
}

const char *le_cuda_hold_text(struct cuda *c, struct le_block *block, enum le_type type, bool narrow, const char *wish,
                              const char *text) {
    int own = narrow ? LE_KTREE_INT : (int)type;
    return le_cuda_text(c, le_ktree_let(c->tree, block, wish, own, le_cuda_raw(c, own, text)));
}

void le_cuda_know_text(struct cuda *c, struct le_node *node, struct le_block *block, const char *text) {
    le_cuda_know(c, node, block, le_cuda_raw(c, (int)node->type, text));
}

void le_cuda_bind_text(struct cuda *c, struct le_block *block, int index, const char *text, bool narrow) {
    le_cuda_bind(c, block, index, le_cuda_raw(c, narrow ? LE_KTREE_INT : LE_KTREE_LONG, text));
}

struct le_block *le_cuda_place_text(struct cuda *c, const struct destination *to, struct le_block *block,
                                    const char **place) {
    struct le_expression *x;
    struct le_block *inner = le_cuda_place(c, to, block, NULL, &x);
    *place = le_cuda_element_text(c, x);
    return inner;
}

const char *le_cuda_trusted_place_text(struct cuda *c, const struct le_node *load, struct le_block *block) {
    return le_cuda_element_text(c, le_cuda_trusted_place(c, load, block));
}

/* As it lies in memory. */
const char *le_cuda_element_text(struct cuda *c, struct le_expression *x) {
    if (x->kind != LE_EXPRESSION_ELEMENT)
        return le_cuda_text(c, x);
    struct le_expression bytes = *x;
    bytes.type = LE_U8;
    return le_cuda_expression(c->tree, x->type == LE_BOOL ? &bytes : x);
}

const char *le_cuda_from_memory_text(struct cuda *c, const char *x, enum le_type stored, enum le_type type) {
    if (stored == LE_BOOL)
        return le_cuda_cast(c->arena, le_arena_format(c->arena, "(%s != 0)", x), LE_BOOL, type);
    return le_cuda_cast(c->arena, x, stored, type);
}

const char *le_cuda_to_memory_text(struct cuda *c, const char *x, enum le_type type, enum le_type stored) {
    return le_cuda_cast(c->arena, x, type, stored);
}

const char *le_cuda_node_text(struct cuda *c, struct le_node *node, struct le_block *block) {
    return le_cuda_text(c, le_cuda_node(c, node, block, NULL));
}

const char *le_cuda_wide_text(struct cuda *c, struct le_node *node, struct le_block *block) {
    return le_cuda_text(c, le_cuda_wide(c, le_cuda_node(c, node, block, NULL)));
}

/* A variable with that name, for expressions; NULL: none. */
struct le_variable *le_cuda_named(struct cuda *c, const char *name) {
    struct le_variable *v = LE_NEW(c->arena, struct le_variable);
    *v = (struct le_variable){.name = name, .type = LE_BOOL, .id = c->tree->variable_count++};
    return name ? v : NULL;
}
