/* Shared by the files of the `reuse` mapping: a thread block computes the reductions of a tile of points, and keeps
 * what their terms read in shared memory while it serves all rows or all columns of the tile (reuse.cu). */
#ifndef LE_REUSE_H
#define LE_REUSE_H
#include "gen/mapping/group_reduce.h"

enum { LEAVES_MAX = 4, PARTS_MAX = 4, REUSE_THREADS = 256, REUSE_TABLE = 256 };

/* Indices that run as one. */
struct reuse_loop {
    int at[POINTS_MAX];
    int count;
    int64_t total;
};
/* One side of the tile: its lines are the values of these indices. A *leaf* is a part of the terms that depends on this
 * side, but not on the other one; its values are kept in shared memory. */
struct reuse_side {
    struct reuse_loop lines;
    struct le_node *leaves[LEAVES_MAX];
    int leaf_count;
    bool by_terms; /* neighbours in memory differ in the term, not in the line */
    int parts;     /* numbers that say where a value is: the most of its leaves */
};
/* What says where the value of a line and a term is: numbers that are sums of what the line and what the term add. The
 * first is the element's offset along the axes whose subscripts are in range, or all; the others are subscripts that
 * an edge mode applies to. If terms add few different numbers to subscripts that are filled, one set of bits takes
 * their place: a line has the bits of the numbers that lead outside from there, and a term those that it adds. Of other
 * leaves: the line and the term. */
struct reuse_place {
    bool is_sum;
    bool whole;    /* the offset is that along all axes: where a subscript is out of range, nothing is read there */
    bool masked;   /* a set of bits takes the place of the subscripts */
    unsigned axes; /* in range: a set of bits */
    int edges[LEAT_RANK_MAX], edge_count;
    int64_t least[LEAT_RANK_MAX], counts[LEAT_RANK_MAX]; /* of each of the edges: the numbers that terms add */
};
struct reuse {
    struct codegen c;
    struct team_stage t; /* one group, no rest */
    struct reuse_side rows, columns;
    struct reuse_loop batch;
    bool table; /* finding a term takes divisions: shared memory keeps where the next terms are */
    bool wide;  /* an int cannot say where some value is */
};
/* The settings: threads along the columns; points of a thread along rows and columns; terms that are kept at a time. */
struct reuse_tile {
    int across, rows, columns, depth;
};
struct reuse_work {
    double operations, outside; /* additions of a term, without what is computed when it is put into shared memory; of
                                 * a point, besides its terms */
    double bytes;               /* that are read */
};

/* reuse_find.c: splits the points' indices into rows, columns and batch, and finds the leaves; false: it does not fit
 */
bool le_reuse_find(struct reuse *r);
/* split_index.c: the stage with indices split that subscripts divide by known numbers; NULL: there are none. space: is
 * set to the kernel's, with the ranges of the new indices */
const struct le_stage *le_split_indices(struct codegen *c, const struct le_stage *stage, struct le_space *space);
struct reuse_place le_reuse_place(const struct reuse *r, const struct reuse_side *side, const struct le_node *leaf);
/* reuse_tile.c: what has room, and how long it takes */
int le_reuse_levels(const struct group *g);       /* of the tree of units; -1: no sum with reuse */
int le_reuse_down(const struct reuse_tile *tile); /* threads along the rows */
int64_t le_reuse_tiles(const struct reuse_side *side, int lines);
int64_t le_reuse_blocks(const struct reuse *r, const struct reuse_tile *tile);
int le_reuse_resident(const struct reuse *r,
                      const struct reuse_tile *tile); /* thread blocks that are to fit on a multiprocessor */
bool le_reuse_has_room(const struct reuse *r, const struct reuse_tile *tile); /* in registers and shared memory */
struct reuse_work le_reuse_work(struct reuse *r);
double le_reuse_seconds(const struct reuse *r, const struct reuse_tile *tile, const struct reuse_work *work);
/* The fastest tile, and its time; across 0: none has room. */
struct reuse_tile le_reuse_best_tile(const struct reuse *r, const struct reuse_work *work, double *seconds);
#endif
