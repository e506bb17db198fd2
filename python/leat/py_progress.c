/* What happens while a run or a save takes long: Python's handlers of signals run, and, if it is wanted, a line on the
 * terminal shows the program's name and the time. The state is guarded by the GIL. */
#include "py_memory.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 1000, REDRAW_MS = 200, PERIOD_MS = 50 };

static bool is_on;
static const struct le_py_progress *shown; /* whose line is on the terminal, or NULL */

void le_py_progress_init(void) {
    const char *variable = getenv("LEAT_PROGRESS");
    is_on = variable && strcmp(variable, "1") == 0;
}

PyObject *le_py_show_progress(PyObject *self, PyObject *on) {
    int wanted = PyObject_IsTrue(on);
    (void)self;
    if (wanted < 0)
        return NULL;
    is_on = wanted;
    Py_RETURN_NONE;
}

static int64_t clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void print(const char *text) {
    ssize_t written = write(STDERR_FILENO, text, strlen(text)); /* a terminal that is gone needs no line */
    (void)written;
}

static void draw(struct le_py_progress *progress, int64_t now_ms) {
    char line[128];
    const char *name = le_py_text(progress->name);
    PyOS_snprintf(line, sizeof line, "\r\033[K%.40s, %.1f s", name ? name : "",
                  (double)(now_ms - progress->start_ms) * 1e-3);
    print(line);
    shown = progress;
    progress->drawn_ms = now_ms;
}

/* The first call of a run comes soon after its start, and stands for it. */
static void tick(struct le_py_progress *progress) {
    int64_t now_ms = clock_ms();
    if (!progress->start_ms)
        progress->start_ms = now_ms;
    if (is_on && (!shown || shown == progress) && now_ms - progress->start_ms >= PATIENCE_MS &&
        now_ms - progress->drawn_ms >= REDRAW_MS && isatty(STDERR_FILENO))
        draw(progress, now_ms);
}

void le_py_progress_end(struct le_py_progress *progress) {
    if (shown == progress) {
        print("\r\033[K");
        shown = NULL;
    }
    progress->start_ms = progress->drawn_ms = 0;
}

bool le_py_proceed(void *progress) {
    if (le_py_must_stop())
        return false;
    PyGILState_STATE state = PyGILState_Ensure();
    if (progress)
        tick(progress);
    bool goes_on = PyErr_CheckSignals() == 0 && !le_py_must_stop();
    PyGILState_Release(state);
    return goes_on;
}

/* ---- waiting for a device */

leat_status le_py_wait(leat_context *ctx, leat_ticket ticket) {
    bool reached = false;
    leat_status status = LEAT_OK;
    while (!status && !reached) {
        status = leat_ticket_wait_for(ctx, ticket, PERIOD_MS, &reached);
        if (!status && !reached && !le_py_proceed(NULL))
            status = LEAT_CANCELED;
    }
    return status;
}

leat_status le_py_wait_context(leat_context *ctx) {
    bool done = false;
    leat_status status = LEAT_OK;
    while (!status && !done) {
        status = leat_context_synchronize_for(ctx, PERIOD_MS, &done);
        if (!status && !done && !le_py_proceed(NULL))
            status = LEAT_CANCELED;
    }
    return status;
}

leat_status le_py_wait_array(leat_context *ctx, const leat_array *array) {
    leat_ticket ticket;
    leat_status status = leat_array_ticket(array, &ticket);
    return status ? status : le_py_wait(ctx, ticket);
}

leat_status le_py_wait_stream(leat_context *ctx, leat_stream *stream) {
    leat_ticket ticket;
    leat_status status = leat_stream_ticket(ctx, stream, &ticket);
    return status ? status : le_py_wait(ctx, ticket);
}
