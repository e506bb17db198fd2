/* See factor_pairs.h. The choice depends on the program's text alone, because extents are not known yet. */
#include "ir/passes/factor_pairs.h"

static struct le_factor_pair pair_of(const struct le_ir *ir, const struct le_node *sum, const struct le_term *term,
                                     int first, int second) {
    struct le_factor_pair p = {.first = first, .second = second};
    struct le_index_set both = le_set_of(ir, term->factors[first]), others = {.count = 0};
    struct le_index_set more = le_set_of(ir, term->factors[second]);
    le_set_join(ir, &both, &more);
    for (int k = 0; k < term->count; k++) {
        struct le_index_set set = le_set_of(ir, term->factors[k]);
        if (k != first && k != second)
            le_set_join(ir, &others, &set);
    }
    for (int k = 0; k < sum->index_count; k++)
        if (le_set_has(&both, sum->indices[k]) && !le_set_has(&others, sum->indices[k]))
            le_set_add(ir, &p.summed, &sum->indices[k], 1);
    struct le_index_set rest = le_set_without(ir, &both, &p.summed);
    le_set_join(ir, &others, &rest);
    p.most = both.count > others.count ? both.count : others.count;
    p.least = both.count + others.count - p.most;
    return p;
}

/* Whether the product of the two is worth a stage of its own: it has an index less than the whole sum has, and so has what
 * is left, or is summed as a matrix product and is not larger than another factor, which is read anyway. */
static bool is_worth(const struct le_ir *ir, const struct le_term *term, const struct le_factor_pair *p, int whole) {
    const struct le_index_set a = le_set_of(ir, term->factors[p->first]), b = le_set_of(ir, term->factors[p->second]);
    struct le_index_set both = a;
    le_set_join(ir, &both, &b);
    const struct le_index_set product = le_set_without(ir, &both, &p->summed);
    bool is_covered = false;
    for (int k = 0; k < term->count; k++) {
        const struct le_index_set other = le_set_of(ir, term->factors[k]);
        is_covered |= k != p->first && k != p->second && le_set_is_within(&product, &other);
    }
    return p->most < whole || (is_covered && a.count < whole && b.count < whole);
}

bool le_factor_pair_find(const struct le_ir *ir, const struct le_node *sum, const struct le_term *term,
                         struct le_factor_pair *best) {
    struct le_index_set whole = le_set_of(ir, sum);
    le_set_add(ir, &whole, sum->indices, sum->index_count);
    *best = (struct le_factor_pair){.most = whole.count + 1};
    for (int a = 0; a < term->count; a++)
        for (int b = a + 1; b < term->count; b++) {
            struct le_factor_pair p = pair_of(ir, sum, term, a, b);
            if (p.summed.count && p.summed.count < sum->index_count && is_worth(ir, term, &p, whole.count) &&
                (p.most < best->most || (p.most == best->most && p.least < best->least)))
                *best = p;
        }
    return best->summed.count > 0 && !whole.too_many;
}
