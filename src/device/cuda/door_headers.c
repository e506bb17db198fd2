/* The folder with the toolkit's headers: beside NVRTC where they can be, since the two belong together. */
#include "device/cuda/door_search.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER "cuda_fp16.h"

struct hunt {
    struct le_door_search *search;
    int top; /* the newest CUDA major that will do; 0: any */
};

/* The version that a folder's cuda.h or cuda_runtime_api.h is of; 0: unknown. */
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

/* A folder that may hold the headers; tells nothing where it has none. *seen: it has. */
static bool take(struct hunt *hunt, const char *name, const char *folder, bool *seen) {
    char path[PATH_MAX], real[PATH_MAX], text[24] = "of an unknown version";
    if (snprintf(path, sizeof path, "%s/" HEADER, folder) >= (int)sizeof path || access(path, R_OK) != 0 ||
        !realpath(folder, real))
        return false;
    *seen = true;
    int version = read_version(real);
    if (hunt->top && version / 1000 > hunt->top) {
        le_door_tell(hunt->search, name, real, "for CUDA %d, newer than NVRTC or the driver (CUDA %d)", version / 1000,
                     hunt->top);
        return false;
    }
    hunt->search->version = version;
    snprintf(hunt->search->path, sizeof hunt->search->path, "%s", real);
    le_door_tell(hunt->search, name, real, "found, %s", version ? le_door_version_text(version, text) : text);
    return true;
}

static bool look_in(struct hunt *hunt, const char *name, const char *root, const char *const *below, size_t count) {
    bool seen = false;
    for (size_t k = 0; k < count; k++) {
        char folder[PATH_MAX];
        bool fits = snprintf(folder, sizeof folder, "%s/%s", root, below[k]) < (int)sizeof folder;
        if (fits && take(hunt, name, folder, &seen))
            return true;
    }
    if (!seen)
        le_door_tell(hunt->search, name, root, "no " HEADER " found");
    return false;
}

static bool look_below(void *user, const char *name, const char *root) {
    /* of a toolkit or of conda; of site-packages/nvidia */
    static const char *const below[] = {"include",      "targets/x86_64-linux/include", "targets/sbsa-linux/include",
                                        "cu13/include", "cuda_runtime/include",         "."};
    return look_in(user, name, root, below, ARRAY_LEN(below));
}

/* From NVRTC's own folder: lib, lib64, lib/x86_64-linux-gnu, or cuda_nvrtc/lib among wheels. */
static bool look_beside_nvrtc(struct hunt *hunt, const struct le_door_search *nvrtc) {
    static const char *const below[] = {"../include", "../../include", "../../cuda_runtime/include",
                                        "../../../include"};
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", nvrtc->path);
    char *slash = strrchr(folder, '/');
    if (!slash)
        return false;
    *slash = 0;
    return look_in(hunt, "beside NVRTC", folder, below, ARRAY_LEN(below));
}

static bool look_in_variable(struct hunt *hunt, const char *variable) {
    const char *folder = le_door_variable(hunt->search, variable);
    return folder && look_below(hunt, variable, folder);
}

static bool look_everywhere(struct hunt *hunt, const struct le_door_search *nvrtc) {
    bool early = nvrtc->found && le_door_nvrtc_was_loaded();
    return (early && look_beside_nvrtc(hunt, nvrtc)) || look_in_variable(hunt, "LEAT_CUDA_PATH") ||
           (nvrtc->found && !early && look_beside_nvrtc(hunt, nvrtc)) || look_in_variable(hunt, "CUDA_PATH") ||
           le_door_local(look_below, hunt) || le_door_wheels(hunt->search, look_below, hunt);
}

static struct le_door_search headers;

static void search_headers(void) {
    const struct le_door_search *nvrtc = le_door_search_nvrtc();
    struct hunt hunt = {.search = &headers,
                        .top = nvrtc->found ? nvrtc->version / 1000 : le_door_driver_version() / 1000};
    headers.found = look_everywhere(&hunt, nvrtc);
    if (!headers.found)
        snprintf(headers.reason, sizeof headers.reason,
                 "the toolkit's headers (" HEADER ") were not found: set LEAT_CUDA_PATH to a toolkit's folder");
}

const struct le_door_search *le_door_search_headers(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, search_headers);
    return &headers;
}

const char *le_cuda_include_folder(void) {
    const struct le_door_search *search = le_door_search_headers();
    return search->found ? search->path : NULL;
}
