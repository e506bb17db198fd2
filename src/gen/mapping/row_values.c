/* Computes the values of rows that stay on chip, line by line. Values of long rows may read more than the row, such as
 * a layer norm's gain and bias. These reads come from L2, and two things matter. First, blocks that run side by side
 * would all read the same lines from one part of L2. In every second row each warp therefore begins in the middle of
 * its lines (line ^ turn). This only exchanges the two sides of joins, so the totals keep their bits. Second, a line's
 * reads must not wait for the line before it, so they are issued READ_AHEAD lines earlier, without branches.
 *
 * On an H200 a layer norm of rows of 65,536 thus takes 1.07 of the memory's time, and 1.00 without gain and bias. With
 * a different order for each row it takes 1.076, with one line read ahead 1.13, and with one line and one order for all
 * rows 1.42. Slower variants, written by hand: clusters that stay resident and keep gain and bias (1.11 to 2), two rows
 * at once (1.10), totals sent to the other block without a barrier (1.15), bulk copies (1.07 to 1.09). */
#include "gen/mapping/row.h"

enum { READ_AHEAD = 2 }; /* lines; with 4 there are too few registers */

static void store_line(struct row *r, struct le_block *block, const struct row_line *line, struct le_variable *out) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_node target = le_codegen_target(r->c);
    struct le_block *first = le_ktree_open(t, block);
    le_row_bind_value(r, first, r->t->rest_at, line->at);
    struct le_expression *x[] = {le_ktree_address(t, le_codegen_trusted_place(r->c, &target, first)),
                                 le_ktree_use(t, out)};
    le_do(t, first, LE_CALL_WRITE, &LE_STATIC_NUMBER(r->all.width), x);
    le_ktree_close(t, first);
}

static struct le_variable *declare_out(struct row *r, struct le_block *block) {
    struct le_node target = le_codegen_target(r->c);
    return le_group_array(r->c, block, &target, "out", r->all.width);
}

/* Computes the value at the block's indices into element e of `out`. */
static void make_element(struct row *r, struct le_block *block, struct le_variable *out, struct le_expression *e) {
    struct le_expression *x = le_codegen_node(r->c, r->value, block, NULL);
    le_ktree_set(r->c->tree, block, le_ktree_element(r->c->tree, out, e),
                 le_codegen_to_memory(r->c, x, (enum le_type)out->type));
}

/* Computes a line's elements into `out` without a branch. Returns the bool that says whether they are valid; NULL: they
 * are. */
static struct le_variable *make_line(struct row *r, struct le_block *block, const struct row_line *line,
                                     struct le_variable *out) {
    struct codegen *c = r->c;
    struct le_expression *e;
    struct le_variable *usual =
        r->quick ? le_ktree_declare(c->tree, block, "usual", LE_BOOL, le_ktree_constant(c->tree, LE_BOOL, 1)) : NULL;
    struct le_block *each = le_row_open_elements(r, r->t->group_count, block, line, &e);
    c->quick = usual ? each : NULL;
    c->usual = usual;
    make_element(r, each, out, e);
    c->quick = NULL;
    le_ktree_close(c->tree, each);
    return usual;
}

static void turn_array(struct row *r, struct le_block *block, struct le_variable *array) {
    struct le_expression *x = le_ktree_use(r->c->tree, array);
    le_do(r->c->tree, block, LE_CALL_TURN, NULL, &x);
}

static struct le_block *open_rolled(struct row *r, struct le_block *block, const char *wish, struct le_expression *from,
                                    struct le_expression *below, int step, struct le_expression **number) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_variable *variable = le_ktree_variable(t, wish, LE_KTREE_INT);
    *number = le_ktree_use(t, variable);
    return le_ktree_open_loop(t, block, LE_ROLE_ROLLED, variable, from, below, le_ktree_int(t, step));
}

/* The same, one element at a time and exactly, in short code; skipped if `usual` holds (NULL: never). */
static void make_apart(struct row *r, struct le_block *block, const struct row_line *line, struct le_variable *out,
                       struct le_variable *usual) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *turn;
    struct le_block *each = open_rolled(r, block, "turn", le_ktree_int(t, 0), le_ktree_int(t, r->all.width), 1, &turn);
    each->owner->guard = usual ? le_ktree_not(t, le_ktree_use(t, usual)) : NULL;
    le_row_bind_value(r, each, r->all.indices, le_plus(t, line->at, turn));
    c->rare = each;
    le_row_know(r, r->t->group_count, each, line, le_ktree_int(t, 0));
    make_element(r, each, out, le_ktree_int(t, 0));
    c->rare = NULL;
    turn_array(r, each, out);
    for (int k = 0; k < r->load_count; k++)
        if (line->some[k])
            turn_array(r, each, line->some[k]);
    le_ktree_close(t, each);
}

static void emit_unrolled(struct row *r) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *number, *e;
    struct le_block *lines = le_ktree_open_each(t, c->root, "line", r->shape.lines, &number);
    struct row_line line = le_row_line(r, lines, number);
    struct le_block *inside = le_ktree_open_if(t, lines, le_row_has(r, number));
    le_row_get(r, r->t->group_count, inside, LE_CALL_KEPT_GET, &line);
    if (r->wide) {
        struct le_variable *out = declare_out(r, inside), *usual = make_line(r, inside, &line, out);
        if (usual)
            make_apart(r, inside, &line, out, usual);
        store_line(r, inside, &line, out);
    } else {
        struct le_block *each = le_row_open_elements(r, r->t->group_count, inside, &line, &e);
        le_row_bind_value(r, each, r->t->rest_at, le_plus(t, line.at, e));
        le_codegen_store(c, le_codegen_node(c, r->value, each, NULL), each);
        le_ktree_close(t, each);
    }
    le_ktree_close_to(t, inside, c->root);
}

/* ---- values of lines that are in shared memory, too: READ_AHEAD at a time while there are as many, then the lines in
 * registers, and last those that are left, or not usual, one element at a time */

/* Reads into the slot what the values of a line need besides the row. */
static void read_ahead(struct row *r, struct le_block *block, struct le_expression *slot,
                       struct le_expression *number) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_expression *at = le_row_line(r, block, number).at;
    struct le_block *first = le_ktree_open(t, block);
    le_row_bind(r, first, r->all.indices, at);
    for (int k = 0; k < r->load_count; k++)
        if (r->ahead[k])
            le_group_read(r->c, first, r->loads[k], r->all.width,
                          le_ktree_address(t, le_ktree_element(t, r->ahead[k], slot)));
    le_ktree_close(t, first);
}

void le_row_start_reading(struct row *r) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *slot, *near = le_ktree_int(t, r->shape.near);
    for (int k = 0; k < r->load_count; k++) {
        const struct le_value *v = &c->ir->values.at[r->loads[k]->value];
        if (r->read[r->t->group_count][k] && !r->kept[k])
            r->ahead[k] = le_ktree_array(t, c->root, le_arena_format(c->arena, "%s_ahead", v->name), (int)v->type,
                                         LE_KTREE_LOCAL, READ_AHEAD, r->all.width);
    }
    struct le_expression *far = le_minus(t, r->lines, near);
    struct le_block *some = le_ktree_open_if(t, c->root, le_at_least(t, far, le_ktree_int(t, READ_AHEAD)));
    struct le_block *slots = le_ktree_open_each(t, some, "slot", READ_AHEAD, &slot);
    read_ahead(r, slots, slot, le_plus(t, near, slot));
    le_ktree_close_to(t, slots, c->root);
}

/* Whether values read memory that this row's values may be stored to. Arrays that all rows read are not the target. */
static bool may_read_target(const struct row *r) {
    for (int k = 0; k < r->load_count; k++) {
        bool moves = r->t->points == 1;
        for (int p = 0; p < r->t->points_count; p++)
            moves |= le_node_depends(r->loads[k], r->t->points_at[p]);
        if (r->read[r->t->group_count][k] && !r->kept[k] && moves)
            return true;
    }
    return false;
}

/* Marks the line to be computed again. */
static void set_again(struct row *r, struct le_block *block, struct le_variable *again, struct le_expression *number,
                      struct le_variable *unless) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_expression *none = le_ktree_constant(t, LE_KTREE_UINT, 0), *all = le_ktree_use(t, again);
    struct le_expression *bit = le_ktree_binary(t, LE_OP_SHL, le_ktree_constant(t, LE_KTREE_UINT, 1), number);
    if (unless)
        bit = le_ktree_select(t, le_ktree_use(t, unless), none, bit);
    le_ktree_set(t, block, all, le_ktree_binary(t, LE_OP_OR, all, bit));
}

static void make_rolled_line(struct row *r, struct le_block *block, enum le_library_call get,
                             struct le_expression *number, struct le_expression *slot, struct le_variable *again) {
    struct le_kernel_tree *t = r->c->tree;
    struct row_line line = le_row_line(r, block, number);
    line.slot = slot;
    le_row_get(r, r->t->group_count, block, get, &line);
    struct le_variable *out = declare_out(r, block), *usual = make_line(r, block, &line, out);
    if (usual)
        set_again(r, block, again, number, usual);
    if (!usual || !may_read_target(r)) {
        store_line(r, block, &line, out);
        return;
    }
    struct le_block *counts = le_ktree_open_if(t, block, le_ktree_use(t, usual));
    store_line(r, counts, &line, out); /* else computing it again would read the values stored here */
    le_ktree_close(t, counts);
}

/* Computes the lines in shared memory up to `end`. Reading ahead continues with the lines in registers. */
static void make_far_lines(struct row *r, struct le_block *block, struct le_expression *end,
                           struct le_variable *again) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_expression *near = le_ktree_int(t, r->shape.near), *first, *slot;
    struct le_block *loop = open_rolled(r, block, "first", near, end, READ_AHEAD, &first);
    struct le_block *slots = le_ktree_open_each(t, loop, "slot", READ_AHEAD, &slot);
    struct le_expression *line = le_let(t, slots, "line", le_plus(t, first, slot));
    make_rolled_line(r, slots, LE_CALL_KEPT_GET_FAR, line, slot, again);
    if (r->reads) {
        struct le_expression *next = le_plus(t, line, le_ktree_int(t, READ_AHEAD));
        next = le_ktree_select(t, le_less(t, next, end), next, le_ktree_remainder(t, slot, near));
        read_ahead(r, slots, slot, le_let(t, slots, "next", next));
    }
    le_ktree_close_to(t, slots, block);
}

static void make_near_lines(struct row *r, struct le_block *block, struct le_variable *again) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_expression *line, *ahead = le_ktree_int(t, READ_AHEAD);
    struct le_block *lines = le_ktree_open_each(t, block, "line", r->shape.near, &line);
    struct le_expression *slot = le_let(t, lines, "slot", le_ktree_remainder(t, line, ahead));
    make_rolled_line(r, lines, LE_CALL_KEPT_GET, line, slot, again);
    if (r->reads && r->shape.near > READ_AHEAD) {
        struct le_block *more =
            le_ktree_open_if(t, lines, le_less(t, line, le_ktree_int(t, r->shape.near - READ_AHEAD)));
        read_ahead(r, more, slot, le_plus(t, line, ahead));
        le_ktree_close(t, more);
    }
    le_ktree_close(t, lines);
}

static void make_lines_again(struct row *r, struct le_variable *again) {
    struct le_kernel_tree *t = r->c->tree;
    struct le_expression *bits = le_ktree_use(t, again);
    struct le_block *loop = le_ktree_open_while(t, r->c->root, le_ktree_binary(t, LE_OP_NE, bits, le_ktree_int(t, 0)));
    loop->owner->role = LE_ROLE_ROLLED;
    struct le_expression *number =
        le_let(t, loop, "line", le_ktree_call(t, LE_CALL_LOWEST_BIT, LE_KTREE_INT, NULL, &bits));
    struct row_line line = le_row_line(r, loop, number);
    le_row_get(r, r->t->group_count, loop, LE_CALL_KEPT_GET_ANY, &line);
    struct le_variable *out = declare_out(r, loop);
    make_apart(r, loop, &line, out, NULL);
    store_line(r, loop, &line, out);
    le_ktree_set(t, loop, bits, le_ktree_binary(t, LE_OP_AND, bits, le_minus(t, bits, le_ktree_int(t, 1))));
    le_ktree_close(t, loop);
}

static void emit_rolled(struct row *r) {
    struct codegen *c = r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *line, *ahead = le_ktree_int(t, READ_AHEAD), *none = le_ktree_int(t, 0);
    struct le_expression *far = le_minus(t, r->lines, le_ktree_int(t, r->shape.near));
    struct le_expression *whole = le_minus(t, r->lines, le_ktree_remainder(t, far, ahead));
    struct le_expression *end = le_let(t, c->root, "end", le_ktree_select(t, le_less(t, far, ahead), none, whole));
    struct le_variable *again =
        le_ktree_declare(t, c->root, "again", LE_KTREE_UINT, le_ktree_constant(t, LE_KTREE_UINT, 0));
    struct le_block *rest = open_rolled(r, c->root, "line", end, r->lines, 1, &line);
    set_again(r, rest, again, line, NULL);
    le_ktree_close(t, rest);
    struct le_block *most = le_ktree_open_if(t, c->root, le_greater(t, end, none));
    make_far_lines(r, most, end, again);
    make_near_lines(r, most, again);
    le_ktree_close(t, most);
    make_lines_again(r, again);
}

void le_row_values(struct row *r) {
    if (r->rolled)
        emit_rolled(r);
    else
        emit_unrolled(r);
}
