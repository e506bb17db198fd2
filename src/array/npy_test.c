/* .npy: valid and malformed files, and saving, of which a failure leaves nothing behind. */
#include "array/array_testing.h"
#include "array/load.h"
#include "array/npy.h"
#include "spec/type.h"
#include <sys/stat.h>

#define FILE_MAX 4096

/* Makes an .npy file with this version and header, and data_bytes bytes 0, 1, 2, ... */
static size_t make_file(uint8_t *file, int version, const char *header, size_t data_bytes) {
    size_t base = version > 1 ? 12 : 10, length = strlen(header) + 1;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (uint8_t)version;
    file[7] = 0;
    file[8] = (uint8_t)(length & 255);
    file[9] = (uint8_t)(length >> 8);
    if (version > 1)
        file[10] = file[11] = 0;
    memcpy(file + base, header, length - 1);
    file[base + length - 1] = '\n';
    for (size_t k = 0; k < data_bytes; k++)
        file[base + length + k] = (uint8_t)k;
    return base + length + data_bytes;
}

static leat_status load(struct le_memory_pool *pool, int version, const char *header, size_t data_bytes,
                        leat_dtype declared, leat_array **array) {
    uint8_t file[FILE_MAX];
    size_t size_bytes = make_file(file, version, header, data_bytes);
    return le_array_load_memory(pool, "x.npy", file, size_bytes, declared, array);
}

static void test_headers(void **state) {
    static const char *const headers[] = {
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3)}",
        "{\"shape\":(2,3),\"descr\":\"<i2\",\"fortran_order\":False}",
        "  { 'descr' : '<i2' , 'fortran_order' : False , 'shape' : ( 2L , 3L , ) , }   ",
        "{'descr': '=i2', 'fortran_order': False, 'shape': (2, 3), }",
    };
    (void)state;
    struct le_memory_pool *pool = open_pool();
    for (size_t k = 0; k < ARRAY_LEN(headers); k++)
        for (int version = 1; version <= 3; version++)
            for (size_t trailing = 0; trailing < 3; trailing++) {
                leat_array *array = NULL;
                assert_ok(load(pool, version, headers[k], 12 + trailing, (leat_dtype)0, &array));
                assert_int_equal(array->dtype, LEAT_I16);
                assert_int_equal(array->rank, 2);
                assert_int_equal(array->shape[0], 2);
                assert_int_equal(((int16_t *)array->data)[5], 0x0b0a);
                le_array_free(array);
            }
    le_memory_pool_close(pool);
}

static const struct {
    const char *header;
    size_t data_bytes;
    const char *message;
} refused[] = {
    {"", 8, "it is not a dict"},
    {"{}", 8, "missing"},
    {"{'descr': '<f8', 'fortran_order': False, }", 8, "missing"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}", 8, "unknown or repeated"},
    {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", 8, "repeated"},
    {"{'descr': '<f8' 'fortran_order': False, 'shape': (1,)}", 8, "not a dict"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x", 8, "after the dict"},
    {"{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}", 8, "neither True nor False"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': 1}", 8, "not a tuple"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1)}", 8, "not a tuple"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1 1)}", 8, "not a tuple"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1.5,)}", 8, "not a tuple"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,", 8, "not a tuple"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", 8, "negative"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", 8, "too large"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 8, "too large"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296)}", 8, "too large"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 8, "9 axes; at most 8 are supported"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1250000000,)}", 8,
     "claims 10000000000 bytes of elements, but it has 8"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", 15, "claims 16 bytes of elements, but it has 15"},
    {"{'descr': '<f8, 'fortran_order': False, 'shape': (1,)}", 8, "are not supported"},
    {"{'descr': <f8, 'fortran_order': False, 'shape': (1,)}", 8, "'descr' is not a string"},
    {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", 8, "structures"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8, "Python objects"},
    {"{'descr': '<c4', 'fortran_order': False, 'shape': (1,)}", 8, "type '<c4'"},
    {"{'descr': '<c161', 'fortran_order': False, 'shape': (1,)}", 8, "elements of type '<c161' are not supported"},
    {"{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}", 15, "claims 16 bytes of elements, but it has 15"},
    {"{'descr': '<U5', 'fortran_order': False, 'shape': (1,)}", 20, "(strings) are not supported"},
    {"{'descr': '|S5', 'fortran_order': False, 'shape': (1,)}", 20, "(strings) are not supported"},
    {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,)}", 20, "dates or times"},
    {"{'descr': '<V2', 'fortran_order': False, 'shape': (1,)}", 2, "(two plain bytes) are not supported"},
    {"{'descr': '|V7', 'fortran_order': False, 'shape': (1,)}", 7, "raw bytes"},
    {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}", 16, "elements of type '<f16' are not supported"},
    {"{'descr': '<f3', 'fortran_order': False, 'shape': (1,)}", 3, "elements of type '<f3' are not supported"},
    {"{'descr': '', 'fortran_order': False, 'shape': (1,)}", 3, "elements of type '' are not supported"},
};

static void test_refused(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    leat_array *array = NULL;
    for (size_t k = 0; k < ARRAY_LEN(refused); k++)
        for (int version = 1; version <= 3; version++) {
            assert_int_equal(load(pool, version, refused[k].header, refused[k].data_bytes, (leat_dtype)0, &array),
                             LEAT_FILE);
            assert_message("x.npy: ");
            assert_message(refused[k].message);
        }
    assert_null(array);
    le_memory_pool_close(pool);
}

/* Every truncated file is refused, and so are other versions and headers longer than the file. */
static void test_cut(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    leat_array *array = NULL;
    uint8_t file[FILE_MAX];
    size_t size_bytes = make_file(file, 2, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", 16);
    for (size_t cut = 0; cut < size_bytes; cut++)
        assert_int_equal(le_array_load_memory(pool, "x.npy", file, cut, (leat_dtype)0, &array), LEAT_FILE);
    file[10] = 1;
    assert_int_equal(le_array_load_memory(pool, "x.npy", file, size_bytes, (leat_dtype)0, &array), LEAT_FILE);
    assert_message("claims 65594 bytes, more than");
    file[10] = 0;
    file[9] = 9;
    assert_int_equal(le_array_load_memory(pool, "x.npy", file, size_bytes, (leat_dtype)0, &array), LEAT_FILE);
    assert_message("but the file has");
    file[6] = 4;
    assert_int_equal(le_array_load_memory(pool, "x.npy", file, size_bytes, (leat_dtype)0, &array), LEAT_FILE);
    assert_message("version 4.0");
    file[0] = 0;
    assert_int_equal(le_array_load_memory(pool, "x.npy", file, size_bytes, (leat_dtype)0, &array), LEAT_FILE);
    assert_message("is not an .npy, .npz or PNG file");
    assert_int_equal(le_array_load_memory(pool, "x.npy", file, 0, (leat_dtype)0, &array), LEAT_FILE);
    assert_message("is empty");
    le_memory_pool_close(pool);
}

static void test_orders(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    leat_array *array = NULL;
    assert_ok(load(pool, 1, "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3), }", 24, (leat_dtype)0, &array));
    assert_int_equal(array->strides[0], 1);
    assert_int_equal(array->strides[1], 2);
    assert_int_equal(((int32_t *)array->data)[1], 0x04050607);
    le_array_free(array);
    assert_ok(load(pool, 1, "{'descr': '|V2', 'fortran_order': False, 'shape': (), }", 2, LEAT_BF16, &array));
    assert_int_equal(array->dtype, LEAT_BF16);
    assert_int_equal(array->rank, 0);
    le_array_free(array);
    assert_ok(load(pool, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 5), }", 0, LEAT_BF16, &array));
    assert_int_equal(array->dtype, LEAT_F32);
    le_array_free(array);
    assert_ok(load(pool, 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }", 4, (leat_dtype)0, &array));
    assert_memory_equal(array->data, "\0\1\1\1", 4);
    le_array_free(array);
    le_memory_pool_close(pool);
}

/* Through memory and through a file, every type, with several layouts. */
static void test_round_trips(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64];
    make_folder(folder);
    for (int dtype = LEAT_BOOL; dtype <= LEAT_C128; dtype++)
        for (int turned = 0; turned < 3; turned++) {
            leat_array *base = new_array(pool, (leat_dtype)dtype, 3, SHAPE(3, 50, 70)), *array = NULL, *back = NULL;
            for (size_t k = 0; k < le_array_bytes(base); k++)
                ((uint8_t *)base->data)[k] = dtype == LEAT_BOOL ? k % 3 == 0 : (uint8_t)(k * 7);
            assert_ok(le_array_transpose(base,
                                         turned == 2 ? (const int[]){1, 0, 2}
                                         : turned    ? NULL
                                                     : (const int[]){0, 1, 2},
                                         &array));
            size_t size_bytes = le_array_bytes(array);
            void *bytes, *left = malloc(size_bytes), *right = malloc(size_bytes);
            le_array_read(array, left);
            assert_ok(le_array_save(array, path_in(folder, "a.npy"), SAVE_AS(0)));
            assert_ok(le_array_load(pool, path_in(folder, "a.npy"), NULL, (leat_dtype)dtype, &back));
            assert_int_equal(back->dtype, dtype);
            assert_int_equal(back->read_only, size_bytes > 65536);
            le_array_read(back, right);
            assert_memory_equal(left, right, size_bytes);
            le_array_free(back);
            assert_ok(le_npy_save_memory(array, &bytes, &size_bytes));
            assert_int_equal(size_bytes % 64, le_array_bytes(array) % 64);
            assert_ok(le_array_load_memory(pool, "memory", bytes, size_bytes, (leat_dtype)dtype, &back));
            le_array_read(back, right);
            assert_memory_equal(left, right, le_array_bytes(array));
            le_array_free(back);
            le_free(bytes);
            free(left);
            free(right);
            le_array_free(array);
            le_array_free(base);
        }
    unlink(path_in(folder, "a.npy"));
    remove_folder(folder);
    le_memory_pool_close(pool);
}

/* A mapped array outlives its file's name and the pool's owner. */
static void test_mapping(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64];
    make_folder(folder);
    leat_array *array = counted(pool, 1, SHAPE(100000)), *mapped = NULL;
    assert_ok(le_npy_save(array, path_in(folder, "a.npy"), NULL));
    assert_ok(le_array_load(pool, path_in(folder, "a.npy"), NULL, (leat_dtype)0, &mapped));
    assert_int_equal(mapped->buffer->kind, LE_BUFFER_MAPPED);
    ((int32_t *)array->data)[5] = -5;
    assert_ok(le_npy_save(array, path_in(folder, "a.npy"), NULL)); /* the old file is unchanged */
    unlink(path_in(folder, "a.npy"));
    le_array_free(array);
    le_memory_pool_close(pool);
    assert_int_equal(((int32_t *)mapped->data)[5], 5);
    le_array_free(mapped);
    remove_folder(folder);
}

/* Elements that are not aligned for their type, and bools other than 0 and 1, are copied. */
static void test_mapping_refused(void **state) {
    static uint8_t file[70000 + 200];
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64];
    leat_array *array = NULL;
    make_folder(folder);
    size_t size_bytes = make_file(file, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (8750,), }   ", 70000);
    assert_int_not_equal((size_bytes - 70000) % 8, 0);
    write_file(path_in(folder, "a.npy"), file, size_bytes);
    assert_ok(le_array_load(pool, path_in(folder, "a.npy"), NULL, (leat_dtype)0, &array));
    assert_int_equal(array->buffer->kind, LE_BUFFER_POOL);
    assert_memory_equal(array->data, file + size_bytes - 70000, 70000);
    le_array_free(array);
    size_bytes = make_file(file, 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (70000,), }", 70000);
    write_file(path_in(folder, "a.npy"), file, size_bytes);
    assert_ok(le_array_load(pool, path_in(folder, "a.npy"), NULL, (leat_dtype)0, &array));
    assert_int_equal(((uint8_t *)array->data)[3], 1);
    le_array_free(array);
    unlink(path_in(folder, "a.npy"));
    remove_folder(folder);
    le_memory_pool_close(pool);
}

static void test_paths(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64], other[200];
    make_folder(folder);
    leat_array *array = counted(pool, 1, SHAPE(10)), *back = NULL;
    assert_int_equal(le_array_load(pool, path_in(folder, "none.npy"), NULL, (leat_dtype)0, &back), LEAT_FILE);
    assert_message("/none.npy: No such file");
    assert_int_equal(le_array_load(pool, folder, NULL, (leat_dtype)0, &back), LEAT_FILE);
    assert_message("is a folder");
    assert_int_equal(le_array_save(array, path_in(folder, "no/a.npy"), SAVE_AS(0)), LEAT_FILE);
    assert_message("/no/a.npy: the folder does not exist");
    assert_int_equal(le_array_save(array, path_in(folder, "a.txt"), SAVE_AS(0)), LEAT_INVALID);
    assert_message("unknown file ending");
    assert_int_equal(le_array_save(array, path_in(folder, "a.npy"), SAVE_AS(.key = "key")), LEAT_INVALID);
    assert_int_equal(le_array_save(array, folder, SAVE_AS(0)), LEAT_INVALID);
    assert_ok(le_npy_save(array, "/dev/null", NULL));
    /* through a link: the file that it names is replaced and keeps its mode */
    snprintf(other, sizeof other, "%s/b.npy", folder);
    write_file(other, "old", 3);
    assert_int_equal(chmod(other, 0640), 0);
    assert_int_equal(symlink("b.npy", path_in(folder, "a.npy")), 0);
    assert_ok(le_npy_save(array, path_in(folder, "a.npy"), NULL));
    struct stat about;
    assert_int_equal(lstat(path_in(folder, "a.npy"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(other, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_ok(le_array_load(pool, path_in(folder, "a.npy"), NULL, (leat_dtype)0, &back));
    le_array_free(back);
    unlink(path_in(folder, "a.npy"));
    unlink(other);
    remove_folder(folder); /* nothing else was left */
    le_array_free(array);
    le_memory_pool_close(pool);
}

/* Links to files that do not exist yet, and links to themselves. */
static void test_dangling(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64], link[200];
    make_folder(folder);
    leat_array *array = counted(pool, 1, SHAPE(10));
    assert_int_equal(mkdir(path_in(folder, "there"), 0755), 0);
    snprintf(link, sizeof link, "%s/a.npy", folder);
    assert_int_equal(symlink("there/b.npy", link), 0);
    assert_int_equal(symlink("../c.npy", path_in(folder, "there/b.npy")), 0);
    struct stat about;
    for (int k = 0; k < 2; k++) { /* the second time the file exists */
        assert_ok(le_npy_save(array, link, NULL));
        assert_int_equal(lstat(link, &about), 0);
        assert_true(S_ISLNK(about.st_mode));
        assert_int_equal(lstat(path_in(folder, "there/b.npy"), &about), 0);
        assert_true(S_ISLNK(about.st_mode));
        assert_int_equal(lstat(path_in(folder, "c.npy"), &about), 0);
        assert_true(S_ISREG(about.st_mode));
    }
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink(path_in(folder, "d.npy"), link), 0);
    assert_ok(le_npy_save(array, link, NULL));
    assert_int_equal(unlink(path_in(folder, "d.npy")), 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("a.npy", link), 0);
    assert_int_equal(le_npy_save(array, link, NULL), LEAT_FILE);
    assert_message("/a.npy: Too many levels of symbolic links");
    unlink(link);
    unlink(path_in(folder, "c.npy"));
    unlink(path_in(folder, "there/b.npy"));
    remove_folder(path_in(folder, "there"));
    remove_folder(folder); /* nothing else was left */
    le_array_free(array);
    le_memory_pool_close(pool);
}

/* A write-protected file stays, although its folder would allow replacing it. Root may write everything. */
static void test_protected(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64];
    make_folder(folder);
    leat_array *array = counted(pool, 1, SHAPE(10));
    bool is_root = geteuid() == 0;
    write_file(path_in(folder, "a.npy"), "old", 3);
    assert_int_equal(chmod(path_in(folder, "a.npy"), 0444), 0);
    if (is_root) {
        assert_int_equal(chmod(folder, 0777), 0);
        assert_int_equal(seteuid(65534), 0);
    }
    leat_status status = le_npy_save(array, path_in(folder, "a.npy"), NULL);
    if (is_root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(status, LEAT_FILE);
    assert_message("/a.npy: Permission denied");
    struct stat about;
    assert_int_equal(stat(path_in(folder, "a.npy"), &about), 0);
    assert_int_equal(about.st_size, 3);
    unlink(path_in(folder, "a.npy"));
    remove_folder(folder);
    le_array_free(array);
    le_memory_pool_close(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),   cmocka_unit_test(test_refused),         cmocka_unit_test(test_cut),
        cmocka_unit_test(test_orders),    cmocka_unit_test(test_round_trips),     cmocka_unit_test(test_mapping),
        cmocka_unit_test(test_paths),     cmocka_unit_test(test_mapping_refused), cmocka_unit_test(test_dangling),
        cmocka_unit_test(test_protected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
