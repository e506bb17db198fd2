/* What the stager's files share: staging.c has the jobs and who waits for them, staging_threads.c the threads,
 * staging_small.c the copies that need none. `lock` guards all but the constants and what a thread's own slots hold. */
#ifndef LE_STAGING_STATE_H
#define LE_STAGING_STATE_H
#include "device/front/staging.h"
#include <pthread.h>

enum { LE_STAGE_SLOTS = 3, LE_STAGE_THREADS_MAX = 64, LE_STAGE_SMALL_SLOTS = 32, LE_STAGE_SMALL_STEP = 8 };
enum { LE_STAGE_FAILURES_MAX = 16, LE_STAGE_EVENTS_MAX = 32, LE_STAGE_MESSAGE_BYTES = 400 };

struct le_staging_job {
    struct le_staging *stager;
    struct le_staging_job *next;
    struct le_staging_work work; /* its plan is the one below */
    _Alignas(16) unsigned char plan[LE_STAGE_PLAN_BYTES];
    struct le_small_copy *small; /* NULL: a job of the threads' */
    void *native_stream;
    uint64_t stream_id, number;
    void *start;  /* event: what was in the stream before it */
    bool passed;  /* start has */
    bool watched; /* a thread waits for it */
    int64_t taken, enqueued, moved;
    uint8_t last[LE_STAGE_THREADS_MAX]; /* each thread's last slot with a chunk of it, from 1 */
    bool settled;
    leat_status status;
    char message[LE_STAGE_MESSAGE_BYTES];
};

struct le_staging_slot {
    struct le_staging_buffer memory;
    void *event;
    bool recorded;
    struct le_staging_job *job; /* a chunk that comes down into it */
    int64_t chunk;
};
struct le_staging_worker {
    struct le_staging *stager;
    pthread_t thread;
    int index;
    void *stream;
    struct le_staging_buffer memory; /* of all its slots */
    struct le_staging_slot slots[LE_STAGE_SLOTS];
    int next;  /* slot to use, the one that was used longest ago */
    bool busy; /* without the lock; else it looks at the jobs before it sleeps */
};

enum le_small_state { LE_SMALL_FREE, LE_SMALL_HELD, LE_SMALL_IN_FLIGHT, LE_SMALL_FINISHING };
struct le_small_copy {
    enum le_small_state state;
    uint64_t taken; /* the stager's small_taken then */
    struct le_staging_buffer memory;
    void *event;
    struct le_staging_job job;
};

struct le_staging_failure {
    uint64_t stream_id, number;
    leat_status status;
    char message[LE_STAGE_MESSAGE_BYTES];
};

struct le_staging {
    const struct le_device_ops *ops;
    void *native;
    int threads;                   /* at most */
    _Atomic int64_t unsettled;     /* jobs */
    _Atomic int64_t unfinished;    /* jobs, small copies that come down, failures that nobody was told of */
    pthread_mutex_t lock;          /* guards what follows */
    pthread_cond_t work, progress; /* for the threads; for those who wait for jobs */
    struct le_staging_job *jobs;   /* started and not done; whose turn it is comes first */
    struct le_staging_worker *workers[LE_STAGE_THREADS_MAX];
    int worker_count, watchers;
    struct le_staging_worker
        *latest; /* that took a chunk: a stream's first transfer takes longer than those after it */
    bool stopping;
    void *events[LE_STAGE_EVENTS_MAX]; /* free */
    int event_count;
    struct le_small_copy *small; /* LE_STAGE_SMALL_SLOTS of them, small_count with memory; NULL: not used yet */
    struct le_staging_buffer small_memory[LE_STAGE_SMALL_SLOTS / LE_STAGE_SMALL_STEP];
    int small_count;
    bool small_refused;   /* there was no memory for more */
    uint64_t small_taken; /* so often was one */
    struct le_staging_failure failures[LE_STAGE_FAILURES_MAX];
    int failure_count;
};

/* ---- staging.c; all with the lock held */

/* The calling thread's last failure becomes the job's, if it is its first. */
void le_staging_fail(struct le_staging_job *job, leat_status status);
void le_staging_keep_failure(struct le_staging *s, const struct le_staging_job *job);
void le_staging_unlink(struct le_staging *s, struct le_staging_job *job);
void le_staging_append(struct le_staging *s, struct le_staging_job *job);
/* After something of the job has moved on: settles it, or ends it. */
void le_staging_advance(struct le_staging *s, struct le_staging_job *job);

/* ---- staging_threads.c */

/* As many as that many chunks keep busy, at least one. Lock held. */
leat_status le_staging_ensure_workers(struct le_staging *s, int64_t chunks);
void le_staging_free_workers(struct le_staging *s); /* no job is left */

/* ---- staging_small.c */

/* A free slot; there are more of them before any is waited for. Lock held, but not all the time. */
leat_status le_small_copy_hold(struct le_staging *s, struct le_small_copy **slot);
leat_status le_small_copy_enqueue(struct le_staging_job *job, void *native_stream);
bool le_small_copy_is_download(const struct le_small_copy *slot); /* and is not there yet */
/* Waits for the slot's transfer; what came down goes to the user's memory. Lock held, but not all the time. */
void le_small_copy_finish(struct le_staging *s, struct le_small_copy *slot);
void le_small_copies_free(struct le_staging *s); /* no job is left */
#endif
