/* A result as a person reads it. */
#ifndef LE_CLI_PRINT_ARRAY_H
#define LE_CLI_PRINT_ARRAY_H
#include "leat.h"
#include <stdio.h>
/* `name = 42`, or `name: f32[2,3]` and the elements: all of them when they are few, else the corners, the least and
 * greatest element and the mean. Lines are as wide as the terminal. digits: as le_element_text has it. */
leat_status le_print_array(FILE *file, const char *name, const leat_array *array, int digits);
/* `f32[2,3]` */
void le_print_type(FILE *file, const leat_description *description);
#endif
