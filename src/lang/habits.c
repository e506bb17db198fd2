/* The tables of habits.h. A row says what to write; x, a, b and c stand for the user's own names. Advice names only
 * what the language has. */
#include "lang/habits.h"
#include "base/status.h"
#include <string.h>

#define HABIT(word, advice)                                                                                            \
    { word, word, advice }

static const char *find_advice(const struct le_words *table, size_t count, const char *word) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(table[k].name, word) == 0)
            return table[k].summary;
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
    {"'{'", NULL, "NAME", NULL, BLOCK},
    {"':' of the reduction", NULL, NULL, NULL, "write `:` after the ranges, as in sum(i in 0..n: x[i])"},
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
    {"an expression", NULL, "+", NULL, "there is no unary +"},
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
    {"the end of the statement", NULL, "NAME", NULL, "write an operator between them, or `;` between statements"},
};

static bool matches_word(const char *row, const char *word) {
    return !row || strcmp(row, word) == 0;
}

static bool matches_found(const char *row, const struct le_syntax *syntax) {
    return matches_word(row, syntax->found) || (syntax->found_name && strcmp(row, "NAME") == 0);
}

/* The token that touches the end of a number. */
static const char *habit_of_number(const char *number, const char *found, bool found_name) {
    static const char *const SUFFIXES[] = {"f", "F", "L", "u", "U", "LL", "ul", "UL"};
    if (*found == '_')
        return "write numbers without _";
    if (*number == '0' && !number[1] && (*found == 'b' || *found == 'o') && found[1] >= '0' && found[1] <= '7')
        return "write the number in decimal, or in hexadecimal as 0x1f";
    for (size_t k = 0; k < ARRAY_LEN(SUFFIXES); k++)
        if (strcmp(found, SUFFIXES[k]) == 0)
            return "write numbers without a suffix";
    return found_name || *found == '(' ? "write * to multiply: 2 * x" : NULL;
}

const char *le_habit_of_syntax(const struct le_syntax *syntax) {
    const char *habit = *syntax->number ? habit_of_number(syntax->number, syntax->found, syntax->found_name) : NULL;
    if (habit)
        return habit;
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

#define TYPE(word, type)                                                                                               \
    { word, type, "write " type "(x)" }

/* usage: the type. */
static const struct le_words TYPES[] = {
    TYPE("float", "f64"),    TYPE("double", "f64"),    TYPE("single", "f32"),      TYPE("half", "f16"),
    TYPE("float16", "f16"),  TYPE("float32", "f32"),   TYPE("float64", "f64"),     TYPE("bfloat16", "bf16"),
    TYPE("real", "f64"),     TYPE("int", "i64"),       TYPE("long", "i64"),        TYPE("short", "i16"),
    TYPE("char", "i8"),      TYPE("byte", "u8"),       TYPE("uint", "u64"),        TYPE("unsigned", "u64"),
    TYPE("int8", "i8"),      TYPE("int16", "i16"),     TYPE("int32", "i32"),       TYPE("int64", "i64"),
    TYPE("uint8", "u8"),     TYPE("uint16", "u16"),    TYPE("uint32", "u32"),      TYPE("uint64", "u64"),
    TYPE("integer", "i64"),  TYPE("boolean", "bool"),  TYPE("bool_", "bool"),      TYPE("Bool", "bool"),
    TYPE("complex", "c128"), TYPE("complex64", "c64"), TYPE("complex128", "c128"), TYPE("cfloat", "c64"),
    TYPE("cdouble", "c128"), TYPE("size_t", "i64"),    TYPE("Float32", "f32"),     TYPE("Float64", "f64"),
    TYPE("Int32", "i32"),    TYPE("Int64", "i64"),     TYPE("int8_t", "i8"),       TYPE("int16_t", "i16"),
    TYPE("int32_t", "i32"),  TYPE("int64_t", "i64"),   TYPE("uint8_t", "u8"),      TYPE("uint16_t", "u16"),
    TYPE("uint32_t", "u32"), TYPE("uint64_t", "u64"),  TYPE("usize", "i64"),       TYPE("F32", "f32"),
    TYPE("F64", "f64"),
};

const char *le_habit_of_type(const char *name) {
    for (size_t k = 0; k < ARRAY_LEN(TYPES); k++)
        if (strcmp(TYPES[k].name, name) == 0)
            return TYPES[k].usage;
    return NULL;
}

/* ---- functions */

#define SCAN      "write c[i] = sum(k in 0..i+1: x[k])"
#define PRODUCT   "write sum(k: a[i,k] * b[k,j])"
#define TRANSPOSE "write y[j,i] = x[i,j]"
#define DECLARE   "declare the array, as in `var y: f64[n] = 0`"
#define DEVIATION "write sqrt(mean(i: (x[i] - m)**2)) with m = mean(i: x[i])"
#define NO_SORT   "sorting is not part of the language: sort the input"

static const struct le_words FUNCTIONS[] = {
    HABIT("pow", "write a ** b"),
    HABIT("power", "write a ** b"),
    HABIT("square", "write x ** 2"),
    HABIT("mod", "write a % b"),
    HABIT("fmod", "write a % b; the result has the sign of b"),
    HABIT("remainder", "write a % b"),
    HABIT("divmod", "write a // b and a % b"),
    HABIT("ln", "write log(x)"),
    HABIT("lg", "write log2(x) or log10(x)"),
    HABIT("fabs", "write abs(x)"),
    HABIT("absolute", "write abs(x)"),
    HABIT("negative", "write -x"),
    HABIT("arcsin", "write asin(x)"),
    HABIT("arccos", "write acos(x)"),
    HABIT("arctan", "write atan(x)"),
    HABIT("arctan2", "write atan2(y, x)"),
    HABIT("arcsinh", "write asinh(x)"),
    HABIT("arccosh", "write acosh(x)"),
    HABIT("arctanh", "write atanh(x)"),
    HABIT("maximum", "write max(a, b)"),
    HABIT("minimum", "write min(a, b)"),
    HABIT("amax", "write max(i: x[i])"),
    HABIT("amin", "write min(i: x[i])"),
    HABIT("nansum", "write sum(i: isnan(x[i]) ? 0 : x[i])"),
    HABIT("clip", "write clamp(x, low, high)"),
    HABIT("rint", "write round(x)"),
    HABIT("fix", "write trunc(x)"),
    HABIT("gamma", "write tgamma(x)"),
    HABIT("sigmoid", "write 1 / (1 + exp(-x))"),
    HABIT("relu", "write max(x, 0)"),
    HABIT("deg2rad", "write x * pi / 180"),
    HABIT("radians", "write x * pi / 180"),
    HABIT("rad2deg", "write x * 180 / pi"),
    HABIT("degrees", "write x * 180 / pi"),
    HABIT("isinfinite", "write isinf(x)"),
    HABIT("real", "write re(z)"),
    HABIT("imag", "write im(z)"),
    HABIT("conjugate", "write conj(z)"),
    HABIT("angle", "write atan2(im(z), re(z))"),
    HABIT("arg", "write atan2(im(z), re(z))"),
    HABIT("logical_and", "write a && b"),
    HABIT("logical_or", "write a || b"),
    HABIT("logical_not", "write !a"),
    HABIT("bitwise_and", "write a & b"),
    HABIT("bitwise_or", "write a | b"),
    HABIT("bitwise_xor", "write a ^ b"),
    HABIT("invert", "write ~a"),
    HABIT("not", "write !a"),
    HABIT("equal", "write a == b"),
    HABIT("ifelse", "write c ? a : b"),
    HABIT("iif", "write c ? a : b"),
    HABIT("select", "write c ? a : b"),
    HABIT("range", "write a range as 0..n"),
    HABIT("arange", "write y[i] = i where i in 0..n"),
    HABIT("linspace", "write y[i] = a + (b - a) * i / (n - 1) where i in 0..n"),
    HABIT("zeros", DECLARE),
    HABIT("ones", DECLARE),
    HABIT("full", DECLARE),
    HABIT("empty", DECLARE),
    HABIT("zeros_like", DECLARE),
    HABIT("ones_like", DECLARE),
    HABIT("eye", "write y[i,j] = i == j ? 1.0 : 0.0 where i in 0..n, j in 0..n"),
    HABIT("identity", "write y[i,j] = i == j ? 1.0 : 0.0 where i in 0..n, j in 0..n"),
    HABIT("size", "write len(x, 0)"),
    HABIT("shape", "write len(x, 0)"),
    HABIT("length", "write len(x, 0)"),
    HABIT("cumsum", SCAN),
    HABIT("accumulate", SCAN),
    HABIT("scan", SCAN),
    HABIT("cumprod", "write c[i] = prod(k in 0..i+1: x[k])"),
    HABIT("diff", "write y[i] = x[i+1] - x[i] where i in 0..len(x,0)-1"),
    HABIT("dot", PRODUCT),
    HABIT("matmul", PRODUCT),
    HABIT("einsum", PRODUCT),
    HABIT("tensordot", PRODUCT),
    HABIT("inner", "write sum(i: a[i] * b[i])"),
    HABIT("vdot", "write sum(i: conj(a[i]) * b[i])"),
    HABIT("outer", "write y[i,j] = a[i] * b[j]"),
    HABIT("transpose", TRANSPOSE),
    HABIT("trace", "write sum(i: a[i,i])"),
    HABIT("norm", "write sqrt(sum(i: x[i]**2))"),
    HABIT("var", "write mean(i: (x[i] - m)**2) with m = mean(i: x[i])"),
    HABIT("std", DEVIATION),
    HABIT("stddev", DEVIATION),
    HABIT("average", "write mean(i: x[i])"),
    HABIT("avg", "write mean(i: x[i])"),
    HABIT("total", "write sum(i: x[i])"),
    HABIT("product", "write prod(i: x[i])"),
    HABIT("count", "write sum(i: x[i] != 0)"),
    HABIT("count_nonzero", "write sum(i: x[i] != 0)"),
    HABIT("ptp", "write max(i: x[i]) - min(i: x[i])"),
    HABIT("bincount", "write h[b[i]] += 1 into a declared h"),
    HABIT("histogram", "write h[b[i]] += 1 into a declared h"),
    HABIT("sort", NO_SORT),
    HABIT("argsort", NO_SORT),
    HABIT("median", NO_SORT),
    HABIT("unique", NO_SORT),
    HABIT("roll", "write `edge x wrap`, then y[i] = x[i-1]"),
    HABIT("flip", "write y[i] = x[n-1-i]"),
    HABIT("reverse", "write y[i] = x[n-1-i]"),
    HABIT("where", "write c ? a : b"),
    HABIT("rand_normal", "write randn(seed, i)"),
    HABIT("random", "write rand(seed, i)"),
    HABIT("astype", "write f32(x)"),
    HABIT("print", "remove it: results are printed, or written with -o NAME=FILE"),
};

const char *le_habit_of_function(const char *name) {
    const char *advice = FIND(FUNCTIONS, name);
    return advice ? advice : FIND(TYPES, name);
}

static const struct le_words ARGUMENTS[] = {
    HABIT("max", "for the largest element of an array write max(i: x[i])"),
    HABIT("min", "for the smallest element of an array write min(i: x[i])"),
    HABIT("round", "for two decimals write round(x * 100) / 100"),
    HABIT("log", "for base b write log(x) / log(b)"),
    HABIT("atan", "write atan2(y, x)"),
    HABIT("clamp", "write clamp(x, low, high)"),
};

const char *le_habit_of_arguments(const char *name) {
    return FIND(ARGUMENTS, name);
}

static const struct le_words OPERATORS[] = {
    HABIT("^", "write ** for a power"),
    HABIT("&", "write && to join conditions"),
    HABIT("|", "write || to join conditions"),
    HABIT("~", "write ! to negate a condition"),
    HABIT("<<", "write x * 2**n"),
    HABIT(">>", "write x / 2**n"),
};

const char *le_habit_of_operator(const char *name) {
    return FIND(OPERATORS, name);
}

static const struct le_words INPUTS[] = {
    HABIT("True", "write true"),
    HABIT("False", "write false"),
    HABIT("TRUE", "write true"),
    HABIT("FALSE", "write false"),
    HABIT("None", "there is no `None`: leave the value out"),
    HABIT("PI", "write pi"),
    HABIT("Pi", "write pi"),
    HABIT("M_PI", "write pi"),
    HABIT("e", "bind it, or write exp(1)"),
    HABIT("Inf", "write inf"),
    HABIT("INFINITY", "write inf"),
    HABIT("NaN", "write nan"),
    HABIT("NAN", "write nan"),
};

const char *le_habit_of_input(const char *name) {
    return FIND(INPUTS, name);
}

const struct le_words *le_habit_words(size_t k) {
    static const struct {
        const struct le_words *words;
        size_t count;
    } TABLES[] = {{FUNCTIONS, ARRAY_LEN(FUNCTIONS)}, {TYPES, ARRAY_LEN(TYPES)}, {INPUTS, ARRAY_LEN(INPUTS)}};
    for (size_t t = 0; t < ARRAY_LEN(TABLES); k -= TABLES[t++].count)
        if (k < TABLES[t].count)
            return &TABLES[t].words[k];
    return NULL;
}
