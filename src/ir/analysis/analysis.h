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

int64_t le_layout_elements(const struct le_layout *layout, int rank); /* INT64_MAX: or more */

/* places.c: the place of a load or store */
struct le_place {
    const struct le_layout *layout;
    struct le_node *const *subscripts;
    int rank, stretch; /* stretch: as of a LOAD */
};
static inline struct le_place le_load_place(const struct le_layout *layouts, const struct le_node *load) {
    return (struct le_place){&layouts[load->value], load->operands, load->operand_count, load->stretch};
}
static inline struct le_place le_store_place(const struct le_layout *layouts, const struct le_stage *stage,
                                             const struct le_node *region, const struct le_region_step *store) {
    return (struct le_place){&layouts[stage->pairs[store->target].target], region->operands + store->first_subscript,
                             store->subscript_count, 0};
}
bool le_place_is_stretched(const struct le_place *place, int d); /* axis d has one element, whatever the subscript */
/* Whether the subscript of axis d, or all of them, stay inside, whatever the indices are. */
bool le_axis_is_safe(const struct le_space *space, const struct le_place *place, int d);
bool le_place_is_safe(const struct le_space *space, const struct le_place *place);
/* What axis d adds to the place, in elements. The numbers wrap, as addresses do: a factor may be enormous where its
 * index never moves. false: it is not affine. */
bool le_axis_elements(const struct le_space *space, const struct le_place *place, int d, struct le_affine *out);
/* Elements from one value of index to the next; false: not affine. */
bool le_place_stride(const struct le_space *space, const struct le_place *place, int index, int64_t *stride);
static inline int64_t le_wrapping_product(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* safety.c: how code is made, for what may be computed where nothing asks for it */
struct le_safety {
    const struct le_ir *ir;
    const struct le_space *space; /* the indices' ranges where code is made: what a read may touch there */
    const struct le_layout *layouts;
    struct le_node_notes *notes;
    int epoch;        /* of what the notes say of values and of safety */
    const int *loose; /* sorted: indices whose bounds may differ from lane to lane; what they reach is not known */
    int loose_count;
    bool edges_move;  /* a read with an edge mode is moved inside before anything is read */
    bool notes_count; /* notes are for what runs alone */
    bool steps_fault; /* a step may turn out not to be positive */
};
/* It can neither fault nor go on for ever, nor tell notes that count. */
bool le_node_is_safe(const struct le_safety *safety, const struct le_node *node);
bool le_load_is_safe(const struct le_safety *safety, const struct le_node *load);
bool le_depends_on_loose(const struct le_safety *safety, const struct le_node *node);
bool le_node_may_note(const struct le_node *node); /* an integer's divisor may be 0, or its exponent negative */
void le_sort_indices(int *indices, int count);
bool le_index_is_among(const int *sorted, int count, int index);

/* merge_loops.c: whether two loops, one inside the other, may run as one of the inner one's index: each access that
 * moves with them goes as far in a step of the outer one as in inner_count steps of the inner one. */
struct le_merging {
    const struct le_safety *code; /* how it is made */
    const struct le_stage *stage;
    int epoch; /* in the notes */
    int outer, inner;
    int64_t inner_count;
    bool loops;   /* reductions and regions inside may move with them */
    bool gathers; /* and accesses whose places are not counted */
    /* Whether an access's place is counted as the loops run. live: as of a LOAD */
    bool (*is_counted)(const void *user, const struct le_place *place, bool trusted, bool live);
    const void *user;
};
bool le_loops_merge(struct le_merging *merging, struct le_node *const *nodes, int count);
bool le_place_merges(const struct le_merging *merging, const struct le_place *place, bool trusted,
                     bool live); /* after that */

/* reduction_terms.c */
uint64_t le_empty_total_bits(enum le_reduction code, enum le_type type); /* of no terms of the type */
/* Whether node is a sum or product of floats over fixed ranges that makes so many terms at most, of so many additions
 * together, which may be computed anywhere. */
bool le_is_short(const struct le_safety *safety, const struct le_node *node, int64_t terms_most, int64_t cost_most);
/* The terms of such a reduction as one expression, in the order of a sum's tree. */
struct le_node *le_written_out(struct le_ir *ir, const struct le_space *space, const struct le_node *reduction);

/* stage_work.c */
int64_t le_points(const struct le_space *space, const int *indices, int count);        /* INT64_MAX: or more */
bool le_ranges_are_fixed(const struct le_space *space, const int *indices, int count); /* none is dynamic */
/* Its range is dynamic, but all bounds are known before the kernel starts. */
bool le_index_by_host(const struct le_space *space, int index);
int64_t le_index_extent(const struct le_space *space, int index); /* values; 64 for unknown bounds */
/* Of one evaluation of a node, in additions: what the walk of that epoch has not met yet. */
int64_t le_new_cost(struct le_node_notes *notes, const struct le_node *node, int epoch);
/* Of a whole stage, whose nodes are given. */
struct le_work {
    int64_t time;                  /* in additions */
    int64_t operations, additions; /* arithmetic alone, one each; each as the additions that take as long */
};
struct le_work le_work_of(const struct le_ir *ir, const struct le_space *space, const struct le_stage *stage,
                          struct le_node *const *nodes, int count);
#endif
