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

/* Positions of the reductions' indices that one loop runs along; those between the last axis and it are merged. */
struct term_axis {
    int position;
    int64_t count;
};
struct group {
    struct le_node *nodes[GROUP_NODES], *bodies[GROUP_NODES]; /* terms, all over the same indices */
    int node_count;
    struct le_node *same[GROUP_NODES]; /* others with the total of nodes[same_as] */
    int same_as[GROUP_NODES], same_count;
    const int *indices;
    int index_count;
    struct term_axis axes[AXES_MAX];
    int axis_count;
    int64_t terms;
    bool narrow; /* an int counts the terms, and some more */
    bool share;  /* they have much in common, which is computed once */
    int width;   /* terms that a thread reads at once; more than 1: they lie side by side, aligned */
    int unroll;  /* times that, before it waits for them */
    int type;    /* of the totals */
    struct le_variable *term, *many; /* functions: one term's totals, and those of `width` */
};
struct team_stage {
    struct group groups[GROUPS_MAX];
    int group_count;
    int points_at[POINTS_MAX], rest_at[POINTS_MAX]; /* kept indices, in order */
    int points_count, rest_count;
    int64_t points, rest;                         /* of their values */
    const struct le_stage *siblings[GROUP_NODES]; /* that this kernel makes, too */
    int sibling_count;
    bool are_columns; /* a thread for each point */
    int spread;       /* stages that are one, at so many values of a kept index; 1: it is not spread */
};

/* group.c: what the reductions of the stage are, and of those made with it; false: one thread has to make them
 */
bool le_team_find(struct codegen *c, const struct le_stage *stages, int count, struct team_stage *t);

/* unroll_jam.c: the same, if all values of one of its kept indices are to be made together; c has the first of
 * these stages then. false: they are not. */
bool le_team_spread(struct codegen *c, const struct le_stage *stage, struct team_stage *t);

/* group_terms.c */
/* Whether the next value of the kept index lies nearer than the next term does. */
bool le_group_is_across(struct codegen *c, const struct group *g, int index);
/* What changes from term to term is the same for all points. */
bool le_group_is_uniform(struct codegen *c, const struct group *g, const int *points, int count);
void le_group_shape(struct codegen *c, struct group *g); /* axes, width and unroll */
/* Declares the total's type and the lambdas. */
void le_group_emit(struct codegen *c, struct group *g, struct le_block *block);
/* A lambda (term's number, bool &usual) that makes the term without a branch, as le_thread_total wants it; NULL: it has
 * no such way that is worth it. */
struct le_variable *le_group_quick_term(struct codegen *c, const struct group *g, struct le_block *block);
void le_group_declare(struct codegen *c, struct group *g); /* the type alone */
/* An expression: the total of the term whose indices block binds; at: its number. */
struct le_expression *le_group_total(struct codegen *c, const struct group *g, struct le_block *block,
                                     struct le_expression *at);
int le_group_width(struct codegen *c, const struct group *g);
/* Loads that move with the last axis and are inside their arrays; their number. -1: a loop inside moves with it. */
int le_group_loads(struct codegen *c, const struct group *g, struct le_node **loads);
/* The same, and reads `width` elements of each into the arrays `some`, which it declares in base, where the indices of
 * the first are bound; closes base. */
int le_group_open_wide(struct codegen *c, const struct group *g, struct le_block *base, struct le_node **loads,
                       struct le_variable **some);
/* le_group_array declares an array of `width` elements in the block. le_group_read reads `width` neighbouring elements
 * of the load's array into it, from the position that the block's indices give. */
struct le_variable *le_group_array(struct codegen *c, struct le_block *block, const struct le_node *load,
                                   const char *what, int width);
void le_group_read(struct codegen *c, struct le_block *block, const struct le_node *load, int width,
                   struct le_expression *to);
/* The element that was read of the load is its value in each; the same of element e of an array. */
void le_group_know_read(struct codegen *c, struct le_node *load, struct le_block *each, struct le_expression *element);
void le_group_know_element(struct codegen *c, struct le_node *load, struct le_block *each, struct le_variable *some,
                           struct le_expression *e);
/* The total of all elements of `some`; closes the function. */
void le_group_return_joined(struct codegen *c, const struct group *g, struct le_block *function,
                            struct le_variable *some);
/* Whether width elements along the index lie side by side, aligned. */
bool le_team_is_wide(struct codegen *c, struct le_node *load, const int *index, int width);
/* The nodes' values from now on: those of total, a variable of the group's type. */
void le_group_know(struct codegen *c, const struct group *g, struct le_block *block, struct le_expression *total);
struct le_expression *le_group_count(struct codegen *c, const struct group *g); /* its terms, as the parameter */
int le_group_counting(const struct group *g);                                   /* the type of terms' numbers */
int le_group_bytes(const struct group *g);                                      /* of a total */
enum { ROOM_TOTALS = 512, ROOM_MOST = 40 << 10 }; /* of le_room; in bytes, of the 48 KB that a block has by itself */
size_t le_room_bytes(const struct le_node *reduction); /* of le_room, at most */
size_t le_group_room_bytes(const struct group *g);
size_t le_group_total_bytes(const struct group *g); /* the same in memory, at most */
/* Binds the index to low + place * by; place NULL: to its low. past: places may lie so far behind the last, where it
 * covers indices before it, too. */
void le_team_bind_one(struct codegen *c, struct le_block *block, int index, struct le_expression *place, int64_t past);
/* Binds the indices to the place'th of their values, the last running fastest. */
void le_team_bind(struct codegen *c, struct le_block *block, const int *indices, int count, struct le_expression *place,
                  bool narrow);

/* rows.c: rows that are kept while several passes run over them; false: they are not */
bool le_team_rows(struct codegen *c, struct team_stage *t, struct le_generated_launches *out);

/* group_reduce.c: the kernels, and what mappings set */
struct reduction {
    struct codegen c;
    struct team_stage t;
};
bool le_team_takes(const struct team_stage *t);                         /* threads had better share its terms */
int64_t le_reduce_terms(const struct team_stage *t);                    /* of the longest group */
int le_reduce_threads(const struct team_stage *t);                      /* of a block for a point */
int64_t le_reduce_chunk(struct codegen *c, const struct team_stage *t); /* terms of a thread, for columns */
bool le_reduce_stands_alone(const struct team_stage *t);                /* no group uses another's totals */
/* found: the struct reduction */
leat_status le_reduce_warp(const struct le_mapping *mapping, void *found, struct le_generated_launches *out);
leat_status le_reduce_block(const struct le_mapping *mapping, void *found, struct le_generated_launches *out);
leat_status le_reduce_grid(const struct le_mapping *mapping, void *found, struct le_generated_launches *out);
leat_status le_reduce_columns(const struct le_mapping *mapping, void *found, struct le_generated_launches *out);
#endif
