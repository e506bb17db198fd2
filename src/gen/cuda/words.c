/* See words.h. */
#include "gen/cuda/words.h"
#include <stdio.h>
#include <string.h>

void le_words_put(struct le_arena *arena, struct words *w, const char *bytes, size_t length) {
    if (w->length + length + 1 > w->capacity) {
        size_t capacity = 2 * (w->length + length + 1) + 64;
        char *at = le_arena_alloc(arena, capacity);
        if (w->length)
            memcpy(at, w->at, w->length);
        w->at = at;
        w->capacity = capacity;
    }
    memcpy(w->at + w->length, bytes, length);
    w->length += length;
    w->at[w->length] = 0;
}

void le_words_add_list(struct le_arena *arena, struct words *words, const char *format, va_list arguments) {
    char few[512];
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(few, sizeof few, format, arguments);
    if (length >= 0 && (size_t)length < sizeof few) {
        le_words_put(arena, words, few, (size_t)length);
    } else if (length >= 0) {
        char *many = le_arena_alloc(arena, (size_t)length + 1);
        vsnprintf(many, (size_t)length + 1, format, again);
        le_words_put(arena, words, many, (size_t)length);
    }
    va_end(again);
}

void le_words_add(struct le_arena *arena, struct words *words, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    le_words_add_list(arena, words, format, arguments);
    va_end(arguments);
}
