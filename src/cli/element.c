/* See element.h. */
#include "cli/element.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static leat_dtype part_type(const struct le_element *element, leat_dtype dtype) {
    if (element->kind != 'c')
        return dtype;
    return dtype == LEAT_C64 ? LEAT_F32 : LEAT_F64;
}

static double part_value(const struct le_element *element, int part) {
    return part ? element->im : element->f64;
}

bool le_element_is_special(const struct le_element *element, int part) {
    return (element->kind == 'f' || element->kind == 'c') && !isfinite(part_value(element, part));
}

bool le_element_wants_exponent(const struct le_element *element, leat_dtype dtype, int digits) {
    char text[LEAT_FLOAT_TEXT_BYTES];
    for (int part = 0; part < (element->kind == 'c' ? 2 : element->kind == 'f'); part++)
        if (leat_float_text(part_type(element, dtype), part_value(element, part), digits, text) == LEAT_OK &&
            strchr(text, 'e'))
            return true;
    return false;
}

/* "3.0" to "3." */
static void drop_zero(char *text) {
    size_t length = strlen(text);
    if (length > 2 && strcmp(text + length - 2, ".0") == 0)
        text[length - 1] = '\0';
}

/* The decimal exponent of the first significant digit in a text without an exponent; `first` points to that digit. 0
 * for zero. */
static int find_exponent(const char *text, const char **first) {
    const char *point = strchr(text, '.'), *digit = text + strspn(text, "-0.");
    *first = *digit ? digit : point - 1;
    if (!*digit)
        return 0;
    return (int)(point - digit) - (digit < point);
}

/* "-0.0125" to "-1.25e-02" */
static void add_exponent(char *text) {
    char digits[LEAT_FLOAT_TEXT_BYTES], *to = digits;
    const char *first;
    if (strchr(text, 'e'))
        return;
    int exponent = find_exponent(text, &first);
    for (const char *at = first; *at; at++)
        if (*at != '.')
            *to++ = *at;
    while (to > digits + 1 && to[-1] == '0')
        to--;
    *to = '\0';
    snprintf(text, LE_PART_CHARS, "%s%c%s%se%c%02d", *text == '-' ? "-" : "", digits[0], digits[1] ? "." : "",
             digits + 1, exponent < 0 ? '-' : '+', abs(exponent));
}

static void float_text(double value, leat_dtype dtype, enum le_style style, int digits, char *text) {
    leat_float_text(dtype, value, digits, text);
    if (!isfinite(value))
        return;
    if (style == LE_STYLE_FIXED)
        drop_zero(text);
    else if (style == LE_STYLE_EXPONENT)
        add_exponent(text);
}

int le_element_parts(const struct le_element *element, leat_dtype dtype, enum le_style style, int digits,
                     char texts[LE_ELEMENT_PARTS_MAX][LE_PART_CHARS]) {
    leat_dtype part = part_type(element, dtype);
    switch (element->kind) {
    case 'b':
        strcpy(texts[0], element->i64 ? "true" : "false");
        return 1;
    case 'i':
        snprintf(texts[0], LE_PART_CHARS, "%lld", (long long)element->i64);
        return 1;
    case 'u':
        snprintf(texts[0], LE_PART_CHARS, "%llu", (unsigned long long)element->u64);
        return 1;
    case 'f':
        float_text(element->f64, part, style, digits, texts[0]);
        return 1;
    default:
        float_text(element->f64, part, style, digits, texts[0]);
        float_text(element->im, part, style, digits, texts[1] + 1);
        if (texts[1][1] == '-')
            memmove(texts[1], texts[1] + 1, strlen(texts[1] + 1) + 1);
        else
            texts[1][0] = '+';
        strcat(texts[1], "j");
        return 2;
    }
}

void le_element_text(const struct le_element *element, leat_dtype dtype, enum le_style style, int digits, char *text) {
    char texts[LE_ELEMENT_PARTS_MAX][LE_PART_CHARS];
    int parts = le_element_parts(element, dtype, style, digits, texts);
    snprintf(text, LE_ELEMENT_CHARS, "%s%s", texts[0], parts == 2 ? texts[1] : "");
}
