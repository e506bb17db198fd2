/* Runs the cases of text files: a program, its inputs, and its expected results. Each case runs with 1, 2 and 7 threads
 * and with its inputs dense, strided and reversed in memory; all of these must give the same bits.
 *
 *     # a comment
 *     == program
 *     y[i] = a[i] + k
 *     == in a f32 3                   type and extents (none: rank 0), then the values in row-major order
 *     1 2 nan
 *     == scalar k 0.5                 a weak number: 1 is an integer, 0.5 and inf are reals, true and false are bools
 *     == out y f32 3 rtol 1e-6        exact unless rtol or atol R is given; several may follow
 *     1.5 2.5 nan
 *     == scalar k 1.0-0.5j           a complex one; a complex array has two words an element, re and im
 *     == results y                    instead of or beside outs: the default results' names
 *     == error 1 no range             instead of outs: exit code (1 program or mismatch, 2 missing, 6 data), words
 *     == end
 *
 * With --device D each case runs on D with its inputs in host memory, strided in device memory, and reversed in host
 * memory, which must give the same bits. It also runs on the CPU, which must give these bits as well (all NaNs are
 * equal), unless the program has functions, contractions or scans: their results are compared with the expected ones,
 * with a tolerance.
 *
 * With --show cuda, or kernel, nothing is checked: prints the device's kernels of each valid case (leat show --emit
 * cuda). With --show check these texts alone are checked (kernel_texts.h).
 *
 * usage: run_programs [--device D] [--only N/M] [--show FORM] FILE...    N/M: of every M cases the Nth, from 0.
 * Exit status 1: a case failed; 2: a file is malformed; 77: the device does not exist. */
#include "leat.h"
#include "tests/programs/kernel_texts.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS_MAX = 64, RESULT_BYTES_MAX = 1 << 20, THREAD_KINDS = 3, LAYOUTS = 4, NO_DEVICE = 77 };
/* Of inputs; WANTED: dense, with results in the caller's arrays. */
enum layout { LAYOUT_DENSE, LAYOUT_SPREAD, LAYOUT_BACKWARDS, LAYOUT_WANTED };

struct item { /* an input or an expected result */
    const char *name;
    leat_dtype dtype; /* 0: a weak scalar, its text in values */
    int rank;
    int64_t shape[LEAT_RANK_MAX];
    double rtol, atol;
    char *values;
};

struct test_case {
    const char *file;
    int line;
    char *program;
    struct item inputs[ITEMS_MAX], outs[ITEMS_MAX];
    int input_count, out_count;
    char *results, *words; /* NULL: not given */
    int error_code;        /* 0: none expected */
};

/* On a device: the contexts, and how many programs were held against the CPU's bits, and how many not. */
struct suite {
    leat_context *contexts[THREAD_KINDS]; /* the CPU's, by number of threads */
    leat_context *device;                 /* NULL: none */
    leat_context *compiled;               /* not NULL: `device` interprets what it can, and here nothing is */
    int part, parts, seen;                /* of the cases */
    bool shows, checks_texts;             /* it only prints kernels, or checks their texts */
    leat_form form;                       /* in which it prints them */
    int kernels;
    bool interprets;
    int passed, failed, exact, free;
};

struct outcome {
    leat_status status;
    bool is_free; /* functions, contractions, scans: other bits than the CPU's are right */
    char message[4096];
    leat_dtype dtypes[ITEMS_MAX];
    int ranks[ITEMS_MAX];
    int64_t shapes[ITEMS_MAX][LEAT_RANK_MAX];
    void *bytes[ITEMS_MAX];
    size_t sizes[ITEMS_MAX];
};

static void die(const struct test_case *test, const char *what, const char *detail) {
    fprintf(stderr, "%s:%d: %s: %s\n", test->file, test->line, what, detail);
    exit(2);
}

static void fill_failure(struct outcome *outcome, const leat_context *ctx, leat_status status) {
    const char *text = leat_error_text(ctx);
    outcome->status = status;
    snprintf(outcome->message, sizeof outcome->message, "%s", text ? text : "");
}

/* ---- values */

static uint16_t half_from(double value, int mantissa_bits, int exponent_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint16_t sign = (uint16_t)(signbit(value) ? 0x8000 : 0);
    const uint16_t infinite = (uint16_t)(((1 << exponent_bits) - 1) << mantissa_bits);
    int exponent;
    if (isnan(value))
        return (uint16_t)(infinite | (1 << (mantissa_bits - 1)));
    value = fabs(value);
    if (isinf(value) || value == 0)
        return (uint16_t)(sign | (value == 0 ? 0 : infinite));
    frexp(value, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    const double units = nearbyint(ldexp(value, mantissa_bits - exponent));
    const double bits = units + ldexp(exponent + bias - 1, mantissa_bits);
    return (uint16_t)(sign | (bits >= infinite ? infinite : (uint16_t)bits));
}

static double half_to(uint16_t bits, int mantissa_bits, int exponent_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1, fraction = bits & ((1 << mantissa_bits) - 1);
    const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    double value;
    if (exponent == (1 << exponent_bits) - 1)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, 1 - bias - mantissa_bits);
    else
        value = ldexp(fraction + (1 << mantissa_bits), exponent - bias - mantissa_bits);
    return bits & 0x8000 ? -value : value;
}

static bool is_real(leat_dtype dtype) {
    return dtype >= LEAT_F16;
}

/* Complex numbers stand as two words each, re and im. */
static bool is_complex(leat_dtype dtype) {
    return dtype >= LEAT_C64;
}

static leat_dtype part_of(leat_dtype dtype) {
    return dtype == LEAT_C64 ? LEAT_F32 : dtype == LEAT_C128 ? LEAT_F64 : dtype;
}

static double real_at(leat_dtype dtype, const void *at) {
    float f32;
    double f64;
    uint16_t bits;
    switch (dtype) {
    case LEAT_F32:
        memcpy(&f32, at, sizeof f32);
        return (double)f32;
    case LEAT_F64:
        memcpy(&f64, at, sizeof f64);
        return f64;
    default:
        memcpy(&bits, at, sizeof bits);
        return dtype == LEAT_F16 ? half_to(bits, 10, 5) : half_to(bits, 7, 8);
    }
}

/* Writes the number that text shows as one element; false if it is none. */
static bool element_parse(leat_dtype dtype, const char *text, void *at) {
    char *end;
    errno = 0;
    if (is_real(dtype)) {
        const double value = strtod(text, &end);
        const float f32 = strtof(text, NULL);
        const uint16_t half = dtype == LEAT_F16 ? half_from(value, 10, 5) : half_from(value, 7, 8);
        memcpy(at,
               dtype == LEAT_F64   ? (const void *)&value
               : dtype == LEAT_F32 ? (const void *)&f32
                                   : &half,
               leat_dtype_size_bytes(dtype));
        return end != text && *end == '\0';
    }
    if (!strcmp(text, "true") || !strcmp(text, "True"))
        text = "1";
    if (!strcmp(text, "false") || !strcmp(text, "False"))
        text = "0";
    const uint64_t bits = text[0] == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
    memcpy(at, &bits, leat_dtype_size_bytes(dtype)); /* little-endian */
    return end != text && *end == '\0' && errno == 0;
}

static size_t item_count(const struct item *item) {
    size_t count = 1;
    for (int k = 0; k < item->rank; k++)
        count *= (size_t)item->shape[k];
    return count;
}

/* An item's values, dense; the caller frees them. */
static char *item_bytes(const struct test_case *test, const struct item *item) {
    const leat_dtype dtype = part_of(item->dtype);
    const size_t count = item_count(item) * (is_complex(item->dtype) ? 2 : 1), size = leat_dtype_size_bytes(dtype);
    char *bytes = calloc(count + 1, size), *text = strdup(item->values), *rest = NULL;
    size_t k = 0;
    if (!bytes || !text)
        die(test, item->name, "out of memory");
    for (char *word = strtok_r(text, " \t\r\n", &rest); word; word = strtok_r(NULL, " \t\r\n", &rest), k++)
        if (k >= count || !element_parse(dtype, word, bytes + k * size))
            die(test, item->name, word);
    if (k != count)
        die(test, item->name, "too few values");
    free(text);
    return bytes;
}

/* ---- running */

/* The same elements in memory that is laid out otherwise: fills description, gives the memory for the caller to free.
 */
static char *lay_out(const struct item *item, const char *dense, enum layout layout, leat_description *description) {
    const size_t size = leat_dtype_size_bytes(item->dtype), count = item_count(item);
    const int64_t gap = layout == LAYOUT_SPREAD ? 3 : 1;
    char *memory = malloc((count * (size_t)gap + 1) * size);
    int64_t stride = gap, first = 0;
    *description =
        (leat_description){.dtype = item->dtype, .rank = item->rank, .read_only = true, .memory = LEAT_MEMORY_HOST};
    if (!memory)
        abort();
    memset(memory, 0x5a, (count * (size_t)gap + 1) * size);
    for (int n = 0; n < item->rank; n++) { /* spread: the first axis runs fastest */
        const int axis = layout == LAYOUT_SPREAD ? n : item->rank - 1 - n;
        description->shape[axis] = item->shape[axis];
        description->strides[axis] = layout == LAYOUT_BACKWARDS ? -stride : stride;
        if (layout == LAYOUT_BACKWARDS && item->shape[axis] > 0)
            first += (item->shape[axis] - 1) * stride;
        stride *= item->shape[axis] > 0 ? item->shape[axis] : 1;
    }
    description->data = memory + (count ? first : 0) * (int64_t)size;
    for (size_t k = 0; k < count; k++) {
        int64_t place = 0, rest = (int64_t)k;
        for (int axis = item->rank - 1; axis >= 0; rest /= item->shape[axis], axis--)
            place += rest % item->shape[axis] * description->strides[axis];
        memcpy((char *)description->data + place * (int64_t)size, dense + k * size, size);
    }
    return memory;
}

/* The same layout in the device's memory: strides, and what lies between. */
static leat_status to_device(leat_context *ctx, const leat_description *of, leat_array *host, leat_array **array) {
    leat_array *memory = NULL, *view = NULL;
    leat_description whole;
    int64_t shape[LEAT_RANK_MAX], start[LEAT_RANK_MAX], stop[LEAT_RANK_MAX], step[LEAT_RANK_MAX];
    int axes[LEAT_RANK_MAX];
    for (int k = 0; k < of->rank; k++) { /* the first axis runs fastest, with a step of 3 */
        shape[k] = of->shape[of->rank - 1 - k] * (k == of->rank - 1 ? 3 : 1);
        start[k] = 0;
        stop[k] = shape[k];
        step[k] = k == of->rank - 1 ? 3 : 1;
        axes[k] = of->rank - 1 - k;
    }
    leat_status status = leat_array_new(ctx, of->dtype, of->rank, shape, LEAT_MEMORY_DEVICE, &memory);
    if (!status)
        status = leat_array_slice(memory, start, stop, step, &view);
    if (!status)
        status = leat_array_transpose(view, axes, array);
    if (!status)
        status = leat_array_get(*array, &whole);
    if (!status)
        status = leat_array_copy(*array, host, NULL, NULL);
    leat_array_free(view);
    leat_array_free(memory);
    return status;
}

static leat_status bind_scalar(leat_call *call, const struct item *item) {
    char *end;
    const char *text = item->values;
    errno = 0;
    if (text[strlen(text) - 1] == 'j') {
        const double re = strtod(text, &end);
        return leat_call_set_c128(call, item->name, re, strtod(end, NULL));
    }
    if (!strcmp(text, "true") || !strcmp(text, "false"))
        return leat_call_set_bool(call, item->name, text[0] == 't');
    const int64_t whole = strtoll(text, &end, 10);
    if (*end == '\0' && errno == 0)
        return leat_call_set_i64(call, item->name, whole);
    errno = 0;
    const uint64_t large = strtoull(text, &end, 10);
    if (*end == '\0' && errno == 0)
        return leat_call_set_u64(call, item->name, large);
    return leat_call_set_f64(call, item->name, strtod(text, NULL));
}

static leat_status bind_inputs(const struct test_case *test, leat_context *ctx, leat_call *call, enum layout layout,
                               bool in_device) {
    leat_status status = LEAT_OK;
    for (int k = 0; k < test->input_count && !status; k++) {
        const struct item *item = &test->inputs[k];
        leat_description description;
        leat_array *array = NULL;
        if (item->dtype == 0) {
            status = bind_scalar(call, item);
            continue;
        }
        char *dense = item_bytes(test, item), *memory = lay_out(item, dense, layout, &description);
        free(dense);
        status = leat_array_wrap(ctx, &description, free, memory, &array);
        if (status)
            free(memory);
        leat_array *host = array;
        if (!status && in_device && layout == LAYOUT_SPREAD)
            status = to_device(ctx, &description, host, &array);
        if (!status)
            status = leat_call_set_array(call, item->name, array);
        if (array != host)
            leat_array_free(array);
        leat_array_free(host);
    }
    return status;
}

static leat_status take_result(const struct item *out, leat_call *call, struct outcome *outcome, int k) {
    leat_array *array = NULL;
    leat_description description;
    leat_status status = leat_call_result(call, out->name, &array);
    if (!status)
        status = leat_array_get(array, &description);
    if (!status) {
        outcome->dtypes[k] = description.dtype;
        outcome->ranks[k] = description.rank;
        memcpy(outcome->shapes[k], description.shape, sizeof description.shape);
        outcome->sizes[k] = leat_dtype_size_bytes(description.dtype);
        for (int axis = 0; axis < description.rank; axis++)
            outcome->sizes[k] *= (size_t)description.shape[axis];
        if (outcome->sizes[k] <= RESULT_BYTES_MAX && (outcome->bytes[k] = malloc(outcome->sizes[k] + 1)))
            status = leat_array_read(array, outcome->bytes[k], outcome->sizes[k], NULL, NULL);
    }
    leat_array_free(array);
    return status;
}

/* The same once more, each result in an array of the caller's, which it may be made right in. */
static leat_status run_into_arrays(const struct test_case *test, leat_context *ctx, leat_call *call) {
    leat_status status = LEAT_OK;
    for (int k = 0; k < test->out_count && !status; k++) {
        leat_array *array = NULL, *own = NULL;
        leat_description d;
        status = leat_call_result(call, test->outs[k].name, &array);
        if (!status)
            status = leat_array_get(array, &d);
        if (!status)
            status = leat_array_new_empty(ctx, d.dtype, d.rank, d.shape, LEAT_MEMORY_DEVICE, &own);
        if (!status)
            status = leat_call_want(call, test->outs[k].name, own);
        leat_array_free(array);
        leat_array_free(own);
    }
    return status ? status : leat_call_run(call, NULL, NULL);
}

/* Whether its bits hang on more than arithmetic: by its IR. */
static bool has_freedom(leat_call *call) {
    static const char *const words[] = {
        "(rsqrt.",  "(cbrt.",  "(exp.",   "(exp2.",  "(expm1.", "(log.",       "(log2.", "(log10.",
        "(log1p.",  "(sin.",   "(cos.",   "(tan.",   "(asin.",  "(acos.",      "(atan.", "(sinh.",
        "(cosh.",   "(tanh.",  "(asinh.", "(acosh.", "(atanh.", "(erf.",       "(erfc.", "(lgamma.",
        "(tgamma.", "(atan2.", "(hypot.", "(**.f",   "(randn",  "\ncontract ", "\nscan "};
    char *text = NULL;
    bool found = false;
    if (leat_call_show(call, LEAT_FORM_IR, &text))
        return false;
    for (size_t k = 0; k < sizeof words / sizeof *words && !found; k++)
        found = strstr(text, words[k]) != NULL;
    leat_memory_free(text);
    return found;
}

static void run_case(const struct test_case *test, leat_context *ctx, enum layout layout, bool in_device,
                     struct outcome *outcome) {
    leat_program *program = NULL;
    leat_call *call = NULL;
    leat_ticket ticket;
    memset(outcome, 0, sizeof *outcome);
    leat_status status = leat_program_new(ctx, test->program, 0, NULL, &program);
    if (!status)
        status = leat_call_new(program, &call);
    if (!status)
        status = bind_inputs(test, ctx, call, layout, in_device);
    for (int k = 0; k < test->out_count && !status; k++)
        status = leat_call_want(call, test->outs[k].name, NULL);
    if (!status)
        status = leat_call_run(call, NULL, &ticket);
    if (!status)
        status = leat_ticket_wait(ctx, ticket);
    if (!status && layout == LAYOUT_WANTED)
        status = run_into_arrays(test, ctx, call);
    for (int k = 0; k < test->out_count && !status; k++)
        status = take_result(&test->outs[k], call, outcome, k);
    if (status)
        fill_failure(outcome, ctx, status);
    else
        outcome->is_free = has_freedom(call);
    leat_call_free(call);
    leat_program_free(program);
}

static void outcome_finish(struct outcome *outcome) {
    for (int k = 0; k < ITEMS_MAX; k++)
        free(outcome->bytes[k]);
}

/* ---- judging */

static int exit_code(leat_status status) {
    switch (status) {
    case LEAT_OK:
        return 0;
    case LEAT_INVALID:
    case LEAT_MISSING:
        return 2;
    case LEAT_DATA:
        return 6;
    case LEAT_PROGRAM:
    case LEAT_MISMATCH:
    case LEAT_UNSUPPORTED:
        return 1;
    default:
        return 99;
    }
}

static bool report(const struct test_case *test, const char *what, const char *detail) {
    printf("%s:%d: %s: %s\n%s", test->file, test->line, what, detail, test->program);
    return false;
}

/* size: that the tolerance is relative to. */
static bool near_real(const struct item *out, double a, double b, double size) {
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (a == b)
        return signbit(a) == signbit(b) || out->rtol > 0 || out->atol > 0;
    return fabs(a - b) <= out->rtol * size + out->atol;
}

static bool near(const struct item *out, const char *got, const char *expected) {
    const size_t size = leat_dtype_size_bytes(out->dtype);
    if (!is_real(out->dtype))
        return memcmp(got, expected, size) == 0;
    const leat_dtype part = part_of(out->dtype);
    const double a = real_at(part, got), b = real_at(part, expected);
    if (!is_complex(out->dtype))
        return near_real(out, a, b, fabs(b));
    const double c = real_at(part, got + size / 2), d = real_at(part, expected + size / 2), whole = hypot(b, d);
    return near_real(out, a, b, isfinite(whole) ? whole : fabs(b)) &&
           near_real(out, c, d, isfinite(whole) ? whole : fabs(d));
}

static bool same_value(const struct test_case *test, const struct outcome *outcome, int k) {
    const struct item *out = &test->outs[k];
    const size_t size = leat_dtype_size_bytes(out->dtype);
    char said[200], *expected;
    bool right = true;
    if (outcome->dtypes[k] != out->dtype) {
        snprintf(said, sizeof said, "type %s, expected %s", leat_dtype_name(outcome->dtypes[k]),
                 leat_dtype_name(out->dtype));
        return report(test, out->name, said);
    }
    if (outcome->ranks[k] != out->rank ||
        memcmp(outcome->shapes[k], out->shape, (size_t)out->rank * sizeof *out->shape))
        return report(test, out->name, "another shape than expected");
    expected = item_bytes(test, out);
    for (size_t n = 0; n < item_count(out) && right; n++) {
        const char *got = (const char *)outcome->bytes[k] + n * size;
        int64_t whole[2] = {0, 0};
        right = near(out, got, expected + n * size);
        memcpy(&whole[0], got, is_real(out->dtype) ? 0 : size);
        memcpy(&whole[1], expected + n * size, is_real(out->dtype) ? 0 : size);
        if (!right && is_complex(out->dtype))
            snprintf(said, sizeof said, "element %zu is %.17g%+.17gj, expected %.17g%+.17gj", n,
                     real_at(part_of(out->dtype), got), real_at(part_of(out->dtype), got + size / 2),
                     real_at(part_of(out->dtype), expected + n * size),
                     real_at(part_of(out->dtype), expected + n * size + size / 2));
        else if (!right && is_real(out->dtype))
            snprintf(said, sizeof said, "element %zu is %.17g, expected %.17g", n, real_at(out->dtype, got),
                     real_at(out->dtype, expected + n * size));
        else if (!right)
            snprintf(said, sizeof said, "element %zu is %lld, expected %lld", n, (long long)whole[0],
                     (long long)whole[1]);
    }
    free(expected);
    return right || report(test, out->name, said);
}

static bool right_outcome(const struct test_case *test, const struct outcome *outcome) {
    if (exit_code(outcome->status) != test->error_code)
        return report(test, test->error_code ? "another outcome than the error expected" : "failed",
                      outcome->status ? outcome->message : "no error");
    if (test->error_code) {
        char *words = strdup(test->words), *rest = NULL;
        bool right = true;
        for (char *word = strtok_r(words, " \t\r", &rest); word && right; word = strtok_r(NULL, " \t\r", &rest))
            if (!strstr(outcome->message, word))
                right = report(test, word, "not in the message:") && report(test, "message", outcome->message);
        if (!right)
            printf("message: %s\n", outcome->message);
        free(words);
        return right;
    }
    for (int k = 0; k < test->out_count; k++)
        if (!same_value(test, outcome, k))
            return false;
    return true;
}

static bool same_bits(const struct test_case *test, const struct outcome *a, const struct outcome *b, const char *how) {
    if (a->status != b->status)
        return report(test, how, b->status ? b->message : "succeeds");
    for (int k = 0; k < test->out_count && !a->status; k++)
        if (a->sizes[k] != b->sizes[k] || (a->bytes[k] && memcmp(a->bytes[k], b->bytes[k], a->sizes[k])))
            return report(test, how, "other bits");
    return true;
}

static bool right_results(const struct test_case *test, leat_context *ctx) {
    leat_program *program = NULL;
    leat_name_info info;
    size_t count = 0, length = 0;
    char names[1000] = "";
    if (leat_program_new(ctx, test->program, 0, NULL, &program))
        return report(test, "failed", leat_error_text(ctx));
    leat_program_count(program, LEAT_NAME_RESULT, &count);
    for (size_t k = 0; k < count && length < sizeof names; k++)
        if (!leat_program_name(program, LEAT_NAME_RESULT, k, &info))
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", k ? " " : "", info.name);
    leat_program_free(program);
    return !strcmp(names, test->results) || report(test, "default results", names);
}

static bool judge_on_cpu(const struct test_case *test, leat_context *const *contexts) {
    static const char *const layouts[LAYOUTS] = {"dense", "inputs spread out", "inputs backwards",
                                                 "results in arrays of the caller's"};
    struct outcome first, other;
    run_case(test, contexts[0], LAYOUT_DENSE, false, &first);
    bool right = right_outcome(test, &first);
    for (int k = 1; k < THREAD_KINDS + LAYOUTS - 1 && right; k++) {
        const bool threads = k < THREAD_KINDS;
        run_case(test, contexts[threads ? k : 0], threads ? LAYOUT_DENSE : (enum layout)(k - THREAD_KINDS + 1), false,
                 &other);
        right = same_bits(test, &first, &other, threads ? "another number of threads" : layouts[k - THREAD_KINDS + 1]);
        outcome_finish(&other);
    }
    outcome_finish(&first);
    return right;
}

/* All NaNs become one. */
static void clean_nans(const struct test_case *test, struct outcome *outcome) {
    for (int k = 0; k < test->out_count && !outcome->status; k++) {
        const leat_dtype part = part_of(outcome->dtypes[k]);
        const size_t size = leat_dtype_size_bytes(part);
        for (size_t at = 0; is_real(part) && outcome->bytes[k] && at < outcome->sizes[k]; at += size)
            if (isnan(real_at(part, (char *)outcome->bytes[k] + at)))
                memset((char *)outcome->bytes[k] + at, 0xff, size);
    }
}

/* Functions of a device's library, too, are the same for both. */
static bool same_as_compiled(const struct test_case *test, const struct suite *suite, const struct outcome *found) {
    struct outcome compiled;
    run_case(test, suite->compiled, LAYOUT_DENSE, true, &compiled);
    clean_nans(test, &compiled);
    bool right = same_bits(test, &compiled, found, "not the compiled kernels'");
    outcome_finish(&compiled);
    return right;
}

/* Statements that the device has interpreted. */
static uint64_t count_interpreted(const struct suite *suite) {
    uint64_t count = 0;
    leat_cost cost;
    for (size_t k = 0; leat_ledger_get(suite->device, k, &cost) == LEAT_OK; k++)
        count += cost.kind == LEAT_COST_INTERPRET ? cost.count : 0;
    return count;
}

static bool judge_on_device(const struct test_case *test, struct suite *suite) {
    static const char *const layouts[LAYOUTS] = {"", "inputs in device memory, spread out", "inputs backwards",
                                                 "results in arrays of the caller's"};
    struct outcome cpu, first, other;
    run_case(test, suite->contexts[0], LAYOUT_DENSE, false, &cpu);
    run_case(test, suite->device, LAYOUT_DENSE, true, &first);
    bool right = right_outcome(test, &first);
    clean_nans(test, &first); /* which of two NaNs an operation gives may depend on the layout */
    for (int k = 1; k < LAYOUTS && right; k++) {
        run_case(test, suite->device, (enum layout)k, true, &other);
        clean_nans(test, &other);
        right = same_bits(test, &first, &other, layouts[k]);
        outcome_finish(&other);
    }
    clean_nans(test, &cpu);
    if (right && !cpu.is_free)
        right = same_bits(test, &cpu, &first, "not the CPU's");
    else if (right && suite->compiled)
        right = same_as_compiled(test, suite, &first);
    *(cpu.is_free ? &suite->free : &suite->exact) += right && !cpu.status;
    outcome_finish(&first);
    outcome_finish(&cpu);
    return right;
}

static bool show(const struct test_case *test, struct suite *suite) {
    leat_program *program = NULL;
    leat_call *call = NULL;
    char *text = NULL, *cuda = NULL;
    leat_context *ctx = suite->device;
    leat_status status = leat_program_new(ctx, test->program, 0, NULL, &program);
    if (!status)
        status = leat_call_new(program, &call);
    if (!status)
        status = bind_inputs(test, ctx, call, LAYOUT_DENSE, true);
    for (int k = 0; k < test->out_count && !status; k++)
        status = leat_call_want(call, test->outs[k].name, NULL);
    if (!status)
        status = leat_call_show(call, suite->form, &text);
    if (suite->checks_texts && !status)
        status = leat_call_show(call, LEAT_FORM_CUDA, &cuda);
    bool right = !status && (!cuda || kernel_texts_agree(text, cuda, &suite->kernels));
    if (!right)
        fprintf(stderr, "%s:%d: %s\n", test->file, test->line, status ? leat_error_text(ctx) : test->program);
    else if (!cuda)
        fputs(text, stdout);
    leat_memory_free(text);
    leat_memory_free(cuda);
    leat_call_free(call);
    leat_program_free(program);
    return right;
}

static void judge(const struct test_case *test, struct suite *suite) {
    if (suite->seen++ % suite->parts != suite->part)
        return;
    if (suite->shows) {
        if (!test->error_code)
            *(show(test, suite) ? &suite->passed : &suite->failed) += 1;
        return;
    }
    bool right = !test->results || right_results(test, suite->device ? suite->device : suite->contexts[0]);
    if (test->error_code || test->out_count)
        right = (suite->device ? judge_on_device(test, suite) : judge_on_cpu(test, suite->contexts)) && right;
    *(right ? &suite->passed : &suite->failed) += 1;
}

/* ---- reading */

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    size_t length = 0, capacity = 1 << 16;
    char *text = malloc(capacity + 1);
    while (file && text) {
        const size_t got = fread(text + length, 1, capacity - length, file);
        length += got;
        if (!got)
            break;
        if (length == capacity)
            text = realloc(text, (capacity *= 2) + 1);
    }
    if (!file || !text || ferror(file)) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    fclose(file);
    text[length] = '\0';
    return text;
}

/* "NAME DTYPE SHAPE... [rtol R] [atol A]" */
static void parse_item(const struct test_case *test, char *words, struct item *item) {
    char *rest = NULL, *word = strtok_r(words, " \t\r", &rest);
    if (!word)
        die(test, "section", "no name");
    *item = (struct item){.name = word, .values = (char *)""};
    word = strtok_r(NULL, " \t\r", &rest);
    if (!word || leat_dtype_parse(word, &item->dtype))
        die(test, item->name, "no such type");
    while ((word = strtok_r(NULL, " \t\r", &rest))) {
        double *tolerance = !strcmp(word, "rtol") ? &item->rtol : !strcmp(word, "atol") ? &item->atol : NULL;
        if (!tolerance && item->rank < LEAT_RANK_MAX)
            item->shape[item->rank++] = strtoll(word, NULL, 10);
        else if (!tolerance || !(word = strtok_r(NULL, " \t\r", &rest)))
            die(test, item->name, "wrong shape or tolerance");
        else
            *tolerance = strtod(word, NULL);
    }
}

/* A section's heading, after "== "; gives where the lines that follow belong, or NULL. */
static char **open_section(struct test_case *test, char *heading) {
    char *rest = heading + strcspn(heading, " ");
    if (*rest)
        *rest++ = '\0';
    rest += strspn(rest, " ");
    rest[strcspn(rest, "\r")] = '\0';
    if (test->input_count == ITEMS_MAX || test->out_count == ITEMS_MAX)
        die(test, heading, "too many");
    if (!strcmp(heading, "program"))
        return &test->program;
    if (!strcmp(heading, "in")) {
        parse_item(test, rest, &test->inputs[test->input_count]);
        return &test->inputs[test->input_count++].values;
    }
    if (!strcmp(heading, "out")) {
        parse_item(test, rest, &test->outs[test->out_count]);
        return &test->outs[test->out_count++].values;
    }
    if (!strcmp(heading, "scalar")) {
        struct item *item = &test->inputs[test->input_count++];
        *item = (struct item){.name = rest, .values = rest + strcspn(rest, " ")};
        if (*item->values)
            *item->values++ = '\0';
    } else if (!strcmp(heading, "results"))
        test->results = rest;
    else if (!strcmp(heading, "error")) {
        test->error_code = (int)strtol(rest, &test->words, 10);
        if (test->error_code <= 0)
            die(test, "error", "no exit code");
    } else
        die(test, "no such section", heading);
    return NULL;
}

/* Runs all cases of one file; adds to the counts. */
static void run_file(const char *path, struct suite *suite) {
    char *text = read_file(path), *line, *next = text, **open = NULL;
    struct test_case test = {.file = path};
    for (int number = 1; *next; number++) {
        line = next;
        next += strcspn(next, "\n");
        char *end = next;
        if (*next)
            next++;
        if (strncmp(line, "== ", 3)) { /* text goes on where its section began; comments stand before programs only */
            if (open && !*open)
                *open = line;
            else if (open && !**open)
                *open = line;
            continue;
        }
        line[0] = '\0';
        *end = '\0';
        if (!strcmp(line + 3, "end")) {
            if (!test.program)
                die(&test, "case", "no program");
            judge(&test, suite);
            test = (struct test_case){.file = path};
            open = NULL;
            continue;
        }
        if (!test.line)
            test.line = number;
        open = open_section(&test, line + 3);
    }
    if (test.line)
        die(&test, "case", "no == end");
    free(text);
}

/* Options go before files; gives the number of the first file. */
static int parse_options(int argc, char **argv, const char **device, struct suite *suite) {
    int first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        if (!strcmp(argv[first], "--device"))
            *device = argv[first + 1];
        else if (!strcmp(argv[first], "--show")) {
            suite->shows = true;
            suite->form = !strcmp(argv[first + 1], "cuda") ? LEAT_FORM_CUDA : LEAT_FORM_KERNEL;
            suite->checks_texts = !strcmp(argv[first + 1], "check");
        } else if (!strcmp(argv[first], "--interpret") && !strcmp(argv[first + 1], "only"))
            suite->interprets = true;
        else if (strcmp(argv[first], "--only") != 0 ||
                 sscanf(argv[first + 1], "%d/%d", &suite->part, &suite->parts) != 2 || suite->parts < 1)
            exit(2);
    }
    return first;
}

static leat_context *open_or_exit(const leat_options *options, int code) {
    leat_context *ctx = NULL;
    if (leat_open(options, &ctx)) {
        fprintf(stderr, "%s\n", leat_error_text(NULL));
        exit(code);
    }
    return ctx;
}

int main(int argc, char **argv) {
    static const int threads[THREAD_KINDS] = {2, 1, 7};
    struct suite suite = {.parts = 1};
    const char *device = NULL;
    int first = parse_options(argc, argv, &device, &suite);
    setvbuf(stdout, NULL, _IOLBF, 0); /* what a crash follows is not lost */
    /* few modules stay loaded: on sim each keeps stacks for its threads */
    leat_options there = {
        .device = device, .keep_code = true, .code_cap_bytes = 256 << 10, .interpret = LEAT_INTERPRET_NEVER};
    const int refused = !device || strcmp(device, "cuda") || getenv("LEAT_TEST_CUDA") ? 2 : NO_DEVICE;
    if (suite.interprets)
        suite.compiled = open_or_exit(&there, refused);
    there.interpret = suite.interprets ? LEAT_INTERPRET_ONLY : LEAT_INTERPRET_NEVER;
    if (device)
        suite.device = open_or_exit(&there, refused);
    for (int k = 0; k < THREAD_KINDS; k++) {
        const leat_options here = {.device = "cpu", .threads = threads[k]};
        suite.contexts[k] = open_or_exit(&here, 2);
    }
    for (int k = first; k < argc; k++)
        run_file(argv[k], &suite);
    for (int k = 0; k < THREAD_KINDS; k++)
        leat_close(suite.contexts[k]);
    if (suite.checks_texts)
        printf("%d kernels' texts are read back\n", suite.kernels);
    if (suite.shows) {
        leat_close(suite.device);
        return suite.checks_texts && (suite.failed || !suite.kernels) ? 1 : 0;
    }
    if (device)
        printf("%d programs compared byte for byte with the CPU, %d within a tolerance\n", suite.exact, suite.free);
    if (suite.interprets) {
        uint64_t count = count_interpreted(&suite);
        printf("%llu runs of statements interpreted\n", (unsigned long long)count);
        suite.failed += count == 0;
    }
    leat_close(suite.device);
    leat_close(suite.compiled);
    printf("%d cases passed, %d failed\n", suite.passed, suite.failed);
    return suite.failed || !suite.passed ? 1 : 0;
}
