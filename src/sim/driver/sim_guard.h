/* Detection of unordered host accesses. While checking, device memory is protected from the host. Pinned memory that
 * enqueued work writes is protected, and pinned memory that it reads is read-only, until the host has waited for that
 * work. A SIGSEGV handler records an access, makes the page accessible and lets the access continue. The report is made
 * at the next call. The handler passes faults that are not its own to the previous handler.
 *
 * What a kernel does with pinned memory is unknown until it has run. A host read is reported only if the kernel then
 * changed what was read, and if the host was not polling it. The host polls if it makes no call until the value
 * changes.
 *
 * Guarded by the state's lock. When not checking, these functions do nothing. */
#ifndef LE_SIM_GUARD_H
#define LE_SIM_GUARD_H
#include "sim/driver/sim_state.h"

bool le_sim_guard_start(void);
void le_sim_guard_stop(void);
/* Called when an operation is enqueued: protects the pinned memory that it uses. false: out of memory. */
bool le_sim_guard_add(const struct sim_stream *stream, const struct sim_op *op);
/* Unprotects the memory of operations that the host now knows to be complete. */
void le_sim_guard_release(void);
/* Called before and after an operation runs: unprotects what it uses, then protects it again. */
void le_sim_guard_open(const struct sim_op *op);
void le_sim_guard_close(const struct sim_op *op);
/* Called before work runs that no call waits for: drops unconfirmed accesses, because the host may be polling. */
void le_sim_guard_drop_unconfirmed(void);
/* Reports the accesses that the handler recorded, and protects the pages that it opened. */
void le_sim_guard_report(void);
/* An allocation, or an array in pooled memory, begins (live) or ends. */
void le_sim_guard_allocation(const struct sim_allocation *allocation, bool live);
void le_sim_guard_array(uintptr_t address, size_t size_bytes, bool live);
/* Held while data that the handler reads is changed. */
void le_sim_guard_lock(void);
void le_sim_guard_unlock(void);
#endif
