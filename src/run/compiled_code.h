/* Compiled kernels of a context's device, by their text: each text is compiled once in a process, and not at all where
 * the store on disk has it. Modules stay loaded up to a limit of bytes; the one that was used longest ago, and that no
 * plan holds, is unloaded first. Any thread. */
#ifndef LE_COMPILED_CODE_H
#define LE_COMPILED_CODE_H
#include "gen/device_code.h"
#include "run/context.h"

struct le_code_table;  /* the context's */
struct le_loaded_code; /* one kernel, loaded; held by plans */

/* cap_bytes: of modules that stay loaded though no plan holds them; 0: 256 MiB. */
leat_status le_code_table_new(leat_context *ctx, size_t cap_bytes, struct le_code_table **table);
void le_code_table_free(struct le_code_table *table); /* NULL is fine; all that was held has been released */

struct le_code_source {
    const char *kernel, *text; /* as of a le_device_launch: equal texts are one kernel */
    const char *program;       /* whose it is, and */
    const char *what, *cause;  /* its statement and types, and why it is asked for: "first use with these types" */
};
/* Found in memory, or on disk, or compiled; the ledger says which. Held until le_code_release. Threads that ask for one
 * text at a time wait for one compilation. */
leat_status le_code_get(leat_context *ctx, const struct le_code_source *source, struct le_loaded_code **code);
/* What generated code is compiled with, ends with NULL. */
const char *const *le_code_options(void);
void le_code_release(struct le_loaded_code *code); /* NULL is fine */

/* The same without waiting for a compiler. */
enum le_code_state {
    LE_CODE_READY,  /* *code, held: found in memory or on disk */
    LE_CODE_COMING, /* a thread of the context's compiles it, now or soon; or it is not even asked to (KEPT) */
    LE_CODE_FAILED  /* le_code_get tries it again and says why */
};
enum le_code_wish {
    LE_CODE_SOON,  /* it is compiled next; leat_close waits for it, so that other processes find it on disk */
    LE_CODE_SPARE, /* after all else, and not at all if the context is closed before its turn */
    LE_CODE_KEPT   /* not at all: it is wanted if it is there */
};
enum le_code_state le_code_request(leat_context *ctx, const struct le_code_source *source, enum le_code_wish wish,
                                   struct le_loaded_code **code);
int64_t le_code_waits(leat_context *ctx); /* how often le_code_get has waited for a compiler */
struct le_device_kernel *le_code_kernel(const struct le_loaded_code *code);
#endif
