/* See decimal.h. The candidates are the correctly rounded decimals, from few digits to many; the result is the first
 * one that reads back as the same value. For magnitudes of ordinary size, 128-bit integers make the computation exact.
 * For others, printf produces the digits, and strtod and strtof read them back, without a decimal point, whose
 * character depends on the locale. */
#include "base/decimal.h"
#include "base/text.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { F64_BITS = 53, F32_BITS = 24, F16_BITS = 11 };
#define EXPONENT_FROM  1e16 /* magnitudes from here on, and below the next constant, are printed with an exponent */
#define EXPONENT_BELOW 1e-4

static void strip_zeros(struct le_decimal *decimal) {
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
}

/* Rounds value to that many digits. Trailing zeros stay. */
static void print_digits(double value, int digits, struct le_decimal *decimal) {
    char text[40];
    snprintf(text, sizeof text, "%.*e", digits - 1, fabs(value));
    decimal->negative = signbit(value);
    decimal->count = 0;
    const char *at = text;
    for (; *at != 'e'; at++)
        if (le_is_digit(*at))
            decimal->digits[decimal->count++] = *at;
    decimal->point = value == 0 ? 1 : atoi(at + 1) + 1;
}

void le_decimal_round(double value, int digits, struct le_decimal *decimal) {
    print_digits(value, digits, decimal);
    strip_zeros(decimal);
}

/* Adds one to the last digit. */
static void step_up(struct le_decimal *decimal) {
    int k = decimal->count - 1;
    for (; k >= 0 && decimal->digits[k] == '9'; k--)
        decimal->digits[k] = '0';
    if (k >= 0) {
        decimal->digits[k]++;
    } else {
        decimal->digits[0] = '1';
        decimal->point++;
    }
}

/* Rounds value to fewer digits than `longest` has. If the digits cut off look like exactly one half, the true value may
 * be slightly more or less, so value itself is rounded. */
static void round_to_digits(double value, const struct le_decimal *longest, int digits, struct le_decimal *decimal) {
    const char *cut = longest->digits + digits;
    int cut_count = longest->count - digits, zeros = 0;
    while (zeros < cut_count - 1 && cut[cut_count - 1 - zeros] == '0')
        zeros++;
    if (cut_count > 0 && cut[0] == '5' && zeros == cut_count - 1) {
        print_digits(value, digits, decimal);
        return;
    }
    *decimal = *longest;
    decimal->count = digits;
    if (cut_count > 0 && cut[0] >= '5')
        step_up(decimal);
}

/* The smallest positive value of the type is 2 to the power of this. */
static int least_exponent(int precision_bits) {
    return precision_bits == F64_BITS   ? -1074
           : precision_bits == F32_BITS ? -149
           : precision_bits == F16_BITS ? -24
                                        : -133;
}

/* Rounds value to a float with that many bits of precision, whose smallest step is 2 to the power of least. */
static double round_to_bits(double value, int bits, int least) {
    int exponent;
    frexp(value, &exponent);
    int step = exponent - bits > least ? exponent - bits : least;
    return ldexp(nearbyint(ldexp(value, -step)), step);
}

static bool reads_back(const struct le_decimal *decimal, double magnitude, int precision_bits) {
    char text[40];
    snprintf(text, sizeof text, "%.*se%d", decimal->count, decimal->digits, decimal->point - decimal->count);
    if (precision_bits == F64_BITS)
        return strtod(text, NULL) == magnitude;
    if (precision_bits == F32_BITS)
        return (double)strtof(text, NULL) == magnitude;
    return round_to_bits(strtod(text, NULL), precision_bits, least_exponent(precision_bits)) == magnitude;
}

/* A decimal with fewer digits than this can only identify a value if it is exact. */
static int least_digits(double magnitude, int precision_bits) {
    if (precision_bits == F64_BITS)
        return magnitude < 0x1p-1022 ? 1 : 15;
    if (precision_bits == F32_BITS)
        return magnitude < 0x1p-126 ? 1 : 6;
    return 1;
}

static int most_digits(int precision_bits) {
    return 1 + (precision_bits * 30103 + 99999) / 100000; /* 1 + ceil(bits * log10(2)) */
}

/* Values below a power of two are closer together than those above it. So a decimal above it that is slightly farther
 * away may still read back. */
static void find_shortest(double value, int precision_bits, struct le_decimal *decimal) {
    struct le_decimal longest;
    double magnitude = fabs(value);
    int exponent, most = most_digits(precision_bits);
    bool is_power = frexp(magnitude, &exponent) == 0.5;
    print_digits(value, most, &longest);
    *decimal = longest;
    for (int digits = least_digits(magnitude, precision_bits); digits < most; digits++) {
        struct le_decimal candidate;
        round_to_digits(value, &longest, digits, &candidate);
        bool fits = reads_back(&candidate, magnitude, precision_bits);
        if (!fits && is_power) {
            step_up(&candidate);
            fits = reads_back(&candidate, magnitude, precision_bits);
        }
        if (fits) {
            *decimal = candidate;
            return;
        }
    }
}

/* ---- the same in integers */

typedef unsigned __int128 wide;
enum { PLACES_MAX = 21, U64_DIGITS = 19, SHIFT_MAX = 120 }; /* such that four times `scaled` fits in 128 bits */

/* magnitude = fraction / 2^shift = scaled / 2^shift / 10^places. scaled / 2^shift has as many whole digits as the type
 * ever needs. The neighbouring values of the type are unit / 2^shift / 10^places away; below a power of two, half of
 * that. */
struct exact {
    uint64_t fraction;
    wide scaled, unit;
    int shift, places;
    bool is_power;
};

static wide power_of_ten(int exponent) {
    static const uint64_t powers[U64_DIGITS + 1] = {1u,
                                                    10u,
                                                    100u,
                                                    1000u,
                                                    10000u,
                                                    100000u,
                                                    1000000u,
                                                    10000000u,
                                                    100000000u,
                                                    1000000000u,
                                                    10000000000u,
                                                    100000000000u,
                                                    1000000000000u,
                                                    10000000000000u,
                                                    100000000000000u,
                                                    1000000000000000u,
                                                    10000000000000000u,
                                                    100000000000000000u,
                                                    1000000000000000000u,
                                                    10000000000000000000u};
    wide power = 1;
    for (; exponent > U64_DIGITS; exponent--)
        power *= 10;
    return power * powers[exponent];
}

/* false if the magnitude is too large or too small for 128 bits. */
static bool scale_to_integer(double magnitude, int precision_bits, struct exact *exact) {
    int exponent, most = most_digits(precision_bits);
    frexp(magnitude, &exponent);
    exact->shift = precision_bits - exponent;
    exact->places = most - ((exponent - 1) * 30103 - 100000 * (exponent < 1)) / 100000 - 1; /* or one less */
    int most_shift = -least_exponent(precision_bits); /* larger shifts are subnormal numbers */
    if (exact->shift < 0 || exact->shift > SHIFT_MAX || exact->shift >= most_shift || exact->places < 1 ||
        exact->places > PLACES_MAX)
        return false;
    exact->fraction = (uint64_t)ldexp(magnitude, exact->shift);
    exact->is_power = exact->fraction == (uint64_t)1 << (precision_bits - 1);
    exact->unit = power_of_ten(exact->places);
    exact->scaled = exact->fraction * exact->unit;
    if (exact->scaled >> exact->shift >= power_of_ten(most)) {
        exact->places--;
        exact->unit /= 10;
        exact->scaled = exact->fraction * exact->unit;
    }
    return true;
}

/* magnitude * 10^places / step, rounded. */
static uint64_t round_to_step(const struct exact *exact, uint64_t step) {
    uint64_t whole = (uint64_t)(exact->scaled >> exact->shift);
    wide rest = exact->scaled - ((wide)whole << exact->shift) + ((wide)(whole % step) << exact->shift);
    wide half = ((wide)step << exact->shift) / 2;
    uint64_t quotient = whole / step;
    return quotient + (rest > half || (rest == half && quotient % 2 == 1 && ((wide)step << exact->shift) % 2 == 0));
}

static bool reads_back_exactly(const struct exact *exact, uint64_t digits, uint64_t step) {
    wide candidate = (wide)digits * step << exact->shift;
    bool is_above = candidate >= exact->scaled;
    wide distance = 4 * (is_above ? candidate - exact->scaled : exact->scaled - candidate);
    wide most = exact->is_power && !is_above ? exact->unit : 2 * exact->unit;
    return distance < most || (distance == most && exact->fraction % 2 == 0);
}

static void take_digits(uint64_t digits, int point_from_end, struct le_decimal *decimal) {
    char reversed[U64_DIGITS + 1];
    int count = 0;
    for (; digits > 0; digits /= 10)
        reversed[count++] = (char)('0' + digits % 10);
    for (int k = 0; k < count; k++)
        decimal->digits[k] = reversed[count - 1 - k];
    decimal->count = count;
    decimal->point = count - point_from_end;
}

static bool find_shortest_exactly(double value, int precision_bits, struct le_decimal *decimal) {
    struct exact exact;
    double magnitude = fabs(value);
    int most = most_digits(precision_bits), count = least_digits(magnitude, precision_bits);
    if (!scale_to_integer(magnitude, precision_bits, &exact))
        return false;
    decimal->negative = signbit(value);
    for (; count <= most; count++) {
        uint64_t step = (uint64_t)power_of_ten(most - count), digits = round_to_step(&exact, step);
        bool fits = count == most || reads_back_exactly(&exact, digits, step);
        if (!fits && exact.is_power)
            fits = reads_back_exactly(&exact, ++digits, step);
        if (!fits)
            continue;
        take_digits(digits, exact.places - (most - count), decimal);
        break;
    }
    return true;
}

void le_decimal_shortest(double value, int precision_bits, struct le_decimal *decimal) {
    if (value == 0)
        *decimal = (struct le_decimal){.negative = signbit(value), .digits = "0", .count = 1, .point = 1};
    else if (!find_shortest_exactly(value, precision_bits, decimal))
        find_shortest(value, precision_bits, decimal);
    strip_zeros(decimal);
}

/* ---- text */

/* "12.5", "0.001", "300.0" */
static char *put_fixed(const struct le_decimal *decimal, char *to) {
    if (decimal->point <= 0)
        *to++ = '0';
    for (int k = 0; k < decimal->point; k++)
        *to++ = k < decimal->count ? decimal->digits[k] : '0';
    *to++ = '.';
    for (int k = decimal->point; k < 0; k++)
        *to++ = '0';
    for (int k = decimal->point > 0 ? decimal->point : 0; k < decimal->count; k++)
        *to++ = decimal->digits[k];
    if (to[-1] == '.')
        *to++ = '0';
    *to = '\0';
    return to;
}

/* "1.25e-07", "3e+20" */
static char *put_exponent(const struct le_decimal *decimal, char *to) {
    int exponent = decimal->point - 1;
    *to++ = decimal->digits[0];
    if (decimal->count > 1)
        *to++ = '.';
    for (int k = 1; k < decimal->count; k++)
        *to++ = decimal->digits[k];
    return to + snprintf(to, 8, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

size_t le_decimal_text(double value, int precision_bits, int digits, char text[LE_DECIMAL_TEXT_BYTES]) {
    if (!isfinite(value)) {
        strcpy(text, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return strlen(text);
    }
    struct le_decimal decimal;
    double magnitude = fabs(value);
    bool exponent = magnitude != 0 && (magnitude >= EXPONENT_FROM || magnitude < EXPONENT_BELOW);
    char *to = text;
    le_decimal_shortest(value, precision_bits, &decimal);
    if (digits > 0 && decimal.count > digits) {
        le_decimal_round(value, digits, &decimal);
        exponent |= decimal.point > digits;
    }
    if (decimal.negative)
        *to++ = '-';
    to = exponent ? put_exponent(&decimal, to) : put_fixed(&decimal, to);
    return (size_t)(to - text);
}
