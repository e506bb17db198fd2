/* The .npy format: reads versions 1 to 3 and writes version 1. */
#ifndef LE_NPY_H
#define LE_NPY_H
#include "array/array.h"
#include "array/file.h"

#define LE_NPY_HEADER_MAX 65536 /* limit in bytes; NumPy's own limit is 10,000 */

struct le_npy_header {
    leat_dtype dtype;
    int rank;
    int64_t shape[LEAT_RANK_MAX];
    int64_t strides[LEAT_RANK_MAX];
    bool fortran, swapped; /* swapped: the elements have the other byte order */
    size_t data_offset;    /* of the elements in the file */
    size_t data_bytes;     /* size of the elements */
};
/* Parses the header in the first size_bytes bytes. name: of the file, for messages. declared: the program's type, or 0.
 */
leat_status le_npy_header_read(const char *name, const uint8_t *bytes, size_t size_bytes, leat_dtype declared,
                               struct le_npy_header *header);
/* The number of bytes before the elements, from the first size_bytes bytes of a file; 12 are enough. */
leat_status le_npy_header_size(const char *name, const uint8_t *bytes, size_t size_bytes, size_t *header_bytes);

/* Loads from a whole file in memory; the elements are copied. */
leat_status le_npy_load(struct le_memory_pool *pool, const char *name, const uint8_t *bytes, size_t size_bytes,
                        leat_dtype declared, leat_array **array);
/* Loads from a file of which the head was read. Elements are mapped and used in place, or read directly into the array,
 * but only after the header has been checked. */
leat_status le_npy_load_file(struct le_memory_pool *pool, const struct le_file_in *in, leat_dtype declared,
                             leat_array **array);
/* Normalizes elements that were read from the file: to the machine's byte order, and bools to 0 or 1. */
void le_npy_normalise(const struct le_npy_header *header, void *data);

/* Writes the header for a dense array: row-major, or column-major if fortran. Returns its length. */
#define LE_NPY_OUT_MAX 512
size_t le_npy_header_write(const leat_array *array, bool fortran, char header[LE_NPY_OUT_MAX]);
leat_status le_npy_save(const leat_array *array, const char *path, const leat_save_options *options);
leat_status le_npy_save_memory(const leat_array *array, void **bytes, size_t *size_bytes); /* allocated with le_alloc */
#endif
