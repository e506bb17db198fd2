/* State shared by the stager's files: staging.c has the jobs and the waiting, staging_threads.c the threads,
 * staging_small.c the copies that need no thread. `lock` guards everything except constants and the contents of a
 * thread's own slots. */
#ifndef LE_STAGING_STATE_H
#define LE_STAGING_STATE_H
#include "device/front/staging.h"
#include <pthread.h>

enum { LE_STAGE_SLOTS = 3, LE_STAGE_THREADS_MAX = 64, LE_STAGE_SMALL_SLOTS = 32, LE_STAGE_SMALL_STEP = 8 };
enum { LE_STAGE_FAILURES_MAX = 16, LE_STAGE_EVENTS_MAX = 32, LE_STAGE_MESSAGE_BYTES = 400 };

struct le_staging_job {
    struct le_staging *stager;
    struct le_staging_job *next;
    struct le_staging_work work; /* work.plan points to the plan below */
    _Alignas(16) unsigned char plan[LE_STAGE_PLAN_BYTES];
    struct le_small_copy *small; /* NULL: a job for the threads */
    void *native_stream;
    uint64_t stream_id, number;
    void *start;  /* event after the earlier work in the user's stream */
    bool passed;  /* start has passed */
    bool watched; /* a thread waits for start */
    int64_t taken, enqueued, moved;
    uint8_t last[LE_STAGE_THREADS_MAX]; /* per thread: the last slot with a chunk of this job, from 1; 0: none */
    bool settled;
    leat_status status;
    char message[LE_STAGE_MESSAGE_BYTES];
};

struct le_staging_slot {
    struct le_staging_buffer memory;
    void *event;
    bool recorded;
    struct le_staging_job *job; /* the job whose downloaded chunk it holds; NULL: none */
    int64_t chunk;
};
struct le_staging_worker {
    struct le_staging *stager;
    pthread_t thread;
    int index;
    void *stream;
    struct le_staging_buffer memory; /* memory of all its slots */
    struct le_staging_slot slots[LE_STAGE_SLOTS];
    int next;  /* the next slot to use: the least recently used */
    bool busy; /* works without the lock; otherwise it checks the jobs before it sleeps */
};

enum le_small_state { LE_SMALL_FREE, LE_SMALL_HELD, LE_SMALL_IN_FLIGHT, LE_SMALL_FINISHING };
struct le_small_copy {
    enum le_small_state state;
    uint64_t taken; /* small_taken of the stager when this slot was taken */
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
    int threads;                   /* maximum */
    _Atomic int64_t unsettled;     /* jobs not settled */
    _Atomic int64_t unfinished;    /* jobs, small downloads, and failures not yet reported */
    pthread_mutex_t lock;          /* guards the fields below */
    pthread_cond_t work, progress; /* work: wakes the threads; progress: wakes those that wait for jobs */
    struct le_staging_job *jobs;   /* started and not done; the next to serve comes first */
    struct le_staging_worker *workers[LE_STAGE_THREADS_MAX];
    int worker_count, watchers;
    struct le_staging_worker
        *latest; /* the last to take a chunk: preferred, as a stream's first transfer is slower than later ones */
    bool stopping;
    void *events[LE_STAGE_EVENTS_MAX]; /* free events */
    int event_count;
    struct le_small_copy *small; /* LE_STAGE_SMALL_SLOTS entries, small_count of them with memory; NULL: not used yet */
    struct le_staging_buffer small_memory[LE_STAGE_SMALL_SLOTS / LE_STAGE_SMALL_STEP];
    int small_count;
    bool small_refused;   /* allocating more failed */
    uint64_t small_taken; /* number of times a slot was taken */
    struct le_staging_failure failures[LE_STAGE_FAILURES_MAX];
    int failure_count;
};

/* ---- staging.c; call all with the lock held */

/* Stores the calling thread's last error in the job, if it is the job's first. */
void le_staging_fail(struct le_staging_job *job, leat_status status);
void le_staging_keep_failure(struct le_staging *s, const struct le_staging_job *job);
void le_staging_unlink(struct le_staging *s, struct le_staging_job *job);
void le_staging_append(struct le_staging *s, struct le_staging_job *job);
/* Call after progress of the job: settles it or ends it when it is time. */
void le_staging_advance(struct le_staging *s, struct le_staging_job *job);

/* ---- staging_threads.c */

/* Starts as many threads as that many chunks keep busy, at least one. Call with the lock held. */
leat_status le_staging_ensure_workers(struct le_staging *s, int64_t chunks);
void le_staging_free_workers(struct le_staging *s); /* call when no job is left */

/* ---- staging_small.c */

/* Takes a free slot. Adds slots before it waits for one. Call with the lock held; releases it meanwhile. */
leat_status le_small_copy_hold(struct le_staging *s, struct le_small_copy **slot);
leat_status le_small_copy_enqueue(struct le_staging_job *job, void *native_stream);
bool le_small_copy_is_download(
    const struct le_small_copy *slot); /* a download that has not been copied to the user's memory yet */
/* Waits for the slot's transfer, and copies a download to the user's memory. Call with the lock held; releases it
 * meanwhile. */
void le_small_copy_finish(struct le_staging *s, struct le_small_copy *slot);
void le_small_copies_free(struct le_staging *s); /* call when no job is left */
#endif
