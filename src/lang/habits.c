/* The tables of habits.h. A row says what to write; x, a, b and c stand for the user's own names. Advice names only
 * what the language has. */
#include "lang/habits.h"
#include "base/status.h"
#include <string.h>

struct habit {
    const char *word, *advice;
};

static const char *find_advice(const struct habit *table, size_t count, const char *word) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(table[k].word, word) == 0)
            return table[k].advice;
    return NULL;
}
#define FIND(table, word) find_advice(table, ARRAY_LEN(table), word)

/* ---- syntax */

#define CHOICE   "for a value that depends on a condition write c ? a : b"
#define ELSE_IF  "write `else if`"
#define BLOCK    "write the block in { }"
#define NO_SLICE "there are no slices: write an index, as in y[i] = x[i+1] where i in 0..n"
#define RANGE    "write a range as low..high, as in 0..n"
#define WHERE    "`where` gives ranges, as in `where i in 0..n`; for a condition write c ? a : b"
#define VARIABLE "write y = ..., or `var y: f64` to declare it first"
#define UPDATE   "write y = y + ...: the assignments are = += -= *= /= min= max="
#define FUNCTION "write def f(a, b) = EXPRESSION, or a block that ends with `return`"
#define IMPORT   "remove it: all functions are built in"
#define PREFIX   "write functions and constants without a prefix, as in exp(x) and pi"
#define SUFFIX   "write numbers without a suffix"

/* NULL matches any token, and found "NAME" any name. `wanted` matches as a prefix. The first matching row counts. */
static const struct {
    const char *wanted, *before, *found, *after, *advice;
} SYNTAX[] = {
    {NULL, NULL, "and", NULL, "write && for `and`"},
    {NULL, NULL, "or", NULL, "write || for `or`"},
    {NULL, "not", NULL, NULL, "write ! for `not`"},
    {"'{'", NULL, "then", NULL, BLOCK},
    {"'{'", NULL, ":", NULL, BLOCK},
    {"'{'", NULL, "=", NULL, "write == to compare"},
    {NULL, NULL, "if", NULL, CHOICE},
    {NULL, NULL, "then", NULL, CHOICE},
    {"an expression", NULL, "where", NULL, CHOICE},
    {NULL, NULL, "elif", NULL, ELSE_IF},
    {NULL, NULL, "elseif", NULL, ELSE_IF},
    {"'=' or", "elif", NULL, NULL, ELSE_IF},
    {"'=' or", "elseif", NULL, NULL, ELSE_IF},
    {"the end of the statement", NULL, "for", NULL, "give ranges with `where i in low..high`"},
    {"',' or the end of the ranges", NULL, NULL, NULL, WHERE},
    {"an index", NULL, NULL, NULL, "write `i in low..high`"},
    {"'..'", NULL, NULL, NULL, RANGE},
    /* characters that are not part of any token */
    {NULL, "math", ".", "pi", "write pi"},
    {NULL, "np", ".", "pi", "write pi"},
    {NULL, "np", ".", "inf", "write inf"},
    {NULL, "np", ".", "nan", "write nan"},
    {NULL, "np", ".", NULL, PREFIX},
    {NULL, "numpy", ".", NULL, PREFIX},
    {NULL, "math", ".", NULL, PREFIX},
    {NULL, "cp", ".", NULL, PREFIX},
    {NULL, "cupy", ".", NULL, PREFIX},
    {NULL, "jnp", ".", NULL, PREFIX},
    {NULL, "torch", ".", NULL, PREFIX},
    {NULL, "scipy", ".", NULL, PREFIX},
    {NULL, NULL, ".", "T", "for a transpose write y[j,i] = x[i,j]"},
    {NULL, NULL, ".", "transpose", "for a transpose write y[j,i] = x[i,j]"},
    {NULL, NULL, ".", "shape", "write len(x, 0) for the extent of the first axis"},
    {NULL, NULL, ".", "size", "write len(x, 0), or the product of len(x, k) over the axes"},
    {NULL, NULL, ".", "sum", "write sum(i: x[i])"},
    {NULL, NULL, ".", "mean", "write mean(i: x[i])"},
    {NULL, NULL, ".", "max", "write max(i: x[i])"},
    {NULL, NULL, ".", "min", "write min(i: x[i])"},
    {NULL, NULL, ".", "argmax", "write argmax(i: x[i])"},
    {NULL, NULL, ".", "argmin", "write argmin(i: x[i])"},
    {NULL, NULL, ".", "any", "write any(i: x[i])"},
    {NULL, NULL, ".", "all", "write all(i: x[i])"},
    {NULL, NULL, ".", "dot", "write sum(k: a[i,k] * b[k,j])"},
    {NULL, NULL, ".", "astype", "write f32(x[i])"},
    {NULL, NULL, ".", "real", "write re(x)"},
    {NULL, NULL, ".", "imag", "write im(x)"},
    {NULL, NULL, ".", "conj", "write conj(x)"},
    {NULL, NULL, ".", "copy", "write y[i] = x[i]"},
    {NULL, "*", ".", NULL, "write * and / alone: all operators work on elements"},
    {NULL, NULL, ".", "*", "write * and / alone: all operators work on elements"},
    {NULL, NULL, ".", "/", "write * and / alone: all operators work on elements"},
    {NULL, NULL, ".", "^", "write ** for a power"},
    {NULL, NULL, ".", "**", "write ** alone: all operators work on elements"},
    {NULL, NULL, ".", NULL, "arrays have no methods or attributes: write functions, as in len(x, 0)"},
    {NULL, NULL, "@", NULL, "for a matrix product write sum(k: a[i,k] * b[k,j])"},
    {NULL, "]", "'", NULL, "for a transpose write y[j,i] = x[i,j]"},
    {NULL, NULL, "'", NULL, "there are no strings"},
    {NULL, NULL, "\"", NULL, "there are no strings"},
    {NULL, NULL, "\\", NULL, "a line continues inside ( ) and [ ], and after an operator or a comma"},
    /* brackets */
    {NULL, "]", "[", NULL, "write all subscripts in one bracket: x[i,j]"},
    {"',' or ']'", NULL, ":", NULL, NO_SLICE},
    {"an expression", "[", ":", NULL, NO_SLICE},
    {"an expression", ",", ":", NULL, NO_SLICE},
    {"an expression", NULL, "[", NULL, "there are no array literals: declare an array and set its elements"},
    /* operators */
    {"an expression", "<", ">", NULL, "write != for `<>`"},
    {"an expression", "==", "=", NULL, "write == for `===`"},
    {"an expression", "!=", "=", NULL, "write != for `!==`"},
    {"an expression", "+", "+", NULL, "write k += 1"},
    {"an expression", "+", NULL, NULL, "there is no unary +"},
    {"an expression", NULL, "+", NULL, "there is no unary +"},
    {NULL, "0", "f", NULL, SUFFIX},
    {NULL, "0", "F", NULL, SUFFIX},
    {NULL, "0", "L", NULL, SUFFIX},
    {NULL, "0", "u", NULL, SUFFIX},
    {NULL, "0", "NAME", NULL, "write * to multiply: 2 * x"},
    {"the end of the statement", NULL, "=", NULL, "write == to compare"},
    {"')'", NULL, "=", NULL, "write == to compare"},
    /* types */
    {"a type", NULL, NULL, NULL, "types are bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128"},
    /* statements */
    {"'=' and an expression", NULL, NULL, NULL, FUNCTION},
    {"'=' or", "function", NULL, NULL, FUNCTION},
    {"'=' or", "func", NULL, NULL, FUNCTION},
    {"'=' or", "fn", NULL, NULL, FUNCTION},
    {NULL, "lambda", NULL, NULL, FUNCTION},
    {"'=' or", "import", NULL, NULL, IMPORT},
    {"'=' or", "from", NULL, NULL, IMPORT},
    {"'=' or", "print", "(", NULL, "remove it: results are printed, or written with -o NAME=FILE"},
    {"'=' or", NULL, "(", NULL, "a statement assigns, as in y = f(x)"},
    {"'=' or", "continue", NULL, NULL, "there is no `continue`: put the rest of the block into an `if`"},
    {"'=' or", "pass", NULL, NULL, "remove it: a block may be empty"},
    {"'=' or", "end", NULL, NULL, "end a block with }"},
    {"'=' or", NULL, ":", "=", "write = to assign"},
    {"'=' or", NULL, ":", NULL, "to declare a type write `var y: f64`"},
    {"'=' or", NULL, "+", "+", "write k += 1"},
    {"'=' or", NULL, "-", "-", "write k -= 1"},
    {"'=' or", NULL, "==", NULL, "write = to assign"},
    {"'=' or", NULL, "NAME", NULL, VARIABLE},
    {"'=' or", NULL, "&", NULL, UPDATE},
    {"'=' or", NULL, "|", NULL, UPDATE},
    {"'=' or", NULL, "^", NULL, UPDATE},
    {"'=' or", NULL, "%", NULL, UPDATE},
    {"'=' or", NULL, "**", NULL, UPDATE},
    {"'=' or", NULL, "//", NULL, UPDATE},
    {"'=' or", NULL, "<<", NULL, UPDATE},
    {"'=' or", NULL, ">>", NULL, UPDATE},
    {"a statement", NULL, "//", NULL, "comments start with #"},
    {"a statement", NULL, "/", NULL, "comments start with #"},
    {"a statement", NULL, "%", NULL, "comments start with #"},
};

static bool matches_word(const char *row, const char *word) {
    return !row || strcmp(row, word) == 0;
}

static bool matches_found(const char *row, const struct le_syntax *syntax) {
    return matches_word(row, syntax->found) || (syntax->found_name && strcmp(row, "NAME") == 0);
}

const char *le_habit_of_syntax(const struct le_syntax *syntax) {
    for (size_t k = 0; k < ARRAY_LEN(SYNTAX); k++) {
        const char *wanted = SYNTAX[k].wanted;
        if ((!wanted || strncmp(wanted, syntax->wanted, strlen(wanted)) == 0) &&
            matches_word(SYNTAX[k].before, syntax->before) && matches_found(SYNTAX[k].found, syntax) &&
            matches_word(SYNTAX[k].after, syntax->after))
            return SYNTAX[k].advice;
    }
    return NULL;
}

/* ---- types */

static const struct habit TYPES[] = {
    {"float", "f64"},       {"double", "f64"},  {"single", "f32"},    {"half", "f16"},     {"float16", "f16"},
    {"float32", "f32"},     {"float64", "f64"}, {"bfloat16", "bf16"}, {"real", "f64"},     {"int", "i64"},
    {"long", "i64"},        {"short", "i16"},   {"char", "i8"},       {"byte", "u8"},      {"uint", "u64"},
    {"unsigned", "u64"},    {"int8", "i8"},     {"int16", "i16"},     {"int32", "i32"},    {"int64", "i64"},
    {"uint8", "u8"},        {"uint16", "u16"},  {"uint32", "u32"},    {"uint64", "u64"},   {"integer", "i64"},
    {"boolean", "bool"},    {"bool_", "bool"},  {"Bool", "bool"},     {"complex", "c128"}, {"complex64", "c64"},
    {"complex128", "c128"}, {"cfloat", "c64"},  {"cdouble", "c128"},  {"size_t", "i64"},   {"Float32", "f32"},
    {"Float64", "f64"},     {"Int32", "i32"},   {"Int64", "i64"},     {"int8_t", "i8"},    {"int16_t", "i16"},
    {"int32_t", "i32"},     {"int64_t", "i64"}, {"uint8_t", "u8"},    {"uint16_t", "u16"}, {"uint32_t", "u32"},
    {"uint64_t", "u64"},    {"usize", "i64"},   {"F32", "f32"},       {"F64", "f64"},
};

const char *le_habit_of_type(const char *name) {
    return FIND(TYPES, name);
}

/* ---- functions */

#define SCAN      "write c[i] = sum(k in 0..i+1: x[k])"
#define PRODUCT   "write sum(k: a[i,k] * b[k,j])"
#define TRANSPOSE "write y[j,i] = x[i,j]"
#define DECLARE   "declare the array, as in `var y: f64[n] = 0`"
#define DEVIATION "write sqrt(mean(i: (x[i] - m)**2)) with m = mean(i: x[i])"
#define NO_SORT   "sorting is not part of the language: sort the input"

static const struct habit FUNCTIONS[] = {
    {"pow", "write a ** b"},
    {"power", "write a ** b"},
    {"square", "write x ** 2"},
    {"mod", "write a % b"},
    {"fmod", "write a % b; the result has the sign of b"},
    {"remainder", "write a % b"},
    {"divmod", "write a // b and a % b"},
    {"ln", "write log(x)"},
    {"lg", "write log2(x) or log10(x)"},
    {"fabs", "write abs(x)"},
    {"absolute", "write abs(x)"},
    {"negative", "write -x"},
    {"arcsin", "write asin(x)"},
    {"arccos", "write acos(x)"},
    {"arctan", "write atan(x)"},
    {"arctan2", "write atan2(y, x)"},
    {"arcsinh", "write asinh(x)"},
    {"arccosh", "write acosh(x)"},
    {"arctanh", "write atanh(x)"},
    {"maximum", "write max(a, b)"},
    {"minimum", "write min(a, b)"},
    {"amax", "write max(i: x[i])"},
    {"amin", "write min(i: x[i])"},
    {"nansum", "write sum(i: isnan(x[i]) ? 0 : x[i])"},
    {"clip", "write clamp(x, low, high)"},
    {"rint", "write round(x)"},
    {"fix", "write trunc(x)"},
    {"gamma", "write tgamma(x)"},
    {"sigmoid", "write 1 / (1 + exp(-x))"},
    {"relu", "write max(x, 0)"},
    {"deg2rad", "write x * pi / 180"},
    {"radians", "write x * pi / 180"},
    {"rad2deg", "write x * 180 / pi"},
    {"degrees", "write x * 180 / pi"},
    {"isinfinite", "write isinf(x)"},
    {"real", "write re(z)"},
    {"imag", "write im(z)"},
    {"conjugate", "write conj(z)"},
    {"angle", "write atan2(im(z), re(z))"},
    {"arg", "write atan2(im(z), re(z))"},
    {"logical_and", "write a && b"},
    {"logical_or", "write a || b"},
    {"logical_not", "write !a"},
    {"bitwise_and", "write a & b"},
    {"bitwise_or", "write a | b"},
    {"bitwise_xor", "write a ^ b"},
    {"invert", "write ~a"},
    {"not", "write !a"},
    {"equal", "write a == b"},
    {"ifelse", "write c ? a : b"},
    {"iif", "write c ? a : b"},
    {"select", "write c ? a : b"},
    {"range", "write a range as 0..n"},
    {"arange", "write y[i] = i where i in 0..n"},
    {"linspace", "write y[i] = a + (b - a) * i / (n - 1) where i in 0..n"},
    {"zeros", DECLARE},
    {"ones", DECLARE},
    {"full", DECLARE},
    {"empty", DECLARE},
    {"zeros_like", DECLARE},
    {"ones_like", DECLARE},
    {"eye", "write y[i,j] = i == j ? 1.0 : 0.0 where i in 0..n, j in 0..n"},
    {"identity", "write y[i,j] = i == j ? 1.0 : 0.0 where i in 0..n, j in 0..n"},
    {"size", "write len(x, 0)"},
    {"shape", "write len(x, 0)"},
    {"length", "write len(x, 0)"},
    {"cumsum", SCAN},
    {"accumulate", SCAN},
    {"scan", SCAN},
    {"cumprod", "write c[i] = prod(k in 0..i+1: x[k])"},
    {"diff", "write y[i] = x[i+1] - x[i] where i in 0..len(x,0)-1"},
    {"dot", PRODUCT},
    {"matmul", PRODUCT},
    {"einsum", PRODUCT},
    {"tensordot", PRODUCT},
    {"inner", "write sum(i: a[i] * b[i])"},
    {"vdot", "write sum(i: conj(a[i]) * b[i])"},
    {"outer", "write y[i,j] = a[i] * b[j]"},
    {"transpose", TRANSPOSE},
    {"trace", "write sum(i: a[i,i])"},
    {"norm", "write sqrt(sum(i: x[i]**2))"},
    {"var", "write mean(i: (x[i] - m)**2) with m = mean(i: x[i])"},
    {"std", DEVIATION},
    {"stddev", DEVIATION},
    {"average", "write mean(i: x[i])"},
    {"avg", "write mean(i: x[i])"},
    {"total", "write sum(i: x[i])"},
    {"product", "write prod(i: x[i])"},
    {"count", "write sum(i: x[i] != 0)"},
    {"count_nonzero", "write sum(i: x[i] != 0)"},
    {"ptp", "write max(i: x[i]) - min(i: x[i])"},
    {"bincount", "write h[b[i]] += 1 into a declared h"},
    {"histogram", "write h[b[i]] += 1 into a declared h"},
    {"sort", NO_SORT},
    {"argsort", NO_SORT},
    {"median", NO_SORT},
    {"unique", NO_SORT},
    {"roll", "write `edge x wrap`, then y[i] = x[i-1]"},
    {"flip", "write y[i] = x[n-1-i]"},
    {"reverse", "write y[i] = x[n-1-i]"},
    {"where", "write c ? a : b"},
    {"rand_normal", "write randn(seed, i)"},
    {"random", "write rand(seed, i)"},
    {"astype", "write f32(x)"},
    {"print", "remove it: results are printed, or written with -o NAME=FILE"},
};

const char *le_habit_of_function(struct le_arena *arena, const char *name) {
    const char *type = le_habit_of_type(name), *advice = FIND(FUNCTIONS, name);
    return !advice && type ? le_arena_format(arena, "write %s(x)", type) : advice;
}

static const struct habit ARGUMENTS[] = {
    {"max", "for the largest element of an array write max(i: x[i])"},
    {"min", "for the smallest element of an array write min(i: x[i])"},
    {"round", "for two decimals write round(x * 100) / 100"},
    {"log", "for base b write log(x) / log(b)"},
    {"atan", "write atan2(y, x)"},
    {"clamp", "write clamp(x, low, high)"},
};

const char *le_habit_of_arguments(const char *name) {
    return FIND(ARGUMENTS, name);
}

static const struct habit OPERATORS[] = {
    {"^", "write ** for a power"},
    {"&", "write && to join conditions"},
    {"|", "write || to join conditions"},
    {"~", "write ! to negate a condition"},
    {"<<", "write x * 2**n"},
    {">>", "write x / 2**n"},
};

const char *le_habit_of_operator(const char *name) {
    return FIND(OPERATORS, name);
}

static const struct habit INPUTS[] = {
    {"True", "write true"},
    {"False", "write false"},
    {"TRUE", "write true"},
    {"FALSE", "write false"},
    {"None", "there is no `None`: leave the value out"},
    {"PI", "write pi"},
    {"Pi", "write pi"},
    {"M_PI", "write pi"},
    {"e", "write exp(1)"},
    {"Inf", "write inf"},
    {"INFINITY", "write inf"},
    {"NaN", "write nan"},
    {"NAN", "write nan"},
};

const char *le_habit_of_input(const char *name) {
    return FIND(INPUTS, name);
}
