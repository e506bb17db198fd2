/* Finds the folder with the toolkit's headers, preferably beside NVRTC, since the two belong together. */
#include "device/cuda/toolkit_search.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER "cuda_fp16.h"

/* The CUDA version in a folder's cuda.h or cuda_runtime_api.h; 0: unknown. */
static int read_version(const char *folder) {
    static const struct {
        const char *file, *format;
    } places[] = {{"cuda.h", "#define CUDA_VERSION %9d"}, {"cuda_runtime_api.h", "#define CUDART_VERSION %9d"}};
    int version = 0;
    for (size_t k = 0; k < ARRAY_LEN(places) && !version; k++) {
        char path[PATH_MAX], line[256];
        if (snprintf(path, sizeof path, "%s/%s", folder, places[k].file) >= (int)sizeof path)
            continue;
        FILE *file = fopen(path, "re");
        while (file && !version && fgets(line, sizeof line, file))
            sscanf(line, places[k].format, &version);
        if (file)
            fclose(file);
    }
    return version > 0 ? version : 0;
}

/* user: the newest acceptable CUDA major version; 0: any. */
static bool take_headers(void *user, struct le_search *search, const char *name, const char *path, void *library) {
    char folder[PATH_MAX], real[PATH_MAX], text[24] = "of an unknown version";
    const int *newest = user;
    (void)library;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (access(path, R_OK) != 0 || !realpath(folder, real)) {
        le_search_log(search, name, path, "cannot be read");
        return false;
    }
    int version = read_version(real);
    if (*newest && version / 1000 > *newest) {
        le_search_log(search, name, real, "for CUDA %d, newer than NVRTC or the driver (CUDA %d)", version / 1000,
                      *newest);
        return false;
    }
    search->version = version;
    snprintf(search->path, sizeof search->path, "%s", real);
    le_search_log(search, name, real, "found, %s", version ? le_cuda_version_text(version, text) : text);
    return true;
}

static const char *const names[] = {HEADER, NULL};
static struct le_search_line lines[LE_SEARCH_LINES];
static struct le_search headers = {.lines = lines, .line_capacity = LE_SEARCH_LINES};

static bool look_beside_nvrtc(const struct le_search *nvrtc, int *newest) {
    /* relative to lib, lib64, lib/x86_64-linux-gnu, or a wheel's cuda_nvrtc/lib */
    static const char *const below[] = {"../include", "../../include", "../../cuda_runtime/include", "../../../include",
                                        NULL};
    const struct le_search_request request = {
        .what = HEADER, .names = names, .below = below, .take = take_headers, .user = newest};
    char folder[PATH_MAX];
    const char *slash = strrchr(nvrtc->path, '/');
    if (!slash)
        return false;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - nvrtc->path), nvrtc->path);
    return le_search_folder(&headers, &request, "beside NVRTC", folder);
}

static bool look_in(const enum le_search_place *places, int *newest) {
    /* relative to a toolkit or conda; to site-packages/nvidia */
    static const char *const below[] = {"include",
                                        "targets/x86_64-linux/include",
                                        "targets/sbsa-linux/include",
                                        "cu13/include",
                                        "cuda_runtime/include",
                                        ".",
                                        NULL};
    const struct le_search_request request = {
        .what = HEADER, .names = names, .below = below, .take = take_headers, .user = newest};
    return le_search_run(&headers, &request, places);
}

/* Headers beside an NVRTC that the program itself has loaded take precedence over LEAT_CUDA_PATH, as that NVRTC
 * does. */
static void search_headers(void) {
    static const enum le_search_place first[] = {LE_SEARCH_LEAT_CUDA_PATH, LE_SEARCH_END},
                                      last[] = {LE_SEARCH_CUDA_PATH,   LE_SEARCH_LOCAL,        LE_SEARCH_OWN,
                                                LE_SEARCH_VIRTUAL_ENV, LE_SEARCH_CONDA_PREFIX, LE_SEARCH_END};
    const struct le_search *nvrtc = le_find_nvrtc();
    int newest = (nvrtc->found ? nvrtc->version : le_cuda_driver_version()) / 1000;
    bool early = nvrtc->found && le_nvrtc_was_loaded();
    headers.found = (early && look_beside_nvrtc(nvrtc, &newest)) || look_in(first, &newest) ||
                    (nvrtc->found && !early && look_beside_nvrtc(nvrtc, &newest)) || look_in(last, &newest);
    if (!headers.found)
        snprintf(headers.reason, sizeof headers.reason,
                 "the toolkit's headers (" HEADER ") were not found: set LEAT_CUDA_PATH to a toolkit's folder");
}

const struct le_search *le_find_headers(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, search_headers);
    return &headers;
}

const char *le_cuda_include_folder(void) {
    const struct le_search *search = le_find_headers();
    return search->found ? search->path : NULL;
}
