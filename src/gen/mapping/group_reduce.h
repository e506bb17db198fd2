/* Kernels in which many threads compute one reduction. This code distributes the terms over the threads; the
 * expressions of codegen.h compute a term.
 *
 * Reductions with the same number of terms form a *group*: one pass over the terms computes all of them. A group may
 * use the totals of earlier groups, as a variance uses the mean. A *team* (a warp, a thread block, or all blocks of a
 * row of the grid) computes the groups for one *point*: one combination of values of the kept indices that the
 * reductions depend on. Then the whole team continues along the remaining kept indices. */
#ifndef LE_GROUP_REDUCE_H
#define LE_GROUP_REDUCE_H
#include "gen/tree/codegen.h"
#include "gen/mapping/mapping.h"

enum { GROUPS_MAX = 4, GROUP_NODES = 8, AXES_MAX = 16, POINTS_MAX = 16, LOADS_MAX = 16 };

/* One loop of the reductions: `position` of its index among the group's indices. Indices between this one and the
 * previous axis are merged into it. count: its iterations */
struct term_axis {
    int position;
    int64_t count;
};
struct group;
/* Neighbouring values of a kept index that one thread has, and reads as a vector: totals are of type `several` then. */
struct side {
    int index, width;            /* width 1: a thread has one value, and nothing of the rest is used */
    struct le_expression *first; /* place of the first value */
    /* Known for each value: the groups' totals, and nodes that terms use but that do not change along them. */
    struct group *groups[GROUPS_MAX];
    struct le_expression *totals[GROUPS_MAX];
    struct le_node *nodes[LOADS_MAX];
    struct le_variable *values[LOADS_MAX]; /* by node: an array */
    int group_count, node_count;
};
/* Rows that a thread block brings to shared memory before it adds up their terms (group_kept.c). */
struct kept_rows {
    struct le_node *loads[LOADS_MAX];
    struct le_variable *rows[LOADS_MAX]; /* by load: pointers to the row's first element */
    int count, largest;                  /* bytes of the largest element */
    size_t bytes;                        /* of shared memory */
};
struct group {
    struct le_node *nodes[GROUP_NODES],
        *bodies[GROUP_NODES]; /* the reductions; their terms, all over the group's indices */
    int node_count;
    struct le_node *same[GROUP_NODES]; /* other nodes whose total is that of nodes[same_as] */
    int same_as[GROUP_NODES], same_count;
    const int *indices;
    int index_count;
    struct term_axis axes[AXES_MAX];
    int axis_count;
    int64_t terms; /* an estimate if the group is ragged */
    /* The bounds of the group's only index depend on the point. The kernel computes them. */
    bool ragged;
    struct le_expression *low, *count; /* if ragged: the first value, and the number of terms */
    bool chain;                        /* sums with reuse: terms are added to chunks in order */
    bool narrow;                       /* an int can count the terms, with room for vectors beyond the end */
    bool share;                        /* their cost counts common subexpressions once */
    int width;         /* terms that a thread reads as one vector; more than 1: they are contiguous and aligned */
    int unroll;        /* vectors that it reads before it uses them */
    int type;          /* type of the totals */
    int one;           /* type of the totals of one point; not `type` if a thread has several */
    struct side *side; /* NULL: a thread has one point */
    const struct kept_rows *kept; /* NULL: threads read the terms from memory */
    /* Of a chain whose units warps compute: loads that they bring to shared memory first, where each warp has slots */
    struct le_node *staged[LOADS_MAX];
    struct le_variable *slots[LOADS_MAX], *fetch;
    int staged_count, staged_width; /* terms of a vector that is brought there */
    /* Functions of a term's number: the totals of one term (of kept rows: of those of `width` terms that are there),
     * and of `width` terms. */
    struct le_variable *term, *many;
};
struct team_stage {
    struct group groups[GROUPS_MAX];
    int group_count;
    int points_at[POINTS_MAX],
        rest_at[POINTS_MAX]; /* kept indices that some reduction depends on; those that none depends on */
    int points_count, rest_count;
    int64_t points, rest;                         /* combinations of their values */
    const struct le_stage *siblings[GROUP_NODES]; /* other stages that this kernel computes */
    int sibling_count;
    bool ragged;      /* some group is */
    int spread;       /* values of a kept index that are unrolled into totals of one group; 1: none */
    struct side side; /* of columns: the last kept index */
};

/* group.c: finds the reductions of the stages that can be shared by threads; false: one thread has to compute them */
bool le_team_find(struct codegen *c, const struct le_stage *stages, int count, struct team_stage *t);

/* Whether loops inside of the node know one of the indices: they have ranges of their own for each name of it. */
bool le_team_has_inner_loop(const struct codegen *c, struct le_node *node, const int *indices, int count);

/* unroll_jam.c: the same, if all values of one of its kept indices are to be made together; c has the first of
 * these stages then. false: they are not. */
bool le_team_spread(struct codegen *c, const struct le_stage *stage, struct team_stage *t);
/* The index runs from 0 by 1, through as many values whatever the others are. */
bool le_is_counted(const struct codegen *c, int index);
/* Ranges in the node depend on the index: if it is replaced, they become others. */
bool le_bounds_depend(const struct codegen *c, struct le_node *node, int index);
/* A sum or product of so few terms over counted indices that it is written out. */
bool le_team_is_few(const struct codegen *c, const struct le_node *node);

/* group_loads.c */
void le_group_shape(struct codegen *c, struct group *g);         /* sets axes, width and unroll */
int le_group_width(struct codegen *c, const struct group *g);    /* of terms that lie side by side */
int64_t le_group_cost(struct codegen *c, const struct group *g); /* additions that a term takes as long as */
/* Whether most loads have a smaller stride along the kept index than along the terms. */
bool le_group_is_across(struct codegen *c, const struct group *g, int index);
/* Finds the loads that depend on the last axis and are in range; returns how many. -1: a loop inside a term depends on
 * that axis. */
int le_group_loads(struct codegen *c, const struct group *g, struct le_node **loads);
/* The same if all that the terms read along the last axis lies side by side; else 0. *largest: bytes of the largest
 * element */
int le_group_dense_loads(struct codegen *c, const struct group *g, struct le_node **loads, int *largest);
bool le_group_is_dear(struct codegen *c, const struct group *g); /* too much code to compute several terms at once */
/* Of a chain: those whose terms lie side by side and are read as vectors of CHAIN_WIDTH; how many. */
enum { CHAIN_WIDTH = 4 };
int le_chain_wide_loads(struct codegen *c, const struct group *g, struct le_node **loads);
bool le_group_can_stage(struct codegen *c, const struct group *g); /* all loads that depend on the term can be */
bool le_group_is_dense(struct codegen *c, const struct group *g,
                       const struct le_node *load); /* whether its elements lie side by side along the terms */
/* Whether the indices can run as one loop for the nodes, or for where the stage's value is stored. */
bool le_group_is_one_axis(struct codegen *c, const int *indices, int count, struct le_node *const *nodes,
                          int node_count);
bool le_team_target_is_one_axis(struct codegen *c, const int *indices, int count);
/* Whether `width` elements along the last of the indices, which may run as one loop, are contiguous and aligned. */
bool le_team_is_wide(struct codegen *c, struct le_node *load, const int *indices, int count, int width);
/* Returns how many consecutive values of the kept index one vector of at most most_bytes bytes covers: the terms' loads
 * must read them from adjacent memory. */
int le_side_width(struct codegen *c, const struct group *g, int index, int most_bytes);
/* How many values of the kept index a thread can have where the loads of the terms are the same for all of them, or of
 * chains side by side in memory. */
int le_side_most(struct codegen *c, const struct group *g, int index);
/* Cost of what changes from term to term, but not with the index. */
int64_t le_side_shared_cost(struct codegen *c, const struct group *g, int index);
int le_side_loads(struct codegen *c, const struct group *g, struct le_node **loads); /* those loads */

/* group_terms.c */
/* Declares the type of the totals and the functions `term` and `many`, or only the functions. */
void le_group_emit(struct codegen *c, struct group *g, struct le_block *block);
void le_group_functions(struct codegen *c, struct group *g, struct le_block *block);
/* A function (term's number, bool &usual) that computes the term without a branch, for le_thread_total, or of a chain
 * reads vectors of terms; NULL: there is none, or it is not worthwhile. */
struct le_variable *le_group_quick_term(struct codegen *c, const struct group *g, struct le_block *block);
void le_group_declare(struct codegen *c, struct group *g); /* only the type of the totals */
/* The total of the one term whose indices the block binds; at: the term's number. */
struct le_expression *le_group_total(struct codegen *c, const struct group *g, struct le_block *block,
                                     struct le_expression *at);
/* Chooses what warps of a chain bring to shared memory: loads whose elements lie side by side along the terms. warps:
 * of a thread block. le_group_emit then makes the function `fetch`. */
void le_group_stage(struct codegen *c, struct group *g, int warps);
/* Of a chain: its chunks with the term of number `at` added to them. */
struct le_expression *le_group_chained(struct codegen *c, const struct group *g, struct le_block *block,
                                       struct le_expression *at, struct le_expression *chunk);

/* Computes the bounds of a ragged group for the point that the block binds. */
void le_group_find_bounds(struct codegen *c, struct group *g, struct le_block *block);
/* Binds the group's indices to the first term. */
void le_group_bind_first(struct codegen *c, const struct group *g, struct le_block *block);

/* group_kept.c */
bool le_kept_find(struct codegen *c, const struct team_stage *t, struct kept_rows *kept);  /* false: rows do not fit */
int le_kept_width(struct codegen *c, const struct group *g, const struct kept_rows *kept); /* of what a thread reads */
/* Has a thread block bring the rows to shared memory, whose terms the groups then read there. */
void le_kept_bring(struct codegen *c, struct team_stage *t, struct kept_rows *kept);
/* Reads `width` terms from number `at` on of each row that the group's terms read, as le_group_open_wide does. */
int le_kept_read(struct codegen *c, const struct group *g, struct le_block *base, struct le_expression *at,
                 struct le_node **loads, struct le_variable **some);
/* In the block, what term number `at` reads is known. */
void le_kept_know(struct codegen *c, const struct group *g, struct le_block *block, struct le_expression *at);

/* Finds the loads as le_group_loads does, and reads `width` elements of each into the arrays `some`. It declares them
 * in base, which binds the indices of the first element, and closes base. */
int le_group_open_wide(struct codegen *c, const struct group *g, struct le_block *base, struct le_node **loads,
                       struct le_variable **some);
/* le_group_array declares an array of `width` elements in the block. le_group_read reads `width` neighbouring elements
 * of the load's array into it, from the position that the block's indices give. */
struct le_variable *le_group_array(struct codegen *c, struct le_block *block, const struct le_node *load,
                                   const char *what, int width);
void le_group_read(struct codegen *c, struct le_block *block, const struct le_node *load, int width,
                   struct le_expression *to);
/* In the block `each`, the load's value is this element, or element e of the array `some`. */
void le_group_know_read(struct codegen *c, struct le_node *load, struct le_block *each, struct le_expression *element);
void le_group_know_element(struct codegen *c, struct le_node *load, struct le_block *each, struct le_variable *some,
                           struct le_expression *e);
/* Returns the total of all elements of `some`, and closes the function. */
void le_group_return_joined(struct codegen *c, const struct group *g, struct le_block *function,
                            struct le_variable *some);
/* The nodes' values from now on: those of total, which becomes a variable of the group's type. */
void le_group_know(struct codegen *c, struct group *g, struct le_block *block, struct le_expression *total);
void le_group_know_one(struct codegen *c, const struct group *g, struct le_block *block,
                       struct le_expression *total);                            /* the same of one point */
struct le_expression *le_group_count(struct codegen *c, const struct group *g); /* its number of terms, a parameter */
int le_group_counting(const struct group *g);                                   /* the type of term numbers */
int le_group_bytes(const struct group *g);                                      /* size of a total in registers */
enum {
    ROOM_TOTALS = 256,   /* in a le_room, twice */
    ROOM_FEW = 32,       /* if there are no more, once */
    ROOM_MOST = 40 << 10 /* bytes of one, of the 48 KB of static shared memory */
};
size_t le_room_bytes(const struct le_node *reduction); /* upper bound of the bytes of a le_room */
size_t le_group_room_bytes(const struct group *g, bool few);
size_t le_group_total_bytes(const struct group *g); /* upper bound of the bytes of a total in memory */
/* Binds the index to low + place * by; place NULL: to low. past: how far positions may exceed the last one, as the
 * index may be merged with outer ones. */
void le_team_bind_one(struct codegen *c, struct le_block *block, int index, struct le_expression *place, int64_t past);
/* Binds the indices to the combination of values with this row-major number. */
void le_team_bind(struct codegen *c, struct le_block *block, const int *indices, int count, struct le_expression *place,
                  bool narrow);

/* group_side.c: of several neighbouring points of a thread */
/* Binds the indices, of which the last one is the side's, to the combination with this row-major number of groups of
 * values. The side's index stays unbound. */
void le_side_bind(struct codegen *c, struct side *side, struct le_block *block, const int *indices, int count,
                  struct le_expression *place, bool narrow);
/* Computes what the nodes use that does not change along the terms, once for each value. */
void le_side_hold(struct codegen *c, const struct group *g, struct le_block *block, struct le_node *const *nodes,
                  int count);
/* Opens a loop over the values e that binds the index and makes known what is known of it. */
struct le_block *le_side_open_each(struct codegen *c, const struct side *side, struct le_block *block,
                                   struct le_expression **e);
/* Fills the function of a term, whose indices its block binds: it returns the totals of all values,
 * of a chain its chunks with the term added. */
void le_side_fill_term(struct codegen *c, const struct group *g, struct le_block *function, struct le_expression *at,
                       struct le_expression *chunk);

/* group_reduce.c: the stage and the others that the kernel computes, of which some have no remaining kept indices. */
enum team_stages { TEAM_ALL, TEAM_ALONG, TEAM_ONCE }; /* all; those with remaining indices; those without */
void le_team_store(struct codegen *c, const struct team_stage *t, struct le_block *block, enum team_stages which);
/* The same for all points that the thread has. */
void le_team_store_points(struct codegen *c, const struct team_stage *t, struct le_block *block,
                          enum team_stages which);
/* Where there are remaining indices, one of the team's threads stores the values that do not depend on them. */
void le_team_store_once(struct codegen *c, const struct team_stage *t, struct le_expression *own);

/* group_reduce.c: the kernels, and what mappings set */
struct reduction {
    struct codegen c;
    struct team_stage t;
};
bool le_team_takes(const struct team_stage *t);          /* sharing the terms among threads is worthwhile */
int64_t le_reduce_terms(const struct team_stage *t);     /* of the group with the most terms */
int le_reduce_threads(const struct team_stage *t);       /* threads of a block that computes a point */
bool le_reduce_has_chain(const struct team_stage *t);    /* some group is of sums with reuse */
int le_chain_unroll(const struct group *g);              /* terms of a chain that a thread reads at once */
bool le_reduce_stands_alone(const struct team_stage *t); /* no group uses the totals of another group */
/* Threads that a multiprocessor has registers for. */
int le_reduce_room(const struct team_stage *t);
/* Leaves enough registers for vectors in flight. Otherwise compilers spill registers to have more warps. */
void le_reduce_bounds(struct codegen *c, const struct team_stage *t, int threads, bool keeps);
/* Thread blocks that a multiprocessor then has. keeps: rows in shared memory, so that registers hold few terms */
int le_reduce_resident(const struct team_stage *t, int threads, bool keeps);
void le_reduce_settings(const struct le_mapping *m, struct team_stage *t); /* applies them to the groups */
/* Ends all thread blocks except the last of `blocks` that arrives at counter `number`. more: another condition that
 * ends a thread; NULL: none */
void le_reduce_end_unless_last(struct codegen *c, struct le_expression *number, struct le_expression *blocks,
                               struct le_expression *more);
void le_reduce_launch(struct codegen *c, const struct team_stage *t, struct le_generated_launches *out, int threads,
                      int64_t blocks, int64_t rows, const char *how);
/* found: a struct reduction */
leat_status le_reduce_warp(const struct le_mapping *mapping, void *found, struct le_generated_launches *out);
leat_status le_reduce_block(const struct le_mapping *mapping, void *found, struct le_generated_launches *out);
leat_status le_reduce_grid(const struct le_mapping *mapping, void *found, struct le_generated_launches *out);

/* group_lanes.c */
struct lanes {
    int lanes, lines, width; /* of a row; vectors of a lane; terms of a vector */
    int rows;                /* that it has at once, at most */
};
bool le_lanes_find(const struct team_stage *t, struct lanes *l); /* false: rows are too long */
int le_lanes_width(const struct group *g); /* the widest vectors of which a row has a whole number */
/* The fewest lanes, a power of two, of which each has at most one vector of a row; of long rows, those of a warp. */
int le_lanes_of_row(const struct team_stage *t);
leat_status le_reduce_lanes(const struct le_mapping *mapping, void *found, struct le_generated_launches *out);

/* columns.c */
int le_columns_threads(const struct team_stage *t, int parts); /* of a block */
int le_columns_parts(const struct team_stage *t);              /* the most that are possible */
/* Whether several blocks can have the same column. */
bool le_columns_can_cut(struct codegen *c, const struct team_stage *t);
/* Terms of a thread: the least, and if one block has all of the column. */
int64_t le_columns_least_chunk(const struct team_stage *t, int parts);
int64_t le_columns_whole(const struct team_stage *t, int parts);
leat_status le_reduce_columns(const struct le_mapping *mapping, void *found, struct le_generated_launches *out);
#endif
