/* Reads fields of CUPTI's activity records at the offsets in cupti_layout.def. A field that the version of CUPTI does
 * not have yet is 0. Everything except the version is known at compile time. */
#ifndef LE_CUPTI_LAYOUT_H
#define LE_CUPTI_LAYOUT_H
#include <stdint.h>
#include <string.h>

enum { LE_CUPTI_VERSION_MIN = 12 };

enum {
#define LE_CUPTI_FIELD(record, field, since, member, offset, size_bytes)                                               \
    LE_SINCE_##record##_##field = since, LE_OFFSET_##record##_##field = offset,                                        \
    LE_BYTES_##record##_##field = size_bytes,
#include "trace/recorder/cupti_layout.def"
};

static inline uint64_t le_cupti_load(const uint8_t *at, size_t size_bytes) {
    uint64_t value = 0;
    memcpy(&value, at, size_bytes); /* all machines with CUDA are little-endian */
    return value;
}

/* LE_CUPTI_GET(record, version, KERNEL, start); of members of at most 8 bytes */
#define LE_CUPTI_GET(at, version, record, field)                                                                       \
    ((version) >= LE_SINCE_##record##_##field                                                                          \
         ? le_cupti_load((const uint8_t *)(at) + LE_OFFSET_##record##_##field, LE_BYTES_##record##_##field)            \
         : 0)
#define LE_CUPTI_GET32(at, version, record, field) ((uint32_t)LE_CUPTI_GET(at, version, record, field))
#define LE_CUPTI_GET_TEXT(at, version, record, field)                                                                  \
    ((const char *)(uintptr_t)LE_CUPTI_GET(at, version, record, field))
#endif
