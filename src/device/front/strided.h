/* Copies between two layouts in host memory, and axes put in order for any copy. Not of arrays: of extents, strides and
 * addresses. Any thread. */
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
/* Drops extents of 1, sorts by the target's strides, makes those positive (the first elements move), and joins axes
 * that run on in both. */
void le_axes_collapse(struct le_axes *axes, int64_t *target_offset, int64_t *source_offset);
int64_t le_axes_count(const struct le_axes *axes); /* elements */
/* The sides do not overlap. */
void le_strided_copy(const struct le_axes *axes, char *target, const char *source);
/* Where both sides are one dense run: bytes past the cache, which is faster for a target much larger than it. */
bool le_strided_is_run(const struct le_axes *axes);
void le_copy_past_cache(char *target, const char *source, size_t size_bytes);
/* Bytes that are not 0 become 1: any other is no bool to a machine. */
void le_strided_normalize_bools(const struct le_axes *axes, char *target);
#endif
