/* Turns a stage and the numbers of one run into launches: code for the vector machine, and its division into tasks. The
 * code depends on ranges, shapes and strides, and refers to buffers by value number; the addresses are given at launch.
 */
#ifndef LE_KERNEL_H
#define LE_KERNEL_H
#include "gen/node_notes.h"
#include "ir/ranges.h"

/* Where a value's elements lie: element [i,j] at offset + i * strides[0] + j * strides[1]. */
struct le_layout {
    int64_t shape[LEAT_RANK_MAX], strides[LEAT_RANK_MAX], offset; /* in elements */
};

struct le_launch {
    struct le_unit *unit;
    int64_t clip_count[2];  /* iterations of the loops that tasks share out; 0: none */
    int64_t clip_size[2];   /* iterations of one task */
    int64_t clip_pieces[2]; /* not 0: instead, the iterations are counted as it runs, and cut into so many pieces */
    int64_t tasks;
    int64_t row_count; /* not 0: clip 0 counts terms, of rows of so many: the loop of clip 0 is the rows', that of clip
                          1 the lanes' */
    /* Each task writes one partial total (buffer LE_PARTS, 8 bytes apart at most), which le_acc_join then joins; those
     * of the stage's siblings follow, 8 * tasks bytes for each. */
    bool parts;
    /* Each task scans a chunk and hands on its total: buffer LE_PARTS has tasks + 1 of struct le_scan_link, all open
     * but the first, which is the start. */
    bool links;
    /* Each task scatters into its own copy of the target (buffer LE_PARTS), added in order afterwards. */
    bool copies;
    int64_t operations, elements; /* for the ledger: in additions that take as long; of the target */
};
#define LE_PARTS (-2) /* buffer number of the tasks' own memory */

struct le_launches {
    struct le_launch *at;
    int count, capacity;
};

/* Work space of a thread that generates code, for one kernel after another. */
struct le_kernel_work {
    struct le_arena *arena;
    struct le_node_marks marks;
    struct le_node_notes notes;
    int *merged_into; /* by index, each its own number; left as it was found */
    int64_t *merged_count;
    int merged_size;
};
void le_kernel_work_init(struct le_kernel_work *work, struct le_arena *arena);

/* What a kernel is made for. Several threads may generate code from one program at once, each with its own arena and
 * work space, if space->evaluate allows that: nothing else that is given here is written. */
struct le_kernel {
    struct le_ir *ir; /* the generator makes its nodes in a fork of it */
    const struct le_stage *stage;
    const struct le_space *space;
    const struct le_layout *layouts; /* by value */
    int threads;
    int block;              /* lanes of a block at most, a power of two; 0: LE_BLOCK_MAX */
    struct le_arena *arena; /* of the launches and the generator's nodes */
    struct le_kernel_work *work;
};
leat_status le_kernel_generate(const struct le_kernel *kernel, struct le_launches *out);
/* A node without indices, computed by one task and written to buffer LE_PARTS as it is stored in an array of that type.
 */
leat_status le_kernel_scalar(const struct le_kernel *kernel, struct le_node *node, enum le_type stored,
                             struct le_launch *out);
/* Whether a load's or store's subscript of axis d stays inside, whatever its indices are. */
bool le_axis_is_safe(const struct le_space *space, const struct le_layout *layout, struct le_node *subscript, int d,
                     int stretch);
#endif
