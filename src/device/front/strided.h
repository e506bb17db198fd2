/* Copies between two layouts in host memory, and canonical axes for any copy. Works on extents, strides and addresses,
 * not on arrays. Any thread. */
#ifndef LE_STRIDED_H
#define LE_STRIDED_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#define LE_AXES_MAX 8
/* Axes of a copy, outermost first; strides in bytes. Every extent is at least 1. */
struct le_axes {
    int rank;
    size_t size; /* of one element: 1, 2, 4, 8, 16 */
    int64_t extent[LE_AXES_MAX], target[LE_AXES_MAX], source[LE_AXES_MAX];
};
/* Drops axes of extent 1, sorts the rest by the target's strides, makes those positive (which moves the offsets of the
 * first elements), and merges axes that are contiguous on both sides. */
void le_axes_collapse(struct le_axes *axes, int64_t *target_offset, int64_t *source_offset);
int64_t le_axes_count(const struct le_axes *axes); /* elements */
/* Target and source must not overlap. */
void le_strided_copy(const struct le_axes *axes, char *target, const char *source);
/* Whether both sides are one dense run. Then le_copy_past_cache may copy the bytes past the cache, which is faster if
 * the target is much larger than the cache. */
bool le_strided_is_run(const struct le_axes *axes);
void le_copy_past_cache(char *target, const char *source, size_t size_bytes);
/* Turns nonzero bytes into 1: hardware and compilers expect bools to be 0 or 1. */
void le_strided_normalize_bools(const struct le_axes *axes, char *target);
#endif
