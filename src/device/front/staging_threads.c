/* The threads that copy chunks. Each has its own slots, events and native stream. */
#include "device/front/staging_state.h"
#include "base/clock.h"
#include "base/memory.h"
#include <signal.h>
#include <time.h>

#define LOOK_AGAIN_NS 50000

/* ---- a thread's slots */

/* Waits until the slot is free, and copies a downloaded chunk to the user's memory. busy: whether the thread continues
 * with more work. */
static leat_status vacate_slot(struct le_staging_worker *w, struct le_staging_slot *slot, bool busy) {
    struct le_staging *s = w->stager;
    struct le_staging_job *job = slot->job;
    if (!slot->recorded)
        return LEAT_OK;
    leat_status status = s->ops->event_synchronize(s->native, slot->event);
    slot->recorded = false;
    slot->job = NULL;
    if (!job)
        return status;
    if (!status)
        job->work.move(job->plan, slot->chunk, slot->memory.host);
    pthread_mutex_lock(&s->lock);
    w->busy = busy;
    if (status)
        le_staging_fail(job, status);
    job->moved++;
    le_staging_advance(s, job);
    pthread_mutex_unlock(&s->lock);
    return status;
}

static leat_status enqueue_transfer(struct le_staging_worker *w, struct le_staging_slot *slot,
                                    struct le_staging_job *job, int64_t chunk) {
    const struct le_device_ops *ops = w->stager->ops;
    void *native = w->stager->native;
    if (job->work.up)
        job->work.move(job->plan, chunk, slot->memory.host);
    leat_status status = job->work.transfer(job->plan, chunk, w->stream, &slot->memory);
    if (!status)
        status = ops->event_record(native, slot->event, w->stream);
    if (status)
        ops->stream_synchronize(native, w->stream); /* a part of it may be enqueued */
    slot->recorded = !status;
    return status;
}

static void carry_chunk(struct le_staging_worker *w, struct le_staging_job *job, int64_t chunk, bool failed) {
    struct le_staging *s = w->stager;
    int index = w->next;
    struct le_staging_slot *slot = &w->slots[index];
    w->next = (index + 1) % LE_STAGE_SLOTS;
    leat_status status = vacate_slot(w, slot, true);
    if (!status && !failed)
        status = enqueue_transfer(w, slot, job, chunk);
    bool comes = slot->recorded && !job->work.up;
    slot->job = comes ? job : NULL;
    slot->chunk = chunk;
    pthread_mutex_lock(&s->lock);
    w->busy = false;
    if (status)
        le_staging_fail(job, status);
    if (slot->recorded)
        job->last[w->index] = (uint8_t)(index + 1);
    job->enqueued++;
    if (!comes)
        job->moved++;
    le_staging_advance(s, job);
    pthread_mutex_unlock(&s->lock);
}

/* ---- the threads */

/* A job of one chunk is left to the latest thread, if that is idle. Call with the lock held. */
static bool is_left_to_latest(const struct le_staging_worker *w, const struct le_staging_job *job) {
    const struct le_staging_worker *latest = w->stager->latest;
    return job->work.chunks == 1 && latest && latest != w && !latest->busy;
}

/* Call before releasing the lock for a while: jobs left to this thread become anyone's. Call with the lock held. */
static void mark_busy(struct le_staging_worker *w) {
    struct le_staging *s = w->stager;
    bool left = false;
    w->busy = true;
    for (const struct le_staging_job *job = s->jobs; s->latest == w && job && !left; job = job->next)
        left = job->work.chunks == 1 && job->taken == 0 && !job->watched;
    if (left)
        pthread_cond_broadcast(&s->work);
}

/* Picks a job that can proceed, for one chunk, and moves it to the end of the queue. Call with the lock held. */
static struct le_staging_job *pick_job(struct le_staging_worker *w) {
    struct le_staging *s = w->stager;
    struct le_staging_job *found = NULL;
    for (struct le_staging_job *job = s->jobs; job && !found; job = job->next) {
        if (is_left_to_latest(w, job))
            continue;
        if (!job->passed && !job->watched && s->ops->event_query(s->native, job->start, &job->passed))
            job->passed = true; /* the transfer will fail as well, with the reason */
        if (job->passed && job->taken < job->work.chunks)
            found = job;
    }
    if (found && found->next) {
        le_staging_unlink(s, found);
        le_staging_append(s, found);
    }
    return found;
}

static void sleep_for(struct le_staging *s, uint64_t time_ns) {
    uint64_t until_ns = le_clock_ns() + time_ns;
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000), .tv_nsec = (long)(until_ns % 1000000000)};
    pthread_cond_timedwait(&s->work, &s->lock, &until);
}

/* Waits for a job whose start event has not passed. false: there is none. One thread stays free for jobs that can
 * proceed; it polls the others. Call with the lock held; releases it meanwhile. */
static bool watch_job(struct le_staging_worker *w) {
    struct le_staging *s = w->stager;
    struct le_staging_job *job = s->jobs;
    while (job && (job->passed || job->watched || is_left_to_latest(w, job)))
        job = job->next;
    if (!job)
        return false;
    if (s->watchers + 1 >= s->worker_count) {
        sleep_for(s, LOOK_AGAIN_NS);
        return true;
    }
    job->watched = true;
    s->watchers++;
    mark_busy(w);
    pthread_mutex_unlock(&s->lock);
    s->ops->event_synchronize(s->native, job->start);
    pthread_mutex_lock(&s->lock);
    w->busy = false;
    s->watchers--;
    job->watched = false;
    job->passed = true;
    pthread_cond_broadcast(&s->work);
    return true;
}

static struct le_staging_slot *oldest_download(struct le_staging_worker *w) {
    for (int k = 0; k < LE_STAGE_SLOTS; k++) {
        struct le_staging_slot *slot = &w->slots[(w->next + k) % LE_STAGE_SLOTS];
        if (slot->job)
            return slot;
    }
    return NULL;
}

/* Does one piece of work. false: there is none. Call with the lock held. */
static bool run_step(struct le_staging_worker *w) {
    struct le_staging *s = w->stager;
    struct le_staging_job *job = pick_job(w);
    struct le_staging_slot *down = oldest_download(w);
    if (!job && !down)
        return watch_job(w);
    int64_t chunk = job ? job->taken++ : 0;
    bool failed = job && job->status;
    if (job)
        s->latest = w;
    mark_busy(w);
    pthread_mutex_unlock(&s->lock);
    if (job)
        carry_chunk(w, job, chunk, failed);
    else
        vacate_slot(w, down, false);
    pthread_mutex_lock(&s->lock);
    return true;
}

static void *run_worker(void *argument) {
    struct le_staging_worker *w = argument;
    struct le_staging *s = w->stager;
    pthread_mutex_lock(&s->lock);
    while (!s->stopping || s->jobs)
        if (!run_step(w))
            pthread_cond_wait(&s->work, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void free_worker(struct le_staging_worker *w) {
    const struct le_device_ops *ops = w->stager->ops;
    void *native = w->stager->native;
    if (w->stream) {
        ops->stream_synchronize(native, w->stream);
        ops->stream_free(native, w->stream);
    }
    for (int k = 0; k < LE_STAGE_SLOTS; k++)
        if (w->slots[k].event)
            ops->event_free(native, w->slots[k].event);
    if (w->memory.host)
        ops->memory_free(native, LE_MEMORY_PINNED, w->memory.host, w->memory.address,
                         LE_STAGE_SLOTS * LE_STAGE_CHUNK_BYTES);
    le_free(w);
}

static leat_status fill_worker(struct le_staging_worker *w) {
    const struct le_device_ops *ops = w->stager->ops;
    void *native = w->stager->native, *host = NULL;
    leat_status status =
        ops->memory_new(native, LE_MEMORY_PINNED, LE_STAGE_SLOTS * LE_STAGE_CHUNK_BYTES, &host, &w->memory.address);
    w->memory.host = host;
    if (!status)
        status = ops->stream_new(native, &w->stream);
    for (int k = 0; k < LE_STAGE_SLOTS && !status; k++) {
        w->slots[k].memory.host = w->memory.host + (size_t)k * LE_STAGE_CHUNK_BYTES;
        w->slots[k].memory.address = w->memory.address ? w->memory.address + (size_t)k * LE_STAGE_CHUNK_BYTES : 0;
        status = ops->event_new(native, false, &w->slots[k].event);
    }
    return status;
}

/* Blocks all signals in the thread, so that the program's own threads get them, except those that a memory access of
 * this thread raises. */
static int start_thread(struct le_staging_worker *w) {
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&w->thread, NULL, run_worker, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static leat_status add_worker(struct le_staging *s) {
    struct le_staging_worker *w = le_alloc_zero(1, sizeof *w);
    if (!w)
        return le_fail_out_of_memory(sizeof *w);
    w->stager = s;
    w->index = s->worker_count;
    leat_status status = fill_worker(w);
    if (!status && start_thread(w))
        status = le_fail(LEAT_OUT_OF_MEMORY, "cannot start a thread to copy to and from the device");
    if (status)
        free_worker(w);
    else
        s->workers[s->worker_count++] = w;
    return status;
}

/* One thread is enough; a second one serves jobs that can proceed while the first one waits. Call with the lock
 * held. */
leat_status le_staging_ensure_workers(struct le_staging *s, int64_t chunks) {
    int64_t wanted = chunks < 2 ? 2 : chunks;
    leat_status status = LEAT_OK;
    while (s->worker_count < s->threads && s->worker_count < wanted && !status)
        status = add_worker(s);
    return s->worker_count ? LEAT_OK : status;
}

void le_staging_free_workers(struct le_staging *s) {
    for (int k = 0; k < s->worker_count; k++) {
        pthread_join(s->workers[k]->thread, NULL);
        free_worker(s->workers[k]);
    }
}
