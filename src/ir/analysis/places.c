/* Where accesses lie. */
#include "ir/analysis/analysis.h"

static bool is_stretched(const struct le_layout *layout, int d, int stretch) {
    return d < stretch && layout->shape[d] == 1;
}

int64_t le_layout_elements(const struct le_layout *layout, int rank) {
    int64_t count = 1;
    for (int d = 0; d < rank; d++)
        if (!le_mul_i64(count, layout->shape[d], &count))
            return INT64_MAX;
    return count;
}

bool le_axis_is_safe(const struct le_space *space, const struct le_layout *layout, struct le_node *subscript, int d,
                     int stretch) {
    int64_t low, high;
    if (is_stretched(layout, d, stretch))
        return true;
    return le_interval(space, subscript, &low, &high) && low >= 0 && high < layout->shape[d];
}
