/* A device's lifetime behind the front door: allocated, started over the backend that device_open.c chose, closed by
 * its owner, freed with its last reference. Also the first fatal error, which every later call reports. */
#include "device/front/device.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/memory.h"
#include "base/store.h"
#include "device/front/device_state.h"
#include "device/front/staging.h"
#include "device/front/timing.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- lifetime */

static void free_streams(struct le_device *device) {
    for (int k = 0; k < device->stream_count; k++) {
        struct le_device_stream *stream = device->streams[k];
        if (!stream->foreign && !stream->finished)
            device->ops->stream_free(device->native, stream->native);
        le_mark_drop(device, stream->mark);
        le_stream_free(stream);
    }
    le_free(device->streams);
}

/* Waits for remaining work, if the device still works: its memory must not be freed while it runs. */
void le_device_destroy(struct le_device *device) {
    if (device->ops) {
        le_errors_save();
        le_staging_free(atomic_load(&device->stager));
        if (!atomic_load(&device->failed))
            device->ops->synchronize(device->native);
        le_timing_free(device);
        le_pools_free(device);
        free_streams(device);
        le_marks_free(device);
        device->ops->close(device->native);
        le_errors_restore();
    }
    le_free(device->pins);
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->notes_lock);
    le_free(device);
}

static uint64_t ledger_clock(void *device) {
    return le_device_clock_ns(device);
}

/* A backend with its own clock provides it to the ledger while the device is open. */
static void share_clock(struct le_device *device, bool open) {
    if (device->options.ledger && device->ops->clock_ns)
        le_ledger_clock_set(device->options.ledger, open ? ledger_clock : NULL, open ? device : NULL);
}

leat_status le_device_start(struct le_device *device) {
    share_clock(device, true);
    leat_status status = le_pools_new(device);
    if (!status)
        status = le_stream_make(device, NULL, false, &device->own);
    if (status)
        share_clock(device, false);
    return status;
}

struct le_device *le_device_allocate(const struct le_device_options *options) {
    struct le_device *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return NULL;
    made->generation = le_fork_watch();
    if (options)
        made->options = *options;
    atomic_init(&made->refcount, 1);
    atomic_init(&made->ledger, made->options.ledger);
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_init(&made->notes_lock, NULL);
    return made;
}

struct le_device *le_device_retain(struct le_device *device) {
    atomic_fetch_add_explicit(&device->refcount, 1, memory_order_relaxed);
    return device;
}

void le_device_release(struct le_device *device) {
    if (!device || le_device_forked(device))
        return;
    if (atomic_fetch_sub_explicit(&device->refcount, 1, memory_order_acq_rel) == 1)
        le_device_destroy(device);
}

void le_device_close(struct le_device *device) {
    if (!device || le_device_forked(device))
        return;
    if (le_device_check(device) == LEAT_OK)
        le_device_synchronize(device);
    le_timing_free(device);
    atomic_store(&device->closed, true);
    share_clock(device, false);
    atomic_store(&device->ledger, NULL);
    le_copy_kernels_close(device);
    le_pools_trim(device, true);
    le_device_release(device);
}

bool le_device_is_opening(struct le_device *device) {
    return device->ops->is_opening && device->ops->is_opening(device->native);
}

const struct le_device_limits *le_device_limits_of(const struct le_device *device) {
    return &device->limits;
}

uint64_t le_device_clock_ns(struct le_device *device) {
    return device->ops->clock_ns ? device->ops->clock_ns(device->native) : le_clock_ns();
}

/* ---- failure */

bool le_device_forked(const struct le_device *device) {
    return device->generation != le_fork_generation();
}

static leat_status fail_latched(struct le_device *device) {
    return le_fail_at(device->failure, (struct le_location){0},
                      "the device's data is lost: close the context and open a new one, or start a new process",
                      "the device failed earlier: %s", device->failure_text);
}

leat_status le_device_check(struct le_device *device) {
    if (le_device_forked(device))
        return le_fail(LEAT_INVALID, "this handle was made before fork(); open a new context in the child");
    if (atomic_load_explicit(&device->failed, memory_order_acquire))
        return fail_latched(device);
    return LEAT_OK;
}

/* Adds "after: kernel 'f' launched as <<<(4,1,1),(256,1,1)>>> in stream 2": for each stream, the newest launch that is
 * not known to be done. */
static void add_launches(const struct le_device *device, struct le_text *text) {
    uint64_t told[LE_NOTES];
    int count = 0;
    for (int k = LE_NOTES - 1; k >= 0; k--) {
        const struct le_launch_note *note = &device->notes[(device->next_note + k) % LE_NOTES];
        bool again = note->number == 0;
        for (int m = 0; m < count; m++)
            again = again || told[m] == note->stream_id;
        if (again)
            continue;
        told[count++] = note->stream_id;
        le_text_add(text, "%skernel '%s' launched as <<<(%u,%u,%u),(%u,%u,%u)>>> in stream %" PRIu64,
                    count == 1 ? "; after: " : ", ", note->kernel, note->grid[0], note->grid[1], note->grid[2],
                    note->block[0], note->block[1], note->block[2], note->stream_id);
    }
}

leat_status le_device_latch(struct le_device *device, leat_status status, const char *advice) {
    const leat_error *error = le_error_at(0);
    struct le_text text = {0};
    pthread_mutex_lock(&device->notes_lock);
    bool first = !atomic_load_explicit(&device->failed, memory_order_relaxed);
    if (first) {
        le_text_add(&text, "%s", error ? error->message : leat_status_name(status));
        add_launches(device, &text);
        snprintf(device->failure_text, sizeof device->failure_text, "%s", text.at ? text.at : "");
        device->failure = status;
        atomic_store_explicit(&device->failed, true, memory_order_release);
    }
    pthread_mutex_unlock(&device->notes_lock);
    le_text_finish(&text);
    if (first)
        le_fail_at(status, (struct le_location){0}, advice, "%s", device->failure_text);
    return status;
}

void le_device_note_launch(struct le_device_stream *stream, uint64_t number, const char *kernel, const unsigned grid[3],
                           const unsigned block[3]) {
    struct le_device *device = stream->device;
    pthread_mutex_lock(&device->notes_lock);
    struct le_launch_note *note = &device->notes[device->next_note];
    device->next_note = (device->next_note + 1) % LE_NOTES;
    note->stream_id = stream->id;
    note->number = number;
    for (int k = 0; k < 3; k++) {
        note->grid[k] = grid[k];
        note->block[k] = block[k];
    }
    size_t length = strnlen(kernel, LE_NOTE_NAME - 1);
    memcpy(note->kernel, kernel, length);
    note->kernel[length] = 0;
    pthread_mutex_unlock(&device->notes_lock);
}

void le_device_notes_passed(struct le_device *device, uint64_t stream_id, uint64_t number) {
    pthread_mutex_lock(&device->notes_lock);
    for (int k = 0; k < LE_NOTES; k++)
        if (device->notes[k].stream_id == stream_id && device->notes[k].number <= number)
            device->notes[k].number = 0;
    pthread_mutex_unlock(&device->notes_lock);
}

/* ---- costs */

void le_device_span_begin(struct le_device *device, struct le_device_span *span, leat_cost_kind kind, const char *what,
                          const char *cause) {
    struct le_ledger *ledger = atomic_load_explicit(&device->ledger, memory_order_relaxed);
    span->open = ledger != NULL;
    if (ledger)
        le_span_begin(&span->span, ledger, kind, what, cause);
}

void le_device_span_end(struct le_device_span *span, uint64_t bytes) {
    if (span->open)
        le_span_end(&span->span, bytes, 0);
}

/* ---- the store of compiled code */

struct le_store *le_device_store(struct le_device *device) {
    return atomic_load(&device->closed) ? NULL : device->options.store;
}

void le_device_store_used(struct le_device *device) {
    struct le_store *store = le_device_store(device);
    struct le_ledger *ledger = atomic_load(&device->ledger);
    leat_cache_entry gone;
    if (!store)
        return;
    const char *note = le_store_note(store);
    if (note && device->options.log)
        device->options.log(LEAT_LOG_NOTE, note, device->options.log_user);
    while (le_store_evicted(store, &gone))
        if (ledger)
            le_ledger_add(ledger, LEAT_COST_EVICT, gone.label, "the limit of the code cache on disk", gone.size_bytes);
}
