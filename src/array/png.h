/* PNG pictures. */
#ifndef LE_PNG_H
#define LE_PNG_H
#include "array/array.h"

/* Grey of 8 and 16 bits as u8 and u16 [h,w]; all else as [h,w,3], or [h,w,4] with an alpha channel. */
leat_status le_png_load(struct le_memory_pool *pool, const char *name, const uint8_t *bytes, size_t size_bytes,
                        leat_array **array);
/* u8 and u16 of those shapes as they are; another [h,w] scaled from its least to its greatest, which is noted. */
leat_status le_png_save(const leat_array *array, const char *path, const leat_save_options *options);
#endif
