/* Small copies run in the user's own stream, each through a slot that is also its job. An upload frees its slot when
 * the slot's event has passed, which is checked when no other slot is free. A download is copied to the user's memory
 * by the thread that waits for it. Slots are added only when many copies are in flight. */
#include "device/front/staging_state.h"
#include "base/memory.h"

bool le_small_copy_is_download(const struct le_small_copy *m) {
    return (m->state == LE_SMALL_IN_FLIGHT || m->state == LE_SMALL_FINISHING) && !m->job.work.up;
}

void le_small_copy_finish(struct le_staging *s, struct le_small_copy *m) {
    m->state = LE_SMALL_FINISHING;
    pthread_mutex_unlock(&s->lock);
    leat_status status = s->ops->event_synchronize(s->native, m->event);
    bool down = !m->job.work.up;
    if (down && !status)
        m->job.work.move(m->job.plan, 0, m->memory.host);
    pthread_mutex_lock(&s->lock);
    if (down && status) {
        le_staging_fail(&m->job, status);
        le_staging_keep_failure(s, &m->job);
    }
    if (down)
        atomic_fetch_sub(&s->unfinished, 1);
    m->state = LE_SMALL_FREE;
    pthread_cond_broadcast(&s->progress);
}

/* Adds slots, a few at a time: page-locking a megabyte takes half a millisecond. */
static leat_status add_slots(struct le_staging *s) {
    size_t bytes = LE_STAGE_SMALL_STEP * LE_STAGE_SMALL_BYTES;
    struct le_staging_buffer *memory = &s->small_memory[s->small_count / LE_STAGE_SMALL_STEP];
    void *host = NULL;
    if (!s->small)
        s->small = le_alloc_zero(LE_STAGE_SMALL_SLOTS, sizeof *s->small);
    if (!s->small)
        return le_fail_out_of_memory(LE_STAGE_SMALL_SLOTS * sizeof *s->small);
    leat_status status = s->ops->memory_new(s->native, LE_MEMORY_PINNED, bytes, &host, &memory->address);
    if (status)
        return status;
    memory->host = host;
    for (size_t k = 0; k < LE_STAGE_SMALL_STEP; k++) {
        struct le_staging_buffer *slot = &s->small[s->small_count++].memory;
        slot->host = memory->host + k * LE_STAGE_SMALL_BYTES;
        slot->address = memory->address ? memory->address + k * LE_STAGE_SMALL_BYTES : 0;
    }
    return LEAT_OK;
}

/* The slot in that state that was taken longest ago. NULL: there is none. */
static struct le_small_copy *find_oldest(struct le_staging *s, enum le_small_state state) {
    struct le_small_copy *oldest = NULL;
    for (int k = 0; k < s->small_count; k++) {
        struct le_small_copy *m = &s->small[k];
        if (m->state == state && (!oldest || m->taken < oldest->taken))
            oldest = m;
    }
    return oldest;
}

/* Whether no older copy of its stream is in flight. */
static bool is_next(const struct le_staging *s, const struct le_small_copy *m) {
    for (int k = 0; k < s->small_count; k++) {
        const struct le_small_copy *other = &s->small[k];
        if (other->state == LE_SMALL_IN_FLIGHT && other->job.stream_id == m->job.stream_id && other->taken < m->taken)
            return false;
    }
    return true;
}

static bool has_passed(struct le_staging *s, const struct le_small_copy *m) {
    bool passed = false;
    le_errors_save();
    bool told = s->ops->event_query(s->native, m->event, &passed) == LEAT_OK;
    le_errors_restore();
    return told && passed;
}

/* Finds a slot whose copy is done, asking the driver only for the oldest of each stream. NULL: there is none. */
static struct le_small_copy *find_passed(struct le_staging *s) {
    for (int k = 0; k < s->small_count; k++) {
        struct le_small_copy *m = &s->small[k];
        if (m->state == LE_SMALL_IN_FLIGHT && is_next(s, m) && has_passed(s, m))
            return m;
    }
    return NULL;
}

/* Adds slots if there is memory; otherwise the existing ones must do. */
static leat_status try_add_slots(struct le_staging *s) {
    if (s->small_count == 0)
        return add_slots(s);
    le_errors_save();
    s->small_refused = add_slots(s) != LEAT_OK;
    le_errors_restore();
    return LEAT_OK;
}

static leat_status find_free(struct le_staging *s, struct le_small_copy **slot) {
    leat_status status = LEAT_OK;
    while (!status && !(*slot = find_oldest(s, LE_SMALL_FREE))) {
        struct le_small_copy *flying = find_passed(s);
        if (!flying && s->small_count < LE_STAGE_SMALL_SLOTS && !s->small_refused)
            status = try_add_slots(s);
        else if (flying || (flying = find_oldest(s, LE_SMALL_IN_FLIGHT)) != NULL)
            le_small_copy_finish(s, flying);
        else /* all slots are held by threads between new and start */
            pthread_cond_wait(&s->progress, &s->lock);
    }
    return status;
}

leat_status le_small_copy_hold(struct le_staging *s, struct le_small_copy **slot) {
    struct le_small_copy *m = NULL;
    leat_status status = find_free(s, &m);
    if (!status && !m->event)
        status = s->ops->event_new(s->native, false, &m->event);
    if (status)
        return status;
    m->state = LE_SMALL_HELD;
    m->taken = ++s->small_taken;
    *slot = m;
    return LEAT_OK;
}

leat_status le_small_copy_enqueue(struct le_staging_job *job, void *native_stream) {
    struct le_staging *s = job->stager;
    struct le_small_copy *m = job->small;
    if (job->work.up)
        job->work.move(job->plan, 0, m->memory.host);
    leat_status status = job->work.transfer(job->plan, 0, native_stream, &m->memory);
    if (!status)
        status = s->ops->event_record(s->native, m->event, native_stream);
    if (status)
        s->ops->stream_synchronize(s->native, native_stream); /* a part of it may be enqueued */
    return status;
}

void le_small_copies_free(struct le_staging *s) {
    for (int k = 0; k < s->small_count; k++)
        if (s->small[k].event) {
            s->ops->event_synchronize(s->native, s->small[k].event);
            s->ops->event_free(s->native, s->small[k].event);
        }
    for (int k = 0; k < s->small_count / LE_STAGE_SMALL_STEP; k++)
        s->ops->memory_free(s->native, LE_MEMORY_PINNED, s->small_memory[k].host, s->small_memory[k].address,
                            LE_STAGE_SMALL_STEP * LE_STAGE_SMALL_BYTES);
    le_free(s->small);
}
