/* See record_command.h. Parts are copied as they are. The reader finds records that are missing at the end of a part.
 */
#include "base/file_out.h"
#include "base/memory.h"
#include "trace/block_file.h"
#include "trace/record_command.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_BYTES = 1 << 20 };

/* ---- the process and notes in the first block of a part */

static const struct le_trace_record *next_record(const struct le_trace_blocks *file, uint32_t *at) {
    const struct le_trace_record *record = (const void *)(file->records + *at);
    if (file->head.bytes - *at < sizeof *record || record->bytes < sizeof *record || record->bytes % 8 ||
        record->bytes > file->head.bytes - *at)
        return NULL;
    *at += record->bytes;
    return record;
}

static bool is_record(const struct le_trace_record *record, enum le_trace_kind kind, size_t size_bytes) {
    return record->kind == kind && record->bytes >= sizeof *record + size_bytes;
}

static void copy_text(const struct le_trace_blocks *file, uint32_t id, char *text, size_t size_bytes) {
    const struct le_trace_record *record;
    for (uint32_t at = 0; (record = next_record(file, &at)) != NULL;) {
        const struct le_trace_string *string = (const void *)(record + 1);
        if (!is_record(record, LE_TRACE_STRING, sizeof *string) || string->id != id)
            continue;
        size_t most = record->bytes - sizeof *record - sizeof *string;
        size_t length = string->length < most ? string->length : most;
        snprintf(text, size_bytes, "%.*s", (int)length, (const char *)(string + 1));
    }
}

static void note_part(const char *path, leat_trace_outcome *outcome) {
    struct le_trace_blocks file;
    enum le_trace_block_status step = LE_STEP_END;
    leat_status status = le_trace_blocks_open(&file, path);
    for (int k = 0; !status && step != LE_STEP_RECORDS && k < 2; k++)
        status = le_trace_blocks_next(&file, &step);
    const struct le_trace_record *record;
    for (uint32_t at = 0; !status && step == LE_STEP_RECORDS && (record = next_record(&file, &at)) != NULL;) {
        const struct le_trace_process *process = (const void *)(record + 1);
        const struct le_trace_note *note = (const void *)(record + 1);
        if (is_record(record, LE_TRACE_PROCESS, sizeof *process))
            outcome->processes += process->cupti_version != 0;
        else if (is_record(record, LE_TRACE_NOTE, sizeof *note) && !outcome->note[0])
            copy_text(&file, note->text, outcome->note, sizeof outcome->note);
    }
    le_trace_blocks_close(&file);
}

/* ---- the captures at the end of a part */

/* Adds what the process did while it captured graphs, from the last two records of its part. */
static void add_captures(const char *path, struct le_trace_captures *sum) {
    struct {
        struct le_trace_record head;
        struct le_trace_captures captures;
        struct le_trace_record end_head;
        struct le_trace_end end;
    } tail = {0};
    int part = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    bool is_read = part >= 0 && fstat(part, &about) == 0 && about.st_size >= (off_t)sizeof tail &&
                   pread(part, &tail, sizeof tail, about.st_size - (off_t)sizeof tail) == (ssize_t)sizeof tail;
    if (part >= 0)
        close(part);
    if (!is_read || tail.head.kind != LE_TRACE_CAPTURES || tail.end_head.kind != LE_TRACE_END ||
        tail.head.bytes != sizeof tail.head + sizeof tail.captures)
        return;
    sum->launches += tail.captures.launches;
    sum->time_ns += tail.captures.time_ns;
    sum->recording_ns += tail.captures.recording_ns;
}

/* Adds a note if recording took more than half of the time. */
static void note_captures(const struct le_trace_captures *captures, leat_trace_outcome *outcome) {
    enum { LEAST_LAUNCHES = 1000 };
    if (captures->launches >= LEAST_LAUNCHES && captures->recording_ns > captures->time_ns / 2)
        le_trace_add_note(outcome,
                          "recording took longer than the work: the program captured %llu launches into graphs; "
                          "`leat trace --graphs only` does not record them one by one",
                          (unsigned long long)captures->launches);
}

/* ---- the file */

static leat_status fail_read(const char *path) {
    return le_fail_file("read", path, errno);
}

static leat_status append_part(struct le_file_out *out, const char *path, char *buffer, leat_trace_outcome *outcome) {
    int part = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = -1;
    leat_status status = part < 0 ? fail_read(path) : LEAT_OK;
    while (!status && (length = read(part, buffer, COPY_BYTES)) != 0) {
        if (length < 0 && errno == EINTR)
            continue;
        status = length < 0 ? fail_read(path) : le_file_out_write(out, buffer, (size_t)length);
        if (!status)
            outcome->bytes += (uint64_t)length;
    }
    if (part >= 0)
        close(part);
    return status;
}

/* The names of the folder's parts. Their order is that in which they began. */
struct part_names {
    struct part_name {
        char name[64];
    } * at;
    size_t count, capacity;
};

static int compare_parts(const void *a, const void *b) {
    return strcmp(((const struct part_name *)a)->name, ((const struct part_name *)b)->name);
}

static leat_status add_part(struct part_names *parts, const char *name) {
    size_t length = strlen(name);
    if (strncmp(name, "part.", 5) != 0 || length >= sizeof parts->at->name)
        return LEAT_OK;
    if (parts->count == parts->capacity) {
        size_t capacity = parts->capacity ? 2 * parts->capacity : 16;
        struct part_name *larger = le_realloc(parts->at, capacity * sizeof *larger);
        if (!larger)
            return le_fail_out_of_memory(capacity * sizeof *larger);
        parts->at = larger;
        parts->capacity = capacity;
    }
    memcpy(parts->at[parts->count++].name, name, length + 1);
    return LEAT_OK;
}

static leat_status list_parts(const char *folder, struct part_names *parts) {
    DIR *directory = opendir(folder);
    if (!directory)
        return fail_read(folder);
    leat_status status = LEAT_OK;
    for (struct dirent *entry; !status && (entry = readdir(directory)) != NULL;)
        status = add_part(parts, entry->d_name);
    closedir(directory);
    if (parts->count)
        qsort(parts->at, parts->count, sizeof *parts->at, compare_parts);
    return status;
}

static leat_status append_parts(struct le_file_out *out, const char *folder, const struct part_names *parts,
                                leat_trace_outcome *outcome) {
    char path[PATH_MAX], *buffer = le_alloc(COPY_BYTES);
    struct le_trace_captures captures = {0};
    leat_status status = buffer ? LEAT_OK : le_fail_out_of_memory(COPY_BYTES);
    for (size_t k = 0; !status && k < parts->count; k++) {
        if (snprintf(path, sizeof path, "%s/%s", folder, parts->at[k].name) >= (int)sizeof path)
            continue;
        note_part(path, outcome);
        add_captures(path, &captures);
        status = append_part(out, path, buffer, outcome);
    }
    note_captures(&captures, outcome);
    le_free(buffer);
    return status;
}

static leat_status make_file(const char *folder, const char *name, const struct part_names *parts,
                             leat_trace_outcome *outcome) {
    struct le_file_out out;
    leat_status status = le_file_out_open(name, NULL, &out);
    return status ? status : le_file_out_close(&out, append_parts(&out, folder, parts, outcome));
}

leat_status le_parts_gather(const char *folder, const char *file, leat_trace_outcome *outcome) {
    struct part_names parts = {0};
    leat_status status = list_parts(folder, &parts);
    if (!status && parts.count)
        status = make_file(folder, file, &parts, outcome);
    le_free(parts.at);
    return status;
}

void le_parts_remove(const char *folder) {
    struct part_names parts = {0};
    char path[PATH_MAX];
    leat_status status = list_parts(folder, &parts);
    for (size_t k = 0; !status && k < parts.count; k++)
        if (snprintf(path, sizeof path, "%s/%s", folder, parts.at[k].name) < (int)sizeof path)
            unlink(path);
    le_free(parts.at);
    rmdir(folder);
}
