/* Numbers as colours. */
#ifndef LE_COLORMAP_H
#define LE_COLORMAP_H
#include "array/array.h"

/* u8 pixels of a [h,w] array, [h,w] or [h,w,3]: its least finite value is the map's first colour, its greatest the
 * last, NaN black. Notes that range, beginning with name, in the pool's log. */
leat_status le_colormap_apply(const leat_array *array, const char *name, leat_colormap colormap, leat_array **pixels);
#endif
