/* Runs the vector machine's code on the CPU: tasks over threads, loops over blocks, one indirect call an instruction.
 *
 * A unit is prepared once: each instruction finds its function for the instruction set. A job then runs it; several may
 * run at once if their scratch memory differs. */
#ifndef LE_CPU_EXECUTE_H
#define LE_CPU_EXECUTE_H
#include "base/arena.h"
#include "base/thread.h"
#include "device/cpu/machine/ops.h"

struct le_cpu_code {
    const struct le_unit *unit;
    le_cpu_op **ops; /* by instruction; NULL for a loop */
    size_t *offsets; /* by register: in a worker's scratch memory */
    int *elsewhere;  /* registers that do not simply lie there */
    int elsewhere_count;
    bool past_caches;     /* some instruction stores past them */
    size_t areas_offset;  /* bounds_check.h: in a worker's scratch memory */
    size_t scratch_bytes; /* that one worker needs */
};
leat_status le_cpu_prepare(struct le_arena *arena, const struct le_unit *unit, enum le_simd simd,
                           struct le_cpu_code *code);

/* Memory that belongs together: an array, or a part of a worker's scratch memory. name NULL: it is not known. */
struct le_cpu_area {
    const char *name, *low, *high;
};

struct le_cpu_job {
    const struct le_cpu_code *code;
    int64_t tasks, clip_count[2], clip_size[2], clip_pieces[2]; /* as in le_launch */
    int64_t row_count;    /* as in le_launch: tasks take terms of rows of so many; 0: they take iterations */
    void *const *buffers; /* by buffer number */
    void *parts;          /* buffer -2 */
    /* Where a buffer lies, for bounds_check.h; NULL: not known. */
    struct le_cpu_area (*area)(void *user, int buffer);
    void *area_user;
    char *scratch; /* 64-byte aligned; one piece a worker */
    size_t scratch_stride;
    struct le_fault *faults; /* one a worker, cleared by the caller */
};
void le_cpu_run(struct le_pool *pool, const struct le_cpu_job *job);
#endif
