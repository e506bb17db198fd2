/* Measures the worst errors of the library functions, in units in the last place of the result's type, on an
 * instruction set with fused multiply-adds and on the baseline.
 *
 *     ulp --all                     every f32 input of the functions of one argument; samples for f64 and for two
 * arguments ulp --every N --table FILE    every Nth of these; fails if one is worse than FILE, an earlier output of
 * --all, says
 *     --only NAME                   that function alone
 *
 * The exact result e is rounded to the type; where that differs from the result r the error is |r - e| / ulp(e). Where
 * e is too large for the type the result is to be infinite, where it is NaN, NaN; a zero has its right sign. lgamma
 * below 0 is measured in units of max(|e|, 1): its zeros there are at no floating-point numbers. */
#include "device/cpu/machine/ops.h"
#include "oracle.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = LE_BLOCK_MAX, THREADS_MAX = 64 };
enum column { FUSED, PLAIN, COLUMNS };

struct worst {
    double error, x, y;
};
struct job {
    const struct oracle *oracle;
    enum le_type type;
    enum le_simd simds[COLUMNS];
    int64_t inputs, every;
    _Atomic int64_t next_block;
    pthread_mutex_t lock;
    struct worst worst[COLUMNS];
};

static uint64_t mixed(uint64_t x) {
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Sample k of one argument: all bit patterns alike, or moderate values. */
static double sampled(enum le_type type, int64_t k, int argument) {
    const uint64_t draw = mixed((uint64_t)k * 2 + (uint64_t)argument);
    double x;
    float narrow;
    if (k % 2) {
        static const double spans[] = {2, 20, 200, 2000};
        x = ((double)(draw >> 11) * 0x1p-53 - 0.5) * spans[k / 2 % 4];
        return type == LE_F32 ? (double)(float)x : x;
    }
    const uint32_t half = (uint32_t)draw;
    memcpy(&narrow, &half, sizeof narrow);
    memcpy(&x, &draw, sizeof x);
    return type == LE_F32 ? (double)narrow : x;
}

static double input(const struct job *job, int64_t k, int argument) {
    const uint32_t bits = (uint32_t)k;
    float x;
    if (job->type != LE_F32 || job->oracle->exact1 == NULL)
        return sampled(job->type, k, argument);
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

static long double unit(enum le_type type, long double exact) {
    const int bits = type == LE_F32 ? 24 : 53, least = type == LE_F32 ? -125 : -1021;
    int exponent;
    frexpl(exact, &exponent);
    return ldexpl(1, (exponent < least ? least : exponent) - bits);
}

static long double rounded(enum le_type type, long double x) {
    return type == LE_F32 ? (long double)(float)x : (long double)(double)x;
}

static double error_of(const struct job *job, double x, double got, long double exact) {
    const long double greatest = job->type == LE_F32 ? 0x1.fffffep127L : 0x1.fffffffffffffp1023L,
                      near = rounded(job->type, exact);
    const bool same_sign = !signbit(exact) == !signbit(got), lgamma_below = job->oracle->op == LE_OP_LGAMMA && x < 0;
    if (isnan(exact) || isnan(got))
        return isnan(exact) && isnan(got) ? 0 : (double)INFINITY;
    if (near == (long double)got && (near != 0 || same_sign))
        return 0.5;
    if (isinf(exact) || near == (long double)got)
        return (double)INFINITY;
    const long double size = fminl(lgamma_below ? fmaxl(fabsl(exact), 1) : fabsl(exact), greatest);
    const long double limit = greatest + unit(job->type, greatest) / 2; /* what rounds to infinity */
    const long double reached = isinf(got) ? copysignl(limit, (long double)got) : (long double)got;
    return (double)(fabsl(reached - (isinf(near) ? copysignl(limit, exact) : exact)) / unit(job->type, size));
}

/* A candidate for the worst: certain only against long double. */
static void consider(const struct job *job, struct worst *worst, double x, double y, double got) {
    const struct oracle *oracle = job->oracle;
    const long double exact =
        oracle->exact1 ? oracle->exact1((long double)x) : oracle->exact2((long double)x, (long double)y);
    const double error = error_of(job, x, got, exact);
    if (error > worst->error)
        *worst = (struct worst){error, x, y};
}

struct room {
    double x[2][BLOCK], wide[BLOCK], arguments[2][BLOCK], results[BLOCK];
};

static void compare(const struct job *job, const struct room *room, bool quick, struct worst *worst) {
    if (quick && oracle_all_near((const float *)room->results, room->wide, BLOCK, worst->error))
        return;
    for (int k = 0; k < BLOCK; k++) {
        const double x = room->x[0][k],
                     got = job->type == LE_F32 ? (double)((const float *)room->results)[k] : room->results[k];
        if (quick && !(error_of(job, x, got, (long double)room->wide[k]) > worst->error))
            continue;
        consider(job, worst, x, room->x[1][k], got);
    }
}

static void measure_block(struct job *job, int64_t first, struct room *room, struct worst worst[COLUMNS]) {
    const struct le_instr instr = {
        .code = (uint16_t)job->oracle->op, .type = (uint8_t)job->type, .d = 2, .a = 0, .b = 1};
    void *reg[] = {room->arguments[0], room->arguments[1], room->results};
    const bool quick = job->type == LE_F32 && job->oracle->block != NULL;
    for (int p = 0; p < (job->oracle->exact2 ? 2 : 1); p++)
        for (int k = 0; k < BLOCK; k++) {
            const int64_t at = (first + k) * job->every;
            const double x = input(job, at < job->inputs ? at : 0, p);
            room->x[p][k] = x;
            if (job->type == LE_F32)
                ((float *)room->arguments[p])[k] = (float)x;
            else
                room->arguments[p][k] = x;
        }
    if (quick)
        job->oracle->block(room->wide, room->x[0], BLOCK);
    for (enum column column = FUSED; column < COLUMNS; column++) {
        le_cpu_op_find(job->simds[column], &instr)(reg, &instr, BLOCK);
        compare(job, room, quick, &worst[column]);
    }
}

static void *measure_blocks(void *user) {
    struct job *job = user;
    struct worst worst[COLUMNS] = {0};
    static _Thread_local _Alignas(64) struct room room;
    const int64_t blocks = (job->inputs / job->every + BLOCK) / BLOCK;
    for (int64_t block; (block = atomic_fetch_add(&job->next_block, 1)) < blocks;)
        measure_block(job, block * BLOCK, &room, worst);
    pthread_mutex_lock(&job->lock);
    for (enum column column = FUSED; column < COLUMNS; column++)
        if (worst[column].error > job->worst[column].error)
            job->worst[column] = worst[column];
    pthread_mutex_unlock(&job->lock);
    return NULL;
}

static void measure(struct job *job) {
    pthread_t threads[THREADS_MAX];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int started = 0;
    job->inputs = job->type == LE_F32 && job->oracle->exact1 ? (int64_t)1 << 32 : (int64_t)1 << 24;
    while (started < cores - 1 && started < THREADS_MAX &&
           pthread_create(&threads[started], NULL, measure_blocks, job) == 0)
        started++;
    measure_blocks(job);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

/* The committed error, infinite where the table has no such row. */
static double committed(FILE *table, const char *name, const char *type, enum column column) {
    char line[256], row_name[32], row_type[8], found[COLUMNS][32];
    rewind(table);
    while (fgets(line, sizeof line, table) != NULL)
        if (sscanf(line, "%31s %7s %31s %31s", row_name, row_type, found[FUSED], found[PLAIN]) == 4 &&
            strcmp(row_name, name) == 0 && strcmp(row_type, type) == 0)
            return strtod(found[column], NULL);
    return -1;
}

/* Rounded up to what the table shows; a result that is always the nearest is wrong by up to a half. */
static double shown(double error) {
    return error < 0.5 ? 0.5 : ceil(error * 1000) / 1000;
}

static int report(const struct oracle *oracle, enum le_type type, int64_t every, FILE *table) {
    const char *name = le_op_info(oracle->op)->name, *type_name = le_type_name(type);
    struct job job = {.oracle = oracle,
                      .type = type,
                      .simds = {le_simd_best(), LE_SIMD_BASELINE},
                      .every = every,
                      .lock = PTHREAD_MUTEX_INITIALIZER};
    const struct worst *worst = job.worst;
    int failures = 0;
    measure(&job);
    for (enum column column = FUSED; column < COLUMNS; column++) {
        const double limit = table ? committed(table, name, type_name, column) : (double)INFINITY;
        if (shown(worst[column].error) <= limit + 1e-9 || job.simds[FUSED] == LE_SIMD_BASELINE)
            continue;
        fprintf(stderr, "%s %s on %s: %.3f at %a, %a; the table says %.3f\n", name, type_name,
                le_simd_name(job.simds[column]), shown(worst[column].error), worst[column].x, worst[column].y, limit);
        failures++;
    }
    printf("%-8s %-5s %10.3f %10.3f   %a", name, type_name, shown(worst[FUSED].error), shown(worst[PLAIN].error),
           worst[FUSED].x);
    if (oracle->exact2)
        printf(" %a", worst[FUSED].y);
    printf("   %a", worst[PLAIN].x);
    if (oracle->exact2)
        printf(" %a", worst[PLAIN].y);
    printf("\n");
    fflush(stdout);
    return failures;
}

int main(int count, char **arguments) {
    int64_t every = 1;
    FILE *table = NULL;
    const char *only = NULL;
    int failures = 0;
    for (int k = 1; k < count; k++) {
        if (strcmp(arguments[k], "--every") == 0 && k + 1 < count)
            every = strtoll(arguments[++k], NULL, 10);
        else if (strcmp(arguments[k], "--only") == 0 && k + 1 < count)
            only = arguments[++k];
        else if (strcmp(arguments[k], "--table") == 0 && k + 1 < count &&
                 (table = fopen(arguments[++k], "r")) == NULL) {
            perror(arguments[k]);
            return 2;
        } else if (strcmp(arguments[k], "--all") != 0 && table == NULL) {
            fprintf(stderr, "usage: ulp --all | --every N [--table FILE] [--only NAME]\n");
            return 2;
        }
    }
    if (every < 1)
        every = 1;
    if (!oracle_here()) {
        fprintf(stderr, "ulp: skipped: built for a processor with AVX2\n");
        return 77;
    }
    printf("# Worst errors in units in the last place: with fused multiply-adds, without; and where.\n");
    for (int k = 0; k < oracle_count; k++) {
        if (only != NULL && strcmp(only, le_op_info(oracles[k].op)->name) != 0)
            continue;
        failures += report(&oracles[k], LE_F32, every, table);
        failures += report(&oracles[k], LE_F64, every, table);
    }
    if (table != NULL)
        fclose(table);
    return failures != 0;
}
