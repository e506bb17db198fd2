/* Compiled kernels of a context's device, keyed by their text. A process compiles each text once, and not at all if the
 * store on disk has it. Modules stay loaded up to a limit in bytes; beyond it, the least recently used module that no
 * plan holds is unloaded first. Thread-safe. */
#ifndef LE_COMPILED_CODE_H
#define LE_COMPILED_CODE_H
#include "gen/device_code.h"
#include "run/context.h"

struct le_code_table;  /* the context's */
struct le_loaded_code; /* one loaded kernel; plans hold it */

/* cap_bytes: limit of the loaded code; code that plans hold may exceed it. 0: 256 MiB. */
leat_status le_code_table_new(leat_context *ctx, size_t cap_bytes, struct le_code_table **table);
void le_code_table_free(struct le_code_table *table); /* NULL is fine; no code may be held any more */

struct le_code_source {
    const char *kernel, *text; /* of a le_generated_launch: equal texts are one kernel */
    const char *program;       /* the name of the program that asks for it */
    const char *what,
        *cause; /* the statement and its types; why the code is needed, such as "first use with these types" */
};
/* Finds the code in memory or on disk, or compiles it; the ledger records which. The caller holds *code until
 * le_code_release. Threads that ask for the same text at the same time wait for one compilation. */
leat_status le_code_get(leat_context *ctx, const struct le_code_source *source, struct le_loaded_code **code);
/* The compiler options for generated code, terminated by NULL. */
const char *const *le_code_options(void);
void le_code_release(struct le_loaded_code *code); /* NULL is fine */

/* le_code_request is le_code_get without waiting for a compiler. */
enum le_code_state {
    LE_CODE_READY,  /* found in memory or on disk; *code is held */
    LE_CODE_COMING, /* not compiled yet; a thread of the context compiles it, unless the wish was KEPT */
    LE_CODE_FAILED  /* compilation failed; le_code_get tries again and reports the error */
};
enum le_code_wish {
    LE_CODE_SOON,  /* compile it next; leat_close waits for it, so that other processes find it on disk */
    LE_CODE_SPARE, /* compile it after everything else, and not at all if the context is closed first */
    LE_CODE_KEPT   /* do not compile: return it only if it is in memory or on disk */
};
enum le_code_state le_code_request(leat_context *ctx, const struct le_code_source *source, enum le_code_wish wish,
                                   struct le_loaded_code **code);
/* Lets a thread of the context compile the code, or find it on disk, if it is not in memory: le_code_get will want it
 * soon. Up to eight such threads work at the same time. */
void le_code_prefetch(leat_context *ctx, const struct le_code_source *source);
int64_t le_code_waits(leat_context *ctx); /* how many times le_code_get has waited for a compiler */
struct le_device_kernel *le_code_kernel(const struct le_loaded_code *code);
#endif
