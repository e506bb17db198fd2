/* .npz: keys, stored and deflated members, refused archives, saving. */
#include "array/array_testing.h"
#include "array/load.h"
#include "array/npy.h"
#include <minizip/zip.h>

/* Adds a member with these bytes, deflated or stored. */
static void add(zipFile archive, const char *name, const void *bytes, size_t size_bytes, bool deflated) {
    assert_int_equal(zipOpenNewFileInZip(archive, name, NULL, NULL, 0, NULL, 0, NULL, deflated ? Z_DEFLATED : 0, 6), 0);
    assert_int_equal(zipWriteInFileInZip(archive, bytes, (unsigned)size_bytes), 0);
    assert_int_equal(zipCloseFileInZip(archive), 0);
}

static zipFile create(const char *path) {
    zipFile archive = zipOpen(path, APPEND_STATUS_CREATE);
    assert_non_null(archive);
    return archive;
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
        zipFile archive = create(path);
        add(archive, "elevation.npy", bytes[0], size_bytes[0], deflated);
        add(archive, "b.npy", bytes[1], size_bytes[1], deflated);
        assert_int_equal(zipClose(archive, NULL), 0);
        assert_ok(load(pool, path, "elevation", &back));
        assert_int_equal(back->rank, 2);
        assert_memory_equal(back->data, a->data, le_array_bytes(a));
        le_array_free(back);
        assert_ok(load(pool, path, "b.npy", &back));
        assert_int_equal(back->rank, 1);
        le_array_free(back);
        assert_int_equal(load(pool, path, NULL, &back), LEAT_FILE);
        assert_message("has 2 arrays; name one of them: elevation, b");
        assert_int_equal(load(pool, path, "elev", &back), LEAT_FILE);
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
    assert_int_equal(le_array_save(a, "/dev/full", SAVE_AS(0)), LEAT_FILE);
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
    assert_int_equal(le_archive_save(arrays, 3, path_in(folder, "a.npy"), NULL), LEAT_FILE);
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
        zipFile archive = create(path);
        add(archive, "a.npy", bytes, cuts[k].size_bytes, k == 0);
        assert_int_equal(zipClose(archive, NULL), 0);
        assert_int_equal(load(pool, path, NULL, &back), LEAT_FILE);
        assert_message(cuts[k].message);
    }
    zipFile archive = create(path);
    add(archive, "a.txt", "hello, all of you", 17, false);
    assert_int_equal(zipClose(archive, NULL), 0);
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
    zipFile archive = create(path);
    add(archive, "a.npy", bytes[0], size_bytes[0], false);
    add(archive, "a.npy", bytes[1], size_bytes[1], false);
    add(archive, "a", bytes[2], size_bytes[2], false);
    assert_int_equal(zipClose(archive, NULL), 0);
    assert_ok(load(pool, path, "a", &back));
    assert_int_equal(back->shape[0], 2);
    le_array_free(back);
    assert_ok(load(pool, path, "a.npy", &back));
    assert_int_equal(back->shape[0], 1);
    memset(key, 'k', sizeof key - 1);
    assert_int_equal(le_array_save(back, path, SAVE_AS(.key = key)), LEAT_FILE);
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
    zipFile archive = create(path);
    for (int k = 0; k < 100; k++) {
        snprintf(name, sizeof name, "array_%d.npy", k);
        add(archive, name, bytes, size_bytes, false);
    }
    assert_int_equal(zipClose(archive, NULL), 0);
    assert_int_equal(load(pool, path, "x", &back), LEAT_FILE);
    assert_message("it has: array_0, array_1,");
    assert_message(", array_31, ...");
    archive = create(path); /* one array beside a member that is not one */
    add(archive, "folder/", "", 0, false);
    add(archive, "folder/a.npy", bytes, size_bytes, false);
    add(archive, "readme.txt", "text", 4, false);
    assert_int_equal(zipClose(archive, NULL), 0);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),        cmocka_unit_test(test_save), cmocka_unit_test(test_save_several),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_lies), cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_names_twice), cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
