/* Links a part after it is read: sorts its calls, drops calls inside other calls, sorts its operations, and replaces
 * correlations with positions of calls. After the last part, sorts the whole tables and updates the positions. */
#include "base/memory.h"
#include "trace/trace_reader.h"
#include "trace/sort_start.h"
#include <string.h>

/* The first fields of the rows of every table. */
struct row_times {
    uint64_t start_ns, end_ns;
};

static struct le_sort_key *new_keys(struct le_reader *reader, int32_t count) {
    size_t size_bytes = (size_t)(count ? count : 1) * sizeof(struct le_sort_key);
    struct le_sort_key *keys = le_alloc(size_bytes);
    if (!keys)
        le_reader_fail(reader, le_fail_out_of_memory(size_bytes));
    return keys;
}

static void sort_keys(struct le_reader *reader, struct le_sort_key *keys, int32_t count) {
    if (le_sort_keys(keys, count))
        return;
    le_free(keys);
    le_reader_fail(reader, le_fail_out_of_memory((size_t)count * sizeof *keys));
}

/* Among rows that start together, the longer one comes first. */
static uint32_t shorter_last(const struct row_times *times) {
    uint64_t duration_ns = times->end_ns - times->start_ns;
    return UINT32_MAX / 2 - (duration_ns < UINT32_MAX / 2 ? (uint32_t)duration_ns : UINT32_MAX / 2);
}

/* Sorts rows by their times. new_positions: NULL, or set to each row's new position. */
static void sort_rows(struct le_reader *reader, void *at, int32_t count, size_t size_bytes, int32_t *new_positions) {
    struct le_sort_key *keys = new_keys(reader, count);
    for (int32_t k = 0; k < count; k++) {
        struct row_times times;
        memcpy(&times, (const char *)at + (size_t)k * size_bytes, sizeof times);
        keys[k] = (struct le_sort_key){.key = times.start_ns, .tie = shorter_last(&times), .index = (uint32_t)k};
    }
    sort_keys(reader, keys, count);
    for (int32_t k = 0; new_positions && k < count; k++)
        new_positions[keys[k].index] = k;
    le_sort_apply(keys, count, at, size_bytes);
    le_free(keys);
}

/* ---- calls */

/* A runtime call comes before a driver call with the same times, which is inside it. */
static void sort_calls(struct le_reader *reader, struct le_call *calls, int32_t count) {
    struct le_sort_key *keys = new_keys(reader, count);
    for (int32_t k = 0; k < count; k++) {
        struct row_times times = {calls[k].start_ns, calls[k].end_ns};
        keys[k] = (struct le_sort_key){.key = times.start_ns,
                                       .tie = 2 * shorter_last(&times) + (calls[k].library == LE_TRACE_DRIVER),
                                       .index = (uint32_t)k};
    }
    sort_keys(reader, keys, count);
    le_sort_apply(keys, count, calls, sizeof *calls);
    le_free(keys);
}

static bool is_inside(const struct le_call *outer, const struct le_call *call) {
    bool may_be = outer->library == LE_TRACE_RUNTIME && call->library == LE_TRACE_DRIVER;
    return call->end_ns <= outer->end_ns && (call->start_ns < outer->end_ns || may_be);
}

/* Drops calls that are inside other calls of their thread. Returns keys from correlations to positions of the outermost
 * calls, sorted by correlation, then by start. */
static struct le_sort_key *keep_outermost_calls(struct le_reader *reader, int32_t *key_count) {
    struct le_trace_index *index = reader->index;
    int32_t first = reader->part.first_call, count = index->calls.count - first, kept = first;
    if (count > 0)
        sort_calls(reader, index->calls.at + first, count);
    struct le_sort_key *keys = new_keys(reader, count);
    int32_t *open = le_alloc_zero((size_t)index->threads.count + 1,
                                  sizeof *open); /* by thread: the position of its last call, plus one */
    if (!open) {
        le_free(keys);
        le_reader_fail(reader, le_fail_out_of_memory(((size_t)index->threads.count + 1) * sizeof *open));
    }
    for (int32_t k = first; k < first + count; k++) {
        struct le_call call = index->calls.at[k];
        int32_t *last = &open[call.thread];
        if (*last == 0 || !is_inside(&index->calls.at[*last - 1], &call)) {
            index->calls.at[kept] = call;
            *last = ++kept;
        }
        keys[k - first] = (struct le_sort_key){.key = (uint32_t)call.operation, .index = (uint32_t)*last - 1};
        index->calls.at[*last - 1].operation = LE_NONE;
    }
    le_free(open);
    index->calls.count = kept;
    sort_keys(reader, keys, count);
    *key_count = count;
    return keys;
}

/* ---- correlations to calls */

struct lookup {
    const struct le_sort_key *keys;
    int32_t count, hint; /* hint: the result of the last lookup; the next one is usually near */
};

/* The first key in low..high that is not less than the correlation. */
static int32_t first_from(const struct lookup *lookup, int64_t low, int64_t high, uint32_t correlation) {
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (lookup->keys[middle].key < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)low;
}

static int32_t call_of(struct lookup *lookup, uint32_t correlation) {
    if (correlation == 0 || lookup->count == 0)
        return LE_NONE;
    int64_t low = lookup->hint, high, step = 1;
    if (lookup->keys[low].key < correlation) {
        for (high = low; high < lookup->count && lookup->keys[high].key < correlation; step *= 2) {
            low = high;
            high += step;
        }
        high = high < lookup->count ? high + 1 : lookup->count;
    } else {
        for (high = low + 1; low > 0 && lookup->keys[low].key >= correlation; step *= 2)
            low = low > step ? low - step : 0;
    }
    int32_t found = first_from(lookup, low, high, correlation);
    if (found >= lookup->count)
        return LE_NONE;
    lookup->hint = found;
    return lookup->keys[found].key == correlation ? (int32_t)lookup->keys[found].index : LE_NONE;
}

/* An iteration over the part's sorted pauses, for times that are asked for in order. */
struct pause_walk {
    int32_t next;
    uint64_t end_ns; /* the latest end of the pauses that have begun */
};

static int32_t device_of_context(const struct le_reader_part *part, uint32_t context) {
    int32_t position = le_id_map_get(&part->contexts, context);
    return position == LE_NONE ? LE_NONE : le_id_map_get(&part->devices, part->context_list.at[position].device);
}

/* Whether nothing was being recorded at this time. Times must be asked for in order. */
static bool is_unrecorded(const struct le_reader *reader, struct pause_walk *walk, uint64_t time_ns) {
    const struct le_reader_part *part = &reader->part;
    for (; walk->next < reader->index->pauses.count; walk->next++) {
        const struct le_pause *pause = &reader->index->pauses.at[walk->next];
        if (pause->start_ns > time_ns)
            break;
        walk->end_ns = pause->end_ns > walk->end_ns ? pause->end_ns : walk->end_ns;
    }
    return time_ns < part->on_ns || (part->off_ns && time_ns >= part->off_ns) || time_ns < walk->end_ns;
}

/* Drops work that was done in pauses. If the program makes graphs, CUPTI records the work of devices in pauses, too,
 * but not the calls. */
static void drop_unrecorded(struct le_reader *reader, int32_t first, struct lookup *lookup) {
    struct le_trace_index *index = reader->index;
    int32_t kept = first;
    struct pause_walk walk = {.next = reader->part.first_pause};
    for (int32_t k = first; k < index->operations.count; k++) {
        const struct le_operation *operation = &index->operations.at[k];
        bool is_unknown = is_unrecorded(reader, &walk, operation->start_ns);
        if (is_unknown && call_of(lookup, (uint32_t)operation->call) == LE_NONE)
            continue;
        le_reader_extend(reader, operation->start_ns, operation->end_ns);
        index->operations.at[kept++] = *operation;
    }
    index->operations.count = kept;
}

static void link_operations(struct le_trace_index *index, int32_t first, struct lookup *lookup) {
    for (int32_t k = index->operations.count - 1; k >= first;
         k--) { /* backwards, so that a call refers to its first operation */
        struct le_operation *operation = &index->operations.at[k];
        operation->call = call_of(lookup, (uint32_t)operation->call);
        if (operation->call != LE_NONE)
            index->calls.at[operation->call].operation = k;
    }
}

static void link_others(struct le_reader *reader, struct lookup *lookup) {
    struct le_trace_index *index = reader->index;
    const struct le_reader_part *part = &reader->part;
    for (int32_t k = 0; k < part->origins.count; k++) {
        int32_t call = call_of(lookup, part->origins.at[k].correlation);
        if (call != LE_NONE)
            index->calls.at[call].source = (int32_t)part->origins.at[k].source;
    }
    for (int32_t k = 0; k < part->correlations.count; k++) {
        int32_t call = call_of(lookup, part->correlations.at[k]);
        if (call != LE_NONE)
            index->calls.at[call].transfer = part->first_transfer + k;
    }
    for (int32_t k = part->first_wait; k < index->waits.count; k++) {
        struct le_wait *wait = &index->waits.at[k];
        wait->call = call_of(lookup, (uint32_t)wait->call);
        wait->device = device_of_context(part, (uint32_t)wait->device);
    }
    for (int32_t k = part->first_memory; k < index->memory.count; k++)
        index->memory.at[k].call = call_of(lookup, (uint32_t)index->memory.at[k].call);
}

static void add_use(struct le_reader *reader, int32_t device) {
    struct le_trace_index *index = reader->index;
    struct le_reader_part *part = &reader->part;
    if (device == LE_NONE || le_id_map_get(&part->used, (uint64_t)device) != LE_NONE)
        return;
    le_reader_put(reader, &part->used, (uint64_t)device, index->uses.count);
    *LE_READER_PUSH(reader, &index->uses) = (struct le_device_use){.process = part->process, .device = device};
}

static void find_uses(struct le_reader *reader) {
    const struct le_reader_part *part = &reader->part;
    for (int32_t k = 0; k < part->context_list.count; k++)
        add_use(reader, le_id_map_get(&part->devices, part->context_list.at[k].device));
    for (int32_t k = part->first_stream; k < reader->index->streams.count; k++)
        add_use(reader, reader->index->streams.at[k].device);
}

/* Contexts may be recorded after the work in their streams. */
static void describe_streams(struct le_reader *reader) {
    struct le_trace_index *index = reader->index;
    for (int32_t k = reader->part.first_stream; k < index->streams.count; k++) {
        struct le_stream *stream = &index->streams.at[k];
        int32_t position = le_id_map_get(&reader->part.contexts, stream->context);
        if (position == LE_NONE)
            continue;
        const struct le_reader_context *context = &reader->part.context_list.at[position];
        stream->is_null = context->null_stream == stream->id;
        if (stream->device == LE_NONE)
            stream->device = le_id_map_get(&reader->part.devices, context->device);
    }
}

void le_reader_link(struct le_reader *reader) {
    struct le_trace_index *index = reader->index;
    int32_t first = reader->part.first_operation;
    struct lookup lookup = {0};
    describe_streams(reader);
    if (index->operations.count > first)
        sort_rows(reader, index->operations.at + first, index->operations.count - first, sizeof *index->operations.at,
                  NULL);
    int32_t first_pause = reader->part.first_pause;
    if (index->pauses.count > first_pause)
        sort_rows(reader, index->pauses.at + first_pause, index->pauses.count - first_pause, sizeof *index->pauses.at,
                  NULL);
    struct le_sort_key *keys = keep_outermost_calls(reader, &lookup.count);
    lookup.keys = keys;
    drop_unrecorded(reader, first, &lookup);
    link_operations(index, first, &lookup);
    link_others(reader, &lookup);
    le_free(keys);
    find_uses(reader);
}

/* ---- all parts */

static void update_position(int32_t *position, const int32_t *new_positions) {
    if (*position != LE_NONE)
        *position = new_positions[*position];
}

/* Each part is sorted, but the tables of all parts together are not. */
static void sort_parts(struct le_reader *reader) {
    struct le_trace_index *index = reader->index;
    int32_t calls = index->calls.count, operations = index->operations.count;
    size_t room = (size_t)calls + (size_t)operations + 1;
    reader->new_positions = le_alloc(room * sizeof *reader->new_positions);
    if (!reader->new_positions)
        le_reader_fail(reader, le_fail_out_of_memory(room * sizeof *reader->new_positions));
    int32_t *calls_to = reader->new_positions, *operations_to = calls_to + calls;
    sort_rows(reader, index->calls.at, calls, sizeof *index->calls.at, calls_to);
    sort_rows(reader, index->operations.at, operations, sizeof *index->operations.at, operations_to);
    for (int32_t k = 0; k < operations; k++)
        update_position(&index->operations.at[k].call, calls_to);
    for (int32_t k = 0; k < calls; k++)
        update_position(&index->calls.at[k].operation, operations_to);
    for (int32_t k = 0; k < index->waits.count; k++)
        update_position(&index->waits.at[k].call, calls_to);
    for (int32_t k = 0; k < index->memory.count; k++)
        update_position(&index->memory.at[k].call, calls_to);
}

/* Memory events have no end; those with the same time keep their order. */
static void sort_memory(struct le_reader *reader) {
    struct le_trace_index *index = reader->index;
    struct le_sort_key *keys = new_keys(reader, index->memory.count);
    for (int32_t k = 0; k < index->memory.count; k++)
        keys[k] = (struct le_sort_key){.key = index->memory.at[k].time_ns, .index = (uint32_t)k};
    sort_keys(reader, keys, index->memory.count);
    le_sort_apply(keys, index->memory.count, index->memory.at, sizeof *index->memory.at);
    le_free(keys);
}

void le_reader_sort(struct le_reader *reader, int32_t parts) {
    struct le_trace_index *index = reader->index;
    if (parts > 1)
        sort_parts(reader);
    sort_rows(reader, index->waits.at, index->waits.count, sizeof *index->waits.at, NULL);
    sort_rows(reader, index->overheads.at, index->overheads.count, sizeof *index->overheads.at, NULL);
    sort_rows(reader, index->jits.at, index->jits.count, sizeof *index->jits.at, NULL);
    sort_rows(reader, index->ranges.at, index->ranges.count, sizeof *index->ranges.at, NULL);
    sort_rows(reader, index->pauses.at, index->pauses.count, sizeof *index->pauses.at, NULL);
    sort_memory(reader);
}
