/* The vector machine for devices: one kernel that runs bytecode, so that a stage can run before its own code is
 * compiled. It runs the same bytecode as the CPU and computes the same bits. A thread has a few lanes; a task is a
 * thread block. Stages that report faults or notes, scans and scatters are left to compiled kernels.
 *
 * A *tape* is one launch of bytecode, encoded for the machine, in device memory. */
#ifndef LE_INTERPRETER_H
#define LE_INTERPRETER_H
#include "gen/kernel.h"

enum { LE_INTERPRETER_LANES = 512, LE_INTERPRETER_THREADS = 128, LE_INTERPRETER_BUFFERS = 16 };
enum { LE_INTERPRETER_SHARED_BYTES = (LE_INTERPRETER_LANES + LE_INTERPRETER_THREADS / 32) * 16 }; /* static */
#define LE_INTERPRETER_KERNEL "le_interpreter" /* takes the tape, then LE_INTERPRETER_BUFFERS pointers */

/* One interpreter for each float type of sums, because every instruction costs compile time. The one for f32 also
 * computes in f64, the type of a caller's scalars. */
enum le_interpreter { LE_INTERPRETER_F32, LE_INTERPRETER_F64, LE_INTERPRETERS };
const char *le_interpreter_name(enum le_interpreter which); /* "the interpreter for f32" */
/* Its text, which never changes. */
const char *le_interpreter_text(struct le_arena *arena, enum le_interpreter which);

struct le_tape {
    void *bytes;
    size_t size_bytes, shared_bytes;
    int64_t tasks;
    int buffers[LE_INTERPRETER_BUFFERS]; /* as the bytecode names them: values, or LE_PARTS */
    int buffer_count;
};
/* The launch's blocks have LE_INTERPRETER_LANES lanes at most. false: the machine does not run this bytecode, or not in
 * shared_bytes. */
bool le_tape_encode(struct le_arena *arena, enum le_interpreter which, const struct le_launch *launch,
                    size_t shared_bytes, struct le_tape *tape);
/* Joins the `count` totals that tasks have left in LE_PARTS into buffer `target`. */
bool le_tape_join(struct le_arena *arena, enum le_interpreter which, enum le_type type, enum le_reduction reduction,
                  int64_t count, int target, size_t shared_bytes, struct le_tape *tape);
#endif
