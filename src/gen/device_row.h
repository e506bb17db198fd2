/* Shared by the files about rows that several passes run over and that stay on chip between the passes. */
#ifndef LE_DEVICE_ROW_H
#define LE_DEVICE_ROW_H
#include "gen/device_group_reduce.h"

/* device_row_shape.c: who keeps what of a row */
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
    struct cuda *c;
    struct team_stage *t;
    struct group all;      /* the groups' terms and, last, the value */
    struct le_node *value; /* over the groups' index; NULL: there is one a row */
    struct le_node *loads[LOADS_MAX];
    int load_count;
    bool kept[LOADS_MAX];
    const char *names[LOADS_MAX];
    int kept_bytes; /* of an element */
    /* A dear node of a group's terms that the value uses, too: from that group on it has the place of a load that
     * nobody needs then. */
    struct le_node *late;
    int late_load, late_group;
    struct row_shape shape;
    bool wide;                    /* values are written as vectors */
    bool quick;                   /* they have a way without a branch, and are made so */
    bool rolled;                  /* they are made by a loop over lines, of which some are in shared memory */
    bool reads;                   /* rolled: they read more than the row */
    const char *ahead[LOADS_MAX]; /* what of it was read ahead */
    const char *base, *left;      /* where the thread's first element is; elements from there on */
    const char *lines, *turn;     /* rolled: lines that the thread has; their order (NULL: as they come) */
};

/* device_row_find.c: false: they cannot be kept */
bool le_row_find(struct row *r);

/* device_rows.c: what a thread has of a line; line: its number, an expression */
const char *le_row_stored(const struct row *r, int load); /* a load's type in memory */
/* The place of the line's first element that the thread has. */
const char *le_row_bind(struct row *r, struct le_block *block, const char *line);
struct le_block *le_row_inside(struct row *r, struct le_block *block,
                               const char *line);                     /* opens where the thread has it */
struct le_block *le_row_open_lines(struct row *r, const char **line); /* a loop over all lines */
/* A loop over a line's elements, whose index it binds. */
struct le_block *le_row_open_elements(struct row *r, struct le_block *block, const char *at, const char **e);
/* From memory into the array `name`. */
void le_row_read(struct row *r, int load, struct le_block *block, const char *at, const char *name);
/* An array of a line's elements. get: le_kept's function, by what is known of the line when the text is compiled */
const char *le_row_get(struct row *r, int load, struct le_block *block, const char *get, const char *line,
                       const char *at);
/* The same of what the pass reads: names' arrays. */
void le_row_get_all(struct row *r, const struct group *pass, struct le_block *block, const char *get, const char *line,
                    const char *at, const char *names[LOADS_MAX]);
void le_row_find_read(struct row *r, const struct group *pass, bool read[LOADS_MAX]); /* which loads the pass reads */
/* Tells the values of what was read of element e; group: the pass's number, or that of all. */
void le_row_know(struct row *r, int group, struct le_block *each, const char *const names[LOADS_MAX], const char *e);

/* device_row_values.c */
void le_row_start_reading(struct row *r); /* what values read more than the row */
void le_row_values(struct row *r);
#endif
