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

bool le_factor_pair_find(const struct le_ir *ir, const struct le_node *sum, const struct le_term *term,
                         struct le_factor_pair *best) {
    struct le_index_set whole = le_set_of(ir, sum);
    le_set_add(ir, &whole, sum->indices, sum->index_count);
    *best = (struct le_factor_pair){.most = whole.count};
    for (int a = 0; a < term->count; a++)
        for (int b = a + 1; b < term->count; b++) {
            struct le_factor_pair p = pair_of(ir, sum, term, a, b);
            if (p.summed.count && p.summed.count < sum->index_count &&
                (p.most < best->most || (p.most == best->most && best->summed.count && p.least < best->least)))
                *best = p;
        }
    return best->summed.count > 0 && !whole.too_many;
}
