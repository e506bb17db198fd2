/* Tables of numbers as text: .csv, with commas, and .tsv, with tabs.
 *
 * A table has one line per row, and every line has the same number of fields. A field is a number, perhaps in double
 * quotes and between spaces. A first line in which no field is a number is a header: it is skipped, and a note says so.
 * Lines before it that begin with # are skipped too. Empty fields and text are errors. */
#ifndef LE_CSV_H
#define LE_CSV_H
#include "array/array.h"

/* Loads a table: one column is [rows], several are [rows, columns]. The elements have the declared type. If that is 0
 * or complex, they are i64 if all fields are whole numbers, else f64. */
leat_status le_csv_load(struct le_memory_pool *pool, const char *name, const uint8_t *bytes, size_t size_bytes,
                        char delimiter, leat_dtype declared, leat_array **array);
/* Saves an array of real numbers with at most two axes; a vector has one number per line. Floats get enough digits to
 * read back as the same value; bools are 0 and 1. options: leat_save_options; NULL: the defaults. */
leat_status le_csv_save(const leat_array *array, const char *path, char delimiter, const leat_save_options *options);

/* ---- one field */

enum le_csv_number { LE_CSV_OK, LE_CSV_TEXT, LE_CSV_FRACTION, LE_CSV_RANGE };
/* Parses text as a number and stores it as an element of a real type. TEXT: it is not a number; FRACTION: it has a
 * point or an exponent, and the type is an integer; RANGE: it is out of range for the type. The result does not depend
 * on the locale. */
enum le_csv_number le_csv_parse(const char *text, size_t length, leat_dtype dtype, void *at);
#endif
