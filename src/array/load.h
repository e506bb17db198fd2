/* A file of any format that Leat reads or writes: told by its first bytes, or by its ending. Failures to read are
 * LEAT_FILE (or LEAT_OUT_OF_MEMORY), one line that begins with the file's name. */
#ifndef LE_LOAD_H
#define LE_LOAD_H
#include "array/array.h"

leat_status le_array_load(struct le_memory_pool *pool, const char *path, const char *key, leat_dtype declared,
                          leat_array **array);
/* From where a descriptor stands; of an .npy not a byte further than its array reaches. */
leat_status le_array_load_fd(struct le_memory_pool *pool, int fd, const char *name, leat_dtype declared,
                             leat_array **array);
leat_status le_array_load_memory(struct le_memory_pool *pool, const char *name, const void *bytes, size_t size_bytes,
                                 leat_dtype declared, leat_array **array);
leat_status le_array_save(const leat_array *array, const char *path, const leat_save_options *options);
leat_status le_archive_save(const leat_named_array *arrays, size_t count, const char *path,
                            const leat_save_options *options);
#endif
