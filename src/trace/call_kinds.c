/* See call_kinds.h. The table is in call_kinds.def. */
#include "trace/call_kinds.h"
#include "base/status.h"
#include <string.h>

static const struct {
    enum le_call_kind kind;
    const char *start, *part;
} rows[] = {
#define LE_CALL_ROW(kind, start, part) {LE_CALL_##kind, start, part},
#include "trace/call_kinds.def"
#undef LE_CALL_ROW
};

/* The length of the name without a version at its end, such as "_v7000". */
static size_t without_version(const char *name, size_t length) {
    size_t at = length;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at < length && at > 2 && memcmp(name + at - 2, "_v", 2) == 0 ? at - 2 : length;
}

size_t le_call_name_length(const char *name, size_t length) {
    for (;;) {
        size_t shorter = without_version(name, length);
        if (length > 5 && (memcmp(name + length - 5, "_ptds", 5) == 0 || memcmp(name + length - 5, "_ptsz", 5) == 0))
            shorter = length - 5;
        if (shorter == length)
            return length;
        length = shorter;
    }
}

enum le_call_kind le_call_kind_of(const char *name) {
    if (strncmp(name, "cu", 2) != 0)
        return LE_CALL_OTHER;
    name += strncmp(name, "cuda", 4) == 0 ? 4 : 2;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        if (strncmp(name, rows[k].start, strlen(rows[k].start)) == 0 && strstr(name, rows[k].part))
            return rows[k].kind;
    return LE_CALL_OTHER;
}
