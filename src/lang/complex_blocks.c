/* Complex values whose two parts are computed together, by an element's block that returns both: a product (with loops
 * over its indices, because no reduction has two parts), a sum whose terms are costly, a select whose branches call
 * defs, and expressions with reads that one of the parts alone would not perform. */
#include "lang/complex_split.h"

struct block_builder {
    struct le_complex_splitter *c;
    const struct le_tree_node *from;
    enum le_type type; /* of the parts */
    struct step_list steps;
};

static struct block_builder block_builder_for(struct le_complex_splitter *c, const struct le_tree_node *from) {
    return (struct block_builder){.c = c, .from = from, .type = le_type_strong(le_type_part(from->type))};
}

static struct le_maker maker_of(const struct block_builder *b) {
    return (struct le_maker){.arena = b->c->arena, .location = b->from->location, .type = b->type};
}

static struct le_step *add_step(struct block_builder *b, enum le_step_kind kind) {
    struct le_step *step = LE_PUSH(b->c->arena, &b->steps);
    *step = (struct le_step){.kind = kind, .location = b->from->location, .partner = -1};
    return step;
}

static struct le_tree_node *value_of(struct block_builder *b, struct le_symbol *symbol) {
    struct le_tree_node *node = LE_NEW(b->c->arena, struct le_tree_node);
    *node = (struct le_tree_node){
        .kind = LE_TREE_SCALAR, .location = b->from->location, .type = symbol->type, .symbol = symbol};
    return node;
}

static struct le_symbol *add_local(struct block_builder *b, const char *name, struct le_tree_node *value) {
    struct le_symbol *symbol = le_complex_local(b->c, name, b->type);
    struct le_step *step = add_step(b, LE_STEP_NEW);
    step->symbol = symbol;
    step->value = le_make_child(value);
    return symbol;
}

static void assign_local(struct block_builder *b, struct le_symbol *symbol, struct le_tree_node *value) {
    struct le_step *step = add_step(b, LE_STEP_ASSIGN);
    step->symbol = symbol;
    step->value = le_make_child(value);
    step->term = step->update = b->type;
}

/* Computes both parts before it assigns either. */
static void assign_both(struct block_builder *b, struct le_twin to, const char *name, struct le_parts parts) {
    struct le_symbol *next = add_local(b, name, parts.im);
    assign_local(b, to.re, parts.re);
    assign_local(b, to.im, value_of(b, next));
}

static struct le_parts end_block(struct block_builder *b, struct le_parts result) {
    struct le_step *step = add_step(b, LE_STEP_RETURN);
    step->value = le_make_child(result.re);
    step->otherwise = le_make_child(result.im);
    struct le_tree_node *node = LE_NEW(b->c->arena, struct le_tree_node);
    *node = (struct le_tree_node){.kind = LE_TREE_CALL,
                                  .location = b->from->location,
                                  .type = b->type,
                                  .operand = b->type,
                                  .steps = b->steps.at,
                                  .step_count = b->steps.count};
    return le_complex_call_parts(b->c, node);
}

static struct le_parts end_block_with(struct block_builder *b, struct le_twin result) {
    return end_block(b, (struct le_parts){value_of(b, result.re), value_of(b, result.im)});
}

struct le_parts le_complex_sum(struct le_complex_splitter *c, const struct le_tree_node *from, struct le_parts sums) {
    struct block_builder b = block_builder_for(c, from);
    return end_block(&b, sums);
}

/* ---- values that perform all their reads, whichever part is used */

static struct le_parts store_parts(struct block_builder *b, struct le_parts parts) {
    struct le_symbol *re = add_local(b, "part", parts.re), *im = add_local(b, "part", parts.im);
    return (struct le_parts){value_of(b, re), value_of(b, im)};
}

struct le_parts le_complex_with_all_reads(struct le_complex_splitter *c, const struct le_tree_node *from,
                                          struct le_parts parts) {
    struct block_builder b = block_builder_for(c, from);
    b.type = le_type_compute(b.type);
    return end_block(&b, store_parts(&b, parts));
}

struct le_parts le_complex_operands_first(struct le_complex_splitter *c, const struct le_tree_node *from) {
    struct block_builder b = block_builder_for(c, from);
    struct le_parts operands[2] = {{0}};
    for (int k = 0; k < from->child_count; k++)
        operands[k] = store_parts(&b, le_complex_both(c, from->children[k]));
    return end_block(&b, le_complex_operate(c, from, operands[0], operands[1]));
}

/* ---- products */

static void multiply_by_term(struct block_builder *b, struct le_twin to) {
    struct le_maker m = maker_of(b);
    struct le_parts body = le_complex_term(b->c, b->from);
    struct le_symbol *re = add_local(b, "product", body.re), *im = add_local(b, "product", body.im);
    struct le_parts x = {value_of(b, to.re), value_of(b, to.im)}, y = {value_of(b, re), value_of(b, im)};
    assign_both(b, to, "product", le_parts_op(&m, LE_OP_MUL, x, y, NULL));
}

struct le_parts le_complex_product(struct le_complex_splitter *c, const struct le_tree_node *from) {
    int count = from->index_count;
    struct block_builder b = block_builder_for(c, from);
    struct le_maker m = maker_of(&b);
    struct le_index **indices = le_complex_indices(c, from->indices, count);
    struct le_twin product = {.re = add_local(&b, "product", le_make_host_scalar(&m, 1)),
                              .im = add_local(&b, "product", le_make_host_scalar(&m, 0))};
    int first = b.steps.count;
    for (int k = 0; k < count; k++) {
        indices[k]->folds = true;
        add_step(&b, LE_STEP_FOR)->index = indices[k];
    }
    multiply_by_term(&b, product);
    for (int k = count - 1; k >= 0; k--) {
        b.steps.at[first + k].partner = b.steps.count;
        add_step(&b, LE_STEP_END)->partner = first + k;
    }
    return end_block_with(&b, product);
}

/* ---- selects */

struct le_parts le_complex_choice(struct le_complex_splitter *c, const struct le_tree_node *from) {
    struct block_builder b = block_builder_for(c, from);
    struct le_maker m = maker_of(&b);
    struct le_tree_node *condition = le_complex_condition(c, from->children[0]);
    struct le_twin chosen = {.re = add_local(&b, "chosen", le_make_host_scalar(&m, 0)),
                             .im = add_local(&b, "chosen", le_make_host_scalar(&m, 0))};
    int opened = b.steps.count;
    add_step(&b, LE_STEP_IF)->value = le_make_child(condition);
    assign_both(&b, chosen, "chosen", le_complex_both(c, from->children[1]));
    int otherwise = b.steps.count;
    add_step(&b, LE_STEP_ELSE);
    assign_both(&b, chosen, "chosen", le_complex_both(c, from->children[2]));
    int closed = b.steps.count;
    add_step(&b, LE_STEP_END)->partner = otherwise;
    b.steps.at[opened].partner = otherwise;
    b.steps.at[otherwise].partner = closed;
    return end_block_with(&b, chosen);
}
