/* See read.h. Parts are read one after the other. Damaged and missing records are counted, and reported once per part.
 */
#include "trace/read.h"
#include "base/memory.h"
#include "trace/block_file.h"
#include "trace/trace_reader.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Two processes whose clocks differ by less have the same clock: reading two clocks in turn takes that long. */
#define SAME_CLOCK_NS 1000000
/* A larger difference, a hundred years, is not credible. */
#define CLOCK_APART_MOST_NS ((int64_t)3155760000 * 1000000000)

struct trace_store {
    struct le_trace_index index; /* must be first: callers only see the index */
    struct le_arena arena;
};

/* ---- memory, texts and notes */

_Noreturn void le_reader_fail(struct le_reader *reader, leat_status status) {
    reader->status = status;
    longjmp(reader->arena->failure, 1);
}

void *le_reader_grow(struct le_reader *reader, void *at, int32_t count, int64_t *capacity, size_t size_bytes) {
    if (count < *capacity)
        return at;
    if (count > INT32_MAX / 2)
        le_reader_fail(reader, le_fail(LEAT_UNSUPPORTED, "the trace has more than 2^30 records of one kind"));
    int64_t larger = count < 8 ? 16 : 2 * (int64_t)count;
    void *grown = le_realloc(at, (size_t)larger * size_bytes);
    if (!grown)
        le_reader_fail(reader, le_fail_out_of_memory((size_t)larger * size_bytes));
    *capacity = larger;
    return grown;
}

void le_reader_put(struct le_reader *reader, struct le_id_map *map, uint64_t id, int32_t position) {
    if (!le_id_map_put(map, id, position))
        le_reader_fail(reader, le_fail_out_of_memory((size_t)map->capacity * sizeof *map->ids));
}

void le_reader_add(struct le_reader *reader, struct le_position_set *set, uint32_t hash, int32_t position) {
    if (!le_position_set_add(set, hash, position))
        le_reader_fail(reader, le_fail_out_of_memory((size_t)set->capacity * sizeof *set->slots));
}

/* Decodes one UTF-8 character of at most `left` bytes. Returns its length; 0: invalid. */
static size_t character_bytes(const unsigned char *text, size_t left, unsigned *number) {
    static const struct {
        unsigned char mask, lead;
        unsigned least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t more = 0; more < ARRAY_LEN(forms) && more < left; more++) {
        if ((text[0] & forms[more].mask) != forms[more].lead)
            continue;
        unsigned code = text[0] & (0xffu ^ forms[more].mask);
        for (size_t k = 1; k <= more; k++) {
            if ((text[k] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[k] & 0x3fu);
        }
        *number = code;
        bool is_character = code >= forms[more].least && code < 0x110000 && (code < 0xd800 || code >= 0xe000);
        return is_character ? more + 1 : 0;
    }
    return 0;
}

/* Rejects control characters, characters that change the direction of text, and noncharacters that XML forbids. */
static bool is_printable_character(unsigned number) {
    bool is_control = number < 0x20 || (number >= 0x7f && number < 0xa0);
    bool turns = (number >= 0x202a && number <= 0x202e) || (number >= 0x2066 && number <= 0x2069);
    return !is_control && !turns && (number & 0xfffe) != 0xfffe;
}

/* Writes to `to`, which has room for three bytes for each byte of `from`. Returns the length. */
static size_t make_printable(const char *from, size_t length, char *to) {
    const unsigned char *text = (const unsigned char *)from;
    size_t out = 0;
    for (size_t k = 0; k < length;) {
        unsigned number;
        size_t bytes = character_bytes(text + k, length - k, &number);
        if (bytes && is_printable_character(number)) {
            memcpy(to + out, text + k, bytes);
            out += bytes;
        } else if (bytes == 1) {
            to[out++] = ' ';
        } else {
            memcpy(to + out, "\xef\xbf\xbd", 3);
            out += 3;
        }
        k += bytes ? bytes : 1;
    }
    return out;
}

static bool is_printable(const char *text, size_t length) {
    for (size_t k = 0; k < length; k++)
        if ((unsigned char)text[k] < 0x20 || (unsigned char)text[k] >= 0x7f)
            return false;
    return true;
}

int32_t le_reader_text(struct le_reader *reader, const char *text, size_t length) {
    if (!is_printable(text, length)) {
        char *printable = le_arena_alloc(reader->arena, 3 * length + 1);
        length = make_printable(text, length, printable);
        text = printable;
    }
    struct le_trace_index *index = reader->index;
    uint32_t hash = (uint32_t)le_hash(text, length, 0);
    int64_t slot = LE_NONE;
    for (int32_t known; (known = le_position_set_next(&reader->texts, hash, &slot)) != LE_NONE;)
        if (strncmp(index->texts.at[known], text, length) == 0 && index->texts.at[known][length] == '\0')
            return known;
    const char *copy = le_arena_copy(reader->arena, text, length);
    int32_t position = index->texts.count;
    *LE_READER_PUSH(reader, &index->texts) = copy;
    le_reader_add(reader, &reader->texts, hash, position);
    return position;
}

/* The length of a text that was cut at `length`, without a last character that is incomplete. */
static size_t whole_length(const char *text, size_t length) {
    unsigned number;
    size_t last = length;
    while (last > 0 && ((unsigned char)text[--last] & 0xc0) == 0x80)
        continue;
    return character_bytes((const unsigned char *)text + last, length - last, &number) ? length : last;
}

void le_reader_note(struct le_reader *reader, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int whole = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t length = whole < (int)sizeof text ? strlen(text) : whole_length(text, sizeof text - 1);
    const char *note = le_arena_copy(reader->arena, text, length);
    *LE_READER_PUSH(reader, &reader->index->notes) = note;
}

/* ---- parts */

static void part_finish(struct le_reader_part *part) {
    le_id_map_finish(&part->texts);
    le_id_map_finish(&part->sources);
    le_id_map_finish(&part->threads);
    le_id_map_finish(&part->contexts);
    le_id_map_finish(&part->streams);
    le_id_map_finish(&part->devices);
    le_id_map_finish(&part->used);
    le_free(part->context_list.at);
    le_free(part->origins.at);
    le_free(part->correlations.at);
    *part = (struct le_reader_part){0};
}

/* What to add to the part's times: 0 for the first part, and for parts with the same clock. */
static int64_t clock_offset(struct le_reader *reader, const struct le_trace_header *header) {
    if (!header)
        return 0;
    int64_t base = (int64_t)(header->unix_ns - header->time_ns), difference;
    if (!reader->has_base) {
        reader->has_base = true;
        reader->clock_base_ns = base;
    }
    if (__builtin_sub_overflow(base, reader->clock_base_ns, &difference))
        return 0;
    bool is_same = difference > -SAME_CLOCK_NS && difference < SAME_CLOCK_NS;
    return is_same || difference > CLOCK_APART_MOST_NS || difference < -CLOCK_APART_MOST_NS ? 0 : difference;
}

/* header: NULL if it is damaged. */
static void part_begin(struct le_reader *reader, const struct le_trace_header *header) {
    struct le_trace_index *index = reader->index;
    struct le_process *process = LE_READER_PUSH(reader, &index->processes);
    *process = (struct le_process){.unix_offset_ns = clock_offset(reader, header)};
    if (header) {
        process->id = header->process;
        process->parent = header->parent;
    }
    reader->part = (struct le_reader_part){.is_open = true,
                                           .process = index->processes.count - 1,
                                           .first_operation = index->operations.count,
                                           .first_call = index->calls.count,
                                           .first_transfer = index->transfers.count,
                                           .first_wait = index->waits.count,
                                           .first_memory = index->memory.count,
                                           .first_stream = index->streams.count,
                                           .first_range = index->ranges.count,
                                           .first_pause = index->pauses.count,
                                           .first_device = index->devices.count,
                                           .start_ns = UINT64_MAX};
}

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

static void note_part_damage(struct le_reader *reader) {
    const struct le_reader_part *part = &reader->part;
    const struct le_process *process = &reader->index->processes.at[part->process];
    unsigned id = (unsigned)process->id;
    if (part->damaged_bytes)
        le_reader_note(reader, "process %u: %llu byte%s of its records are damaged or cut off and were skipped", id,
                       (unsigned long long)part->damaged_bytes, plural(part->damaged_bytes));
    else if (part->blocks_missing)
        le_reader_note(reader, "process %u: %llu block%s of records missing from the file", id,
                       (unsigned long long)part->blocks_missing, part->blocks_missing == 1 ? "" : "s");
    if (part->malformed)
        le_reader_note(reader, "process %u: %llu invalid record%s skipped", id, (unsigned long long)part->malformed,
                       plural(part->malformed));
    if (part->timeless)
        le_reader_note(reader, "process %u: %llu record%s without times skipped", id,
                       (unsigned long long)part->timeless, plural(part->timeless));
    if (!process->ended)
        le_reader_note(reader, "process %u did not end normally or is still running; its last records may be missing",
                       id);
}

/* Sets the process's times, without pauses at both ends. Ranges that were never closed end with the process. */
static void bound_part(struct le_reader *reader) {
    struct le_reader_part *part = &reader->part;
    struct le_process *process = &reader->index->processes.at[part->process];
    if (part->start_ns == UINT64_MAX)
        part->start_ns = part->end_ns = part->on_ns;
    process->start_ns = part->on_ns && part->on_ns < part->start_ns ? part->on_ns : part->start_ns;
    process->end_ns = part->off_ns > part->end_ns ? part->off_ns : part->end_ns;
    for (int32_t k = part->first_range; k < reader->index->ranges.count; k++) {
        struct le_host_span *range = &reader->index->ranges.at[k];
        range->end_ns = range->end_ns ? range->end_ns : process->end_ns;
    }
}

static void part_end(struct le_reader *reader) {
    struct le_reader_part *part = &reader->part;
    if (!part->is_open)
        return;
    struct le_process *process = &reader->index->processes.at[part->process];
    process->is_cut = part->damaged_bytes || part->blocks_missing;
    le_reader_link(reader);
    bound_part(reader);
    note_part_damage(reader);
    part_finish(part);
}

/* ---- the file */

static void read_block(struct le_reader *reader, const struct le_trace_blocks *file) {
    struct le_reader_part *part = &reader->part;
    if (!part->is_open || file->head.number < part->next_block) { /* the header of this block's part is damaged */
        part_end(reader);
        part_begin(reader, NULL);
    }
    part->blocks_missing += file->head.number - part->next_block;
    part->next_block = file->head.number + 1;
    le_reader_records(reader, file->records, file->head.bytes);
}

/* Damage before the first part is damage of its header. */
static void count_damage(struct le_reader *reader, const struct le_trace_blocks *file) {
    if (!reader->part.is_open)
        part_begin(reader, NULL);
    reader->part.damaged_bytes += file->skipped_bytes;
}

static leat_status read_file(struct le_reader *reader, struct le_trace_blocks *file) {
    enum le_trace_block_status step;
    leat_status status;
    while (!(status = le_trace_blocks_next(file, &step)) && step != LE_STEP_END) {
        switch (step) {
        case LE_STEP_PART:
            part_end(reader);
            part_begin(reader, &file->header);
            break;
        case LE_STEP_RECORDS:
            read_block(reader, file);
            break;
        case LE_STEP_DAMAGE:
            count_damage(reader, file);
            break;
        case LE_STEP_END:
            break;
        }
    }
    if (!status)
        part_end(reader);
    return status;
}

/* A device's name and number. */
static uint64_t label_of(const struct le_trace_device *device) {
    return (uint64_t)device->name << 32 | device->id;
}

static void add_uuid_to_name(struct le_reader *reader, struct le_trace_device *device) {
    const uint8_t *uuid = device->uuid;
    char name[256];
    if (!uuid[0] && !uuid[1] && !uuid[2] && !uuid[3])
        return;
    snprintf(name, sizeof name, "%s GPU-%02x%02x%02x%02x", reader->index->texts.at[device->name], uuid[0], uuid[1],
             uuid[2], uuid[3]);
    device->name = (uint32_t)le_reader_text(reader, name, strlen(name));
}

/* Different processes may use the same number for different devices. Their UUIDs are then added to their names. Devices
 * of which only the number is known may be the same device. */
static void distinguish_devices(struct le_reader *reader) {
    struct le_trace_index *index = reader->index;
    for (int32_t k = 0; k < index->devices.count; k++) {
        int32_t before = le_id_map_get(&reader->labels, label_of(&index->devices.at[k]));
        le_reader_put(reader, &reader->labels, label_of(&index->devices.at[k]), before == LE_NONE ? 1 : before + 1);
    }
    for (int32_t k = 0; k < index->devices.count; k++) {
        struct le_trace_device *device = &index->devices.at[k];
        uint64_t label = label_of(device);
        int32_t count = le_id_map_get(&reader->labels, label);
        if (count > 1 && device->name) {
            add_uuid_to_name(reader, device);
        } else if (count > 1) {
            le_reader_note(reader, "device %u has no UUID in %d processes: it may be one device or several",
                           (unsigned)device->id, (int)count);
            le_reader_put(reader, &reader->labels, label, 0); /* note it once */
        }
    }
}

static void bound_all(struct le_trace_index *index) {
    for (int32_t k = 0; k < index->processes.count; k++) {
        const struct le_process *process = &index->processes.at[k];
        if (!process->start_ns)
            continue;
        if (!index->start_ns || process->start_ns < index->start_ns)
            index->start_ns = process->start_ns;
        if (process->end_ns > index->end_ns)
            index->end_ns = process->end_ns;
    }
}

/* Everything that may longjmp. The caller frees the memory. */
static leat_status read_guarded(struct le_reader *reader, struct le_trace_blocks *file) {
    reader->status = LEAT_OUT_OF_MEMORY;
    if (setjmp(reader->arena->failure))
        return reader->status == LEAT_OUT_OF_MEMORY ? le_fail_out_of_memory(reader->arena->size_bytes) : reader->status;
    le_reader_text(reader, "", 0);
    leat_status status = read_file(reader, file);
    if (status)
        return status;
    le_reader_sort(reader, reader->index->processes.count);
    distinguish_devices(reader);
    bound_all(reader->index);
    return LEAT_OK;
}

leat_status le_trace_read(const char *path, struct le_trace_index **index) {
    struct le_trace_blocks file;
    struct trace_store *store = le_alloc_zero(1, sizeof *store);
    *index = NULL;
    if (!store)
        return le_fail_out_of_memory(sizeof *store);
    le_arena_init(&store->arena);
    struct le_reader reader = {.index = &store->index, .arena = &store->arena};
    leat_status status = le_trace_blocks_open(&file, path);
    if (!status)
        status = read_guarded(&reader, &file);
    le_trace_blocks_close(&file);
    part_finish(&reader.part);
    le_id_map_finish(&reader.functions);
    le_id_map_finish(&reader.kinds);
    le_id_map_finish(&reader.labels);
    le_position_set_finish(&reader.texts);
    le_position_set_finish(&reader.shapes);
    le_free(reader.new_positions);
    if (status)
        le_trace_free(&store->index);
    else
        *index = &store->index;
    return status;
}

void le_trace_free(struct le_trace_index *index) {
    if (!index)
        return;
    void *const tables[] = {index->texts.at,      index->processes.at, index->devices.at,   index->uses.at,
                            index->streams.at,    index->threads.at,   index->shapes.at,    index->sources.at,
                            index->operations.at, index->calls.at,     index->transfers.at, index->waits.at,
                            index->memory.at,     index->overheads.at, index->jits.at,      index->ranges.at,
                            index->pauses.at,     index->notes.at};
    for (size_t k = 0; k < ARRAY_LEN(tables); k++)
        le_free(tables[k]);
    struct trace_store *store = (struct trace_store *)(void *)index;
    le_arena_finish(&store->arena);
    le_free(store);
}
