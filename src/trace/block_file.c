/* See block_file.h. If the expected block or header is missing or damaged, the file is searched byte by byte for the
 * next whole one, because parts may have been cut anywhere before they were gathered. */
#include "trace/block_file.h"
#include "base/hash.h"
#include "base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW_BYTES = 1 << 18, TRIALS = 4096, HEADER_MOST_BYTES = 4096 };

static leat_status fail_read(const struct le_trace_blocks *file) {
    return le_fail_file("read", file->path, errno);
}

/* Reads all bytes or fails. Callers never ask for bytes beyond the end. */
static leat_status read_at(struct le_trace_blocks *file, uint64_t at, void *bytes, size_t size_bytes) {
    for (size_t got = 0; got < size_bytes;) {
        ssize_t some = pread(file->fd, (char *)bytes + got, size_bytes - got, (off_t)(at + got));
        if (some < 0 && errno == EINTR)
            continue;
        if (some < 0)
            return fail_read(file);
        if (some == 0)
            return le_fail(LEAT_FILE, "%s: the file became shorter while it was read", file->path);
        got += (size_t)some;
    }
    return LEAT_OK;
}

static bool is_in_file(const struct le_trace_blocks *file, uint64_t at, uint64_t size_bytes) {
    return at <= file->size_bytes && size_bytes <= file->size_bytes - at;
}

/* ---- blocks and headers at an offset */

/* is_there: whether there is a whole header, of any version. */
static leat_status try_header(struct le_trace_blocks *file, uint64_t at, bool *is_there) {
    struct le_trace_header *header = &file->header;
    *is_there = false;
    if (!is_in_file(file, at, sizeof *header))
        return LEAT_OK;
    leat_status status = read_at(file, at, header, sizeof *header);
    if (status || memcmp(header->magic, LE_TRACE_MAGIC, sizeof header->magic) != 0)
        return status;
    *is_there = header->checksum == le_hash(header, offsetof(struct le_trace_header, checksum), 0) &&
                header->header_bytes >= sizeof *header && header->header_bytes <= HEADER_MOST_BYTES;
    return LEAT_OK;
}

static leat_status try_block(struct le_trace_blocks *file, uint64_t at, bool *is_there) {
    struct le_trace_block *head = &file->head;
    *is_there = false;
    if (!is_in_file(file, at, sizeof *head))
        return LEAT_OK;
    leat_status status = read_at(file, at, head, sizeof *head);
    if (status || head->magic != LE_TRACE_BLOCK_MAGIC || head->bytes > LE_TRACE_BLOCK_MOST_BYTES ||
        !is_in_file(file, at + sizeof *head, head->bytes))
        return status;
    status = read_at(file, at + sizeof *head, file->records, head->bytes);
    *is_there = !status && le_hash(file->records, head->bytes, head->number) == head->checksum;
    return status;
}

/* Reads the header or block at file->at and moves past it. LE_STEP_DAMAGE: there is no whole one. */
static leat_status read_step(struct le_trace_blocks *file, enum le_trace_block_status *step) {
    bool is_there;
    *step = LE_STEP_DAMAGE;
    leat_status status = try_header(file, file->at, &is_there);
    if (!status && is_there) {
        if (file->header.version != LE_TRACE_VERSION)
            return le_fail(LEAT_FILE, "%s: this trace has format version %u; this version of Leat reads %d", file->path,
                           (unsigned)file->header.version, LE_TRACE_VERSION);
        uint64_t left = file->size_bytes - file->at;
        file->at += file->header.header_bytes < left ? file->header.header_bytes : left;
        *step = LE_STEP_PART;
        return LEAT_OK;
    }
    if (!status)
        status = try_block(file, file->at, &is_there);
    if (!status && is_there) {
        file->at += sizeof file->head + file->head.bytes;
        *step = LE_STEP_RECORDS;
    }
    return status;
}

/* ---- the search */

static bool may_begin(const unsigned char *bytes) {
    uint32_t magic;
    memcpy(&magic, bytes, sizeof magic);
    return magic == LE_TRACE_BLOCK_MAGIC || memcmp(bytes, LE_TRACE_MAGIC, strlen(LE_TRACE_MAGIC)) == 0;
}

/* The next offset in the window, at `from` or later, where a header or block may begin; `length` if there is none. */
static size_t find_in_window(const unsigned char *window, size_t from, size_t length) {
    for (size_t k = from; k + strlen(LE_TRACE_MAGIC) <= length; k++) {
        const unsigned char *found = memchr(window + k, 'L', length - k);
        if (!found)
            return length;
        k = (size_t)(found - window);
        if (k + strlen(LE_TRACE_MAGIC) <= length && may_begin(found))
            return k;
    }
    return length;
}

static leat_status is_whole_at(struct le_trace_blocks *file, uint64_t at, bool *is_whole) {
    leat_status status = try_header(file, at, is_whole);
    return status || *is_whole ? status : try_block(file, at, is_whole);
}

/* Moves file->at to the next whole header or block after it, or to the end of the file. */
static leat_status find_next_whole(struct le_trace_blocks *file) {
    uint64_t from = file->at + 1;
    while (from < file->size_bytes && file->trials > 0) {
        uint64_t left = file->size_bytes - from;
        size_t length = left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES;
        leat_status status = read_at(file, from, file->window, length);
        bool is_whole = false;
        for (size_t k = 0; !status && file->trials > 0; k++) {
            k = find_in_window(file->window, k, length);
            if (k == length)
                break;
            file->trials--;
            status = is_whole_at(file, from + k, &is_whole);
            if (is_whole) {
                file->at = from + k;
                return status;
            }
        }
        if (status)
            return status;
        from += length > strlen(LE_TRACE_MAGIC) ? length - strlen(LE_TRACE_MAGIC) + 1 : length;
    }
    file->at = file->size_bytes;
    return LEAT_OK;
}

/* ---- the file */

static leat_status check_start(struct le_trace_blocks *file) {
    char magic[sizeof file->header.magic];
    leat_status status = is_in_file(file, 0, sizeof magic)
                             ? read_at(file, 0, magic, sizeof magic)
                             : le_fail(LEAT_FILE, "%s: not a trace: too short", file->path);
    if (!status && memcmp(magic, LE_TRACE_MAGIC, sizeof magic) != 0)
        return le_fail_at(LEAT_FILE, (struct le_location){0}, "give a file that `leat trace` wrote", "%s: not a trace",
                          file->path);
    if (!status && !is_in_file(file, 0, sizeof file->header))
        return le_fail(LEAT_FILE, "%s: not a trace: it ends inside its header", file->path);
    return status;
}

leat_status le_trace_blocks_open(struct le_trace_blocks *file, const char *path) {
    struct stat facts;
    *file = (struct le_trace_blocks){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC), .trials = TRIALS};
    if (file->fd < 0 || fstat(file->fd, &facts) != 0)
        return fail_read(file);
    if (!S_ISREG(facts.st_mode))
        return le_fail(LEAT_FILE, "%s: not a regular file", path);
    file->size_bytes = (uint64_t)facts.st_size;
    file->records = le_alloc(LE_TRACE_BLOCK_MOST_BYTES);
    file->window = le_alloc(WINDOW_BYTES);
    if (!file->records || !file->window)
        return le_fail_out_of_memory(LE_TRACE_BLOCK_MOST_BYTES + WINDOW_BYTES);
    return check_start(file);
}

void le_trace_blocks_close(struct le_trace_blocks *file) {
    le_free(file->records);
    le_free(file->window);
    if (file->fd >= 0)
        close(file->fd);
}

leat_status le_trace_blocks_next(struct le_trace_blocks *file, enum le_trace_block_status *step) {
    *step = LE_STEP_END;
    if (file->at >= file->size_bytes)
        return LEAT_OK;
    leat_status status = read_step(file, step);
    if (status || *step != LE_STEP_DAMAGE)
        return status;
    uint64_t start = file->at;
    status = find_next_whole(file);
    file->skipped_bytes = file->at - start;
    return status;
}
