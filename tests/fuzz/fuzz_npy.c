/* Fuzzes the .npy reader, from memory and from a mapped file. Every array that it accepts is written and read again,
 * and must be the same. */
#include "fuzz_files.h"
#include "array/npy.h"

static void check_again(struct le_memory_pool *pool, const leat_array *array) {
    void *bytes, *again_bytes;
    size_t size_bytes, again_size_bytes;
    leat_array *again;
    require(le_npy_save_memory(array, &bytes, &size_bytes) == LEAT_OK);
    require(le_array_load_memory(pool, "again", bytes, size_bytes, array->dtype, &again) == LEAT_OK);
    require(le_npy_save_memory(again, &again_bytes, &again_size_bytes) == LEAT_OK);
    require(size_bytes == again_size_bytes && memcmp(bytes, again_bytes, size_bytes) == 0);
    le_free(bytes);
    le_free(again_bytes);
    le_array_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes) {
    struct le_memory_pool *pool = open_pool();
    leat_dtype declared = size_bytes % 2 ? LEAT_BF16 : (leat_dtype)0;
    leat_array *array = NULL, *mapped = NULL;
    bool loaded = le_npy_load(pool, "fuzz.npy", bytes, size_bytes, declared, &array) == LEAT_OK;
    require(loaded || fails_well(LEAT_FILE));
    require((load_file(pool, bytes, size_bytes, declared, &mapped) == LEAT_OK) == loaded);
    if (loaded) {
        check_again(pool, array);
        check_again(pool, mapped);
    }
    le_array_free(array);
    le_array_free(mapped);
    le_memory_pool_close(pool);
    return 0;
}
