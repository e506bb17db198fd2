/* What people who know NumPy, Python, C or Matlab write, and what to write instead. Each advice is one line, for the
 * `help:` of a message; NULL: none is known. */
#ifndef LE_HABITS_H
#define LE_HABITS_H
#include "base/arena.h"
#include <stdbool.h>

/* Of a syntax error: what the parser expects ("an expression"), and the tokens around the error. "" at either end of
 * the text and of a line, "0" for a number. */
struct le_syntax {
    const char *wanted, *before, *found, *after;
    bool found_name;
};
const char *le_habit_of_syntax(const struct le_syntax *syntax);

/* A function or reduction that does not exist, or a type's name in another language. */
const char *le_habit_of_function(struct le_arena *arena, const char *name);
/* The type that is called so elsewhere. */
const char *le_habit_of_type(const char *name);
/* A function that is called with another number of arguments than it takes. */
const char *le_habit_of_arguments(const char *name);
/* An operator on integers whose operand is a float. */
const char *le_habit_of_operator(const char *name);
/* An input that is not bound. */
const char *le_habit_of_input(const char *name);
#endif
