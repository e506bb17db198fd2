/* Helpers of the fuzzers of file readers. */
#ifndef TESTS_FUZZ_FILES_H
#define TESTS_FUZZ_FILES_H
#include "array/load.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_CAP_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

static inline void require(bool holds) {
    if (!holds)
        abort();
}

static inline struct le_memory_pool *open_pool(void) {
    const struct le_pool_options options = {.memory_cap_bytes = MEMORY_CAP_BYTES};
    struct le_memory_pool *pool = NULL;
    require(le_memory_pool_new(&options, &pool) == LEAT_OK);
    return pool;
}

/* Checks the last failure: it has this code, or is out of memory, or concerns a valid file that Leat does not support.
 * Its message is one line. */
static inline bool fails_well(leat_status code) {
    const leat_error *error = le_error_at(0);
    return error && (error->code == code || error->code == LEAT_OUT_OF_MEMORY || error->code == LEAT_UNSUPPORTED) &&
           *error->message && !strchr(error->message, '\n');
}

/* Reads every element. */
static inline void read_all(const leat_array *array) {
    size_t size_bytes = le_array_bytes(array);
    void *target = malloc(size_bytes ? size_bytes : 1);
    require(target != NULL);
    le_array_read(array, target);
    free(target);
}

static inline leat_status load_file(struct le_memory_pool *pool, const uint8_t *bytes, size_t size_bytes,
                                    leat_dtype declared, leat_array **array) {
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, bytes, size_bytes) == (ssize_t)size_bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    leat_status status = le_array_load(pool, path, NULL, declared, array);
    close(fd);
    return status;
}
#endif
