/* Error reporting of the front end: an error is added to the thread's record, and checking continues with the next
 * statement. */
#ifndef LE_PROGRAM_ERROR_H
#define LE_PROGRAM_ERROR_H
#include "base/arena.h"
#include "base/status.h"

void le_program_error_add(leat_status code, struct le_location location, const char *expected, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "'x' has 2 axes, but 1 subscript is given". */
const char *le_rank_text(struct le_arena *arena, const char *array, int rank, int subscripts);
/* Whether the record is full; further errors would be dropped. */
bool le_program_errors_full(void);
#endif
