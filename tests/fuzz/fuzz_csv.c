/* Fuzzes the reader of tables, with commas and tabs, with and without a declared type. Every table that it accepts is
 * written and read again, and must be the same. */
#include "fuzz_files.h"
#include "array/csv.h"
#include "array/file.h"

static void check_again(struct le_memory_pool *pool, const leat_array *array, char delimiter) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/leat_fuzz_%ld.csv", (long)getpid());
    require(le_csv_save(array, path, delimiter, NULL) == LEAT_OK);
    struct le_file_in in;
    struct le_file_bytes file;
    require(le_file_in_open(path, &in) == LEAT_OK && le_file_in_all(&in, &file) == LEAT_OK);
    le_file_in_finish(&in);
    unlink(path);
    leat_array *again = NULL;
    require(le_csv_load(pool, "again.csv", file.at, file.size_bytes, delimiter, array->dtype, &again) == LEAT_OK);
    require(le_array_count(again) == le_array_count(array) && again->dtype == array->dtype);
    size_t element_bytes = leat_dtype_size_bytes(array->dtype);
    for (size_t k = 0; k < le_array_count(array); k++) {
        const char *a = (const char *)array->data + k * element_bytes, *b = (const char *)again->data;
        double value = le_real_element(array->dtype, a); /* NaN has many bit patterns */
        require(value != value || memcmp(a, b + k * element_bytes, element_bytes) == 0);
    }
    le_array_free(again);
    le_file_bytes_finish(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes) {
    static const leat_dtype TYPES[] = {0, LEAT_BOOL, LEAT_U8, LEAT_I64, LEAT_U64, LEAT_F16, LEAT_F32, LEAT_F64};
    struct le_memory_pool *pool = open_pool();
    char delimiter = size_bytes % 2 ? ',' : '\t';
    leat_array *array = NULL;
    leat_dtype declared = TYPES[size_bytes / 2 % (sizeof TYPES / sizeof *TYPES)];
    if (le_csv_load(pool, "fuzz.csv", bytes, size_bytes, delimiter, declared, &array) == LEAT_OK)
        check_again(pool, array, delimiter);
    else
        require(fails_well(LEAT_FILE));
    le_array_free(array);
    le_memory_pool_close(pool);
    return 0;
}
