/* See value.h. */
#include "cli/value.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_digits(const char *at) {
    while (isdigit((unsigned char)*at))
        at++;
    return at;
}

/* The end of a decimal number, or NULL if there is none; *is_float: it has a point or an exponent. */
static const char *scan_decimal(const char *at, bool *is_float) {
    const char *whole = at;
    at = skip_digits(at);
    size_t digits = (size_t)(at - whole);
    *is_float = false;
    if (*at == '.') {
        const char *fraction = ++at;
        at = skip_digits(at);
        digits += (size_t)(at - fraction);
        *is_float = true;
    }
    if (digits == 0)
        return NULL;
    if (*at != 'e' && *at != 'E')
        return at;
    const char *exponent = at + 1 + (at[1] == '+' || at[1] == '-');
    *is_float = true;
    return isdigit((unsigned char)*exponent) ? skip_digits(exponent) : NULL;
}

static struct le_cli_value whole_value(const char *digits, int base, bool negative) {
    errno = 0;
    uint64_t magnitude = strtoull(digits, NULL, base);
    if (errno == ERANGE)
        return (struct le_cli_value){.kind = LE_VALUE_RANGE};
    if (negative && magnitude > (uint64_t)INT64_MAX + 1)
        return (struct le_cli_value){.kind = LE_VALUE_RANGE};
    if (!negative && magnitude > INT64_MAX)
        return (struct le_cli_value){.kind = LE_VALUE_U64, .u64 = magnitude};
    int64_t value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return (struct le_cli_value){.kind = LE_VALUE_I64, .i64 = value};
}

static struct le_cli_value real_value(double value, bool negative) {
    return (struct le_cli_value){.kind = LE_VALUE_F64, .f64 = negative ? -value : value};
}

/* Parses "2j", or a sum "1-2.5j" of decimal numbers, perhaps in parentheses; LE_VALUE_PATH if it is neither. */
static struct le_cli_value complex_value(const char *text) {
    struct le_cli_value path = {.kind = LE_VALUE_PATH};
    bool wrapped = *text == '(';
    text += wrapped;
    bool is_float, has_sign = *text == '-' || *text == '+';
    const char *part = text, *end = scan_decimal(text + has_sign, &is_float);
    if (end && (*end == '+' || *end == '-')) {
        part = end;
        end = scan_decimal(part + 1, &is_float);
    }
    if (!end || strcmp(end, wrapped ? "j)" : "j") != 0)
        return path;
    struct le_cli_value value = {.kind = LE_VALUE_C128, .im = strtod(part, NULL)};
    if (part != text)
        value.f64 = strtod(text, NULL);
    return isinf(value.im) || isinf(value.f64) ? (struct le_cli_value){.kind = LE_VALUE_RANGE} : value;
}

struct le_cli_value le_cli_value_parse(const char *text) {
    struct le_cli_value path = {.kind = LE_VALUE_PATH};
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return (struct le_cli_value){.kind = LE_VALUE_BOOL, .boolean = *text == 't'};
    size_t length = strlen(text);
    if (length > 0 && (text[length - 1] == 'j' || *text == '('))
        return complex_value(text);
    bool negative = *text == '-', is_float;
    if (*text == '-' || *text == '+')
        text++;
    if (strcmp(text, "inf") == 0)
        return real_value((double)INFINITY, negative);
    if (strcmp(text, "nan") == 0)
        return real_value((double)NAN, negative);
    if (text[0] == '0' && text[1] == 'x') {
        const char *end = text + 2;
        while (isxdigit((unsigned char)*end))
            end++;
        return end > text + 2 && *end == '\0' ? whole_value(text, 16, negative) : path;
    }
    const char *end = scan_decimal(text, &is_float);
    if (!end || *end)
        return path;
    if (!is_float)
        return whole_value(text, 10, negative);
    double value = strtod(text, NULL);
    return isinf(value) ? (struct le_cli_value){.kind = LE_VALUE_RANGE} : real_value(value, negative);
}
