/* .npz: a zip archive of .npy files. */
#ifndef LE_NPZ_H
#define LE_NPZ_H
#include "array/array.h"

/* Loads the array named key (NULL: the only one) from an archive in memory; its elements are copied. */
leat_status le_npz_load(struct le_memory_pool *pool, const char *name, const uint8_t *bytes, size_t size_bytes,
                        const char *key, leat_dtype declared, leat_array **array);
/* Writes a new, uncompressed archive with these arrays; count is at least 1. options: leat_save_options; NULL: the
 * defaults. */
leat_status le_npz_save(const leat_named_array *arrays, size_t count, const char *path,
                        const leat_save_options *options);
#endif
