/* Text that grows in an arena. */
#ifndef LE_CUDA_WORDS_H
#define LE_CUDA_WORDS_H
#include "base/arena.h"
#include "base/text.h"

struct words {
    char *at; /* NUL-terminated */
    size_t length, capacity;
};
void le_words_add(struct le_arena *arena, struct words *words, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void le_words_add_list(struct le_arena *arena, struct words *words, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
void le_words_put(struct le_arena *arena, struct words *words, const char *bytes, size_t length);
static inline bool le_is_of_word(char c) {
    return le_is_letter(c) || le_is_digit(c) || c == '_';
}
#endif
