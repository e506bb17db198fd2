/* .npz: keys, stored and deflated members, refused archives, saving. */
#include "array/array_testing.h"
#include "array/load.h"
#include "array/npy.h"
#include "array/zip_format.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <zlib.h>

/* Members of an archive that a test writes. A deflated one is packed here: le_zip_write_header stores only. */
struct archive {
    char path[100];
    size_t count, size_bytes;
    uint8_t bytes[300000];
    struct {
        char name[32];
        size_t size_bytes, packed_bytes, header;
        uint32_t checksum;
        bool deflated;
    } entries[100];
};

static void put(struct archive *a, uint64_t value, int size_bytes) {
    for (int k = 0; k < size_bytes; k++, value >>= 8)
        a->bytes[a->size_bytes++] = (uint8_t)value;
}

static void put_text(struct archive *a, const char *text) {
    memcpy(a->bytes + a->size_bytes, text, strlen(text));
    a->size_bytes += strlen(text);
}

static void put_common(struct archive *a, size_t k) {
    put(a, 20, 2);
    put(a, 0, 2);
    put(a, a->entries[k].deflated ? LE_ZIP_DEFLATED : LE_ZIP_STORED, 2);
    put(a, 0, 4);
    put(a, a->entries[k].checksum, 4);
    put(a, a->entries[k].packed_bytes, 4);
    put(a, a->entries[k].size_bytes, 4);
    put(a, strlen(a->entries[k].name), 2);
    put(a, 0, 2);
}

static size_t deflated_size(void *target, size_t most, const void *bytes, size_t size_bytes) {
    z_stream stream = {
        .next_in = (Bytef *)bytes, .avail_in = (uInt)size_bytes, .next_out = target, .avail_out = (uInt)most};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return most - stream.avail_out;
}

/* Adds a member with these bytes, deflated or stored. */
static void add(struct archive *a, const char *name, const void *bytes, size_t size_bytes, bool deflated) {
    static uint8_t packed[100000];
    size_t k = a->count++;
    snprintf(a->entries[k].name, sizeof a->entries[k].name, "%s", name);
    a->entries[k].deflated = deflated;
    a->entries[k].checksum = le_zip_checksum(0, bytes, size_bytes);
    a->entries[k].size_bytes = a->entries[k].packed_bytes = size_bytes;
    a->entries[k].header = a->size_bytes;
    if (deflated)
        a->entries[k].packed_bytes = deflated_size(packed, sizeof packed, bytes, size_bytes);
    put_text(a, "PK\3\4");
    put_common(a, k);
    put_text(a, name);
    memcpy(a->bytes + a->size_bytes, deflated ? packed : bytes, a->entries[k].packed_bytes);
    a->size_bytes += a->entries[k].packed_bytes;
}

static struct archive *create(const char *path) {
    static struct archive archive;
    archive.count = archive.size_bytes = 0;
    snprintf(archive.path, sizeof archive.path, "%s", path);
    return &archive;
}

static void close_archive(struct archive *a) {
    size_t directory = a->size_bytes;
    for (size_t k = 0; k < a->count; k++) {
        put_text(a, "PK\1\2");
        put(a, 20, 2);
        put_common(a, k);
        put(a, 0, 2 + 2 + 2 + 4);
        put(a, a->entries[k].header, 4);
        put_text(a, a->entries[k].name);
    }
    size_t length = a->size_bytes - directory;
    put_text(a, "PK\5\6");
    put(a, 0, 4);
    put(a, a->count, 2);
    put(a, a->count, 2);
    put(a, length, 4);
    put(a, directory, 4);
    put(a, 0, 2);
    write_file(a->path, (const char *)a->bytes, a->size_bytes);
}

static leat_status load(struct le_memory_pool *pool, const char *path, const char *key, leat_array **array) {
    return le_array_load(pool, path, key, (leat_dtype)0, array);
}

static void test_keys(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64], path[100];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/a.npz", folder);
    leat_array *a = counted(pool, 2, SHAPE(30, 20)), *b = counted(pool, 1, SHAPE(3)), *back = NULL;
    void *bytes[2];
    size_t size_bytes[2];
    assert_ok(le_npy_save_memory(a, &bytes[0], &size_bytes[0]));
    assert_ok(le_npy_save_memory(b, &bytes[1], &size_bytes[1]));
    for (int deflated = 0; deflated < 2; deflated++) {
        struct archive *archive = create(path);
        add(archive, "elevation.npy", bytes[0], size_bytes[0], deflated);
        add(archive, "b.npy", bytes[1], size_bytes[1], deflated);
        close_archive(archive);
        assert_ok(load(pool, path, "elevation", &back));
        assert_int_equal(back->rank, 2);
        assert_memory_equal(back->data, a->data, le_array_bytes(a));
        le_array_free(back);
        assert_ok(load(pool, path, "b.npy", &back));
        assert_int_equal(back->rank, 1);
        le_array_free(back);
        assert_int_equal(load(pool, path, NULL, &back), LEAT_INVALID);
        assert_message("has 2 arrays; name one of them: elevation, b");
        assert_int_equal(load(pool, path, "elev", &back), LEAT_MISSING);
        assert_message("has no array 'elev'; it has: elevation, b");
    }
    le_free(bytes[0]);
    le_free(bytes[1]);
    le_array_free(a);
    le_array_free(b);
    unlink(path);
    remove_folder(folder);
    le_memory_pool_close(pool);
}

static void test_save(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64];
    make_folder(folder);
    leat_array *a = counted(pool, 2, SHAPE(30, 20)), *turned = NULL, *back = NULL, *dense = NULL;
    assert_ok(le_array_transpose(a, NULL, &turned));
    assert_ok(le_array_save(turned, path_in(folder, "a.npz"), SAVE_AS(.key = "key")));
    assert_ok(load(pool, path_in(folder, "a.npz"), "key", &back));
    assert_ok(le_array_dense(turned, &dense));
    assert_int_equal(back->shape[0], 20);
    assert_memory_equal(back->data, dense->data, le_array_bytes(dense));
    le_array_free(back);
    leat_array *scalar = new_array(pool, LEAT_F64, 0, NULL), *empty = new_array(pool, LEAT_F64, 1, SHAPE(0));
    assert_ok(le_array_save(scalar, path_in(folder, "a.npz"), SAVE_AS(0))); /* replaces the file */
    assert_ok(load(pool, path_in(folder, "a.npz"), NULL, &back));
    assert_int_equal(back->rank, 0);
    le_array_free(back);
    assert_ok(le_array_save(empty, path_in(folder, "a.npz"), SAVE_AS(0)));
    assert_ok(load(pool, path_in(folder, "a.npz"), "array", &back));
    assert_int_equal(back->shape[0], 0);
    le_array_free(back);
    assert_int_equal(le_array_save(a, path_in(folder, "no/a.npz"), SAVE_AS(0)), LEAT_FILE);
    assert_int_equal(le_array_save(a, "/dev/full", SAVE_AS(0)), LEAT_INVALID);
    unlink(path_in(folder, "a.npz"));
    remove_folder(folder);
    le_array_free(a);
    le_array_free(turned);
    le_array_free(dense);
    le_array_free(scalar);
    le_array_free(empty);
    le_memory_pool_close(pool);
}

static void test_save_several(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64], path[100];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/a.npz", folder);
    leat_array *a = counted(pool, 2, SHAPE(3, 4)), *turned = NULL, *dense = NULL, *back = NULL;
    assert_ok(le_array_transpose(a, NULL, &turned));
    assert_ok(le_array_dense(turned, &dense));
    const leat_named_array arrays[] = {{"a", a}, {"turned", turned}, {"again", a}};
    assert_ok(le_archive_save(arrays, 3, path, NULL));
    for (int k = 0; k < 3; k++) {
        assert_ok(load(pool, path, arrays[k].name, &back));
        assert_memory_equal(back->data, k == 1 ? dense->data : a->data, le_array_bytes(a));
        le_array_free(back);
    }
    const leat_named_array twice[] = {{"a", a}, {"b", a}, {"a", turned}};
    assert_int_equal(le_archive_save(twice, 3, path, NULL), LEAT_INVALID);
    assert_message("two arrays named 'a'");
    assert_int_equal(le_archive_save(arrays, 3, path_in(folder, "a.npy"), NULL), LEAT_INVALID);
    assert_ok(load(pool, path, "again", &back)); /* the older member is still there */
    le_array_free(back);
    unlink(path);
    remove_folder(folder);
    le_array_free(a);
    le_array_free(turned);
    le_array_free(dense);
    le_memory_pool_close(pool);
}

static void test_refused(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64], path[100];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/a.npz", folder);
    leat_array *a = new_array(pool, LEAT_U8, 1, SHAPE(50000)), *back = NULL;
    void *bytes;
    size_t size_bytes;
    assert_ok(le_npy_save_memory(a, &bytes, &size_bytes));
    const struct {
        size_t size_bytes;
        const char *message;
    } cuts[] = {{size_bytes - 1, "claims 50000 bytes of elements, but its array has 49999"},
                {40, "header claims 128 bytes"},
                {5, "ends within the .npy header"}};
    for (size_t k = 0; k < ARRAY_LEN(cuts); k++) {
        struct archive *archive = create(path);
        add(archive, "a.npy", bytes, cuts[k].size_bytes, k == 0);
        close_archive(archive);
        assert_int_equal(load(pool, path, NULL, &back), LEAT_FILE);
        assert_message(cuts[k].message);
    }
    struct archive *archive = create(path);
    add(archive, "a.txt", "hello, all of you", 17, false);
    close_archive(archive);
    assert_int_equal(load(pool, path, NULL, &back), LEAT_FILE);
    assert_message("not an .npy file");
    write_file(path, "PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
    assert_int_equal(load(pool, path, NULL, &back), LEAT_FILE);
    assert_message("contains no array");
    write_file(path, "PK\x03\x04 and so on", 14);
    assert_int_equal(load(pool, path, NULL, &back), LEAT_FILE);
    assert_message("a.npz: the archive cannot be read");
    le_free(bytes);
    le_array_free(a);
    unlink(path);
    remove_folder(folder);
    le_memory_pool_close(pool);
}

/* Sizes in the directory that the archive cannot hold are refused before memory for them is allocated. */
static void test_lies(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64], path[100];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/a.npz", folder);
    leat_array *a = counted(pool, 1, SHAPE(4)), *back = NULL;
    assert_ok(le_array_save(a, path, SAVE_AS(0)));
    FILE *file = fopen(path, "rb");
    uint8_t bytes[2000], *entry = NULL;
    size_t size_bytes = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t k = 0; k + 4 < size_bytes; k++)
        if (memcmp(bytes + k, "PK\x01\x02", 4) == 0)
            entry = bytes + k;
    assert_non_null(entry);
    memcpy(entry + 20, "\xff\xff\xff\x7f\xff\xff\xff\x7f", 8); /* compressed and plain size: 2 GB */
    assert_int_equal(le_array_load_memory(pool, "x.npz", bytes, size_bytes, (leat_dtype)0, &back), LEAT_FILE);
    le_array_free(a);
    unlink(path);
    remove_folder(folder);
    le_memory_pool_close(pool);
}

/* An array that was appended again, and another without an ending: the choice is the same as NumPy's. */
static void test_names_twice(void **state) {
    (void)state;
    static char key[65536];
    struct le_memory_pool *pool = open_pool();
    char folder[64], path[100];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/a.npz", folder);
    leat_array *back = NULL;
    void *bytes[3];
    size_t size_bytes[3];
    for (int k = 0; k < 3; k++) {
        leat_array *a = counted(pool, 1, SHAPE(k));
        assert_ok(le_npy_save_memory(a, &bytes[k], &size_bytes[k]));
        le_array_free(a);
    }
    struct archive *archive = create(path);
    add(archive, "a.npy", bytes[0], size_bytes[0], false);
    add(archive, "a.npy", bytes[1], size_bytes[1], false);
    add(archive, "a", bytes[2], size_bytes[2], false);
    close_archive(archive);
    assert_ok(load(pool, path, "a", &back));
    assert_int_equal(back->shape[0], 2);
    le_array_free(back);
    assert_ok(load(pool, path, "a.npy", &back));
    assert_int_equal(back->shape[0], 1);
    memset(key, 'k', sizeof key - 1);
    assert_int_equal(le_array_save(back, path, SAVE_AS(.key = key)), LEAT_INVALID);
    assert_message("the array's name of 65535 bytes is too long for an archive");
    le_array_free(back);
    for (int k = 0; k < 3; k++)
        le_free(bytes[k]);
    unlink(path);
    remove_folder(folder);
    le_memory_pool_close(pool);
}

/* A message lists only some of very many names. Members that are not arrays do not count. */
static void test_many(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64], path[100], name[32];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/a.npz", folder);
    leat_array *a = counted(pool, 1, SHAPE(3)), *back = NULL;
    void *bytes;
    size_t size_bytes;
    assert_ok(le_npy_save_memory(a, &bytes, &size_bytes));
    struct archive *archive = create(path);
    for (int k = 0; k < 100; k++) {
        snprintf(name, sizeof name, "array_%d.npy", k);
        add(archive, name, bytes, size_bytes, false);
    }
    close_archive(archive);
    assert_int_equal(load(pool, path, "x", &back), LEAT_MISSING);
    assert_message("it has: array_0, array_1,");
    assert_message(", array_31, ...");
    archive = create(path); /* one array beside a member that is not one */
    add(archive, "folder/", "", 0, false);
    add(archive, "folder/a.npy", bytes, size_bytes, false);
    add(archive, "readme.txt", "text", 4, false);
    close_archive(archive);
    assert_ok(load(pool, path, NULL, &back));
    assert_int_equal(back->shape[0], 3);
    le_array_free(back);
    le_free(bytes);
    le_array_free(a);
    unlink(path);
    remove_folder(folder);
    le_memory_pool_close(pool);
}

/* The checksum detects a changed byte of the elements. */
static void test_checksum(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64], path[100];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/a.npz", folder);
    leat_array *a = new_array(pool, LEAT_U8, 1, SHAPE(1000)), *back = NULL;
    assert_ok(le_array_save(a, path, SAVE_AS(0)));
    FILE *file = fopen(path, "r+b");
    assert_int_equal(fseek(file, 500, SEEK_SET), 0);
    fputc(1, file);
    fclose(file);
    assert_int_equal(load(pool, path, NULL, &back), LEAT_FILE);
    assert_message("a.npz: the archive cannot be read");
    le_array_free(a);
    unlink(path);
    remove_folder(folder);
    le_memory_pool_close(pool);
}

/* Sizes and offsets of more than 32 bits, in a sparse file: the directory of large entries at its end. */
static void test_wide(void **state) {
    (void)state;
    const uint64_t directory = 12000000000, sizes[] = {5, 9000000000, 7}, headers[] = {0, 100, 9000000300};
    char folder[64], path[100];
    struct le_zip_out_entry out[3];
    struct le_file_out file;
    struct le_zip zip;
    struct le_zip_entry entry;
    uint8_t bytes[1000];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/a.zip", folder);
    assert_ok(le_file_out_open(path, NULL, &file));
    for (int k = 0; k < 3; k++)
        out[k] = (struct le_zip_out_entry){.name = "a", .size_bytes = sizes[k], .header = headers[k]};
    assert_ok(le_file_out_close(&file, le_zip_write_directory(&file, out, sizeof *out, 3, directory)));
    FILE *written = fopen(path, "rb");
    size_t length = fread(bytes, 1, sizeof bytes, written);
    fclose(written);
    int fd = open(path, O_RDWR | O_TRUNC);
    assert_int_equal(pwrite(fd, bytes, length, (off_t)directory), length);
    uint8_t *all = mmap(NULL, directory + length, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    assert_true(all != MAP_FAILED);
    assert_true(le_zip_open(all, directory + length, &zip));
    assert_int_equal(zip.directory, directory);
    uint64_t at = zip.directory;
    for (int k = 0; k < 3; k++) {
        assert_true(le_zip_next(&zip, &at, &entry));
        assert_int_equal(entry.size_bytes, sizes[k]);
        assert_int_equal(entry.packed_bytes, sizes[k]);
        assert_int_equal(entry.header, headers[k]);
    }
    assert_int_equal(at, zip.directory_end);
    munmap(all, directory + length);
    close(fd);
    unlink(path);
    remove_folder(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),        cmocka_unit_test(test_save), cmocka_unit_test(test_save_several),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_lies), cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_names_twice), cmocka_unit_test(test_many), cmocka_unit_test(test_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
