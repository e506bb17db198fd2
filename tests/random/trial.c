/* Binds a program's inputs, runs it, and compares results, types, shapes and errors with the oracle's. */
#include "trial.h"
#include "random_bits.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(leat_status status, const char *what) {
    if (!status)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, leat_status_name(status), leat_error_text(NULL));
    exit(3);
}

/* ---- inputs */

static void put(void *element, int dtype, int64_t halves) {
    double real = (double)halves / 2;
    float single = (float)real;
    int64_t whole = halves / 2;
    const void *from = dtype == LEAT_F64 ? (const void *)&real : dtype == LEAT_F32 ? (const void *)&single : &whole;
    memcpy(element, from, leat_dtype_size_bytes((leat_dtype)dtype));
}

/* Sets strides in elements and the offset of element 0. Returns the number of elements that they span. */
static int64_t lay_out(leat_description *d, enum layout layout, int64_t *start) {
    int64_t span = 1;
    for (int k = 0; k < d->rank; k++) {
        int axis = layout == LAYOUT_COLUMNS ? k : d->rank - 1 - k;
        d->strides[axis] = span;
        span *= d->shape[axis] > 0 ? d->shape[axis] : 1;
    }
    *start = 0;
    for (int axis = 0; axis < d->rank; axis++) {
        if (layout == LAYOUT_SPREAD)
            d->strides[axis] *= 2;
        if (layout == LAYOUT_BACKWARDS) {
            *start += d->strides[axis] * (d->shape[axis] > 0 ? d->shape[axis] - 1 : 0);
            d->strides[axis] = -d->strides[axis];
        }
    }
    if (layout == LAYOUT_BROADCAST && d->rank > 0)
        d->strides[0] = 0;
    return 2 * span;
}

/* An array in memory of its own, which is freed with it. *memory: the address of element 0. */
static leat_array *new_array(leat_context *ctx, leat_description d, enum layout layout, char **memory) {
    int64_t start = 0;
    size_t size = leat_dtype_size_bytes(d.dtype), span = (size_t)lay_out(&d, layout, &start) * size;
    leat_array *array = NULL;
    char *all = malloc(span);
    memset(all, 0xa5, span);
    *memory = all + (size_t)start * size;
    d.data = *memory;
    d.memory = LEAT_MEMORY_HOST;
    need(leat_array_wrap(ctx, &d, free, all, &array), "an array");
    return array;
}

static leat_description describe_array(const struct symbol *symbol, int dtype) {
    leat_description d = {.dtype = (leat_dtype)dtype, .rank = symbol->is_array ? symbol->rank : 0};
    memcpy(d.shape, symbol->shape, sizeof symbol->shape);
    return d;
}

static leat_array *new_input(const struct source *source, const struct symbol *input, leat_context *ctx, bool is_decoy,
                             bool is_writable) {
    leat_description d = describe_array(input, input->dtype);
    int64_t count = input->is_array ? element_count(input) : 1, start = 0;
    size_t size = leat_dtype_size_bytes(d.dtype);
    char *memory;
    d.read_only = !is_writable;
    leat_array *array = new_array(ctx, d, input->layout, &memory);
    lay_out(&d, input->layout, &start);
    for (int64_t k = 0; k < count; k++) {
        int64_t at = 0, rest = k;
        for (int axis = d.rank - 1; axis >= 0; axis--) {
            at += rest % d.shape[axis] * d.strides[axis];
            rest /= d.shape[axis];
        }
        put(memory + at * (int64_t)size, input->dtype, input_halves(source, input, k, is_decoy));
    }
    return array;
}

static leat_status ask_for(const struct trial *t, const struct way *way, int number, leat_array *input, leat_call *call,
                           leat_context *ctx) {
    const struct symbol *symbol = t->source->symbols[number];
    if (!way->gives_arrays || t->oracle->verdict != RUNS)
        return leat_call_want(call, symbol->name, NULL);
    bool in_place = input && symbol->layout != LAYOUT_BROADCAST && strong_type(symbol->type) == symbol->dtype;
    uint64_t bits = random_bits(t->source->seed + 9, (uint64_t)number);
    char *memory;
    if (in_place && bits % 4)
        return leat_call_want(call, symbol->name, input);
    leat_array *array = new_array(ctx, describe_array(symbol, strong_type(symbol->type)),
                                  (enum layout)(bits / 4 % LAYOUT_BROADCAST), &memory);
    leat_status status = leat_call_want(call, symbol->name, array);
    leat_array_free(array);
    return status;
}

/* Binds the inputs and requests the results. */
static leat_status bind(const struct trial *t, const struct way *way, const bool *wanted, bool is_decoy,
                        leat_call *call, leat_context *ctx) {
    leat_status status = LEAT_OK;
    for (int k = 0; k < t->source->symbol_count && !status; k++) {
        const struct symbol *symbol = t->source->symbols[k];
        leat_array *input = NULL;
        if (symbol->is_input && symbol->is_used && symbol->is_number) {
            status = leat_call_set_i64(call, symbol->name, input_halves(t->source, symbol, 0, is_decoy) / 2);
        } else if (symbol->is_input && symbol->is_used) {
            input = new_input(t->source, symbol, ctx, is_decoy, way->gives_arrays && wanted[k]);
            status = leat_call_set_array(call, symbol->name, input);
        }
        if (!status && wanted[k])
            status = ask_for(t, way, k, input, call, ctx);
        leat_array_free(input);
    }
    return status;
}

/* ---- results */

static bool may_be_wanted(const struct symbol *symbol) {
    return symbol->is_visible && !symbol->size_of && (!symbol->is_input || symbol->type_giver);
}

/* Selects at least one result, if there is one. */
static int choose_wanted(const struct source *source, const struct way *way, bool *wanted) {
    int count = 0, possible = 0;
    for (int k = 0; k < source->symbol_count; k++) {
        wanted[k] = may_be_wanted(source->symbols[k]);
        possible += wanted[k];
        count += wanted[k];
    }
    for (int k = 0; k < source->symbol_count && way->takes_some && count > 1; k++) {
        if (!wanted[k] || random_bits(source->seed + 5, (uint64_t)k + (uint64_t)way->options.threads * 1000) % 100 < 35)
            continue;
        wanted[k] = false;
        count--;
    }
    return count;
}

static void describe(char *words, size_t size, union value v, int type) {
    if (is_real_type(type))
        snprintf(words, size, "%.17g", v.real);
    else
        snprintf(words, size, "%lld", (long long)v.whole);
}

static union value element_of(const void *data, int64_t k, int dtype) {
    size_t size = leat_dtype_size_bytes((leat_dtype)dtype);
    const char *at = (const char *)data + (size_t)k * size;
    union value v = {.whole = 0};
    float single;
    if (dtype == LEAT_F64) {
        memcpy(&v.real, at, sizeof v.real);
    } else if (dtype == LEAT_F32) {
        memcpy(&single, at, sizeof single);
        v.real = single;
    } else {
        memcpy(&v.whole, at, size);
        int spare = 64 - 8 * (int)size;
        if (dtype >= LEAT_I8 && dtype <= LEAT_I64) /* sign extension of the shorter type */
            v.whole = (int64_t)((uint64_t)v.whole << spare) >> spare;
    }
    return v;
}

static bool is_same(union value a, union value b, int dtype) {
    return is_real_type(dtype) ? a.real == b.real : a.whole == b.whole;
}

static enum finding compare_elements(struct trial *t, const struct symbol *symbol, const void *data, int64_t count) {
    int type = strong_type(symbol->type);
    for (int64_t k = 0; k < count; k++) {
        union value is = element_of(data, k, type), ought = symbol->is_array ? symbol->data[k] : symbol->value;
        if (is_real_type(type) && !is_real_type(symbol->type))
            ought.real = (double)ought.whole;
        if (is_same(is, ought, type))
            continue;
        char a[40], b[40];
        describe(a, sizeof a, is, type);
        describe(b, sizeof b, ought, type);
        snprintf(t->words, sizeof t->words, "%s: element %lld of %lld is %s, not %s", symbol->name, (long long)k,
                 (long long)count, a, b);
        return WRONG_VALUE;
    }
    return AGREES;
}

static enum finding compare_bits(struct trial *t, int number, const unsigned char *bytes, size_t size) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t k = 0; k < size; k++)
        hash = (hash ^ bytes[k]) * 0x100000001b3u;
    if (!t->hashes[number])
        t->hashes[number] = hash;
    if (t->hashes[number] == hash)
        return AGREES;
    snprintf(t->words, sizeof t->words, "%s: equal numbers, but other bits", t->source->symbols[number]->name);
    return OTHER_BITS;
}

static enum finding compare_result(struct trial *t, int number, const leat_array *array) {
    const struct symbol *symbol = t->source->symbols[number];
    leat_description d;
    need(leat_array_get(array, &d), "a result");
    bool fits = (int)d.dtype == strong_type(symbol->type) && d.rank == (symbol->is_array ? symbol->rank : 0);
    for (int k = 0; fits && k < d.rank; k++)
        fits = d.shape[k] == symbol->shape[k];
    if (!fits) {
        snprintf(t->words, sizeof t->words, "%s: a result of rank %d of %s, not of rank %d of %s, or another shape",
                 symbol->name, d.rank, leat_dtype_name(d.dtype), symbol->is_array ? symbol->rank : 0,
                 leat_dtype_name((leat_dtype)strong_type(symbol->type)));
        return WRONG_KIND;
    }
    int64_t count = symbol->is_array ? element_count(symbol) : 1;
    size_t size = (size_t)count * leat_dtype_size_bytes(d.dtype);
    void *data = malloc(size + 1);
    leat_status status = leat_array_read(array, data, size, NULL, NULL);
    enum finding finding = status ? FALSE_ERROR : compare_elements(t, symbol, data, count);
    if (status) /* sim's checks report when the work ends */
        snprintf(t->words, sizeof t->words, "%s: %s", symbol->name, leat_error_text(NULL));
    else if (finding == AGREES)
        finding = compare_bits(t, number, data, size);
    free(data);
    return finding;
}

static enum finding compare_results(struct trial *t, leat_call *call, const bool *wanted) {
    enum finding finding = AGREES;
    for (int k = 0; k < t->source->symbol_count && finding == AGREES; k++) {
        leat_array *array = NULL;
        if (!wanted[k])
            continue;
        need(leat_call_result(call, t->source->symbols[k]->name, &array), "a result");
        finding = compare_result(t, k, array);
        leat_array_free(array);
    }
    return finding;
}

/* ---- errors */

static bool assigns_later(const struct statement *st, const struct symbol *symbol) {
    for (; st; st = st->next)
        if (st->symbol == symbol || assigns_later(st->body, symbol) || assigns_later(st->other, symbol))
            return true;
    return false;
}

/* Whether the failing statement is needed for the requested results. Statements that are not needed may be left out. */
static bool must_fail(const struct trial *t, const bool *wanted) {
    const struct statement *failed = t->oracle->statement;
    if (!failed || failed->kind != ASSIGN || assigns_later(failed->next, failed->symbol))
        return false;
    for (int k = 0; k < t->source->symbol_count; k++)
        if (t->source->symbols[k] == failed->symbol && wanted[k])
            for (const struct statement *st = t->source->body; st; st = st->next)
                if (st == failed)
                    return true;
    return false;
}

static enum finding compare_status(struct trial *t, leat_status status, leat_context *ctx, const bool *wanted) {
    bool is_expected = status == LEAT_DATA || status == LEAT_MISMATCH || status == LEAT_PROGRAM;
    if (t->oracle->verdict == RUNS || !is_expected) {
        /* an index that is written as a def's argument alone, and in no subscript, is an input to the language */
        if (!status || status == LEAT_MISSING)
            return AGREES;
        snprintf(t->words, sizeof t->words, "%s: %s", leat_status_name(status), leat_error_text(ctx));
        return FALSE_ERROR;
    }
    if (status || !must_fail(t, wanted))
        return AGREES;
    snprintf(t->words, sizeof t->words, "no error, though: %s", t->oracle->why);
    return MISSING_ERROR;
}

static leat_status run_call(struct trial *t, const struct way *way, const bool *wanted, leat_program *program,
                            leat_call **call, leat_context *ctx) {
    leat_status status = leat_call_new(program, call);
    for (int is_decoy = way->runs_twice && t->has_decoy; is_decoy >= 0; is_decoy--) {
        if (!status)
            status = bind(t, way, wanted, is_decoy, *call, ctx);
        if (!status)
            status = leat_call_run(*call, NULL, NULL);
        if (is_decoy && status != LEAT_INTERNAL)
            status = LEAT_OK;
    }
    return status;
}

enum finding try_way(struct trial *t, const struct way *way, leat_context *ctx) {
    leat_program *program = NULL;
    leat_call *call = NULL;
    bool wanted[SYMBOLS_MAX];
    enum finding finding = AGREES;
    if (!choose_wanted(t->source, way, wanted))
        return AGREES;
    leat_status status = leat_program_new(ctx, t->text->bytes, 0, NULL, &program);
    if (!status)
        status = run_call(t, way, wanted, program, &call, ctx);
    if (!status && t->oracle->verdict == RUNS)
        finding = compare_results(t, call, wanted);
    if (finding == AGREES)
        finding = compare_status(t, status, ctx, wanted);
    leat_call_free(call);
    leat_program_free(program);
    return finding;
}
