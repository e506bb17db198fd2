/* CONTRACT stages: planned for one set of extents and run on the thread pool, by a BLAS found on the machine or by our
 * own kernels.
 *
 * The result is cut into tiles. If there would be few tiles, long sums are cut into parts. The cuts depend on the
 * extents only, and one thread computes each tile, so the results do not depend on the number of threads (docs: numbers
 * that do not change). A tile whose operands a BLAS can read and write in place is one call. For all others the
 * operands are packed. */
#ifndef LE_CONTRACTION_H
#define LE_CONTRACTION_H
#include "device/cpu/blas.h"
#include "device/cpu/kernels/products.h"
#include "ir/passes/contract.h"
#include "run/call.h"

/* One loop: its iteration count and its strides, in elements: in the left and right operand of each product, in the
 * target, and in the kept old values. */
struct le_contract_axis {
    int64_t count, left[LE_TERMS_MAX], right[LE_TERMS_MAX], target, kept;
};
#define LE_CONTRACT_AXES_MAX (4 * LEAT_RANK_MAX) /* a batch may take over loops of rows and columns */
struct le_contract_axes {
    struct le_contract_axis at[LE_CONTRACT_AXES_MAX];
    int count;
    int64_t total; /* iterations of all loops together */
};

/* What the products and the sum read or write. */
enum le_contract_side { LE_SIDE_LEFT, LE_SIDE_RIGHT, LE_SIDE_TARGET, LE_SIDE_KEPT };
static inline int64_t *le_contract_stride_at(struct le_contract_axis *axis, enum le_contract_side side, int product) {
    return side == LE_SIDE_LEFT     ? &axis->left[product]
           : side == LE_SIDE_RIGHT  ? &axis->right[product]
           : side == LE_SIDE_TARGET ? &axis->target
                                    : &axis->kept;
}
static inline int64_t le_contract_stride(const struct le_contract_axis *axis, enum le_contract_side side, int product) {
    return side == LE_SIDE_LEFT     ? axis->left[product]
           : side == LE_SIDE_RIGHT  ? axis->right[product]
           : side == LE_SIDE_TARGET ? axis->target
                                    : axis->kept;
}
bool le_contract_axes_are_one(const struct le_contract_axis *outer, const struct le_contract_axis *inner); /* a loop */

#define LE_HOSTS_MAX 4
/* The offset of an operand's first element: a constant, plus a factor times the value of each host loop around. */
struct le_contract_operand {
    int value;
    int64_t offset;
    struct {
        int value; /* the value that holds the loop's index */
        int64_t factor;
    } hosts[LE_HOSTS_MAX];
    int host_count;
};

/* A matrix as a BLAS argument. */
struct le_contract_view {
    bool fits;
    int transposed; /* a value of CBLAS's enum */
    int stride;
};

/* An operand copied in another order, so that a library can work on it: a factor before the product, the target after
 * it. */
struct le_contract_copy {
    bool is_used;
    struct le_contract_operand array; /* the operand itself */
    struct {
        int64_t count, array, copy; /* strides in elements */
    } axes[LEAT_RANK_MAX];          /* outermost first, in the order of the copy */
    int axis_count;
    int64_t elements;
};
struct le_contract_copies {
    struct le_contract_copy left[LE_TERMS_MAX], right[LE_TERMS_MAX], target;
    bool is_plain;  /* nothing is copied, and each product is one call */
    double seconds; /* estimated, with the copies */
};

/* Whole operands of 16-bit floats that are converted to f32 before a product on the CPU, or a result after it. */
struct le_conversion;

struct le_contract {
    struct le_contraction form;
    struct le_contract_axes batch, rows, columns, terms;
    struct le_contract_operand left[LE_TERMS_MAX], right[LE_TERMS_MAX], target, kept;
    struct le_contract_view left_view[LE_TERMS_MAX], right_view[LE_TERMS_MAX];
    enum le_type factor_type, type;       /* of the packed factors; of the sums */
    enum le_type array_type, target_type; /* as stored: those of factors and sums, or a 16-bit float type */
    struct le_conversion *left_conversion[LE_TERMS_MAX], *right_conversion[LE_TERMS_MAX],
        *target_conversion;      /* or NULL */
    size_t conversion_bytes;     /* of work memory */
    const struct le_blas *blas;  /* NULL: our own kernels, `products` */
    struct le_products products; /* our own kernels; for a BLAS only their packing is used */
    bool vector;                 /* a matrix times a vector: there is one column */
    bool direct;                 /* a BLAS works on the operands and the target in place */
    bool in_place;               /* our own kernels write packed products directly to the target */
    bool symmetric;              /* a matrix times its own transpose: tiles above the diagonal are copied */
    int64_t tile_rows, tile_columns, tile_terms;        /* of a tile; tile_terms: terms packed at once */
    int64_t row_tiles, column_tiles, parts, part_terms; /* parts of the sums, added in order */
    size_t left_bytes, right_bytes, total_bytes;        /* of the packed factors and the sums */
    size_t scratch_bytes;                               /* for one worker */
    int64_t operations;
};

/* *contract NULL: the vector machine computes the stage, because the extents are too small or the accesses too
 * irregular. */
leat_status le_contract_plan(struct leat_call *call, const struct le_stage *stage, struct le_arena *arena,
                             const struct le_contract **contract);
/* The first steps of le_contract_plan, shared with device plans: finds the form, the loops and the operands. Returns
 * false if the domain is empty or the accesses are too irregular. */
bool le_contract_analyse(const struct le_specialised *s, const struct le_stage *stage, struct le_arena *arena,
                         struct le_contract *contract);
bool le_contract_find_views(struct le_contract *contract); /* false: no BLAS can work on the operands in place */
void le_contract_transpose(struct le_contract *contract);  /* exchanges rows and columns */
/* contract_arrange.c: arranges an analysed contraction for a device's library: which loops are the rows, the columns
 * and the terms of a matrix product and which are a batch of them, and which operands are copied in another order
 * first. Chooses what takes the least time, from the extents and layouts alone. Afterwards the loops have the strides
 * of the copies, and there is at most one loop of each kind besides the batch's, the last of which is the library's
 * own. false: the accesses are too irregular, or the extents too short. */
bool le_contract_arrange(struct le_contract *contract, struct le_contract_copies *copies);
/* Of our own kernel on a large GPU, at least: the operands are in any order. */
double le_contract_our_seconds(const struct le_contract *contract);
/* contract_copy.c: the kernel, to be generated, that copies an array to its copy or back. Its values 0 and 1 are what
 * it reads and writes, whose buffers begin at the operand's first element and at the copy's. */
struct le_kernel le_contract_copy_kernel(const struct le_ir *ir, const struct le_contract_copy *copy,
                                         enum le_type array_type, enum le_type copy_type, bool back, const char *name,
                                         struct le_arena *arena);
/* contract_convert.c: on the CPU. Arranges for operands of 16-bit floats to be converted: the loops then have the
 * strides of the converted arrays. false: some array cannot be. */
leat_status le_contract_convert_plan(struct leat_call *call, const struct le_stage *stage, struct le_arena *arena,
                                     struct le_contract *contract, bool *can);
/* memory: the work memory of all conversions */
leat_status le_contract_convert_before(struct leat_call *call, const struct le_contract *contract, char *memory);
leat_status le_contract_convert_after(struct leat_call *call, const struct le_contract *contract, char *memory);
char *le_conversion_memory(const struct le_conversion *conversion, char *memory); /* of the converted array */
struct le_contract_view le_contract_view_of(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride);
/* Known when it runs: the bytes from the value's first element to the operand's; a factor's number, 1 for NULL. */
int64_t le_contract_offset_bytes(const struct le_specialised *s, const struct le_contract_operand *operand);
double le_contract_factor(const struct le_specialised *s, const struct le_node *node, bool negative);
/* Computes the stage into the target, whose memory is allocated. */
leat_status le_contract_run(struct leat_call *call, const struct le_contract *contract);
/* Prints what computes the stage and how it is cut. */
void le_contract_show(const struct le_contract *contract, struct le_text *out);
const char *le_contract_cause(const struct le_contract *contract); /* for the ledger: the name of what computes it */
#endif
