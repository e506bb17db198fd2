/* Growing strings, and numbers as text. The decimal point is a point whatever the locale. A text belongs to one thread.
 */
#include "base/text.h"
#include "base/memory.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void le_text_finish(struct le_text *text) {
    le_free(text->at);
    *text = (struct le_text){0};
}

/* Makes room for extra bytes and a NUL after what is there. */
static bool reserve(struct le_text *text, size_t extra) {
    if (text->failed)
        return false;
    size_t needed, larger = text->capacity < 64 ? 64 : text->capacity;
    text->failed = __builtin_add_overflow(text->length, extra, &needed) || needed >= SIZE_MAX / 4;
    if (text->failed)
        return false;
    if (needed < text->capacity)
        return true;
    while (larger <= needed)
        larger *= 2;
    char *at = le_realloc(text->at, larger);
    if (!at) {
        text->failed = true;
        return false;
    }
    text->at = at;
    text->capacity = larger;
    return true;
}

void le_text_add_bytes(struct le_text *text, const void *bytes, size_t length) {
    if (!reserve(text, length))
        return;
    if (length)
        memcpy(text->at + text->length, bytes, length);
    text->length += length;
    text->at[text->length] = 0;
}

void le_text_add_list(struct le_text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    char few[256];
    int length = vsnprintf(few, sizeof few, format, arguments);
    if (length < 0) {
        text->failed = true;
    } else if ((size_t)length < sizeof few) {
        le_text_add_bytes(text, few, (size_t)length);
    } else if (reserve(text, (size_t)length)) {
        vsnprintf(text->at + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void le_text_add(struct le_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    le_text_add_list(text, format, arguments);
    va_end(arguments);
}

struct decimal {
    bool negative;
    char digits[24];      /* without a point, no zero at the end unless it is the only one */
    int length, exponent; /* of the first digit */
};

/* Takes a number as printf's %e writes it apart; whatever stands between the digits is the locale's point. */
static struct decimal take_apart(const char *printed) {
    struct decimal number = {.negative = *printed == '-'};
    for (; *printed && *printed != 'e'; printed++)
        if (*printed >= '0' && *printed <= '9' && number.length < 20)
            number.digits[number.length++] = *printed;
    while (number.length > 1 && number.digits[number.length - 1] == '0')
        number.length--;
    number.exponent = *printed == 'e' ? atoi(printed + 1) : 0;
    return number;
}

static void add_decimal(struct le_text *text, const struct decimal *number) {
    const char *digits = number->digits;
    int exponent = number->exponent, length = number->length;
    if (number->negative)
        le_text_add_bytes(text, "-", 1);
    if (exponent < -4 || exponent >= 16) {
        le_text_add_bytes(text, digits, 1);
        if (length > 1)
            le_text_add(text, ".%.*s", length - 1, digits + 1);
        le_text_add(text, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        le_text_add(text, "0.%.*s%.*s", -exponent - 1, "000", length, digits);
    } else if (length <= exponent + 1) {
        le_text_add(text, "%.*s%.*s", length, digits, exponent + 1 - length, "0000000000000000");
    } else {
        le_text_add(text, "%.*s.%.*s", exponent + 1, digits, length - exponent - 1, digits + exponent + 1);
    }
}

static bool add_special(struct le_text *text, double value) {
    if (isfinite(value))
        return false;
    le_text_add(text, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return true;
}

void le_text_add_f64(struct le_text *text, double value) {
    if (add_special(text, value))
        return;
    char printed[64];
    for (int places = 0; places <= 16; places++) {
        snprintf(printed, sizeof printed, "%.*e", places, value);
        if (strtod(printed, NULL) == value)
            break;
    }
    struct decimal number = take_apart(printed);
    add_decimal(text, &number);
}

void le_text_add_f32(struct le_text *text, float value) {
    if (add_special(text, (double)value))
        return;
    char printed[64];
    for (int places = 0; places <= 8; places++) {
        snprintf(printed, sizeof printed, "%.*e", places, (double)value);
        if (strtof(printed, NULL) == value)
            break;
    }
    struct decimal number = take_apart(printed);
    add_decimal(text, &number);
}

/* ---- likeness */

static int least(int a, int b) {
    return a < b ? a : b;
}

int le_text_distance(const char *a, const char *b) {
    int row[LE_TEXT_DISTANCE_BYTES + 1];
    int length_a = (int)strnlen(a, LE_TEXT_DISTANCE_BYTES), length_b = (int)strnlen(b, LE_TEXT_DISTANCE_BYTES);
    for (int k = 0; k <= length_b; k++)
        row[k] = k;
    for (int i = 1; i <= length_a; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int k = 1; k <= length_b; k++) {
            int changed = diagonal + (a[i - 1] != b[k - 1]);
            diagonal = row[k];
            row[k] = least(changed, 1 + least(row[k], row[k - 1]));
        }
    }
    return row[length_b];
}
