/* The value after `NAME=` on the command line. */
#ifndef LE_CLI_VALUE_H
#define LE_CLI_VALUE_H
#include <stdbool.h>
#include <stdint.h>

enum le_cli_value_kind {
    LE_VALUE_PATH, /* not a number: a file name */
    LE_VALUE_BOOL,
    LE_VALUE_I64,
    LE_VALUE_U64, /* above the largest i64 */
    LE_VALUE_F64,
    LE_VALUE_C128,
    LE_VALUE_RANGE /* a number that no type can hold */
};
struct le_cli_value {
    enum le_cli_value_kind kind;
    bool boolean;
    int64_t i64;
    uint64_t u64;
    double f64, im; /* im: the imaginary part of C128 */
};
/* Parses a number of the language, perhaps with a sign, or inf, nan, true, false, or a complex number: 1-2.5j. Anything
 * else is a path. */
struct le_cli_value le_cli_value_parse(const char *text);
#endif
