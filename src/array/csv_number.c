/* See csv.h: parses numbers. A number with few digits is computed exactly. Any other number is passed to strtod,
 * without a decimal point, whose character depends on the locale. */
#include "array/csv.h"
#include "base/text.h"
#include "spec/type.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MANTISSA_DIGITS = 19, /* digits that fit in 64 bits */
    STRTOD_DIGITS = 800,  /* at most 767 digits decide how a double is rounded */
    POWERS = 23,          /* powers of ten that are exact as doubles */
    EXPONENT_MOST = 99999
};

/* A number in text: mantissa times ten to the power of exponent. */
struct decimal_number {
    bool negative, whole; /* whole: it has no point and no exponent */
    uint64_t mantissa;    /* the first MANTISSA_DIGITS significant digits */
    int digits;           /* number of significant digits; leading zeros do not count */
    int64_t exponent;     /* decimal exponent of the last digit */
    const char *first, *end;
};

static void add_digit(struct decimal_number *number, char digit) {
    if (number->digits == 0 && digit == '0')
        return;
    if (number->digits < MANTISSA_DIGITS)
        number->mantissa = number->mantissa * 10 + (uint64_t)(digit - '0');
    if (number->digits <= STRTOD_DIGITS)
        number->digits++;
}

/* [digits][.digits], at least one of the two. */
static const char *scan_digits(const char *at, const char *end, struct decimal_number *number) {
    int64_t count = 0;
    for (; at < end && le_is_digit(*at); at++, count++)
        add_digit(number, *at);
    if (at == end || *at != '.')
        return count ? at : NULL;
    number->whole = false;
    for (at++; at < end && le_is_digit(*at); at++, count++) {
        add_digit(number, *at);
        number->exponent--;
    }
    return count ? at : NULL;
}

/* (e|E)[sign]digits */
static const char *scan_exponent(const char *at, const char *end, struct decimal_number *number) {
    number->whole = false;
    at++;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end)
        return NULL;
    int64_t exponent = 0;
    for (; at < end && le_is_digit(*at); at++)
        exponent = exponent < EXPONENT_MOST ? exponent * 10 + (*at - '0') : exponent;
    number->exponent += negative ? -exponent : exponent;
    return at;
}

static bool scan_number(const char *text, size_t length, struct decimal_number *number) {
    const char *at = text, *end = text + length;
    *number = (struct decimal_number){.whole = true, .end = end};
    number->negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    number->first = at;
    at = scan_digits(at, end, number);
    if (at && at < end && (*at == 'e' || *at == 'E'))
        at = scan_exponent(at, end, number);
    return at == end;
}

/* ---- floats */

/* nan and the infinities, in any case */
static bool scan_special(const char *text, size_t length, double *value) {
    static const struct {
        const char *name;
        double value;
    } names[] = {{"nan", (double)NAN}, {"inf", (double)INFINITY}, {"infinity", (double)INFINITY}};
    bool negative = length > 0 && *text == '-', has_sign = negative || (length > 0 && *text == '+');
    text += has_sign;
    length -= has_sign;
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        if (strlen(names[k].name) == length && strncasecmp(text, names[k].name, length) == 0) {
            *value = negative ? -names[k].value : names[k].value;
            return true;
        }
    return false;
}

/* Writes "digits e exponent" for strtod. Of the digits that do not fit, only whether one is not zero matters. */
static void write_digits(const struct decimal_number *number, char *text, size_t size) {
    int64_t exponent = number->exponent;
    int count = 0;
    bool more = false;
    for (const char *at = number->first; at < number->end && (*at | 0x20) != 'e'; at++) {
        if (*at == '.' || (count == 0 && *at == '0'))
            continue;
        if (count < STRTOD_DIGITS)
            text[count++] = *at;
        else
            more |= *at != '0', exponent++;
    }
    if (more) {
        text[count++] = '1';
        exponent--;
    }
    snprintf(text + count, size - (size_t)count, "e%lld", (long long)exponent);
}

static double real_value(const struct decimal_number *number, bool single) {
    static const double powers[POWERS] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    char text[STRTOD_DIGITS + 32];
    double value;
    if (number->digits == 0) {
        value = 0;
    } else if (!single && number->digits <= MANTISSA_DIGITS && number->mantissa <= (uint64_t)1 << 53 &&
               number->exponent > -POWERS && number->exponent < POWERS) {
        value = (double)number->mantissa; /* exact, as the power is: one rounding */
        value = number->exponent < 0 ? value / powers[-number->exponent] : value * powers[number->exponent];
    } else {
        write_digits(number, text, sizeof text);
        value = single ? (double)strtof(text, NULL) : strtod(text, NULL);
    }
    return number->negative ? -value : value;
}

/* The bits of a 16-bit float with `bits` bits of precision, whose smallest step is 2 to the power of least. */
static uint16_t small_float(double value, int bits, int least) {
    uint16_t infinity = (uint16_t)(0x7fff & ~((1 << (bits - 1)) - 1)), sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value))
        return (uint16_t)(infinity | 1 << (bits - 2));
    int exponent;
    frexp(value, &exponent);
    int step = value != 0 && exponent - bits > least ? exponent - bits : least;
    if (isinf(value) || step - least >= infinity >> (bits - 1))
        return sign | infinity;
    /* a fraction rounded up to the next power of two correctly increments the exponent */
    uint32_t encoded = ((uint32_t)(step - least) << (bits - 1)) + (uint32_t)nearbyint(ldexp(fabs(value), -step));
    return (uint16_t)(sign | (encoded < infinity ? encoded : infinity));
}

/* Stores value as a float of that type. Returns whether it became infinite. */
static bool store_float(double value, leat_dtype dtype, void *at) {
    if (dtype == LEAT_F64) {
        memcpy(at, &value, sizeof value);
        return isinf(value);
    }
    if (dtype == LEAT_F32) {
        float single = (float)value;
        memcpy(at, &single, sizeof single);
        return isinf(single);
    }
    bool is_half = dtype == LEAT_F16;
    uint16_t stored = is_half ? small_float(value, 11, -24) : small_float(value, 8, -133);
    memcpy(at, &stored, sizeof stored);
    return (stored & 0x7fff) == (is_half ? 0x7c00 : 0x7f80);
}

static enum le_csv_number parse_float(const char *text, size_t length, leat_dtype dtype, void *at) {
    struct decimal_number number;
    double value;
    if (scan_number(text, length, &number))
        return store_float(real_value(&number, dtype == LEAT_F32), dtype, at) ? LE_CSV_RANGE : LE_CSV_OK;
    if (!scan_special(text, length, &value))
        return LE_CSV_TEXT;
    store_float(value, dtype, at);
    return LE_CSV_OK;
}

/* ---- integers */

/* Computes the magnitude; false if it needs more than 64 bits. */
static bool whole_value(const struct decimal_number *number, uint64_t *magnitude) {
    *magnitude = 0;
    for (const char *at = number->first; at < number->end; at++)
        if (__builtin_mul_overflow(*magnitude, (uint64_t)10, magnitude) ||
            __builtin_add_overflow(*magnitude, (uint64_t)(*at - '0'), magnitude))
            return false;
    return true;
}

static enum le_csv_number parse_integer(const char *text, size_t length, leat_dtype dtype, void *at) {
    struct decimal_number number;
    double special;
    uint64_t magnitude;
    enum le_type type = (enum le_type)dtype;
    if (!scan_number(text, length, &number))
        return scan_special(text, length, &special) ? LE_CSV_FRACTION : LE_CSV_TEXT;
    if (!number.whole)
        return LE_CSV_FRACTION;
    int bits = le_type_bits(type);
    bool is_unsigned = le_type_is_unsigned(type);
    uint64_t most = is_unsigned ? UINT64_MAX >> (64 - bits) : ((uint64_t)1 << (bits - 1)) - !number.negative;
    if (!whole_value(&number, &magnitude) || magnitude > most || (is_unsigned && number.negative && magnitude))
        return LE_CSV_RANGE;
    uint64_t value = number.negative ? 0 - magnitude : magnitude;
    uint32_t value32 = (uint32_t)value;
    uint16_t value16 = (uint16_t)value;
    uint8_t value8 = (uint8_t)value;
    memcpy(at,
           bits == 64   ? (const void *)&value
           : bits == 32 ? (const void *)&value32
           : bits == 16 ? (const void *)&value16
                        : (const void *)&value8,
           (size_t)bits / 8);
    return LE_CSV_OK;
}

/* 0, 1, true or false */
static enum le_csv_number parse_bool(const char *text, size_t length, void *at) {
    bool is_true = length == 4 && strncasecmp(text, "true", 4) == 0;
    uint8_t value = is_true;
    if (is_true || (length == 5 && strncasecmp(text, "false", 5) == 0)) {
        memcpy(at, &value, 1);
        return LE_CSV_OK;
    }
    enum le_csv_number found = parse_integer(text, length, LEAT_U8, &value);
    if (found == LE_CSV_OK && value > 1)
        return LE_CSV_RANGE;
    if (found == LE_CSV_OK)
        memcpy(at, &value, 1);
    return found;
}

enum le_csv_number le_csv_parse(const char *text, size_t length, leat_dtype dtype, void *at) {
    if (dtype == LEAT_BOOL)
        return parse_bool(text, length, at);
    return le_type_is_float((enum le_type)dtype) ? parse_float(text, length, dtype, at)
                                                 : parse_integer(text, length, dtype, at);
}
