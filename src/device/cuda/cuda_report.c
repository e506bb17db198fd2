/* Turns the findings of the simulator's checks into data errors of the thread that waits for the work: one error per
 * report, with its lines joined. A real driver has no reports. */
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

/* Joins the lines up to an empty one. Returns the start of the next report. */
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
