/* Runs the vector machine's code on the CPU: tasks over threads, loops over blocks of lanes, one indirect call per
 * instruction.
 *
 * A unit is prepared once: each instruction gets its function for the instruction set. Then jobs run it. Several jobs
 * may run at once if their scratch memory differs. */
#ifndef LE_CPU_EXECUTE_H
#define LE_CPU_EXECUTE_H
#include "base/arena.h"
#include "base/cancel.h"
#include "base/thread.h"
#include "device/cpu/machine/ops.h"

struct le_cpu_code {
    const struct le_unit *unit;
    le_cpu_op **ops; /* per instruction; NULL for a loop */
    size_t *offsets; /* per register: offset in a worker's scratch memory */
    int *elsewhere;  /* registers that are not at their offset in scratch memory */
    int elsewhere_count;
    bool past_caches;     /* some instruction stores past the caches */
    size_t areas_offset;  /* for bounds_check.h: offset in a worker's scratch memory */
    size_t scratch_bytes; /* needed by one worker */
};
leat_status le_cpu_prepare(struct le_arena *arena, const struct le_unit *unit, enum le_simd simd,
                           struct le_cpu_code *code);

/* A contiguous area of memory: an array, or a part of a worker's scratch memory. name NULL: unknown. */
struct le_cpu_area {
    const char *name, *low, *high;
};

struct le_cpu_job {
    const struct le_cpu_code *code;
    int64_t tasks, clip_count[2], clip_size[2], clip_pieces[2]; /* as in le_launch */
    int64_t row_count;    /* as in le_launch: tasks take terms of rows of this length; 0: they take iterations */
    void *const *buffers; /* per buffer number */
    void *parts;          /* buffer -2 */
    /* The area of a buffer, for bounds_check.h; NULL: unknown. */
    struct le_cpu_area (*area)(void *user, int buffer);
    void *area_user;
    char *scratch; /* 64-byte aligned; one part per worker */
    size_t scratch_stride;
    struct le_fault *faults;  /* one per worker, cleared by the caller */
    bool links;               /* parts: struct le_scan_link, one more than there are tasks */
    struct le_cancel *cancel; /* of the run; NULL: the job is never stopped */
};
/* After a request to cancel the run, the tasks stop soon, what they have computed is undefined, and LEAT_CANCELED is
 * returned. */
leat_status le_cpu_run(struct le_pool *pool, const struct le_cpu_job *job) __attribute__((warn_unused_result));
#endif
