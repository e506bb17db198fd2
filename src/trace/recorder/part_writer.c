/* See part_writer.h. */
#include "trace/recorder/part_writer.h"
#include "base/hash.h"
#include "base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_MOST_BYTES = 8 << 10, FAR_DESCRIPTOR = 512 };

/* ---- the file */

static bool write_all(int file, struct iovec *pieces, int count) {
    while (count) {
        ssize_t written = writev(file, pieces, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        while (count && (size_t)written >= pieces->iov_len) {
            written -= (ssize_t)pieces->iov_len;
            pieces++, count--;
        }
        if (count) {
            pieces->iov_base = (char *)pieces->iov_base + written;
            pieces->iov_len -= (size_t)written;
        }
    }
    return true;
}

/* Another thread may close all descriptors and open a file of its own while this one writes. That file gets the lowest
 * free number, so this one uses a high number. */
static int move_far(int file) {
    int far = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, FAR_DESCRIPTOR);
    if (far < 0)
        return file;
    close(file);
    return far;
}

/* Whether the descriptor is still this part's file, and the file has not been deleted. */
static bool is_part_file(const struct le_part_writer *writer, int file) {
    struct stat facts;
    return fstat(file, &facts) == 0 && facts.st_dev == writer->device && facts.st_ino == writer->inode &&
           facts.st_nlink;
}

/* Duplicates the descriptor with which the file was created, if it still refers to the file. No other code knows the
 * copy. */
static int copy_first_descriptor(const struct le_part_writer *writer) {
    int file = fcntl(writer->first_descriptor, F_DUPFD_CLOEXEC, FAR_DESCRIPTOR);
    if (file < 0 && errno == EINVAL) /* the limit on open files is below FAR_DESCRIPTOR */
        file = fcntl(writer->first_descriptor, F_DUPFD_CLOEXEC, 0);
    if (file < 0 || is_part_file(writer, file))
        return file;
    close(file);
    return -1;
}

/* is_closed: the program closed the descriptor, and its number may belong to a file of the program by now. That file
 * must stay open. */
static int open_again(const struct le_part_writer *writer, bool *is_closed) {
    int near = open(writer->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (near < 0)
        return copy_first_descriptor(writer);
    int far = fcntl(near, F_DUPFD_CLOEXEC, FAR_DESCRIPTOR), file = far < 0 ? near : far;
    *is_closed = !is_part_file(writer, file);
    if (far >= 0)
        close(*is_closed ? far : near);
    return *is_closed ? -1 : file;
}

/* Appends all pieces or nothing. is_closed: it failed because the program closed the descriptor. */
static bool append_pieces(struct le_part_writer *writer, int file, struct iovec *pieces, int count, bool *is_closed) {
    uint64_t size_bytes = 0;
    for (int k = 0; k < count; k++)
        size_bytes += pieces[k].iov_len;
    bool done = write_all(file, pieces, count);
    *is_closed = !done && errno == EBADF;
    if (!done && ftruncate(file, (off_t)writer->bytes) != 0 && !*is_closed)
        writer->lost[LE_TRACE_LOST_DISK]++; /* the reader detects the incomplete block by its checksum */
    if (done)
        writer->bytes += size_bytes;
    return done;
}

static uint64_t calendar_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool write_header(struct le_part_writer *writer, uint64_t time_ns) {
    struct le_trace_header header = {.magic = LE_TRACE_MAGIC,
                                     .version = LE_TRACE_VERSION,
                                     .header_bytes = sizeof header,
                                     .process = (uint32_t)getpid(),
                                     .parent = (uint32_t)getppid(),
                                     .unix_ns = calendar_ns(),
                                     .time_ns = time_ns};
    header.checksum = le_hash(&header, offsetof(struct le_trace_header, checksum), 0);
    struct iovec piece = {.iov_base = &header, .iov_len = sizeof header};
    bool is_closed;
    return append_pieces(writer, writer->first_descriptor, &piece, 1, &is_closed);
}

int le_part_writer_init(struct le_part_writer *writer, const char *path, uint64_t time_ns,
                        _Atomic uint32_t *text_count) {
    struct stat facts;
    writer->text_count = text_count;
    if (snprintf(writer->path, sizeof writer->path, "%s", path) >= (int)sizeof writer->path)
        return ENAMETOOLONG;
    writer->first_descriptor = move_far(open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_CREAT | O_EXCL, 0600));
    if (writer->first_descriptor < 0)
        return errno;
    if (fstat(writer->first_descriptor, &facts) == 0 && write_header(writer, time_ns)) {
        writer->device = facts.st_dev;
        writer->inode = facts.st_ino;
        return 0;
    }
    int error = errno;
    close(writer->first_descriptor);
    unlink(path);
    return error;
}

void le_part_writer_finish(struct le_part_writer *writer) {
    le_free(writer->texts.slots);
    writer->texts = (struct le_part_texts){0};
}

static bool try_block(struct le_part_writer *writer, bool *is_closed) {
    struct le_trace_block head = {.magic = LE_TRACE_BLOCK_MAGIC, .bytes = writer->fill, .number = writer->blocks};
    head.checksum = le_hash(writer->block, writer->fill, head.number);
    struct iovec pieces[2] = {{.iov_base = &head, .iov_len = sizeof head},
                              {.iov_base = writer->block, .iov_len = writer->fill}};
    int file = open_again(writer, is_closed);
    if (file < 0)
        return false;
    bool done = append_pieces(writer, file, pieces, 2, is_closed);
    writer->blocks += done;
    return (close(file) == 0 || errno == EBADF) && done;
}

/* Retries if the program closed the descriptor. A program that closes all descriptors once can do so at most twice per
 * block: after the file was opened, and after its descriptor was moved. */
static bool write_block(struct le_part_writer *writer) {
    enum { TRIES = 8 };
    bool is_closed = true, done = false;
    for (int k = 0; !done && is_closed && k < TRIES; k++) {
        is_closed = false;
        done = try_block(writer, &is_closed);
    }
    return done;
}

void le_part_flush(struct le_part_writer *writer) {
    if (!writer->fill)
        return;
    if (!write_block(writer)) {
        writer->closed = LE_TRACE_LOST_DISK;
        writer->lost[LE_TRACE_LOST_DISK] += writer->pending;
    }
    writer->fill = writer->pending = 0;
}

void le_part_end(struct le_part_writer *writer, const struct le_trace_captures *captures,
                 const struct le_trace_end *end) {
    le_part_flush(writer);
    writer->limit_bytes = 0;
    writer->closed = 0;
    for (uint32_t reason = LE_TRACE_LOST_CUPTI; reason <= LE_TRACE_LOST_DISK; reason++) {
        struct le_trace_lost lost = {.records = writer->lost[reason], .reason = reason};
        if (lost.records)
            le_part_put(writer, LE_TRACE_LOST, &lost, sizeof lost, NULL, 0);
    }
    if (captures->launches)
        le_part_put(writer, LE_TRACE_CAPTURES, captures, sizeof *captures, NULL, 0);
    le_part_put(writer, LE_TRACE_END, end, sizeof *end, NULL, 0);
    le_part_flush(writer);
}

/* ---- records */

static bool is_within_limit(const struct le_part_writer *writer, size_t size_bytes) {
    return !writer->limit_bytes ||
           writer->bytes + sizeof(struct le_trace_block) + writer->fill + size_bytes <= writer->limit_bytes;
}

/* Returns room for a record in the block; NULL: the part is closed, and the record was counted as lost. */
static char *make_room(struct le_part_writer *writer, size_t size_bytes) {
    if (!writer->closed && writer->fill + size_bytes > sizeof writer->block)
        le_part_flush(writer);
    if (!writer->closed && !is_within_limit(writer, size_bytes)) {
        le_part_flush(writer);
        writer->closed = writer->closed ? writer->closed : LE_TRACE_LOST_LIMIT;
    }
    if (writer->closed) {
        writer->lost[writer->closed]++;
        return NULL;
    }
    char *at = (char *)writer->block + writer->fill;
    writer->fill += (uint32_t)size_bytes;
    writer->pending++;
    return at;
}

void le_part_put(struct le_part_writer *writer, enum le_trace_kind kind, const void *structure, size_t structure_bytes,
                 const void *bytes, size_t length) {
    size_t used = sizeof(struct le_trace_record) + structure_bytes + length, size_bytes = (used + 7) & ~(size_t)7;
    struct le_trace_record head = {.kind = (uint16_t)kind, .bytes = (uint32_t)size_bytes};
    char *at = make_room(writer, size_bytes);
    if (!at)
        return;
    memcpy(at, &head, sizeof head);
    memcpy(at + sizeof head, structure, structure_bytes);
    if (length)
        memcpy(at + sizeof head + structure_bytes, bytes, length);
    memset(at + used, 0, size_bytes - used);
}

void le_part_put_record(struct le_part_writer *writer, const struct le_trace_record *record) {
    char *at = make_room(writer, record->bytes);
    if (at)
        memcpy(at, record, record->bytes);
}

/* ---- texts: two texts with the same 64-bit hash are assumed to be equal */

static struct le_part_text_slot *find_slot(const struct le_part_texts *texts, uint64_t hash) {
    uint32_t mask = texts->capacity - 1;
    for (uint32_t k = (uint32_t)hash & mask;; k = (k + 1) & mask)
        if (!texts->slots[k].id || texts->slots[k].hash == hash)
            return &texts->slots[k];
}

static bool grow_texts(struct le_part_texts *texts) {
    struct le_part_texts larger = {.count = texts->count, .capacity = texts->capacity ? 2 * texts->capacity : 1024};
    larger.slots = le_alloc_zero(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (uint32_t k = 0; k < texts->capacity; k++)
        if (texts->slots[k].id)
            *find_slot(&larger, texts->slots[k].hash) = texts->slots[k];
    le_free(texts->slots);
    *texts = larger;
    return true;
}

uint32_t le_part_text(struct le_part_writer *writer, const char *text) {
    struct le_part_texts *texts = &writer->texts;
    if (!text || (2 * texts->count >= texts->capacity && !grow_texts(texts)))
        return 0;
    size_t length = strnlen(text, TEXT_MOST_BYTES);
    uint64_t hash = le_hash(text, length, 0);
    struct le_part_text_slot *slot = find_slot(texts, hash);
    if (slot->id)
        return slot->id;
    *slot = (struct le_part_text_slot){.hash = hash, .id = atomic_fetch_add(writer->text_count, 1) + 1};
    texts->count++;
    struct le_trace_string string = {.id = slot->id, .length = (uint32_t)length};
    le_part_put(writer, LE_TRACE_STRING, &string, sizeof string, text, length);
    return slot->id;
}
