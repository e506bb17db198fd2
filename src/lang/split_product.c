/* Products of complex numbers: no reduction keeps two parts, so each is a block of an element's, with loops over the
 * indices, that multiplies both and returns one of them. */
#include "lang/split.h"

struct product {
    struct le_splitter *c;
    const struct le_tree_node *from;
    enum le_type type; /* of the parts */
    struct list steps;
};

static struct le_step *add_step(struct product *p, enum le_step_kind kind) {
    struct le_step *step = LE_PUSH(p->c->arena, &p->steps);
    *step = (struct le_step){.kind = kind, .place = p->from->place, .partner = -1};
    return step;
}

static struct le_tree_node *value_of(struct product *p, struct le_symbol *symbol) {
    struct le_tree_node *node = LE_NEW(p->c->arena, struct le_tree_node);
    *node =
        (struct le_tree_node){.kind = LE_TREE_SCALAR, .place = p->from->place, .type = symbol->type, .symbol = symbol};
    return node;
}

static struct le_symbol *add_local(struct product *p, struct le_tree_node *value) {
    struct le_symbol *symbol = le_split_local(p->c, "product", p->type);
    struct le_step *step = add_step(p, LE_STEP_NEW);
    step->symbol = symbol;
    step->value = le_make_child(value);
    return symbol;
}

static void assign(struct product *p, struct le_symbol *symbol, struct le_tree_node *value) {
    struct le_step *step = add_step(p, LE_STEP_ASSIGN);
    step->symbol = symbol;
    step->value = le_make_child(value);
    step->term = step->update = p->type;
}

static void multiply(struct product *p, struct le_maker *m, struct le_symbol *re, struct le_symbol *im) {
    struct le_parts body = le_split_both(p->c, p->from->children[0]);
    struct le_symbol *re2 = add_local(p, body.re), *im2 = add_local(p, body.im);
    struct le_parts a = {value_of(p, re), value_of(p, im)}, b = {value_of(p, re2), value_of(p, im2)};
    struct le_parts both = le_parts_op(m, LE_OP_MUL, a, b, NULL);
    struct le_symbol *next = add_local(p, both.re);
    assign(p, im, both.im);
    assign(p, re, value_of(p, next));
}

static struct le_tree_node *call_of(const struct product *p) {
    struct le_tree_node *node = LE_NEW(p->c->arena, struct le_tree_node);
    *node = (struct le_tree_node){.kind = LE_TREE_CALL,
                                  .place = p->from->place,
                                  .type = p->type,
                                  .operand = p->type,
                                  .steps = p->steps.at,
                                  .step_count = p->steps.count};
    return node;
}

struct le_tree_node *le_split_product(struct le_splitter *c, const struct le_tree_node *from, bool imaginary) {
    int count = from->index_count;
    struct product p = {.c = c, .from = from, .type = le_type_strong(le_type_part(from->type))};
    struct le_maker m = {.arena = c->arena, .place = from->place, .type = p.type};
    struct le_index **indices = le_split_indices(c, from->indices, count);
    struct le_symbol *re = add_local(&p, le_make_number(&m, 1)), *im = add_local(&p, le_make_number(&m, 0));
    int first = p.steps.count;
    for (int k = 0; k < count; k++) {
        indices[k]->folds = true;
        add_step(&p, LE_STEP_FOR)->index = indices[k];
    }
    multiply(&p, &m, re, im);
    for (int k = count - 1; k >= 0; k--) {
        p.steps.at[first + k].partner = p.steps.count;
        add_step(&p, LE_STEP_END)->partner = first + k;
    }
    add_step(&p, LE_STEP_RETURN)->value = le_make_child(value_of(&p, imaginary ? im : re));
    return call_of(&p);
}
