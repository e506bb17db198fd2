/* Kernels that compute one value for each point at the speed of memory. This code maps threads to points; the
 * expressions of codegen.h compute a value.
 *
 * The kept indices are sorted in the order in which the target lies in memory. Neighbouring indices that every access
 * walks as one are merged into one *axis*; the last axis is the *inner* one. A thread computes `width` adjacent
 * elements along the inner axis, `unroll` times. It reads all elements of *streams*, the arrays whose addresses it can
 * compute by counting, before it computes, so that many reads are in flight. */
#ifndef LE_MAP_H
#define LE_MAP_H
#include "gen/tree/codegen.h"
#include "gen/mapping/mapping.h"

enum { MAP_AXES_MAX = 16, MAP_STREAMS_MAX = 16, MAP_LOADS_MAX = 12, MAP_THREADS = 256 };
enum { MAP_DEAR_COST = 256 }; /* additions that one thread makes */

struct map_axis {
    int index;
    int64_t count; /* with those of the indices that it covers */
    bool merged, narrow;
};
/* The place of a load or store: elements from the array's first, with all axes at place 0; and by axis. */
struct map_place {
    int64_t start, strides[MAP_AXES_MAX];
    bool known; /* nothing else moves it */
};
/* What loads read that differ by a few elements: rows (along the map's row axis) and columns (along the inner one). */
struct map_stream {
    struct le_node *loads[MAP_LOADS_MAX];
    int row[MAP_LOADS_MAX], column[MAP_LOADS_MAX]; /* beyond the first load's */
    int load_count;
    struct map_place place; /* of the first */
    int row_low, row_high, column_low, column_high;
    int align;  /* columns beyond the first load's place that lie at a multiple of width elements; -1: none do */
    bool along; /* it moves with the inner axis */
    bool tile;  /* read along the row axis, through shared memory */
    struct le_variable *array, *part; /* what was read; part: of wide tiles, what a thread reads of it */
};
enum map_way {
    MAP_FLAT, /* threads take neighbouring places, all axes counted as one */
    MAP_ROWS, /* a block takes 32 * width columns of some rows; threads read neighbouring rows once */
    MAP_TILE  /* a block takes tile_rows rows of tile_columns columns */
};
struct map {
    struct codegen c;
    const struct le_stage *stage;
    enum map_way way;
    struct map_axis axes[MAP_AXES_MAX];
    int axis_count, row;                      /* row: an axis; -1: none */
    int covered[MAP_AXES_MAX], covered_count; /* indices that stay at their low */
    struct map_place target;                  /* not a scatter's */
    struct map_stream streams[MAP_STREAMS_MAX];
    int stream_count;
    int threads;              /* of a block */
    int width, unroll, phase; /* phase: columns of a row's first vector that lie before the row */
    bool safe;                /* what its elements are made of can neither fault nor tell notes */
    bool loose;               /* some is read as it is needed, and only for elements that count */
    bool asks;                /* it reads places that may lie outside */
    bool scatters;            /* its elements go to wherever the stage says */
    bool dear;   /* its threads go on to others' elements, and what is quick for usual numbers is made so */
    bool splits; /* where all elements of a thread count, and all that they read is inside, they are made
                    without a question, and else one by one */
    const struct le_space *inside; /* of splits: where reads are inside; NULL: everywhere */
    int64_t inside_low[MAP_AXES_MAX], inside_high[MAP_AXES_MAX]; /* the same as places along each axis */
    int tile_rows, tile_columns;
    int64_t items;              /* FLAT: threads' parts; else blocks */
    struct le_block *body;      /* what a thread does for its elements */
    struct le_expression *part; /* FLAT: the number of `threads * unroll` items; NULL: the block's, and each thread has
                                   its own */
    /* What a thread knows before it reads. */
    struct le_expression *place[MAP_AXES_MAX];      /* along each axis; NULL: it is in `places` */
    struct le_variable *places[MAP_AXES_MAX];       /* FLAT: arrays, by turn, unless each thread has one element */
    struct le_variable *from, *to;                  /* elements that count, by turn; NULL: 0, all */
    struct le_variable *whole;                      /* whether all do (of splits: and read inside); NULL: not asked */
    struct le_expression *row_start, *column_start; /* TILE: the block's */
    /* What it makes. */
    struct le_variable *made;  /* the elements, as they are stored, by turn */
    struct le_variable *usual; /* of splits: whether what was made the quick way counts; NULL: there is no such way */
    struct le_block *all, *others; /* of splits: where all elements are alike; where each is made by itself */
};
/* Where one of a thread's elements is made. */
struct map_spot {
    struct le_block *turns, *block; /* of the turn; of the element, in it */
    struct le_expression *turn, *element;
};

/* map.c; false: another kernel has to make it */
bool le_map_find(struct map *m, const struct le_device_kernel_job *job, const struct le_stage *stage, bool tiles);
/* A smaller width, and as many turns. */
bool le_map_set(struct map *m, int width, int unroll);
const struct map_axis *le_map_inner(const struct map *m);
int64_t le_map_parts(const struct map *m, int axis); /* of an axis: FLAT: vectors, or places; else blocks */
int le_map_size(const struct map *m, int value);     /* bytes of an element */
int64_t le_map_cost(const struct map *m);            /* additions that an element is worth */
/* Places along the axis from its first to one that is a multiple of `width` elements; -1: rows differ. */
int le_map_to_vector(const struct map *m, int value, const struct map_place *p, int axis, int width);
/* Vectors begin where the target's do, or a scatter's first stream's: sets phase, streams' align, and a width of which
 * there are such. */
void le_map_align(struct map *m);

/* map_tile.c: whether it is to be made in tiles, which is then set */
bool le_map_find_tiles(struct map *m);

/* map_index.c: what a thread knows before it reads */
void le_map_places(struct map *m);
/* Puts the body into a loop over `parts` parts, which the thread blocks share. */
void le_map_open_parts(struct map *m, int64_t parts, enum le_role role);
void le_map_bind(struct map *m, struct le_block *block, int axis, struct le_expression *place);
void le_map_bind_outer(struct map *m, struct le_block *block, struct le_expression *turn); /* but for the inner axis */
struct le_expression *le_map_place(struct map *m, int axis, struct le_expression *turn);
struct le_expression *le_map_axis_number(struct map *m, int axis, const char *what, int64_t value); /* a parameter */
int le_map_pitch(const struct map *m);      /* TILE: elements from a column to the next: odd, so that banks differ */
int le_map_across(const struct map *m);     /* TILE: threads for a row of the tile */
bool le_map_is_simple(const struct map *m); /* a thread has one element, and ends where there is none */

/* map_code.c */
/* Of splits: an element where all are alike, and then, once that is closed, one that is made by itself. */
struct map_spot le_map_open_element(struct map *m, bool alike);
void le_map_close_element(struct map *m, const struct map_spot *s, bool alike);
leat_status le_map_make(const struct le_mapping *mapping, void *found, struct le_generated_launches *out);
#endif
