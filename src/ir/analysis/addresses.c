/* See analysis.h: the addresses of loads and stores. */
#include "ir/analysis/analysis.h"

int64_t le_layout_elements(const struct le_layout *layout, int rank) {
    int64_t count = 1;
    for (int d = 0; d < rank; d++)
        if (!le_mul_i64(count, layout->shape[d], &count))
            return INT64_MAX;
    return count;
}

bool le_address_is_stretched(const struct le_address *address, int d) {
    return d < address->stretch && address->layout->shape[d] == 1;
}

bool le_axis_is_safe(const struct le_space *space, const struct le_address *address, int d) {
    int64_t low, high;
    return le_address_is_stretched(address, d) ||
           (le_interval(space, address->subscripts[d], &low, &high) && low >= 0 && high < address->layout->shape[d]);
}

bool le_address_is_safe(const struct le_space *space, const struct le_address *address) {
    for (int d = 0; d < address->rank; d++)
        if (!le_axis_is_safe(space, address, d))
            return false;
    return true;
}

bool le_axis_elements(const struct le_space *space, const struct le_address *address, int d, struct le_affine *out) {
    int64_t stride = address->layout->strides[d];
    *out = (struct le_affine){.count = 0};
    if (le_address_is_stretched(address, d))
        return true;
    if (!le_affine_of(space, address->subscripts[d], out))
        return false;
    out->constant = le_wrapping_product(out->constant, stride);
    for (int k = 0; k < out->count; k++)
        out->factor[k] = le_wrapping_product(out->factor[k], stride);
    return true;
}

bool le_address_stride(const struct le_space *space, const struct le_address *address, int index, int64_t *stride) {
    *stride = 0;
    for (int d = 0; d < address->rank; d++) {
        struct le_affine f;
        if (!le_node_depends(address->subscripts[d], index))
            continue;
        if (!le_axis_elements(space, address, d, &f))
            return false;
        for (int k = 0; k < f.count; k++)
            if (f.index[k] == index)
                *stride += f.factor[k];
    }
    return true;
}
