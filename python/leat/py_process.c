/* What the extension does when the process forks and when Python exits. */
#include "py_leat.h"
#include <pthread.h>
#include <time.h>

enum { EXIT_WAIT_MS = 1000 };

/* ---- fork: the child has one thread, so no lock can be needed, but one may have been held */

static int run_count; /* of all threads; changed without the GIL */

static void start_child(void) {
    __atomic_store_n(&run_count, 0, __ATOMIC_RELAXED);
    le_py_devices_forget();
    le_py_streams_forget();
    le_py_notes_forget();
    le_py_pinned_forget();
}

/* ---- exit */

static bool is_exiting; /* set under the GIL; read without it */
static pthread_t exiting_thread;

bool le_py_is_exiting(void) {
    return __atomic_load_n(&is_exiting, __ATOMIC_ACQUIRE) || !Py_IsInitialized();
}

bool le_py_must_stop(void) {
    return __atomic_load_n(&is_exiting, __ATOMIC_ACQUIRE) && !pthread_equal(pthread_self(), exiting_thread);
}

void le_py_count_run(int change) {
    __atomic_add_fetch(&run_count, change, __ATOMIC_RELAXED);
}

/* A kernel of sim that never ends would not let the process end. What has been enqueued is of no use any more. */
static void give_up_sim(void) {
    for (struct le_py_device *device = le_py_device_first(); device; device = device->next)
        if (!device->is_cpu && !device->is_cuda && device->generation == le_py_generation())
            (void)leat_context_cancel(device->ctx);
}

/* Runs of daemon threads stop soon, and then do not hold a lock of the library when Python ends their threads. */
static PyObject *note_exit(PyObject *self, PyObject *none) {
    const struct timespec pause = {.tv_nsec = 1000000};
    (void)self;
    (void)none;
    exiting_thread = pthread_self();
    __atomic_store_n(&is_exiting, true, __ATOMIC_RELEASE);
    Py_BEGIN_ALLOW_THREADS
    give_up_sim();
    for (int k = 0; k < EXIT_WAIT_MS && __atomic_load_n(&run_count, __ATOMIC_RELAXED) > 0; k++)
        nanosleep(&pause, NULL);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

int le_py_at_exit(PyMethodDef *method) {
    PyObject *atexit = PyImport_ImportModule("atexit"), *function = PyCFunction_NewEx(method, NULL, NULL),
             *done = atexit && function ? PyObject_CallMethod(atexit, "register", "O", function) : NULL;
    Py_XDECREF(atexit);
    Py_XDECREF(function);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

int le_py_process_init(void) {
    static PyMethodDef method = {"_exit", note_exit, METH_NOARGS, NULL};
    if (pthread_atfork(NULL, NULL, start_child) == 0)
        return le_py_at_exit(&method);
    PyErr_NoMemory();
    return -1;
}
