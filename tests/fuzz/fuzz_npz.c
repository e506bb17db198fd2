/* Fuzzes the .npz reader, without a key and with one of two keys. */
#include "fuzz_files.h"
#include "array/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes) {
    static const char *const keys[] = {NULL, "a", "elevation"};
    struct le_memory_pool *pool = open_pool();
    for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
        leat_array *array = NULL;
        if (le_npz_load(pool, "fuzz.npz", bytes, size_bytes, keys[k], LEAT_BF16, &array) == LEAT_OK)
            read_all(array);
        else
            require(fails_well(LEAT_FILE) || fails_well(keys[k] ? LEAT_MISSING : LEAT_INVALID));
        le_array_free(array);
    }
    le_memory_pool_close(pool);
    return 0;
}
