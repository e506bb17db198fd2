/* Recognizes a file's format and calls its reader or writer. */
#include "array/load.h"
#include "array/csv.h"
#include "array/file.h"
#include "array/npy.h"
#include "array/npz.h"
#include "array/png.h"
#include <string.h>
#include <strings.h>

enum format { FORMAT_NONE, FORMAT_NPY, FORMAT_NPZ, FORMAT_PNG, FORMAT_CSV, FORMAT_TSV };

static enum format format_of_bytes(const uint8_t *bytes, size_t size_bytes) {
    static const struct {
        const char *magic;
        enum format format;
    } formats[] = {{"\x93NUMPY", FORMAT_NPY},
                   {"PK\x03\x04", FORMAT_NPZ},
                   {"PK\x05\x06", FORMAT_NPZ}, /* an empty archive */
                   {"\x89PNG\r\n\x1a\n", FORMAT_PNG}};
    for (size_t k = 0; k < ARRAY_LEN(formats); k++) {
        size_t length = strlen(formats[k].magic);
        if (size_bytes >= length && memcmp(bytes, formats[k].magic, length) == 0)
            return formats[k].format;
    }
    return FORMAT_NONE;
}

static enum format format_of_path(const char *path) {
    static const struct {
        const char *ending;
        enum format format;
    } formats[] = {
        {".npy", FORMAT_NPY}, {".npz", FORMAT_NPZ}, {".png", FORMAT_PNG}, {".csv", FORMAT_CSV}, {".tsv", FORMAT_TSV}};
    size_t length = strlen(path);
    for (size_t k = 0; k < ARRAY_LEN(formats); k++)
        if (length > 4 && strcasecmp(path + length - 4, formats[k].ending) == 0)
            return formats[k].format;
    return FORMAT_NONE;
}

static leat_status check_key(const char *name, const char *key, enum format format) {
    if (key && format != FORMAT_NPZ)
        return le_fail(LEAT_INVALID, "%s: is not an .npz file, so it has no array '%.100s'", name, key);
    return LEAT_OK;
}

static leat_status fail_format(const char *name, size_t size_bytes) {
    if (size_bytes == 0)
        return le_fail(LEAT_FILE, "%s: is empty", name);
    return le_fail_at(LEAT_FILE, (struct le_location){0}, "tables are read from files named .csv or .tsv",
                      "%s: is not an .npy, .npz or PNG file", name);
}

/* Tables of text are recognized by the ending of the path, other formats by their first bytes. */
static enum format format_of(const char *path, const uint8_t *bytes, size_t size_bytes) {
    enum format format = format_of_bytes(bytes, size_bytes), named = path ? format_of_path(path) : FORMAT_NONE;
    bool is_table = size_bytes > 0 && (named == FORMAT_CSV || named == FORMAT_TSV);
    return format == FORMAT_NONE && is_table ? named : format;
}

static leat_status load_bytes(struct le_memory_pool *pool, const char *name, enum format format,
                              const struct le_file_bytes *bytes, const char *key, leat_dtype declared,
                              leat_array **array) {
    switch (format) {
    case FORMAT_NPY:
        return le_npy_load(pool, name, bytes->at, bytes->size_bytes, declared, array);
    case FORMAT_NPZ:
        return le_npz_load(pool, name, bytes->at, bytes->size_bytes, key, declared, array);
    case FORMAT_PNG:
        return le_png_load(pool, name, bytes->at, bytes->size_bytes, array);
    case FORMAT_CSV:
        return le_csv_load(pool, name, bytes->at, bytes->size_bytes, ',', declared, array);
    case FORMAT_TSV:
        return le_csv_load(pool, name, bytes->at, bytes->size_bytes, '\t', declared, array);
    default:
        return fail_format(name, bytes->size_bytes);
    }
}

leat_status le_array_load_memory(struct le_memory_pool *pool, const char *name, const void *bytes, size_t size_bytes,
                                 leat_dtype declared, leat_array **array) {
    const struct le_file_bytes all = {.at = bytes, .size_bytes = size_bytes};
    return load_bytes(pool, name, format_of_bytes(bytes, size_bytes), &all, NULL, declared, array);
}

/* path: NULL if there is only a descriptor. Of a file in an unknown format only the head is read. */
static leat_status load_file(struct le_memory_pool *pool, const struct le_file_in *in, const char *path,
                             const char *key, leat_dtype declared, leat_array **array) {
    struct le_file_bytes bytes;
    enum format format = format_of(path, in->head, in->head_bytes);
    leat_status status = check_key(in->name, key, format);
    if (status)
        return status;
    if (format == FORMAT_NONE)
        return fail_format(in->name, in->head_bytes);
    if (format == FORMAT_NPY)
        return le_npy_load_file(pool, in, declared, array);
    status = le_file_in_all(in, &bytes);
    if (status)
        return status;
    status = load_bytes(pool, in->name, format, &bytes, key, declared, array);
    le_file_bytes_finish(&bytes);
    return status;
}

leat_status le_array_load(struct le_memory_pool *pool, const char *path, const char *key, leat_dtype declared,
                          leat_array **array) {
    struct le_file_in in;
    leat_status status = le_file_in_open(path, &in);
    if (status)
        return status;
    status = load_file(pool, &in, path, key, declared, array);
    le_file_in_finish(&in);
    return status;
}

leat_status le_array_load_fd(struct le_memory_pool *pool, int fd, const char *name, leat_dtype declared,
                             leat_array **array) {
    struct le_file_in in;
    leat_status status = le_file_in_start(fd, name, &in);
    return status ? status : load_file(pool, &in, NULL, NULL, declared, array);
}

static leat_status save_host(const leat_array *array, const char *path, const leat_save_options *options,
                             enum format format) {
    switch (format) {
    case FORMAT_NPY:
        return le_npy_save(array, path, options);
    case FORMAT_NPZ:
        return le_npz_save(&(leat_named_array){.name = options->key ? options->key : "array", .array = array}, 1, path,
                           options);
    case FORMAT_CSV:
        return le_csv_save(array, path, ',', options);
    case FORMAT_TSV:
        return le_csv_save(array, path, '\t', options);
    default:
        return le_png_save(array, path, options);
    }
}

leat_status le_array_save(const leat_array *array, const char *path, const leat_save_options *options) {
    enum format format = format_of_path(path);
    if (format == FORMAT_NONE)
        return le_fail_at(LEAT_INVALID, (struct le_location){0}, "use the ending .npy, .npz, .csv, .tsv or .png",
                          "%s: unknown file ending", path);
    leat_array *host = NULL;
    leat_status status = check_key(path, options->key, format);
    if (!status)
        status = le_array_host(array, &host);
    if (!status)
        status = save_host(host, path, options, format);
    le_array_free(host);
    return status;
}

static leat_status check_names(const leat_named_array *arrays, size_t count, const char *path) {
    for (size_t k = 0; k < count; k++)
        for (size_t other = 0; other < k; other++)
            if (strcmp(arrays[k].name, arrays[other].name) == 0)
                return le_fail(LEAT_INVALID, "%s: two arrays named '%.100s'", path, arrays[k].name);
    return LEAT_OK;
}

leat_status le_archive_save(const leat_named_array *arrays, size_t count, const char *path,
                            const leat_save_options *options) {
    if (format_of_path(path) != FORMAT_NPZ)
        return le_fail_at(LEAT_INVALID, (struct le_location){0}, "use the ending .npz",
                          "%s: is not the name of an archive", path);
    leat_status status = check_names(arrays, count, path);
    return status ? status : le_npz_save(arrays, count, path, options);
}
