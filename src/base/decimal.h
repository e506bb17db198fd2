/* Floats as decimal digits: the fewest that read back as the same value of a type, or a given number of digits. Results
 * do not depend on the locale. Pure functions. */
#ifndef LE_DECIMAL_H
#define LE_DECIMAL_H
#include <stdbool.h>
#include <stddef.h>

/* 0.d1d2d3... times ten to the power of point. Zero is the one digit 0. */
struct le_decimal {
    bool negative;
    char digits[20]; /* no NUL; no zero at the end, unless it is the only digit */
    int count, point;
};
/* The shortest decimal. value is finite and of the type with that many bits of precision: 53 for f64, 24 for f32, 11
 * for f16, 8 for bf16. */
void le_decimal_shortest(double value, int precision_bits, struct le_decimal *decimal);
/* Rounds value to 1 to 17 significant digits. */
void le_decimal_round(double value, int digits, struct le_decimal *decimal);

/* "0.1", "3.0", "1e-07", "-inf", "nan". digits: print at most that many significant digits; 0: as many as needed to
 * read back as the same value. Magnitudes from 1e-4 to below 1e16 have no exponent, unless that would print zeros for
 * digits that were rounded away. Returns the length without the NUL. */
enum { LE_DECIMAL_TEXT_BYTES = 32 };
size_t le_decimal_text(double value, int precision_bits, int digits, char text[LE_DECIMAL_TEXT_BYTES]);
#endif
