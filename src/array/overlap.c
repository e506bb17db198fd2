/* Whether two arrays, or two elements of one, share memory. Told exactly for whatever strides views and wrapped memory
 * have, unless that would take too many steps: then they may. */
#include "array/array.h"
#include "spec/type.h"

#define TERMS_MAX (2 * LEAT_RANK_MAX)
#define STEPS_MAX 100000 /* more are not tried */

/* A sum of terms, each a step taken from 0 to `most` times; steps are positive and fall. */
struct sums {
    struct {
        int64_t step, most;
    } at[TERMS_MAX];
    int count;
    int64_t reach[TERMS_MAX + 1];   /* the greatest sum of the terms from here on */
    int64_t divisor[TERMS_MAX + 1]; /* the greatest common one of their steps */
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

/* The offsets of an array's elements in bytes, times sign, as terms; gives the least one. */
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

/* Whether a sum of the terms from k on lies in [low, high]; also true where that would take too long to tell. */
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
    if (le_array_is_deferred(a) || le_array_is_deferred(b)) /* without memory, and without views */
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

/* Two elements that differ along axis k, and along none before it, lie less than an element apart. */
static bool repeats_along(const leat_array *array, int k) {
    struct sums s = {.count = 0};
    int64_t size = (int64_t)le_type_size((enum le_type)array->dtype), least = 0;
    leat_array apart = *array; /* its elements are the differences along the axes from k on */
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
    for (int k = 0; k < array->rank; k++) {
        if (array->shape[k] == 0)
            return false;
        repeats = repeats || (array->shape[k] > 1 && repeats_along(array, k));
    }
    return repeats;
}
