/* Starts CUPTI, and switches recording on and off. See recorder.h. */
#include "trace/recorder/recorder.h"
#include "trace/recorder/cupti_layout.h"
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof(*(a)))

/* Finds a word in the comma-separated list LEAT_TRACE_CUPTI, and returns what follows it; NULL: not in the list. */
static const char *find_option(const struct le_recorder *recorder, const char *word) {
    const char *at = recorder->cupti_options;
    size_t length = strlen(word);
    for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, length) == 0 && strchr(":,", at[length]))
            return at + length;
    return NULL;
}

static bool is_asked_for(const struct le_recorder *recorder, le_cupti_kind kind) {
    const char *at = find_option(recorder, "only");
    char *end;
    if (!at)
        return true;
    for (; *at == ':'; at = end)
        if (strtol(at + 1, &end, 10) == kind)
            return true;
    return false;
}

static const char *result_text(const struct le_cupti *cupti, le_cupti_result result) {
    const char *text = NULL;
    if (cupti->get_result_string && cupti->get_result_string(result, &text) == LE_CUPTI_SUCCESS && text)
        return text;
    return "unknown error";
}

/* If this library cannot be used, the search continues. If another profiler uses CUPTI, no library will work. */
static bool take_library(void *user, struct le_cupti_library *library) {
    struct le_recorder *recorder = user;
    const struct le_cupti *cupti = &library->table;
    le_cupti_result result = cupti->subscribe(&recorder->subscriber, le_capture_call, &recorder->capture);
    recorder->has_cupti = result == LE_CUPTI_SUCCESS;
    if (recorder->has_cupti)
        return true;
    bool is_taken = result == LE_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS || result == LE_CUPTI_ERROR_MAX_LIMIT_REACHED;
    if (is_taken)
        snprintf(recorder->note, sizeof recorder->note,
                 "nothing was recorded: another profiler is attached (CUPTI error %d)", result);
    else
        snprintf(library->reason, sizeof library->reason, "CUPTI cannot be used: %.160s (error %d)",
                 result_text(cupti, result), result);
    return is_taken;
}

bool le_recorder_find_cupti(struct le_recorder *recorder) {
    if (!le_cupti_library_open(&recorder->library, take_library, recorder))
        snprintf(recorder->note, sizeof recorder->note, "nothing was recorded: %s", recorder->library.reason);
    if (recorder->has_cupti && recorder->library.table.set_thread_id_type)
        recorder->library.table.set_thread_id_type(LE_CUPTI_THREAD_SYSTEM);
    return recorder->has_cupti;
}

/* ---- programs that some versions of CUPTI break */

/* While CUPTI before 13.2 records copies or sets, inside graphs or not, the first graph that XLA launches fails in most
 * runs (CUDA_ERROR_LAUNCH_FAILED; Xid 13): in 23 of 26 runs with 13.0 and driver 580, in none of 33 without these
 * records, and in none of 14 with 13.2 and 13.5. */
#define COPIES_SPARE_GRAPHS 130200

static int find_xla(struct dl_phdr_info *info, size_t size_bytes, void *user) {
    static const char *const libraries[] = {"/xla_cuda_plugin", "/libjax_common", "/xla_extension", "/libtensorflow"};
    (void)size_bytes, (void)user;
    for (size_t k = 0; k < ARRAY_LEN(libraries); k++)
        if (info->dlpi_name && strstr(info->dlpi_name, libraries[k]))
            return 1;
    return 0;
}

static void spare_graphs(struct le_recorder *recorder) {
    uint32_t version = recorder->library.version;
    recorder->skips_copies = version < COPIES_SPARE_GRAPHS && dl_iterate_phdr(find_xla, NULL);
    if (recorder->skips_copies)
        snprintf(recorder->note, sizeof recorder->note,
                 "copies and sets are not recorded: with CUPTI before 13.2, recording them breaks the graphs "
                 "that XLA launches; set LEAT_CUDA_PATH to the folder of a newer CUPTI");
}

static bool is_copy(le_cupti_kind kind) {
    return kind == LE_CUPTI_KIND_MEMCPY || kind == LE_CUPTI_KIND_MEMCPY2 || kind == LE_CUPTI_KIND_MEMSET;
}

/* ---- kinds */

static bool is_call(le_cupti_kind kind) {
    return kind == LE_CUPTI_KIND_DRIVER || kind == LE_CUPTI_KIND_RUNTIME;
}

/* If a kind cannot be enabled, only its records are missing. If recording is paused at first, this is called inside a
 * callback. */
static void enable_kinds(struct le_recorder *recorder, unsigned groups) {
    const struct le_cupti *cupti = &recorder->library.table;
    bool of_host = groups & LE_KINDS_OF_HOST && is_asked_for(recorder, LE_CUPTI_KIND_DRIVER);
    bool picks = of_host && !recorder->is_paused && !find_option(recorder, "all") &&
                 le_selection_pick(&recorder->selection, cupti);
    le_cupti_kind kind;
    for (uint32_t k = 0; (kind = le_convert_kind(recorder->library.version, groups, k)) != 0; k++) {
        if (!is_asked_for(recorder, kind) || (recorder->skips_copies && is_copy(kind)))
            continue;
        if (picks && is_call(kind))
            continue;
        le_cupti_result result = cupti->activity_enable(kind);
        if (result != LE_CUPTI_SUCCESS && !recorder->note[0])
            snprintf(recorder->note, sizeof recorder->note,
                     "some records are missing: CUPTI cannot record activity kind %d: %s (error %d)", kind,
                     result_text(cupti, result), result);
    }
    if (of_host && !picks)
        le_selection_leave_out(&recorder->selection, cupti);
}

static void disable_kinds(struct le_recorder *recorder, unsigned groups) {
    le_cupti_kind kind;
    for (uint32_t k = 0; (kind = le_convert_kind(recorder->library.version, groups, k)) != 0; k++)
        recorder->library.table.activity_disable(kind);
}

static void put_switch(struct le_recorder *recorder, bool on) {
    struct le_trace_switch record = {.is_on = on};
    recorder->library.table.get_timestamp(&record.time_ns);
    le_event_ring_put(&recorder->ring, LE_TRACE_SWITCH, &record, sizeof record, NULL, 0);
}

/* Called on a thread of the program, inside cuProfilerStart or cuProfilerStop. Flushes the records at cuProfilerStop,
 * because the program may be killed long afterwards. */
static void switch_recording(void *user, bool on) {
    struct le_recorder *recorder = user;
    if (atomic_exchange(&recorder->capture.is_on, on) == on)
        return;
    unsigned groups = LE_KINDS_OF_HOST | (atomic_load(&recorder->has_graphs) ? 0 : LE_KINDS_OF_WORK);
    if (on)
        enable_kinds(recorder, groups);
    put_switch(recorder, on);
    if (!on && !atomic_load(&recorder->has_graphs))
        recorder->library.table.activity_flush(0);
    if (!on)
        disable_kinds(recorder, groups);
}

/* Called on a thread of the program, before it creates its first graph. CUPTI (13.0, driver 580) crashes when a graph
 * is launched that was created while the work of devices was not recorded. So that work is always recorded from now on,
 * and the reader drops what was done in pauses. */
static void keep_graphs(void *user) {
    struct le_recorder *recorder = user;
    if (!atomic_exchange(&recorder->has_graphs, true))
        enable_kinds(recorder, LE_KINDS_OF_WORK);
}

static void wake(void *user) {
    le_recorder_wake(user);
}

static bool set_attribute(const struct le_cupti *cupti, le_cupti_attribute attribute) {
    uint8_t value = 1;
    size_t size_bytes = sizeof value;
    return cupti->set_attribute && cupti->set_attribute(attribute, &size_bytes, &value) == LE_CUPTI_SUCCESS;
}

/* Makes the writer clear the buffers, instead of CUPTI in the program's threads. */
static void set_attributes(struct le_recorder *recorder) {
    const struct le_cupti *cupti = &recorder->library.table;
    recorder->buffers.clears = set_attribute(cupti, LE_CUPTI_ATTRIBUTE_ZEROED);
    if (!find_option(recorder, "all"))
        le_selection_find(&recorder->selection, cupti);
}

void le_recorder_start_cupti(struct le_recorder *recorder, le_cupti_request_function *request,
                             le_cupti_complete_function *complete) {
    struct le_capture *capture = &recorder->capture;
    capture->user = recorder;
    capture->ring_half_full = wake;
    capture->profiler_switched = recorder->is_paused ? switch_recording : NULL;
    capture->graph_begins = recorder->is_paused ? keep_graphs : NULL;
    le_capture_enable(capture, &recorder->library.table, recorder->subscriber);
    set_attributes(recorder);
    spare_graphs(recorder);
    recorder->library.table.activity_register(request, complete);
    put_switch(recorder, !recorder->is_paused);
    atomic_store(&capture->is_on, !recorder->is_paused);
    enable_kinds(recorder, LE_KINDS_OF_OBJECTS | (recorder->is_paused ? 0 : LE_KINDS_OF_WORK | LE_KINDS_OF_HOST));
}
