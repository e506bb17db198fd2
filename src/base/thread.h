/* A pool of threads that share the tasks of one job at a time. The calling thread works too. Tasks are handed out in
 * order, one by one. Every worker runs with the default floating-point environment. */
#ifndef LE_THREAD_H
#define LE_THREAD_H
#include "base/status.h"

struct le_pool;
typedef void le_task(void *job, int64_t task, int worker); /* worker: 0..threads-1 */
/* threads: number of workers including the caller, at least 1. Threads are started by the first job that needs them. */
leat_status le_pool_new(int threads, struct le_pool **pool);
void le_pool_free(struct le_pool *pool);
int le_pool_threads(const struct le_pool *pool);
/* Runs tasks 0..count-1 and returns when all are done. Several callers take turns. LEAT_CANCELED if the run on this
 * thread was canceled (cancel.h): before its turn, and then no task ran, or since. */
leat_status le_pool_run(struct le_pool *pool, le_task *task, void *job, int64_t count)
    __attribute__((warn_unused_result));
int le_cores(void); /* cores that this process may use, by its affinity and control groups */
#endif
