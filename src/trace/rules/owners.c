/* See owners.h. A call belongs to the device of the work that it enqueued, of the stream or context that it waited for,
 * or of the memory that it allocated. Otherwise it belongs to the device that its thread used last, because the current
 * device is a property of the thread; before the thread's first work, to the device that it uses first. So each call
 * belongs to exactly one device, and no call counts in the findings of two devices. */
#include "trace/rules/owners.h"

typedef int32_t key_of_position(const void *user, int32_t position);

/* positions->at: NULL for 0, 1, ... Positions whose key is LE_NONE are left out. */
static struct le_grouped group_by_key(struct le_arena *arena, const struct le_positions *positions, int32_t keys,
                                      key_of_position *key_of, const void *user) {
    struct le_grouped grouped = {.at = LE_NEW_ARRAY(arena, positions->count, int32_t),
                                 .first = LE_NEW_ARRAY(arena, (int64_t)keys + 2, int32_t)};
    int32_t *next = grouped.first + 1; /* while positions are added: where the key's next position goes */
    for (int32_t k = 0; k < positions->count; k++) {
        int32_t key = key_of(user, positions->at ? positions->at[k] : k);
        if (key != LE_NONE)
            next[key + 1]++;
    }
    for (int32_t key = 1; key <= keys; key++)
        next[key] += next[key - 1];
    for (int32_t k = 0; k < positions->count; k++) {
        int32_t position = positions->at ? positions->at[k] : k, key = key_of(user, position);
        if (key != LE_NONE)
            grouped.at[next[key]++] = position;
    }
    return grouped;
}

struct le_positions le_grouped_of(const struct le_grouped *grouped, int32_t key) {
    return (struct le_positions){grouped->at + grouped->first[key], grouped->first[key + 1] - grouped->first[key]};
}

/* ---- by process */

static int32_t process_of_thread(const struct le_trace_index *index, int32_t thread) {
    return thread == LE_NONE ? LE_NONE : index->threads.at[thread].process;
}

static int32_t process_of_operation(const void *user, int32_t position) {
    const struct le_trace_index *index = user;
    int32_t stream = index->operations.at[position].stream;
    return stream == LE_NONE ? LE_NONE : index->streams.at[stream].process;
}

static int32_t process_of_call(const void *user, int32_t position) {
    const struct le_trace_index *index = user;
    return process_of_thread(index, index->calls.at[position].thread);
}

static int32_t process_of_overhead(const void *user, int32_t position) {
    const struct le_trace_index *index = user;
    return process_of_thread(index, index->overheads.at[position].thread);
}

/* ---- by device */

static int32_t device_of_operation(const struct le_trace_index *index, int32_t operation) {
    int32_t stream = operation == LE_NONE ? LE_NONE : index->operations.at[operation].stream;
    return stream == LE_NONE ? LE_NONE : index->streams.at[stream].device;
}

static void set_device(int32_t *devices, int32_t call, int32_t device) {
    if (call != LE_NONE && devices[call] == LE_NONE)
        devices[call] = device;
}

/* Gives each remaining call the device that its thread used last. The backward pass finds each thread's first device,
 * for the calls before its first work. */
static void set_devices_by_thread(const struct le_trace_index *index, int32_t *devices, struct le_arena *arena) {
    int32_t *current = LE_NEW_ARRAY(arena, index->threads.count, int32_t);
    for (int32_t k = 0; k < index->threads.count; k++)
        current[k] = LE_NONE;
    for (int32_t k = index->calls.count - 1; k >= 0; k--)
        if (index->calls.at[k].thread != LE_NONE && devices[k] != LE_NONE)
            current[index->calls.at[k].thread] = devices[k];
    for (int32_t k = 0; k < index->calls.count; k++) {
        int32_t thread = index->calls.at[k].thread;
        if (thread != LE_NONE && devices[k] == LE_NONE)
            devices[k] = current[thread];
        else if (thread != LE_NONE)
            current[thread] = devices[k];
    }
}

static int32_t *find_devices_of_calls(const struct le_trace_index *index, struct le_arena *arena) {
    int32_t *devices = LE_NEW_ARRAY(arena, index->calls.count, int32_t);
    for (int32_t k = 0; k < index->calls.count; k++)
        devices[k] = device_of_operation(index, index->calls.at[k].operation);
    for (int32_t k = 0; k < index->waits.count; k++)
        set_device(devices, index->waits.at[k].call, index->waits.at[k].device);
    for (int32_t k = 0; k < index->memory.count; k++)
        set_device(devices, index->memory.at[k].call, index->memory.at[k].device);
    set_devices_by_thread(index, devices, arena);
    return devices;
}

void le_owners_find(struct le_owners *owners, const struct le_trace_index *index, struct le_arena *arena) {
    int32_t processes = index->processes.count;
    struct le_positions operations = {.count = index->operations.count}, calls = {.count = index->calls.count},
                        overheads = {.count = index->overheads.count};
    *owners = (struct le_owners){.index = index};
    owners->operations = group_by_key(arena, &operations, processes, process_of_operation, index);
    owners->calls = group_by_key(arena, &calls, processes, process_of_call, index);
    owners->overheads = group_by_key(arena, &overheads, processes, process_of_overhead, index);
    if (index->devices.count > 1)
        owners->devices_of_calls = find_devices_of_calls(index, arena);
}

/* Maps devices to the numbers of a process's parts. */
struct numbering {
    const struct le_owners *owners;
    const int32_t *parts; /* part number by device; 0 for devices that the process did not use */
};

static int32_t part_of(const struct numbering *numbering, int32_t device) {
    return device == LE_NONE ? 0 : numbering->parts[device];
}

static int32_t part_of_operation(const void *user, int32_t position) {
    const struct numbering *numbering = user;
    return part_of(numbering, device_of_operation(numbering->owners->index, position));
}

static int32_t part_of_call(const void *user, int32_t position) {
    const struct numbering *numbering = user;
    return part_of(numbering, numbering->owners->devices_of_calls[position]);
}

/* Fills parts->devices, and numbers with each device's position in it. */
static void number_devices(const struct le_trace_index *index, const struct le_positions *operations,
                           struct le_device_parts *parts, int32_t *numbers) {
    for (int32_t k = 0; k < operations->count; k++) {
        int32_t device = device_of_operation(index, operations->at[k]);
        if (device == LE_NONE || (parts->count && parts->devices[numbers[device]] == device))
            continue;
        numbers[device] = parts->count;
        parts->devices[parts->count++] = device;
    }
    if (parts->count == 0)
        parts->devices[parts->count++] = LE_NONE;
}

struct le_device_parts le_device_parts_of(const struct le_owners *owners, int32_t process, struct le_arena *arena) {
    const struct le_trace_index *index = owners->index;
    struct le_positions operations = le_grouped_of(&owners->operations, process);
    struct le_positions calls = le_grouped_of(&owners->calls, process);
    struct le_device_parts parts = {.devices = LE_NEW_ARRAY(arena, (int64_t)index->devices.count + 1, int32_t)};
    int32_t *numbers = LE_NEW_ARRAY(arena, index->devices.count, int32_t);
    number_devices(index, &operations, &parts, numbers);
    if (parts.count < 2)
        return parts;
    struct numbering numbering = {.owners = owners, .parts = numbers};
    parts.operations = group_by_key(arena, &operations, parts.count, part_of_operation, &numbering);
    parts.calls = group_by_key(arena, &calls, parts.count, part_of_call, &numbering);
    return parts;
}
