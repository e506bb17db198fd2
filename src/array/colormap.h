/* Maps numbers to colors. */
#ifndef LE_COLORMAP_H
#define LE_COLORMAP_H
#include "array/array.h"

/* Makes u8 pixels, [h,w] for grey or [h,w,3], from a [h,w] array. Its least finite value gets the map's first color,
 * its greatest the last; NaN is black. Writes a note with this range, beginning with name, to the pool's log. */
leat_status le_colormap_apply(const leat_array *array, const char *name, leat_colormap colormap, leat_array **pixels);
#endif
