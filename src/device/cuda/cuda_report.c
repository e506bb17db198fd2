/* What the simulator's checks found, as errors in the data of whoever waits for the work: one for each report, its
 * lines in one. A real driver has none. */
#include "device/cuda/cuda_device.h"
#include <stdio.h>
#include <string.h>

enum { REPORT_BYTES = 1024 };

__attribute__((format(printf, 1, 2))) static void add_report(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    le_errors_add(LEAT_DATA, (struct le_location){0}, NULL, format, arguments);
    va_end(arguments);
}

/* The lines up to an empty one, joined; gives where the next report starts. */
static const char *take_report(const char *at, char text[REPORT_BYTES]) {
    size_t used = 0;
    while (*at && *at != '\n') {
        at += strspn(at, " ");
        size_t length = strcspn(at, "\n");
        int added = snprintf(text + used, REPORT_BYTES - used, "%s%.*s", used ? "; " : "", (int)length, at);
        used += (size_t)added < REPORT_BYTES - used ? (size_t)added : REPORT_BYTES - 1 - used;
        at += length + (at[length] == '\n');
    }
    return at + strspn(at, "\n");
}

leat_status le_cuda_check_reports(struct le_cuda_device *cuda, leat_status status) {
    const char *at = cuda->driver->report ? cuda->driver->report() : NULL;
    if (!at)
        return status;
    le_errors_clear();
    while (*at) {
        char text[REPORT_BYTES] = "";
        at = take_report(at, text);
        add_report("%s", text);
    }
    return LEAT_DATA;
}
