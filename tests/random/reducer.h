/* Makes a program small while a condition stays true. */
#ifndef TESTS_RANDOM_REDUCER_H
#define TESTS_RANDOM_REDUCER_H
#include "program_tree.h"

/* Edits the program in place, keeping each edit after which `fails` is true. */
void reduce_program(struct source *source, bool (*fails)(void));
/* Whether two texts are equal except for numbers and names that end with a number. */
bool same_words(const char *a, const char *b);
/* Prints the elements of the inputs that are used. */
void print_inputs(const struct source *source);
#endif
