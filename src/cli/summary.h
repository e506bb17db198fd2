/* The least, the greatest and the mean of an array's elements. */
#ifndef LE_CLI_SUMMARY_H
#define LE_CLI_SUMMARY_H
#include "leat.h"
#include <stdio.h>
/* `min -1.5, max 3.25, mean 0.75`; NaNs are counted apart: `, 12 nan`. The array has at least one element. digits: as
 * le_element_text has it; 0: the mean, which is for reading, has 6. */
void le_summary_print(FILE *file, const leat_description *array, int digits);
#endif
