/* Tables of numbers as text: .csv, with commas, and .tsv, with tabs.
 *
 * A table is one line for each row, with as many fields in every line. A field is a number, perhaps in double quotes
 * and between spaces. A first line in which no field is a number is a header: it is skipped, and a note says so. Lines
 * before it that begin with # are skipped, too. Empty fields and text are errors. */
#ifndef LE_CSV_H
#define LE_CSV_H
#include "array/array.h"

/* One column makes [rows], several make [rows, columns]. The elements are of the declared type. Where that is 0 (or
 * complex), they are i64 if all fields are whole numbers, else f64. */
leat_status le_csv_load(struct le_memory_pool *pool, const char *name, const uint8_t *bytes, size_t size_bytes,
                        char delimiter, leat_dtype declared, leat_array **array);
/* Of real numbers, with at most two axes; a vector has one number a line. Floats have the digits that read back as the
 * same value, bools are 0 and 1. options: leat_save_options; NULL: the defaults. */
leat_status le_csv_save(const leat_array *array, const char *path, char delimiter, const leat_save_options *options);

/* ---- one field */

enum le_csv_number { LE_CSV_OK, LE_CSV_TEXT, LE_CSV_FRACTION, LE_CSV_RANGE };
/* Stores the number that text is as an element of a real type. TEXT: it is no number; FRACTION: it has a point or an
 * exponent, and the type is whole; RANGE: the type does not reach that far. The locale does not matter. */
enum le_csv_number le_csv_parse(const char *text, size_t length, leat_dtype dtype, void *at);
#endif
