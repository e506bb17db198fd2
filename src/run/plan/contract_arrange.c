/* Arranges a contraction for a device's library (see contraction.h).
 *
 * A library multiplies matrices in which one stride leads from row to row and from column to column, in a batch with
 * one stride between them. Loops that an operand does not walk as one cannot all be rows, columns or terms of such a
 * matrix. Each way out costs something: some loops become loops of the batch, which leaves smaller matrices, or an
 * operand is copied in another order. This file tries all of them and estimates their times for a large GPU. The
 * estimate depends on nothing but extents, layouts and types, so the results' bits do not depend on what ran before. */
#include "run/plan/contraction.h"
#include <limits.h>
#include <math.h>
#include <string.h>

#define BYTES_PER_SECOND   2.5e12
#define SINGLES_PER_SECOND 4.5e13 /* operations of the library's products of f32 and f64 */
#define HALVES_PER_SECOND  5e14   /* the same of 16-bit floats */
#define OURS_PER_SECOND    1e13   /* of our own kernels, whose operands are in any order */
#define CALL_SECONDS       4e-6
#define TERM_SECONDS       1e-8 /* of cuBLAS on an H100: a thread block waits for each term of a sum of f32 */
#define TERMS_AT_ONCE      256  /* terms of one part of a long sum */
#define TILE               64   /* rows and columns that a multiprocessor of the device computes at least */
#define SHORT_MIN          16   /* least rows, columns and terms */
#define BATCH_MAX          65535
#define CALLS_MAX          64 /* calls of the library for one stage */
#define LOOPS_OUT_MAX      4  /* loops of the rows, and of the columns, that may become loops of the batch */

enum { LOOPS_MAX = LE_CONTRACT_AXES_MAX };

struct loop_list {
    const struct le_contract_axis *at[LOOPS_MAX];
    int count;
    int64_t total;
};

/* One way to arrange the loops. */
struct arrangement {
    struct loop_list rows, columns, terms, batch;
    double seconds, copied_seconds; /* with the copies; for the copies alone */
    struct {
        bool is_copied, is_by_columns;
    } left[LE_TERMS_MAX], right[LE_TERMS_MAX], target;
};

static int64_t distance(const struct le_contract_axis *axis, enum le_contract_side side, int product) {
    int64_t stride = le_contract_stride(axis, side, product);
    return stride < 0 ? -stride : stride;
}

/* ---- lists of loops */

static void add_to_list(struct loop_list *list, const struct le_contract_axis *axis) {
    list->at[list->count++] = axis;
    list->total *= axis->count;
}

/* Puts the loops with the greatest strides first. */
static void sort_list(struct loop_list *list, enum le_contract_side side) {
    for (int k = 1; k < list->count; k++)
        for (int q = k; q > 0 && distance(list->at[q - 1], side, 0) < distance(list->at[q], side, 0); q--) {
            const struct le_contract_axis *axis = list->at[q];
            list->at[q] = list->at[q - 1];
            list->at[q - 1] = axis;
        }
}

/* Whether the operand walks the loops as one, with the stride of the last one. */
static bool is_one_loop(const struct loop_list *list, enum le_contract_side side, int product) {
    for (int k = 1; k < list->count; k++)
        if (le_contract_stride(list->at[k - 1], side, product) !=
            le_wrapping_product(le_contract_stride(list->at[k], side, product), list->at[k]->count))
            return false;
    return true;
}

static int64_t last_stride(const struct loop_list *list, enum le_contract_side side, int product) {
    return list->count ? le_contract_stride(list->at[list->count - 1], side, product) : 1;
}

/* ---- operands */

static const struct loop_list *lines_of(const struct arrangement *a, enum le_contract_side side) {
    return side == LE_SIDE_RIGHT ? &a->terms : &a->rows;
}
static const struct loop_list *columns_of(const struct arrangement *a, enum le_contract_side side) {
    return side == LE_SIDE_LEFT ? &a->terms : &a->columns;
}

static struct le_contract_view view_in_place(const struct arrangement *a, enum le_contract_side side, int product) {
    const struct loop_list *lines = lines_of(a, side), *columns = columns_of(a, side);
    if (!is_one_loop(lines, side, product) || !is_one_loop(columns, side, product))
        return (struct le_contract_view){.fits = false};
    return le_contract_view_of(lines->total, columns->total, last_stride(lines, side, product),
                               last_stride(columns, side, product));
}

static int64_t least_distance(const struct loop_list *list, enum le_contract_side side, int product) {
    int64_t least = INT64_MAX;
    for (int k = 0; k < list->count; k++)
        if (distance(list->at[k], side, product) < least)
            least = distance(list->at[k], side, product);
    return least;
}

/* Adds the loops that the copy has axes for. A loop of the batch that the operand does not walk needs none. */
static void add_extent(const struct loop_list *list, enum le_contract_side side, int product, bool is_batch,
                       double *elements, double *span) {
    for (int k = 0; k < list->count; k++) {
        if (is_batch && le_contract_stride(list->at[k], side, product) == 0)
            continue;
        *elements *= (double)list->at[k]->count;
        *span += (double)(list->at[k]->count - 1) * (double)distance(list->at[k], side, product);
    }
}

/* The elements of a copy. 0: it would have elements twice, such as those of overlapping windows. */
static double copy_elements(const struct arrangement *a, enum le_contract_side side, int product) {
    double elements = 1, span = 1;
    add_extent(&a->batch, side, product, true, &elements, &span);
    add_extent(lines_of(a, side), side, product, false, &elements, &span);
    add_extent(columns_of(a, side), side, product, false, &elements, &span);
    return elements > span ? 0 : elements;
}

/* Decides whether the operand is copied, and by rows or by columns: as in the array, what is contiguous there stays so.
 * false: it cannot be. */
static bool place_operand(const struct le_contract *c, struct arrangement *a, enum le_contract_side side, int product,
                          bool *is_copied, bool *is_by_columns) {
    struct le_contract_view view = view_in_place(a, side, product);
    *is_copied = !view.fits;
    *is_by_columns = view.fits ? view.transposed == LE_BLAS_TRANSPOSED
                               : least_distance(lines_of(a, side), side, product) <
                                     least_distance(columns_of(a, side), side, product);
    if (view.fits)
        return true;
    double elements = copy_elements(a, side, product);
    double bytes = 2 * elements * (double)le_type_size(side == LE_SIDE_TARGET ? c->target_type : c->array_type);
    a->copied_seconds += (side == LE_SIDE_TARGET && c->form.kept ? 2 : 1) * (bytes / BYTES_PER_SECOND + CALL_SECONDS);
    return elements > 0;
}

static bool place_operands(const struct le_contract *c, struct arrangement *a) {
    for (int k = 0; k < c->form.product_count; k++)
        if (!place_operand(c, a, LE_SIDE_LEFT, k, &a->left[k].is_copied, &a->left[k].is_by_columns) ||
            !place_operand(c, a, LE_SIDE_RIGHT, k, &a->right[k].is_copied, &a->right[k].is_by_columns))
            return false;
    return place_operand(c, a, LE_SIDE_TARGET, 0, &a->target.is_copied, &a->target.is_by_columns);
}

/* ---- the estimate */

static double padded(int64_t x) {
    return (double)((x + TILE - 1) / TILE * TILE);
}

static double product_seconds(const struct le_contract *c, const struct arrangement *a) {
    double rows = (double)a->rows.total, columns = (double)a->columns.total, terms = (double)a->terms.total;
    double operations = 2 * padded(a->rows.total) * padded(a->columns.total) * terms;
    double bytes = (rows * terms + terms * columns) * (double)le_type_size(c->array_type) +
                   rows * columns * (double)le_type_size(c->target_type);
    double rate = le_type_is_half(c->array_type) ? HALVES_PER_SECOND : SINGLES_PER_SECOND;
    if (le_type_is_complex(c->array_type))
        operations *= 4;
    double one = fmax(operations / rate, bytes / BYTES_PER_SECOND);
    double waits = c->array_type == LE_F32 ? fmin(terms, TERMS_AT_ONCE) * TERM_SECONDS : 0;
    return (one * (double)a->batch.total + waits) * c->form.product_count;
}

double le_contract_our_seconds(const struct le_contract *c) {
    return (le_type_is_complex(c->array_type) ? 8 : 2) * (double)c->batch.total * (double)c->rows.total *
           (double)c->columns.total * (double)c->terms.total * c->form.product_count / OURS_PER_SECOND;
}

/* ---- the arranged loops */

static void set_dense(const struct loop_list *list, enum le_contract_side side, int product, bool is_batch,
                      int64_t *next, int64_t *strides) {
    for (int k = list->count - 1; k >= 0; k--) {
        strides[k] = is_batch && le_contract_stride(list->at[k], side, product) == 0 ? 0 : *next;
        *next *= strides[k] ? list->at[k]->count : 1;
    }
}

/* The strides of an operand: of the rows or terms, of the columns or terms, and of each loop of the batch. */
struct operand_strides {
    int64_t lines[LOOPS_MAX], columns[LOOPS_MAX], batch[LOOPS_MAX];
};

static void find_strides(const struct arrangement *a, enum le_contract_side side, int product, bool is_copied,
                         bool is_by_columns, struct operand_strides *out) {
    const struct loop_list *lines = lines_of(a, side), *columns = columns_of(a, side);
    int64_t next = 1;
    if (!is_copied) {
        for (int k = 0; k < lines->count; k++)
            out->lines[k] = le_contract_stride(lines->at[k], side, product);
        for (int k = 0; k < columns->count; k++)
            out->columns[k] = le_contract_stride(columns->at[k], side, product);
        for (int k = 0; k < a->batch.count; k++)
            out->batch[k] = le_contract_stride(a->batch.at[k], side, product);
        return;
    }
    if (is_by_columns)
        set_dense(lines, side, product, false, &next, out->lines);
    set_dense(columns, side, product, false, &next, out->columns);
    if (!is_by_columns)
        set_dense(lines, side, product, false, &next, out->lines);
    set_dense(&a->batch, side, product, true, &next, out->batch);
}

static bool add_copy_axes(struct le_contract_copy *copy, const struct loop_list *list, const int64_t *strides,
                          enum le_contract_side side, int product) {
    for (int k = 0; k < list->count; k++) {
        const int64_t count = list->at[k]->count, array = le_contract_stride(list->at[k], side, product);
        if (strides[k] == 0)
            continue;
        copy->elements *= count;
        if (copy->axis_count) {
            int last = copy->axis_count - 1;
            if (copy->axes[last].array == le_wrapping_product(array, count) &&
                copy->axes[last].copy == strides[k] * count) {
                copy->axes[last].count *= count;
                copy->axes[last].array = array;
                copy->axes[last].copy = strides[k];
                continue;
            }
        }
        if (copy->axis_count == LEAT_RANK_MAX)
            return false;
        copy->axes[copy->axis_count].count = count;
        copy->axes[copy->axis_count].array = array;
        copy->axes[copy->axis_count++].copy = strides[k];
    }
    return true;
}

/* The operand's copy, which begins where its memory does. */
static bool make_copy(const struct arrangement *a, enum le_contract_side side, int product, bool is_by_columns,
                      const struct operand_strides *s, struct le_contract_operand *operand,
                      struct le_contract_copy *copy) {
    *copy = (struct le_contract_copy){.is_used = true, .array = *operand, .elements = 1};
    *operand = (struct le_contract_operand){.value = operand->value};
    const struct loop_list *lines = lines_of(a, side), *columns = columns_of(a, side);
    bool fits = add_copy_axes(copy, &a->batch, s->batch, side, product);
    if (is_by_columns)
        return fits && add_copy_axes(copy, columns, s->columns, side, product) &&
               add_copy_axes(copy, lines, s->lines, side, product);
    return fits && add_copy_axes(copy, lines, s->lines, side, product) &&
           add_copy_axes(copy, columns, s->columns, side, product);
}

static int64_t last_of(const struct loop_list *list, const int64_t *strides) {
    return list->count ? strides[list->count - 1] : 0;
}

static void set_one_loop(struct le_contract_axes *axes, const struct loop_list *list) {
    *axes = (struct le_contract_axes){.total = list->total, .count = list->total > 1};
    axes->at[0].count = list->total;
}

static void set_batch(struct le_contract_axes *axes, const struct loop_list *list) {
    *axes = (struct le_contract_axes){.total = list->total, .count = list->count};
    for (int k = 0; k < list->count; k++)
        axes->at[k].count = list->at[k]->count;
}

/* Sets the strides of one operand in the arranged loops `to`. */
static bool apply_operand(const struct arrangement *a, enum le_contract_side side, int product, bool is_copied,
                          bool is_by_columns, struct le_contract *to, struct le_contract_operand *operand,
                          struct le_contract_copy *copy) {
    struct operand_strides s;
    const struct loop_list *lines = lines_of(a, side), *columns = columns_of(a, side);
    struct le_contract_axes *to_lines = side == LE_SIDE_RIGHT ? &to->terms : &to->rows;
    struct le_contract_axes *to_columns = side == LE_SIDE_LEFT ? &to->terms : &to->columns;
    find_strides(a, side, product, is_copied, is_by_columns, &s);
    if (to_lines->count)
        *le_contract_stride_at(&to_lines->at[0], side, product) = last_of(lines, s.lines);
    if (to_columns->count)
        *le_contract_stride_at(&to_columns->at[0], side, product) = last_of(columns, s.columns);
    for (int k = 0; k < a->batch.count; k++)
        *le_contract_stride_at(&to->batch.at[k], side, product) = s.batch[k];
    return !is_copied || make_copy(a, side, product, is_by_columns, &s, operand, copy);
}

/* ---- the batch */

static void merge_batch(struct le_contract_axes *batch) {
    for (int k = batch->count - 1; k > 0; k--)
        if (le_contract_axes_are_one(&batch->at[k - 1], &batch->at[k])) {
            int64_t count = batch->at[k - 1].count * batch->at[k].count;
            batch->at[k - 1] = batch->at[k];
            batch->at[k - 1].count = count;
            memmove(&batch->at[k], &batch->at[k + 1], (size_t)(batch->count - k - 1) * sizeof batch->at[0]);
            batch->count--;
        }
}

static bool can_be_last(const struct le_contract_axis *axis, int product_count) {
    bool can = axis->count <= BATCH_MAX && axis->target >= 1;
    for (int k = 0; k < product_count; k++)
        can = can && axis->left[k] >= 0 && axis->right[k] >= 0;
    return can;
}

/* Puts the longest loop that one call of the library can run last. Returns the number of calls; 0: too many. */
static int64_t cut_batch(struct le_contract_axes *batch, int product_count) {
    int last = -1;
    merge_batch(batch);
    for (int k = 0; k < batch->count; k++)
        if (can_be_last(&batch->at[k], product_count) && (last < 0 || batch->at[k].count > batch->at[last].count))
            last = k;
    if (batch->count == 0)
        return product_count;
    if (last < 0)
        return 0;
    struct le_contract_axis axis = batch->at[last];
    memmove(&batch->at[last], &batch->at[last + 1], (size_t)(batch->count - last - 1) * sizeof axis);
    batch->at[batch->count - 1] = axis;
    int64_t calls = batch->total / axis.count;
    return calls <= CALLS_MAX / product_count ? calls * product_count : 0;
}

/* ---- the search */

static bool apply(const struct arrangement *a, struct le_contract *to, struct le_contract_copies *copies,
                  int64_t *calls) {
    const int count = to->form.product_count;
    bool fits = true;
    set_one_loop(&to->rows, &a->rows);
    set_one_loop(&to->columns, &a->columns);
    set_one_loop(&to->terms, &a->terms);
    set_batch(&to->batch, &a->batch);
    *copies = (struct le_contract_copies){.target = {.is_used = false}};
    for (int k = 0; k < count && fits; k++)
        fits = apply_operand(a, LE_SIDE_LEFT, k, a->left[k].is_copied, a->left[k].is_by_columns, to, &to->left[k],
                             &copies->left[k]) &&
               apply_operand(a, LE_SIDE_RIGHT, k, a->right[k].is_copied, a->right[k].is_by_columns, to, &to->right[k],
                             &copies->right[k]);
    fits = fits && apply_operand(a, LE_SIDE_TARGET, 0, a->target.is_copied, a->target.is_by_columns, to, &to->target,
                                 &copies->target);
    *calls = fits ? cut_batch(&to->batch, count) : 0;
    return *calls > 0;
}

struct search {
    const struct le_contract *c;
    struct le_contract work;
    struct le_contract_copies copies;
    struct arrangement best;
};

static bool is_short(const struct loop_list *list) {
    return list->total < SHORT_MIN || list->total > INT_MAX;
}

static void try_arrangement(struct search *s, struct arrangement *a) {
    int64_t calls;
    if (is_short(&a->rows) || is_short(&a->columns) || is_short(&a->terms) || !place_operands(s->c, a))
        return;
    a->seconds = a->copied_seconds + product_seconds(s->c, a);
    if (a->seconds >= s->best.seconds)
        return;
    s->work = *s->c;
    if (!apply(a, &s->work, &s->copies, &calls))
        return;
    a->seconds += (double)calls * CALL_SECONDS;
    if (a->seconds < s->best.seconds)
        s->best = *a;
}

/* The loops whose bits are set in `out` go to the batch, the others are sorted as the operand has them. */
static void share_out(const struct le_contract_axes *axes, unsigned out, enum le_contract_side side,
                      struct loop_list *in, struct loop_list *batch) {
    *in = (struct loop_list){.total = 1};
    for (int k = 0; k < axes->count; k++)
        add_to_list(k < LOOPS_OUT_MAX && out >> k & 1 ? batch : in, &axes->at[k]);
    sort_list(in, side);
}

static unsigned ways_out(const struct le_contract_axes *axes) {
    return 1U << (axes->count < LOOPS_OUT_MAX ? axes->count : LOOPS_OUT_MAX);
}

/* orders: bit 0: rows as in the target, else as in the left factor; bit 1: columns as in the target, else as in the
 * right factor; bit 2: terms as in the right factor, else as in the left one. */
static void try_orders(struct search *s, unsigned rows_out, unsigned columns_out, unsigned orders) {
    const struct le_contract *c = s->c;
    struct arrangement a = {.batch = {.total = 1}};
    if ((c->rows.count < 2 && orders & 1) || (c->columns.count < 2 && orders & 2) || (c->terms.count < 2 && orders & 4))
        return;
    for (int k = 0; k < c->batch.count; k++)
        add_to_list(&a.batch, &c->batch.at[k]);
    share_out(&c->rows, rows_out, orders & 1 ? LE_SIDE_TARGET : LE_SIDE_LEFT, &a.rows, &a.batch);
    share_out(&c->columns, columns_out, orders & 2 ? LE_SIDE_TARGET : LE_SIDE_RIGHT, &a.columns, &a.batch);
    share_out(&c->terms, 0, orders & 4 ? LE_SIDE_RIGHT : LE_SIDE_LEFT, &a.terms, &a.batch);
    sort_list(&a.batch, LE_SIDE_TARGET);
    try_arrangement(s, &a);
}

bool le_contract_arrange(struct le_contract *c, struct le_contract_copies *copies) {
    struct search *s = &(struct search){.c = c, .best.seconds = HUGE_VAL};
    int64_t calls;
    for (unsigned rows_out = 0; rows_out < ways_out(&c->rows); rows_out++)
        for (unsigned columns_out = 0; columns_out < ways_out(&c->columns); columns_out++)
            for (unsigned orders = 0; orders < 8; orders++)
                try_orders(s, rows_out, columns_out, orders);
    if (s->best.seconds == HUGE_VAL)
        return false;
    s->work = *c;
    apply(&s->best, &s->work, copies, &calls);
    copies->seconds = s->best.seconds;
    copies->is_plain = s->best.copied_seconds == 0 && calls == c->form.product_count;
    *c = s->work;
    if (s->best.target.is_by_columns) {
        le_contract_transpose(c);
        for (int k = 0; k < c->form.product_count; k++) {
            struct le_contract_copy left = copies->left[k];
            copies->left[k] = copies->right[k];
            copies->right[k] = left;
        }
    }
    return le_contract_find_views(c);
}
