/* The interior of a kernel: the box of index values for which all its reads are in range. */
#include "gen/kernel.h"

struct box_narrowing {
    const struct le_kernel *kernel;
    struct le_box *box;
};

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Narrows the box along one kept index, so that the subscript is in range for all values of the other indices. */
static void narrow_axis(struct box_narrowing *n, const struct le_affine *f, int64_t length) {
    const struct le_stage *stage = n->kernel->stage;
    for (int k = 0; k < stage->index_count; k++) {
        int64_t c = 0;
        __int128 lo = f->constant, hi = f->constant;
        for (int q = 0; q < f->count; q++) {
            const struct le_range *r = le_range_of(n->kernel->space, f->index[q]);
            if (f->index[q] == stage->indices[k]) {
                c = f->factor[q];
                continue;
            }
            if ((r->dynamic && !r->bounded) || r->high <= r->low)
                return;
            __int128 a = (__int128)f->factor[q] * r->low, b = (__int128)f->factor[q] * le_range_last(r);
            lo += a < b ? a : b;
            hi += a < b ? b : a;
        }
        if (c == 0 || lo < INT64_MIN / 4 || hi > INT64_MAX / 4)
            continue;
        int64_t low = c > 0 ? -floor_div((int64_t)lo, c) : -floor_div(length - 1 - (int64_t)hi, -c);
        int64_t high = c > 0 ? floor_div(length - 1 - (int64_t)hi, c) + 1 : floor_div((int64_t)lo, -c) + 1;
        if (low > n->box->low[k])
            n->box->low[k] = low;
        if (high < n->box->high[k])
            n->box->high[k] = high;
        return; /* narrowing one index suffices */
    }
}

static void narrow_load(struct le_node *node, void *user) {
    struct box_narrowing *n = user;
    if (node->kind != LE_NODE_LOAD || node->trusted)
        return;
    const struct le_address address = le_load_address(n->kernel->layouts, node);
    for (int d = 0; d < address.rank; d++) {
        struct le_affine f;
        if (!le_axis_is_safe(n->kernel->space, &address, d) && le_affine_of(n->kernel->space, node->operands[d], &f))
            narrow_axis(n, &f, address.layout->shape[d]);
    }
}

bool le_kernel_interior(const struct le_kernel *kernel, struct le_box *whole, struct le_box *interior) {
    const struct le_stage *stage = kernel->stage;
    bool split = false;
    if (stage->index_count > 16)
        return false;
    for (int k = 0; k < stage->index_count; k++) {
        const struct le_range *r = le_range_of(kernel->space, stage->indices[k]);
        whole->low[k] = r->low;
        whole->high[k] = r->high;
    }
    *interior = *whole;
    struct box_narrowing n = {.kernel = kernel, .box = interior};
    le_node_walk(kernel->ir, stage->node, narrow_load, &n);
    for (int k = 0; k < stage->index_count; k++) {
        const struct le_range *r = le_range_of(kernel->space, stage->indices[k]);
        if (r->dynamic || r->by != 1) {
            interior->low[k] = whole->low[k];
            interior->high[k] = whole->high[k];
        }
        if (interior->low[k] >= interior->high[k])
            return false; /* all border */
        split |= interior->low[k] != whole->low[k] || interior->high[k] != whole->high[k];
    }
    return split;
}

void le_space_narrow_to(struct le_space *space, const struct le_kernel *kernel, const struct le_box *box) {
    for (int k = 0; k < kernel->stage->index_count; k++) {
        int index = kernel->stage->indices[k];
        struct le_range range = *le_range_of(kernel->space, index);
        range.low = box->low[k];
        range.high = box->high[k];
        if (!range.dynamic)
            le_space_narrow(space, kernel->arena, index, range);
    }
}
