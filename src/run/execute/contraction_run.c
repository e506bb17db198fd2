/* Runs a CONTRACT stage: distributes tiles over the threads.
 *
 * A tile is a range of rows and columns of one product of the batch, and a part of its terms. If a BLAS can work on the
 * operands in place, each product is one call. Otherwise the factors are packed, tile_terms at a time: as small
 * matrices for a BLAS, as panels for our own kernel. Our own kernel also reads a matrix in place if it multiplies it by
 * a vector. The sums of a product are computed in scratch memory, then scaled and added to the old values of the
 * target. Sums that need neither are computed in the target. */
#include "base/memory.h"
#include "device/cpu/blas_room.h"
#include "run/plan/contraction.h"
#include <string.h>

#define TASK_WORK_MIN ((int64_t)1 << 18) /* multiply-adds of a task */
#define JOIN_WORK_MIN 8192               /* additions of a task */

struct job {
    const struct le_contract *c;
    const char *left[LE_TERMS_MAX], *right[LE_TERMS_MAX], *kept; /* first elements; kept NULL: no old values are kept */
    char *target;
    bool kept_in_place, direct;
    double scale[LE_TERMS_MAX], kept_scale;
    char *sums; /* partial sums: [part][batch][row][column]; NULL: there is one part */
    char *scratch;
    size_t scratch_stride;
    int64_t tiles, tiles_of_task;
    struct le_cancel *cancel; /* of the run; or NULL */
};

struct tile {
    const struct job *job;
    int64_t batch, part, row, rows, column, columns, term, terms;
    int64_t left[LE_TERMS_MAX], right[LE_TERMS_MAX], target,
        kept;     /* offsets of the product in the batch, in elements */
    char *totals; /* sums of a product; rows are `stride` elements apart */
    int64_t stride;
    /* scratch memory */
    char *left_pack, *right_pack;
    int64_t *row_offsets, *column_offsets, *term_offsets;
};

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t round_up(int64_t x, int64_t to) {
    return (x + to - 1) / to * to;
}

/* ---- offsets of elements */

static int64_t offset_of(const struct le_contract_axes *axes, enum le_contract_side side, int product, int64_t at) {
    int64_t offset = 0;
    for (int k = axes->count - 1; k >= 0; k--) {
        offset += at % axes->at[k].count * le_contract_stride(&axes->at[k], side, product);
        at /= axes->at[k].count;
    }
    return offset;
}

/* Lists the offsets of iterations first, first + 1, ... */
static void list_offsets(const struct le_contract_axes *axes, enum le_contract_side side, int product, int64_t first,
                         int64_t count, int64_t *out) {
    int64_t stride = axes->count ? le_contract_stride(&axes->at[axes->count - 1], side, product) : 0;
    int64_t length = axes->count ? axes->at[axes->count - 1].count : 1;
    for (int64_t k = 0; k < count;) {
        int64_t run = smaller(count - k, length - (first + k) % length),
                offset = offset_of(axes, side, product, first + k);
        for (int64_t q = 0; q < run; q++)
            out[k + q] = offset + q * stride;
        k += run;
    }
}

static void find_batch(struct tile *t) {
    const struct le_contract *c = t->job->c;
    for (int k = 0; k < c->form.product_count; k++) {
        t->left[k] = offset_of(&c->batch, LE_SIDE_LEFT, k, t->batch);
        t->right[k] = offset_of(&c->batch, LE_SIDE_RIGHT, k, t->batch);
    }
    t->target = offset_of(&c->batch, LE_SIDE_TARGET, 0, t->batch);
    t->kept = offset_of(&c->batch, LE_SIDE_KEPT, 0, t->batch);
}

/* Where the tile's partial sums go. */
static char *part_sums(const struct tile *t) {
    const struct le_contract *c = t->job->c;
    int64_t element = ((t->part * c->batch.total + t->batch) * c->rows.total + t->row) * c->columns.total + t->column;
    return t->job->sums + element * (int64_t)le_type_size(c->type);
}

/* ---- totals into the target */

/* target = scale * total, plus the kept old values or the sum of earlier products. */
#define STORE(name, T)                                                                                                 \
    static void name(T *target, const int64_t *columns, const T *total, int64_t count, double scale, const T *old,     \
                     const int64_t *old_columns, double old_scale) {                                                   \
        if (!old && scale == 1)                                                                                        \
            for (int64_t k = 0; k < count; k++)                                                                        \
                target[columns[k]] = total[k];                                                                         \
        else if (!old)                                                                                                 \
            for (int64_t k = 0; k < count; k++)                                                                        \
                target[columns[k]] = (T)(scale * (double)total[k]);                                                    \
        else                                                                                                           \
            for (int64_t k = 0; k < count; k++)                                                                        \
                target[columns[k]] = (T)(scale * (double)total[k] + old_scale * (double)old[old_columns[k]]);          \
    }
STORE(store_f32, float)
STORE(store_f64, double)

/* Stores the totals of row `row` of the tile. */
static void store_row(const struct tile *t, int product, int64_t row, const int64_t *old_rows) {
    const struct job *j = t->job;
    const int64_t *columns = t->column_offsets, *old_columns = columns;
    const int64_t size = (int64_t)le_type_size(j->c->type);
    const void *total = t->totals + row * t->stride * size;
    char *target = j->target + (t->target + t->row_offsets[row]) * size;
    const char *old = product ? target : NULL;
    double old_scale = 1;
    if (product == 0 && j->kept) {
        old = j->kept + (t->kept + old_rows[row]) * size;
        old_columns = old_rows + t->rows;
        old_scale = j->kept_scale;
    }
    if (j->c->type == LE_F32)
        store_f32((float *)(void *)target, columns, total, t->columns, j->scale[product],
                  (const float *)(const void *)old, old_columns, old_scale);
    else if (j->c->type == LE_F64)
        store_f64((double *)(void *)target, columns, total, t->columns, j->scale[product],
                  (const double *)(const void *)old, old_columns, old_scale);
    else
        for (int64_t k = 0; k < t->columns; k++)
            memcpy(target + columns[k] * 8, (const char *)total + k * 8, 8);
}

static void store_totals(const struct tile *t, int product) {
    const struct le_contract *c = t->job->c;
    list_offsets(&c->rows, LE_SIDE_TARGET, 0, t->row, t->rows, t->row_offsets);
    list_offsets(&c->columns, LE_SIDE_TARGET, 0, t->column, t->columns, t->column_offsets);
    list_offsets(&c->rows, LE_SIDE_KEPT, 0, t->row, t->rows, t->term_offsets);
    list_offsets(&c->columns, LE_SIDE_KEPT, 0, t->column, t->columns, t->term_offsets + t->rows);
    for (int64_t row = 0; row < t->rows; row++)
        store_row(t, product, row, t->term_offsets);
}

/* ---- packing */

/* A BLAS gets the left factor by rows and the right one by terms; our kernel gets panels of both. */
static void pack_factors(struct tile *t, int product, int64_t term, int64_t terms) {
    const struct le_contract *c = t->job->c;
    const int64_t size = (int64_t)le_type_size(c->factor_type);
    const char *left = t->job->left[product] + t->left[product] * size;
    const char *right = t->job->right[product] + t->right[product] * size;
    le_panel_pack *const pack = c->products.pack;
    list_offsets(&c->rows, LE_SIDE_LEFT, product, t->row, t->rows, t->row_offsets);
    list_offsets(&c->terms, LE_SIDE_LEFT, product, term, terms, t->term_offsets);
    if (c->blas)
        pack(t->left_pack, left, t->term_offsets, terms, t->row_offsets, t->rows, terms);
    else
        pack(t->left_pack, left, t->row_offsets, t->rows, t->term_offsets, terms, c->products.rows);
    list_offsets(&c->columns, LE_SIDE_RIGHT, product, t->column, t->columns, t->column_offsets);
    list_offsets(&c->terms, LE_SIDE_RIGHT, product, term, terms, t->term_offsets);
    pack(t->right_pack, right, t->column_offsets, t->columns, t->term_offsets, terms,
         c->blas ? t->columns : c->products.columns);
}

/* ---- products */

struct factor {
    const char *at;
    int transposed, stride;
};

static void call_matrix(const struct le_contract *c, int64_t rows, int64_t columns, int64_t terms, double scale,
                        struct factor a, struct factor b, double kept, char *target, int64_t target_stride) {
    const int m = (int)rows, n = (int)columns, k = (int)terms, stride = (int)target_stride;
    const void *left = a.at, *right = b.at;
    void *out = target;
    le_blas_begin();
    if (c->type == LE_F32)
        c->blas->sgemm(LE_BLAS_ROWS, a.transposed, b.transposed, m, n, k, (float)scale, left, a.stride, right, b.stride,
                       (float)kept, out, stride);
    else
        c->blas->dgemm(LE_BLAS_ROWS, a.transposed, b.transposed, m, n, k, scale, left, a.stride, right, b.stride, kept,
                       out, stride);
    le_blas_end();
}

static void call_vector(const struct le_contract *c, int64_t rows, int64_t terms, double scale, struct factor a,
                        struct factor b, double kept, char *target, int64_t target_stride) {
    const bool as_is = a.transposed == LE_BLAS_AS_IS;
    const int m = (int)(as_is ? rows : terms), n = (int)(as_is ? terms : rows), stride = (int)target_stride;
    const void *left = a.at, *right = b.at;
    void *out = target;
    le_blas_begin();
    if (c->type == LE_F32)
        c->blas->sgemv(LE_BLAS_ROWS, a.transposed, m, n, (float)scale, left, a.stride, right, b.stride, (float)kept,
                       out, stride);
    else
        c->blas->dgemv(LE_BLAS_ROWS, a.transposed, m, n, scale, left, a.stride, right, b.stride, kept, out, stride);
    le_blas_end();
}

/* The product of two panels, of which rows x columns are the tile's. */
static void multiply_edge(const struct le_products *p, int64_t terms, const char *left, const char *right, char *sums,
                          int64_t stride, bool add, int64_t rows, int64_t columns, int64_t size) {
    _Alignas(64) char whole[LE_PANEL_SUMS] = {0};
    for (int64_t i = 0; i < rows && add; i++)
        memcpy(whole + i * p->columns * size, sums + i * stride * size, (size_t)(columns * size));
    p->run(terms, left, right, whole, p->columns, add);
    for (int64_t i = 0; i < rows; i++)
        memcpy(sums + i * stride * size, whole + i * p->columns * size, (size_t)(columns * size));
}

/* Some right panels at a time, with each left one. */
static void multiply_panels(const struct tile *t, int64_t terms, bool add) {
    const struct le_contract *c = t->job->c;
    const struct le_products *p = &c->products;
    const int64_t factor = (int64_t)le_type_size(c->factor_type), size = (int64_t)le_type_size(c->type);
    for (int64_t block = 0; block < t->columns; block += p->block)
        for (int64_t i = 0; i < t->rows; i += p->rows)
            for (int64_t j = block; j < smaller(block + p->block, t->columns); j += p->columns) {
                const char *left = t->left_pack + i * terms * factor, *right = t->right_pack + j * terms * factor;
                char *sums = t->totals + (i * t->stride + j) * size;
                const int64_t rows = smaller(p->rows, t->rows - i), columns = smaller(p->columns, t->columns - j);
                if (rows == p->rows && columns == p->columns)
                    p->run(terms, left, right, sums, t->stride, add);
                else
                    multiply_edge(p, terms, left, right, sums, t->stride, add, rows, columns, size);
            }
}

static int64_t first_stride(const struct le_contract_axes *axes, enum le_contract_side side, int product) {
    return axes->count ? le_contract_stride(&axes->at[0], side, product) : 0;
}

/* Sets where the sums are computed. Returns false if that is scratch memory, from which they must be stored. */
static bool make_in_place(struct tile *t) {
    const struct le_contract *c = t->job->c;
    if (t->job->sums) {
        t->totals = part_sums(t);
        t->stride = c->columns.total;
    } else if (c->in_place) {
        t->stride = first_stride(&c->rows, LE_SIDE_TARGET, 0);
        t->totals = t->job->target + (t->target + t->row * t->stride + t->column) * (int64_t)le_type_size(c->type);
    } else {
        return false;
    }
    return true;
}

static void run_packed(struct tile *t) {
    const struct le_contract *c = t->job->c;
    const bool in_place = make_in_place(t);
    for (int product = 0; product < c->form.product_count; product++) {
        for (int64_t term = 0; term < t->terms && !le_cancel_is_requested(t->job->cancel); term += c->tile_terms) {
            int64_t terms = smaller(c->tile_terms, t->terms - term);
            pack_factors(t, product, t->term + term, terms);
            struct factor a = {t->left_pack, LE_BLAS_AS_IS, (int)terms};
            struct factor b = {t->right_pack, LE_BLAS_AS_IS, (int)t->columns};
            if (c->blas)
                call_matrix(c, t->rows, t->columns, terms, 1, a, b, term > 0, t->totals, t->stride);
            else
                multiply_panels(t, terms, term > 0);
        }
        if (!in_place)
            store_totals(t, product);
    }
}

/* ---- operands in place */

static struct factor left_factor(const struct tile *t, int product) {
    const struct le_contract *c = t->job->c;
    const int64_t offset = t->left[product] + t->row * first_stride(&c->rows, LE_SIDE_LEFT, product) +
                           t->term * first_stride(&c->terms, LE_SIDE_LEFT, product);
    return (struct factor){t->job->left[product] + offset * (int64_t)le_type_size(c->type),
                           c->left_view[product].transposed, c->left_view[product].stride};
}

static struct factor right_factor(const struct tile *t, int product) {
    const struct le_contract *c = t->job->c;
    const int64_t offset = t->right[product] + t->column * first_stride(&c->columns, LE_SIDE_RIGHT, product) +
                           t->term * first_stride(&c->terms, LE_SIDE_RIGHT, product);
    return (struct factor){t->job->right[product] + offset * (int64_t)le_type_size(c->type),
                           c->right_view[product].transposed, c->right_view[product].stride};
}

/* ---- our own kernels: a matrix times a vector */

/* Returns the vector with contiguous elements, copied if necessary. */
static const char *make_contiguous(const struct tile *t, const char *at, int64_t stride) {
    const int64_t size = (int64_t)le_type_size(t->job->c->type);
    for (int64_t k = 0; k < t->terms && stride != 1; k++)
        memcpy(t->right_pack + k * size, at + k * stride * size, (size_t)size);
    return stride == 1 ? at : t->right_pack;
}

static void run_vector(struct tile *t) {
    const struct le_contract *c = t->job->c;
    const bool in_place = make_in_place(t);
    for (int product = 0; product < c->form.product_count; product++) {
        const struct factor a = left_factor(t, product), x = right_factor(t, product);
        const char *vector = make_contiguous(t, x.at, x.stride);
        if (a.transposed == LE_BLAS_TRANSPOSED)
            c->products.by_columns(t->rows, t->terms, a.at, a.stride, vector, t->totals);
        else
            c->products.by_rows(t->rows, t->terms, a.at, a.stride, vector, t->totals);
        if (!in_place)
            store_totals(t, product);
    }
}

/* ---- a BLAS on the operands in place */

static void copy_kept(const struct tile *t, char *target) {
    const struct le_contract *c = t->job->c;
    const int64_t size = (int64_t)le_type_size(c->type);
    const char *kept = t->job->kept + (t->kept + offset_of(&c->rows, LE_SIDE_KEPT, 0, t->row) +
                                       offset_of(&c->columns, LE_SIDE_KEPT, 0, t->column)) *
                                          size;
    const int64_t row = first_stride(&c->rows, LE_SIDE_TARGET, 0) * size,
                  column = first_stride(&c->columns, LE_SIDE_TARGET, 0) * size;
    const int64_t kept_row = first_stride(&c->rows, LE_SIDE_KEPT, 0) * size;
    const int64_t kept_column = first_stride(&c->columns, LE_SIDE_KEPT, 0) * size;
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t j = 0; j < t->columns; j++)
            memcpy(target + i * row + j * column, kept + i * kept_row + j * kept_column, (size_t)size);
}

/* Writes the tile above the diagonal as the transpose of this one. */
#define MIRROR(name, T)                                                                                                \
    static void name(const T *at, T *to, int64_t rows, int64_t columns, int64_t stride) {                              \
        for (int64_t first = 0; first < rows; first += 16)                                                             \
            for (int64_t j = 0; j < columns; j++)                                                                      \
                for (int64_t i = first; i < smaller(first + 16, rows); i++)                                            \
                    to[j * stride + i] = at[i * stride + j];                                                           \
    }
MIRROR(mirror_f32, float)
MIRROR(mirror_f64, double)

static void mirror(const struct tile *t, const char *target, int64_t stride) {
    const struct le_contract *c = t->job->c;
    const void *at = target;
    void *to = t->job->target + (t->target + t->column * stride + t->row) * (int64_t)le_type_size(c->type);
    if (c->type == LE_F32)
        mirror_f32(at, to, t->rows, t->columns, stride);
    else
        mirror_f64(at, to, t->rows, t->columns, stride);
}

static void run_direct(const struct tile *t) {
    const struct job *j = t->job;
    const struct le_contract *c = j->c;
    int64_t stride = c->rows.count ? c->rows.at[0].target : c->columns.total,
            row = first_stride(&c->rows, LE_SIDE_TARGET, 0);
    char *target = j->target + (t->target + t->row * row + t->column * first_stride(&c->columns, LE_SIDE_TARGET, 0)) *
                                   (int64_t)le_type_size(c->type);
    if (c->vector)
        stride = c->rows.count ? row : 1;
    if (j->sums) {
        target = part_sums(t);
        stride = c->columns.total;
    } else if (j->kept && !j->kept_in_place) {
        copy_kept(t, target);
    }
    for (int k = 0; k < c->form.product_count; k++) {
        double kept = k > 0 ? 1 : j->kept && !j->sums ? j->kept_scale : 0, scale = j->sums ? 1 : j->scale[k];
        if (c->vector)
            call_vector(c, t->rows, t->terms, scale, left_factor(t, k), right_factor(t, k), kept, target, stride);
        else
            call_matrix(c, t->rows, t->columns, t->terms, scale, left_factor(t, k), right_factor(t, k), kept, target,
                        stride);
    }
    if (c->symmetric && t->row != t->column)
        mirror(t, target, stride);
}

/* ---- tiles and tasks */

static void lay_out_scratch(struct tile *t, char *at) {
    const struct le_contract *c = t->job->c;
    const int64_t longest = c->tile_rows + c->tile_columns + c->tile_terms;
    t->left_pack = at;
    t->right_pack = t->left_pack + c->left_bytes;
    t->totals = t->right_pack + c->right_bytes;
    t->stride = t->columns;
    t->row_offsets = (int64_t *)(void *)(t->totals + c->total_bytes);
    t->column_offsets = t->row_offsets + round_up(longest, 8);
    t->term_offsets = t->column_offsets + round_up(longest, 8);
}

static void run_tile(const struct job *j, int64_t number, char *scratch) {
    const struct le_contract *c = j->c;
    struct tile t = {.job = j};
    t.column = number % c->column_tiles * c->tile_columns;
    number /= c->column_tiles;
    t.row = number % c->row_tiles * c->tile_rows;
    number /= c->row_tiles;
    t.part = number % c->parts;
    t.batch = number / c->parts;
    if (j->direct && c->symmetric && t.column > t.row)
        return; /* the tile below the diagonal writes it */
    t.rows = smaller(c->tile_rows, c->rows.total - t.row);
    t.columns = smaller(c->tile_columns, c->columns.total - t.column);
    t.term = t.part * c->part_terms;
    t.terms = smaller(c->part_terms, c->terms.total - t.term);
    find_batch(&t);
    if (j->direct) {
        run_direct(&t);
        return;
    }
    lay_out_scratch(&t, scratch);
    if (c->vector && !c->blas)
        run_vector(&t);
    else
        run_packed(&t);
}

/* Worker 0 is the thread of the run. */
static bool must_stop(const struct job *j, int worker) {
    return worker == 0 ? le_cancel_look(j->cancel) : le_cancel_is_requested(j->cancel);
}

static void run_task(void *user, int64_t task, int worker) {
    const struct job *j = user;
    int64_t end = smaller((task + 1) * j->tiles_of_task, j->tiles);
    for (int64_t k = task * j->tiles_of_task; k < end && !must_stop(j, worker); k++)
        run_tile(j, k, j->scratch + (size_t)worker * j->scratch_stride);
}

/* ---- parts of sums, added up in order */

#define JOIN(name, T)                                                                                                  \
    static void name(const struct job *j, int64_t row, T *target, const T *old) {                                      \
        const struct le_contract *c = j->c;                                                                            \
        const int64_t apart = c->batch.total * c->rows.total * c->columns.total;                                       \
        const T *sums = (const T *)(const void *)j->sums + row * c->columns.total;                                     \
        for (int64_t k = 0; k < c->columns.total; k++) {                                                               \
            T total = sums[k];                                                                                         \
            for (int64_t part = 1; part < c->parts; part++)                                                            \
                total += sums[part * apart + k];                                                                       \
            if (j->scale[0] != 1 || old)                                                                               \
                total = (T)(j->scale[0] * (double)total +                                                              \
                            (old ? j->kept_scale * (double)old[offset_of(&c->columns, LE_SIDE_KEPT, 0, k)] : 0));      \
            target[offset_of(&c->columns, LE_SIDE_TARGET, 0, k)] = total;                                              \
        }                                                                                                              \
    }
JOIN(join_f32, float)
JOIN(join_f64, double)
JOIN(join_u64, uint64_t)

static void join_row(const struct job *j, int64_t row) {
    const struct le_contract *c = j->c;
    const int64_t size = (int64_t)le_type_size(c->type), batch = row / c->rows.total, at = row % c->rows.total;
    void *target = j->target +
                   (offset_of(&c->batch, LE_SIDE_TARGET, 0, batch) + offset_of(&c->rows, LE_SIDE_TARGET, 0, at)) * size;
    const void *old = j->kept;
    if (old)
        old =
            j->kept + (offset_of(&c->batch, LE_SIDE_KEPT, 0, batch) + offset_of(&c->rows, LE_SIDE_KEPT, 0, at)) * size;
    if (c->type == LE_F32)
        join_f32(j, row, target, old);
    else if (c->type == LE_F64)
        join_f64(j, row, target, old);
    else
        join_u64(j, row, target, old);
}

static int64_t rows_of_join(const struct le_contract *c) {
    return JOIN_WORK_MIN / (c->columns.total * c->parts) + 1;
}

static void join_rows(void *user, int64_t task, int worker) {
    const struct job *j = user;
    const int64_t some = rows_of_join(j->c), rows = j->c->batch.total * j->c->rows.total;
    (void)worker;
    for (int64_t row = task * some; row < smaller((task + 1) * some, rows); row++)
        join_row(j, row);
}

/* ---- one run */

int64_t le_contract_offset_bytes(const struct le_specialised *s, const struct le_contract_operand *operand) {
    int64_t offset = operand->offset;
    for (int k = 0; k < operand->host_count; k++)
        offset += (int64_t)s->cells[operand->hosts[k].value].scalar * operand->hosts[k].factor;
    return offset * (int64_t)le_type_size(s->ir->values.at[operand->value].type);
}

double le_contract_factor(const struct le_specialised *s, const struct le_node *node, bool negative) {
    uint64_t bits = !node ? 0 : node->kind == LE_NODE_CONST ? node->bits : s->cells[node->value].scalar;
    double real = 1;
    float single;
    memcpy(&single, &bits, sizeof single);
    if (node && node->type == LE_F32)
        real = (double)single;
    else if (node)
        memcpy(&real, &bits, sizeof real);
    return negative ? -real : real;
}

/* A BLAS does not read what it multiplies by zero, although that may be a NaN. */
static bool has_zero(const struct job *j) {
    bool zero = j->kept && j->kept_scale == 0;
    for (int k = 0; k < j->c->form.product_count; k++)
        zero |= j->scale[k] == 0;
    return zero;
}

static const char *factor_memory(const struct le_specialised *s, const struct le_contract_operand *operand,
                                 const struct le_conversion *conversion, char *memory) {
    if (conversion)
        return le_conversion_memory(conversion, memory);
    return (const char *)s->buffers[operand->value] + le_contract_offset_bytes(s, operand);
}

/* memory: of converted operands */
static void find_places(const struct le_specialised *s, struct job *j, char *memory) {
    const struct le_contract *c = j->c;
    for (int k = 0; k < c->form.product_count; k++) {
        j->left[k] = factor_memory(s, &c->left[k], c->left_conversion[k], memory);
        j->right[k] = factor_memory(s, &c->right[k], c->right_conversion[k], memory);
        j->scale[k] = le_contract_factor(s, c->form.products[k].scale, c->form.products[k].negative);
    }
    j->target = c->target_conversion ? le_conversion_memory(c->target_conversion, memory)
                                     : (char *)s->buffers[c->target.value] + le_contract_offset_bytes(s, &c->target);
    if (!c->form.kept)
        return;
    j->kept_scale = le_contract_factor(s, c->form.kept_scale, c->form.kept_negative);
    j->kept = (const char *)s->buffers[c->kept.value] + le_contract_offset_bytes(s, &c->kept);
    j->kept_in_place = j->kept == j->target;
}

/* If a BLAS finds no memory, releases the memory cached for reuse and tries again. */
static leat_status enter_blas(leat_context *ctx, int callers) {
    leat_status status = le_blas_enter(callers);
    if (status == LEAT_OK)
        return status;
    le_errors_clear();
    le_memory_pool_trim(ctx->memory);
    return le_blas_enter(callers);
}

static leat_status run_tasks(leat_context *ctx, struct job *j, int64_t tasks) {
    int threads = le_pool_threads(ctx->threads), callers = tasks < threads ? (int)tasks : threads;
    leat_status status = j->c->blas ? enter_blas(ctx, callers) : LEAT_OK;
    if (status != LEAT_OK)
        return status;
    status = le_pool_run(ctx->threads, run_task, j, tasks);
    if (j->c->blas)
        le_blas_leave(callers);
    return status;
}

/* Memory for converted operands, which comes first, and for parts of sums. */
static leat_status begin_work(struct leat_call *call, const struct le_contract *c, char **memory, char **sums) {
    const size_t rows = (size_t)(c->batch.total * c->rows.total * c->parts), alignment = 64;
    size_t bytes = 0;
    if (c->parts > 1 && !le_mul_size(rows, (size_t)c->columns.total * le_type_size(c->type), &bytes))
        return le_fail_out_of_memory(SIZE_MAX);
    *memory = *sums = NULL;
    if (bytes == 0 && c->conversion_bytes == 0)
        return LEAT_OK;
    if (bytes > SIZE_MAX - c->conversion_bytes - alignment)
        return le_fail_out_of_memory(SIZE_MAX);
    leat_status status = le_ensure_work(call, bytes + c->conversion_bytes + alignment);
    if (status != LEAT_OK)
        return status;
    *memory = call->specialised->work;
    *memory += (alignment - (uintptr_t)*memory % alignment) % alignment;
    *sums = c->parts > 1 ? *memory + c->conversion_bytes : NULL;
    return LEAT_OK;
}

leat_status le_contract_run(struct leat_call *call, const struct le_contract *c) {
    struct le_specialised *s = call->specialised;
    struct le_pool *threads = call->program->ctx->threads;
    char *scratch = s->scratch, *memory;
    struct job j = {.c = c, .scratch_stride = c->scratch_bytes, .cancel = le_cancel_here()};
    j.scratch = scratch + (64 - (uintptr_t)scratch % 64) % 64;
    leat_status status = begin_work(call, c, &memory, &j.sums);
    if (status == LEAT_OK)
        status = le_contract_convert_before(call, c, memory);
    if (status != LEAT_OK)
        return status;
    find_places(s, &j, memory);
    j.direct = c->direct && !has_zero(&j);
    j.tiles = c->batch.total * c->parts * c->row_tiles * c->column_tiles;
    int64_t work = c->operations / 2 / j.tiles + 1;
    j.tiles_of_task = work < TASK_WORK_MIN ? TASK_WORK_MIN / work + 1 : 1;
    status = run_tasks(call->program->ctx, &j, (j.tiles + j.tiles_of_task - 1) / j.tiles_of_task);
    if (status == LEAT_OK && j.sums)
        status = le_pool_run(threads, join_rows, &j,
                             round_up(c->batch.total * c->rows.total, rows_of_join(c)) / rows_of_join(c));
    return status == LEAT_OK ? le_contract_convert_after(call, c, memory) : status;
}
