/* See launch_arguments.h. */
#include "cli/launch_arguments.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/value.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TYPE_CHARS = 8, NUMBER_CHARS = 128 };

/* ---- arrays */

bool le_cli_extents_parse(const char *text, leat_dtype *dtype, int *rank, int64_t *shape) {
    char type[TYPE_CHARS] = "";
    size_t length = strcspn(text, "[");
    if (text[length] != '[' || length >= sizeof type)
        return false;
    memcpy(type, text, length);
    if (leat_dtype_parse(type, dtype))
        return false;
    const char *at = text + length + 1;
    for (*rank = 0; *at != ']'; (*rank)++) {
        char *end;
        if (*rank == LEAT_RANK_MAX || !isdigit((unsigned char)*at))
            return false;
        errno = 0;
        shape[*rank] = strtoll(at, &end, 10);
        if (errno || (*end != ',' && *end != ']') || (*end == ',' && end[1] == ']'))
            return false;
        at = end + (*end == ',');
    }
    return at[1] == '\0';
}

/* Makes a zeroed array. keep: also makes a second one, from which the first is refilled before each run. */
static int make_new(struct le_cli *cli, leat_dtype dtype, int rank, const int64_t *shape, bool keep,
                    struct le_cli_argument *argument) {
    leat_status status = leat_array_new(cli->ctx, dtype, rank, shape, LEAT_MEMORY_DEVICE, &argument->array);
    if (!status && keep)
        status = leat_array_new(cli->ctx, dtype, rank, shape, LEAT_MEMORY_DEVICE, &argument->source);
    return le_cli_library_error(cli, status);
}

/* Whether text looks like TYPE[...] and no file has that name. */
static bool is_meant_as_extents(const char *text) {
    size_t type = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789"), length = strlen(text);
    return type > 0 && text[type] == '[' && text[length - 1] == ']' && access(text, F_OK) != 0;
}

static int make_loaded(struct le_cli *cli, const struct le_cli_binding *binding, struct le_cli_argument *argument) {
    leat_description description;
    int code = strcmp(binding->value, "-") == 0
                   ? le_cli_load_stdin(cli, (leat_dtype)0, &argument->source)
                   : le_cli_library_error(cli, leat_array_load(cli->ctx, binding->value, binding->key, (leat_dtype)0,
                                                               &argument->source));
    if (code)
        return code;
    leat_status status = leat_array_get(argument->source, &description);
    if (!status)
        status = leat_array_new(cli->ctx, description.dtype, description.rank, description.shape, LEAT_MEMORY_DEVICE,
                                &argument->array);
    if (!status)
        status = leat_array_copy(argument->array, argument->source, NULL, NULL);
    return le_cli_library_error(cli, status);
}

/* ---- numbers */

uint16_t le_cli_half(double value, leat_dtype dtype) {
    int fraction_bits = dtype == LEAT_F16 ? 10 : 7, exponent_least = dtype == LEAT_F16 ? -14 : -126;
    double most = dtype == LEAT_F16 ? 65504 : ldexp(255, 120);
    uint16_t sign = signbit(value) ? 0x8000 : 0, infinite = dtype == LEAT_F16 ? 0x7c00 : 0x7f80;
    double magnitude = fabs(value);
    int exponent;
    if (isnan(value))
        return (uint16_t)(infinite | 1u << (fraction_bits - 1));
    frexp(magnitude, &exponent);
    int step = exponent - 1 > exponent_least ? exponent - 1 : exponent_least; /* of the leading bit */
    double units = nearbyint(ldexp(magnitude, fraction_bits - step));
    if (ldexp(units, step - fraction_bits) > most)
        return sign | infinite;
    /* a carry out of the fraction correctly increments the exponent */
    unsigned bits = (unsigned)units;
    if (units >= ldexp(1, fraction_bits))
        bits += (unsigned)(step - exponent_least) << fraction_bits;
    return (uint16_t)(sign | bits);
}

struct argument_number {
    const char *name, *text;
    char parameter[100]; /* "parameter 4 (n)" */
    struct le_cli_value value;
};

/* A double that rounds to f32 or narrower exactly as the whole number would (round to odd): if bits are lost, the last
 * bit is set. */
static double sticky(uint64_t magnitude) {
    bool inexact = (magnitude & 0x7ff) != 0;
    return magnitude >> 53 ? (double)(magnitude >> 11 | inexact) * 2048 : (double)magnitude;
}

static double real_value(const struct le_cli_value *value, leat_dtype dtype) {
    bool negative = value->kind == LE_VALUE_I64 && value->i64 < 0;
    if (value->kind == LE_VALUE_F64)
        return value->f64;
    if (value->kind == LE_VALUE_BOOL)
        return (double)value->boolean;
    uint64_t whole = value->kind == LE_VALUE_U64 ? value->u64 : (uint64_t)value->i64;
    whole = negative ? 0 - whole : whole;
    double real = dtype == LEAT_F64 ? (double)whole : sticky(whole);
    return negative ? -real : real;
}

static bool set_float(const struct argument_number *number, leat_dtype dtype, leat_argument *argument) {
    double real = real_value(&number->value, dtype);
    if (dtype == LEAT_F64)
        *argument = leat_f64(real);
    else if (dtype == LEAT_F32)
        *argument = leat_f32((float)real);
    else {
        uint16_t half = le_cli_half(real, dtype);
        memcpy(argument->number.all, &half, sizeof half);
    }
    argument->dtype = dtype;
    return true;
}

/* Sets an integer argument; false if the number is not whole or does not fit the type. */
static bool set_integer(const struct argument_number *number, leat_dtype dtype, leat_argument *argument) {
    struct le_cli_value value = number->value;
    int bits = 8 * (int)leat_dtype_size_bytes(dtype);
    bool is_unsigned = dtype >= LEAT_U8 && dtype <= LEAT_U64;
    if (value.kind == LE_VALUE_BOOL) {
        value.i64 = value.boolean;
    } else if (value.kind == LE_VALUE_F64) {
        if (!(fabs(value.f64) < 0x1p63) || value.f64 != floor(value.f64))
            return false;
        value.i64 = (int64_t)value.f64;
    } else if (value.kind == LE_VALUE_U64) {
        argument->number.u64 = value.u64;
        return bits == 64;
    }
    int64_t most = bits < 64 ? (int64_t)((uint64_t)1 << bits) - 1 : INT64_MAX;
    int64_t least = is_unsigned ? 0 : bits < 64 ? -((int64_t)1 << (bits - 1)) : INT64_MIN;
    argument->number.i64 = value.i64;
    return value.i64 >= least && value.i64 <= most;
}

static int set_number(struct le_cli *cli, const struct argument_number *number, leat_dtype dtype,
                      leat_argument *argument) {
    bool is_float = dtype >= LEAT_F16;
    if (number->value.kind == LE_VALUE_C128 || dtype >= LEAT_C64)
        return le_cli_fail(cli, LEAT_INVALID, "%s=%s: complex numbers can only be passed in arrays", number->name,
                           number->text);
    *argument = leat_i64(0);
    argument->dtype = dtype;
    if (is_float ? set_float(number, dtype, argument) : set_integer(number, dtype, argument))
        return LE_EXIT_OK;
    return le_cli_fail(cli, LEAT_INVALID, "%s=%s: %s is a %zu-byte integer%s", number->name, number->text,
                       number->parameter, leat_dtype_size_bytes(dtype),
                       number->value.kind == LE_VALUE_F64 ? "" : ", and the number does not fit");
}

/* Splits `100:u32` at the last colon into the number and its type; false if value is not a number with a type. */
static bool split_type(const char *value, char text[NUMBER_CHARS], leat_dtype *dtype) {
    const char *colon = strrchr(value, ':');
    size_t length = colon ? (size_t)(colon - value) : 0;
    if (!colon || length >= NUMBER_CHARS)
        return false;
    memcpy(text, value, length);
    text[length] = '\0';
    return leat_dtype_parse(colon + 1, dtype) == LEAT_OK && le_cli_value_parse(text).kind != LE_VALUE_PATH;
}

/* Whether the binding is a number. text and dtype receive the number and its type (0: no type given). */
static bool is_number(const struct le_cli_binding *binding, char text[NUMBER_CHARS], leat_dtype *dtype) {
    *dtype = (leat_dtype)0;
    if (split_type(binding->value, text, dtype))
        return true;
    *dtype = (leat_dtype)0;
    if (strlen(binding->value) >= NUMBER_CHARS || le_cli_value_parse(binding->value).kind == LE_VALUE_PATH)
        return false;
    strcpy(text, binding->value);
    return true;
}

static void name_parameter(const leat_parameter_info *info, size_t k, char text[100]) {
    snprintf(text, 100, *info->name ? "parameter %zu (%.60s)" : "parameter %zu", k + 1, info->name);
}

/* Refuses an array for a parameter that is not a pointer. */
static int check_pointer(struct le_cli *cli, const struct le_cli_binding *binding, leat_kernel *kernel, size_t k) {
    leat_parameter_info info;
    char parameter[100], type[32];
    int code = le_cli_library_error(cli, leat_kernel_parameter(kernel, k, &info));
    if (code || info.is_address)
        return code;
    name_parameter(&info, k, parameter);
    bool is_integer = info.dtype >= LEAT_I8 && info.dtype <= LEAT_U64;
    if (is_integer)
        snprintf(type, sizeof type, "a %zu-byte integer", info.size_bytes);
    else if (info.dtype)
        snprintf(type, sizeof type, "an %s", leat_dtype_name(info.dtype));
    else
        snprintf(type, sizeof type, "a struct of %zu bytes", info.size_bytes);
    return le_cli_fail(cli, LEAT_INVALID, "%s=%s is an array, but %s is %s", binding->name, binding->value, parameter,
                       type);
}

static int make_number(struct le_cli *cli, const struct le_cli_binding *binding, leat_kernel *kernel, size_t k,
                       const char *text, leat_dtype dtype, leat_argument *argument) {
    leat_parameter_info info;
    struct argument_number number = {.name = binding->name, .text = text, .value = le_cli_value_parse(text)};
    int code = le_cli_library_error(cli, leat_kernel_parameter(kernel, k, &info));
    if (code)
        return code;
    name_parameter(&info, k, number.parameter);
    if (number.value.kind == LE_VALUE_RANGE)
        return le_cli_fail(cli, LEAT_INVALID, "%s=%s: no type can hold this number", binding->name, text);
    if (!dtype)
        dtype = info.dtype;
    if (!dtype && info.size_bytes == 2)
        return le_cli_fail(cli, LEAT_INVALID, "%s=%s: the type of %s, which has 2 bytes, is unknown; write %s=%s:f16",
                           binding->name, text, number.parameter, binding->name, text);
    if (!dtype)
        return le_cli_fail(cli, LEAT_INVALID,
                           "%s=%s: %s is a struct of %zu bytes; the command line cannot pass a struct", binding->name,
                           text, number.parameter, info.size_bytes);
    return set_number(cli, &number, dtype, argument);
}

/* ---- names */

/* The index of the parameter with that name; count if there is none or the names are unknown. */
static size_t find_parameter(leat_kernel *kernel, size_t count, const char *name) {
    leat_parameter_info info;
    size_t k = 0;
    while (k < count && (leat_kernel_parameter(kernel, k, &info) != LEAT_OK || strcmp(info.name, name) != 0))
        k++;
    return k;
}

enum { NAMES_CHARS = 400 };

/* "a, x, y, n"; "" if the names are unknown. */
static const char *write_names(leat_kernel *kernel, size_t count, char text[NAMES_CHARS]) {
    size_t length = 0;
    leat_parameter_info info;
    text[0] = '\0';
    for (size_t k = 0; k < count && length < NAMES_CHARS; k++) {
        if (leat_kernel_parameter(kernel, k, &info) != LEAT_OK || !*info.name)
            return "";
        length += (size_t)snprintf(text + length, NAMES_CHARS - length, "%s%s", k ? ", " : "", info.name);
    }
    return text;
}

int le_cli_arguments_wrong_count(struct le_cli *cli, const struct le_cli_line *line, leat_kernel *kernel) {
    leat_kernel_info info;
    char names[NAMES_CHARS];
    int code = le_cli_library_error(cli, leat_kernel_get(kernel, &info));
    if (code)
        return code;
    const char *known = write_names(kernel, (size_t)info.parameter_count, names);
    return le_cli_usage(cli, "%s takes %d argument%s%s%s%s, not %zu", info.name, info.parameter_count,
                        info.parameter_count == 1 ? "" : "s", *known ? " (" : "", known, *known ? ")" : "",
                        line->binding_count);
}

void le_cli_arguments_check_names(struct le_cli *cli, const struct le_cli_line *line, leat_kernel *kernel) {
    char names[NAMES_CHARS], note[NAMES_CHARS + 400];
    leat_parameter_info info;
    const char *known = write_names(kernel, line->binding_count, names);
    for (size_t k = 0; *known && k < line->binding_count; k++) {
        const char *name = line->bindings[k].name;
        size_t meant = find_parameter(kernel, line->binding_count, name);
        if (meant == line->binding_count || meant == k || leat_kernel_parameter(kernel, k, &info) != LEAT_OK)
            continue;
        snprintf(note, sizeof note,
                 "arguments are matched by position, not by name: %.100s=... is passed as parameter %zu, %.100s; the "
                 "kernel's parameters are %s",
                 name, k + 1, info.name, known);
        le_cli_note(cli, note);
        return;
    }
}

/* ---- all of them */

static int make_one(struct le_cli *cli, const struct le_cli_binding *binding, leat_kernel *kernel, bool keep, size_t k,
                    struct le_cli_arguments *arguments) {
    struct le_cli_argument *argument = &arguments->items[k];
    char text[NUMBER_CHARS];
    leat_dtype dtype;
    int rank, code;
    int64_t shape[LEAT_RANK_MAX];
    argument->name = binding->name;
    if (is_number(binding, text, &dtype))
        return make_number(cli, binding, kernel, k, text, dtype, &arguments->values[k]);
    if (le_cli_extents_parse(binding->value, &dtype, &rank, shape))
        code = make_new(cli, dtype, rank, shape, keep, argument);
    else if (is_meant_as_extents(binding->value))
        code = le_cli_usage(cli, "%s=%s: not an array; write a type and up to %d extents, such as f32[100,4]",
                            binding->name, binding->value, LEAT_RANK_MAX);
    else
        code = make_loaded(cli, binding, argument);
    if (!code)
        code = check_pointer(cli, binding, kernel, k);
    arguments->values[k] = leat_inout(argument->array);
    return code;
}

int le_cli_arguments_make(struct le_cli *cli, const struct le_cli_line *line, leat_kernel *kernel, bool keep,
                          struct le_cli_arguments *arguments) {
    size_t room = line->binding_count + 1;
    *arguments = (struct le_cli_arguments){.items = calloc(room, sizeof *arguments->items),
                                           .values = calloc(room, sizeof *arguments->values),
                                           .count = line->binding_count};
    if (!arguments->items || !arguments->values) {
        arguments->count = 0;
        return le_cli_fail(cli, LEAT_OUT_OF_MEMORY, "out of memory");
    }
    int code = LE_EXIT_OK;
    for (size_t k = 0; k < line->binding_count && !code; k++) {
        le_cli_progress_set(cli, line->bindings[k].value, k, line->binding_count);
        code = make_one(cli, &line->bindings[k], kernel, keep, k, arguments);
    }
    return code;
}

int le_cli_arguments_refill(struct le_cli *cli, struct le_cli_arguments *arguments) {
    leat_status status = LEAT_OK;
    for (size_t k = 0; k < arguments->count && !status; k++)
        if (arguments->items[k].source)
            status = leat_array_copy(arguments->items[k].array, arguments->items[k].source, NULL, NULL);
    return le_cli_library_error(cli, status);
}

leat_array *le_cli_arguments_find(const struct le_cli_arguments *arguments, const char *name) {
    for (size_t k = 0; k < arguments->count; k++)
        if (strcmp(arguments->items[k].name, name) == 0)
            return arguments->items[k].array;
    return NULL;
}

void le_cli_arguments_free(struct le_cli_arguments *arguments) {
    for (size_t k = 0; k < arguments->count; k++) {
        leat_array_free(arguments->items[k].array);
        leat_array_free(arguments->items[k].source);
    }
    free(arguments->items);
    free(arguments->values);
    *arguments = (struct le_cli_arguments){0};
}
