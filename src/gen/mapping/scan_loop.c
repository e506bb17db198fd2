/* Scans by one thread along each row, which need not be counted before the kernel starts. Each iteration of the loop
 * adds the term that distinguishes its total from its neighbour's (scan_code.c). */
#include "gen/mapping/scan_group.h"

/* What takes the terms. */
struct state {
    struct codegen *c;
    const struct le_scan *scan;
    const struct le_node *reduction;
    enum le_type type; /* of the terms */
    struct le_expression *so_far, *best;
    bool is_arg, ordered;
};

static void begin_state(struct state *s, struct le_block *block) {
    struct codegen *c = s->c;
    struct le_kernel_tree *t = c->tree;
    const struct le_scan *scan = s->scan;
    int type = (int)s->type;
    if (s->ordered) {
        const struct le_static statics[] = {LE_STATIC_TYPE(type), LE_STATIC_NUMBER(s->reduction->code == LE_RED_PROD)};
        bool has_head = scan->head.low < scan->head.high;
        struct le_expression *start = has_head ? le_codegen_node(c, scan->reduction, block, NULL) : NULL;
        struct le_variable *state = le_ktree_declare(t, block, "so_far", type, start);
        state->object = le_ktree_call(t, LE_CALL_SCAN, LE_KTREE_VOID, statics, NULL);
        s->so_far = le_ktree_use(t, state);
    } else if (s->is_arg) {
        struct le_expression *nowhere = le_ktree_call(t, LE_CALL_NOWHERE, LE_NONE, NULL, NULL);
        s->best = le_ktree_use(t, le_ktree_declare(t, block, "best", type, le_ktree_constant(t, type, 0)));
        s->so_far = le_ktree_use(t, le_ktree_declare(t, block, "so_far", LE_I64, nowhere));
    } else {
        struct le_expression *empty = le_codegen_empty(c, (enum le_reduction)s->reduction->code, s->type);
        s->so_far = le_ktree_use(t, le_ktree_declare(t, block, "so_far", type, empty));
    }
}

/* Gives the total with one more term. */
static struct le_expression *take_term(struct state *s, struct le_block *block, struct le_node *term,
                                       struct le_node *at) {
    struct codegen *c = s->c;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *x = le_codegen_wide(c, le_codegen_node(c, term, block, NULL));
    enum le_reduction code = (enum le_reduction)s->reduction->code;
    int type = (int)s->type;
    if (s->ordered) {
        struct le_expression *operands[] = {s->so_far, x};
        return le_let(t, block, "total", le_ktree_call(t, LE_CALL_SCAN_NEXT, type, NULL, operands));
    }
    if (s->is_arg) {
        bool back = s->scan->suffix;
        enum le_library_call call = code == LE_RED_ARGMIN ? (back ? LE_CALL_IS_LOWER_BACK : LE_CALL_IS_LOWER)
                                                          : (back ? LE_CALL_IS_HIGHER_BACK : LE_CALL_IS_HIGHER);
        struct le_expression *index = le_codegen_wide(c, le_codegen_node(c, at, block, NULL));
        struct le_expression *operands[] = {s->so_far, s->best, x};
        struct le_block *better =
            le_ktree_open_if(t, block, le_ktree_call(t, call, LE_BOOL, &LE_STATIC_TYPE(type), operands));
        le_ktree_set(t, better, s->best, x);
        le_ktree_set(t, better, s->so_far, index);
        le_ktree_close(t, better);
        return s->so_far;
    }
    le_ktree_set(t, block, s->so_far, le_codegen_fold(c, code, s->type, s->so_far, x));
    if (!le_type_is_float(s->type))
        return s->so_far;
    return le_ktree_call(t, LE_CALL_CANONICAL, type, &LE_STATIC_TYPE(type), &s->so_far);
}

/* The terms before the first element's own, which a float's total has as one number. */
static void take_head(struct state *s, struct le_block *block) {
    const struct le_scan *scan = s->scan;
    if (s->ordered || scan->head.low >= scan->head.high)
        return;
    struct le_block *inner = le_codegen_run(s->c, block, scan->scanned, scan->suffix);
    take_term(s, inner, scan->reduction->operands[0], le_node_index(s->c->ir, scan->scanned));
    le_ktree_close(s->c->tree, inner);
}

leat_status le_scan_make_loop(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    const struct scan_stage *own = found;
    const struct le_scan *scan = own->scan;
    struct codegen c;
    int64_t threads;
    (void)m;
    le_codegen_begin(&c, own->job, own->stage, "");
    struct state s = {.c = &c, .scan = scan, .reduction = scan->reduction, .type = scan->reduction->operands[0]->type};
    s.is_arg = le_node_is_arg(s.reduction);
    s.ordered = le_node_is_ordered(s.reduction);
    struct le_block *block = le_codegen_points(&c, false, &threads);
    begin_state(&s, block);
    take_head(&s, block);
    struct le_block *inner = le_codegen_run(&c, block, scan->index, scan->down);
    le_codegen_store(&c, take_term(&s, inner, scan->term, scan->own), inner);
    le_ktree_close(c.tree, inner);
    le_codegen_close_all(&c, block);
    struct le_generated_launch *launch = le_codegen_finish(&c, out);
    launch->how = "a thread for each row";
    leat_status status = le_codegen_set_grid(&c, launch, threads);
    launch->elements = threads * le_range_count(&scan->turns);
    launch->operations = launch->elements * (scan->term->cost + 1);
    return status;
}
