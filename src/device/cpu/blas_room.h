/* Memory and threads for OpenBLAS. OpenBLAS does not check whether it gets the memory and the threads that it requests:
 * without memory it retries forever, and without a thread it prints a message and raises SIGINT. So Leat checks first:
 * before the library is loaded, and before more threads than ever call it at one time. Each caller takes a buffer, and
 * buffers stay mapped.
 *
 * For a library that does not allow concurrent calls, calls also take turns here. Any thread. */
#ifndef LE_BLAS_ROOM_H
#define LE_BLAS_ROOM_H
#include "base/status.h"

/* Whether a library that may be OpenBLAS can be loaded. If not, `why` says what the process lacks. */
bool le_blas_room_to_load(char *why, size_t why_bytes);
/* callers_max: concurrent callers. take and give: OpenBLAS's functions for one buffer; NULL: it has no buffers, or does
 * not export the functions. */
void le_blas_room_init(int callers_max, bool has_buffers, void *(*take)(int purpose), void (*give)(void *buffer));

/* Call these around a product in which up to `callers` threads call the library concurrently. LEAT_OUT_OF_MEMORY if
 * there is not enough memory for one of them. If there is memory for some only, calls wait for each other. */
leat_status le_blas_enter(int callers);
void le_blas_leave(int callers);
/* Call these around every call of the library, between enter and leave. */
void le_blas_begin(void);
void le_blas_end(void);
#endif
