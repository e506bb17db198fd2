/* One element of an array, and its text: the fewest digits that read back as the same value of its type. */
#ifndef LE_CLI_ELEMENT_H
#define LE_CLI_ELEMENT_H
#include "leat.h"

struct le_element {
    char kind; /* 'b' bool and 'i' signed in i64, 'u' unsigned in u64, 'f' float in f64, 'c' complex in f64 and im */
    int64_t i64;
    uint64_t u64;
    double f64, im;
};
enum { LE_ELEMENT_CHARS = 96 };
/* How a float is written, and the parts of a complex number, "1.+0.5j". FIXED: "0.25", "3." ; EXPONENT: "2.5e-01";
 * SHORTEST: whichever is shorter, and "3.0" where whole. */
enum le_style { LE_STYLE_FIXED, LE_STYLE_EXPONENT, LE_STYLE_SHORTEST };

struct le_element le_element_get(const void *at, leat_dtype dtype);
/* Writes at most LE_ELEMENT_CHARS bytes, the NUL included. */
void le_element_text(const struct le_element *element, leat_dtype dtype, enum le_style style, char *text);
/* A finite float, or a part that is one, that would be unreadable without an exponent. */
bool le_element_wants_exponent(const struct le_element *element);
#endif
