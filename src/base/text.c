/* See text.h. Numbers have a decimal point in any locale. Only one thread may use a text. */
#include "base/text.h"
#include "base/decimal.h"
#include "base/memory.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void le_text_finish(struct le_text *text) {
    le_free(text->at);
    *text = (struct le_text){0};
}

/* Makes room for `extra` more bytes and a NUL. */
static bool reserve_bytes(struct le_text *text, size_t extra) {
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
    if (!reserve_bytes(text, length))
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
    } else if (reserve_bytes(text, (size_t)length)) {
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

/* Whole numbers are written without ".0". */
static void add_real(struct le_text *text, double value, int precision_bits) {
    char printed[LE_DECIMAL_TEXT_BYTES];
    size_t length = le_decimal_text(value, precision_bits, 0, printed);
    if (length > 2 && memcmp(printed + length - 2, ".0", 2) == 0)
        length -= 2;
    le_text_add_bytes(text, printed, length);
}

void le_text_add_f64(struct le_text *text, double value) {
    add_real(text, value, 53);
}

void le_text_add_f32(struct le_text *text, float value) {
    add_real(text, (double)value, 24);
}

/* ---- similarity */

static int smaller(int a, int b) {
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
            row[k] = smaller(changed, 1 + smaller(row[k], row[k - 1]));
        }
    }
    return row[length_b];
}

size_t le_utf8_length(const char *character, size_t length) {
    const unsigned char *text = (const unsigned char *)character;
    size_t size = text[0] < 0x80 ? 1 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] >= 0x80 && (text[0] < 0xc2 || text[0] > 0xf4))
        return 0;
    if (size > length)
        return 0;
    for (size_t k = 1; k < size; k++)
        if ((text[k] & 0xc0) != 0x80)
            return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool outside = (text[0] == 0xed && text[1] >= 0xa0) || (text[0] == 0xf4 && text[1] >= 0x90);
    return overlong || outside ? 0 : size;
}
