/* Computes a CONTRACT stage's `product` in tiles of the target (product.cu). Each thread block computes one tile
 * and walks along the terms with its sums in registers. Indices are sorted by the side that depends on them: rows are
 * the left side's, columns the right side's. The loads compute the addresses, so strides, windows and stretched axes
 * need no special treatment here. For every tile size, an element's products are added in the order of the terms. */
#include "gen/mapping/mapping.h"
#include "gen/mapping/group_reduce.h"
#include "ir/passes/contract.h"

#define SHORT_MIN  32 /* least rows and columns: half a tile */
#define TERMS_MIN  16
#define LONG_TERMS 2048 /* terms from which on kernels that share each sum are faster, if there are few tiles */
#define EXTENT_MAX ((int64_t)1 << 30)

struct loops {
    int at[POINTS_MAX];
    int count;
    int64_t total;
};
struct product_stage {
    struct le_contraction said;
    struct loops batch, rows, columns, terms;
    int side, micro, depth;
    int64_t row_tiles, column_tiles;
    enum le_type factor_type;
};

/* ---- what it is */

static bool add_loop(const struct codegen *c, struct loops *to, int index) {
    const struct le_range *r = le_range_of(c->space, index);
    if (r->dynamic || to->count == POINTS_MAX || !le_mul_i64(to->total, le_range_count(r), &to->total))
        return false;
    to->at[to->count++] = index;
    return to->total > 0 && to->total < EXTENT_MAX;
}

static bool depends(const struct le_node *node, const struct loops *loops) {
    return le_node_depends_on_any(node, loops->at, loops->count);
}

static void swap_sides(struct product_stage *p, int k) {
    struct le_node *left = p->said.products[k].left;
    p->said.products[k].left = p->said.products[k].right;
    p->said.products[k].right = left;
}

static bool find_loops(const struct codegen *c, const struct le_stage *stage, struct product_stage *p) {
    const struct le_node *left = p->said.products[0].left, *right = p->said.products[0].right;
    const struct le_node *sum = p->said.products[0].sum;
    p->batch.total = p->rows.total = p->columns.total = p->terms.total = 1;
    for (int k = 0; k < stage->index_count; k++) {
        int index = stage->indices[k];
        bool in_left = le_node_depends(left, index), in_right = le_node_depends(right, index);
        if (!add_loop(c, in_left && in_right ? &p->batch : in_left ? &p->rows : &p->columns, index))
            return false;
    }
    for (int k = 0; k < sum->index_count; k++)
        if (!add_loop(c, &p->terms, sum->indices[k]))
            return false;
    return true;
}

/* The columns are to run along the target's last axis. */
static void choose_columns(const struct le_stage *stage, struct product_stage *p) {
    const struct le_node *last = stage->left[stage->left_count - 1];
    if (!depends(last, &p->rows) || depends(last, &p->columns))
        return;
    struct loops rows = p->rows;
    p->rows = p->columns;
    p->columns = rows;
    for (int k = 0; k < p->said.product_count; k++)
        swap_sides(p, k);
}

/* Every product has the rows on one side and the columns on the other, and reads nothing that may be outside. */
static bool sort_sides(const struct codegen *c, struct product_stage *p) {
    for (int k = 0; k < p->said.product_count; k++) {
        if (depends(p->said.products[k].left, &p->columns))
            swap_sides(p, k);
        const struct le_node *left = p->said.products[k].left, *right = p->said.products[k].right;
        if (depends(left, &p->columns) || depends(right, &p->rows) || !le_load_is_safe(&c->safety, left) ||
            !le_load_is_safe(&c->safety, right) || left->type != p->factor_type || right->type != p->factor_type)
            return false;
    }
    return !p->said.kept || le_load_is_safe(&c->safety, p->said.kept);
}

static int64_t tiles_of(const struct product_stage *p, int side) {
    return (p->rows.total + side - 1) / side * ((p->columns.total + side - 1) / side);
}

/* The larger tile reads less. It is used if there are enough tiles to fill the device. */
static bool choose_tile(const struct codegen *c, struct product_stage *p) {
    const int64_t units = c->job->facts->multiprocessors;
    const size_t factor = le_type_size(p->factor_type), sum = le_type_size(p->said.products[0].sum->type);
    bool large = factor <= 4 && sum <= 4 && p->said.product_count == 1 && tiles_of(p, 128) * p->batch.total >= units;
    p->side = large ? 128 : 64;
    p->micro = large ? 8 : 4;
    p->depth = large || factor > 4 ? 8 : 16;
    p->row_tiles = (p->rows.total + p->side - 1) / p->side;
    p->column_tiles = (p->columns.total + p->side - 1) / p->side;
    int64_t tiles = p->row_tiles * p->column_tiles, blocks;
    return le_mul_i64(tiles, p->batch.total, &blocks) && blocks <= INT32_MAX &&
           (p->terms.total < LONG_TERMS || 4 * blocks >= units);
}

static bool find_product(const struct codegen *c, const struct le_stage *stage, struct product_stage *p) {
    *p = (struct product_stage){.side = 0};
    if (stage->kind != LE_STAGE_CONTRACT || stage->left_count == 0 ||
        !le_contraction_of(le_kernel_readable(&c->job->kernel, stage->product), &p->said))
        return false;
    p->factor_type = p->said.factor_type;
    if (p->factor_type == LE_BOOL || !find_loops(c, stage, p))
        return false;
    choose_columns(stage, p);
    return sort_sides(c, p) && p->rows.total >= SHORT_MIN && p->columns.total >= SHORT_MIN &&
           p->terms.total >= TERMS_MIN && choose_tile(c, p);
}

/* What is known of the stage, for its kernel. */
struct product {
    struct codegen c;
    struct product_stage p;
};

/* ---- the kernel */

/* Expressions of the kernel, all INT. row, column: the first of the tile; rows, columns, terms: extents */
struct product_parts {
    struct le_expression *row, *column, *rows, *columns, *terms;
    struct le_variable *room, *sums[LE_TERMS_MAX];
};

static struct le_expression *extent(struct codegen *c, const char *what, int64_t value) {
    return le_to_int(c->tree, le_codegen_number(c, what, value));
}

/* Computes the tile of the thread block, and binds the batch indices. */
static void emit_place(struct codegen *c, const struct product_stage *p, struct product_parts *n) {
    struct le_kernel_tree *t = c->tree;
    struct le_expression *side = le_ktree_int(t, p->side);
    struct le_expression *block = le_to_int(t, le_ktree_thread(t, LE_BLOCK_X));
    struct le_expression *down = extent(c, "row_tiles", p->row_tiles);
    struct le_expression *across = extent(c, "column_tiles", p->column_tiles);
    struct le_expression *rest = le_let(t, c->root, "rest", le_ktree_quotient(t, block, across));
    n->column = le_let(t, c->root, "first_column", le_times(t, le_minus(t, block, le_times(t, rest, across)), side));
    n->row = le_let(t, c->root, "first_row", le_times(t, le_ktree_remainder(t, rest, down), side));
    if (p->batch.count > 0)
        le_team_bind(c, c->root, p->batch.at, p->batch.count,
                     le_let(t, c->root, "batch", le_ktree_quotient(t, rest, down)), true);
    n->rows = extent(c, "rows", p->rows.total);
    n->columns = extent(c, "columns", p->columns.total);
    n->terms = extent(c, "terms", p->terms.total);
}

/* Makes a function of (line, term) that returns a side's element, or 0 beyond the extents. */
static struct le_expression *emit_side(struct codegen *c, const struct product_stage *p, const struct product_parts *n,
                                       bool left, int k) {
    struct le_kernel_tree *t = c->tree;
    struct le_node *load = left ? p->said.products[k].left : p->said.products[k].right;
    const struct loops *lines = left ? &p->rows : &p->columns;
    struct le_variable *function = le_ktree_variable(t, left ? "left" : "right", (int)load->type);
    struct le_variable *parameters[] = {le_ktree_variable(t, "line", LE_KTREE_INT),
                                        le_ktree_variable(t, "term", LE_KTREE_INT)};
    struct le_block *block = le_ktree_open_function(t, c->root, function, parameters, 2);
    struct le_expression *term = le_ktree_use(t, parameters[1]);
    struct le_expression *at = le_let(t, block, left ? "row" : "column",
                                      le_plus(t, left ? n->row : n->column, le_ktree_use(t, parameters[0])));
    struct le_expression *beyond = le_at_least(t, at, left ? n->rows : n->columns);
    struct le_block *outside =
        le_ktree_open_if(t, block, le_ktree_binary(t, LE_OP_LOR, beyond, le_at_least(t, term, n->terms)));
    le_ktree_close_with(t, outside, le_ktree_constant(t, (int)load->type, 0));
    le_team_bind(c, block, lines->at, lines->count, at, true);
    le_team_bind(c, block, p->terms.at, p->terms.count, term, true);
    le_ktree_close_with(t, block, le_codegen_wide(c, le_codegen_node(c, load, block, NULL)));
    return le_ktree_use(t, function);
}

/* Whether consecutive elements in memory are of one line. */
static bool by_terms(const struct codegen *c, const struct product_stage *p, const struct le_node *load, bool left) {
    const struct le_layout *layout = &c->layouts[load->value];
    for (int d = 0; d < load->operand_count; d++)
        if (layout->strides[d] == 1 && layout->shape[d] != 1)
            return depends(load->operands[d], &p->terms) && !depends(load->operands[d], left ? &p->rows : &p->columns);
    return false;
}

static void emit_sums(struct codegen *c, const struct product_stage *p, struct product_parts *n, int k) {
    struct le_kernel_tree *t = c->tree;
    const struct le_static statics[] = {LE_STATIC_NUMBER(p->side), LE_STATIC_NUMBER(p->micro),
                                        LE_STATIC_NUMBER(p->depth),
                                        LE_STATIC_NUMBER(by_terms(c, p, p->said.products[k].left, true)),
                                        LE_STATIC_NUMBER(by_terms(c, p, p->said.products[k].right, false))};
    struct le_expression *left = emit_side(c, p, n, true, k), *right = emit_side(c, p, n, false, k);
    n->sums[k] =
        le_ktree_array(t, c->root, "sums", (int)p->said.products[k].sum->type, LE_KTREE_LOCAL, p->micro, p->micro);
    struct le_expression *x[] = {n->terms, left, right, le_ktree_use(t, n->room), le_ktree_use(t, n->sums[k])};
    le_do(t, c->root, LE_CALL_TILE_SUMS, statics, x);
}

/* The thread's line number m. thread: its number among the threads of that side */
static struct le_expression *line_of(struct codegen *c, const struct product_stage *p, struct le_expression *thread,
                                     struct le_expression *m) {
    const struct le_static statics[] = {LE_STATIC_NUMBER(p->side), LE_STATIC_NUMBER(p->micro)};
    struct le_expression *x[] = {thread, m};
    return le_ktree_call(c->tree, LE_CALL_TILE_LINE, LE_KTREE_INT, statics, x);
}

/* Computes the statement for each of the thread's sums that is inside the target. */
static void emit_end(struct codegen *c, const struct product_stage *p, const struct product_parts *n,
                     struct le_node *product) {
    struct le_kernel_tree *t = c->tree;
    struct le_expression *i, *j;
    struct le_expression *thread = le_to_int(t, le_ktree_thread(t, LE_THREAD_X));
    struct le_expression *across = le_ktree_int(t, p->side / p->micro);
    struct le_block *outer = le_ktree_open_each(t, c->root, "i", p->micro, &i);
    struct le_expression *row =
        le_let(t, outer, "row", le_plus(t, n->row, line_of(c, p, le_ktree_quotient(t, thread, across), i)));
    struct le_block *inner = le_ktree_open_each(t, outer, "j", p->micro, &j);
    struct le_expression *column =
        le_let(t, inner, "column", le_plus(t, n->column, line_of(c, p, le_ktree_remainder(t, thread, across), j)));
    struct le_block *block =
        le_codegen_open_branch(c, inner, le_both(t, le_less(t, row, n->rows), le_less(t, column, n->columns)));
    le_team_bind(c, block, p->rows.at, p->rows.count, row, true);
    le_team_bind(c, block, p->columns.at, p->columns.count, column, true);
    for (int k = 0; k < p->said.product_count; k++)
        le_codegen_know(c, p->said.products[k].sum, block, le_ktree_element2(t, n->sums[k], i, j));
    le_codegen_store(c, le_codegen_node(c, product, block, NULL), block);
    le_codegen_close_all(c, block);
}

static leat_status make_product(const struct le_mapping *mapping, void *found, struct le_generated_launches *out) {
    struct product *own = found;
    struct codegen *c = &own->c;
    const struct product_stage *p = &own->p;
    struct product_parts n;
    (void)mapping;
    c->tree->threads = p->side / p->micro * (p->side / p->micro);
    c->tree->resident = 2;
    emit_place(c, p, &n);
    const struct le_static statics[] = {LE_STATIC_TYPE((int)p->factor_type), LE_STATIC_NUMBER(p->side),
                                        LE_STATIC_NUMBER(p->depth)};
    n.room = le_ktree_object(c->tree, c->root, "room", LE_KTREE_SHARED, 0,
                             le_ktree_call(c->tree, LE_CALL_TILE_ROOM, LE_KTREE_VOID, statics, NULL));
    for (int k = 0; k < p->said.product_count; k++)
        emit_sums(c, p, &n, k);
    emit_end(c, p, &n, le_kernel_readable(&c->job->kernel, c->stage->product));
    int64_t blocks = p->row_tiles * p->column_tiles * p->batch.total;
    struct le_generated_launch *launch =
        le_codegen_launch(c, out, blocks, c->tree->threads, p->batch.total * p->rows.total * p->columns.total,
                          p->side == 128 ? "a block for each 128 x 128 elements" : "a block for each 64 x 64 elements");
    launch->operations = 2 * launch->elements * p->terms.total * p->said.product_count;
    return c->status;
}

/* If it fits, no other mapping may be chosen: its sums are in the order of the terms, as a library's are. */
void le_propose_product(struct le_mapping_search *search) {
    const struct le_stage *stage = search->stage;
    struct product *own = LE_NEW(search->job->kernel.arena, struct product);
    le_codegen_begin(&own->c, search->job, stage, "");
    if (!find_product(&own->c, stage, &own->p))
        return;
    const struct product_stage *p = &own->p;
    struct le_mapping *m = le_mapping_add(search, LE_MAPPING_PRODUCT, make_product, own);
    le_mapping_set(m, "tile", p->side, p->side, p->side, false);
    double blocks = (double)(p->row_tiles * p->column_tiles * p->batch.total);
    double terms = (double)p->terms.total * p->said.product_count, side = p->side,
           size = (double)le_type_size(p->factor_type);
    struct le_cost cost = {.bytes = 2 * blocks * side * terms * size + le_cost_target_bytes(search->job, stage, -1),
                           .operations = 2 * blocks * side * side * terms,
                           .threads = blocks * (side / p->micro) * (side / p->micro),
                           .bytes_in_flight = 2 * p->micro * size,
                           .launches = 1};
    m->seconds = le_cost_seconds(search->job->facts, &cost);
}
