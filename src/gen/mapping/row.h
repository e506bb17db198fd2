/* Shared by the files about rows that several passes run over and that stay on chip between the passes. */
#ifndef LE_ROW_H
#define LE_ROW_H
#include "gen/mapping/group_reduce.h"

/* Lines of a strip in shared memory that one turn of a loop makes values of: a thread has a multiple of it there. */
enum { STRIP_LINES_AT_ONCE = 4 };
enum { SECTOR = 32 }; /* bytes that memory moves together */

/* row_shape.c: how a row is distributed over thread blocks, registers and shared memory */
struct row_need {
    int64_t reads;       /* vectors of the row */
    int words;           /* 32-bit registers for what is kept of one vector; of strips, of one element */
    bool is_wide;        /* more than 4 bytes are kept for each element */
    bool are_totals_big; /* totals have more than 4 bytes; of strips, more than 8 */
    /* of strips */
    int64_t points;
    int passes;          /* over the elements, among them that for values */
    bool stores;         /* as much is written as is read */
    int element;         /* bytes of the largest element that is kept */
    int bytes;           /* of what is kept in shared memory of one element of a column */
    bool is_shifted;     /* memory has columns from places on that are no multiple of a sector */
    int vector_most;     /* neighbouring columns that a thread can have, at most: memory has them side by side */
    size_t totals_bytes; /* upper bound of the totals of all groups in shared memory, for one column */
};
struct row_shape {
    int cluster, rows; /* thread blocks per row; rows per thread block; one of them is 1 */
    int threads;       /* per row in each of its thread blocks */
    int lines, near;   /* lines of 32 vectors that a warp keeps; how many of them in registers */
    int most_threads;  /* upper bound of a thread block's threads, part of the kernel's text */
    int resident;      /* thread blocks of most_threads that are to fit on a multiprocessor */
    size_t far_bytes;  /* dynamic shared memory of a thread block for its other lines */
    /* Columns that a thread block or cluster keeps, side by side (0: a row); each thread has `lines` neighbouring
     * elements of one of them, or of `vector` columns that lie side by side. */
    int strip, vector;
};
/* What LEAT_MAPPING, or the mapping that was chosen, says of strips. */
struct strip_wish {
    int64_t strip, cluster, vector, threads; /* -1: nothing; strip 0: rows */
};
/* false: the row does not fit on chip */
bool le_row_shape(const struct le_device_facts *facts, const struct row_need *need, struct row_shape *shape);
/* strip_shape.c: the same for strips of neighbouring columns */
bool le_strip_shape(const struct le_device_facts *facts, const struct row_need *need, struct strip_wish wish,
                    struct row_shape *shape);

/* How the place in a row becomes the groups' indices. */
enum row_split {
    ROW_ONE_LOOP,     /* it is the last index, which runs on beyond its range; the others stay at their lows */
    ROW_SPLIT_VALUES, /* the same for terms and what is kept, but values get each index */
    ROW_SPLIT         /* everything gets each index */
};

struct row {
    struct codegen *c;
    struct team_stage *t;
    struct group all;      /* the terms of all groups and, last, the value */
    struct le_node *value; /* the stage's value over the groups' index; NULL: one value per row */
    struct le_node *loads[LOADS_MAX];
    int load_count;
    bool read[GROUPS_MAX + 1]
             [LOADS_MAX]; /* [pass][load]: the pass reads the load. The last pass computes the values. */
    bool kept[LOADS_MAX];
    struct le_variable *objects[LOADS_MAX]; /* objects of type le_kept, by load */
    int kept_bytes, kept_bytes_shared;      /* kept bytes per element in registers, and in shared memory */
    /* An expensive node of a group's terms that later passes use, too. It is kept in place of a load that only that
     * node needs: in the load's object or, if its type is another one, in registers of its own, while the load's become
     * free. */
    struct le_node *late;
    int late_load, late_group;
    struct le_variable *late_object;
    struct strip_wish wish;
    int points_at[POINTS_MAX]; /* the kept indices that rows depend on; with strips the last one's neighbours are
                                  columns side by side */
    struct row_shape shape;
    enum row_split split;
    bool wide;   /* values are stored as vectors */
    bool quick;  /* values are computed the quick way (LE_WAY_QUICK) */
    bool rolled; /* values are computed by a loop over lines, some of which are in shared memory */
    bool reads;  /* if rolled: values read more than the row */
    struct le_variable *ahead[LOADS_MAX]; /* by load: arrays [slot, element] of what was read ahead */
    struct le_expression *base,
        *left; /* position in the row of the thread's first element; elements from there to the row's end */
    struct le_expression *lines, *turn; /* if rolled: the thread's number of lines; XORed with line numbers to change
                                           their order (NULL: in order) */
    /* Of strips: terms and values are computed without a branch also for lines that the thread does not have, which are
     * copies of its first one. */
    bool steady;
    bool whole; /* of strips: a thread has all of its lines or none */
};
/* A thread's part of a line. */
struct row_line {
    struct le_expression *number;
    struct le_expression *at;            /* position in the row of its first element */
    struct le_expression *slot;          /* slot with what was read ahead; NULL: nothing was */
    struct le_variable *some[LOADS_MAX]; /* by load: the elements that the pass reads; with two axes: of all slots */
};

/* row_find.c: plans the kernel; false: rows cannot stay on chip. Set before: c, t and wish. */
bool le_row_find(struct row *r);

/* rows.c */
/* Computes rows that stay on chip during several passes; false: they cannot */
bool le_team_rows(struct codegen *c, struct team_stage *t, struct strip_wish wish, struct le_generated_launches *out);
/* Binds the indices, which are those of the groups or the values' own, to the element at the place, for terms and what
 * is kept; of several columns of a thread to the first one's. */
void le_row_bind(struct row *r, struct le_block *block, const int *indices, struct le_expression *place);
/* The same where values are computed and stored. */
void le_row_bind_value(struct row *r, struct le_block *block, const int *indices, struct le_expression *place);
struct row_line le_row_line(struct row *r, struct le_block *block,
                            struct le_expression *number); /* reads nothing yet */
struct le_expression *le_row_has(struct row *r,
                                 struct le_expression *number); /* whether the line is in the row for this thread */
/* Copies a line's loads into kept line `number`. at: position in the row of the thread's first element. fetch: as `get`
 * below */
void le_row_fetch_line(struct row *r, struct le_block *block, enum le_library_call fetch, struct le_expression *number,
                       struct le_expression *at);
/* Makes the function that returns a line's total. get, put: the functions of le_kept */
struct le_variable *le_row_line_total(struct row *r, int pass, enum le_library_call get, enum le_library_call put);
/* Reads what the pass needs of the line. get: the function of le_kept, which depends on whether the line is known to be
 * in registers or in shared memory */
void le_row_get(struct row *r, int pass, struct le_block *block, enum le_library_call get, struct row_line *line);
/* Makes element e of what was read the value of each load. */
void le_row_know(struct row *r, int pass, struct le_block *each, const struct row_line *line, struct le_expression *e);
/* Opens a loop over a line's elements, which binds the index and makes what was read known. */
struct le_block *le_row_open_elements(struct row *r, int pass, struct le_block *block, const struct row_line *line,
                                      struct le_expression **e);

/* row_values.c */
void le_row_start_reading(struct row *r); /* starts reading ahead what values read besides the row */
void le_row_values(struct row *r);

/* strips.c: strips of neighbouring columns */
/* Binds the strip's indices and computes the thread's position in its column. Returns 0 where the thread is the first
 * of a column. */
struct le_expression *le_strip_begin(struct row *r);
void le_strip_fetch_far(struct row *r);       /* starts copying the lines for shared memory */
void le_strip_group(struct row *r, int pass); /* computes the group's totals */
void le_strip_values(struct row *r);
#endif
