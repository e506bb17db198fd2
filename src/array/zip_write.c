/* See zip_format.h. Writes archives whose entries are stored, from the first byte to the last without going back. */
#include "array/zip_format.h"
#include "base/memory.h"
#include <string.h>
#include <zlib.h>

enum {
    NEEDS_64 = 45, /* the version of the format that has 64-bit numbers */
    NEEDS = 20,    /* the version that everything reads */
    MADE_BY_UNIX = 3 << 8,
    FLAG_UTF8 = 1 << 11,    /* of names */
    DATE_1980 = 1 << 5 | 1, /* 1 January 1980, as NumPy writes */
    MODE_FILE = 0100644,
    RECORD_MOST = 128 /* bytes of any record, without the name */
};

struct record {
    uint8_t bytes[RECORD_MOST];
    size_t length;
};

static void add(struct record *record, uint64_t value, int size_bytes) {
    for (int k = 0; k < size_bytes; k++)
        record->bytes[record->length++] = (uint8_t)(value >> 8 * k);
}

static void add_narrow(struct record *record, uint64_t value) {
    add(record, value < UINT32_MAX ? value : UINT32_MAX, 4);
}

static void add_signature(struct record *record, const char *signature) {
    memcpy(record->bytes + record->length, signature, 4);
    record->length += 4;
}

static leat_status write_record(struct le_file_out *out, const struct record *record) {
    return le_file_out_write(out, record->bytes, record->length);
}

uint32_t le_zip_checksum(uint32_t before, const void *bytes, size_t size_bytes) {
    return (uint32_t)crc32_z(before, bytes, size_bytes);
}

static bool is_wide(const struct le_zip_out_entry *entry) {
    return entry->size_bytes >= UINT32_MAX || entry->header >= UINT32_MAX;
}

/* What the header before the content and the directory have in common, from the version to the name's length. */
static void add_common(struct record *record, const struct le_zip_out_entry *entry, bool wide) {
    add(record, wide ? NEEDS_64 : NEEDS, 2);
    add(record, FLAG_UTF8, 2);
    add(record, LE_ZIP_STORED, 2);
    add(record, 0, 2);
    add(record, DATE_1980, 2);
    add(record, entry->checksum, 4);
    add(record, wide ? UINT32_MAX : entry->size_bytes, 4);
    add(record, wide ? UINT32_MAX : entry->size_bytes, 4);
    add(record, strlen(entry->name), 2);
}

leat_status le_zip_write_header(struct le_file_out *out, struct le_zip_out_entry *entry, uint64_t *offset) {
    struct record record = {.length = 0}, wide = {.length = 0};
    size_t name_length = strlen(entry->name);
    entry->header = *offset;
    bool is_large = entry->size_bytes >= UINT32_MAX;
    if (is_large) {
        add(&wide, 1, 2);
        add(&wide, 16, 2);
        add(&wide, entry->size_bytes, 8);
        add(&wide, entry->size_bytes, 8);
    }
    add_signature(&record, "PK\3\4");
    add_common(&record, entry, is_large);
    add(&record, wide.length, 2);
    leat_status status = write_record(out, &record);
    if (!status)
        status = le_file_out_write(out, entry->name, name_length);
    if (!status)
        status = write_record(out, &wide);
    *offset += record.length + name_length + wide.length + entry->size_bytes;
    return status;
}

static leat_status write_entry(struct le_file_out *out, const struct le_zip_out_entry *entry, uint64_t *offset) {
    struct record record = {.length = 0}, wide = {.length = 0};
    size_t name_length = strlen(entry->name);
    if (is_wide(entry)) {
        add(&wide, 1, 2);
        add(&wide, 24, 2);
        add(&wide, entry->size_bytes, 8);
        add(&wide, entry->size_bytes, 8);
        add(&wide, entry->header, 8);
    }
    add_signature(&record, "PK\1\2");
    add(&record, MADE_BY_UNIX | (is_wide(entry) ? NEEDS_64 : NEEDS), 2);
    add_common(&record, entry, is_wide(entry));
    add(&record, wide.length, 2);
    add(&record, 0, 2 + 2 + 2); /* comment, volume, kind of content */
    add(&record, (uint64_t)MODE_FILE << 16, 4);
    add(&record, is_wide(entry) ? UINT32_MAX : entry->header, 4);
    leat_status status = write_record(out, &record);
    if (!status)
        status = le_file_out_write(out, entry->name, name_length);
    if (!status)
        status = write_record(out, &wide);
    *offset += record.length + name_length + wide.length;
    return status;
}

static void add_end(struct record *record, size_t count, uint64_t directory, uint64_t offset) {
    if (count >= UINT16_MAX || offset >= UINT32_MAX) {
        add_signature(record, "PK\6\6");
        add(record, 44, 8); /* bytes that follow */
        add(record, MADE_BY_UNIX | NEEDS_64, 2);
        add(record, NEEDS_64, 2);
        add(record, 0, 4 + 4); /* volumes */
        add(record, count, 8);
        add(record, count, 8);
        add(record, offset - directory, 8);
        add(record, directory, 8);
        add_signature(record, "PK\6\7");
        add(record, 0, 4);
        add(record, offset, 8);
        add(record, 1, 4); /* volumes */
    }
    add_signature(record, "PK\5\6");
    add(record, 0, 2 + 2); /* volumes */
    add(record, count < UINT16_MAX ? count : UINT16_MAX, 2);
    add(record, count < UINT16_MAX ? count : UINT16_MAX, 2);
    add_narrow(record, offset - directory);
    add_narrow(record, directory);
    add(record, 0, 2); /* comment */
}

leat_status le_zip_write_directory(struct le_file_out *out, const struct le_zip_out_entry *first, size_t step_bytes,
                                   size_t count, uint64_t offset) {
    struct record end = {.length = 0};
    uint64_t directory = offset;
    leat_status status = LEAT_OK;
    for (size_t k = 0; k < count && !status; k++)
        status = write_entry(out, (const void *)((const char *)first + k * step_bytes), &offset);
    add_end(&end, count, directory, offset);
    return status ? status : write_record(out, &end);
}
