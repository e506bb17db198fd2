/* CONTRACT stages: planned for one set of extents and run over the threads, by a BLAS that is found on the machine or
 * by kernels of our own.
 *
 * The result is cut into tiles, and long sums that would make few of them into parts; how, hangs on the extents alone,
 * and each tile is one thread's, so that the numbers do not hang on the threads (docs: numbers that do not change).
 * Tiles that a BLAS can read and write where they lie are one call each; of all others copies are packed. */
#ifndef LE_CONTRACTION_H
#define LE_CONTRACTION_H
#include "device/cpu/blas.h"
#include "device/cpu/kernels/products.h"
#include "ir/passes/contract.h"
#include "run/call.h"

/* One loop: its iterations, and how far each takes us, in elements: in each product's left and right, in the target,
 * and in what is kept of its old values. */
struct le_contract_axis {
    int64_t count, left[LE_TERMS_MAX], right[LE_TERMS_MAX], target, kept;
};
struct le_contract_axes {
    struct le_contract_axis at[LEAT_RANK_MAX * 2];
    int count;
    int64_t total; /* iterations of all */
};

#define LE_HOSTS_MAX 4
/* Where an operand's first element lies: offset, and so much for each loop of the host's around. */
struct le_contract_operand {
    int value;
    int64_t offset;
    struct {
        int value; /* that holds the loop's number */
        int64_t factor;
    } hosts[LE_HOSTS_MAX];
    int host_count;
};

/* How a BLAS reads a matrix. */
struct le_contract_view {
    bool fits;
    int transposed; /* of CBLAS's enum */
    int stride;
};

struct le_contract {
    struct le_contraction form;
    struct le_contract_axes batch, rows, columns, terms;
    struct le_contract_operand left[LE_TERMS_MAX], right[LE_TERMS_MAX], target, kept;
    struct le_contract_view left_view[LE_TERMS_MAX], right_view[LE_TERMS_MAX];
    enum le_type factor_type, type; /* of the packed factors; of the sums, and the target */
    const struct le_blas *blas;     /* NULL: our own kernel, `products` */
    struct le_products products;    /* for a BLAS, what packs its factors */
    bool vector;                    /* one column: a matrix times a vector */
    bool direct;                    /* a BLAS works on the operands and the target where they lie */
    bool in_place;                  /* our own kernel works on packed factors and the target */
    bool symmetric;                 /* a matrix times its own transpose: tiles above the diagonal are copies */
    int64_t tile_rows, tile_columns, tile_terms;        /* of a tile; terms that are packed at once */
    int64_t row_tiles, column_tiles, parts, part_terms; /* parts of the sums, added up in order */
    size_t left_bytes, right_bytes, total_bytes;        /* of packed factors, and sums */
    size_t scratch_bytes;                               /* that one worker needs */
    int64_t operations;
};

/* NULL: the vector machine computes the stage's node, since the extents are small or the accesses too odd. */
const struct le_contract *le_contract_plan(struct leat_call *call, const struct le_stage *stage,
                                           struct le_arena *arena);
/* The first steps of that, which a device's plan shares: what is said, loops and operands. false: there is nothing to
 * do, or the accesses are too odd. */
bool le_contract_analyse(const struct le_specialised *s, const struct le_stage *stage, struct le_arena *arena,
                         struct le_contract *contract);
bool le_contract_find_views(struct le_contract *contract); /* false: no BLAS can work on what lies there */
/* What a run knows: bytes from the value's first element to the operand's; a term's number, 1 for NULL. */
int64_t le_contract_offset_bytes(const struct le_specialised *s, const struct le_contract_operand *operand);
double le_contract_factor(const struct le_specialised *s, const struct le_node *node, bool negative);
/* Into the target's memory, which is there. */
leat_status le_contract_run(struct leat_call *call, const struct le_contract *contract);
/* Who computes it and how it is cut, for people. */
void le_contract_show(const struct le_contract *contract, struct le_text *out);
const char *le_contract_cause(const struct le_contract *contract); /* for the ledger: who computes it */
#endif
