/* See element.h. */
#include "cli/element.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* value = 0.d1d2d3... times ten to the power of point */
struct decimal {
    char digits[20];
    int count, point;
};

static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                       : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                      : ldexp(fraction, -24);
    return bits & 0x8000 ? -magnitude : magnitude;
}

static double brain_value(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

static struct le_element complex_element(const void *at, leat_dtype dtype) {
    leat_dtype part = dtype == LEAT_C64 ? LEAT_F32 : LEAT_F64;
    struct le_element element = le_element_get(at, part);
    element.kind = 'c';
    element.im = le_element_get((const char *)at + leat_dtype_size_bytes(part), part).f64;
    return element;
}

#define ELEMENT(TYPE, KIND, FIELD)                                                                                     \
    {                                                                                                                  \
        TYPE value;                                                                                                    \
        memcpy(&value, at, sizeof value);                                                                              \
        return (struct le_element){.kind = KIND, .FIELD = value};                                                      \
    }

struct le_element le_element_get(const void *at, leat_dtype dtype) {
    uint16_t bits;
    switch (dtype) {
    case LEAT_BOOL:
        return (struct le_element){.kind = 'b', .i64 = *(const uint8_t *)at != 0};
    case LEAT_I8:
        ELEMENT(int8_t, 'i', i64)
    case LEAT_I16:
        ELEMENT(int16_t, 'i', i64)
    case LEAT_I32:
        ELEMENT(int32_t, 'i', i64)
    case LEAT_I64:
        ELEMENT(int64_t, 'i', i64)
    case LEAT_U8:
        ELEMENT(uint8_t, 'u', u64)
    case LEAT_U16:
        ELEMENT(uint16_t, 'u', u64)
    case LEAT_U32:
        ELEMENT(uint32_t, 'u', u64)
    case LEAT_U64:
        ELEMENT(uint64_t, 'u', u64)
    case LEAT_F32:
        ELEMENT(float, 'f', f64)
    case LEAT_F64:
        ELEMENT(double, 'f', f64)
    case LEAT_C64:
    case LEAT_C128:
        return complex_element(at, dtype);
    case LEAT_F16:
    case LEAT_BF16:
        break;
    }
    memcpy(&bits, at, sizeof bits);
    return (struct le_element){.kind = 'f', .f64 = dtype == LEAT_F16 ? half_value(bits) : brain_value(bits)};
}
#undef ELEMENT

/* value rounded to a float of so many bits of precision whose least step is 2 to the power of least */
static double rounded(double value, int bits, int least) {
    int exponent;
    frexp(value, &exponent);
    int step = exponent - bits > least ? exponent - bits : least;
    return ldexp(nearbyint(ldexp(value, -step)), step);
}

static bool reads_back(const char *text, double value, leat_dtype dtype) {
    if (dtype == LEAT_F64)
        return strtod(text, NULL) == value;
    if (dtype == LEAT_F32)
        return (double)strtof(text, NULL) == value;
    if (dtype == LEAT_F16)
        return rounded(strtod(text, NULL), 11, -24) == value;
    return rounded(strtod(text, NULL), 8, -133) == value;
}

/* The digits at which the search begins: any fewer are found by dropping zeros, but for subnormal numbers. */
static int first_precision(double value, leat_dtype dtype) {
    if (dtype == LEAT_F64)
        return fabs(value) < DBL_MIN ? 1 : 15;
    if (dtype == LEAT_F32)
        return fabs(value) < (double)FLT_MIN ? 1 : 6;
    return 1;
}

static void shortest(double value, leat_dtype dtype, struct decimal *decimal) {
    char text[40];
    double magnitude = fabs(value);
    for (int precision = first_precision(value, dtype); precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, magnitude);
        if (reads_back(text, magnitude, dtype))
            break;
    }
    decimal->count = 0;
    const char *at = text;
    for (; *at != 'e'; at++)
        if (*at != '.')
            decimal->digits[decimal->count++] = *at;
    decimal->point = atoi(at + 1) + 1;
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
}

/* "12.5", "0.001", "300." */
static char *put_fixed(const struct decimal *decimal, char *to) {
    if (decimal->point <= 0)
        *to++ = '0';
    for (int k = 0; k < decimal->point; k++)
        *to++ = k < decimal->count ? decimal->digits[k] : '0';
    *to++ = '.';
    for (int k = decimal->point; k < 0; k++)
        *to++ = '0';
    for (int k = decimal->point > 0 ? decimal->point : 0; k < decimal->count; k++)
        *to++ = decimal->digits[k];
    return to;
}

/* "1.25e-07", "3e+20" */
static char *put_exponent(const struct decimal *decimal, char *to) {
    int exponent = decimal->point - 1;
    *to++ = decimal->digits[0];
    if (decimal->count > 1)
        *to++ = '.';
    for (int k = 1; k < decimal->count; k++)
        *to++ = decimal->digits[k];
    return to + snprintf(to, 8, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

static bool wants_exponent(double value) {
    double magnitude = fabs(value);
    return isfinite(magnitude) && magnitude != 0 && (magnitude >= 1e16 || magnitude < 1e-4);
}

bool le_element_wants_exponent(const struct le_element *element) {
    return (element->kind == 'f' || element->kind == 'c') &&
           (wants_exponent(element->f64) || (element->kind == 'c' && wants_exponent(element->im)));
}

static void float_text(double value, leat_dtype dtype, enum le_style style, char *text) {
    if (!isfinite(value)) {
        strcpy(text, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    struct decimal decimal;
    shortest(value, dtype, &decimal);
    if (value == 0)
        decimal.point = 1;
    if (signbit(value))
        *text++ = '-';
    bool exponent = style == LE_STYLE_EXPONENT || (style == LE_STYLE_SHORTEST && wants_exponent(value));
    text = exponent ? put_exponent(&decimal, text) : put_fixed(&decimal, text);
    if (style == LE_STYLE_SHORTEST && text[-1] == '.')
        *text++ = '0';
    *text = '\0';
}

static void complex_text(const struct le_element *element, leat_dtype dtype, enum le_style style, char *text) {
    leat_dtype part = dtype == LEAT_C64 ? LEAT_F32 : LEAT_F64;
    float_text(element->f64, part, style, text);
    text += strlen(text);
    if (!signbit(element->im) || isnan(element->im))
        *text++ = '+';
    float_text(element->im, part, style, text);
    strcat(text, "j");
}

void le_element_text(const struct le_element *element, leat_dtype dtype, enum le_style style, char *text) {
    switch (element->kind) {
    case 'b':
        strcpy(text, element->i64 ? "true" : "false");
        break;
    case 'i':
        snprintf(text, LE_ELEMENT_CHARS, "%lld", (long long)element->i64);
        break;
    case 'u':
        snprintf(text, LE_ELEMENT_CHARS, "%llu", (unsigned long long)element->u64);
        break;
    case 'c':
        complex_text(element, dtype, style, text);
        break;
    default:
        float_text(element->f64, dtype, style, text);
        break;
    }
}
