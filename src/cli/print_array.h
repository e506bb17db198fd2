/* Prints a result for people. */
#ifndef LE_CLI_PRINT_ARRAY_H
#define LE_CLI_PRINT_ARRAY_H
#include "leat.h"
#include <stdio.h>
/* Prints `name = 42`, or `name: f32[2,3]` and the elements: all of them if they are few, else the corners and the
 * minimum, maximum and mean. Lines are as wide as the terminal. digits: see le_element_text. */
leat_status le_print_array(FILE *file, const char *name, const leat_array *array, int digits);
/* Prints `f32[2,3]`. */
void le_print_type(FILE *file, const leat_description *description);
#endif
