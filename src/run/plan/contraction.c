/* Plans a CONTRACT stage: the strides of each loop in each operand, what computes the stage, and how it is cut. */
#include "run/plan/contraction.h"
#include "base/text.h"
#include <limits.h>
#include <string.h>

#define OWN_NAME        "Leat's own kernel"
#define WORK_MIN        16384 /* multiply-adds: smaller stages are not worth a call */
#define MATRIX_WORK_MIN 4096  /* the same, of one matrix product */
#define VECTOR_WORK_MIN 2048  /* the same, of one matrix times a vector */
#define SHORT_MIN       4     /* least rows, columns and terms of a matrix product */
#define TILE            256   /* approximate rows and columns of a tile */
#define OWN_TILE_MIN    64    /* rows and columns of our own kernel's tiles */
#define OWN_TILE_MAX    1024
#define OWN_SIDE_MIN    128    /* least columns, for f64 also rows, at which our own kernel is as fast as a BLAS */
#define TILE_TERMS      512    /* terms packed at once */
#define VECTOR_TILE     131072 /* matrix elements for one call */
#define VECTOR_ROWS     1024   /* least rows of such a call: the matrix may be stored either way */
#define OWN_VECTOR_ROWS 4096   /* the same for our own kernel, if the matrix is stored by columns */
#define VECTOR_GRAIN    64     /* rows: a multiple of a vector's elements */
#define TILES_MIN       16     /* with fewer tiles, long sums are cut into parts */
#define PART_TERMS_MIN  2048

/* ---- is a call worth it? Decided by extents and types only. */

static bool may_be_worth(const struct le_contract *c) {
    double one = (double)c->rows.total * (double)c->columns.total * (double)c->terms.total;
    double all = one * (double)c->batch.total * c->form.product_count;
    return all >= WORK_MIN && all <= 4e18;
}

static bool is_worth(const struct le_contract *c) {
    double one = (double)c->rows.total * (double)c->columns.total * (double)c->terms.total;
    if (!may_be_worth(c))
        return false;
    if (c->vector)
        return one >= VECTOR_WORK_MIN && c->rows.total >= SHORT_MIN && c->terms.total >= SHORT_MIN;
    return one >= MATRIX_WORK_MIN && c->rows.total >= SHORT_MIN && c->columns.total >= SHORT_MIN &&
           c->terms.total >= SHORT_MIN;
}

/* ---- operands as BLAS arguments */

static int64_t stride_of(const struct le_contract_axes *axes, int product, bool left) {
    return axes->count == 0 ? 1 : left ? axes->at[0].left[product] : axes->at[0].right[product];
}

/* A matrix of `rows` by `columns` elements with these strides. */
struct le_contract_view le_contract_view_of(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
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
    for (int k = 0; k < c->form.product_count && all; k++) {
        c->left_view[k] = le_contract_view_of(c->rows.total, c->terms.total, stride_of(&c->rows, k, true),
                                              stride_of(&c->terms, k, true));
        c->right_view[k] = le_contract_view_of(c->terms.total, c->columns.total, stride_of(&c->terms, k, false),
                                               stride_of(&c->columns, k, false));
        all = c->left_view[k].fits && c->right_view[k].fits;
    }
    int64_t stride = c->rows.count ? c->rows.at[0].target : c->columns.total;
    return all && (c->columns.count == 0 || c->columns.at[0].target == 1) && stride >= c->columns.total &&
           stride <= INT_MAX;
}

/* The vector and the result may have any positive strides. */
static bool find_vector_views(struct le_contract *c) {
    bool all = c->rows.count <= 1 && c->terms.count <= 1;
    for (int k = 0; k < c->form.product_count && all; k++) {
        int64_t step = stride_of(&c->terms, k, false);
        c->left_view[k] = le_contract_view_of(c->rows.total, c->terms.total, stride_of(&c->rows, k, true),
                                              stride_of(&c->terms, k, true));
        c->right_view[k] = (struct le_contract_view){.fits = step >= 1 && step <= INT_MAX, .stride = (int)step};
        all = c->left_view[k].fits && c->right_view[k].fits;
    }
    int64_t step = c->rows.count ? c->rows.at[0].target : 1;
    return all && step >= 1 && step <= INT_MAX;
}

/* Moves all but the innermost loop of the rows to the batch. */
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

/* The size of equal pieces, each about `about` large and a multiple of `grain`. */
static int64_t piece_size(int64_t total, int64_t about, int64_t grain) {
    int64_t pieces = (total + about - 1) / about;
    return round_up((total + pieces - 1) / pieces, grain);
}

static int64_t piece_count(int64_t total, int64_t one) {
    return (total + one - 1) / one;
}

static void cut_tiles(struct le_contract *c, int64_t about_rows, int64_t about_columns) {
    int64_t rows = c->vector ? VECTOR_GRAIN : c->blas ? 16 : c->products.rows;
    int64_t columns = c->blas ? 16 : c->products.columns;
    c->tile_rows = piece_size(c->rows.total, about_rows, rows);
    c->tile_columns = c->vector ? 1 : piece_size(c->columns.total, about_columns, columns);
    c->row_tiles = piece_count(c->rows.total, c->tile_rows);
    c->column_tiles = piece_count(c->columns.total, c->tile_columns);
}

/* A BLAS packs the operands of large products again for each tile, so few tiles are best, but each thread should get
 * some. */
static void cut_for_blas(struct le_contract *c) {
    bool large = (double)c->rows.total * (double)c->columns.total >= 16 * TILE * TILE;
    int64_t side = large ? 2 * TILE : TILE;
    cut_tiles(c, side, c->columns.total >= 8 * TILE && !c->symmetric ? 2 * side : side);
}

/* Our own kernel packs again, too. But its bits do not depend on the tiles, so their size may depend on the number of
 * threads. */
static void fit_own(struct le_contract *c, int threads) {
    int64_t side = TILE;
    while (side < OWN_TILE_MAX &&
           c->batch.total * (c->rows.total / side / 2) * (c->columns.total / side / 2) >= 2 * threads)
        side *= 2;
    while (side > OWN_TILE_MIN &&
           c->batch.total * piece_count(c->rows.total, side) * piece_count(c->columns.total, side) < threads)
        side /= 2;
    if (side != TILE)
        cut_tiles(c, side, side);
}

/* Few rows or columns: long tiles, but several of them. */
static void cut_narrow(struct le_contract *c, int64_t least) {
    int64_t longest = c->rows.total > c->columns.total ? c->rows.total : c->columns.total;
    int64_t about = least < TILE / 4 ? 4 * TILE : TILE * TILE / least;
    if (about > longest / 4)
        about = longest / 4 < TILE ? TILE : longest / 4;
    cut_tiles(c, about, c->blas && c->columns.total >= 8 * about ? 2 * about : about);
}

/* Cuts long sums into parts if there are few tiles. */
static void cut_terms(struct le_contract *c) {
    int64_t tiles = c->row_tiles * c->column_tiles * c->batch.total;
    int64_t parts = piece_count(c->terms.total, c->vector ? PART_TERMS_MIN / 2 : PART_TERMS_MIN);
    int64_t most = c->blas ? TILE_TERMS : c->products.terms;
    if (parts > piece_count(TILES_MIN, tiles))
        parts = piece_count(TILES_MIN, tiles);
    if (c->form.product_count > 1 || tiles >= TILES_MIN / 2)
        parts = 1;
    c->part_terms = parts > 1 ? round_up(piece_count(c->terms.total, parts), TILE_TERMS) : c->terms.total;
    c->parts = piece_count(c->terms.total, c->part_terms);
    c->tile_terms = c->part_terms < most ? c->part_terms : most;
}

/* The least rows of a call. Our own kernel handles a matrix stored by columns in long vectors of rows, and one stored
 * by rows a row at a time. */
static int64_t least_vector_rows(const struct le_contract *c) {
    if (c->blas)
        return VECTOR_ROWS;
    return c->left_view[0].transposed == LE_BLAS_AS_IS ? VECTOR_GRAIN : OWN_VECTOR_ROWS;
}

static void cut_loops(struct le_contract *c, int threads) {
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

static size_t padded_bytes(int64_t count, enum le_type type) {
    return (size_t)round_up(count * (int64_t)le_type_size(type), 64);
}

static bool is_scaled(const struct le_contract *c) {
    bool scaled = c->form.kept_scale != NULL;
    for (int k = 0; k < c->form.product_count; k++)
        scaled |= c->form.products[k].scale != NULL;
    return scaled;
}

/* Whether the sums are the target's elements themselves, stored in rows. */
static bool is_in_place(const struct le_contract *c) {
    return !c->blas && c->form.product_count == 1 && !c->form.kept && !is_scaled(c) && !c->form.products[0].negative &&
           c->rows.count <= 1 &&
           (c->vector ? c->rows.at[0].target == 1 : c->columns.count == 1 && c->columns.at[0].target == 1);
}

/* Whether the vectors' elements are contiguous. */
static bool has_contiguous_vectors(const struct le_contract *c) {
    bool all = true;
    for (int k = 0; k < c->form.product_count; k++)
        all &= c->right_view[k].stride == 1;
    return all;
}

static void find_scratch_sizes(struct le_contract *c) {
    if (c->direct && !is_scaled(c)) /* a factor may be zero, and then no BLAS is used */
        return;
    int64_t rows = c->blas ? c->tile_rows : round_up(c->tile_rows, c->products.rows);
    int64_t columns = c->blas ? c->tile_columns : round_up(c->tile_columns, c->products.columns);
    c->in_place = is_in_place(c);
    const bool ours = c->vector && !c->blas; /* the matrix is read in place, and the vector, too, if it is contiguous */
    int64_t left = ours ? 0 : rows * c->tile_terms;
    int64_t right = ours ? has_contiguous_vectors(c) ? 0 : c->part_terms : columns * c->tile_terms;
    c->left_bytes = padded_bytes(left, c->factor_type) + LE_PANEL_SLACK;
    c->right_bytes = padded_bytes(right, c->factor_type) + LE_PANEL_SLACK;
    c->total_bytes = c->in_place || c->parts > 1 ? 0 : padded_bytes(rows * columns, c->type);
    c->scratch_bytes =
        c->left_bytes + c->right_bytes + c->total_bytes + 3 * padded_bytes(rows + columns + c->tile_terms, LE_I64);
}

/* Whether both factors are the same matrix and nothing is added: the result is its own transpose. */
static bool is_symmetric(const struct le_contract *c) {
    const struct le_contract_operand *a = &c->left[0], *b = &c->right[0];
    if (c->form.product_count != 1 || c->form.kept || c->vector || c->rows.total != c->columns.total ||
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

/* Whether our own kernels are as fast as a BLAS that the user did not ask for. */
static bool is_ours(const struct le_contract *c) {
    return le_blas_is_fallback() &&
           (c->vector || (c->columns.total >= OWN_SIDE_MIN && (c->type == LE_F32 || c->rows.total >= OWN_SIDE_MIN)));
}

/* Chooses what computes the stage, and whether from the operands in place. false: the vector machine computes it. */
static bool choose_backend(struct leat_call *call, struct le_contract *c) {
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

static bool plan_contract(struct leat_call *call, struct le_contract *c) {
    if (!choose_backend(call, c))
        return false;
    c->symmetric = c->direct && is_symmetric(c);
    cut_loops(c, le_pool_threads(call->program->ctx->threads));
    c->symmetric &= c->parts == 1 && c->tile_rows == c->tile_columns;
    find_scratch_sizes(c);
    c->operations = 2 * c->form.product_count * c->batch.total * c->rows.total * c->columns.total * c->terms.total;
    return true;
}

leat_status le_contract_plan(struct leat_call *call, const struct le_stage *stage, struct le_arena *arena,
                             const struct le_contract **out) {
    struct le_plan *p = call->specialised->plan;
    struct le_contract *c = LE_NEW(arena, struct le_contract);
    bool can;
    *out = NULL;
    if (!le_contract_analyse(call->specialised, stage, arena, c) || !may_be_worth(c) ||
        (c->vector && c->array_type != c->factor_type)) /* converting the matrix would take longer than the product */
        return LEAT_OK;
    leat_status status = le_contract_convert_plan(call, stage, arena, c, &can);
    if (status != LEAT_OK || !can || !plan_contract(call, c))
        return status;
    if (c->scratch_bytes > p->scratch_bytes)
        p->scratch_bytes = c->scratch_bytes;
    *out = c;
    return LEAT_OK;
}

/* ---- printing */

const char *le_contract_cause(const struct le_contract *c) {
    return c->blas ? c->blas->name : OWN_NAME;
}

void le_contract_show(const struct le_contract *c, struct le_text *out) {
    le_text_add(out, "   contraction: %lld x %lld x %lld", (long long)c->rows.total, (long long)c->columns.total,
                (long long)c->terms.total);
    if (c->batch.total > 1)
        le_text_add(out, ", %lld times", (long long)c->batch.total);
    if (c->form.product_count > 1)
        le_text_add(out, ", %d products", c->form.product_count);
    le_text_add(out, "; tiles of %lld x %lld", (long long)c->tile_rows, (long long)c->tile_columns);
    if (c->parts > 1)
        le_text_add(out, " in %lld parts of %lld terms", (long long)c->parts, (long long)c->part_terms);
    if (c->conversion_bytes)
        le_text_add(out, ", converted from and to %s", le_type_name(c->array_type));
    le_text_add(out, "%s; %s\n", c->direct || (c->vector && !c->blas) ? "" : ", packed", le_contract_cause(c));
}
