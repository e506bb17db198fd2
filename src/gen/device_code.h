/* Generates CUDA C for a stage. The text depends on operations, types, ranks and layout classes only. All numbers of a
 * run (lows, counts, strides, extents) are arguments, so another shape of the same class has the same text, which is
 * compiled once. The text contains its prelude and includes nothing, so any CUDA C compiler can compile it.
 *
 * The kernels of one launch list run in order in one stream. Memory for partial results starts as zeros if the list
 * asks for it. Elements that read out of range and notes about integer division are recorded in the run's
 * le_device_fault. */
#ifndef LE_DEVICE_CODE_H
#define LE_DEVICE_CODE_H
#include "gen/kernel.h"

/* What an argument of a kernel is. In the text: of ARRAY, TARGET, WORK and FAULT a pointer, of NUMBER a long long, of
 * SCALAR a le_scalar. */
enum le_argument_kind {
    LE_ARGUMENT_ARRAY,    /* address of the value's element that layout.offset counts from: element [i,j] lies at
                             address + (offset + i * strides[0] + j * strides[1]) elements; never written here */
    LE_ARGUMENT_TARGET,   /* the same of a value that this stage makes, which is read, too, where it has a base */
    LE_ARGUMENT_RESULT,   /* address of the 8 bytes of a rank-0 value that this stage makes; its bytes come first */
    LE_ARGUMENT_SCALAR,   /* a rank-0 value that is there: struct le_scalar */
    LE_ARGUMENT_NUMBER,   /* number */
    LE_ARGUMENT_WORK,     /* address of the launch list's work memory, plus number bytes */
    LE_ARGUMENT_COUNTERS, /* address of numbers that are 0 when the kernel starts, and that it leaves so */
    LE_ARGUMENT_FAULT     /* address of the run's le_device_fault */
};
/* Passed by value, 16 bytes: a scalar that the host knows, or the place in the device's memory where a kernel before
 * has left it. */
struct le_scalar {
    uint64_t bits; /* the type's bytes come first; of a rank-0 value as it is stored (a 16-bit float's 2 bytes) */
    uint64_t at;   /* address; 0: bits */
};
struct le_argument {
    enum le_argument_kind kind;
    int value;
    int64_t number;
};

struct le_generated_launch {
    const char *kernel; /* extern "C" name; valid C, made from the statement's names */
    const char *text;   /* the whole unit; equal texts are one kernel */
    const struct le_kernel_tree *tree;
    struct le_argument *arguments;
    int argument_count;
    unsigned grid[3], block[3];   /* grid[0] 0: there is nothing to do */
    size_t shared_bytes;          /* dynamic */
    bool may_fault, may_note;     /* it takes FAULT, and may write a fault, or notes, there */
    int64_t operations, elements; /* for the ledger */
    const char *mapping;      /* the text of the mapping that made it and the following ones; NULL: as the one before */
    double predicted_seconds; /* of all kernels of the mapping; 0: not predicted */
    const char *how;          /* in a few words, for `--emit plan`: "a thread for 4 elements", "a block for each row" */
};
struct le_generated_launches {
    struct le_generated_launch *at;
    int count, capacity;
    size_t work_bytes;   /* of all its kernels together */
    size_t zeroed_bytes; /* the first so many of them are 0 when the first kernel starts */
    size_t counter_bytes;
};

/* Lies in memory that the host reads after the run. All zeros at the start, but for point. */
struct le_device_fault {
    uint64_t point; /* number of the element that found the fault, in the order of the stage's indices; the least wins;
                       starts as UINT64_MAX */
    int64_t access_axis, value;        /* as in le_fault */
    uint32_t set, notes, lock, unused; /* set: 1 + the number of the action that was handed to the generator */
};

/* What is known of the device and of the memory at hand. */
struct le_device_facts {
    int multiprocessors, multiprocessor_threads, block_threads;
    double bytes_per_second, operations_per_second; /* of memory; additions of f32 */
    const char *mapping;                            /* LEAT_MAPPING, checked; NULL: it is not set */
    size_t shared_bytes, shared_most_bytes;         /* of a block; and of one that asks for it (dynamic) */
    int capability;
    /* by value: whether element 0's address is a multiple of 16 bytes (a new array's always is) */
    bool (*is_aligned)(void *user, int value);
    /* By value: the one whose elements lie right behind this one's, as imaginary parts do behind real ones; -1: none.
     * The function may be NULL. */
    int (*imaginary_of)(void *user, int value);
    void *user;
};
struct le_device_kernel_job {
    struct le_kernel kernel; /* .threads is not used */
    const struct le_device_facts *facts;
    int action; /* its number in the plan, for the fault record */
};
/* LEAT_INVALID, with the names that there are, if the value of LEAT_MAPPING has other ones or is malformed. */
leat_status le_mapping_check(const char *text);
/* LEAT_UNSUPPORTED, with the statement's place, where it cannot be written for a device. */
leat_status le_device_generate(const struct le_device_kernel_job *job, struct le_generated_launches *out);

/* Whether the stage reads what the other one makes. */
bool le_device_reads(const struct le_ir *ir, const struct le_stage *stage, const struct le_stage *maker);
/* The job's node, with each read of the maker stage's array replaced by the expression that computes the element. The
 * maker then needs no kernel. The node belongs to a fork of the program's IR. NULL: a kernel for the maker is faster.
 */
struct le_node *le_device_make_there(const struct le_device_kernel_job *job, const struct le_stage *maker);
/* The job's stage and `member` as one stage, of which the one with more indices is the first and has the other in its
 * `also`. NULL: two kernels are as fast, or one cannot do it. member: the other stage over the indices of the job's
 * stage, or over these and more, or fewer. other: the stage as its own kernel would compute it. */
const struct le_stage *le_device_join(const struct le_device_kernel_job *job, const struct le_stage *other,
                                      const struct le_stage *member);
/* The same for reductions whose columns the job's kernel then keeps on chip, though it may not be the only one that
 * reads what the maker makes. Adds to *gain_seconds what the kernel itself gains, or loses, by it. */
struct le_node *le_device_keep_there(const struct le_device_kernel_job *job, const struct le_stage *maker,
                                     double *gain_seconds);
double le_device_seconds(const struct le_device_kernel_job *job); /* predicted, of a stage of kind MAP */
#endif
