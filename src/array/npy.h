/* The .npy format: versions 1 to 3 in, version 1 out. */
#ifndef LE_NPY_H
#define LE_NPY_H
#include "array/array.h"
#include "array/file.h"

#define LE_NPY_HEADER_MAX 65536 /* bytes before the elements that we read at most; NumPy's own limit is 10,000 */

struct le_npy_header {
    leat_dtype dtype;
    int rank;
    int64_t shape[LEAT_RANK_MAX];
    int64_t strides[LEAT_RANK_MAX];
    bool fortran, swapped; /* swapped: the elements are of the other byte order */
    size_t data_offset;    /* where the elements begin */
    size_t data_bytes;     /* and what they take */
};
/* Reads the header in the first size_bytes bytes. name: the file's, for messages. declared: 0, or the program's type.
 */
leat_status le_npy_header_read(const char *name, const uint8_t *bytes, size_t size_bytes, leat_dtype declared,
                               struct le_npy_header *header);
/* The size of all before the elements, from the first size_bytes (12 are enough) bytes of a file. */
leat_status le_npy_header_size(const char *name, const uint8_t *bytes, size_t size_bytes, size_t *header_bytes);

/* The whole file in memory; its elements are copied. */
leat_status le_npy_load(struct le_memory_pool *pool, const char *name, const uint8_t *bytes, size_t size_bytes,
                        leat_dtype declared, leat_array **array);
/* A file of which the head was read. Elements are used in place, mapped, or read right into the array; no element is
 * read before the header was checked. */
leat_status le_npy_load_file(struct le_memory_pool *pool, const struct le_file_in *in, leat_dtype declared,
                             leat_array **array);
/* Elements that were read as they are in the file: the machine's byte order, bools 0 or 1. */
void le_npy_normalise(const struct le_npy_header *header, void *data);

/* The header that goes before the elements of a dense array: row-major, or column-major if fortran. */
#define LE_NPY_OUT_MAX 512
size_t le_npy_header_write(const leat_array *array, bool fortran, char header[LE_NPY_OUT_MAX]);
leat_status le_npy_save(const leat_array *array, const char *path, const leat_save_options *options);
leat_status le_npy_save_memory(const leat_array *array, void **bytes, size_t *size_bytes); /* from le_alloc */
#endif
