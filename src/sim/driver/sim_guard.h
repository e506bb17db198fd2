/* Host accesses that nothing has ordered: while checking, memory of the device is closed to the host, and pinned memory
 * that given work writes (or reads) is closed (or read-only) until the host has waited for that work. An access is
 * noted by a handler of SIGSEGV, which opens the page and lets it go on; the report is made at the next call. The
 * handler passes on what is not its own to the one that was there before.
 *
 * What a kernel does with pinned memory is not known before it has run: a host read counts if the kernel then changed
 * what was read, and if the host was not watching it, which is what one does that makes no call until it changes.
 *
 * Under the state's lock; where nothing is checked all of it does nothing. */
#ifndef LE_SIM_GUARD_H
#define LE_SIM_GUARD_H
#include "sim/driver/sim_state.h"

bool le_sim_guard_start(void);
void le_sim_guard_stop(void);
/* The operation was given: pinned memory that it names is closed. false: no memory. */
bool le_sim_guard_add(const struct sim_stream *stream, const struct sim_op *op);
/* Opens what the host by now knows to be over. */
void le_sim_guard_release(void);
/* Around running it: opens what it touches, and closes it again. */
void le_sim_guard_open(const struct sim_op *op);
void le_sim_guard_close(const struct sim_op *op);
/* Work is about to run unasked: the host may be watching memory. */
void le_sim_guard_drop_unconfirmed(void);
/* Reports what the handler has noted, and closes the pages that it opened. */
void le_sim_guard_report(void);
/* Memory came or goes; an array in pooled memory did. */
void le_sim_guard_allocation(const struct sim_allocation *allocation, bool live);
void le_sim_guard_array(uintptr_t address, size_t size_bytes, bool live);
/* Around changes of what the handler looks up. */
void le_sim_guard_lock(void);
void le_sim_guard_unlock(void);
#endif
