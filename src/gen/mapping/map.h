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

enum { MAP_AXES_MAX = 16, MAP_STREAMS_MAX = 16, MAP_LOADS_MAX = 128, MAP_THREADS = 256 };
enum { MAP_ROWS_DOWN = 8 }; /* ROWS: threads below each other that follow each other, where rows are wide */
enum { MAP_SHIFT_MAX = 8 }; /* elements between reads that share what they read */
enum { MAP_RESULTS_MAX = 1 + LE_ALSO_MAX };
enum { MAP_DEAR_COST = 256, MAP_WINDOW_COST = 2048 }; /* cost of one thread's work, in additions; with windows */

struct map_axis {
    int index;
    int64_t count; /* values along the axis, those of merged indices included */
    bool merged, narrow;
};
/* Where a load or store is: its offset in elements where all axes are at position 0, and its stride along each axis. */
struct map_place {
    int64_t start, strides[MAP_AXES_MAX];
    bool known; /* it depends on nothing but the axes */
};
/* Real and imaginary parts that lie side by side, which vectors contain in turn. */
struct map_pair {
    int other; /* the number of the stream or result with the other part; -1: there is none */
    bool imaginary;
};
/* One of the stages that the kernel computes. */
struct map_result {
    const struct le_stage *stage;
    struct map_place place;   /* of its target; undefined for a scatter */
    struct le_variable *made; /* the computed elements as they are stored: [iteration, element of the vector] */
    struct map_pair pair;
};
/* Loads of one array that are a few elements apart: some rows, `pitch` elements each, and some columns, an element
 * each. Neighbouring positions along the row axis are `row_step` rows apart, those along the inner axis `step` columns.
 */
struct map_stream {
    struct le_node *loads[MAP_LOADS_MAX];
    int row[MAP_LOADS_MAX], column[MAP_LOADS_MAX]; /* distance from the first load's element */
    int load_count;
    struct map_place place; /* of the first load */
    int64_t pitch;
    int row_columns; /* ROWS: columns from one row's elements to the next row's, if these lie in one row of the array */
    int row_step, step; /* row_step: only ROWS. step 0: elements of neighbouring positions are not side by side */
    int row_low, row_high, column_low, column_high;
    int row_dimension, column_dimension; /* the array's axes along which rows and columns lie; -1: none, or not known */
    int align; /* distance in columns from the first load's element to an aligned vector; -1: vectors are not aligned */
    bool along;                       /* it depends on the inner axis */
    struct map_pair pair;             /* one array has what both streams read */
    bool tile;                        /* read along the row axis and transposed in shared memory */
    struct le_variable *array, *part; /* the elements read; part: the thread's vectors of a tile, if it has any */
};
/* A load of a vector that lies along `axis` of the array, in a row that its other subscripts choose (map_gather.c). */
struct map_gather {
    struct le_node *load;
    int axis;
};
/* A load in the terms of a window (map_window.c): columns lie along the inner axis and the walk's last index, rows
 * along the row axis and the index before it, or the last one. */
struct map_slide {
    struct le_node *load;
    int across, down;                            /* the indices of the reduction; -1: none */
    int of_element, of_across, of_turn, of_down; /* columns and rows from one value to the next */
    struct le_variable *array;                   /* the elements read */
};
enum {
    MAP_WALKS_MAX = 8,
    MAP_WALK_NODES = 4,
    MAP_WALK_ROWS = 16,
    MAP_FIXED_MAX = 8,
    MAP_OTHERS_MAX = 8,
    MAP_SLIDES_MAX = 8
};
/* Reductions of windows over the same indices, which are computed together. */
struct map_walk {
    struct le_node *nodes[MAP_WALK_NODES];
    int node_count;
    struct map_slide slides[MAP_SLIDES_MAX];
    int slide_count;
    struct le_node *fixed[MAP_FIXED_MAX]; /* in the terms, but the same for all of an element's */
    struct le_variable *fixed_made[MAP_FIXED_MAX];
    int fixed_count;
    struct le_node *others[MAP_OTHERS_MAX]; /* loads in the terms that are no slides, but differ between elements */
    int other_count;
    bool has_more;                                                      /* others, or that cannot be checked */
    struct le_variable *totals[MAP_WALK_NODES], *units[MAP_WALK_NODES]; /* units: of chunks; NULL: there is only one */
    bool done;                                                          /* the totals are known */
};
/* How the stage's reductions of windows are computed. */
enum map_windows {
    MAP_NO_WINDOWS,
    MAP_WRITTEN_OUT, /* one expression each (maps.c) */
    MAP_WALKED       /* map_window.c */
};
enum map_way {
    MAP_FLAT, /* neighbouring threads compute neighbouring elements, in row-major order over all axes */
    MAP_ROWS, /* a thread computes `unroll` neighbouring rows, and reads what they share once */
    MAP_TILE  /* a thread block computes tile_rows rows of tile_columns columns */
};
struct map {
    struct codegen c;
    const struct le_stage *stage;
    enum map_way way;
    struct map_axis axes[MAP_AXES_MAX];
    int axis_count, row; /* row: an axis; -1: none */
    int covered[MAP_AXES_MAX],
        covered_count; /* indices that keep their lowest value: of extent 1, or merged into an axis */
    struct map_result results[MAP_RESULTS_MAX]; /* the first is the stage's own; others are those of stage->also */
    struct le_node *nodes[MAP_RESULTS_MAX];     /* the results' */
    int result_count;
    struct map_stream streams[MAP_STREAMS_MAX];
    int stream_count;
    struct map_gather gathers[LE_AHEAD_MAX];
    int gather_count;
    struct map_walk walks[MAP_WALKS_MAX]; /* inner ones before those that need their totals */
    int walk_count;
    bool walks_guarded;       /* what they read is checked now */
    int threads;              /* of a thread block */
    int width, unroll, phase; /* phase: columns of a row's first vector that are before the row's first element */
    int widest;               /* if it walks: the greatest width */
    bool between;  /* ROWS: the rows are those of a short axis, whose elements lie between those of neighbouring columns
                      in  some array; a thread computes all of them */
    bool paired;   /* some streams or results are pairs */
    bool safe;     /* its elements can neither fault nor record notes */
    bool loose;    /* some loads are not read ahead, but only for elements that exist */
    bool asks;     /* some loads may be out of range */
    bool scatters; /* it is a scatter: the stage computes the target's subscripts */
    enum map_windows windows; /* what it sums of windows, whose elements serve several sums of a thread */
    bool dear;   /* its elements are expensive: threads loop over several parts, and operations use their quick way */
    bool splits; /* a thread whose elements all exist, with all reads in range, computes them without checks; other
                    threads compute one element at a time */
    int piece;   /* elements that are stored at once; less than `width` if its vectors of results are not aligned */
    bool guards; /* if splits: threads at the edges compute all of their elements at once, too, and check what they read
                  */
    bool only_guards; /* all threads do */
    /* If it walks: the last threads of an axis compute its last elements, all of which exist, and store those that no
     * other thread has. */
    bool shifts_rows, shifts_columns, reads_own; /* reads_own: that an element is computed again must not be seen */
    const struct le_space
        *inside; /* if splits: ranges of the indices where all reads are in range; NULL: all of them */
    int64_t inside_low[MAP_AXES_MAX], inside_high[MAP_AXES_MAX]; /* the same as positions along each axis */
    int tile_rows, tile_columns;
    int64_t items;              /* TILE: thread blocks; else vectors of all threads, or vectors of some rows each */
    struct le_block *body;      /* the block in which a thread computes its elements */
    struct le_expression *part; /* FLAT: which `threads * unroll` items the thread block computes now; NULL: those of
                                   its number in the grid */
    /* Computed before a thread reads. */
    struct le_expression *place[MAP_AXES_MAX]; /* position along each axis; NULL: it is in `places` */
    struct le_variable
        *places[MAP_AXES_MAX];     /* FLAT: positions by unrolled iteration, unless each thread has one element */
    struct le_variable *from, *to; /* by unrolled iteration: the first element of the vector that exists, and the end of
                                      those; NULL: 0, all exist */
    struct le_variable *whole;     /* whether all exist (if splits: and read in range); NULL: not checked */
    struct le_expression *exists;  /* ROWS: whether the thread has any elements, unless it ends a row or column */
    struct le_expression *skipped_rows, *skipped_columns; /* its first ones, which other threads store; NULL: none */
    struct le_expression *row_start, *column_start;       /* TILE: the first row and column of the thread block */
    /* Results. */
    struct le_variable
        *usual; /* if splits: whether the results of the quick way are valid; NULL: there is no such way */
    struct le_block *all,
        *others; /* if splits: the block without checks, and the one that computes one element at a time */
};
/* Where one of a thread's elements is computed. */
struct map_spot {
    struct le_block *turns, *block; /* of the unrolled iteration; of the element, inside it */
    struct le_expression *turn, *element;
};

/* map.c; false: the stage is not a map of this kind */
bool le_map_find(struct map *m, const struct le_device_kernel_job *job, const struct le_stage *stage, bool tiles,
                 enum map_windows windows);
/* Sets the vector width, if it is smaller, and the unrolled iterations. */
bool le_map_set(struct map *m, int width, int unroll);
/* Sets how many elements a thread of a map that walks has. */
bool le_map_set_walk(struct map *m, int width, int unroll);
const struct map_axis *le_map_inner(const struct map *m);
/* The numbers into which a thread's number (TILE: its block's) is split, the fastest first. Their product is `items`.
 */
struct map_digit {
    int axis;
    int64_t count, unit; /* it counts `unit` vectors, positions, runs of `unroll` rows, or tiles along the axis */
};
struct map_digits {
    struct map_digit at[MAP_AXES_MAX + 2];
    int count;
};
struct map_digits le_map_digits(const struct map *m);
bool le_map_count_items(struct map *m);          /* sets `items`; false: too many */
int le_map_size(const struct map *m, int value); /* bytes of an element */
int64_t le_map_cost(const struct map *m);        /* cost of an element, in additions */
/* Elements from the axis' first position to the first multiple of `elements` in memory; -1: it is not the same in all
 * rows. stride: elements from one position to the next */
int le_map_to_vector(const struct map *m, int value, const struct map_place *p, int axis, int elements, int stride);
static inline int le_map_unit(const struct map_pair *pair) {
    return pair->other >= 0 ? 2 : 1;
}
/* Aligns vectors with the target, or a scatter's first stream: sets phase, the streams' align, and the greatest width
 * up to the current one for which that works. */
void le_map_align(struct map *m);

bool le_map_depends(const struct map *m, const struct le_node *load); /* on some axis */
/* Whether all its places can be counted and are inside; sets *p. */
bool le_map_is_plain(const struct map *m, const struct le_node *load, struct map_place *p);
bool le_map_same_strides(const struct map *m, const struct map_place *a, const struct map_place *b);

/* map_streams.c */
/* The array's axis along which the axis moves, and how far for one position; -1: none, or several. */
int le_map_dimension(const struct map *m, const struct le_node *load, int axis, int64_t *factor);
/* Whether elements so far apart, of that many bytes, are read with all that lies between them. */
bool le_map_is_step(int64_t step, int64_t size);
/* How far load b reads from load a along the array's axis d. */
int64_t le_map_subscripts_apart(const struct map *m, const struct le_node *a, const struct le_node *b, int d);
void le_map_find_streams(struct map *m);
/* Whether a thread whose elements do not all exist, or read out of range, can read the streams as other threads do,
 * with checks of what it reads: these say what lies out of range. */
bool le_map_can_guard(const struct map *m);
double le_map_edge_share(const struct map *m); /* of warps that have a thread at an edge, about */
/* The array's axes that such a thread checks, as bits: some reads of `span` columns may be out of range there. */
unsigned le_map_checked(const struct map *m, const struct map_stream *s, int column, int span);
/* Whether all of a subscript's values are inside, for all positions that threads have and all terms of reductions. */
/* Whether the load's subscripts can be checked at all positions that threads have. */
bool le_map_can_check_axes(const struct map *m, const struct le_node *load);
bool le_map_stays_inside(const struct map *m, const struct le_node *load, int d);
/* Whether a vector from that column on is either all inside along its axis, or all outside. */
bool le_map_keeps_vectors(const struct map *m, const struct map_stream *s, int column);

/* map_gather.c: finds the gathers, once the width is set; reads their vectors of one unrolled iteration */
void le_map_find_gathers(struct map *m);
void le_map_read_gathers(struct map *m, const struct map_spot *at);

/* map_pairs.c: sets `pair` of streams and results, and `paired` */
void le_map_find_pairs(struct map *m);

/* map_tile.c: decides whether the map is computed in tiles, and sets the tile's size */
bool le_map_find_tiles(struct map *m);

/* map_window.c: finds the reductions that a thread walks through, and the row axis; false: one does not fit */
bool le_map_find_walks(struct map *m);
/* Whether an index of a reduction moves a read along the axis, so that it must not be merged with the next one. */
bool le_map_slides_along(const struct map *m, int axis);
bool le_map_find_slides(struct map *m);                   /* after the interior; false: no elements are shared */
bool le_map_walk_fits(const struct map *m);               /* the registers, and the code, of one thread */
double le_map_walk_operations(const struct map *m);       /* of an element: additions that take as long */
double le_map_slowness(const struct le_node *reduction);  /* additions of f32 in the time of its operation */
double le_map_split_cost(const struct map *m, int value); /* additions that take an element from a vector's register */
double le_map_walk_share(const struct map *m);            /* of the threads that a multiprocessor has room for */
int64_t le_map_arithmetic(const struct map *m);           /* additions of an element without reductions and positions */
int64_t le_map_loads(const struct map *m);                /* of an element */
int64_t le_map_walk_terms(const struct map *m);           /* of the longest reduction */
bool le_map_walk_can_guard(const struct map *m);          /* whether the terms can be read with checks */
bool le_map_walk_reads_vectors(const struct map *m); /* whose alignment depends on where a thread's columns begin */
void le_map_walk(struct map *m, struct le_block *block, bool guarded); /* makes the code that computes the totals */
void le_map_walk_alone(struct map *m, struct le_block *block);         /* those of one element, which the block binds */
void le_map_know_totals(struct map *m, const struct map_spot *at);

/* map_index.c: computes positions before the thread reads */
void le_map_places(struct map *m);
/* Puts the body into a loop over `parts` parts, distributed over the thread blocks. */
void le_map_open_parts(struct map *m, int64_t parts, enum le_role role);
void le_map_bind(struct map *m, struct le_block *block, int axis, struct le_expression *place);
void le_map_bind_outer(struct map *m, struct le_block *block,
                       struct le_expression *turn); /* all axes except the inner one */
struct le_expression *le_map_place(struct map *m, int axis, struct le_expression *turn);
struct le_expression *le_map_axis_number(struct map *m, int axis, const char *what, int64_t value); /* as a parameter */
int le_map_pitch(
    const struct map *m); /* TILE: elements from one column of the tile to the next; odd, to avoid bank conflicts */
int le_map_across(const struct map *m);                      /* TILE: threads for a row of the tile */
struct le_expression *le_map_count(struct map *m, int axis); /* elements along the axis, as a parameter */
/* ROWS: the first element of a thread's vectors that exists, and the end of those. */
void le_map_ends(struct map *m, struct le_expression **from, struct le_expression **to);
bool le_map_is_simple(const struct map *m); /* each thread has one element; threads without one return at once */

/* map_read.c */
/* What a thread reads ahead: of elements that all exist and read in range; with checks of what it reads; or if not all
 * of its elements exist, only those that do. */
enum map_reading { MAP_READ_WHOLE, MAP_READ_GUARDED, MAP_READ_EITHER };
void le_map_read_ahead(struct map *m, struct le_block *block, enum map_reading how);
/* A row of a local array into which a thread reads elements of an array that lie side by side. */
struct map_span {
    struct map *m;
    const struct le_node *load;
    struct le_variable *array;
    struct le_expression *row;
    int columns; /* of the row */
    /* `span` elements from column at + more of the row on. *inside: whether they are all in range; NULL: they are.
     * more: how far an element is from that where the vector begins that contains it */
    struct le_expression *(*element)(const struct map_span *to, struct le_block *block, int at, int more, int span,
                                     struct le_expression **inside);
    const void *user;
};
/* Reads a vector of `width` elements. none: if not all of it is in range, nothing of it is; else elements are read. */
void le_map_read_span(const struct map_span *to, struct le_block *block, int at, int width, bool none);
struct le_expression *le_map_fill_of(struct map *m, const struct le_node *load,
                                     struct le_block *block); /* what an element out of range counts as */
bool le_map_moves(const struct le_node *load);                /* what is out of range is read elsewhere in the array */
/* Returns the element that was read ahead for load number `load` of the stream. */
struct le_expression *le_map_read_element(struct map *m, const struct map_stream *s, int load,
                                          const struct map_spot *at);
/* Returns the position of an element's part among the parts of both streams or results. */
struct le_expression *le_map_part_of_pair(struct map *m, const struct map_pair *pair, struct le_expression *element);
const char *le_map_wish(struct map *m, const struct map_stream *s, const char *what); /* a name for what it reads */

/* map_code.c: also for map_read.c */
int le_map_stored_type(const struct map *m, const struct map_stream *s);
/* Declares a local array [rows, columns], aligned if its rows are moved as vectors. */
struct le_variable *le_map_declare_rows(struct map *m, struct le_block *block, const char *wish, int type, int rows,
                                        int columns, bool zeroed);
struct le_expression *le_map_row_address(struct map *m, struct le_variable *array, struct le_expression *row);
/* Whether an unrolled iteration has any element that exists. */
struct le_expression *le_map_exists(struct map *m, struct le_expression *turn);
/* Binds the inner index to the position of the unrolled iteration plus some elements. */
void le_map_bind_inner(struct map *m, struct le_block *block, struct le_expression *turn, struct le_expression *more);
/* Which elements le_map_open_elements runs for: all; those that exist; or all of the unrolled iterations in which at
 * least one element exists, because loads of the others are out of range. */
enum map_which { MAP_ALL, MAP_COUNTED, MAP_COUNTED_TURNS };
struct map_spot le_map_open_elements(struct map *m, struct le_block *block, enum map_which which);
/* Opens the branch where all elements exist (NULL: that is not known), and the one where some may not. */
struct le_block *le_map_open_whole(struct map *m, struct le_block *block, struct le_block **rest);
void le_map_close_whole(struct map *m, struct le_block *all, struct le_block *rest);

/* If splits: opens an element of the block without checks (alike), and after that is closed, one of the other block. */
struct map_spot le_map_open_element(struct map *m, bool alike);
/* Makes values of the block: if operations have quick ways by these, and all again if some operands are unusual. */
void le_map_make_twice(struct map *m, struct le_block *block, bool has_quick_ways,
                       void (*make)(struct map *m, struct le_block *block, void *user), void *user);
/* A loop over all elements, in which what was read ahead and the totals are known. */
struct map_spot le_map_open_known(struct map *m, struct le_block *block);
void le_map_close_element(struct map *m, const struct map_spot *s, bool alike);
leat_status le_map_make(const struct le_mapping *mapping, void *found, struct le_generated_launches *out);
#endif
