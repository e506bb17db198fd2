/* Turns a stage and the numbers of one run into launches: code for the vector machine, and its division into tasks. The
 * code depends on ranges, shapes and strides, and refers to buffers by value number; the addresses are given at launch.
 */
#ifndef LE_KERNEL_H
#define LE_KERNEL_H
#include "ir/analysis/analysis.h"

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
/* kernel.c: what every generator asks about a kernel. le_kernel_begin returns the kernel with a fork of its program, in
 * which one generation makes its nodes. */
struct le_kernel le_kernel_begin(const struct le_kernel *kernel);
int64_t le_kernel_operations(const struct le_kernel *kernel); /* arithmetic operations of its stage */
/* The number of points of the stage. Indices whose ranges are known only as it runs do not count. INT64_MAX: or more */
int64_t le_kernel_points(const struct le_kernel *kernel, const struct le_stage *stage);
/* The number of copies of its target that a scatter adds to; 1: it adds to the target itself. terms: of the scatter;
 * elements, size: number and bytes of the target's elements. The number decides the order of additions, so it depends
 * on extents only. */
int64_t le_scatter_copies(enum le_scatter op, int64_t terms, int64_t elements, int64_t size);
/* A scatter of floats is cut into chunks of iterations of its first index. Each chunk adds to a copy of the target, and
 * the copies are then added to the target in order. */
struct le_chunks {
    int64_t count;    /* 1: the scatter is not cut, and adds to the target itself */
    int64_t size;     /* iterations of a chunk */
    int64_t elements; /* of the target */
};
struct le_chunks le_scatter_chunks(const struct le_kernel *kernel, const struct le_stage *stage);

bool le_kernel_is_empty(const struct le_kernel *kernel); /* whether its stage has no points */

/* interior.c: ranges of values, one for each index of a stage, in order */
struct le_box {
    int64_t low[16], high[16];
};
/* Finds the box of all points, and the part of it where all reads with affine subscripts are in range. false: that part
 * is empty, or it is the whole. */
bool le_kernel_interior(const struct le_kernel *kernel, struct le_box *whole, struct le_box *interior);
/* Narrows the ranges of the space to the box. */
void le_space_narrow_to(struct le_space *space, const struct le_kernel *kernel, const struct le_box *box);

/* gen/bytecode/generate.c */
leat_status le_kernel_generate(const struct le_kernel *kernel, struct le_launches *out);
/* A node without indices, computed by one task and written to buffer LE_PARTS as it is stored in an array of that type.
 */
leat_status le_kernel_scalar(const struct le_kernel *kernel, struct le_node *node, enum le_type stored,
                             struct le_launch *out);
#endif
