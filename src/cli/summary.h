/* The minimum, maximum and mean of an array's elements. */
#ifndef LE_CLI_SUMMARY_H
#define LE_CLI_SUMMARY_H
#include "leat.h"
#include <stdio.h>
/* Prints `min -1.5, max 3.25, mean 0.75`, without NaNs, which are counted separately: `, 12 nan`. The array has at
 * least one element. digits: see le_element_text; with 0 the mean has 6 digits. */
void le_summary_print(FILE *file, const leat_description *array, int digits);
#endif
