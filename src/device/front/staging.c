/* The stager's jobs: starting, ending, and waiting for them. copy.c defines chunks. */
#include "device/front/staging_state.h"
#include "base/memory.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

leat_status le_staging_new(const struct le_device_ops *ops, void *native, int threads, struct le_staging **stager) {
    struct le_staging *s = le_alloc_zero(1, sizeof *s);
    if (!s)
        return le_fail_out_of_memory(sizeof *s);
    s->ops = ops;
    s->native = native;
    s->threads = threads < 1 ? 1 : threads > LE_STAGE_THREADS_MAX ? LE_STAGE_THREADS_MAX : threads;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->work, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_cond_init(&s->progress, NULL);
    *stager = s;
    return LEAT_OK;
}

/* ---- ending jobs; call all with the lock held */

void le_staging_keep_failure(struct le_staging *s, const struct le_staging_job *job) {
    if (s->failure_count == LE_STAGE_FAILURES_MAX) {
        memmove(&s->failures[0], &s->failures[1], (LE_STAGE_FAILURES_MAX - 1) * sizeof s->failures[0]);
        s->failure_count--;
        atomic_fetch_sub(&s->unfinished, 1);
    }
    struct le_staging_failure *f = &s->failures[s->failure_count++];
    *f = (struct le_staging_failure){.stream_id = job->stream_id, .number = job->number, .status = job->status};
    memcpy(f->message, job->message, sizeof f->message);
    atomic_fetch_add(&s->unfinished, 1);
}

void le_staging_fail(struct le_staging_job *job, leat_status status) {
    const struct leat_error *error = le_error_at(0);
    if (job->status)
        return;
    job->status = status;
    snprintf(job->message, sizeof job->message, "%s", error ? error->message : "a copy failed");
}

void le_staging_unlink(struct le_staging *s, struct le_staging_job *job) {
    struct le_staging_job **at = &s->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    job->next = NULL;
}

void le_staging_append(struct le_staging *s, struct le_staging_job *job) {
    struct le_staging_job **at = &s->jobs;
    while (*at)
        at = &(*at)->next;
    *at = job;
}

static void return_event(struct le_staging *s, void *event) {
    if (!event)
        return;
    if (s->event_count < LE_STAGE_EVENTS_MAX)
        s->events[s->event_count++] = event;
    else
        s->ops->event_free(s->native, event);
}

/* Makes the user's stream wait for the last transfer of each thread. The threads' streams wait for nothing but each
 * other's chunks, so an event that was recorded again meanwhile only makes the user's stream wait a little longer. */
static void settle_job(struct le_staging *s, struct le_staging_job *job) {
    for (int k = 0; k < s->worker_count; k++) {
        if (!job->last[k])
            continue;
        void *event = s->workers[k]->slots[job->last[k] - 1].event;
        leat_status status = s->ops->stream_wait(s->native, job->native_stream, event);
        if (status)
            le_staging_fail(job, status);
    }
    job->settled = true;
    atomic_fetch_sub(&s->unsettled, 1);
}

void le_staging_advance(struct le_staging *s, struct le_staging_job *job) {
    if (!job->settled && job->enqueued == job->work.chunks) {
        settle_job(s, job);
        pthread_cond_broadcast(&s->progress);
    }
    if (!job->settled || (!job->work.up && job->moved < job->work.chunks))
        return;
    le_staging_unlink(s, job);
    if (job->status)
        le_staging_keep_failure(s, job);
    atomic_fetch_sub(&s->unfinished, 1);
    return_event(s, job->start);
    le_free(job);
    pthread_cond_broadcast(&s->progress);
}

/* ---- jobs */

static void fill_job(struct le_staging_job *job, struct le_staging *s, const struct le_staging_work *work) {
    assert(work->plan_bytes <= sizeof job->plan && work->chunks > 0 && (!work->small || work->chunks == 1));
    job->stager = s;
    job->work = *work;
    job->work.plan = job->plan;
    memcpy(job->plan, work->plan, work->plan_bytes);
}

static leat_status take_event(struct le_staging *s, void **event) {
    if (s->event_count == 0)
        return s->ops->event_new(s->native, false, event);
    *event = s->events[--s->event_count];
    return LEAT_OK;
}

leat_status le_staging_job_new(struct le_staging *s, const struct le_staging_work *work, struct le_staging_job **job) {
    struct le_staging_job *made = NULL;
    struct le_small_copy *small = NULL;
    leat_status status = LEAT_OK;
    if (!work->small) {
        made = le_alloc_zero(1, sizeof *made);
        if (!made)
            return le_fail_out_of_memory(sizeof *made);
    }
    pthread_mutex_lock(&s->lock);
    if (work->small)
        status = le_small_copy_hold(s, &small);
    else
        status = le_staging_ensure_workers(s, work->chunks);
    if (!status && !work->small)
        status = take_event(s, &made->start);
    pthread_mutex_unlock(&s->lock);
    if (status) {
        le_free(made);
        return status;
    }
    if (small) {
        made = &small->job;
        memset(made, 0, sizeof *made);
        made->small = small;
    }
    fill_job(made, s, work);
    *job = made;
    return LEAT_OK;
}

leat_status le_staging_enqueue(struct le_staging_job *job, void *native_stream) {
    struct le_staging *s = job->stager;
    job->native_stream = native_stream;
    return job->small ? le_small_copy_enqueue(job, native_stream)
                      : s->ops->event_record(s->native, job->start, native_stream);
}

void le_staging_start(struct le_staging_job *job, uint64_t stream_id, uint64_t number) {
    struct le_staging *s = job->stager;
    job->stream_id = stream_id;
    job->number = number;
    pthread_mutex_lock(&s->lock);
    if (!job->small || !job->work.up)
        atomic_fetch_add(&s->unfinished, 1);
    if (job->small) {
        job->small->state = LE_SMALL_IN_FLIGHT;
        pthread_cond_broadcast(&s->progress);
    } else {
        atomic_fetch_add(&s->unsettled, 1);
        le_staging_append(s, job);
        pthread_cond_broadcast(&s->work);
    }
    pthread_mutex_unlock(&s->lock);
}

void le_staging_drop(struct le_staging_job *job) {
    struct le_staging *s = job->stager;
    pthread_mutex_lock(&s->lock);
    if (job->small) {
        job->small->state = LE_SMALL_FREE;
        pthread_cond_broadcast(&s->progress);
    } else {
        return_event(s, job->start);
        le_free(job);
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- waiting */

static bool is_settled(const struct le_staging *s, uint64_t stream_id) {
    for (const struct le_staging_job *job = s->jobs; job; job = job->next)
        if (job->stream_id == stream_id && !job->settled)
            return false;
    return true;
}

bool le_staging_is_settled(struct le_staging *s, uint64_t stream_id) {
    if (atomic_load(&s->unsettled) == 0)
        return true;
    pthread_mutex_lock(&s->lock);
    bool settled = is_settled(s, stream_id);
    pthread_mutex_unlock(&s->lock);
    return settled;
}

void le_staging_settle(struct le_staging *s, uint64_t stream_id) {
    if (atomic_load(&s->unsettled) == 0)
        return;
    pthread_mutex_lock(&s->lock);
    while (!is_settled(s, stream_id))
        pthread_cond_wait(&s->progress, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

/* Whether a ticket is among those up to number of stream_id. stream_id 0: always. */
static bool ticket_concerns(uint64_t stream_id, uint64_t number, uint64_t of_stream, uint64_t of_number) {
    return !stream_id || (of_stream == stream_id && of_number <= number);
}

/* Finishes one small download, or waits for progress. false: everything asked for is done. Call with the lock held. */
static bool wait_once(struct le_staging *s, uint64_t stream_id, uint64_t number) {
    bool waits = false;
    for (int k = 0; k < s->small_count; k++) {
        struct le_small_copy *m = &s->small[k];
        if (!le_small_copy_is_download(m) || !ticket_concerns(stream_id, number, m->job.stream_id, m->job.number))
            continue;
        if (m->state == LE_SMALL_IN_FLIGHT) {
            le_small_copy_finish(s, m);
            return true;
        }
        waits = true;
    }
    for (const struct le_staging_job *job = s->jobs; job && !waits; job = job->next)
        waits = ticket_concerns(stream_id, number, job->stream_id, job->number);
    if (waits)
        pthread_cond_wait(&s->progress, &s->lock);
    return waits;
}

bool le_staging_is_done(struct le_staging *s, uint64_t stream_id, uint64_t number) {
    bool done = true;
    if (atomic_load(&s->unfinished) == 0)
        return true;
    pthread_mutex_lock(&s->lock);
    for (int k = 0; k < s->small_count && done; k++)
        done = !le_small_copy_is_download(&s->small[k]) ||
               !ticket_concerns(stream_id, number, s->small[k].job.stream_id, s->small[k].job.number);
    for (const struct le_staging_job *job = s->jobs; job && done; job = job->next)
        done = !ticket_concerns(stream_id, number, job->stream_id, job->number);
    pthread_mutex_unlock(&s->lock);
    return done;
}

static leat_status report_failure(const struct le_staging_failure *failure) {
    return failure->status ? le_fail(failure->status, "%s", failure->message) : LEAT_OK;
}

leat_status le_staging_wait(struct le_staging *s, uint64_t stream_id, uint64_t number) {
    struct le_staging_failure found = {0};
    if (atomic_load(&s->unfinished) == 0)
        return LEAT_OK;
    pthread_mutex_lock(&s->lock);
    while (wait_once(s, stream_id, number))
        ;
    for (int k = 0; k < s->failure_count && !found.status; k++)
        if (ticket_concerns(stream_id, number, s->failures[k].stream_id, s->failures[k].number)) {
            found = s->failures[k];
            s->failure_count--;
            memmove(&s->failures[k], &s->failures[k + 1], (size_t)(s->failure_count - k) * sizeof found);
            atomic_fetch_sub(&s->unfinished, 1);
        }
    pthread_mutex_unlock(&s->lock);
    return report_failure(&found);
}

leat_status le_staging_wait_all(struct le_staging *s) {
    struct le_staging_failure first = {0};
    pthread_mutex_lock(&s->lock);
    while (wait_once(s, 0, 0))
        ;
    if (s->failure_count)
        first = s->failures[0];
    atomic_fetch_sub(&s->unfinished, s->failure_count);
    s->failure_count = 0;
    pthread_mutex_unlock(&s->lock);
    return report_failure(&first);
}

void le_staging_free(struct le_staging *s) {
    if (!s)
        return;
    (void)le_staging_wait_all(s);
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    le_staging_free_workers(s);
    le_small_copies_free(s);
    while (s->event_count)
        s->ops->event_free(s->native, s->events[--s->event_count]);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->progress);
    le_free(s);
}
