/* Checks that random programs give the same bits on one thread and on seven, and as a whole and piece by piece. Each
 * piece is then a program of its own with the results of earlier pieces as inputs; weak scalars are passed on as
 * numbers. Neither fusion nor threads may change a rounding, and no statement's plan may depend on another statement.
 *
 * usage: random_programs COUNT [FIRST_SEED]   (a failure prints its seed: `random_programs 1 SEED` repeats it)
 *        random_programs show SEED */
#include "generator.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value {
    leat_array *array; /* NULL: none yet, or a number */
    bool is_number, is_whole;
    double number;
};

struct run {
    leat_context *ctx;
    const struct program *program;
    uint64_t seed;
    struct value values[VARIABLES_MAX];
    leat_status status;
    char error[400];
};

static void need(leat_status status, const char *what) {
    if (!status)
        return;
    fprintf(stderr, "%s: %s\n", what, leat_status_name(status));
    exit(1);
}

/* ---- inputs */

static void fill(const struct variable *v, uint64_t seed, leat_array *array) {
    leat_description d;
    need(leat_array_get(array, &d), "an input");
    int64_t count = 1;
    for (int k = 0; k < d.rank; k++)
        count *= d.shape[k];
    size_t size = leat_dtype_size_bytes(d.dtype);
    for (int64_t k = 0; k < count; k++) {
        uint64_t bits = random_bits(seed + 77, (uint64_t)k * VARIABLES_MAX + (uint64_t)v->name[1]);
        double real = ((double)(bits % 33) - 16) / 8;
        float single = (float)real;
        uint32_t single_bits;
        int64_t whole = v->is_small ? (int64_t)(bits % 5)
                                    : (int64_t)(bits % 9) - (d.dtype >= LEAT_U8 && d.dtype <= LEAT_U64 ? 0 : 3);
        if (d.dtype == LEAT_BOOL)
            whole &= 1;
        memcpy(&single_bits, &single, sizeof single_bits);
        /* multiples of 1/8 up to 2 are exact in every float type: f16 has sign, 5 and 10 bits, bf16 the upper half of
         * an f32 */
        uint16_t half =
            (uint16_t)((single_bits >> 16 & 0x8000) |
                       (real == 0 ? 0 : ((single_bits >> 13 & 0x3fc00) - (112u << 10)) | (single_bits >> 13 & 0x3ff)));
        uint16_t brain = (uint16_t)(single_bits >> 16);
        const void *element = d.dtype == LEAT_F64    ? (const void *)&real
                              : d.dtype == LEAT_F32  ? (const void *)&single
                              : d.dtype == LEAT_F16  ? (const void *)&half
                              : d.dtype == LEAT_BF16 ? (const void *)&brain
                                                     : (const void *)&whole;
        memcpy((char *)d.data + (size_t)k * size, element, size);
    }
}

static void make_inputs(struct run *r) {
    for (int k = 0; k < r->program->variable_count; k++) {
        const struct variable *v = &r->program->variables[k];
        if (v->is_number)
            r->values[k] = (struct value){.is_number = true, .is_whole = !v->is_float, .number = v->number};
        if (!v->is_input || v->is_number)
            continue;
        need(leat_array_new(r->ctx, v->dtype, v->rank, v->shape, LEAT_MEMORY_DEVICE, &r->values[k].array), v->name);
        fill(v, r->seed, r->values[k].array);
    }
}

/* ---- running */

static int find_variable(const struct program *program, const char *name) {
    for (int k = 0; k < program->variable_count; k++)
        if (!strcmp(program->variables[k].name, name))
            return k;
    return -1;
}

static leat_status bind_inputs(struct run *r, leat_program *program, leat_call *call) {
    size_t count = 0;
    leat_status status = leat_program_count(program, LEAT_NAME_INPUT, &count);
    for (size_t k = 0; k < count && !status; k++) {
        leat_name_info info;
        need(leat_program_name(program, LEAT_NAME_INPUT, k, &info), "a name");
        int variable = find_variable(r->program, info.name);
        if (variable < 0)
            continue;
        const struct value *value = &r->values[variable];
        if (value->array)
            status = leat_call_set_array(call, info.name, value->array);
        else if (value->is_number && value->is_whole)
            status = leat_call_set_i64(call, info.name, (int64_t)value->number);
        else if (value->is_number)
            status = leat_call_set_f64(call, info.name, value->number);
    }
    return status;
}

/* A weak scalar is passed on as a number. */
static void keep(struct run *r, int variable, leat_array *array) {
    const struct variable *v = &r->program->variables[variable];
    struct value *value = &r->values[variable];
    leat_array_free(value->array);
    *value = (struct value){.array = array};
    if (v->rank || !v->is_weak)
        return;
    leat_description d;
    int64_t whole = 0;
    need(leat_array_get(array, &d), v->name);
    if (d.dtype == LEAT_F64)
        memcpy(&value->number, d.data, sizeof value->number);
    else if (d.dtype == LEAT_I64)
        memcpy(&whole, d.data, sizeof whole);
    else
        return; /* a bool is strong already */
    if (d.dtype == LEAT_I64)
        value->number = (double)whole;
    value->is_whole = d.dtype == LEAT_I64;
    value->is_number = true;
    value->array = NULL;
    leat_array_free(array);
}

static bool is_wanted(const int *wanted, int count, int variable) {
    for (int k = 0; k < count; k++)
        if (wanted[k] == variable)
            return true;
    return false;
}

static void run_text(struct run *r, const char *text, const int *wanted, int count) {
    leat_program *program = NULL;
    leat_call *call = NULL;
    leat_status status = leat_program_new(r->ctx, text, 0, NULL, &program);
    if (!status)
        status = leat_call_new(program, &call);
    if (!status)
        status = bind_inputs(r, program, call);
    for (int k = 0; k < count && !status; k++)
        status = leat_call_want(call, r->program->variables[wanted[k]].name, NULL);
    if (!status)
        status = leat_call_run(call, NULL, NULL);
    r->status = status;
    if (status)
        snprintf(r->error, sizeof r->error, "%s", leat_error_text(r->ctx));
    for (int k = 0; k < count && !status; k++) {
        leat_array *array = NULL;
        need(leat_call_result(call, r->program->variables[wanted[k]].name, &array), "a result");
        keep(r, wanted[k], array);
    }
    leat_call_free(call);
    leat_program_free(program);
}

static void run_whole(struct run *r) {
    static char text[PIECES_MAX * TEXT_MAX_BYTES];
    int wanted[VARIABLES_MAX], count = 0;
    text[0] = 0;
    for (int k = 0; k < r->program->variable_count; k++)
        if (r->program->variables[k].is_input)
            strcat(strcat(strcat(text, "in "), r->program->variables[k].name), "\n");
    for (int k = 0; k < r->program->piece_count; k++) {
        const struct piece *piece = &r->program->pieces[k];
        strcat(strcat(text, piece->text), "\n");
        for (int w = 0; w < piece->write_count; w++)
            if (!is_wanted(wanted, count, piece->writes[w]))
                wanted[count++] = piece->writes[w];
    }
    if (count)
        run_text(r, text, wanted, count);
}

static bool names(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += length) {
        char before = at == text ? ' ' : at[-1], after = at[length];
        if (!(before >= 'a' && before <= 'z') && !(after >= '0' && after <= '9'))
            return true;
    }
    return false;
}

static void run_pieces(struct run *r) {
    static char text[PIECES_MAX * TEXT_MAX_BYTES];
    for (int k = 0; k < r->program->piece_count && !r->status; k++) {
        const struct piece *piece = &r->program->pieces[k];
        if (piece->is_prefix)
            continue;
        text[0] = 0;
        for (int v = 0; v < r->program->variable_count; v++)
            if ((r->values[v].array || r->values[v].is_number) && names(piece->text, r->program->variables[v].name))
                strcat(strcat(strcat(text, "in "), r->program->variables[v].name), "\n");
        for (int p = 0; p < k; p++)
            if (r->program->pieces[p].is_prefix && names(piece->text, r->program->pieces[p].about))
                strcat(strcat(text, r->program->pieces[p].text), "\n");
        run_text(r, strcat(text, piece->text), piece->writes, piece->write_count);
    }
}

/* ---- comparing */

static bool same_array(const leat_array *a, const leat_array *b) {
    leat_description x, y;
    if (!a || !b)
        return a == b;
    need(leat_array_get(a, &x), "an array");
    need(leat_array_get(b, &y), "an array");
    size_t bytes = leat_dtype_size_bytes(x.dtype);
    if (x.dtype != y.dtype || x.rank != y.rank)
        return false;
    for (int d = 0; d < x.rank; d++) {
        if (x.shape[d] != y.shape[d])
            return false;
        bytes *= (size_t)x.shape[d];
    }
    return bytes == 0 || memcmp(x.data, y.data, bytes) == 0;
}

static const char *find_difference(const struct run *a, const struct run *b) {
    if (!a->status != !b->status)
        return "the status";
    for (int k = 0; !a->status && k < a->program->variable_count; k++) {
        const struct value *x = &a->values[k], *y = &b->values[k];
        if (x->is_number != y->is_number || memcmp(&x->number, &y->number, sizeof x->number) ||
            !same_array(x->array, y->array))
            return a->program->variables[k].name;
    }
    return NULL;
}

static void print_program(const struct program *program) {
    for (int k = 0; k < program->piece_count; k++)
        printf("    %s\n", program->pieces[k].text);
}

static void compare(const struct run *a, const struct run *b, const char *how, int *failures) {
    const char *what = find_difference(a, b);
    if (!what)
        return;
    ++*failures;
    printf("seed %llu: %s differs %s\n", (unsigned long long)a->seed, what, how);
    print_program(a->program);
    if (a->status || b->status)
        printf("  %s: %s\n  %s: %s\n", leat_status_name(a->status), a->error, leat_status_name(b->status), b->error);
}

static void finish(struct run *r) {
    for (int k = 0; k < VARIABLES_MAX; k++)
        leat_array_free(r->values[k].array);
}

static leat_status try_seed(leat_context *const *contexts, uint64_t seed, int *failures) {
    static struct program program;
    static const char *const hows[] = {"", "with threads", "piece by piece"};
    static struct run runs[3];
    generate(&program, seed);
    for (int k = 0; k < 3; k++) {
        runs[k] = (struct run){.ctx = contexts[k == 1], .program = &program, .seed = seed};
        make_inputs(&runs[k]);
        if (k < 2)
            run_whole(&runs[k]);
        else
            run_pieces(&runs[k]);
        if (k > 0)
            compare(&runs[0], &runs[k], hows[k], failures);
    }
    leat_status status = runs[0].status;
    if (status && getenv("LEAT_RANDOM_SHOW")) {
        printf("seed %llu: %s\n", (unsigned long long)seed, runs[0].error);
        print_program(&program);
    }
    for (int k = 0; k < 3; k++)
        finish(&runs[k]);
    return status;
}

int main(int argument_count, char **arguments) {
    if (argument_count == 3 && !strcmp(arguments[1], "show")) {
        static struct program program;
        generate(&program, strtoull(arguments[2], NULL, 10));
        print_program(&program);
        return 0;
    }
    if (argument_count < 2 || argument_count > 3) {
        fprintf(stderr, "usage: random_programs COUNT [FIRST_SEED] | random_programs show SEED\n");
        return 2;
    }
    uint64_t count = strtoull(arguments[1], NULL, 10);
    uint64_t first = argument_count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    leat_context *contexts[2] = {NULL, NULL};
    int failures = 0, ran = 0;
    for (int k = 0; k < 2; k++)
        need(leat_open(&(leat_options){.threads = k ? 7 : 1}, &contexts[k]), "a context");
    for (uint64_t seed = first; seed < first + count; seed++)
        ran += try_seed(contexts, seed, &failures) == LEAT_OK;
    for (int k = 0; k < 2; k++)
        leat_close(contexts[k]);
    printf("%d of %llu programs ran; %d differences\n", ran, (unsigned long long)count, failures);
    return failures || (count >= 100 && (uint64_t)ran * 10 < count * 7);
}
