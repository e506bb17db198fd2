/* Fuzzes the reader of traces and the reports. Bytes that do not begin like a trace are used as the records of a block
 * with a valid checksum, so that the checksum does not stop them. */
#include "leat.h"
#include "trace/trace_testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

static bool take(void *user, const void *bytes, size_t size_bytes) {
    uint64_t *hash = user;
    *hash = le_hash(bytes, size_bytes, *hash);
    return true;
}

static uint64_t report_all(const leat_trace *trace) {
    uint64_t hash = 0;
    for (int report = LEAT_REPORT_OVERVIEW; report <= LEAT_REPORT_SVG; report++)
        for (int format = LEAT_REPORT_TEXT; format <= (report < LEAT_REPORT_PERFETTO ? LEAT_REPORT_JSON : 0);
             format++) {
            bool has_form = report != LEAT_REPORT_OVERVIEW || format != LEAT_REPORT_CSV;
            leat_status status = leat_trace_report(trace, (leat_report)report, (leat_report_format)format, take, &hash);
            le_made_require(status == (has_form ? LEAT_OK : LEAT_INVALID));
        }
    return hash;
}

static void try_file(const uint8_t *bytes, size_t size_bytes) {
    char path[64];
    leat_trace *trace, *again;
    int fd = le_made_open(bytes, size_bytes, path);
    leat_status status = leat_trace_open(path, &trace);
    le_made_require(leat_trace_open(path, &again) == status);
    le_made_require(status == LEAT_OK || status == LEAT_FILE);
    if (!status)
        le_made_require(report_all(trace) == report_all(again));
    leat_trace_free(trace);
    leat_trace_free(again);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes) {
    struct le_made_trace made = {0};
    if (size_bytes >= 8 && memcmp(bytes, LE_TRACE_MAGIC, 8) == 0) {
        try_file(bytes, size_bytes);
        return 0;
    }
    if (size_bytes > LE_TRACE_BLOCK_MOST_BYTES)
        return 0;
    le_made_part(&made, 1);
    le_made_add(&made.block, bytes, size_bytes);
    le_made_flush(&made);
    try_file(made.file.at, made.file.length);
    le_made_finish(&made);
    return 0;
}
