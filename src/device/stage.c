/* The threads that carry pageable copies, and the small ones that need none. What a chunk is: copy.c's. */
#include "device/stage.h"
#include "base/memory.h"
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = 3, THREADS_MAX = 64, SMALL_SLOTS = 64, FAILURES_MAX = 16, EVENTS_MAX = 32, MESSAGE_BYTES = 400 };

struct le_stage_job {
    struct le_stager *stager;
    struct le_stage_job *next;
    struct le_stage_work work; /* its plan is the one below */
    _Alignas(16) unsigned char plan[LE_STAGE_PLAN_BYTES];
    struct small_slot *small; /* NULL: a job of the threads' */
    void *native_stream;
    uint64_t stream_id, number;
    void *start;  /* event: what was in the stream before it */
    bool passed;  /* start has */
    bool watched; /* a thread waits for it */
    int64_t taken, enqueued, moved;
    uint8_t last[THREADS_MAX]; /* each thread's last slot with a chunk of it, from 1 */
    bool settled;
    leat_status status;
    char message[MESSAGE_BYTES];
};

struct slot {
    struct le_stage_slot memory;
    void *event;
    bool recorded;
    struct le_stage_job *job; /* a chunk that comes down into it */
    int64_t chunk;
};
struct worker {
    struct le_stager *stager;
    pthread_t thread;
    int index;
    void *stream;
    struct le_stage_slot memory; /* of all its slots */
    struct slot slots[SLOTS];
    int next; /* slot to use, the one that was used longest ago */
};

enum small_state { SMALL_FREE, SMALL_HELD, SMALL_FLYING, SMALL_LANDING };
struct small_slot {
    enum small_state state;
    struct le_stage_slot memory;
    void *event;
    struct le_stage_job job;
};

struct failure {
    uint64_t stream_id, number;
    leat_status status;
    char message[MESSAGE_BYTES];
};

struct le_stager {
    const struct le_device_ops *ops;
    void *native;
    int threads;                   /* at most */
    _Atomic int64_t unsettled;     /* jobs */
    _Atomic int64_t unfinished;    /* jobs, small copies that come down, failures that nobody was told of */
    pthread_mutex_t lock;          /* guards what follows */
    pthread_cond_t work, progress; /* for the threads; for those who wait for jobs */
    struct le_stage_job *jobs;     /* started and not done; whose turn it is comes first */
    struct worker *workers[THREADS_MAX];
    int worker_count, watchers;
    bool stopping;
    void *events[EVENTS_MAX]; /* free */
    int event_count;
    struct le_stage_slot small_memory;
    struct small_slot *small; /* NULL: not used yet */
    int small_next;
    struct failure failures[FAILURES_MAX];
    int failure_count;
};

leat_status le_stager_new(const struct le_device_ops *ops, void *native, int threads, struct le_stager **stager) {
    struct le_stager *s = le_alloc_zero(1, sizeof *s);
    if (!s)
        return le_fail_out_of_memory(sizeof *s);
    s->ops = ops;
    s->native = native;
    s->threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->progress, NULL);
    *stager = s;
    return LEAT_OK;
}

/* ---- how jobs end; all with the lock held */

static void keep_failure(struct le_stager *s, const struct le_stage_job *job) {
    if (s->failure_count == FAILURES_MAX) {
        memmove(&s->failures[0], &s->failures[1], (FAILURES_MAX - 1) * sizeof s->failures[0]);
        s->failure_count--;
        atomic_fetch_sub(&s->unfinished, 1);
    }
    struct failure *f = &s->failures[s->failure_count++];
    *f = (struct failure){.stream_id = job->stream_id, .number = job->number, .status = job->status};
    memcpy(f->message, job->message, sizeof f->message);
    atomic_fetch_add(&s->unfinished, 1);
}

/* The calling thread's last failure becomes the job's, if it is its first. */
static void fail_job(struct le_stage_job *job, leat_status status) {
    const struct leat_error *error = le_error_at(0);
    if (job->status)
        return;
    job->status = status;
    snprintf(job->message, sizeof job->message, "%s", error ? error->message : "a copy failed");
}

static void unlink_job(struct le_stager *s, struct le_stage_job *job) {
    struct le_stage_job **at = &s->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    job->next = NULL;
}

static void append_job(struct le_stager *s, struct le_stage_job *job) {
    struct le_stage_job **at = &s->jobs;
    while (*at)
        at = &(*at)->next;
    *at = job;
}

static void give_event(struct le_stager *s, void *event) {
    if (!event)
        return;
    if (s->event_count < EVENTS_MAX)
        s->events[s->event_count++] = event;
    else
        s->ops->event_free(s->native, event);
}

/* The user's stream goes on after the threads' last transfers. Their streams wait for nothing but each other's chunks,
 * so an event that was recorded again meanwhile only makes it wait a little longer. */
static void settle_job(struct le_stager *s, struct le_stage_job *job) {
    for (int k = 0; k < s->worker_count; k++) {
        if (!job->last[k])
            continue;
        void *event = s->workers[k]->slots[job->last[k] - 1].event;
        leat_status status = s->ops->stream_wait(s->native, job->native_stream, event);
        if (status)
            fail_job(job, status);
    }
    job->settled = true;
    atomic_fetch_sub(&s->unsettled, 1);
}

/* After something of the job has moved on. */
static void advance_job(struct le_stager *s, struct le_stage_job *job) {
    if (!job->settled && job->enqueued == job->work.chunks) {
        settle_job(s, job);
        pthread_cond_broadcast(&s->progress);
    }
    if (!job->settled || (!job->work.up && job->moved < job->work.chunks))
        return;
    unlink_job(s, job);
    if (job->status)
        keep_failure(s, job);
    atomic_fetch_sub(&s->unfinished, 1);
    give_event(s, job->start);
    le_free(job);
    pthread_cond_broadcast(&s->progress);
}

/* ---- a thread's slots */

/* Waits until the slot is free; what came down into it goes to the user's memory. */
static leat_status vacate(struct worker *w, struct slot *slot) {
    struct le_stager *s = w->stager;
    struct le_stage_job *job = slot->job;
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
    if (status)
        fail_job(job, status);
    job->moved++;
    advance_job(s, job);
    pthread_mutex_unlock(&s->lock);
    return status;
}

static leat_status transfer(struct worker *w, struct slot *slot, struct le_stage_job *job, int64_t chunk) {
    const struct le_device_ops *ops = w->stager->ops;
    void *native = w->stager->native;
    if (job->work.up)
        job->work.move(job->plan, chunk, slot->memory.host);
    leat_status status = job->work.transfer(job->plan, chunk, w->stream, &slot->memory);
    if (!status)
        status = ops->event_record(native, slot->event, w->stream);
    if (status)
        ops->stream_synchronize(native, w->stream); /* a part of it may be under way */
    slot->recorded = !status;
    return status;
}

static void carry(struct worker *w, struct le_stage_job *job, int64_t chunk, bool failed) {
    struct le_stager *s = w->stager;
    int index = w->next;
    struct slot *slot = &w->slots[index];
    w->next = (index + 1) % SLOTS;
    leat_status status = vacate(w, slot);
    if (!status && !failed)
        status = transfer(w, slot, job, chunk);
    bool comes = slot->recorded && !job->work.up;
    slot->job = comes ? job : NULL;
    slot->chunk = chunk;
    pthread_mutex_lock(&s->lock);
    if (status)
        fail_job(job, status);
    if (slot->recorded)
        job->last[w->index] = (uint8_t)(index + 1);
    job->enqueued++;
    if (!comes)
        job->moved++;
    advance_job(s, job);
    pthread_mutex_unlock(&s->lock);
}

/* ---- the threads */

/* A job that can go on, for one chunk; it goes to the end of the row. Lock held. */
static struct le_stage_job *pick(struct le_stager *s) {
    struct le_stage_job *found = NULL;
    for (struct le_stage_job *job = s->jobs; job && !found; job = job->next) {
        if (!job->passed && !job->watched && s->ops->event_query(s->native, job->start, &job->passed))
            job->passed = true; /* the transfer will fail, too, and say why */
        if (job->passed && job->taken < job->work.chunks)
            found = job;
    }
    if (found && found->next) {
        unlink_job(s, found);
        append_job(s, found);
    }
    return found;
}

/* One thread stays free for jobs that can go on at once. Lock held. */
static bool watch(struct le_stager *s) {
    struct le_stage_job *job = s->jobs;
    while (job && (job->passed || job->watched))
        job = job->next;
    if (!job || (s->watchers + 1 >= s->worker_count && s->worker_count > 1))
        return false;
    job->watched = true;
    s->watchers++;
    pthread_mutex_unlock(&s->lock);
    s->ops->event_synchronize(s->native, job->start);
    pthread_mutex_lock(&s->lock);
    s->watchers--;
    job->watched = false;
    job->passed = true;
    pthread_cond_broadcast(&s->work);
    return true;
}

static struct slot *oldest_down(struct worker *w) {
    for (int k = 0; k < SLOTS; k++) {
        struct slot *slot = &w->slots[(w->next + k) % SLOTS];
        if (slot->job)
            return slot;
    }
    return NULL;
}

/* One thing that there is to do; false: nothing. Lock held. */
static bool step(struct worker *w) {
    struct le_stager *s = w->stager;
    struct le_stage_job *job = pick(s);
    struct slot *down = oldest_down(w);
    if (!job && !down)
        return watch(s);
    int64_t chunk = job ? job->taken++ : 0;
    bool failed = job && job->status;
    pthread_mutex_unlock(&s->lock);
    if (job)
        carry(w, job, chunk, failed);
    else
        vacate(w, down);
    pthread_mutex_lock(&s->lock);
    return true;
}

static void *run_worker(void *argument) {
    struct worker *w = argument;
    struct le_stager *s = w->stager;
    pthread_mutex_lock(&s->lock);
    while (!s->stopping || s->jobs)
        if (!step(w))
            pthread_cond_wait(&s->work, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void free_worker(struct worker *w) {
    const struct le_device_ops *ops = w->stager->ops;
    void *native = w->stager->native;
    if (w->stream) {
        ops->stream_synchronize(native, w->stream);
        ops->stream_free(native, w->stream);
    }
    for (int k = 0; k < SLOTS; k++)
        if (w->slots[k].event)
            ops->event_free(native, w->slots[k].event);
    if (w->memory.host)
        ops->memory_free(native, LE_MEMORY_PINNED, w->memory.host, w->memory.address, SLOTS * LE_STAGE_CHUNK_BYTES);
    le_free(w);
}

static leat_status fill_worker(struct worker *w) {
    const struct le_device_ops *ops = w->stager->ops;
    void *native = w->stager->native, *host = NULL;
    leat_status status =
        ops->memory_new(native, LE_MEMORY_PINNED, SLOTS * LE_STAGE_CHUNK_BYTES, &host, &w->memory.address);
    w->memory.host = host;
    if (!status)
        status = ops->stream_new(native, &w->stream);
    for (int k = 0; k < SLOTS && !status; k++) {
        w->slots[k].memory.host = w->memory.host + (size_t)k * LE_STAGE_CHUNK_BYTES;
        w->slots[k].memory.address = w->memory.address ? w->memory.address + (size_t)k * LE_STAGE_CHUNK_BYTES : 0;
        status = ops->event_new(native, false, &w->slots[k].event);
    }
    return status;
}

/* Signals are for the program's own threads. */
static int start_thread(struct worker *w) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&w->thread, NULL, run_worker, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static leat_status add_worker(struct le_stager *s) {
    struct worker *w = le_alloc_zero(1, sizeof *w);
    if (!w)
        return le_fail_out_of_memory(sizeof *w);
    w->stager = s;
    w->index = s->worker_count;
    leat_status status = fill_worker(w);
    if (!status && start_thread(w))
        status = le_fail(LEAT_OUT_OF_MEMORY, "no thread can be started that copies to and from the device");
    if (status)
        free_worker(w);
    else
        s->workers[s->worker_count++] = w;
    return status;
}

/* One is enough; a second one is there for what can go on while the first one waits. Lock held. */
static leat_status ensure_workers(struct le_stager *s, int64_t chunks) {
    int64_t wanted = chunks < 2 ? 2 : chunks;
    leat_status status = LEAT_OK;
    while (s->worker_count < s->threads && s->worker_count < wanted && !status)
        status = add_worker(s);
    return s->worker_count ? LEAT_OK : status;
}

/* ---- small copies: in the user's own stream, each through a slot that is its job */

static bool comes_down(const struct small_slot *m) {
    return (m->state == SMALL_FLYING || m->state == SMALL_LANDING) && !m->job.work.up;
}

/* Waits for the slot's transfer; what came down goes to the user's memory. Lock held, but not all the time. */
static void land(struct le_stager *s, struct small_slot *m) {
    m->state = SMALL_LANDING;
    pthread_mutex_unlock(&s->lock);
    leat_status status = s->ops->event_synchronize(s->native, m->event);
    bool down = !m->job.work.up;
    if (down && !status)
        m->job.work.move(m->job.plan, 0, m->memory.host);
    pthread_mutex_lock(&s->lock);
    if (down && status) {
        fail_job(&m->job, status);
        keep_failure(s, &m->job);
    }
    if (down)
        atomic_fetch_sub(&s->unfinished, 1);
    m->state = SMALL_FREE;
    pthread_cond_broadcast(&s->progress);
}

static leat_status ensure_small(struct le_stager *s) {
    if (s->small)
        return LEAT_OK;
    struct small_slot *small = le_alloc_zero(SMALL_SLOTS, sizeof *small);
    if (!small)
        return le_fail_out_of_memory(SMALL_SLOTS * sizeof *small);
    void *host = NULL;
    leat_status status = s->ops->memory_new(s->native, LE_MEMORY_PINNED, SMALL_SLOTS * LE_STAGE_SMALL_BYTES, &host,
                                            &s->small_memory.address);
    if (status) {
        le_free(small);
        return status;
    }
    s->small_memory.host = host;
    s->small = small;
    for (size_t k = 0; k < SMALL_SLOTS; k++) {
        uint64_t base = s->small_memory.address;
        small[k].memory.host = s->small_memory.host + k * LE_STAGE_SMALL_BYTES;
        small[k].memory.address = base ? base + k * LE_STAGE_SMALL_BYTES : 0;
    }
    return LEAT_OK;
}

/* The slot that was used longest ago, made free. Lock held. */
static leat_status hold_small(struct le_stager *s, struct small_slot **slot) {
    leat_status status = ensure_small(s);
    struct small_slot *m = NULL;
    while (!status && !m) {
        for (int k = 0; k < SMALL_SLOTS && !m; k++) {
            struct small_slot *other = &s->small[(s->small_next + k) % SMALL_SLOTS];
            if (other->state == SMALL_FLYING)
                land(s, other);
            if (other->state == SMALL_FREE)
                m = other;
        }
        if (!m) /* threads that are between new and start have them all */
            pthread_cond_wait(&s->progress, &s->lock);
    }
    if (!status && !m->event)
        status = s->ops->event_new(s->native, false, &m->event);
    if (status)
        return status;
    m->state = SMALL_HELD;
    s->small_next = (int)(m - s->small + 1) % SMALL_SLOTS;
    *slot = m;
    return LEAT_OK;
}

static leat_status enqueue_small(struct le_stage_job *job, void *native_stream) {
    struct le_stager *s = job->stager;
    struct small_slot *m = job->small;
    if (job->work.up)
        job->work.move(job->plan, 0, m->memory.host);
    leat_status status = job->work.transfer(job->plan, 0, native_stream, &m->memory);
    if (!status)
        status = s->ops->event_record(s->native, m->event, native_stream);
    if (status)
        s->ops->stream_synchronize(s->native, native_stream); /* a part of it may be under way */
    return status;
}

/* ---- jobs */

static void fill_job(struct le_stage_job *job, struct le_stager *s, const struct le_stage_work *work) {
    assert(work->plan_bytes <= sizeof job->plan && work->chunks > 0 && (!work->small || work->chunks == 1));
    job->stager = s;
    job->work = *work;
    job->work.plan = job->plan;
    memcpy(job->plan, work->plan, work->plan_bytes);
}

static leat_status take_event(struct le_stager *s, void **event) {
    if (s->event_count == 0)
        return s->ops->event_new(s->native, false, event);
    *event = s->events[--s->event_count];
    return LEAT_OK;
}

leat_status le_stage_job_new(struct le_stager *s, const struct le_stage_work *work, struct le_stage_job **job) {
    struct le_stage_job *made = NULL;
    struct small_slot *small = NULL;
    leat_status status = LEAT_OK;
    if (!work->small) {
        made = le_alloc_zero(1, sizeof *made);
        if (!made)
            return le_fail_out_of_memory(sizeof *made);
    }
    pthread_mutex_lock(&s->lock);
    if (work->small)
        status = hold_small(s, &small);
    else
        status = ensure_workers(s, work->chunks);
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

leat_status le_stage_start(struct le_stage_job *job, void *native_stream, uint64_t stream_id, uint64_t number) {
    struct le_stager *s = job->stager;
    leat_status status = LEAT_OK;
    if (job->small)
        status = enqueue_small(job, native_stream);
    else
        status = s->ops->event_record(s->native, job->start, native_stream);
    if (status)
        return status;
    job->native_stream = native_stream;
    job->stream_id = stream_id;
    job->number = number;
    pthread_mutex_lock(&s->lock);
    if (!job->small || !job->work.up)
        atomic_fetch_add(&s->unfinished, 1);
    if (job->small) {
        job->small->state = SMALL_FLYING;
        pthread_cond_broadcast(&s->progress);
    } else {
        atomic_fetch_add(&s->unsettled, 1);
        append_job(s, job);
        pthread_cond_broadcast(&s->work);
    }
    pthread_mutex_unlock(&s->lock);
    return LEAT_OK;
}

void le_stage_drop(struct le_stage_job *job) {
    struct le_stager *s = job->stager;
    pthread_mutex_lock(&s->lock);
    if (job->small) {
        job->small->state = SMALL_FREE;
        pthread_cond_broadcast(&s->progress);
    } else {
        give_event(s, job->start);
        le_free(job);
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- waiting */

static bool is_settled(const struct le_stager *s, uint64_t stream_id) {
    for (const struct le_stage_job *job = s->jobs; job; job = job->next)
        if (job->stream_id == stream_id && !job->settled)
            return false;
    return true;
}

bool le_stager_settled(struct le_stager *s, uint64_t stream_id) {
    if (atomic_load(&s->unsettled) == 0)
        return true;
    pthread_mutex_lock(&s->lock);
    bool settled = is_settled(s, stream_id);
    pthread_mutex_unlock(&s->lock);
    return settled;
}

void le_stager_settle(struct le_stager *s, uint64_t stream_id) {
    if (atomic_load(&s->unsettled) == 0)
        return;
    pthread_mutex_lock(&s->lock);
    while (!is_settled(s, stream_id))
        pthread_cond_wait(&s->progress, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

/* stream_id 0: all of them. */
static bool concerns(uint64_t stream_id, uint64_t number, uint64_t of_stream, uint64_t of_number) {
    return !stream_id || (of_stream == stream_id && of_number <= number);
}

/* Brings down one small copy, or waits for something to happen; false: all that is asked for is done. Lock held. */
static bool wait_once(struct le_stager *s, uint64_t stream_id, uint64_t number) {
    bool waits = false;
    for (int k = 0; s->small && k < SMALL_SLOTS; k++) {
        struct small_slot *m = &s->small[k];
        if (!comes_down(m) || !concerns(stream_id, number, m->job.stream_id, m->job.number))
            continue;
        if (m->state == SMALL_FLYING) {
            land(s, m);
            return true;
        }
        waits = true;
    }
    for (const struct le_stage_job *job = s->jobs; job && !waits; job = job->next)
        waits = concerns(stream_id, number, job->stream_id, job->number);
    if (waits)
        pthread_cond_wait(&s->progress, &s->lock);
    return waits;
}

bool le_stager_done(struct le_stager *s, uint64_t stream_id, uint64_t number) {
    bool done = true;
    if (atomic_load(&s->unfinished) == 0)
        return true;
    pthread_mutex_lock(&s->lock);
    for (int k = 0; s->small && k < SMALL_SLOTS && done; k++)
        done = !comes_down(&s->small[k]) ||
               !concerns(stream_id, number, s->small[k].job.stream_id, s->small[k].job.number);
    for (const struct le_stage_job *job = s->jobs; job && done; job = job->next)
        done = !concerns(stream_id, number, job->stream_id, job->number);
    pthread_mutex_unlock(&s->lock);
    return done;
}

leat_status le_stager_wait(struct le_stager *s, uint64_t stream_id, uint64_t number) {
    struct failure found = {0};
    if (atomic_load(&s->unfinished) == 0)
        return LEAT_OK;
    pthread_mutex_lock(&s->lock);
    while (wait_once(s, stream_id, number))
        ;
    for (int k = 0; k < s->failure_count && !found.status; k++)
        if (concerns(stream_id, number, s->failures[k].stream_id, s->failures[k].number)) {
            found = s->failures[k];
            s->failure_count--;
            memmove(&s->failures[k], &s->failures[k + 1], (size_t)(s->failure_count - k) * sizeof found);
            atomic_fetch_sub(&s->unfinished, 1);
        }
    pthread_mutex_unlock(&s->lock);
    return found.status ? le_fail(found.status, "%s", found.message) : LEAT_OK;
}

void le_stager_wait_all(struct le_stager *s) {
    pthread_mutex_lock(&s->lock);
    while (wait_once(s, 0, 0))
        ;
    pthread_mutex_unlock(&s->lock);
}

void le_stager_free(struct le_stager *s) {
    if (!s)
        return;
    le_stager_wait_all(s);
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    for (int k = 0; k < s->worker_count; k++) {
        pthread_join(s->workers[k]->thread, NULL);
        free_worker(s->workers[k]);
    }
    for (int k = 0; s->small && k < SMALL_SLOTS; k++)
        if (s->small[k].event) {
            s->ops->event_synchronize(s->native, s->small[k].event);
            s->ops->event_free(s->native, s->small[k].event);
        }
    if (s->small)
        s->ops->memory_free(s->native, LE_MEMORY_PINNED, s->small_memory.host, s->small_memory.address,
                            SMALL_SLOTS * LE_STAGE_SMALL_BYTES);
    while (s->event_count)
        s->ops->event_free(s->native, s->events[--s->event_count]);
    le_free(s->small);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->progress);
    le_free(s);
}
