/* Prints a program's tree as text. */
#ifndef TESTS_RANDOM_PROGRAM_PRINT_H
#define TESTS_RANDOM_PROGRAM_PRINT_H
#include "program_tree.h"

enum { PROGRAM_TEXT_BYTES = 1 << 16 };
struct text {
    char bytes[PROGRAM_TEXT_BYTES];
    size_t length;
};

__attribute__((format(printf, 2, 3))) void add_text(struct text *text, const char *format, ...);
/* Declares the inputs that the oracle marked with `is_used`, and omits others. */
void print_program(struct text *text, const struct source *source);
#endif
