/* Checks that random programs of few statements over the same points give the same bytes on sim, where one kernel may
 * compute several of them, as on the CPU. The statements are maps, updates of a whole array or of a part, reductions,
 * also of windows and of rows that all points share, and numbers; they read each other's results at the same point,
 * elsewhere, and transposed. Some or all of the results are wanted. Each call runs twice. Every second program asks for
 * a mapping, which then computes what it fits.
 *
 * usage: random_fused COUNT [FIRST_SEED]   (a failure prints its seed: `random_fused 1 SEED` repeats it)
 *        random_fused show SEED */
#include "leat.h"
#include "random_bits.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every INTERPRETED_EVERYth program also runs on sim without any code of its own. */
enum {
    MAPPED_EVERY = 2,
    ARRAYS_MAX = 16,
    TEXT_BYTES_MAX = 4096,
    INPUTS = 4,
    ROUNDS = 2,
    WAYS = 3,
    INTERPRETED_EVERY = 4
};

struct variable {
    char name[16];
    int rank;       /* 0: a number; 1: over one index; 2: [i,j] */
    bool is_column; /* of rank 1: over i instead of j */
    bool is_input, is_wanted;
    bool is_unread; /* no other statement reads it */
    const char *type;
};

struct program {
    uint64_t seed, next;
    int64_t rows, columns;
    bool is_complex; /* its arrays are of complex numbers, in maps and updates */
    struct variable variables[ARRAYS_MAX];
    int count;
    char text[TEXT_BYTES_MAX];
};

static void need(leat_status status, const char *what) {
    if (!status)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, leat_status_name(status), leat_error_text(NULL));
    exit(1);
}

/* ---- programs */

static int choose(struct program *p, int count) {
    return (int)(random_bits(p->seed, p->next++) % (uint64_t)count);
}

static void put(struct program *p, const char *text) {
    strncat(p->text, text, sizeof p->text - strlen(p->text) - 1);
}

static void put_name(struct program *p, const struct variable *v, const char *subscripts) {
    put(p, v->name);
    put(p, subscripts);
}

static const struct variable *any_variable(struct program *p, int rank) {
    int first = choose(p, p->count);
    for (int k = 0; k < p->count; k++) {
        const struct variable *v = &p->variables[(first + k) % p->count];
        if (v->rank == rank && !v->is_unread)
            return v;
    }
    return &p->variables[0];
}

/* At the same point most of the time. square: arrays may be read transposed. far: reads elsewhere are in range */
static void put_read(struct program *p, bool square, bool far) {
    static const char *const elsewhere[] = {"[i-1,j]", "[i,j-1]", "[i-1,j-1]", "[i,0]"};
    int what = choose(p, 12);
    const struct variable *v = any_variable(p, what == 0 ? 0 : what == 1 ? 1 : 2);
    if (v->rank < 2)
        put_name(p, v, v->rank == 0 ? "" : v->is_column ? "[i]" : "[j]");
    else if (what == 2 && square)
        put_name(p, v, "[j,i]");
    else if (what <= 4 && far)
        put_name(p, v, elsewhere[choose(p, 4)]);
    else
        put_name(p, v, "[i,j]");
}

static void put_expression(struct program *p, int depth, bool square, bool far) {
    static const char *const operators[] = {" + ", " - ", " * "};
    static const char *const numbers[] = {"2", "0.5", "3", "0.25"};
    int what = choose(p, 8);
    if (depth == 0 || what == 0) {
        if (choose(p, 6) == 0)
            put(p, numbers[choose(p, 4)]);
        else
            put_read(p, square, far);
        return;
    }
    if (what == 1 && p->is_complex)
        what = 3;
    if (what == 1)
        put(p, choose(p, 2) ? "max(" : "min(");
    else if (what == 2)
        put(p, p->is_complex ? "(conj(" : "sqrt(abs(");
    else
        put(p, "(");
    put_expression(p, depth - 1, square, far);
    if (what != 2) {
        put(p, what == 1 ? ", " : operators[choose(p, 3)]);
        put_expression(p, depth - 1, square, far);
    }
    put(p, what == 2 ? "))" : ")");
}

static struct variable *new_variable(struct program *p, const char *letter, int rank) {
    struct variable *v = &p->variables[p->count++];
    snprintf(v->name, sizeof v->name, "%s%d", letter, p->count);
    v->rank = rank;
    v->type = "f32";
    return v;
}

static void put_cast(struct program *p, const struct variable *v) {
    put(p, p->is_complex ? "c64(" : v->type[1] == '6' ? "f64(" : "f32(");
}

/* The reads of a new variable's statement do not include the variable. */
static void add_map(struct program *p, bool square) {
    char rest[TEXT_BYTES_MAX];
    size_t at = strlen(p->text);
    put_expression(p, 1 + choose(p, 3), square, false);
    put(p, choose(p, 2) ? " + " : " - ");
    put_name(p, any_variable(p, 2), "[i,j]"); /* so that the indices have ranges */
    snprintf(rest, sizeof rest, "%s", p->text + at);
    p->text[at] = 0;
    struct variable *v = new_variable(p, "v", 2);
    if (choose(p, 5) == 0 && !p->is_complex) {
        v->type = "f64";
        put(p, "var ");
        put(p, v->name);
        put(p, ": f64[len(x1,0),len(x1,1)]\n");
    }
    put_name(p, v, "[i,j] = ");
    put_cast(p, v);
    put(p, rest);
    put(p, ")\n");
}

static void add_update(struct program *p, bool square) {
    const struct variable *v = any_variable(p, 2);
    bool part = choose(p, 3) == 0;
    put_name(p, v, "[i,j] = ");
    put_cast(p, v);
    if (choose(p, 3)) {
        put_name(p, v, "[i,j] + ");
        put_expression(p, 1, square, part);
    } else {
        put_expression(p, 2, square, part);
    }
    put(p, part ? ") where i in 1..len(x1,0), j in 1..len(x1,1)\n" : ")\n");
}

static void add_reduction(struct program *p) {
    static const char *const names[] = {"sum", "min", "max"};
    static const char *const starts[] = {"(i,j: ", "(i: ", "(j: "}, *const lefts[] = {" = ", "[j] = ", "[i] = "};
    char rest[TEXT_BYTES_MAX];
    size_t at = strlen(p->text);
    int kind = choose(p, 7);
    kind = kind == 0 ? 0 : kind < 4 ? 1 : 2;
    bool around = choose(p, 3) == 0;
    put(p, around ? "f32(1 + 0.25*" : "f32(");
    put(p, names[choose(p, 3)]);
    put(p, starts[kind]);
    put_read(p, false, false);
    put(p, choose(p, 2) ? " + " : " * ");
    put_name(p, any_variable(p, 2), "[i,j]))\n");
    snprintf(rest, sizeof rest, "%s", p->text + at);
    p->text[at] = 0;
    struct variable *v = new_variable(p, kind == 0 ? "s" : "r", kind > 0);
    v->is_column = kind == 2;
    put_name(p, v, lefts[kind]);
    put(p, rest);
}

/* Of a window of an input, or of terms that move along one of its axes. Beyond an input's ends its edge rule holds. */
static void add_window(struct program *p) {
    static const char *const names[] = {"sum", "min", "max"};
    static const char *const terms[] = {
        "x1[i+%d*a,j+%d*b]",   "x1[i+%d*a,j+%d*b] * x2[a,b]", "abs(x1[i+%d*a,j+%d*b] - x2[i,j])",
        "x1[i+%d*a,j+%d*b+a]", "x1[b,j+%d*a] * x2[i,%d*a]",   "x1[a,j+%d*b] * x2[i,a+%d*b]",
        "x1[%d*i+a,%d*j+b]",   "x1[%d*i+a,b] - x2[%d*a,j]",   "x1[a,%d*i] * x2[%d*a,j]"};
    char term[96], rest[256];
    const char *name = names[choose(p, 3)];
    const int rows = 1 + choose(p, 4), columns = 1 + choose(p, 6), by_rows = 1 + choose(p, 2),
              by_columns = 1 + choose(p, 3);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(term, sizeof term, terms[choose(p, (int)(sizeof terms / sizeof *terms))], by_rows, by_columns);
#pragma GCC diagnostic pop
    snprintf(rest, sizeof rest,
             "[i,j] = f32(%s(a in 0..%d, b in 0..%d: %s)) where i in 0..len(x1,0), j in 0..len(x1,1)\n", name, rows,
             columns, term);
    put_name(p, new_variable(p, "v", 2), rest);
}

/* Results of few bytes: comparisons, and numbers of 16 bits. */
static void add_narrow(struct program *p, bool square) {
    static const char *const starts[] = {"[i,j] = ", "[i,j] = f16(", "[i,j] = bf16("};
    static const char *const compared[] = {" > ", " <= ", " != "};
    int kind = choose(p, 4);
    kind = kind > 1 ? kind - 1 : 0;
    char rest[TEXT_BYTES_MAX];
    size_t at = strlen(p->text);
    put(p, starts[kind]);
    put_expression(p, 1 + choose(p, 2), square, false);
    put(p, kind == 0 ? compared[choose(p, 3)] : choose(p, 2) ? " - " : " * ");
    const struct variable *v = any_variable(p, 1);
    put_name(p, v, v->is_column ? "[i] + " : "[j] + ");
    put_name(p, any_variable(p, 2), "[i,j]"); /* so that the indices have ranges */
    put(p, kind == 0 ? "\n" : ")\n");
    snprintf(rest, sizeof rest, "%s", p->text + at);
    p->text[at] = 0;
    struct variable *made = new_variable(p, "w", 2);
    made->is_unread = true;
    put_name(p, made, rest);
}

/* Of values of one index. */
static void add_row(struct program *p) {
    const struct variable *a = any_variable(p, 1);
    const char *index = a->is_column ? "[i]" : "[j]";
    bool is_column = a->is_column;
    char rest[TEXT_BYTES_MAX];
    snprintf(rest, sizeof rest, "f32(%s%s * 2 + ", a->name, index);
    const struct variable *b = any_variable(p, choose(p, 2));
    struct variable *v = new_variable(p, "r", 1);
    v->is_column = is_column;
    put_name(p, v, is_column ? "[i] = " : "[j] = ");
    put(p, rest);
    put(p, b->rank == 1 && b->is_column != is_column ? "x4" : b->rank > 1 ? "1" : b->name);
    put(p, b->rank == 1 && b->is_column == is_column ? index : "");
    put(p, ")\n");
}

static void make_program(struct program *p, uint64_t seed) {
    static const int64_t extents[] = {1, 2, 3, 4, 5, 8, 31, 32, 33, 64, 100, 259};
    static const char *const edges[] = {"edge x1 clamp\n", "edge x1 wrap\n", "edge x1 mirror\n", "edge x1 symmetric\n",
                                        "edge x1 fill(0.5)\n"};
    memset(p, 0, sizeof *p);
    p->seed = seed;
    p->rows = extents[choose(p, 12)];
    p->columns = choose(p, 3) ? extents[choose(p, 12)] : p->rows;
    bool square = p->rows == p->columns;
    for (int k = 0; k < INPUTS; k++)
        new_variable(p, "x", k < 2 ? 2 : k == 2 ? 1 : 0)->is_input = true;
    p->is_complex = choose(p, 4) == 0;
    put(p, p->is_complex ? "in x1: c64[n,m]\nin x2: c64[n,m]\n" : "in x1: f32[n,m]\nin x2: f32[n,m]\n");
    put(p, "in x3: f32[m]\nin x4: f32\n");
    put(p, edges[choose(p, 5)]);
    put(p, "edge x2 clamp\n");
    int statements = 2 + choose(p, 5);
    for (int k = 0; k < statements; k++) {
        int what = choose(p, p->is_complex ? 7 : 18);
        if (what < 5)
            add_map(p, square);
        else if (what < 7)
            add_update(p, square);
        else if (what < 11)
            add_reduction(p);
        else if (what < 12)
            add_row(p);
        else if (what < 15)
            add_window(p);
        else
            add_narrow(p, square);
    }
    bool all = choose(p, 2);
    for (int k = INPUTS; k < p->count; k++)
        p->variables[k].is_wanted = all || k == p->count - 1 || choose(p, 2);
    for (int k = 0; k < INPUTS; k++) /* those that are updated */
        p->variables[k].is_wanted = all && p->variables[k].rank == 2;
}

/* ---- runs */

struct outcome {
    leat_status status;
    bool is_joined; /* some statement is computed by another one's kernel */
    char error[400];
    leat_array *results[ROUNDS][ARRAYS_MAX];
};

static leat_array *make_input(leat_context *ctx, const struct program *p, int variable) {
    const int64_t shape[] = {p->rows, p->columns};
    int rank = p->variables[variable].rank;
    leat_array *array;
    leat_description d;
    bool is_complex = p->is_complex && rank == 2;
    need(leat_array_new(ctx, is_complex ? LEAT_C64 : LEAT_F32, rank, rank == 1 ? shape + 1 : shape, LEAT_MEMORY_HOST,
                        &array),
         "an input");
    need(leat_array_get(array, &d), "an input");
    int64_t count = (rank > 0 ? p->columns : 1) * (rank > 1 ? p->rows : 1) * (is_complex ? 2 : 1);
    for (int64_t k = 0; k < count; k++)
        ((float *)d.data)[k] = (float)(random_bits(p->seed + (uint64_t)variable, 1000 + (uint64_t)k) % 4001) / 1000 - 2;
    return array;
}

static void run(leat_context *ctx, const struct program *p, struct outcome *out) {
    leat_program *program = NULL;
    leat_call *call = NULL;
    memset(out, 0, sizeof *out);
    out->status = leat_program_new(ctx, p->text, 0, NULL, &program);
    if (!out->status)
        out->status = leat_call_new(program, &call);
    for (int k = 0; k < INPUTS && !out->status; k++) {
        leat_array *array = make_input(ctx, p, k);
        out->status = leat_call_set_array(call, p->variables[k].name, array);
        leat_array_free(array);
    }
    for (int k = 0; k < p->count && !out->status; k++)
        if (p->variables[k].is_wanted)
            out->status = leat_call_want(call, p->variables[k].name, NULL);
    for (int round = 0; round < ROUNDS && !out->status; round++) {
        out->status = leat_call_run(call, NULL, NULL);
        for (int k = 0; k < p->count && !out->status; k++)
            if (p->variables[k].is_wanted)
                need(leat_call_result(call, p->variables[k].name, &out->results[round][k]), "a result");
    }
    char *plan = NULL;
    if (!out->status && !leat_call_show(call, LEAT_FORM_PLAN, &plan))
        out->is_joined = strstr(plan, "computed by the kernel of action") != NULL;
    leat_memory_free(plan);
    if (out->status)
        snprintf(out->error, sizeof out->error, "%s", leat_error_text(ctx));
    leat_call_free(call);
    leat_program_free(program);
}

static void finish(struct outcome *out) {
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < ARRAYS_MAX; k++)
            leat_array_free(out->results[round][k]);
}

/* ---- comparing */

/* The elements in the host's memory, row-major. */
static leat_array *fetched(leat_context *ctx, const leat_array *array) {
    leat_array *copy;
    leat_description d;
    need(leat_array_get(array, &d), "an array");
    need(leat_array_new(ctx, d.dtype, d.rank, d.shape, LEAT_MEMORY_HOST, &copy), "a copy");
    need(leat_array_copy(copy, array, NULL, NULL), "a copy");
    return copy;
}

static bool is_nan(const char *at, leat_dtype dtype, size_t size) {
    float single;
    double real;
    uint16_t half;
    if (dtype == LEAT_F16 || dtype == LEAT_BF16) {
        memcpy(&half, at, sizeof half);
        return (half & 0x7fff) > (dtype == LEAT_F16 ? 0x7c00 : 0x7f80);
    }
    if (size == sizeof single) {
        memcpy(&single, at, sizeof single);
        return single != single;
    }
    if (size < sizeof real)
        return false;
    memcpy(&real, at, sizeof real);
    return real != real;
}

static bool is_same(leat_context *of_a, leat_context *of_b, const leat_array *a, const leat_array *b) {
    leat_array *x = fetched(of_a, a), *y = fetched(of_b, b);
    leat_description d, e;
    need(leat_array_get(x, &d), "an array");
    need(leat_array_get(y, &e), "an array");
    size_t size = leat_dtype_size_bytes(d.dtype);
    int64_t count = 1;
    bool same = d.dtype == e.dtype && d.rank == e.rank;
    for (int k = 0; k < d.rank && same; k++) {
        same = d.shape[k] == e.shape[k];
        count *= d.shape[k];
    }
    if (d.dtype >= LEAT_C64) { /* compared part by part */
        size /= 2;
        count *= 2;
    }
    for (int64_t k = 0; k < count && same; k++) {
        const char *u = (const char *)d.data + (size_t)k * size, *v = (const char *)e.data + (size_t)k * size;
        same = memcmp(u, v, size) == 0 || (is_nan(u, d.dtype, size) && is_nan(v, d.dtype, size));
    }
    leat_array_free(x);
    leat_array_free(y);
    return same;
}

static const char *find_difference(leat_context *of_a, leat_context *of_b, const struct program *p,
                                   const struct outcome *a, const struct outcome *b) {
    if (a->status != b->status)
        return "the status";
    for (int round = 0; round < ROUNDS && !a->status; round++)
        for (int k = 0; k < p->count; k++)
            if (p->variables[k].is_wanted && !is_same(of_a, of_b, a->results[0][k], b->results[round][k]))
                return p->variables[k].name;
    return NULL;
}

/* A context of sim that prefers some mapping. */
static leat_context *mapped_context(uint64_t seed, const leat_options *options) {
    static const char *const mappings[] = {"window columns=2 rows=1",
                                           "window columns=4 rows=2",
                                           "window columns=1 rows=8",
                                           "reuse across=16 rows=2 columns=2 depth=4",
                                           "reuse across=64 rows=1 columns=2 depth=8",
                                           "columns chunk=64",
                                           "columns parts=4 chunk=64",
                                           "columns vector=4",
                                           "rows",
                                           "rows strip=8 vector=4",
                                           "rows strip=16 cluster=2 vector=2",
                                           "lanes",
                                           "warp",
                                           "block threads=64",
                                           "block kept=1",
                                           "grid",
                                           "map vector=4 unrolled=2",
                                           "tile"};
    leat_context *ctx = NULL;
    setenv("LEAT_MAPPING", mappings[seed / MAPPED_EVERY % (sizeof mappings / sizeof *mappings)], 1);
    need(leat_open(options, &ctx), getenv("LEAT_MAPPING"));
    return ctx;
}

static bool try_seed(leat_context *const *contexts, uint64_t seed, int *differences, int *joined) {
    static const char *const ways[WAYS] = {"on the CPU", "on sim", "on sim, interpreted"};
    static struct program p;
    static struct outcome outcomes[WAYS];
    int count = seed % INTERPRETED_EVERY == 0 ? WAYS : WAYS - 1;
    make_program(&p, seed);
    for (int k = 0; k < count; k++) {
        run(contexts[k], &p, &outcomes[k]);
        const char *what = k > 0 ? find_difference(contexts[0], contexts[k], &p, &outcomes[0], &outcomes[k]) : NULL;
        if (!what)
            continue;
        ++*differences;
        const char *mapping = getenv("LEAT_MAPPING");
        printf("seed %llu: %s differs %s, %lld rows and %lld columns, mapping %s\n%s%s\n%s\n", (unsigned long long)seed,
               what, ways[k], (long long)p.rows, (long long)p.columns, mapping ? mapping : "as chosen", p.text,
               outcomes[0].error, outcomes[k].error);
    }
    bool ran = !outcomes[0].status;
    *joined += outcomes[1].is_joined;
    if (!ran && getenv("LEAT_RANDOM_SHOW"))
        printf("seed %llu: %s\n%s", (unsigned long long)seed, outcomes[0].error, p.text);
    for (int k = 0; k < count; k++)
        finish(&outcomes[k]);
    return ran;
}

int main(int argument_count, char **arguments) {
    if (argument_count == 3 && strcmp(arguments[1], "show") == 0) {
        static struct program p;
        make_program(&p, strtoull(arguments[2], NULL, 10));
        printf("%s# n = %lld, m = %lld\n", p.text, (long long)p.rows, (long long)p.columns);
        return 0;
    }
    if (argument_count < 2 || argument_count > 3) {
        fprintf(stderr, "usage: random_fused COUNT [FIRST_SEED] | random_fused show SEED\n");
        return 2;
    }
    uint64_t count = strtoull(arguments[1], NULL, 10);
    uint64_t first = argument_count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    leat_context *contexts[WAYS] = {NULL};
    int differences = 0, ran = 0, joined = 0;
    const leat_options options[WAYS] = {
        {.device = "cpu", .threads = 1},
        {.device = "sim", .interpret = LEAT_INTERPRET_NEVER, .sim_check = true},
        {.device = "sim", .interpret = LEAT_INTERPRET_ONLY, .keep_code = true, .sim_check = true}};
    for (int k = 0; k < WAYS; k++)
        need(leat_open(&options[k], &contexts[k]), options[k].device);
    for (uint64_t seed = first; seed < first + count; seed++) {
        leat_context *own[WAYS] = {contexts[0], contexts[1], contexts[2]};
        bool is_mapped = seed % MAPPED_EVERY == 1;
        if (is_mapped)
            own[1] = mapped_context(seed, &options[1]);
        ran += try_seed(own, seed, &differences, &joined);
        unsetenv("LEAT_MAPPING");
        if (is_mapped)
            leat_close(own[1]);
    }
    for (int k = 0; k < WAYS; k++)
        leat_close(contexts[k]);
    printf("%d of %llu programs ran, %d with joined statements; %d differences\n", ran, (unsigned long long)count,
           joined, differences);
    return differences > 0 || (uint64_t)ran * 10 < count * 8 || (count >= 10 && joined == 0);
}
