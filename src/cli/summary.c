/* See summary.h. The mean is for people only: it is summed in f64, row by row. */
#include "cli/summary.h"
#include "cli/element.h"
#include <math.h>

struct summary {
    struct le_element least, greatest;
    bool any;           /* least and greatest are set */
    double sum, sum_im; /* sum_im: of complex numbers, which have no minimum and maximum */
    int64_t counted;    /* elements that are not NaN */
};

static double real_of(const struct le_element *element) {
    if (element->kind == 'f' || element->kind == 'c')
        return element->f64;
    return element->kind == 'u' ? (double)element->u64 : (double)element->i64;
}

static bool is_nan(const struct le_element *element) {
    return (element->kind == 'f' || element->kind == 'c') &&
           (isnan(element->f64) || (element->kind == 'c' && isnan(element->im)));
}

static bool is_below(const struct le_element *a, const struct le_element *b) {
    if (a->kind == 'f')
        return a->f64 < b->f64;
    return a->kind == 'u' ? a->u64 < b->u64 : a->i64 < b->i64;
}

static void add_bounds(struct summary *summary, const struct le_element *element) {
    if (!summary->any || is_below(element, &summary->least))
        summary->least = *element;
    if (!summary->any || is_below(&summary->greatest, element))
        summary->greatest = *element;
    summary->any = true;
}

static void add_row(struct summary *summary, const char *at, int64_t extent, int64_t step_bytes, leat_dtype dtype) {
    double sum = 0;
    int64_t nans = 0;
    for (int64_t k = 0; k < extent; k++) {
        struct le_element element = le_element_get(at + k * step_bytes, dtype);
        if (is_nan(&element)) {
            nans++;
            continue;
        }
        sum += real_of(&element);
        if (element.kind == 'c')
            summary->sum_im += element.im;
        else
            add_bounds(summary, &element);
    }
    summary->sum += sum;
    summary->counted += extent - nans;
}

/* A fast path for rows of f32 and f64, the usual types of large results, in independent lanes. add_row handles the
 * remaining elements. NaN compares false, so only numbers are counted. */
enum { LANES = 8 };
#define FLOAT_ROW(NAME, TYPE, DTYPE)                                                                                   \
    static void NAME(struct summary *summary, const char *at, int64_t extent, int64_t step) {                          \
        const TYPE *value = (const TYPE *)(const void *)at;                                                            \
        TYPE least[LANES], greatest[LANES];                                                                            \
        double sum[LANES] = {0};                                                                                       \
        int64_t counted = 0, whole = extent - extent % LANES;                                                          \
        for (int lane = 0; lane < LANES; lane++) {                                                                     \
            least[lane] = (TYPE)INFINITY;                                                                              \
            greatest[lane] = -(TYPE)INFINITY;                                                                          \
        }                                                                                                              \
        for (int64_t k = 0; k < whole; k += LANES) {                                                                   \
            int numbers = 0;                                                                                           \
            _Pragma("GCC unroll 8") for (int lane = 0; lane < LANES; lane++) {                                         \
                TYPE one = value[(k + lane) * step];                                                                   \
                numbers += one == one;                                                                                 \
                least[lane] = one < least[lane] ? one : least[lane];                                                   \
                greatest[lane] = one > greatest[lane] ? one : greatest[lane];                                          \
                sum[lane] += one == one ? (double)one : 0;                                                             \
            }                                                                                                          \
            counted += numbers;                                                                                        \
        }                                                                                                              \
        for (int lane = 0; lane < LANES && counted > 0; lane++) {                                                      \
            summary->sum += sum[lane];                                                                                 \
            if (least[lane] > greatest[lane])                                                                          \
                continue; /* this lane had NaN only */                                                                 \
            add_bounds(summary, &(struct le_element){.kind = 'f', .f64 = (double)least[lane]});                        \
            add_bounds(summary, &(struct le_element){.kind = 'f', .f64 = (double)greatest[lane]});                     \
        }                                                                                                              \
        summary->counted += counted;                                                                                   \
        int64_t step_bytes = step * (int64_t)sizeof(TYPE);                                                             \
        add_row(summary, at + whole * step_bytes, extent - whole, step_bytes, DTYPE);                                  \
    }
FLOAT_ROW(add_row_f32, float, LEAT_F32)
FLOAT_ROW(add_row_f64, double, LEAT_F64)
#undef FLOAT_ROW

static void add_axis(struct summary *summary, const leat_description *array, const char *at, int axis) {
    int64_t size_bytes = (int64_t)leat_dtype_size_bytes(array->dtype), step = array->strides[axis];
    if (axis < array->rank - 1) {
        for (int64_t k = 0; k < array->shape[axis]; k++)
            add_axis(summary, array, at + k * step * size_bytes, axis + 1);
    } else if (array->dtype == LEAT_F32) {
        add_row_f32(summary, at, array->shape[axis], step);
    } else if (array->dtype == LEAT_F64) {
        add_row_f64(summary, at, array->shape[axis], step);
    } else {
        add_row(summary, at, array->shape[axis], step * size_bytes, array->dtype);
    }
}

static void print_value(FILE *file, const char *name, const struct le_element *element, leat_dtype dtype, int digits) {
    char text[LE_ELEMENT_CHARS];
    le_element_text(element, dtype, LE_STYLE_SHORTEST, digits, text);
    fprintf(file, "%s %s, ", name, text);
}

/* Removes the sign of NaN, which inf - inf sets. */
static double unsigned_nan(double value) {
    return isnan(value) ? (double)NAN : value;
}

/* The mean has the array's type; that of integers and bools is f64. */
static void print_mean(FILE *file, const struct summary *summary, leat_dtype dtype, int digits) {
    char text[LE_ELEMENT_CHARS];
    double count = (double)summary->counted;
    bool exact = summary->any && summary->least.kind != 'f';
    struct le_element mean = {.kind = summary->any ? 'f' : 'c',
                              .f64 = unsigned_nan(summary->sum / count),
                              .im = unsigned_nan(summary->sum_im / count)};
    le_element_text(&mean, exact ? LEAT_F64 : dtype, LE_STYLE_SHORTEST, digits, text);
    fprintf(file, "mean %s", text);
}

void le_summary_print(FILE *file, const leat_description *array, int digits) {
    struct summary summary = {0};
    int64_t elements = 1;
    for (int axis = 0; axis < array->rank; axis++)
        elements *= array->shape[axis];
    add_axis(&summary, array, array->data, 0);
    int64_t nans = elements - summary.counted;
    if (summary.any) {
        print_value(file, "min", &summary.least, array->dtype, digits);
        print_value(file, "max", &summary.greatest, array->dtype, digits);
    }
    if (summary.counted)
        print_mean(file, &summary, array->dtype, digits);
    if (nans)
        fprintf(file, "%s%lld nan", summary.counted ? ", " : "", (long long)nans);
    fputc('\n', file);
}
