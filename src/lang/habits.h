/* Advice for users of NumPy, Python, C or Matlab: what to write instead of their idioms. Each advice is one line for
 * the `help:` of a message; NULL if there is none. */
#ifndef LE_HABITS_H
#define LE_HABITS_H
#include "spec/op.h"
#include <stdbool.h>

/* A syntax error: what the parser expects ("an expression"), and the tokens around the error. A token is "" at either
 * end of the text or line, and "0" for a number. number: the number that ends where the found token begins, or "". */
struct le_syntax {
    const char *wanted, *before, *found, *after, *number;
    bool found_name;
};
const char *le_habit_of_syntax(const struct le_syntax *syntax);

/* For an unknown function or reduction, or the name of a type in another language. */
const char *le_habit_of_function(const char *name);
/* The type that has this name in another language. */
const char *le_habit_of_type(const char *name);
/* For a function called with the wrong number of arguments. */
const char *le_habit_of_arguments(const char *name);
/* For an integer operator with a float operand. */
const char *le_habit_of_operator(const char *name);
/* For an input that is not bound. */
const char *le_habit_of_input(const char *name);
/* Function, type or input k of these tables; NULL if there are fewer. The summary is the advice. */
const struct le_words *le_habit_words(size_t k);
#endif
