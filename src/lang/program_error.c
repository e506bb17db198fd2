/* Reports errors in a program's text. */
#include "lang/program_error.h"

void le_program_error_add(leat_status code, struct le_location location, const char *expected, const char *format,
                          ...) {
    va_list arguments;
    va_start(arguments, format);
    le_errors_add(code, location, expected, format, arguments);
    va_end(arguments);
}

const char *le_rank_text(struct le_arena *arena, const char *array, int rank, int subscripts) {
    return le_arena_format(arena, "'%s' has %d %s, but %d subscript%s given", array, rank, rank == 1 ? "axis" : "axes",
                           subscripts, subscripts == 1 ? " is" : "s are");
}

bool le_program_errors_full(void) {
    return le_errors_count() >= LE_ERRORS_MAX;
}
