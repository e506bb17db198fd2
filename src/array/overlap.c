/* Whether two arrays, or two elements of one array, share memory. The answer is exact for any strides, unless it would
 * take more than STEPS_MAX steps; then it is true. */
#include "array/array.h"
#include "spec/type.h"

#define TERMS_MAX (2 * LEAT_RANK_MAX)
#define STEPS_MAX 100000 /* limit of steps of the search */

/* A sum of terms; each term is its step times a factor from 0 to `most`. Steps are positive, in descending order. */
struct sums {
    struct {
        int64_t step, most;
    } at[TERMS_MAX];
    int count;
    int64_t reach[TERMS_MAX + 1];   /* [k]: the largest sum of the terms from k on */
    int64_t divisor[TERMS_MAX + 1]; /* [k]: the greatest common divisor of their steps */
    int steps_left;
};

static void add_term(struct sums *s, int64_t step, int64_t most) {
    int k = 0;
    while (k < s->count && s->at[k].step > step)
        k++;
    if (k < s->count && s->at[k].step == step) {
        s->at[k].most += most;
        return;
    }
    for (int q = s->count++; q > k; q--)
        s->at[q] = s->at[q - 1];
    s->at[k].step = step;
    s->at[k].most = most;
}

/* Adds the byte offsets of an array's elements, times sign, as terms. Returns the least of them. */
static int64_t add_array(struct sums *s, const leat_array *array, int64_t sign) {
    int64_t least = 0, size = (int64_t)le_type_size((enum le_type)array->dtype);
    for (int k = 0; k < array->rank; k++) {
        int64_t step = array->strides[k] * size * sign, most = array->shape[k] - 1;
        if (step == 0 || most == 0)
            continue;
        least += step < 0 ? step * most : 0;
        add_term(s, step < 0 ? -step : step, most);
    }
    return least;
}

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void finish_terms(struct sums *s) {
    s->reach[s->count] = s->divisor[s->count] = 0;
    for (int k = s->count - 1; k >= 0; k--) {
        s->reach[k] = s->reach[k + 1] + s->at[k].step * s->at[k].most;
        s->divisor[k] = common_divisor(s->at[k].step, s->divisor[k + 1]);
    }
    s->steps_left = STEPS_MAX;
}

static int64_t divide_up(int64_t a, int64_t b) {
    return a / b + (a % b > 0);
}

/* Whether some sum of the terms from k on lies in [low, high]. Also true if the steps run out. */
static bool can_reach(struct sums *s, int k, int64_t low, int64_t high) {
    if (high < 0 || low > s->reach[k])
        return false;
    if (low <= 0)
        return true;
    if (high / s->divisor[k] * s->divisor[k] < low)
        return false;
    if (k + 1 == s->count || s->steps_left-- <= 0)
        return true;
    int64_t step = s->at[k].step, last = high / step < s->at[k].most ? high / step : s->at[k].most;
    int64_t first = low > s->reach[k + 1] ? divide_up(low - s->reach[k + 1], step) : 0;
    for (int64_t x = first; x <= last; x++)
        if (can_reach(s, k + 1, low - x * step, high - x * step))
            return true;
    return false;
}

bool le_array_shares(const leat_array *a, const leat_array *b) {
    if (le_array_is_deferred(a) || le_array_is_deferred(b)) /* a deferred array has no memory and no views */
        return a->buffer == b->buffer;
    if (le_array_is_on_host(a) != le_array_is_on_host(b) || !le_array_overlaps(a, b))
        return false;
    struct sums s = {.count = 0};
    int64_t size_a = (int64_t)le_type_size((enum le_type)a->dtype),
            size_b = (int64_t)le_type_size((enum le_type)b->dtype);
    int64_t between = (int64_t)((uintptr_t)a->data - (uintptr_t)b->data);
    between += add_array(&s, a, 1) + add_array(&s, b, -1);
    finish_terms(&s);
    return can_reach(&s, 0, 1 - size_a - between, size_b - 1 - between);
}

/* Whether two elements whose subscripts differ in axis k, and in no axis before it, are less than one element apart. */
static bool repeats_along(const leat_array *array, int k) {
    struct sums s = {.count = 0};
    int64_t size = (int64_t)le_type_size((enum le_type)array->dtype), least = 0;
    leat_array apart = *array; /* its offsets are the differences along the axes from k on */
    apart.rank = array->rank - k;
    for (int q = k; q < array->rank; q++) {
        apart.strides[q - k] = array->strides[q];
        apart.shape[q - k] = q == k ? array->shape[q] - 1 : 2 * array->shape[q] - 1;
        least += array->strides[q] * size * (q == k ? 1 : 1 - array->shape[q]);
    }
    least += add_array(&s, &apart, 1);
    finish_terms(&s);
    return can_reach(&s, 0, 1 - size - least, size - 1 - least);
}

bool le_array_repeats(const leat_array *array) {
    bool repeats = false;
    if (le_array_is_contiguous(array))
        return false;
    for (int k = 0; k < array->rank; k++) {
        if (array->shape[k] == 0)
            return false;
        repeats = repeats || (array->shape[k] > 1 && repeats_along(array, k));
    }
    return repeats;
}
