/* .npz files, through libzip, which allocates its own memory without base/memory.h. The size that a member claims is
 * checked against the archive's size before memory of that size is allocated, and against the member's .npy header. */
#include "array/npz.h"
#include "array/npy.h"
#include "base/file_out.h"
#include "base/text.h"
#include <errno.h>
#include <string.h>
#include <zip.h>

#define DEFLATE_MOST 1040u /* maximum bytes from one compressed byte; deflate's limit is 1032 */
#define ENTRY_BYTES_MAX                                                                                                \
    65535u /* limit of an entry's name; the length field has two bytes, which libzip does not check */

struct member {
    const char *name; /* of the file */
    zip_t *archive;
    zip_stat_t about;
};

static leat_status fail_zip(const char *name, zip_error_t *error) {
    leat_status status =
        zip_error_code_zip(error) == ZIP_ER_MEMORY
            ? le_fail_out_of_memory(0)
            : le_fail(LEAT_FILE, "%s: the archive cannot be read: %s", name, zip_error_strerror(error));
    return status;
}

/* ---- in */

static leat_status open_archive(const char *name, const uint8_t *bytes, size_t size_bytes, zip_t **archive) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(bytes, size_bytes, 0, &error);
    *archive = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    leat_status status = *archive ? LEAT_OK : fail_zip(name, &error);
    if (source && !*archive)
        zip_source_free(source);
    zip_error_fini(&error);
    return status;
}

static leat_status fail_keys(const struct member *m, const char *key) {
    struct le_text keys = {0};
    zip_int64_t count = zip_get_num_entries(m->archive, 0);
    for (zip_int64_t k = 0; k < count && keys.length < 300; k++) {
        const char *entry = zip_get_name(m->archive, (zip_uint64_t)k, 0);
        size_t length = entry ? strlen(entry) : 0;
        if (length > 4 && strcmp(entry + length - 4, ".npy") == 0)
            length -= 4;
        le_text_add(&keys, "%s%.*s", k ? ", " : "", (int)(length < 100 ? length : 100), entry ? entry : "?");
        if (keys.length >= 300 && k + 1 < count)
            le_text_add(&keys, ", ...");
    }
    leat_status status;
    if (count <= 0)
        status = le_fail(LEAT_FILE, "%s: contains no array", m->name);
    else if (key)
        status = le_fail(LEAT_FILE, "%s: has no array '%.100s'; it has: %s", m->name, key, keys.at ? keys.at : "?");
    else
        status = le_fail(LEAT_FILE, "%s: has %lld arrays; name one of them: %s", m->name, (long long)count,
                         keys.at ? keys.at : "?");
    le_text_finish(&keys);
    return status;
}

/* The entry named key + ending, or -1. Of several with that name the last one counts, as in NumPy. */
static zip_int64_t find_entry(zip_t *archive, const char *key, const char *ending) {
    size_t length = strlen(key);
    for (zip_int64_t k = zip_get_num_entries(archive, 0) - 1; k >= 0; k--) {
        const char *entry = zip_get_name(archive, (zip_uint64_t)k, 0);
        if (entry && strncmp(entry, key, length) == 0 && strcmp(entry + length, ending) == 0)
            return k;
    }
    return -1;
}

/* The only entry that ends in .npy, or the only entry at all; -1 if there is none. */
static zip_int64_t find_only(zip_t *archive) {
    zip_int64_t count = zip_get_num_entries(archive, 0), found = -1;
    for (zip_int64_t k = 0; k < count; k++) {
        const char *entry = zip_get_name(archive, (zip_uint64_t)k, 0);
        size_t length = entry ? strlen(entry) : 0;
        if (length < 4 || strcmp(entry + length - 4, ".npy") != 0)
            continue;
        if (found >= 0)
            return -1;
        found = k;
    }
    return found < 0 && count == 1 ? 0 : found;
}

/* Finds the entry key, else key.npy; for NULL the only one. */
static leat_status find_member(struct member *m, const char *key) {
    zip_int64_t found = key ? find_entry(m->archive, key, "") : find_only(m->archive);
    if (key && found < 0)
        found = find_entry(m->archive, key, ".npy");
    if (found < 0)
        return fail_keys(m, key);
    zip_stat_init(&m->about);
    if (zip_stat_index(m->archive, (zip_uint64_t)found, 0, &m->about) < 0)
        return fail_zip(m->name, zip_get_error(m->archive));
    return LEAT_OK;
}

static leat_status check_member(const struct member *m, size_t archive_bytes) {
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_INDEX;
    const zip_stat_t *about = &m->about;
    if ((about->valid & needed) != needed)
        return le_fail(LEAT_FILE, "%s: the archive does not give the sizes of its members", m->name);
    if (about->comp_method != ZIP_CM_STORE && about->comp_method != ZIP_CM_DEFLATE)
        return le_fail(LEAT_FILE, "%s: uses a compression method (%d) that .npz files do not use", m->name,
                       about->comp_method);
    if (about->valid & ZIP_STAT_ENCRYPTION_METHOD && about->encryption_method != ZIP_EM_NONE)
        return le_fail(LEAT_FILE, "%s: is encrypted", m->name);
    zip_uint64_t most = about->comp_method == ZIP_CM_STORE ? about->comp_size : about->comp_size * DEFLATE_MOST + 64;
    if (about->comp_size > archive_bytes || about->size > most)
        return le_fail(LEAT_FILE, "%s: its array claims %llu bytes, more than the archive can hold", m->name,
                       (unsigned long long)about->size);
    return LEAT_OK;
}

static leat_status read_exactly(const struct member *m, zip_file_t *file, void *target, size_t size_bytes) {
    char *at = target;
    while (size_bytes) {
        zip_int64_t got = zip_fread(file, at, size_bytes);
        if (got < 0)
            return fail_zip(m->name, zip_file_get_error(file));
        if (got == 0)
            return le_fail(LEAT_FILE, "%s: its array ends too early", m->name);
        at += got;
        size_bytes -= (size_t)got;
    }
    return LEAT_OK;
}

/* bytes has room for LE_NPY_HEADER_MAX. */
static leat_status read_header(const struct member *m, zip_file_t *file, uint8_t *bytes, leat_dtype declared,
                               struct le_npy_header *header) {
    size_t first = m->about.size < 12 ? (size_t)m->about.size : 12, header_bytes = 0;
    leat_status status = read_exactly(m, file, bytes, first);
    if (!status)
        status = le_npy_header_size(m->name, bytes, first, &header_bytes);
    if (!status && header_bytes > m->about.size)
        status = le_fail(LEAT_FILE, "%s: its .npy header claims %zu bytes, but its array has %llu", m->name,
                         header_bytes, (unsigned long long)m->about.size);
    if (!status && header_bytes > first)
        status = read_exactly(m, file, bytes + first, header_bytes - first);
    if (!status)
        status = le_npy_header_read(m->name, bytes, header_bytes < first ? first : header_bytes, declared, header);
    if (!status && header->data_offset + header->data_bytes != m->about.size)
        status = le_fail(LEAT_FILE, "%s: its .npy header claims %zu bytes of elements, but its array has %llu", m->name,
                         header->data_bytes, (unsigned long long)(m->about.size - header->data_offset));
    return status;
}

/* Reads to the end, where libzip compares the checksum. */
static leat_status read_elements(const struct member *m, zip_file_t *file, struct le_npy_header *header,
                                 leat_array *array) {
    char beyond;
    leat_status status = read_exactly(m, file, array->data, header->data_bytes);
    if (status)
        return status;
    zip_int64_t got = zip_fread(file, &beyond, 1);
    if (got < 0)
        return fail_zip(m->name, zip_file_get_error(file));
    if (got > 0)
        return le_fail(LEAT_FILE, "%s: its array is longer than the archive says", m->name);
    le_npy_normalise(header, array->data);
    return LEAT_OK;
}

static leat_status read_member(struct le_memory_pool *pool, const struct member *m, zip_file_t *file, uint8_t *bytes,
                               leat_dtype declared, leat_array **array) {
    struct le_npy_header header;
    leat_array *made;
    leat_status status = read_header(m, file, bytes, declared, &header);
    if (!status)
        status = le_array_new(pool, header.dtype, header.rank, header.shape, false, &made);
    if (status)
        return status;
    memcpy(made->strides, header.strides, sizeof header.strides);
    status = read_elements(m, file, &header, made);
    if (status)
        le_array_free(made);
    else
        *array = made;
    return status;
}

static leat_status open_member(struct le_memory_pool *pool, const struct member *m, leat_dtype declared,
                               leat_array **array) {
    uint8_t *bytes = le_alloc(LE_NPY_HEADER_MAX);
    if (!bytes)
        return le_fail_out_of_memory(LE_NPY_HEADER_MAX);
    zip_file_t *file = zip_fopen_index(m->archive, m->about.index, 0);
    leat_status status =
        file ? read_member(pool, m, file, bytes, declared, array) : fail_zip(m->name, zip_get_error(m->archive));
    if (file)
        zip_fclose(file);
    le_free(bytes);
    return status;
}

leat_status le_npz_load(struct le_memory_pool *pool, const char *name, const uint8_t *bytes, size_t size_bytes,
                        const char *key, leat_dtype declared, leat_array **array) {
    struct member member = {.name = name};
    leat_status status = open_archive(name, bytes, size_bytes, &member.archive);
    if (status)
        return status;
    status = find_member(&member, key);
    if (!status)
        status = check_member(&member, size_bytes);
    if (!status)
        status = open_member(pool, &member, declared, array);
    zip_discard(member.archive);
    return status;
}

/* ---- out */

/* An entry of an archive being written. Header and elements must stay valid until the archive is closed. */
struct entry {
    struct le_text name; /* "key.npy" */
    leat_array *dense;
    char header[LE_NPY_OUT_MAX];
};

/* The output of libzip: a le_file_out. */
struct target {
    struct le_file_out out;
    uint64_t offset, length; /* where the next bytes go; length of the file */
    leat_status status;      /* of the first failed call on the file */
    zip_error_t error;       /* reported to libzip after that */
};

static zip_int64_t note_failure(struct target *t, leat_status status) {
    t->status = status;
    if (status)
        zip_error_set(&t->error, ZIP_ER_WRITE, EIO);
    return status ? -1 : 0;
}

static zip_int64_t write_bytes(struct target *t, const void *bytes, zip_uint64_t length) {
    if (note_failure(t, le_file_out_write(&t->out, bytes, length)))
        return -1;
    t->offset += length;
    t->length = t->offset > t->length ? t->offset : t->length;
    return (zip_int64_t)length;
}

static zip_int64_t seek(struct target *t, void *data, zip_uint64_t length) {
    zip_int64_t offset = zip_source_seek_compute_offset(t->offset, t->length, data, length, &t->error);
    if (offset < 0 || note_failure(t, le_file_out_seek(&t->out, (uint64_t)offset)))
        return -1;
    t->offset = (uint64_t)offset;
    return 0;
}

/* libzip's callback. The archive is new, so it is never read. */
static zip_int64_t on_target(void *user, void *data, zip_uint64_t length, zip_source_cmd_t command) {
    struct target *t = user;
    switch (command) {
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_WRITABLE;
    case ZIP_SOURCE_STAT:
        zip_stat_init(data);
        return sizeof(zip_stat_t);
    case ZIP_SOURCE_WRITE:
        return write_bytes(t, data, length);
    case ZIP_SOURCE_SEEK_WRITE:
        return seek(t, data, length);
    case ZIP_SOURCE_TELL_WRITE:
        return (zip_int64_t)t->offset;
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&t->error, data, length);
    case ZIP_SOURCE_OPEN:
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
        return 0;
    default:
        zip_error_set(&t->error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

/* Returns the failure of the file, if there was one, else libzip's error. */
static leat_status fail_write(const struct target *t, zip_error_t *error) {
    if (t->status)
        return t->status;
    if (zip_error_code_zip(error) == ZIP_ER_MEMORY)
        return le_fail_out_of_memory(0);
    return le_fail(LEAT_FILE, "cannot write %s: %s", t->out.path, zip_error_strerror(error));
}

static bool add_entry(zip_t *archive, struct entry *entry) {
    zip_buffer_fragment_t fragments[] = {
        {.data = (zip_uint8_t *)entry->header, .length = le_npy_header_write(entry->dense, false, entry->header)},
        {.data = entry->dense->data, .length = le_array_bytes(entry->dense)},
    };
    zip_source_t *source = zip_source_buffer_fragment(archive, fragments, ARRAY_LEN(fragments), 0);
    zip_int64_t index = source ? zip_file_add(archive, entry->name.at, source, ZIP_FL_ENC_UTF_8) : -1;
    if (source && index < 0)
        zip_source_free(source);
    return index >= 0 && zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0) == 0;
}

static bool add_entries(zip_t *archive, struct entry *entries, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (!add_entry(archive, &entries[k]))
            return false;
    return true;
}

static leat_status write_archive(struct target *t, struct entry *entries, size_t count) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_function_create(on_target, t, &error);
    zip_t *archive = source ? zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error) : NULL;
    if (source && !archive)
        zip_source_free(source);
    bool written = archive && add_entries(archive, entries, count) && zip_close(archive) == 0;
    leat_status status = written ? LEAT_OK : fail_write(t, archive ? zip_get_error(archive) : &error);
    if (archive && !written)
        zip_discard(archive);
    zip_error_fini(&error);
    return status;
}

static leat_status save_entries(struct entry *entries, size_t count, const char *path,
                                const leat_save_options *options) {
    struct target t = {.status = LEAT_OK};
    zip_error_init(&t.error);
    leat_status status = le_file_out_open(path, options, &t.out);
    if (status)
        return status;
    if (!t.out.target)
        status = le_fail(LEAT_FILE, "%s: an archive can only be written to a regular file", path);
    else
        status = write_archive(&t, entries, count);
    zip_error_fini(&t.error);
    return le_file_out_close(&t.out, status);
}

static leat_status prepare_entry(struct entry *entry, const leat_named_array *named, const char *path) {
    leat_array *host = NULL;
    le_text_add(&entry->name, "%s.npy", named->name);
    if (entry->name.failed)
        return le_fail_out_of_memory(0);
    if (entry->name.length > ENTRY_BYTES_MAX)
        return le_fail(LEAT_FILE, "%s: the array's name of %zu bytes is too long for an archive", path,
                       strlen(named->name));
    leat_status status = le_array_host(named->array, &host);
    if (!status)
        status = le_array_dense(host, &entry->dense);
    le_array_free(host);
    return status;
}

leat_status le_npz_save(const leat_named_array *arrays, size_t count, const char *path,
                        const leat_save_options *options) {
    struct entry *entries = le_alloc_zero(count, sizeof *entries);
    leat_status status = entries ? LEAT_OK : le_fail_out_of_memory(count * sizeof *entries);
    for (size_t k = 0; k < count && !status; k++)
        status = prepare_entry(&entries[k], &arrays[k], path);
    if (!status)
        status = save_entries(entries, count, path, options);
    for (size_t k = 0; entries && k < count; k++) {
        le_array_free(entries[k].dense);
        le_text_finish(&entries[k].name);
    }
    le_free(entries);
    return status;
}
