/* Shared by the files about rows that several passes run over and that stay on chip between the passes. */
#ifndef LE_ROW_H
#define LE_ROW_H
#include "gen/mapping/group_reduce.h"

/* row_shape.c: who keeps what of a row */
struct row_need {
    int64_t reads;       /* of the row, each of as many elements as a thread reads at once */
    int words;           /* of registers, that what is kept of one read takes */
    bool is_wide;        /* more than 4 bytes of an element are kept */
    bool are_totals_big; /* they have more than 4 bytes */
};
struct row_shape {
    int cluster, rows; /* blocks for a row, or rows for a block */
    int threads;       /* of a row in each of its blocks */
    int lines, near;   /* that a warp keeps, and of these in registers */
    int most_threads;  /* at most as many threads are in a block of a kernel with this text */
    int resident;      /* blocks of so many that a multiprocessor is to have room for */
    size_t far_bytes;  /* of shared memory, for the other lines of a block */
};
/* false: nobody can keep it */
bool le_row_shape(const struct le_device_facts *facts, const struct row_need *need, struct row_shape *shape);

struct row {
    struct codegen *c;
    struct team_stage *t;
    struct group all;      /* the groups' terms and, last, the value */
    struct le_node *value; /* over the groups' index; NULL: there is one a row */
    struct le_node *loads[LOADS_MAX];
    int load_count;
    bool read[GROUPS_MAX + 1][LOADS_MAX]; /* by pass: which loads it reads. The last pass makes the values. */
    bool kept[LOADS_MAX];
    struct le_variable *objects[LOADS_MAX]; /* of le_kept */
    int kept_bytes;                         /* of an element */
    /* A dear node of a group's terms that the value uses, too: from that group on it has the place of a load that
     * nobody needs then. */
    struct le_node *late;
    int late_load, late_group;
    struct row_shape shape;
    bool wide;                            /* values are written as vectors */
    bool quick;                           /* they have a way without a branch, and are made so */
    bool rolled;                          /* they are made by a loop over lines, of which some are in shared memory */
    bool reads;                           /* rolled: they read more than the row */
    struct le_variable *ahead[LOADS_MAX]; /* what of it was read ahead, by slot and element */
    struct le_expression *base, *left;    /* where the thread's first element is; elements from there on */
    struct le_expression *lines, *turn;   /* rolled: lines that the thread has; their order (NULL: as they come) */
};
/* What a thread has of a line. */
struct row_line {
    struct le_expression *number;
    struct le_expression *at;            /* the place of its first element */
    struct le_expression *slot;          /* where what was read ahead is; NULL: nothing was */
    struct le_variable *some[LOADS_MAX]; /* elements of what the pass reads; with two axes they are in the slot */
};

/* row_find.c: false: they cannot be kept */
bool le_row_find(struct row *r);

/* rows.c */
struct row_line le_row_line(struct row *r, struct le_block *block, struct le_expression *number); /* nothing is read */
struct le_expression *le_row_has(struct row *r, struct le_expression *number); /* whether the thread has the line */
/* Reads what the pass needs. get: le_kept's function, by what is known of the line when the kernel is compiled */
void le_row_get(struct row *r, int pass, struct le_block *block, enum le_library_call get, struct row_line *line);
/* The value of each load, of which element e was read. */
void le_row_know(struct row *r, int pass, struct le_block *each, const struct row_line *line, struct le_expression *e);
/* A loop over a line's elements, whose index it binds, where what was read is known. */
struct le_block *le_row_open_elements(struct row *r, int pass, struct le_block *block, const struct row_line *line,
                                      struct le_expression **e);

/* row_values.c */
void le_row_start_reading(struct row *r); /* what values read more than the row */
void le_row_values(struct row *r);
#endif
