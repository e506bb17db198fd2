/* Shared by the tests of this folder. */
#ifndef LE_ARRAY_TESTING_H
#define LE_ARRAY_TESTING_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "array/array.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHAPE(...)            ((const int64_t[]){__VA_ARGS__})
#define SAVE_AS(...)          (&(const leat_save_options){__VA_ARGS__})
#define assert_ok(expression) assert_int_equal(expression, LEAT_OK)

static inline struct le_memory_pool *open_pool(void) {
    struct le_pool_options options = {0};
    struct le_memory_pool *pool = NULL;
    assert_ok(le_memory_pool_new(&options, &pool));
    return pool;
}

static inline leat_array *new_array(struct le_memory_pool *pool, leat_dtype dtype, int rank, const int64_t *shape) {
    leat_array *array = NULL;
    assert_ok(le_array_new(pool, dtype, rank, shape, true, &array));
    return array;
}

/* 0, 1, 2, ... in row-major order, as i32. */
static inline leat_array *counted(struct le_memory_pool *pool, int rank, const int64_t *shape) {
    leat_array *array = new_array(pool, LEAT_I32, rank, shape);
    for (size_t k = 0; k < le_array_count(array); k++)
        ((int32_t *)array->data)[k] = (int32_t)k;
    return array;
}

/* Asserts that the last failure's message contains text. */
static inline void assert_message(const char *text) {
    const leat_error *error = le_error_at(0);
    assert_non_null(error);
    if (!strstr(error->message, text))
        fail_msg("\"%s\" is not in \"%s\"", text, error->message);
}

/* Make and remove a new folder, which must be empty when it is removed; path_in returns a path in it. */
static inline void make_folder(char folder[64]) {
    strcpy(folder, "/tmp/leat_test_XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static inline const char *path_in(const char *folder, const char *name) {
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static inline void remove_folder(const char *folder) {
    assert_int_equal(rmdir(folder), 0);
}

static inline void write_file(const char *path, const void *bytes, size_t size_bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size_bytes, file), size_bytes);
    fclose(file);
}
#endif
