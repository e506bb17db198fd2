/* A device's life: opened by name, which chooses the backend and, for CUDA, whose driver's table it runs over; closed
 * when its owner says so, freed when nothing of it is left. And its first fatal error, which every later call gets. */
#include "device/device.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/memory.h"
#include "base/store.h"
#include "device/cpu/cpu_device.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/door.h"
#include "device/cuda/nvrtc_warm.h"
#include "device/device_state.h"
#include "device/sim/sim.h"
#include "device/stage.h"
#include "device/timing.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- by name */

/* With a cap on memory, what does not fit is to be told at once. */
static bool opens_apart(const struct le_device *device) {
    return device->options.compiles && device->options.memory_cap_bytes == 0;
}

static leat_status open_cuda(struct le_device *device, int ordinal) {
    struct le_cuda_opening opening = {.ordinal = ordinal, .kind = "cuda", .apart = opens_apart(device)};
    struct le_device_span span;
    int version;
    if (device->options.compiles)
        opening.warm = le_nvrtc_warm_begin(device->options.store);
    le_device_span_begin(device, &span, LEAT_COST_LIBRARY, "driver", "");
    leat_status status = le_cuda_door_open(&opening.driver, &version);
    le_device_span_end(&span, 0);
    if (!status)
        status = le_cuda_device_new(&opening, device);
    if (status)
        le_nvrtc_warm_end(&opening.warm);
    return status;
}

/* sim's clock stays a function of the calls: its context is made at once, unless that is to take a while. */
static leat_status open_sim(struct le_device *device) {
    const struct le_device_options *options = &device->options;
    const struct le_sim_options sim = {.check = options->sim_check, .seed = options->sim_seed};
    leat_status status = options->sim_check || options->sim_seed ? le_sim_configure(&sim) : LEAT_OK;
    if (!status)
        status = le_cuda_facts_init(le_sim_driver());
    if (status)
        return status;
    const struct le_cuda_opening opening = {.driver = le_sim_driver(),
                                            .nvrtc = le_sim_nvrtc(),
                                            .cublas = le_sim_cublas(),
                                            .kind = "sim",
                                            .apart = opens_apart(device) && le_sim_context_ms() > 0};
    return le_cuda_device_new(&opening, device);
}

/* "cuda" and "cuda:N"; -1: it is neither. */
static int cuda_ordinal(const char *name) {
    if (strncmp(name, "cuda", 4) != 0 || (name[4] && name[4] != ':'))
        return -1;
    if (!name[4])
        return 0;
    const char *digits = name + 5;
    size_t length = strlen(digits);
    if (length < 1 || length > 4 || strspn(digits, "0123456789") != length)
        return -1;
    return atoi(digits);
}

bool le_device_is_name(const char *name) {
    return strcmp(name, "cpu") == 0 || strcmp(name, "cpu:0") == 0 || strcmp(name, "sim") == 0 ||
           cuda_ordinal(name) >= 0;
}

static leat_status open_backend(struct le_device *device, const char *name) {
    if (strcmp(name, "sim") == 0)
        return open_sim(device);
    if (cuda_ordinal(name) >= 0)
        return open_cuda(device, cuda_ordinal(name));
    if (!le_device_is_name(name))
        return le_fail_at(LEAT_DEVICE, (struct le_place){0}, "cpu, cuda, cuda:1 or sim", "there is no device '%.100s'",
                          name);
    le_cpu_device_new(device);
    return LEAT_OK;
}

/* ---- life */

static void free_streams(struct le_device *device) {
    for (int k = 0; k < device->stream_count; k++) {
        struct le_device_stream *stream = device->streams[k];
        if (!stream->foreign && !stream->finished)
            device->ops->stream_free(device->native, stream->native);
        le_mark_drop(device, stream->mark);
        le_free(stream->seen);
        le_free(stream);
    }
    le_free(device->streams);
}

/* What of the driver's work is left is waited for, if that can be: memory must not be freed under it. */
void le_device_destroy(struct le_device *device) {
    if (device->ops) {
        le_errors_keep();
        le_stager_free(atomic_load(&device->stager));
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

/* The ledger goes by the device's clock where that is one of its own. */
leat_status le_device_start(struct le_device *device) {
    if (device->options.ledger && device->ops->clock_ns)
        le_ledger_clock_set(device->options.ledger, ledger_clock, device);
    leat_status status = le_pools_new(device);
    if (!status)
        status = le_stream_make(device, NULL, false, &device->own);
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

leat_status le_device_open(const char *name, const struct le_device_options *options, struct le_device **device) {
    struct le_device *made = le_device_allocate(options);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    leat_status status = open_backend(made, name);
    if (status)
        made->ops = NULL;
    else
        status = le_device_start(made);
    if (status && made->ops && made->options.ledger)
        le_ledger_clock_set(made->options.ledger, NULL, NULL);
    if (status)
        le_device_destroy(made);
    else
        *device = made;
    return status;
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
    if (device->options.ledger && device->ops->clock_ns)
        le_ledger_clock_set(device->options.ledger, NULL, NULL);
    atomic_store(&device->ledger, NULL);
    le_copy_kernels_close(device);
    le_pools_trim(device, true);
    le_device_release(device);
}

bool le_device_is_opening(struct le_device *device) {
    return device->ops->is_opening && device->ops->is_opening(device->native);
}

const struct le_device_limits *le_device_limits(const struct le_device *device) {
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
    return le_fail_at(device->failure, (struct le_place){0}, "open a new context; what the device held is lost",
                      "the device failed before: %s", device->failure_text);
}

leat_status le_device_check(struct le_device *device) {
    if (le_device_forked(device))
        return le_fail(LEAT_INVALID, "this handle was made before fork(); open a new context in the child");
    if (atomic_load_explicit(&device->failed, memory_order_acquire))
        return fail_latched(device);
    return LEAT_OK;
}

/* "after: kernel 'f' launched as <<<(4,1,1),(256,1,1)>>> in stream 2", of the launches that are not known to be done,
 * the newest of each stream. */
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

leat_status le_device_latch(struct le_device *device, leat_status status) {
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
        le_fail_at(status, (struct le_place){0},
                   device->limits.capability ? "device sim with LEAT_SIM_CHECK=1 names the line of a wrong access"
                                             : NULL,
                   "%s", device->failure_text);
    return status;
}

void le_device_note_launch(struct le_device_stream *stream, const char *kernel, const unsigned grid[3],
                           const unsigned block[3]) {
    struct le_device *device = stream->device;
    pthread_mutex_lock(&device->notes_lock);
    struct le_launch_note *note = &device->notes[device->next_note];
    device->next_note = (device->next_note + 1) % LE_NOTES;
    note->stream_id = stream->id;
    note->number = stream->number;
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
