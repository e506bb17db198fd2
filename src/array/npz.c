/* .npz files, through minizip, which allocates its own memory without base/memory.h. The size that a member claims is
 * checked against the archive's size before memory of that size is allocated, and against the member's .npy header. */
#include "array/npz.h"
#include "array/npy.h"
#include "base/file_out.h"
#include "base/text.h"
#include <minizip/unzip.h>
#include <minizip/zip.h>
#include <string.h>

#define DEFLATE_MOST   1040u                 /* maximum bytes from one compressed byte; deflate's limit is 1032 */
#define NAME_BYTES     65536u                /* of an entry's name with its end; the length field has two bytes */
#define CHUNK_BYTES    (1u << 30)            /* minizip counts the bytes of one call in 32 bits */
#define ZIP64_BYTES    (UINT32_MAX - 65536u) /* larger members get the header for 64-bit sizes */
#define FLAG_ENCRYPTED 1u
#define FLAG_UTF8      (1u << 11)
#define DATE_1980      ((1u << 21) | (1u << 16)) /* 1 January 1980, as NumPy writes */

/* A file of minizip: bytes in memory when reading, a le_file_out when writing. */
struct zip_io {
    const uint8_t *bytes;
    struct le_file_out out;
    uint64_t offset, length; /* where the next bytes are; length of the file */
    leat_status status;      /* of the first failed call on the output */
};

struct member {
    const char *name; /* of the file */
    unzFile archive;  /* the member is its current file */
    unz_file_info64 about;
};

static voidpf zip_io_open(voidpf user, const void *path, int mode) {
    (void)path;
    (void)mode;
    return user;
}

static ZPOS64_T zip_io_tell(voidpf user, voidpf stream) {
    (void)stream;
    return ((struct zip_io *)user)->offset;
}

static int zip_io_close(voidpf user, voidpf stream) {
    (void)user;
    (void)stream;
    return 0;
}

static int zip_io_error(voidpf user, voidpf stream) {
    (void)stream;
    return ((struct zip_io *)user)->status ? 1 : 0;
}

static long zip_io_seek(voidpf user, voidpf stream, ZPOS64_T offset, int origin) {
    struct zip_io *io = user;
    uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET ? 0 : origin == ZLIB_FILEFUNC_SEEK_CUR ? io->offset : io->length;
    (void)stream;
    if (offset > io->length || base + offset > io->length || io->status)
        return -1;
    if (!io->bytes && (io->status = le_file_out_seek(&io->out, base + offset)))
        return -1;
    io->offset = base + offset;
    return 0;
}

static uLong zip_io_read(voidpf user, voidpf stream, void *target, uLong size_bytes) {
    struct zip_io *io = user;
    uint64_t left = io->length - io->offset;
    (void)stream;
    size_bytes = size_bytes < left ? size_bytes : (uLong)left;
    memcpy(target, io->bytes + io->offset, size_bytes);
    io->offset += size_bytes;
    return size_bytes;
}

static uLong zip_io_write(voidpf user, voidpf stream, const void *bytes, uLong size_bytes) {
    struct zip_io *io = user;
    (void)stream;
    if (!io->status)
        io->status = le_file_out_write(&io->out, bytes, size_bytes);
    if (io->status)
        return 0;
    io->offset += size_bytes;
    io->length = io->offset > io->length ? io->offset : io->length;
    return size_bytes;
}

static zlib_filefunc64_def functions_of(struct zip_io *io) {
    return (zlib_filefunc64_def){.zopen64_file = zip_io_open,
                                 .zread_file = zip_io_read,
                                 .zwrite_file = zip_io_write,
                                 .ztell64_file = zip_io_tell,
                                 .zseek64_file = zip_io_seek,
                                 .zclose_file = zip_io_close,
                                 .zerror_file = zip_io_error,
                                 .opaque = io};
}

/* code: of minizip or zlib, negative. */
static leat_status fail_read(const char *name, int code) {
    if (code == Z_MEM_ERROR)
        return le_fail_out_of_memory(0);
    const char *why = code == UNZ_CRCERROR ? "the checksum does not match" : "it is damaged";
    return le_fail(LEAT_FILE, "%s: the archive cannot be read: %s", name, why);
}

static leat_status fail_empty(const char *name) {
    return le_fail(LEAT_FILE, "%s: contains no array", name);
}

/* ---- in */

/* Calls visit for each entry until it returns false; entry is its name. The entry is the archive's current file. */
static leat_status visit_entries(const struct member *m, bool (*visit)(void *user, unzFile archive, const char *entry),
                                 void *user) {
    unz_global_info64 all;
    char *entry = le_alloc(NAME_BYTES);
    if (!entry)
        return le_fail_out_of_memory(NAME_BYTES);
    int code = unzGetGlobalInfo64(m->archive, &all);
    if (!code)
        code = all.number_entry ? unzGoToFirstFile(m->archive) : UNZ_END_OF_LIST_OF_FILE;
    for (; !code; code = unzGoToNextFile(m->archive)) {
        code = unzGetCurrentFileInfo64(m->archive, NULL, entry, NAME_BYTES, NULL, 0, NULL, 0);
        if (code || !visit(user, m->archive, entry))
            break;
    }
    le_free(entry);
    return code && code != UNZ_END_OF_LIST_OF_FILE ? fail_read(m->name, code) : LEAT_OK;
}

struct key_list {
    struct le_text text;
    size_t count; /* of the entries so far */
};

static bool has_ending(const char *entry, const char *ending) {
    size_t length = strlen(entry), ending_length = strlen(ending);
    return length >= ending_length && strcmp(entry + length - ending_length, ending) == 0;
}

static bool list_key(void *user, unzFile archive, const char *entry) {
    struct key_list *keys = user;
    size_t length = strlen(entry) - (strlen(entry) > 4 && has_ending(entry, ".npy") ? 4 : 0);
    (void)archive;
    if (keys->count++ && keys->text.length >= 300) {
        le_text_add(&keys->text, ", ...");
        return false;
    }
    le_text_add(&keys->text, "%s%.*s", keys->count > 1 ? ", " : "", (int)(length < 100 ? length : 100), entry);
    return true;
}

static leat_status fail_keys(const struct member *m, const char *key) {
    struct key_list keys = {0};
    unz_global_info64 all = {0};
    leat_status status = visit_entries(m, list_key, &keys);
    unzGetGlobalInfo64(m->archive, &all);
    const char *text = keys.text.at ? keys.text.at : "?";
    if (!status && !keys.count)
        status = fail_empty(m->name);
    else if (!status && key)
        status = le_fail(LEAT_FILE, "%s: has no array '%.100s'; it has: %s", m->name, key, text);
    else if (!status)
        status = le_fail(LEAT_FILE, "%s: has %llu arrays; name one of them: %s", m->name,
                         (unsigned long long)all.number_entry, text);
    le_text_finish(&keys.text);
    return status;
}

/* What a search by key has found: the last entry named key, as in NumPy, and the last one named key.npy. Without a
 * key: the number of entries and of those that end in .npy, and the last of each. */
struct key_search {
    const char *key;
    size_t found[2]; /* [0]: key, or any entry; [1]: key.npy, or *.npy */
    unz64_file_pos at[2];
};

static bool compare_key(void *user, unzFile archive, const char *entry) {
    struct key_search *search = user;
    size_t length = search->key ? strlen(search->key) : 0;
    bool begins = !search->key || strncmp(entry, search->key, length) == 0;
    const bool is[] = {!search->key || strcmp(entry, search->key) == 0,
                       begins && (search->key ? strcmp(entry + length, ".npy") == 0 : has_ending(entry, ".npy"))};
    for (int k = 0; k < 2; k++)
        if (is[k] && unzGetFilePos64(archive, &search->at[k]) == UNZ_OK)
            search->found[k]++;
    return true;
}

/* Makes the entry key, else key.npy, the current file; for NULL the only one that ends in .npy, or the only one. */
static leat_status find_member(struct member *m, const char *key) {
    struct key_search search = {.key = key};
    leat_status status = visit_entries(m, compare_key, &search);
    if (status)
        return status;
    int which = key ? !search.found[0] : search.found[1] != 0;
    if (!search.found[which] || (!key && search.found[which] > 1))
        return fail_keys(m, key);
    int code = unzGoToFilePos64(m->archive, &search.at[which]);
    if (!code)
        code = unzGetCurrentFileInfo64(m->archive, &m->about, NULL, 0, NULL, 0, NULL, 0);
    return code ? fail_read(m->name, code) : LEAT_OK;
}

static leat_status check_member(const struct member *m, size_t archive_bytes) {
    const unz_file_info64 *about = &m->about;
    bool stored = about->compression_method == 0;
    if (!stored && about->compression_method != Z_DEFLATED)
        return le_fail(LEAT_FILE, "%s: uses a compression method (%lu) that .npz files do not use", m->name,
                       about->compression_method);
    if (about->flag & FLAG_ENCRYPTED)
        return le_fail(LEAT_FILE, "%s: is encrypted", m->name);
    uint64_t most = stored ? about->compressed_size : about->compressed_size * DEFLATE_MOST + 64;
    if (about->compressed_size > archive_bytes || about->uncompressed_size > most)
        return le_fail(LEAT_FILE, "%s: its array claims %llu bytes, more than the archive can hold", m->name,
                       (unsigned long long)about->uncompressed_size);
    return LEAT_OK;
}

static leat_status read_exactly(const struct member *m, void *target, size_t size_bytes) {
    char *at = target;
    while (size_bytes) {
        int got = unzReadCurrentFile(m->archive, at, size_bytes < CHUNK_BYTES ? (unsigned)size_bytes : CHUNK_BYTES);
        if (got < 0)
            return fail_read(m->name, got);
        if (got == 0)
            return le_fail(LEAT_FILE, "%s: its array ends too early", m->name);
        at += got;
        size_bytes -= (size_t)got;
    }
    return LEAT_OK;
}

/* bytes has room for LE_NPY_HEADER_MAX. */
static leat_status read_header(const struct member *m, uint8_t *bytes, leat_dtype declared,
                               struct le_npy_header *header) {
    size_t first = m->about.uncompressed_size < 12 ? (size_t)m->about.uncompressed_size : 12, header_bytes = 0;
    leat_status status = read_exactly(m, bytes, first);
    if (!status)
        status = le_npy_header_size(m->name, bytes, first, &header_bytes);
    if (!status && header_bytes > m->about.uncompressed_size)
        status = le_fail(LEAT_FILE, "%s: its .npy header claims %zu bytes, but its array has %llu", m->name,
                         header_bytes, (unsigned long long)m->about.uncompressed_size);
    if (!status && header_bytes > first)
        status = read_exactly(m, bytes + first, header_bytes - first);
    if (!status)
        status = le_npy_header_read(m->name, bytes, header_bytes < first ? first : header_bytes, declared, header);
    if (!status && header->data_offset + header->data_bytes != m->about.uncompressed_size)
        status = le_fail(LEAT_FILE, "%s: its .npy header claims %zu bytes of elements, but its array has %llu", m->name,
                         header->data_bytes, (unsigned long long)(m->about.uncompressed_size - header->data_offset));
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
    status = read_exactly(m, made->data, header.data_bytes);
    if (status) {
        le_array_free(made);
        return status;
    }
    le_npy_normalise(&header, made->data);
    *array = made;
    return LEAT_OK;
}

/* Closing compares the checksum. */
static leat_status open_member(struct le_memory_pool *pool, const struct member *m, leat_dtype declared,
                               leat_array **array) {
    uint8_t *bytes = le_alloc(LE_NPY_HEADER_MAX);
    if (!bytes)
        return le_fail_out_of_memory(LE_NPY_HEADER_MAX);
    leat_array *made = NULL;
    int code = unzOpenCurrentFile(m->archive);
    leat_status status = code ? fail_read(m->name, code) : read_member(pool, m, bytes, declared, &made);
    int closed = code ? UNZ_OK : unzCloseCurrentFile(m->archive);
    if (!status && closed)
        status = fail_read(m->name, closed);
    if (status)
        le_array_free(made);
    else
        *array = made;
    le_free(bytes);
    return status;
}

leat_status le_npz_load(struct le_memory_pool *pool, const char *name, const uint8_t *bytes, size_t size_bytes,
                        const char *key, leat_dtype declared, leat_array **array) {
    struct zip_io io = {.bytes = bytes, .length = size_bytes};
    zlib_filefunc64_def functions = functions_of(&io);
    struct member member = {.name = name, .archive = unzOpen2_64(name, &functions)};
    if (!member.archive) /* minizip does not open an archive that has nothing but the directory's end */
        return size_bytes >= 4 && memcmp(bytes, "PK\x05\x06", 4) == 0 ? fail_empty(name)
                                                                      : fail_read(name, UNZ_BADZIPFILE);
    leat_status status = find_member(&member, key);
    if (!status)
        status = check_member(&member, size_bytes);
    if (!status)
        status = open_member(pool, &member, declared, array);
    unzClose(member.archive);
    return status;
}

/* ---- out */

/* An entry of an archive being written. */
struct entry {
    struct le_text name; /* "key.npy" */
    leat_array *dense;
};

static int write_chunks(zipFile archive, const void *bytes, size_t size_bytes) {
    const char *at = bytes;
    int code = ZIP_OK;
    while (size_bytes && !code) {
        unsigned now = size_bytes < CHUNK_BYTES ? (unsigned)size_bytes : CHUNK_BYTES;
        code = zipWriteInFileInZip(archive, at, now);
        at += now;
        size_bytes -= now;
    }
    return code;
}

static int write_entry(zipFile archive, const struct entry *entry) {
    char header[LE_NPY_OUT_MAX];
    const zip_fileinfo about = {.dosDate = DATE_1980};
    size_t header_bytes = le_npy_header_write(entry->dense, false, header), size_bytes = le_array_bytes(entry->dense);
    int code =
        zipOpenNewFileInZip4_64(archive, entry->name.at, &about, NULL, 0, NULL, 0, NULL, 0, 0, 0, -MAX_WBITS,
                                DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, NULL, 0, 0, FLAG_UTF8, size_bytes >= ZIP64_BYTES);
    if (!code)
        code = write_chunks(archive, header, header_bytes);
    if (!code)
        code = write_chunks(archive, entry->dense->data, size_bytes);
    return code ? code : zipCloseFileInZip(archive);
}

static leat_status write_archive(struct zip_io *io, const struct entry *entries, size_t count) {
    zlib_filefunc64_def functions = functions_of(io);
    zipFile archive = zipOpen2_64(io->out.path, APPEND_STATUS_CREATE, NULL, &functions);
    int code = archive ? ZIP_OK : ZIP_INTERNALERROR;
    for (size_t k = 0; k < count && !code; k++)
        code = write_entry(archive, &entries[k]);
    int closed = archive ? zipClose(archive, NULL) : ZIP_OK;
    if (io->status)
        return io->status;
    return code || closed ? le_fail_out_of_memory(0) : LEAT_OK; /* everything else is a failure of io */
}

static leat_status save_entries(const struct entry *entries, size_t count, const char *path,
                                const leat_save_options *options) {
    struct zip_io io = {.status = LEAT_OK};
    leat_status status = le_file_out_open(path, options, &io.out);
    if (status)
        return status;
    if (!io.out.target)
        status = le_fail(LEAT_FILE, "%s: an archive can only be written to a regular file", path);
    else
        status = write_archive(&io, entries, count);
    return le_file_out_close(&io.out, status);
}

static leat_status prepare_entry(struct entry *entry, const leat_named_array *named, const char *path) {
    leat_array *host = NULL;
    le_text_add(&entry->name, "%s.npy", named->name);
    if (entry->name.failed)
        return le_fail_out_of_memory(0);
    if (entry->name.length >= NAME_BYTES)
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
