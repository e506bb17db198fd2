/* See nvrtc_identity.h. */
#include "device/cuda/nvrtc_identity.h"
#include "base/environment.h"
#include "base/memory.h"
#include "device/cuda/toolkit_search.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FORMAT = 1 }; /* version of the line's format */

/* Everything that the search depends on, except the contents of the folders. */
static bool make_key(struct le_text *key) {
    static const char *const variables[] = {"LEAT_CUDA_PATH", "CUDA_PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV",
                                            "CONDA_PREFIX"};
    le_text_add(key, "leat %d, which NVRTC, driver %d\n", FORMAT, le_cuda_driver_version());
    for (size_t k = 0; k < ARRAY_LEN(variables); k++) {
        const char *value = le_environment_get(variables[k]);
        le_text_add(key, "%s=%s\n", variables[k], value ? value : "");
    }
    return !key->failed;
}

/* One line, the path last: "13000 8:1 1234567 104857600 1719406000.123456789 /usr/.../libnvrtc.so.13". */
static bool describe_file(const char *path, int version, struct le_text *text) {
    struct stat about;
    if (!*path || stat(path, &about) != 0)
        return false;
    le_text_add(text, "NVRTC %d %ju %ju %jd %jd.%09ld %s\n", version, (uintmax_t)about.st_dev, (uintmax_t)about.st_ino,
                (intmax_t)about.st_size, (intmax_t)about.st_mtim.tv_sec, about.st_mtim.tv_nsec, path);
    return !text->failed;
}

/* Returns the stored line, if the file is unchanged. */
static bool recall_unchanged(const char *written, size_t length, struct le_text *text) {
    int version = 0, from = 0;
    char line[PATH_MAX + 256];
    struct le_text now = {0};
    if (length < 1 || length >= sizeof line || written[length - 1] != '\n')
        return false;
    memcpy(line, written, length);
    line[length - 1] = 0;
    if (sscanf(line, "NVRTC %d %*s %*s %*s %*s %n", &version, &from) != 1 || from == 0)
        return false;
    bool same =
        describe_file(line + from, version, &now) && now.length == length && memcmp(now.at, written, length) == 0;
    if (same)
        le_text_add_bytes(text, written, length);
    le_text_finish(&now);
    return same && !text->failed;
}

static bool recall_from_store(struct le_store *store, const struct le_text *key, struct le_text *text) {
    void *value;
    size_t value_bytes;
    if (!store || !le_store_get(store, key->at, key->length, &value, &value_bytes, NULL))
        return false;
    bool good = recall_unchanged(value, value_bytes, text);
    le_free(value);
    return good;
}

/* Searches for NVRTC, which loads it, and describes it. */
static bool describe_found(struct le_text *text) {
    const struct le_search *search = le_find_nvrtc();
    return search->found && describe_file(search->path, search->version, text);
}

bool le_nvrtc_identify(struct le_store *store, struct le_text *text) {
    struct le_text key = {0}, line = {0};
    char number[24], label[LE_STORE_LABEL_BYTES];
    bool known = make_key(&key);
    if (known && !recall_from_store(store, &key, &line)) {
        known = describe_found(&line);
        snprintf(label, sizeof label, "location of NVRTC, %s", le_cuda_version_text(le_find_nvrtc()->version, number));
        if (known && store)
            le_store_put(store, label, key.at, key.length, line.at, line.length);
    }
    if (known)
        le_text_add(text, "driver %d\n%s", le_cuda_driver_version(), line.at);
    le_text_finish(&key);
    le_text_finish(&line);
    return known && !text->failed;
}

bool le_nvrtc_is_remembered(struct le_store *store) {
    struct le_text key = {0}, line = {0};
    bool known = make_key(&key) && recall_from_store(store, &key, &line);
    le_text_finish(&key);
    le_text_finish(&line);
    return known;
}
