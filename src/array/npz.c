/* .npz files. The size that a member claims is checked against the archive's size before memory of that size is
 * allocated, and against the member's .npy header. */
#include "array/npz.h"
#include "array/npy.h"
#include "array/zip_format.h"
#include "base/text.h"
#include <string.h>

#define DEFLATE_MOST 1040u /* maximum bytes from one compressed byte; deflate's limit is 1032 */

struct member {
    const char *name; /* of the file */
    struct le_zip_entry about;
    struct le_zip_reader *content;
};

/* ---- in */

static bool is_array(const struct le_zip_entry *entry) {
    return entry->name_length >= 4 && memcmp(entry->name + entry->name_length - 4, ".npy", 4) == 0;
}

static leat_status fail_keys(const struct le_zip *zip, const char *name, const char *key) {
    struct le_text keys = {0};
    struct le_zip_entry entry;
    for (uint64_t at = zip->directory; keys.length < 300 && le_zip_next(zip, &at, &entry);) {
        size_t length = entry.name_length - (is_array(&entry) && entry.name_length > 4 ? 4 : 0);
        le_text_add(&keys, "%s%.*s", keys.length ? ", " : "", (int)(length < 100 ? length : 100), entry.name);
        if (keys.length >= 300 && at < zip->directory_end)
            le_text_add(&keys, ", ...");
    }
    leat_status status;
    if (zip->directory == zip->directory_end)
        status = le_fail(LEAT_FILE, "%s: contains no array", name);
    else if (key)
        status = le_fail(LEAT_MISSING, "%s: has no array '%.100s'; it has: %s", name, key, keys.at ? keys.at : "?");
    else
        status = le_fail(LEAT_INVALID, "%s: has %llu arrays; name one of them: %s", name,
                         (unsigned long long)zip->count, keys.at ? keys.at : "?");
    le_text_finish(&keys);
    return status;
}

/* Finds the entry key, else key.npy; for NULL the only one that ends in .npy, or the only one at all. Of several with
 * that name the last one counts, as in NumPy. */
static leat_status find_member(const struct le_zip *zip, const char *name, const char *key,
                               struct le_zip_entry *found) {
    struct le_zip_entry entry, other = {0}; /* found: the better match */
    size_t better = 0, others = 0;
    uint64_t at = zip->directory;
    while (le_zip_next(zip, &at, &entry)) {
        if (key ? le_zip_is_named(&entry, key, "") : is_array(&entry)) {
            *found = entry;
            better++;
        } else if (!key || le_zip_is_named(&entry, key, ".npy")) {
            other = entry;
            others++;
        }
    }
    if (at != zip->directory_end)
        return le_fail(LEAT_FILE, "%s: the archive cannot be read: its directory is damaged", name);
    if (!better)
        *found = other;
    size_t count = better ? better : others;
    return count == 1 || (key && count) ? LEAT_OK : fail_keys(zip, name, key);
}

static leat_status check_member(const struct member *m, size_t archive_bytes) {
    const struct le_zip_entry *about = &m->about;
    bool stored = about->method == LE_ZIP_STORED;
    if (!stored && about->method != LE_ZIP_DEFLATED)
        return le_fail(LEAT_FILE, "%s: uses a compression method (%d) that .npz files do not use", m->name,
                       about->method);
    if (about->encrypted)
        return le_fail(LEAT_FILE, "%s: is encrypted", m->name);
    uint64_t most = stored ? about->packed_bytes : about->packed_bytes * DEFLATE_MOST + 64;
    if (about->packed_bytes > archive_bytes || about->size_bytes > most)
        return le_fail(LEAT_FILE, "%s: its array claims %llu bytes, more than the archive can hold", m->name,
                       (unsigned long long)about->size_bytes);
    return LEAT_OK;
}

/* bytes has room for LE_NPY_HEADER_MAX. */
static leat_status read_header(const struct member *m, uint8_t *bytes, leat_dtype declared,
                               struct le_npy_header *header) {
    size_t first = m->about.size_bytes < 12 ? (size_t)m->about.size_bytes : 12, header_bytes = 0;
    leat_status status = le_zip_read(m->content, m->name, bytes, first);
    if (!status)
        status = le_npy_header_size(m->name, bytes, first, &header_bytes);
    if (!status && header_bytes > m->about.size_bytes)
        status = le_fail(LEAT_FILE, "%s: its .npy header claims %zu bytes, but its array has %llu", m->name,
                         header_bytes, (unsigned long long)m->about.size_bytes);
    if (!status && header_bytes > first)
        status = le_zip_read(m->content, m->name, bytes + first, header_bytes - first);
    if (!status)
        status = le_npy_header_read(m->name, bytes, header_bytes < first ? first : header_bytes, declared, header);
    if (!status && header->data_offset + header->data_bytes != m->about.size_bytes)
        status = le_fail(LEAT_FILE, "%s: its .npy header claims %zu bytes of elements, but its array has %llu", m->name,
                         header->data_bytes, (unsigned long long)(m->about.size_bytes - header->data_offset));
    return status;
}

static leat_status read_member(struct le_memory_pool *pool, const struct member *m, uint8_t *bytes, leat_dtype declared,
                               leat_array **array) {
    struct le_npy_header header;
    leat_array *made;
    leat_status status = read_header(m, bytes, declared, &header);
    if (!status)
        status = le_array_new(pool, header.dtype, header.rank, header.shape, false, &made);
    if (status)
        return status;
    memcpy(made->strides, header.strides, sizeof header.strides);
    status = le_zip_read(m->content, m->name, made->data, header.data_bytes);
    if (status) {
        le_array_free(made);
        return status;
    }
    le_npy_normalise(&header, made->data);
    *array = made;
    return LEAT_OK;
}

static leat_status open_member(struct le_memory_pool *pool, const struct member *m, leat_dtype declared,
                               leat_array **array) {
    uint8_t *bytes = le_alloc(LE_NPY_HEADER_MAX);
    leat_status status =
        bytes ? read_member(pool, m, bytes, declared, array) : le_fail_out_of_memory(LE_NPY_HEADER_MAX);
    le_free(bytes);
    return status;
}

leat_status le_npz_load(struct le_memory_pool *pool, const char *name, const uint8_t *bytes, size_t size_bytes,
                        const char *key, leat_dtype declared, leat_array **array) {
    struct member member = {.name = name};
    struct le_zip zip;
    if (!le_zip_open(bytes, size_bytes, &zip))
        return le_fail(LEAT_FILE, "%s: the archive cannot be read: it is damaged", name);
    leat_status status = find_member(&zip, name, key, &member.about);
    if (!status)
        status = check_member(&member, size_bytes);
    if (!status)
        status = le_zip_reader_new(&zip, &member.about, name, &member.content);
    if (!status)
        status = open_member(pool, &member, declared, array);
    le_zip_reader_free(member.content);
    return status;
}

/* ---- out */

/* An entry of an archive being written. */
struct entry {
    struct le_text name; /* "key.npy" */
    leat_array *dense;
    struct le_zip_out_entry out;
};

static leat_status write_entry(struct le_file_out *out, struct entry *entry, uint64_t *offset) {
    char header[LE_NPY_OUT_MAX];
    size_t header_bytes = le_npy_header_write(entry->dense, false, header), size_bytes = le_array_bytes(entry->dense);
    uint32_t checksum = le_zip_checksum(0, header, header_bytes);
    entry->out = (struct le_zip_out_entry){.name = entry->name.at,
                                           .size_bytes = header_bytes + size_bytes,
                                           .checksum = le_zip_checksum(checksum, entry->dense->data, size_bytes)};
    leat_status status = le_zip_write_header(out, &entry->out, offset);
    if (!status)
        status = le_file_out_write(out, header, header_bytes);
    return status ? status : le_file_out_write(out, entry->dense->data, size_bytes);
}

static leat_status save_entries(struct entry *entries, size_t count, const char *path,
                                const leat_save_options *options) {
    struct le_file_out out;
    uint64_t offset = 0;
    leat_status status = le_file_out_open(path, options, &out);
    if (status)
        return status;
    for (size_t k = 0; k < count && !status; k++)
        status = write_entry(&out, &entries[k], &offset);
    if (!status)
        status = le_zip_write_directory(&out, &entries[0].out, sizeof *entries, count, offset);
    return le_file_out_close(&out, status);
}

static leat_status prepare_entry(struct entry *entry, const leat_named_array *named, const char *path) {
    leat_array *host = NULL;
    le_text_add(&entry->name, "%s.npy", named->name);
    if (entry->name.failed)
        return le_fail_out_of_memory(0);
    if (entry->name.length > LE_ZIP_NAME_MAX)
        return le_fail(LEAT_INVALID, "%s: the array's name of %zu bytes is too long for an archive", path,
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
