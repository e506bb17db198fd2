/* What every generator asks about a program with the numbers of one run: where accesses lie, what may be computed
 * early, which loops run as one, which sums are short, and how much work a stage is. */
#ifndef LE_ANALYSIS_H
#define LE_ANALYSIS_H
#include "ir/analysis/node_notes.h"
#include "ir/ranges.h"

/* Where a value's elements lie: element [i,j] at offset + i * strides[0] + j * strides[1]. */
struct le_layout {
    int64_t shape[LEAT_RANK_MAX], strides[LEAT_RANK_MAX], offset; /* in elements */
};

int64_t le_layout_elements(const struct le_layout *layout, int rank); /* their number; INT64_MAX: or more */

/* addresses.c: the address of a load or store: the array's layout and the subscripts */
struct le_address {
    const struct le_layout *layout;
    struct le_node *const *subscripts;
    int rank, stretch; /* stretch: as of a LOAD */
};
static inline struct le_address le_load_address(const struct le_layout *layouts, const struct le_node *load) {
    return (struct le_address){&layouts[load->value], load->operands, load->operand_count, load->stretch};
}
static inline struct le_address le_store_address(const struct le_layout *layouts, const struct le_stage *stage,
                                                 const struct le_node *region, const struct le_region_step *store) {
    return (struct le_address){&layouts[stage->pairs[store->target].target], region->operands + store->first_subscript,
                               store->subscript_count, 0};
}
bool le_address_is_stretched(const struct le_address *address,
                             int d); /* axis d has one element, whatever the subscript */
/* Whether the subscript of axis d (or every subscript) is in range for all values of the indices. */
bool le_axis_is_safe(const struct le_space *space, const struct le_address *address, int d);
bool le_address_is_safe(const struct le_space *space, const struct le_address *address);
/* The offset that axis d adds, in elements, as an affine expression. false: it is not affine. Factors wrap, as
 * addresses do, because the factor of an index with one value may be huge. */
bool le_axis_elements(const struct le_space *space, const struct le_address *address, int d, struct le_affine *out);
/* The distance in elements between neighbouring values of the index; false: the access is not affine. */
bool le_address_stride(const struct le_space *space, const struct le_address *address, int index, int64_t *stride);
static inline int64_t le_wrapping_product(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* safety.c: whether a node may be computed where its value may not be needed. The fields describe the generator that
 * asks. */
struct le_safety {
    const struct le_ir *ir;
    const struct le_space *space; /* the ranges of the indices in the code that is generated now */
    const struct le_layout *layouts;
    struct le_node_notes *notes;
    int epoch;        /* notes of values and of safety from other epochs are void */
    const int *loose; /* sorted: indices whose bounds may differ from lane to lane, so that their values are unknown */
    int loose_count;
    bool edges_move;  /* a read with an edge mode is moved inside before anything is read */
    bool notes_count; /* a note must come only from code whose value is needed */
    bool steps_fault; /* a step that is not positive is a fault */
    /* It asks about a part of a subscript. The ranges depend on the numbers that are read there, and so does the plan.
     * Elsewhere, code must not depend on them. */
    bool in_subscript;
};
/* The node cannot fault, always ends, and gives no note that counts. */
bool le_node_is_safe(const struct le_safety *safety, const struct le_node *node);
bool le_load_is_safe(const struct le_safety *safety, const struct le_node *load);
bool le_depends_on_loose(const struct le_safety *safety, const struct le_node *node);
/* Whether an integer's divisor may be 0, or its exponent negative. */
bool le_node_may_note(const struct le_safety *safety, const struct le_node *node);
void le_sort_indices(int *indices, int count);
bool le_index_is_among(const int *sorted, int count, int index);

/* merge_loops.c: whether two nested loops may run as one loop of the inner index. They may if every access that depends
 * on them moves as far in one step of the outer loop as in inner_count steps of the inner one. */
struct le_merging {
    const struct le_safety *code; /* the generator that asks */
    const struct le_stage *stage;
    int epoch; /* in the notes */
    int outer, inner;
    int64_t inner_count;
    bool loops;   /* reductions and regions may depend on the two indices */
    bool gathers; /* so may accesses whose addresses the loops do not count */
    /* Whether the loops count the access's address, so that it must be linear. live: as in a LOAD */
    bool (*is_counted)(const void *user, const struct le_address *address, bool trusted, bool live);
    const void *user;
};
bool le_loops_merge(struct le_merging *merging, struct le_node *const *nodes, int count);
/* The same for one more access, after le_loops_merge. */
bool le_address_merges(const struct le_merging *merging, const struct le_address *address, bool trusted, bool live);

/* reduction_terms.c */
uint64_t le_empty_total_bits(enum le_reduction code, enum le_type type); /* the total of no terms of that type */
/* Whether the node is a sum or product of floats that may be computed anywhere, with fixed ranges, at most terms_most
 * terms, and at most the cost of cost_most additions. */
bool le_is_short(const struct le_safety *safety, const struct le_node *node, int64_t terms_most, int64_t cost_most);
/* The same for a reduction whose terms may come in any order, such as a minimum or a sum of integers. */
bool le_is_short_in_any_order(const struct le_safety *safety, const struct le_node *node, int64_t terms_most,
                              int64_t cost_most);
/* The terms of such reductions as one expression, in the order of a sum's tree. */
struct le_node *le_written_out(struct le_ir *ir, const struct le_space *space, const struct le_node *reduction);

/* stage_work.c */
int64_t le_points(const struct le_space *space, const int *indices, int count);        /* INT64_MAX: or more */
bool le_ranges_are_fixed(const struct le_space *space, const int *indices, int count); /* none is dynamic */
/* Whether the index's range is dynamic, but its bounds are known before the kernel starts. */
bool le_index_by_host(const struct le_space *space, int index);
/* Whether its bounds say something about how many values it has, though each point may have other ones. */
bool le_index_is_bounded(const struct le_space *space, int index);
/* Number of its values; of bounds that depend on the point, on average; 64 for unknown bounds. */
int64_t le_index_extent(const struct le_space *space, int index);
/* The cost of one evaluation of the node, in additions. Nodes that were met in the epoch before cost nothing. */
int64_t le_new_cost(struct le_node_notes *notes, const struct le_node *node, int epoch);
/* The work of all points of a stage. */
struct le_work {
    int64_t time;       /* of everything, in additions */
    int64_t operations; /* number of arithmetic operations */
    int64_t additions;  /* time of these, in additions */
};
struct le_work le_work_of(const struct le_ir *ir, const struct le_space *space, const struct le_stage *stage,
                          struct le_node *const *nodes, int count);
#endif
