/* Scans: what their mappings share. A scan of many threads is made by a team. A lane takes groups of 16 terms. */
#ifndef LE_SCAN_GROUP_H
#define LE_SCAN_GROUP_H
#include "gen/mapping/group_reduce.h"

enum {
    SCAN_GROUP = 16,
    SCAN_TILE_BYTES = 65536 /* of terms, unless their order wants more */
};

/* The elements that have terms. The stage has the kept indices alone: the scan's index is a loop along each row. */
struct scan_stage {
    const struct le_device_kernel_job *job;
    const struct le_stage *stage;
    const struct le_scan *scan;
};

struct scan_team {
    struct codegen *c;
    const struct le_scan *scan;
    enum le_mapping_kind kind;
    struct group g; /* its terms are those of the turns */
    int points_at[POINTS_MAX], points_count;
    int64_t points, head; /* head: terms of it */
    enum le_type type;    /* of the terms */
    bool is_arg, ordered, across;
    int slot, out_width;         /* bytes; as g.width, of what is written */
    int threads, groups;         /* of a block; of a tile */
    int warps, lanes;            /* that share a column's groups; that have a row of few terms */
    int counting, result;        /* the types of a term's number and of what the totals give */
    struct le_expression *count; /* of the turns */
    struct le_variable *some, *one, *of, *put, *put_one; /* functions */
};
static inline size_t le_scan_tile_bytes(const struct scan_team *s) {
    return (size_t)s->groups * SCAN_GROUP * (size_t)s->slot;
}

/* scan_group.c; found: the struct scan_team */
leat_status le_scan_make_columns(const struct le_mapping *m, void *found, struct le_generated_launches *out);
leat_status le_scan_make_lanes(const struct le_mapping *m, void *found, struct le_generated_launches *out);
leat_status le_scan_make_block(const struct le_mapping *m, void *found, struct le_generated_launches *out);
leat_status le_scan_make_tiles(const struct le_mapping *m, void *found, struct le_generated_launches *out);
/* scan_loop.c; found: the struct scan_stage */
leat_status le_scan_make_loop(const struct le_mapping *m, void *found, struct le_generated_launches *out);
#endif
