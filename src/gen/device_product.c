/* Computes a CONTRACT stage's `product` in tiles of the target (device_product.cu). Each thread block computes one tile
 * and walks along the terms with its sums in registers. Indices are sorted by the side that depends on them: rows are
 * the left side's, columns the right side's. The loads compute the addresses, so strides, windows and stretched axes
 * need no special treatment here. For every tile size, an element's products are added in the order of the terms. */
#include "gen/device_product.h"
#include "gen/device_group_reduce.h"
#include "ir/passes/contract.h"

#define SHORT_MIN  32 /* rows and columns: half a tile's */
#define TERMS_MIN  16
#define LONG_TERMS 2048 /* that few tiles leave to kernels which share a sum */
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

static bool add_loop(const struct cuda *c, struct loops *to, int index) {
    const struct le_range *r = le_range_of(c->space, index);
    if (r->dynamic || to->count == POINTS_MAX || !le_mul_i64(to->total, le_range_count(r), &to->total))
        return false;
    to->at[to->count++] = index;
    return to->total > 0 && to->total < EXTENT_MAX;
}

static bool some_depends(const struct le_node *node, const struct loops *loops) {
    for (int k = 0; k < loops->count; k++)
        if (le_node_depends(node, loops->at[k]))
            return true;
    return false;
}

static void swap_sides(struct product_stage *p, int k) {
    struct le_node *left = p->said.products[k].left;
    p->said.products[k].left = p->said.products[k].right;
    p->said.products[k].right = left;
}

static bool find_loops(const struct cuda *c, const struct le_stage *stage, struct product_stage *p) {
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
    if (!some_depends(last, &p->rows) || some_depends(last, &p->columns))
        return;
    struct loops rows = p->rows;
    p->rows = p->columns;
    p->columns = rows;
    for (int k = 0; k < p->said.product_count; k++)
        swap_sides(p, k);
}

/* Every product has the rows on one side and the columns on the other, and reads nothing that may be outside. */
static bool sort_sides(const struct cuda *c, struct product_stage *p) {
    for (int k = 0; k < p->said.product_count; k++) {
        if (some_depends(p->said.products[k].left, &p->columns))
            swap_sides(p, k);
        const struct le_node *left = p->said.products[k].left, *right = p->said.products[k].right;
        if (some_depends(left, &p->columns) || some_depends(right, &p->rows) || !le_cuda_load_is_safe(c, left) ||
            !le_cuda_load_is_safe(c, right) || left->type != p->factor_type || right->type != p->factor_type)
            return false;
    }
    return !p->said.kept || le_cuda_load_is_safe(c, p->said.kept);
}

static int64_t tiles_of(const struct product_stage *p, int side) {
    return (p->rows.total + side - 1) / side * ((p->columns.total + side - 1) / side);
}

/* The larger tile reads less, where there are enough of it for all of the device. */
static bool choose_tile(const struct cuda *c, struct product_stage *p) {
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

static bool find_product(const struct cuda *c, const struct le_stage *stage, struct product_stage *p) {
    *p = (struct product_stage){.side = 0};
    if (stage->kind != LE_STAGE_CONTRACT || stage->left_count == 0 ||
        !le_contraction_of(le_gen_readable(&c->job->kernel, stage->product), &p->said))
        return false;
    p->factor_type = p->said.factor_type;
    if (p->factor_type == LE_BOOL || !find_loops(c, stage, p))
        return false;
    choose_columns(stage, p);
    return sort_sides(c, p) && p->rows.total >= SHORT_MIN && p->columns.total >= SHORT_MIN &&
           p->terms.total >= TERMS_MIN && choose_tile(c, p);
}

/* ---- the kernel */

struct product_names {
    const char *row, *column, *rows, *columns, *terms, *room; /* row, column: the tile's first */
    const char *sums[LE_TERMS_MAX];
};

static const char *extent_text(struct cuda *c, const char *what, int64_t value) {
    return le_arena_format(c->arena, "(int)%s", le_cuda_number(c, what, value));
}

/* The block's tile, and its product of the batch. */
static void emit_place(struct cuda *c, const struct product_stage *p, struct product_names *n) {
    const char *rest = le_cuda_name(c, "rest");
    n->row = le_cuda_name(c, "first_row");
    n->column = le_cuda_name(c, "first_column");
    le_cuda_line(c, c->root,
                 "const int %s = (int)blockIdx.x / %s;\nconst int %s = ((int)blockIdx.x - %s * %s) * %d;\n"
                 "const int %s = %s %% %s * %d;",
                 rest, extent_text(c, "column_tiles", p->column_tiles), n->column, rest,
                 extent_text(c, "column_tiles", p->column_tiles), p->side, n->row, rest,
                 extent_text(c, "row_tiles", p->row_tiles), p->side);
    if (p->batch.count > 0) {
        const char *batch = le_cuda_name(c, "batch");
        le_cuda_line(c, c->root, "const int %s = %s / %s;", batch, rest, extent_text(c, "row_tiles", p->row_tiles));
        le_team_bind(c, c->root, p->batch.at, p->batch.count, batch, true);
    }
    n->rows = extent_text(c, "rows", p->rows.total);
    n->columns = extent_text(c, "columns", p->columns.total);
    n->terms = extent_text(c, "terms", p->terms.total);
}

/* A side's element by line and term; gives the lambda's name. */
static const char *emit_side(struct cuda *c, const struct product_stage *p, const struct product_names *n, bool left,
                             int k) {
    struct le_node *load = left ? p->said.products[k].left : p->said.products[k].right;
    const struct loops *lines = left ? &p->rows : &p->columns;
    const char *name = le_cuda_name(c, left ? "left" : "right"), *line = le_cuda_name(c, "line");
    const char *term = le_cuda_name(c, "term"), *at = le_cuda_name(c, left ? "row" : "column");
    struct block *block = le_cuda_open(c, c->root,
                                       le_arena_format(c->arena, "const auto %s = [&](int %s, int %s) -> %s", name,
                                                       line, term, le_cuda_type(load->type)));
    block->tail = ";";
    le_cuda_line(c, block, "const int %s = %s + %s;\nif (%s >= %s || %s >= %s)\n    return 0;", at,
                 left ? n->row : n->column, line, at, left ? n->rows : n->columns, term, n->terms);
    struct block *inner = le_cuda_open(c, block, NULL);
    le_team_bind(c, inner, lines->at, lines->count, at, true);
    le_team_bind(c, inner, p->terms.at, p->terms.count, term, true);
    le_cuda_line(c, inner, "return %s;", le_cuda_wide(c, le_cuda_node(c, load, inner, NULL)));
    le_cuda_close(c, inner);
    le_cuda_close(c, block);
    return name;
}

/* Whether elements that follow each other in memory are of one line. */
static bool by_terms(const struct cuda *c, const struct product_stage *p, const struct le_node *load, bool left) {
    const struct le_layout *layout = &c->layouts[load->value];
    for (int d = 0; d < load->operand_count; d++)
        if (layout->strides[d] == 1 && layout->shape[d] != 1)
            return some_depends(load->operands[d], &p->terms) &&
                   !some_depends(load->operands[d], left ? &p->rows : &p->columns);
    return false;
}

static void emit_sums(struct cuda *c, const struct product_stage *p, struct product_names *n, int k) {
    const char *left = emit_side(c, p, n, true, k), *right = emit_side(c, p, n, false, k);
    bool left_by_terms = by_terms(c, p, p->said.products[k].left, true);
    bool right_by_terms = by_terms(c, p, p->said.products[k].right, false);
    n->sums[k] = le_cuda_name(c, "sums");
    le_cuda_line(c, c->root, "%s %s[%d][%d];", le_cuda_type(p->said.products[k].sum->type), n->sums[k], p->micro,
                 p->micro);
    le_cuda_line(c, c->root, "le_tile_sums<%d, %d, %d, %s, %s>(%s, %s, %s, %s, %s);", p->side, p->micro, p->depth,
                 left_by_terms ? "true" : "false", right_by_terms ? "true" : "false", n->terms, left, right, n->room,
                 n->sums[k]);
}

/* The statement, for each of the thread's sums that has an element. */
static void emit_end(struct cuda *c, const struct product_stage *p, const struct product_names *n,
                     struct le_node *product) {
    const char *i = le_cuda_name(c, "i"), *j = le_cuda_name(c, "j");
    const char *row = le_cuda_name(c, "row"), *column = le_cuda_name(c, "column");
    int across = p->side / p->micro;
    struct block *outer = le_cuda_unrolled(c, c->root, i, p->micro);
    le_cuda_line(c, outer, "const int %s = %s + le_tile_line<%d, %d>((int)threadIdx.x / %d, %s);", row, n->row, p->side,
                 p->micro, across, i);
    struct block *inner = le_cuda_unrolled(c, outer, j, p->micro);
    le_cuda_line(c, inner, "const int %s = %s + le_tile_line<%d, %d>((int)threadIdx.x %% %d, %s);", column, n->column,
                 p->side, p->micro, across, j);
    struct block *block =
        le_cuda_open(c, inner, le_arena_format(c->arena, "if (%s < %s && %s < %s)", row, n->rows, column, n->columns));
    block->conditional = true;
    le_team_bind(c, block, p->rows.at, p->rows.count, row, true);
    le_team_bind(c, block, p->columns.at, p->columns.count, column, true);
    for (int k = 0; k < p->said.product_count; k++)
        le_cuda_know(c, p->said.products[k].sum, block, le_arena_format(c->arena, "%s[%s][%s]", n->sums[k], i, j));
    le_cuda_store(c, le_cuda_node(c, product, block, NULL), block);
    le_cuda_close_all(c, block);
}

bool le_product_stage(const struct le_device_kernel_job *job, const struct le_stage *stage,
                      struct le_generated_launches *out, leat_status *status) {
    struct cuda c;
    struct product_stage p;
    struct product_names n;
    le_cuda_begin(&c, job, stage, "");
    if (!find_product(&c, stage, &p))
        return false;
    c.block_threads = p.side / p.micro * (p.side / p.micro);
    c.blocks = 2;
    emit_place(&c, &p, &n);
    n.room = le_cuda_name(&c, "room");
    le_cuda_line(&c, c.root, "__shared__ le_tile_room<%s, %d, %d> %s;", le_cuda_type(p.factor_type), p.side, p.depth,
                 n.room);
    for (int k = 0; k < p.said.product_count; k++)
        emit_sums(&c, &p, &n, k);
    emit_end(&c, &p, &n, le_gen_readable(&job->kernel, stage->product));
    struct le_generated_launch *launch = le_cuda_finish(&c, out);
    launch->grid[0] = (unsigned)(p.row_tiles * p.column_tiles * p.batch.total);
    launch->block[0] = (unsigned)c.block_threads;
    launch->grid[1] = launch->grid[2] = launch->block[1] = launch->block[2] = 1;
    launch->elements = p.batch.total * p.rows.total * p.columns.total;
    launch->operations = 2 * launch->elements * p.terms.total * p.said.product_count;
    launch->how = p.side == 128 ? "a block for each 128 x 128 elements" : "a block for each 64 x 64 elements";
    *status = c.status;
    return true;
}
