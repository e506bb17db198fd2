/* Compiles generated kernels, as printed by `leat show --emit cuda`, with NVRTC for each architecture, with Leat's
 * options, and measures their registers, spills and local memory.
 *
 * usage: kernel_table [--every N] < KERNELS    N: only each Nth of the distinct kernels
 * Prints registers by kind of kernel, then a line "spills ..." for each kernel that spills, and a line "stack BYTES
 * ..." for each size of local memory. Exit status 1: a kernel does not compile; 77: there is no NVRTC. */
#include "base/hash.h"
#include "base/memory.h"
#include "base/thread.h"
#include "device/cuda/cuda_compile.h"
#include "device/cuda/cuda_libraries.h"
#include "run/compiled_code.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARCHITECTURES = 3, REGISTERS_MAX = 256, OPTIONS_MAX = 16, KIND_BYTES = 9, KINDS_MAX = 32, NO_NVRTC = 77 };
static const int architectures[ARCHITECTURES] = {75, 90, 100};

struct costs {
    int registers, stack, spill_stores, spill_loads;
};
struct kernel {
    char *heading, *text; /* "NAME: STATEMENT"; the text of the unit */
    struct costs costs[ARCHITECTURES];
    bool compiled[ARCHITECTURES];
};
struct table {
    struct kernel *at;
    size_t count, capacity, seen;
    uint64_t *hashes; /* of the kernels so far */
    size_t every;
};

/* ---- reading */

static void *need(void *memory) {
    if (!memory) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

static char *read_all(FILE *file) {
    size_t length = 0, capacity = 1 << 20;
    char *text = need(malloc(capacity));
    for (size_t got; (got = fread(text + length, 1, capacity - length - 1, file)) > 0;) {
        length += got;
        if (length + 1 == capacity)
            text = need(realloc(text, capacity *= 2));
    }
    text[length] = '\0';
    return text;
}

static bool is_new(struct table *table, const char *text) {
    uint64_t hash = le_hash(text, strlen(text), 0);
    for (size_t k = 0; k < table->seen; k++)
        if (table->hashes[k] == hash)
            return false;
    if (table->seen % 1024 == 0)
        table->hashes = need(realloc(table->hashes, (table->seen + 1024) * sizeof hash));
    table->hashes[table->seen++] = hash;
    return true;
}

static void add_kernel(struct table *table, char *heading, char *text) {
    if (!is_new(table, text) || (table->seen - 1) % table->every != 0)
        return;
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? 2 * table->capacity : 256;
        table->at = need(realloc(table->at, table->capacity * sizeof *table->at));
    }
    table->at[table->count++] = (struct kernel){.heading = heading, .text = text};
}

/* Splits the text at lines that begin with the mark. */
static void split(struct table *table, char *text) {
    static const char mark[] = "// kernel ";
    char *at = strncmp(text, mark, strlen(mark)) == 0 ? text : NULL;
    while (at) {
        char *heading = at + strlen(mark), *body = heading + strcspn(heading, "\n");
        if (*body)
            *body++ = '\0';
        char *next = body;
        do
            next = strstr(next, mark);
        while (next && next[-1] != '\n' && *next++);
        if (next)
            next[-1] = '\0';
        add_kernel(table, heading, body);
        at = next;
    }
}

/* ---- compiling */

static int number_before(const char *log, const char *words) {
    const char *at = strstr(log, words);
    while (at && at > log && (at[-1] == ' ' || (at[-1] >= '0' && at[-1] <= '9')))
        at--;
    return at ? atoi(at) : 0;
}

static struct costs read_costs(const char *log) {
    return (struct costs){.registers = number_before(log, "registers"),
                          .stack = number_before(log, "bytes stack frame"),
                          .spill_stores = number_before(log, "bytes spill stores"),
                          .spill_loads = number_before(log, "bytes spill loads")};
}

/* The unit's options, and an option that puts the assembler's report into the log. */
static void fill_options(const char *list[OPTIONS_MAX]) {
    const char *const *theirs = le_code_options();
    int count = 0;
    for (; theirs[count] && count < OPTIONS_MAX - 2; count++)
        list[count] = theirs[count];
    list[count++] = "--ptxas-options=-v";
    list[count] = NULL;
}

static void compile(struct kernel *kernel, int a) {
    const char *list[OPTIONS_MAX];
    const struct le_module_source source = {
        .text = kernel->text, .name = "kernel.cu", .options = list, .is_whole = true, .is_plain = true};
    fill_options(list);
    struct le_device_module module = {0};
    struct le_cuda_image image;
    leat_status status = le_cuda_compile_for(architectures[a], true, &source, &module, &image);
    if (status)
        fprintf(stderr, "sm_%d: %s\n%s\n%s\n", architectures[a], kernel->heading, le_errors_text(), kernel->text);
    else
        kernel->costs[a] = read_costs(module.log);
    kernel->compiled[a] = !status;
    le_free(image.bytes);
    le_free(module.ptx);
    le_free(module.log);
}

static void compile_one(void *table, int64_t task, int worker) {
    (void)worker;
    compile(&((struct table *)table)->at[task / ARCHITECTURES], (int)(task % ARCHITECTURES));
}

/* Compiles with as many threads as there are cores. Returns whether all kernels compile. */
static bool compile_all(struct table *table) {
    struct le_pool *pool = NULL;
    bool all = le_pool_new(le_cores(), &pool) == LEAT_OK;
    all = all && le_pool_run(pool, compile_one, table, (int64_t)table->count * ARCHITECTURES) == LEAT_OK;
    le_pool_free(pool);
    for (size_t k = 0; k < table->count; k++)
        for (int a = 0; a < ARCHITECTURES; a++)
            all = all && table->at[k].compiled[a];
    return all;
}

/* ---- printing */

/* "map" of "y_map: y[i] = x[i]"; truncated to the buffer. */
static void kind_of(const struct kernel *kernel, char kind[KIND_BYTES]) {
    size_t end = strcspn(kernel->heading, ":"), start = end;
    while (start > 0 && kernel->heading[start - 1] != '_')
        start--;
    snprintf(kind, KIND_BYTES, "%.*s", (int)(end - start), kernel->heading + start);
}

static bool is_kind(const struct kernel *kernel, const char *kind) {
    char own[KIND_BYTES];
    kind_of(kernel, own);
    return strcmp(own, kind) == 0;
}

/* Median and maximum of a kind. */
static void print_registers(const struct table *table, const char *kind, int a) {
    size_t by_registers[REGISTERS_MAX] = {0}, count = 0, below = 0;
    int median = 0, most = 0;
    for (size_t k = 0; k < table->count; k++) {
        if (!is_kind(&table->at[k], kind))
            continue;
        int registers = table->at[k].costs[a].registers % REGISTERS_MAX;
        by_registers[registers]++;
        count++;
        most = registers > most ? registers : most;
    }
    while (median < REGISTERS_MAX - 1 && (below += by_registers[median]) * 2 < count)
        median++;
    printf("  %6d %4d", median, most);
}

static void print_kinds(const struct table *table) {
    char kinds[KINDS_MAX][KIND_BYTES];
    size_t count = 0;
    for (size_t k = 0; k < table->count; k++) {
        size_t at = 0, members = 0;
        while (at < count && !is_kind(&table->at[k], kinds[at]))
            at++;
        if (at < count || count == KINDS_MAX)
            continue;
        kind_of(&table->at[k], kinds[count++]);
        for (size_t other = k; other < table->count; other++)
            members += is_kind(&table->at[other], kinds[at]);
        printf("%-8s %6zu", kinds[at], members);
        for (int a = 0; a < ARCHITECTURES; a++)
            print_registers(table, kinds[at], a);
        printf("\n");
    }
}

static bool spills(const struct kernel *kernel) {
    bool found = false;
    for (int a = 0; a < ARCHITECTURES; a++)
        found = found || kernel->costs[a].spill_stores > 0 || kernel->costs[a].spill_loads > 0;
    return found;
}

static int stack_of(const struct kernel *kernel) {
    int most = 0;
    for (int a = 0; a < ARCHITECTURES; a++)
        most = kernel->costs[a].stack > most ? kernel->costs[a].stack : most;
    return most;
}

static void list_spills(const struct table *table) {
    for (size_t k = 0; k < table->count; k++) {
        const struct kernel *kernel = &table->at[k];
        if (!spills(kernel))
            continue;
        printf("spills");
        for (int a = 0; a < ARCHITECTURES; a++)
            printf(" %d", kernel->costs[a].spill_stores + kernel->costs[a].spill_loads);
        printf("  %.90s\n", kernel->heading);
    }
}

/* The number of kernels of each size, with one of them as an example, by size. */
static void list_stacks(const struct table *table) {
    for (int size = 1, next; size < INT_MAX; size = next) {
        const struct kernel *first = NULL;
        size_t count = 0;
        next = INT_MAX;
        for (size_t k = 0; k < table->count; k++) {
            int stack = stack_of(&table->at[k]);
            if (stack == size && !count++)
                first = &table->at[k];
            if (stack > size && stack < next)
                next = stack;
        }
        if (count)
            printf("stack %d  %zu, as %.90s\n", size, count, first->heading);
    }
}

static void tell(const struct table *table, int version) {
    size_t longest = 0;
    for (size_t k = 0; k < table->count; k++)
        longest = strlen(table->at[k].text) > longest ? strlen(table->at[k].text) : longest;
    printf("%zu of %zu kernels, NVRTC %d.%d, the longest of %zu KiB\n", table->count, table->seen, version / 1000,
           version % 1000 / 10, (longest + 1023) / 1024);
    printf("\nkernels and their registers: the median and the most\n%-8s %6s", "", "");
    for (int a = 0; a < ARCHITECTURES; a++)
        printf("  sm_%-8d", architectures[a]);
    printf("\n");
    print_kinds(table);
    printf("\nbytes that are spilled for sm_75, sm_90 and sm_100\n");
    list_spills(table);
    printf("\nbytes of local memory, the most of the three\n");
    list_stacks(table);
}

int main(int argc, char **argv) {
    struct table table = {.every = 1};
    const struct le_nvrtc *nvrtc;
    int version;
    if (argc == 3 && strcmp(argv[1], "--every") == 0 && atoi(argv[2]) > 0)
        table.every = (size_t)atoi(argv[2]);
    if (le_nvrtc_open(&nvrtc, &version) != LEAT_OK) {
        printf("%s\n", le_errors_text());
        return NO_NVRTC;
    }
    char *text = read_all(stdin);
    split(&table, text);
    bool all = compile_all(&table);
    tell(&table, version);
    free(table.at);
    free(table.hashes);
    free(text);
    return all && table.count ? 0 : 1;
}
