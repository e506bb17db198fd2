/* Room for OpenBLAS. It does not check whether it gets the memory and the threads that it asks for: without memory it
 * asks again for ever, and without a thread it prints and raises SIGINT. So we check first: before the library is
 * loaded, and before more threads than ever call it at one time. Each caller takes a buffer, and buffers stay mapped.
 *
 * Calls of a library that does not allow several at one time take turns here, too. Any thread. */
#ifndef LE_BLAS_ROOM_H
#define LE_BLAS_ROOM_H
#include "base/status.h"

/* Whether a library that may be OpenBLAS can be loaded; if not, why says what it lacks. */
bool le_blas_room_to_load(char *why, size_t why_bytes);
/* callers_max: at one time. take and give: OpenBLAS's own for one buffer; NULL: it has none, or tells of none. */
void le_blas_room_init(int callers_max, bool has_buffers, void *(*take)(int purpose), void (*give)(void *buffer));

/* Around a product of which up to `callers` threads call the library at one time. LEAT_OUT_OF_MEMORY if there is no
 * room for one of them; with room for some only, calls wait for each other. */
leat_status le_blas_enter(int callers);
void le_blas_leave(int callers);
/* Around every call, between these. */
void le_blas_begin(void);
void le_blas_end(void);
#endif
