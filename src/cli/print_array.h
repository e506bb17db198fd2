/* A result as a person reads it. */
#ifndef LE_CLI_PRINT_ARRAY_H
#define LE_CLI_PRINT_ARRAY_H
#include "leat.h"
#include <stdio.h>
/* `name = 42`, or `name: f32[2,3]` and the elements: all of them when they are few, else the corners and least,
 * greatest, mean. */
leat_status le_print_array(FILE *file, const char *name, const leat_array *array);
/* `f32[2,3]` */
void le_print_type(FILE *file, const leat_description *description);
#endif
