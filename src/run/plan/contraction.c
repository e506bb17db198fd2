/* Planning a CONTRACT stage: how far each loop takes us in each operand, who computes it, and how it is cut. */
#include "run/plan/contraction.h"
#include "base/text.h"
#include <limits.h>
#include <string.h>

#define OWN_NAME        "Leat's own kernel"
#define WORK_MIN        16384 /* multiply-adds of a stage that are worth a call */
#define MATRIX_WORK_MIN 4096  /* of one matrix product */
#define VECTOR_WORK_MIN 2048  /* of one matrix times a vector */
#define SHORT_MIN       4     /* rows, columns and terms of a matrix product */
#define TILE            256   /* rows and columns of a tile, about */
#define OWN_TILE_MIN    64    /* of our own kernel's tiles */
#define OWN_TILE_MAX    1024
#define OWN_SIDE_MIN    128    /* of products that it is as good at as a BLAS: columns; of f64 rows, too */
#define TILE_TERMS      512    /* terms that are packed at once */
#define VECTOR_TILE     131072 /* elements of a matrix for one call */
#define VECTOR_ROWS     1024   /* of such a call, at least: the matrix may lie either way */
#define OWN_VECTOR_ROWS 4096   /* of our own kernel's, where rows lie side by side */
#define VECTOR_GRAIN    64     /* rows: a multiple of a vector's elements */
#define TILES_MIN       16     /* below, long sums are cut into parts */
#define PART_TERMS_MIN  2048

/* ---- loops and operands */

struct loops {
    const struct le_specialised *s;
    struct le_arena *arena;
    struct le_contract *c;
};

static bool is_host(const struct loops *l, int index) {
    return l->s->ir->indices.at[index].host;
}

static bool add_host(struct loops *l, struct le_contract_operand *out, int index, int64_t factor) {
    for (int k = 0; k < out->host_count; k++)
        if (out->hosts[k].value == l->s->ir->indices.at[index].host_value) {
            out->hosts[k].factor += factor;
            return true;
        }
    if (out->host_count == LE_HOSTS_MAX)
        return false;
    out->hosts[out->host_count].value = l->s->ir->indices.at[index].host_value;
    out->hosts[out->host_count++].factor = factor;
    return true;
}

/* What an element's place takes of each index: by index, in strides. false: it is no sum of indices, or may lie
 * outside. */
static bool find_place(struct loops *l, int value, struct le_node *const *subscripts, int rank, int stretch,
                       struct le_contract_operand *out, int64_t *strides) {
    const struct le_space *space = &l->s->plan->space;
    const struct le_layout *layout = &l->s->plan->layouts[value];
    const int symbol = l->s->ir->values.at[value].symbol;
    *out = (struct le_contract_operand){.value = value, .offset = layout->offset};
    for (int d = 0; d < rank; d++) {
        struct le_affine f;
        int64_t low, high;
        if (d < stretch && layout->shape[d] == 1)
            continue;
        if (!le_affine(space, subscripts[d], &f) || !le_interval(space, subscripts[d], &low, &high))
            return false;
        if (symbol >= 0 && (low < 0 || high >= layout->shape[d]))
            return false;
        out->offset += f.constant * layout->strides[d];
        for (int k = 0; k < f.count; k++) {
            if (!is_host(l, f.index[k]))
                strides[f.index[k]] += f.factor[k] * layout->strides[d];
            else if (!add_host(l, out, f.index[k], f.factor[k] * layout->strides[d]))
                return false;
        }
    }
    return true;
}

struct strides {
    int64_t *left[LE_TERMS_MAX], *right[LE_TERMS_MAX], *target, *kept; /* by index */
};

static bool find_load(struct loops *l, const struct le_node *load, struct le_contract_operand *out, int64_t **strides) {
    *strides = LE_NEW_ARRAY(l->arena, l->s->ir->indices.count, int64_t);
    return find_place(l, load->value, load->operands, load->operand_count, load->stretch, out, *strides);
}

static bool find_operands(struct loops *l, const struct le_stage *stage, struct strides *out) {
    struct le_contract *c = l->c;
    for (int k = 0; k < c->said.product_count; k++)
        if (!find_load(l, c->said.products[k].left, &c->left[k], &out->left[k]) ||
            !find_load(l, c->said.products[k].right, &c->right[k], &out->right[k]))
            return false;
    if (c->said.kept && !find_load(l, c->said.kept, &c->kept, &out->kept))
        return false;
    out->target = LE_NEW_ARRAY(l->arena, l->s->ir->indices.count, int64_t);
    return find_place(l, stage->target, stage->left, stage->left_count, 0, &c->target, out->target);
}

/* The index's loop, from its low end on. */
static bool add_loop(struct loops *l, const struct strides *strides, struct le_contract_axes *to, int index) {
    const struct le_range *r = &l->s->plan->space.ranges[index];
    struct le_contract_axis axis = {.count = le_range_count(r)};
    struct le_contract *c = l->c;
    if (to->count == (int)ARRAY_LEN(to->at) || !le_mul_i64(to->total, axis.count, &to->total))
        return false;
    for (int k = 0; k < c->said.product_count; k++) {
        axis.left[k] = strides->left[k][index] * r->by;
        axis.right[k] = strides->right[k][index] * r->by;
        c->left[k].offset += strides->left[k][index] * r->low;
        c->right[k].offset += strides->right[k][index] * r->low;
    }
    axis.target = strides->target[index] * r->by;
    c->target.offset += strides->target[index] * r->low;
    if (c->said.kept) {
        axis.kept = strides->kept[index] * r->by;
        c->kept.offset += strides->kept[index] * r->low;
    }
    if (axis.count != 1)
        to->at[to->count++] = axis;
    return true;
}

static bool swap_products(struct le_contraction *said) {
    for (int k = 1; k < said->product_count; k++) {
        const struct le_node *first = said->products[0].left;
        bool same = true, crossed = true;
        for (int q = 0; q < said->products[k].sum->free_count; q++) {
            int index = said->products[k].sum->free[q];
            same &= le_node_depends(first, index) == le_node_depends(said->products[k].left, index);
            crossed &= le_node_depends(first, index) == le_node_depends(said->products[k].right, index);
        }
        if (!same && crossed) {
            struct le_node *left = said->products[k].left;
            said->products[k].left = said->products[k].right;
            said->products[k].right = left;
        } else if (!same) {
            return false;
        }
    }
    return true;
}

/* Sorts an index's loop by who has it: both, left, right. */
static bool find_loops(struct loops *l, const struct le_stage *stage, const struct strides *strides) {
    struct le_contract *c = l->c;
    const struct le_node *left = c->said.products[0].left, *right = c->said.products[0].right;
    const struct le_node *sum = c->said.products[0].sum;
    for (int k = 0; k < stage->index_count; k++) {
        int index = stage->indices[k];
        if (is_host(l, index))
            continue;
        bool in_left = le_node_depends(left, index), in_right = le_node_depends(right, index);
        struct le_contract_axes *to = in_left && in_right ? &c->batch : in_left ? &c->rows : &c->columns;
        if (!add_loop(l, strides, to, index))
            return false;
    }
    for (int k = 0; k < sum->index_count; k++)
        if (!add_loop(l, strides, &c->terms, sum->indices[k]))
            return false;
    return true;
}

/* ---- loops that all walk as one */

static bool follows(const struct le_contract_axis *outer, const struct le_contract_axis *inner) {
    bool one = outer->target == inner->target * inner->count && outer->kept == inner->kept * inner->count;
    for (int k = 0; k < LE_TERMS_MAX; k++)
        one =
            one && outer->left[k] == inner->left[k] * inner->count && outer->right[k] == inner->right[k] * inner->count;
    return one;
}

static int64_t magnitude(int64_t x) {
    return x < 0 ? -x : x;
}

static int64_t order_of(const struct le_contract_axis *axis) {
    return magnitude(axis->target ? axis->target : axis->left[0]);
}

static void merge(struct le_contract_axes *axes) {
    for (int k = 1; k < axes->count; k++)
        for (int q = k; q > 0 && order_of(&axes->at[q - 1]) < order_of(&axes->at[q]); q--) {
            struct le_contract_axis axis = axes->at[q];
            axes->at[q] = axes->at[q - 1];
            axes->at[q - 1] = axis;
        }
    for (int k = axes->count - 1; k > 0; k--)
        if (follows(&axes->at[k - 1], &axes->at[k])) {
            int64_t count = axes->at[k - 1].count * axes->at[k].count;
            axes->at[k - 1] = axes->at[k];
            axes->at[k - 1].count = count;
            memmove(&axes->at[k], &axes->at[k + 1], (size_t)(axes->count - k - 1) * sizeof axes->at[0]);
            axes->count--;
        }
}

/* Rows become columns. */
static void transpose(struct le_contract *c) {
    struct le_contract_axes rows = c->rows;
    c->rows = c->columns;
    c->columns = rows;
    for (int k = 0; k < c->said.product_count; k++) {
        struct le_contract_operand left = c->left[k];
        c->left[k] = c->right[k];
        c->right[k] = left;
    }
    struct le_contract_axes *all[] = {&c->batch, &c->rows, &c->columns, &c->terms};
    for (size_t a = 0; a < ARRAY_LEN(all); a++)
        for (int q = 0; q < all[a]->count; q++)
            for (int k = 0; k < LE_TERMS_MAX; k++) {
                int64_t left = all[a]->at[q].left[k];
                all[a]->at[q].left[k] = all[a]->at[q].right[k];
                all[a]->at[q].right[k] = left;
            }
}

/* ---- is it worth it? By the extents and types alone. */

static bool is_worth(const struct le_contract *c) {
    double one = (double)c->rows.total * (double)c->columns.total * (double)c->terms.total;
    double all = one * (double)c->batch.total * c->said.product_count;
    if (!(all >= WORK_MIN) || all > 4e18)
        return false;
    if (c->vector)
        return one >= VECTOR_WORK_MIN && c->rows.total >= SHORT_MIN && c->terms.total >= SHORT_MIN;
    return one >= MATRIX_WORK_MIN && c->rows.total >= SHORT_MIN && c->columns.total >= SHORT_MIN &&
           c->terms.total >= SHORT_MIN;
}

static bool is_static(const struct le_plan *plan, const struct le_stage *stage, const struct le_node *sum) {
    for (int k = 0; k < stage->index_count; k++)
        if (plan->space.ranges[stage->indices[k]].dynamic)
            return false;
    for (int k = 0; k < sum->index_count; k++)
        if (plan->space.ranges[sum->indices[k]].dynamic)
            return false;
    return true;
}

/* ---- how a BLAS reads the operands */

static int64_t stride_of(const struct le_contract_axes *axes, int product, bool left) {
    return axes->count == 0 ? 1 : left ? axes->at[0].left[product] : axes->at[0].right[product];
}

/* A matrix of `rows` by `columns` elements. */
static struct le_contract_view view_of(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
    if (column_stride == 1 || columns == 1) {
        int64_t stride = rows == 1 ? columns : row_stride;
        if (stride >= columns && stride >= 1 && stride <= INT_MAX)
            return (struct le_contract_view){.fits = true, .transposed = LE_BLAS_AS_IS, .stride = (int)stride};
    }
    if (row_stride == 1 || rows == 1) {
        int64_t stride = columns == 1 ? rows : column_stride;
        if (stride >= rows && stride >= 1 && stride <= INT_MAX)
            return (struct le_contract_view){.fits = true, .transposed = LE_BLAS_TRANSPOSED, .stride = (int)stride};
    }
    return (struct le_contract_view){.fits = false};
}

bool le_contract_find_views(struct le_contract *c) {
    bool all = c->rows.count <= 1 && c->columns.count <= 1 && c->terms.count <= 1;
    for (int k = 0; k < c->said.product_count && all; k++) {
        c->left_view[k] =
            view_of(c->rows.total, c->terms.total, stride_of(&c->rows, k, true), stride_of(&c->terms, k, true));
        c->right_view[k] =
            view_of(c->terms.total, c->columns.total, stride_of(&c->terms, k, false), stride_of(&c->columns, k, false));
        all = c->left_view[k].fits && c->right_view[k].fits;
    }
    int64_t stride = c->rows.count ? c->rows.at[0].target : c->columns.total;
    return all && (c->columns.count == 0 || c->columns.at[0].target == 1) && stride >= c->columns.total &&
           stride <= INT_MAX;
}

/* The vector's and the result's strides are free, but positive. */
static bool find_vector_views(struct le_contract *c) {
    bool all = c->rows.count <= 1 && c->terms.count <= 1;
    for (int k = 0; k < c->said.product_count && all; k++) {
        int64_t step = stride_of(&c->terms, k, false);
        c->left_view[k] =
            view_of(c->rows.total, c->terms.total, stride_of(&c->rows, k, true), stride_of(&c->terms, k, true));
        c->right_view[k] = (struct le_contract_view){.fits = step >= 1 && step <= INT_MAX, .stride = (int)step};
        all = c->left_view[k].fits && c->right_view[k].fits;
    }
    int64_t step = c->rows.count ? c->rows.at[0].target : 1;
    return all && step >= 1 && step <= INT_MAX;
}

/* The rows' outer loops are run one by one. */
static void split_rows(struct le_contract *c) {
    while (c->rows.count > 1 && c->batch.count < (int)ARRAY_LEN(c->batch.at)) {
        c->batch.at[c->batch.count++] = c->rows.at[0];
        c->batch.total *= c->rows.at[0].count;
        c->rows.total /= c->rows.at[0].count;
        memmove(&c->rows.at[0], &c->rows.at[1], (size_t)--c->rows.count * sizeof c->rows.at[0]);
    }
}

/* ---- cuts */

static int64_t round_up(int64_t x, int64_t to) {
    return (x + to - 1) / to * to;
}

/* Pieces of about so many, alike in size. */
static int64_t piece(int64_t total, int64_t about, int64_t grain) {
    int64_t pieces = (total + about - 1) / about;
    return round_up((total + pieces - 1) / pieces, grain);
}

static int64_t pieces(int64_t total, int64_t one) {
    return (total + one - 1) / one;
}

static void cut_tiles(struct le_contract *c, int64_t about_rows, int64_t about_columns) {
    int64_t rows = c->vector ? VECTOR_GRAIN : c->blas ? 16 : c->products.rows;
    int64_t columns = c->blas ? 16 : c->products.columns;
    c->tile_rows = piece(c->rows.total, about_rows, rows);
    c->tile_columns = c->vector ? 1 : piece(c->columns.total, about_columns, columns);
    c->row_tiles = pieces(c->rows.total, c->tile_rows);
    c->column_tiles = pieces(c->columns.total, c->tile_columns);
}

/* Of large products a BLAS packs the operands again for each tile, so that few tiles are best, yet all threads are to
 * have some. */
static void cut_for_blas(struct le_contract *c) {
    bool large = (double)c->rows.total * (double)c->columns.total >= 16 * TILE * TILE;
    int64_t side = large ? 2 * TILE : TILE;
    cut_tiles(c, side, c->columns.total >= 8 * TILE && !c->symmetric ? 2 * side : side);
}

/* So do we, but our own bits do not hang on tiles, whose size can hang on the threads. */
static void fit_own(struct le_contract *c, int threads) {
    int64_t side = TILE;
    while (side < OWN_TILE_MAX &&
           c->batch.total * (c->rows.total / side / 2) * (c->columns.total / side / 2) >= 2 * threads)
        side *= 2;
    while (side > OWN_TILE_MIN &&
           c->batch.total * pieces(c->rows.total, side) * pieces(c->columns.total, side) < threads)
        side /= 2;
    if (side != TILE)
        cut_tiles(c, side, side);
}

/* A few rows or columns: tiles are long, yet there are some. */
static void cut_narrow(struct le_contract *c, int64_t least) {
    int64_t longest = c->rows.total > c->columns.total ? c->rows.total : c->columns.total;
    int64_t about = least < TILE / 4 ? 4 * TILE : TILE * TILE / least;
    if (about > longest / 4)
        about = longest / 4 < TILE ? TILE : longest / 4;
    cut_tiles(c, about, c->blas && c->columns.total >= 8 * about ? 2 * about : about);
}

/* Long sums that make few tiles. */
static void cut_terms(struct le_contract *c) {
    int64_t tiles = c->row_tiles * c->column_tiles * c->batch.total;
    int64_t parts = pieces(c->terms.total, c->vector ? PART_TERMS_MIN / 2 : PART_TERMS_MIN);
    int64_t most = c->blas ? TILE_TERMS : c->products.terms;
    if (parts > pieces(TILES_MIN, tiles))
        parts = pieces(TILES_MIN, tiles);
    if (c->said.product_count > 1 || tiles >= TILES_MIN / 2)
        parts = 1;
    c->part_terms = parts > 1 ? round_up(pieces(c->terms.total, parts), TILE_TERMS) : c->terms.total;
    c->parts = pieces(c->terms.total, c->part_terms);
    c->tile_terms = c->part_terms < most ? c->part_terms : most;
}

/* Of a call. Our own kernel takes rows that lie side by side in long lines, others one after the other. */
static int64_t least_vector_rows(const struct le_contract *c) {
    if (c->blas)
        return VECTOR_ROWS;
    return c->left_view[0].transposed == LE_BLAS_AS_IS ? VECTOR_GRAIN : OWN_VECTOR_ROWS;
}

static void cut(struct le_contract *c, int threads) {
    int64_t least = c->rows.total < c->columns.total ? c->rows.total : c->columns.total;
    if (c->vector) {
        int64_t about = VECTOR_TILE / c->terms.total, least_rows = least_vector_rows(c);
        cut_tiles(c, about < least_rows ? least_rows : about, 1);
    } else if (least < TILE) {
        cut_narrow(c, least);
    } else if (c->blas) {
        cut_for_blas(c);
    } else {
        cut_tiles(c, TILE, TILE);
    }
    cut_terms(c);
    if (!c->blas && least >= TILE && c->parts == 1)
        fit_own(c, threads);
}

static size_t bytes(int64_t count, enum le_type type) {
    return (size_t)round_up(count * (int64_t)le_type_size(type), 64);
}

static bool is_scaled(const struct le_contract *c) {
    bool scaled = c->said.kept_scale != NULL;
    for (int k = 0; k < c->said.product_count; k++)
        scaled |= c->said.products[k].scale != NULL;
    return scaled;
}

/* Sums that are the target's elements, in rows. */
static bool is_in_place(const struct le_contract *c) {
    return !c->blas && c->said.product_count == 1 && !c->said.kept && !is_scaled(c) && !c->said.products[0].negative &&
           c->rows.count <= 1 &&
           (c->vector ? c->rows.at[0].target == 1 : c->columns.count == 1 && c->columns.at[0].target == 1);
}

/* The vectors' elements lie side by side. */
static bool is_lined_up(const struct le_contract *c) {
    bool all = true;
    for (int k = 0; k < c->said.product_count; k++)
        all &= c->right_view[k].stride == 1;
    return all;
}

static void measure(struct le_contract *c) {
    if (c->direct && !is_scaled(c)) /* by zero, perhaps, which is not left to a BLAS */
        return;
    int64_t rows = c->blas ? c->tile_rows : round_up(c->tile_rows, c->products.rows);
    int64_t columns = c->blas ? c->tile_columns : round_up(c->tile_columns, c->products.columns);
    c->in_place = is_in_place(c);
    const bool ours = c->vector && !c->blas; /* matrix and vector are read where they lie, if it can be */
    int64_t left = ours ? 0 : rows * c->tile_terms;
    int64_t right = ours ? is_lined_up(c) ? 0 : c->part_terms : columns * c->tile_terms;
    c->left_bytes = bytes(left, c->factor_type) + LE_PANEL_SLACK;
    c->right_bytes = bytes(right, c->factor_type) + LE_PANEL_SLACK;
    c->total_bytes = c->in_place || c->parts > 1 ? 0 : bytes(rows * columns, c->type);
    c->scratch_bytes =
        c->left_bytes + c->right_bytes + c->total_bytes + 3 * bytes(rows + columns + c->tile_terms, LE_I64);
}

/* Both factors are one matrix, and nothing is added: the result is its own transpose. */
static bool is_symmetric(const struct le_contract *c) {
    const struct le_contract_operand *a = &c->left[0], *b = &c->right[0];
    if (c->said.product_count != 1 || c->said.kept || c->vector || c->rows.total != c->columns.total ||
        a->value != b->value || a->offset != b->offset || c->rows.count != 1 || c->columns.count != 1)
        return false;
    for (int k = 0; k < c->terms.count; k++)
        if (c->terms.at[k].left[0] != c->terms.at[k].right[0])
            return false;
    for (int k = 0; k < c->batch.count; k++)
        if (c->batch.at[k].left[0] != c->batch.at[k].right[0])
            return false;
    return c->rows.at[0].left[0] == c->columns.at[0].right[0] && a->host_count == 0 && b->host_count == 0;
}

/* ---- the plan */

static void arrange(struct le_contract *c) {
    merge(&c->batch);
    merge(&c->rows);
    merge(&c->columns);
    merge(&c->terms);
    bool by_rows = c->columns.count && c->columns.at[c->columns.count - 1].target == 1;
    if (c->rows.total == 1 ||
        (c->columns.total > 1 && !by_rows && c->rows.count && c->rows.at[c->rows.count - 1].target == 1))
        transpose(c);
    c->vector = c->columns.total == 1;
}

/* Products that our own kernels are as good at as a BLAS that is not asked for. */
static bool is_ours(const struct le_contract *c) {
    return le_blas_is_fallback() &&
           (c->vector || (c->columns.total >= OWN_SIDE_MIN && (c->type == LE_F32 || c->rows.total >= OWN_SIDE_MIN)));
}

/* Who computes it, and from where; false: the vector machine does. */
static bool choose(struct leat_call *call, struct le_contract *c) {
    bool real = c->type == LE_F32 || c->type == LE_F64;
    if ((c->vector && !real) || c->terms.total > INT_MAX)
        return false;
    if (c->vector)
        split_rows(c);
    if (!is_worth(c))
        return false;
    c->blas = real && !is_ours(c) ? le_blas_find() : NULL;
    if (real && !c->blas && le_blas_missing() && !atomic_exchange(&call->program->ctx->blas_warned, true))
        le_context_warn(call->program->ctx, "LEAT_BLAS: %s; " LE_BLAS_NONE " are used", le_blas_missing());
    bool products = le_products_find(call->program->ctx->simd, c->factor_type, c->type, &c->products);
    bool views = c->vector ? find_vector_views(c) : c->blas && le_contract_find_views(c);
    c->direct = c->blas && views;
    return (views || !c->vector) && (products || c->blas);
}

bool le_contract_analyse(const struct le_specialised *s, const struct le_stage *stage, struct le_arena *arena,
                         struct le_contract *c) {
    struct loops l = {.s = s, .arena = arena, .c = c};
    struct strides strides;
    c->batch.total = c->rows.total = c->columns.total = c->terms.total = 1;
    if (!le_contraction_of(stage->product, &c->said) || !is_static(l.s->plan, stage, c->said.products[0].sum) ||
        !swap_products(&c->said) || !find_operands(&l, stage, &strides) || !find_loops(&l, stage, &strides))
        return false;
    c->factor_type = c->said.factor_type;
    c->type = c->said.products[0].sum->type;
    arrange(c);
    return c->batch.total > 0 && c->rows.total > 0 && c->columns.total > 0 && c->terms.total > 0;
}

static bool plan(struct leat_call *call, const struct le_stage *stage, struct le_arena *arena, struct le_contract *c) {
    if (!le_contract_analyse(call->specialised, stage, arena, c) || !choose(call, c))
        return false;
    c->symmetric = c->direct && is_symmetric(c);
    cut(c, le_pool_threads(call->program->ctx->threads));
    c->symmetric &= c->parts == 1 && c->tile_rows == c->tile_columns;
    measure(c);
    c->operations = 2 * c->said.product_count * c->batch.total * c->rows.total * c->columns.total * c->terms.total;
    return true;
}

const struct le_contract *le_contract_plan(struct leat_call *call, const struct le_stage *stage,
                                           struct le_arena *arena) {
    struct le_plan *p = call->specialised->plan;
    struct le_contract *c = LE_NEW(arena, struct le_contract);
    if (!plan(call, stage, arena, c))
        return NULL;
    if (c->scratch_bytes > p->scratch_bytes)
        p->scratch_bytes = c->scratch_bytes;
    return c;
}

/* ---- for people */

const char *le_contract_cause(const struct le_contract *c) {
    return c->blas ? c->blas->name : OWN_NAME;
}

void le_contract_show(const struct le_contract *c, struct le_text *out) {
    le_text_add(out, "   contraction: %lld x %lld x %lld", (long long)c->rows.total, (long long)c->columns.total,
                (long long)c->terms.total);
    if (c->batch.total > 1)
        le_text_add(out, ", %lld times", (long long)c->batch.total);
    if (c->said.product_count > 1)
        le_text_add(out, ", %d products", c->said.product_count);
    le_text_add(out, "; tiles of %lld x %lld", (long long)c->tile_rows, (long long)c->tile_columns);
    if (c->parts > 1)
        le_text_add(out, " in %lld parts of %lld terms", (long long)c->parts, (long long)c->part_terms);
    le_text_add(out, "%s; %s\n", c->direct || (c->vector && !c->blas) ? "" : ", packed", le_contract_cause(c));
}
