/* See help_topics.h. */
#include "cli/help_topics.h"
#include "leat.h"
#include <stdio.h>
#include <string.h>

static const char LANGUAGE[] =
    "the language on one page; docs/LANGUAGE.md has a tutorial and the reference\n"
    "\n"
    "A statement says what each element of an array is. A name in brackets that has no value is an index:\n"
    "the statement holds for all its values.\n"
    "\n"
    "  y[i] = 2 * x[i] + 1                  for every element of x; x is an input, since nothing sets it\n"
    "  c[i,j] = sum(k: a[i,k] * b[k,j])     reduce over an index: a matrix product\n"
    "  y[i,j] = a[i,j] * w[j]               leave an index out to broadcast\n"
    "  e[...,j] = exp(x[...,j])             any number of leading axes\n"
    "  y[i] = x[p[i]]                       gather: subscripts from data\n"
    "  out h: i64[10]; h[p[i]] += 1         scatter: add into an array that starts at zero\n"
    "  y[i] = x[i-1] + x[i+1] else 0        else: where a read of the statement falls outside\n"
    "  y[i] = i * i where i in 0..10        where: an explicit range; its end is left out\n"
    "  y[i] = x[i] > 0 ? x[i] : 0           choose\n"
    "\n"
    "  in x: f32[n, m], eps = 1e-6          declare inputs: type, extents and default are optional\n"
    "  out y: f64[n], z                     declare results\n"
    "  var t: i32[8] = 1                    declare an array of this value, zero by default\n"
    "  def square(v) = v * v                define a function\n"
    "  def f(a, n) { ...; return a }        define a function of several statements\n"
    "  for t in 0..100 { ... }              repeat statements; also while c { ... } and break\n"
    "  if c { ... } else { ... }            choose statements\n"
    "  each i, j { ... }                    run statements for every element, all at once\n"
    "\n"
    "One statement a line, or several with ; between them. # begins a comment. Updates: += -= *= /= min= max=.\n";

static const char PRECEDENCE[] =
    "\n"
    "Precedence, loosest first: ? :, ||, &&, comparisons, |, ^, &, << >>, + -, * / // %, prefixes - ! ~, **.\n";

static const char TYPES_TAIL[] =
    "\n"
    "Calling a type casts. Mixed types combine as in NumPy 2: i32 + f32 is f64, u8 + i8 is i16. Numbers in the\n"
    "program and on the command line take the type beside them: f32 * 2.0 is f32. / gives a float; integers\n"
    "wrap around. Sums of integers are i64 or u64; sums of floats keep their type.\n";

static const char FILES[] =
    "the formats of files that are read and written\n"
    "\n"
    "  FILE.npy         one array of any type, as NumPy writes it; bf16 is two plain bytes\n"
    "  FILE.npz:KEY     an array of a zip archive of .npy files. Without :KEY the only array is read, and a\n"
    "                   result is written under its own name. Several -o with the same file write one archive\n"
    "  FILE.csv         a table of numbers: one line per row, fields separated by commas. One column is [rows],\n"
    "                   several are [rows,columns]; i64 if all numbers are whole, else f64, or the type that\n"
    "                   the program declares. A first line without numbers is a header and is skipped\n"
    "  FILE.tsv         the same with tabs\n"
    "  FILE.png         a picture: u8 or u16 [h,w], or [h,w,3] or [h,w,4]. A result [h,w] of another type is\n"
    "                   scaled from its least to its greatest value\n"
    "  -                stdin, which may have an .npy, an .npz or a picture; or stdout, which gets an .npy\n"
    "\n"
    "A file takes its name when it is complete; an older one stays until then.\n";

static const char ENVIRONMENT[] =
    "the environment variables; options override them\n"
    "\n"
    "  LEAT_DEVICE           the device: auto (default), cpu, cuda, cuda:1 or sim\n"
    "  LEAT_THREADS          the number of threads; defaults to the cores that the process may use\n"
    "  LEAT_SIMD             the instruction set: baseline, avx2 or avx512; defaults to the best one available\n"
    "  LEAT_BLAS             the BLAS for matrix products, a library's name or path; none: do not use any\n"
    "  LEAT_INTERPRET        whether code that is not compiled yet is interpreted on a CUDA device: never, ready,\n"
    "                        always or only\n"
    "  LEAT_PRECISION        tf32: let a GPU round the factors of f32 matrix products to TF32; defaults to f32\n"
    "  LEAT_BITS             portable: matrix products have the same bits on every device; defaults to default\n"
    "  LEAT_MAPPING          mappings that kernels on devices prefer, for experiments; see docs/INTERNALS.md\n"
    "  LEAT_CUDA_PATH        the folder of a CUDA toolkit, of NVRTC or of CUPTI; defaults to the system's\n"
    "  LEAT_CACHE_DIR        the folder of the cache of compiled code\n"
    "  LEAT_CACHE_CAP_BYTES  the maximum size of that cache; defaults to 1 GiB; 0 turns it off\n"
    "  LEAT_SIM_SEED         the seed of the order in which sim runs threads\n"
    "  LEAT_SIM_CHECK        1: let sim check every kernel, as leat launch --check does\n"
    "  LEAT_SIM_MULTIPROCESSORS\n"
    "                        the number of sim's multiprocessors; defaults to 4\n"
    "  COLUMNS               the width of printed arrays; defaults to the terminal's, else 80\n"
    "  NO_COLOR              if not empty: do not use color\n";

static const char EXIT_STATUS[] =
    "the exit codes\n"
    "\n"
    "    0  success\n"
    "    1  the program is wrong, or its arrays' shapes or types do not fit it, or it has no such result\n"
    "    2  the command line is wrong, or an input is missing or not in the program\n"
    "    3  a file cannot be read or written, or is malformed\n"
    "    4  there is no such device, or it failed\n"
    "    5  out of memory\n"
    "    6  an error in the data, found as the program ran, such as a subscript out of range\n"
    "   70  an internal error; please report it\n"
    "  130  Ctrl-C; another signal gives 128 plus its number\n"
    "\n"
    "`leat trace COMMAND` exits with the command's status.\n";

/* ---- tables */

static void print_kind(leat_builtin_kind kind, const char *title, int width) {
    leat_builtin_info info;
    size_t count = 0;
    leat_builtin_count(kind, &count);
    printf("%s\n", title);
    for (size_t k = 0; k < count; k++)
        if (leat_builtin_get(kind, k, &info) == LEAT_OK)
            printf("  %-*s  %s\n", width, info.usage, info.summary);
}

static void print_language(void) {
    fputs(LANGUAGE, stdout);
    print_kind(LEAT_BUILTIN_OPERATOR, "\noperators", 16);
    fputs(PRECEDENCE, stdout);
    print_kind(LEAT_BUILTIN_EDGE, "\nedge modes, for reads outside of an array", 16);
    fputs("\nSee also: leat help functions, leat help types\n", stdout);
}

static void print_functions(void) {
    print_kind(LEAT_BUILTIN_FUNCTION, "functions", 19);
    print_kind(LEAT_BUILTIN_REDUCTION, "\nreductions, over one index or several: sum(i, j in 0..n: x[i,j])", 19);
    print_kind(LEAT_BUILTIN_CONSTANT, "\nconstants", 19);
    fputs("\nA type's name casts: f32(x). See also: leat help types, leat help language\n", stdout);
}

static void print_types(void) {
    print_kind(LEAT_BUILTIN_TYPE, "types", 14);
    fputs(TYPES_TAIL, stdout);
}

static const struct topic {
    const char *name;
    const char *text; /* or NULL: call print */
    void (*print)(void);
} TOPICS[] = {
    {"language", NULL, print_language}, {"functions", NULL, print_functions},
    {"types", NULL, print_types},       {"files", FILES, NULL},
    {"environment", ENVIRONMENT, NULL}, {"exit-status", EXIT_STATUS, NULL},
};
enum { TOPICS_COUNT = sizeof TOPICS / sizeof TOPICS[0] };
_Static_assert((int)TOPICS_COUNT < (int)LE_HELP_TOPICS_MAX, "room for their names and a NULL");

void le_help_topics(const char **names) {
    for (int k = 0; k < TOPICS_COUNT; k++)
        names[k] = TOPICS[k].name;
    names[TOPICS_COUNT] = NULL;
}

static bool find_builtin(leat_builtin_kind kind, const char *name, leat_builtin_info *info) {
    size_t count = 0;
    leat_builtin_count(kind, &count);
    for (size_t k = 0; k < count; k++)
        if (leat_builtin_get(kind, k, info) == LEAT_OK && strcmp(info->name, name) == 0)
            return true;
    return false;
}

const char *le_help_foreign(const char *name) {
    leat_builtin_info info;
    return find_builtin(LEAT_BUILTIN_FOREIGN, name, &info) ? info.summary : NULL;
}

/* A name may have several entries: min and max are functions and reductions. */
static bool print_builtin(const char *name) {
    bool found = false;
    leat_builtin_info info;
    for (leat_builtin_kind kind = 0; kind < LEAT_BUILTIN_FOREIGN; kind++) {
        if (!find_builtin(kind, name, &info))
            continue;
        printf("%s: %s\n", info.usage, info.summary);
        if (kind == LEAT_BUILTIN_KEYWORD)
            printf("See also: leat help language\n");
        found = true;
    }
    const char *foreign = le_help_foreign(name);
    if (foreign)
        printf(found ? "%s as a function: %s\n" : "%s is not in the language: %s\n", name, foreign);
    return found || foreign;
}

bool le_help_topic(const char *name) {
    for (int k = 0; k < TOPICS_COUNT; k++) {
        if (strcmp(TOPICS[k].name, name) != 0)
            continue;
        if (TOPICS[k].print)
            TOPICS[k].print();
        else
            fputs(TOPICS[k].text, stdout);
        return true;
    }
    return print_builtin(name);
}
