/* PNG pictures. */
#ifndef LE_PNG_H
#define LE_PNG_H
#include "array/array.h"

/* Loads 8-bit and 16-bit grey as u8 and u16 [h,w], all others as [h,w,3], or [h,w,4] with an alpha channel. */
leat_status le_png_load(struct le_memory_pool *pool, const char *name, const uint8_t *bytes, size_t size_bytes,
                        leat_array **array);
/* Saves u8 and u16 arrays of those shapes unchanged. Any other [h,w] is scaled from its least to its greatest value,
 * and a note gives the range. */
leat_status le_png_save(const leat_array *array, const char *path, const leat_save_options *options);
#endif
