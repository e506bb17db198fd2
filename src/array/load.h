/* Loads and saves files in any format that Leat supports, recognized by their first bytes or their ending. Failures to
 * read are LEAT_FILE (or LEAT_OUT_OF_MEMORY), one line that begins with the file's name. */
#ifndef LE_LOAD_H
#define LE_LOAD_H
#include "array/array.h"

leat_status le_array_load(struct le_memory_pool *pool, const char *path, const char *key, leat_dtype declared,
                          leat_array **array);
/* Loads from the current offset of a descriptor. No byte after the array of an .npy is read. */
leat_status le_array_load_fd(struct le_memory_pool *pool, int fd, const char *name, leat_dtype declared,
                             leat_array **array);
leat_status le_array_load_memory(struct le_memory_pool *pool, const char *name, const void *bytes, size_t size_bytes,
                                 leat_dtype declared, leat_array **array);
leat_status le_array_save(const leat_array *array, const char *path, const leat_save_options *options);
leat_status le_archive_save(const leat_named_array *arrays, size_t count, const char *path,
                            const leat_save_options *options);
#endif
