/* One element of an array, and its text: by default the fewest digits that read back as the same value of its type. */
#ifndef LE_CLI_ELEMENT_H
#define LE_CLI_ELEMENT_H
#include "leat.h"

struct le_element {
    char kind; /* 'b' bool or 'i' signed: i64; 'u' unsigned: u64; 'f' float: f64; 'c' complex: f64 and im */
    int64_t i64;
    uint64_t u64;
    double f64, im;
};
enum { LE_PART_CHARS = 48, LE_ELEMENT_PARTS_MAX = 2, LE_ELEMENT_CHARS = 96 };
/* How to write a float, or each part of a complex number ("1.+0.5j"). FIXED: "0.25", "3."; EXPONENT: "2.5e-01";
 * SHORTEST: "3.0", with an exponent only if the number is very large or small. */
enum le_style { LE_STYLE_FIXED, LE_STYLE_EXPONENT, LE_STYLE_SHORTEST };

struct le_element le_element_get(const void *at, leat_dtype dtype);
/* digits: print at most that many significant digits of a float; 0: as many as are needed to read back as the same
 * value. Writes at most LE_ELEMENT_CHARS bytes, including the NUL. */
void le_element_text(const struct le_element *element, leat_dtype dtype, enum le_style style, int digits, char *text);
/* The same in parts: the real and the imaginary part, "+0.5j", of a complex number, else one part. Returns their
 * number. */
int le_element_parts(const struct le_element *element, leat_dtype dtype, enum le_style style, int digits,
                     char texts[LE_ELEMENT_PARTS_MAX][LE_PART_CHARS]);
/* Whether part 0 or 1 is nan or an infinity, which have no digits. */
bool le_element_is_special(const struct le_element *element, int part);
/* Whether the float, or a part of a complex number, has an exponent in the style SHORTEST. */
bool le_element_wants_exponent(const struct le_element *element, leat_dtype dtype, int digits);
#endif
