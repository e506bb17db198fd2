/* Small copies: in the user's own stream, each through a slot that is its job as well. Up, the slot is free again when
 * its event has passed, which is looked at when the slot's turn comes. Down, whoever waits for the copy moves it. */
#include "device/stage_state.h"
#include "base/memory.h"

bool le_stage_small_comes_down(const struct le_stage_small *m) {
    return (m->state == LE_SMALL_FLYING || m->state == LE_SMALL_LANDING) && !m->job.work.up;
}

void le_stage_small_land(struct le_stager *s, struct le_stage_small *m) {
    m->state = LE_SMALL_LANDING;
    pthread_mutex_unlock(&s->lock);
    leat_status status = s->ops->event_synchronize(s->native, m->event);
    bool down = !m->job.work.up;
    if (down && !status)
        m->job.work.move(m->job.plan, 0, m->memory.host);
    pthread_mutex_lock(&s->lock);
    if (down && status) {
        le_stage_fail(&m->job, status);
        le_stage_keep_failure(s, &m->job);
    }
    if (down)
        atomic_fetch_sub(&s->unfinished, 1);
    m->state = LE_SMALL_FREE;
    pthread_cond_broadcast(&s->progress);
}

static leat_status ensure_small(struct le_stager *s) {
    if (s->small)
        return LEAT_OK;
    struct le_stage_small *small = le_alloc_zero(LE_STAGE_SMALL_SLOTS, sizeof *small);
    if (!small)
        return le_fail_out_of_memory(LE_STAGE_SMALL_SLOTS * sizeof *small);
    void *host = NULL;
    leat_status status = s->ops->memory_new(s->native, LE_MEMORY_PINNED, LE_STAGE_SMALL_SLOTS * LE_STAGE_SMALL_BYTES,
                                            &host, &s->small_memory.address);
    if (status) {
        le_free(small);
        return status;
    }
    s->small_memory.host = host;
    s->small = small;
    for (size_t k = 0; k < LE_STAGE_SMALL_SLOTS; k++) {
        uint64_t base = s->small_memory.address;
        small[k].memory.host = s->small_memory.host + k * LE_STAGE_SMALL_BYTES;
        small[k].memory.address = base ? base + k * LE_STAGE_SMALL_BYTES : 0;
    }
    return LEAT_OK;
}

leat_status le_stage_small_hold(struct le_stager *s, struct le_stage_small **slot) {
    leat_status status = ensure_small(s);
    struct le_stage_small *m = NULL;
    while (!status && !m) {
        for (int k = 0; k < LE_STAGE_SMALL_SLOTS && !m; k++) {
            struct le_stage_small *other = &s->small[(s->small_next + k) % LE_STAGE_SMALL_SLOTS];
            if (other->state == LE_SMALL_FLYING)
                le_stage_small_land(s, other);
            if (other->state == LE_SMALL_FREE)
                m = other;
        }
        if (!m) /* threads that are between new and start have them all */
            pthread_cond_wait(&s->progress, &s->lock);
    }
    if (!status && !m->event)
        status = s->ops->event_new(s->native, false, &m->event);
    if (status)
        return status;
    m->state = LE_SMALL_HELD;
    s->small_next = (int)(m - s->small + 1) % LE_STAGE_SMALL_SLOTS;
    *slot = m;
    return LEAT_OK;
}

leat_status le_stage_small_enqueue(struct le_stage_job *job, void *native_stream) {
    struct le_stager *s = job->stager;
    struct le_stage_small *m = job->small;
    if (job->work.up)
        job->work.move(job->plan, 0, m->memory.host);
    leat_status status = job->work.transfer(job->plan, 0, native_stream, &m->memory);
    if (!status)
        status = s->ops->event_record(s->native, m->event, native_stream);
    if (status)
        s->ops->stream_synchronize(s->native, native_stream); /* a part of it may be under way */
    return status;
}

void le_stage_small_free(struct le_stager *s) {
    if (!s->small)
        return;
    for (int k = 0; k < LE_STAGE_SMALL_SLOTS; k++)
        if (s->small[k].event) {
            s->ops->event_synchronize(s->native, s->small[k].event);
            s->ops->event_free(s->native, s->small[k].event);
        }
    s->ops->memory_free(s->native, LE_MEMORY_PINNED, s->small_memory.host, s->small_memory.address,
                        LE_STAGE_SMALL_SLOTS * LE_STAGE_SMALL_BYTES);
    le_free(s->small);
}
