/* See nvrtc_headers.h. The 64-bit types match those of libcu++, so that both can be included. */
#include "device/cuda/nvrtc_headers.h"

static const char NOTHING[] = "#pragma once\n";
static const char INTEGERS[] =
    "#pragma once\n"
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t;\n"
    "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned uint32_t;\n"
    "typedef long long int64_t, intptr_t, intmax_t;\n"
    "typedef unsigned long long uint64_t, uintptr_t, uintmax_t;\n"
    "#define INT8_MAX 127\n#define INT16_MAX 32767\n#define INT32_MAX 2147483647\n"
    "#define INT8_MIN (-128)\n#define INT16_MIN (-32768)\n#define INT32_MIN (-2147483647 - 1)\n"
    "#define INT64_MAX 9223372036854775807ll\n#define INT64_MIN (-INT64_MAX - 1)\n"
    "#define UINT8_MAX 255\n#define UINT16_MAX 65535\n#define UINT32_MAX 4294967295u\n"
    "#define UINT64_MAX 18446744073709551615ull\n#define SIZE_MAX 18446744073709551615ul\n";
static const char LIMITS[] =
    "#pragma once\n"
    "#define CHAR_BIT 8\n#define SCHAR_MAX 127\n#define SCHAR_MIN (-128)\n#define UCHAR_MAX 255\n"
    "#define SHRT_MAX 32767\n#define SHRT_MIN (-32768)\n#define USHRT_MAX 65535\n"
    "#define INT_MAX 2147483647\n#define INT_MIN (-INT_MAX - 1)\n#define UINT_MAX 4294967295u\n"
    "#define LONG_MAX 9223372036854775807l\n#define LONG_MIN (-LONG_MAX - 1)\n"
    "#define ULONG_MAX 18446744073709551615ul\n#define LLONG_MAX 9223372036854775807ll\n"
    "#define LLONG_MIN (-LLONG_MAX - 1)\n#define ULLONG_MAX 18446744073709551615ull\n";
static const char FLOATS[] =
    "#pragma once\n"
    "#define FLT_MAX 3.40282346638528859812e+38f\n#define FLT_MIN 1.17549435082228750797e-38f\n"
    "#define FLT_EPSILON 1.1920928955078125e-7f\n"
    "#define DBL_MAX 1.79769313486231570815e+308\n#define DBL_MIN 2.22507385850720138309e-308\n"
    "#define DBL_EPSILON 2.22044604925031308085e-16\n";
static const char MATHEMATICS[] =
    "#pragma once\n"
    "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n"
    "#ifndef NAN\n#define NAN __int_as_float(0x7fffffff)\n#endif\n"
    "#ifndef M_PI\n#define M_PI 3.14159265358979323846\n#define M_PI_2 1.57079632679489661923\n"
    "#define M_E 2.71828182845904523536\n#define M_SQRT2 1.41421356237309504880\n"
    "#define M_LN2 0.69314718055994530942\n#endif\n";

#define HEADERS(X)                                                                                                     \
    X("stdio.h", NOTHING)                                                                                              \
    X("cstdio", NOTHING)                                                                                               \
    X("stdlib.h", NOTHING)                                                                                             \
    X("cstdlib", NOTHING)                                                                                              \
    X("string.h", NOTHING)                                                                                             \
    X("cstring", NOTHING)                                                                                              \
    X("assert.h", NOTHING)                                                                                             \
    X("cassert", NOTHING)                                                                                              \
    X("stddef.h", NOTHING)                                                                                             \
    X("cstddef", NOTHING)                                                                                              \
    X("stdint.h", INTEGERS)                                                                                            \
    X("cstdint", "#pragma once\n#include <stdint.h>\n")                                                                \
    X("limits.h", LIMITS)                                                                                              \
    X("climits", "#pragma once\n#include <limits.h>\n")                                                                \
    X("float.h", FLOATS)                                                                                               \
    X("cfloat", "#pragma once\n#include <float.h>\n")                                                                  \
    X("math.h", MATHEMATICS)                                                                                           \
    X("cmath", "#pragma once\n#include <math.h>\n")

int le_nvrtc_headers(const char *const **names, const char *const **texts) {
#define X(name, text) name,
    static const char *const NAMES[] = {HEADERS(X)};
#undef X
#define X(name, text) text,
    static const char *const TEXTS[] = {HEADERS(X)};
#undef X
    *names = NAMES;
    *texts = TEXTS;
    return (int)(sizeof NAMES / sizeof NAMES[0]);
}
