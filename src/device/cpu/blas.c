/* Loads a BLAS, once per process. */
#include "device/cpu/blas.h"
#include "base/environment.h"
#include "base/library_search.h"
#include "device/cpu/blas_room.h"
#include "device/cpu/machine/ops.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct {
    struct le_blas table;
    bool found, missing;   /* missing: the library that LEAT_BLAS names cannot be used */
    char asked[4096];      /* the value of LEAT_BLAS */
    char core[32];         /* the CPU whose kernels an OpenBLAS chose: "SkylakeX"; "": unknown */
    char reason[192];      /* why the last library tried cannot be used */
    char description[384]; /* the result, for le_blas_description */
} blas;

static bool fill_table(void *library, const char *name) {
    static const struct le_library_symbol symbols[] = {{"cblas_sgemm", offsetof(struct le_blas, sgemm), REQUIRED, 0},
                                                       {"cblas_dgemm", offsetof(struct le_blas, dgemm), REQUIRED, 0},
                                                       {"cblas_sgemv", offsetof(struct le_blas, sgemv), REQUIRED, 0},
                                                       {"cblas_dgemv", offsetof(struct le_blas, dgemv), REQUIRED, 0}};
    const struct le_library_symbol *missing =
        le_library_fill(symbols, ARRAY_LEN(symbols), le_library_dlsym, library, &blas.table);
    if (missing)
        snprintf(blas.reason, sizeof blas.reason, "%.100s lacks %s", name, missing->name);
    return !missing;
}

/* Whether OpenBLAS chose kernels for a lesser CPU. An OpenBLAS that is older than the CPU may choose its oldest
 * kernels, which are several times slower than ours. */
static bool is_below_machine(const char *core) {
    static const struct {
        const char *core;
        enum le_simd simd; /* instruction set of its kernels; 0: less than AVX2 */
    } cores[] = {{"Prescott", 0},
                 {"Northwood", 0},
                 {"Katmai", 0},
                 {"Coppermine", 0},
                 {"Banias", 0},
                 {"Atom", 0},
                 {"Core2", 0},
                 {"Penryn", 0},
                 {"Dunnington", 0},
                 {"Nehalem", 0},
                 {"Athlon", 0},
                 {"Opteron", 0},
                 {"Opteron_SSE3", 0},
                 {"Barcelona", 0},
                 {"Nano", 0},
                 {"Bobcat", 0},
                 {"Bulldozer", 0},
                 {"Piledriver", 0},
                 {"Steamroller", 0},
                 {"Sandybridge", 0},
                 {"Excavator", LE_SIMD_AVX2},
                 {"Haswell", LE_SIMD_AVX2},
                 {"Zen", LE_SIMD_AVX2}};
    for (size_t k = 0; k < ARRAY_LEN(cores); k++)
        if (strcasecmp(core, cores[k].core) == 0)
            return cores[k].simd < le_simd_best();
    return false;
}

/* Determines how many threads may call it concurrently: at most as many as it was built for. Each has a buffer. */
static void find_room(void *library, bool parallel) {
    void *(*take)(int purpose);
    void (*give)(void *buffer);
    const char *most = strstr(blas.table.name, "MAX_THREADS=");
    *(void **)&take = dlsym(library, "blas_memory_alloc");
    *(void **)&give = dlsym(library, "blas_memory_free");
    le_blas_room_init(!parallel ? 1 : most ? atoi(most + strlen("MAX_THREADS=")) : 16, true, take, give);
}

/* Ends the threads that it has started: they are never used, and each has a buffer. If the library was already loaded,
 * its threads are left alone, as someone else may be using them. */
static void end_threads(void *library, bool is_ours) {
    int (*shut_down)(void);
    *(void **)&shut_down = dlsym(library, "blas_thread_shutdown_");
    if (is_ours && shut_down)
        shut_down();
}

/* Recognizes OpenBLAS by its functions that describe it and set its number of threads. */
static bool is_openblas(void *library, bool is_ours) {
    const char *(*config)(void);
    void (*set_threads)(int count);
    int (*parallel)(void);
    const char *(*core)(void);
    *(void **)&core = dlsym(library, "openblas_get_corename");
    *(void **)&config = dlsym(library, "openblas_get_config");
    *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
    *(void **)&parallel = dlsym(library, "openblas_get_parallel");
    if (!config || !set_threads)
        return false;
    set_threads(1);
    end_threads(library, is_ours);
    snprintf(blas.core, sizeof blas.core, "%s", core ? core() : "");
    snprintf(blas.table.name, sizeof blas.table.name, "%s", config());
    for (size_t length = strlen(blas.table.name); length && blas.table.name[length - 1] == ' '; length--)
        blas.table.name[length - 1] = 0;
    find_room(library, parallel && parallel() != 0);
    return true;
}

/* asked: LEAT_BLAS names it, so it may be any BLAS. */
static bool try_library(const char *name, bool asked) {
    char why[sizeof blas.reason - 64];
    if (!le_blas_room_to_load(blas.reason, sizeof blas.reason))
        return false;
    void *before = dlopen(name, RTLD_NOW | RTLD_NOLOAD), *library = le_library_load(name, RTLD_NOW, why, sizeof why);
    if (before)
        dlclose(before);
    if (!library) {
        snprintf(blas.reason, sizeof blas.reason, "%.60s: %s", name, why);
        return false;
    }
    snprintf(blas.table.name, sizeof blas.table.name, "%s", name);
    le_blas_room_init(1, false, NULL, NULL); /* calls take turns */
    if (!is_openblas(library, !before) && !asked)
        snprintf(blas.reason, sizeof blas.reason, "%s is not OpenBLAS", name);
    else if (!asked && is_below_machine(blas.core))
        snprintf(blas.reason, sizeof blas.reason, "%s chose its kernels for %s, and this machine has %s", name,
                 blas.core, le_simd_name(le_simd_best()));
    else if (fill_table(library, name))
        return true;
    dlclose(library);
    return false;
}

static void read_asked(void) {
    const char *asked = le_environment_get_secure("LEAT_BLAS");
    snprintf(blas.asked, sizeof blas.asked, "%s", asked ? asked : "");
}

static bool is_none_asked(void) {
    return strcmp(blas.asked, "none") == 0;
}

bool le_blas_is_fallback(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_asked);
    return (!blas.asked[0] || is_none_asked()) && le_simd_best() == LE_SIMD_AVX512;
}

static void describe_blas(void) {
    const char *kernels = blas.core[0] ? ", kernels for " : "";
    if (!blas.found)
        snprintf(blas.description, sizeof blas.description, LE_BLAS_NONE ": %s",
                 is_none_asked() ? "LEAT_BLAS is none" : blas.reason);
    else if (le_blas_is_fallback())
        snprintf(blas.description, sizeof blas.description, LE_BLAS_NONE ", made for AVX-512; narrow products: %s%s%s",
                 blas.table.name, kernels, blas.core);
    else
        snprintf(blas.description, sizeof blas.description, "%s%s%s", blas.table.name, kernels, blas.core);
}

static void load_blas(void) {
    static const char *const usual[] = {"libopenblas.so.0", "libblas.so.3"};
    le_blas_is_fallback(); /* reads LEAT_BLAS */
    if (blas.asked[0] && !is_none_asked())
        blas.missing = !(blas.found = try_library(blas.asked, true));
    for (size_t k = 0; k < ARRAY_LEN(usual) && !blas.asked[0] && !blas.found && !blas.core[0]; k++)
        blas.found = try_library(usual[k], false);
    describe_blas();
}

const struct le_blas *le_blas_find(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_blas);
    return blas.found ? &blas.table : NULL;
}

const char *le_blas_missing(void) {
    return blas.missing ? blas.reason : NULL;
}

const char *le_blas_description(void) {
    le_blas_find();
    return blas.description;
}
