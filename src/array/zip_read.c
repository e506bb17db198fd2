/* See zip_format.h. Reads archives. All offsets and lengths come from the file, and none is used before it was compared
 * with the bytes that are there. */
#include "array/zip_format.h"
#include "base/memory.h"
#include "base/status.h"
#include <string.h>
#include <zlib.h>

enum {
    END_BYTES = 22,     /* of the record at the archive's end, without a comment */
    END64_BYTES = 56,   /* of the record before it that has 64-bit numbers */
    LOCATOR_BYTES = 20, /* of the record between them */
    ENTRY_BYTES = 46,   /* of an entry's record in the directory, without name and fields */
    HEADER_BYTES = 30,  /* of the header before an entry's content, without name and fields */
    COMMENT_MAX = 65535,
    FIELD_64 = 1 /* the field with an entry's 64-bit numbers */
};

/* Reads an unsigned little-endian integer of size_bytes bytes. */
static uint64_t number(const uint8_t *at, int size_bytes) {
    uint64_t value = 0;
    for (int k = size_bytes; k-- > 0;)
        value = value << 8 | at[k];
    return value;
}

static bool is_signed(const uint8_t *at, const char *signature) {
    return memcmp(at, signature, 4) == 0;
}

/* ---- the directory */

/* The offset of the record at the end, which is the last one that fits with its comment; SIZE_MAX: none. */
static size_t find_end(const uint8_t *bytes, size_t size_bytes) {
    for (size_t back = END_BYTES; back <= size_bytes && back <= END_BYTES + COMMENT_MAX; back++) {
        const uint8_t *at = bytes + size_bytes - back;
        if (is_signed(at, "PK\5\6") && number(at + 20, 2) <= back - END_BYTES)
            return size_bytes - back;
    }
    return SIZE_MAX;
}

bool le_zip_open(const uint8_t *bytes, size_t size_bytes, struct le_zip *zip) {
    size_t end = find_end(bytes, size_bytes);
    if (end == SIZE_MAX)
        return false;
    const uint8_t *at = bytes + end;
    uint64_t count = number(at + 10, 2), length = number(at + 12, 4), offset = number(at + 16, 4);
    if (end >= LOCATOR_BYTES + END64_BYTES && is_signed(at - LOCATOR_BYTES, "PK\6\7") &&
        is_signed(at - LOCATOR_BYTES - END64_BYTES, "PK\6\6")) {
        end -= LOCATOR_BYTES + END64_BYTES;
        at = bytes + end;
        count = number(at + 32, 8);
        length = number(at + 40, 8);
        offset = number(at + 48, 8);
    }
    if (length > end || offset > end - length)
        return false;
    *zip = (struct le_zip){.bytes = bytes,
                           .size_bytes = size_bytes,
                           .directory = end - length,
                           .directory_end = end,
                           .base = end - length - offset,
                           .count = count};
    return true;
}

/* Replaces the numbers of the entry that are all ones in 32 bits by those of its 64-bit field. */
static bool read_wide(struct le_zip_entry *entry, const uint8_t *fields, size_t length) {
    uint64_t *const numbers[] = {&entry->size_bytes, &entry->packed_bytes, &entry->header};
    while (length >= 4) {
        size_t field = (size_t)number(fields + 2, 2), used = 0;
        if (field > length - 4)
            return false;
        for (size_t k = 0; number(fields, 2) == FIELD_64 && k < 3; k++) {
            if (*numbers[k] != UINT32_MAX)
                continue;
            if (used + 8 > field)
                return false;
            *numbers[k] = number(fields + 4 + used, 8);
            used += 8;
        }
        fields += 4 + field;
        length -= 4 + field;
    }
    return true;
}

bool le_zip_next(const struct le_zip *zip, uint64_t *at, struct le_zip_entry *entry) {
    uint64_t left = zip->directory_end - *at;
    const uint8_t *record = zip->bytes + *at;
    if (left < ENTRY_BYTES || !is_signed(record, "PK\1\2"))
        return false;
    size_t name = (size_t)number(record + 28, 2), fields = (size_t)number(record + 30, 2);
    size_t all = ENTRY_BYTES + name + fields + (size_t)number(record + 32, 2);
    *entry = (struct le_zip_entry){.name = (const char *)record + ENTRY_BYTES,
                                   .name_length = name,
                                   .packed_bytes = number(record + 20, 4),
                                   .size_bytes = number(record + 24, 4),
                                   .header = number(record + 42, 4),
                                   .checksum = (uint32_t)number(record + 16, 4),
                                   .method = (uint16_t)number(record + 10, 2),
                                   .encrypted = record[8] & 1};
    if (all > left || !read_wide(entry, record + ENTRY_BYTES + name, fields))
        return false;
    *at += all;
    return true;
}

bool le_zip_is_named(const struct le_zip_entry *entry, const char *name, const char *ending) {
    size_t length = strlen(name), ending_length = strlen(ending);
    return entry->name_length == length + ending_length && memcmp(entry->name, name, length) == 0 &&
           memcmp(entry->name + length, ending, ending_length) == 0;
}

/* ---- contents */

struct le_zip_reader {
    z_stream stream; /* next_in and avail_in: what it may read now of the packed bytes */
    bool deflated, begun;
    const uint8_t *packed;      /* packed_left bytes that the stream has not yet been given */
    uint64_t packed_left, left; /* left: of the content */
    uint32_t checksum, expected;
};

static voidpf allocate(voidpf user, uInt count, uInt size_bytes) {
    (void)user;
    return le_alloc_zero(count, size_bytes);
}

static void release(voidpf user, voidpf memory) {
    (void)user;
    le_free(memory);
}

static leat_status fail_damaged(const char *file, const char *why) {
    return le_fail(LEAT_FILE, "%s: the archive cannot be read: %s", file, why);
}

leat_status le_zip_reader_new(const struct le_zip *zip, const struct le_zip_entry *entry, const char *file,
                              struct le_zip_reader **reader) {
    uint64_t most = zip->directory - zip->base; /* what lies before the directory */
    const uint8_t *header = zip->bytes + zip->base + (entry->header < most ? entry->header : 0);
    if (most < HEADER_BYTES || entry->header > most - HEADER_BYTES || !is_signed(header, "PK\3\4"))
        return fail_damaged(file, "an array has no header");
    uint64_t skipped = HEADER_BYTES + number(header + 26, 2) + number(header + 28, 2);
    uint64_t there = most - entry->header;
    if (skipped > there || entry->packed_bytes > there - skipped)
        return fail_damaged(file, "an array reaches beyond its end");
    struct le_zip_reader *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    made->deflated = entry->method == LE_ZIP_DEFLATED;
    made->packed = header + skipped;
    made->packed_left = entry->packed_bytes;
    made->left = entry->size_bytes;
    made->expected = entry->checksum;
    made->stream.zalloc = allocate;
    made->stream.zfree = release;
    made->begun = made->deflated && inflateInit2(&made->stream, -MAX_WBITS) == Z_OK;
    if (made->deflated && !made->begun) {
        le_free(made);
        return le_fail_out_of_memory(0);
    }
    *reader = made;
    return LEAT_OK;
}

/* Inflates until size_bytes are written or the packed bytes end; returns the count. */
static leat_status inflate_some(struct le_zip_reader *r, const char *file, uint8_t *target, size_t size_bytes) {
    int code = Z_OK;
    r->stream.next_out = target;
    while (size_bytes || r->stream.avail_out) {
        if (!r->stream.avail_out) {
            r->stream.avail_out = size_bytes < UINT_MAX ? (uInt)size_bytes : UINT_MAX;
            size_bytes -= r->stream.avail_out;
        }
        if (!r->stream.avail_in) {
            r->stream.next_in = (Bytef *)r->packed; /* read only */
            r->stream.avail_in = r->packed_left < UINT_MAX ? (uInt)r->packed_left : UINT_MAX;
            r->packed += r->stream.avail_in;
            r->packed_left -= r->stream.avail_in;
        }
        if (code == Z_STREAM_END || (!r->stream.avail_in && code != Z_OK))
            return le_fail(LEAT_FILE, "%s: its array ends too early", file);
        code = inflate(&r->stream, Z_SYNC_FLUSH);
        if (code == Z_MEM_ERROR)
            return le_fail_out_of_memory(0);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return fail_damaged(file, "its compressed bytes are damaged");
    }
    return LEAT_OK;
}

leat_status le_zip_read(struct le_zip_reader *r, const char *file, void *target, size_t size_bytes) {
    leat_status status = LEAT_OK;
    if (size_bytes > r->left || (!r->deflated && size_bytes > r->packed_left))
        status = le_fail(LEAT_FILE, "%s: its array ends too early", file);
    else if (r->deflated)
        status = inflate_some(r, file, target, size_bytes);
    else if (size_bytes) {
        memcpy(target, r->packed, size_bytes);
        r->packed += size_bytes;
        r->packed_left -= size_bytes;
    }
    if (status)
        return status;
    r->left -= size_bytes;
    r->checksum = le_zip_checksum(r->checksum, target, size_bytes);
    if (!r->left && r->checksum != r->expected)
        return fail_damaged(file, "the checksum of an array does not match");
    return LEAT_OK;
}

void le_zip_reader_free(struct le_zip_reader *reader) {
    if (reader && reader->begun)
        inflateEnd(&reader->stream);
    le_free(reader);
}
