/* Streams and events, and the streams of other libraries. */
#include "py_leat.h"
#include <pthread.h>
#include <stdlib.h>

/* ---- wrapped streams of libraries */

enum { CACHED = 64 };

static struct le_py_wrapped *cached[CACHED];
static int cached_count;
static unsigned cached_clock;
static PyTypeObject *stream_type, *event_type;

/* CUDA's name for the default stream of a process, which libraries write as 0. */
static void *named_native(void *native) {
    return native ? native : (void *)1;
}

struct le_py_wrapped *le_py_stream_known(struct le_py_device *device, void *native) {
    native = named_native(native);
    for (int k = 0; k < cached_count; k++)
        if (cached[k]->native == native && cached[k]->device == device) {
            cached[k]->uses++;
            cached[k]->last_use = ++cached_clock;
            return cached[k];
        }
    return NULL;
}

/* Whether the object keeps its stream alive. An object of PyTorch may stand for a stream of someone else, whose number
 * is then its address; PyTorch never destroys its own. */
static bool keeps_stream(PyObject *object, void *native) {
    PyTypeObject *type = Py_TYPE(object);
    enum le_py_library library = le_py_library_of_type(type);
    PyObject *name = PyType_GetName(type), *id = NULL;
    bool keeps = type == stream_type;
    if (!keeps && name && PyUnicode_CompareWithASCIIString(name, "Stream") == 0) {
        keeps = library == LE_PY_CUPY;
        if (library == LE_PY_TORCH && (id = PyObject_GetAttrString(object, "stream_id")))
            keeps = PyLong_Check(id) && PyLong_AsVoidPtr(id) != native;
    }
    Py_XDECREF(name);
    Py_XDECREF(id);
    PyErr_Clear();
    return keeps;
}

static void free_wrapped(struct le_py_wrapped *wrapped) {
    PyObject *keep = wrapped->keep;
    if (wrapped->device->generation == le_py_generation())
        leat_stream_free(wrapped->stream);
    free(wrapped);
    Py_XDECREF(keep); /* last: it may run Python code */
}

/* Puts the stream where there is room, or in the place of the one that has not been used for longest, which is
 * returned. If all are in use, the new one stays outside. */
static struct le_py_wrapped *insert(struct le_py_wrapped *made) {
    int oldest = -1;
    if (cached_count < CACHED) {
        cached[cached_count++] = made;
        made->is_cached = true;
        return NULL;
    }
    for (int k = 0; k < CACHED; k++)
        if (!cached[k]->uses && (oldest < 0 || cached[k]->last_use < cached[oldest]->last_use))
            oldest = k;
    if (oldest < 0)
        return NULL;
    struct le_py_wrapped *evicted = cached[oldest];
    cached[oldest] = made;
    made->is_cached = true;
    return evicted;
}

struct le_py_wrapped *le_py_stream_wrap(struct le_py_device *device, void *native, PyObject *object) {
    struct le_py_wrapped *known = le_py_stream_known(device, native);
    if (known)
        return known;
    bool is_default = native == NULL || native == (void *)1,
         lasts = is_default || (object && keeps_stream(object, native));
    if ((known = le_py_stream_known(device, native))) /* keeps_stream may have run Python code */
        return known;
    struct le_py_wrapped *made = calloc(1, sizeof *made);
    if (!made)
        return (struct le_py_wrapped *)PyErr_NoMemory();
    leat_status status = leat_stream_wrap(device->ctx, named_native(native), &made->stream);
    if (status) {
        free(made);
        return le_py_raise(status, NULL, NULL);
    }
    made->device = device;
    made->native = named_native(native);
    made->keep = is_default ? NULL : Py_XNewRef(object);
    made->uses = 1;
    made->last_use = ++cached_clock;
    struct le_py_wrapped *evicted = lasts ? insert(made) : NULL;
    if (evicted)
        free_wrapped(evicted);
    return made;
}

void le_py_stream_release(struct le_py_wrapped *wrapped) {
    if (wrapped && --wrapped->uses == 0 && !wrapped->is_cached)
        free_wrapped(wrapped);
}

leat_stream *le_py_stream_own(struct le_py_device *device) {
    leat_status status = device->own ? LEAT_OK : leat_stream_new(device->ctx, &device->own);
    return status ? le_py_raise(status, NULL, NULL) : device->own;
}

leat_status le_py_stream_follow(struct le_py_device *device, leat_stream *later, leat_stream *earlier) {
    leat_event *event;
    if (later == earlier)
        return LEAT_OK;
    leat_status status = leat_event_new(device->ctx, &event);
    if (status)
        return status;
    status = leat_event_record(event, earlier);
    if (!status)
        status = leat_stream_wait_event(later, event);
    leat_event_free(event);
    return status;
}

/* ---- releasing objects when work is done: a thread waits for tickets and drops references */

struct held {
    leat_context *ctx;
    leat_ticket ticket;
    PyObject *object;
    struct held *next;
};
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t held_changed = PTHREAD_COND_INITIALIZER;
static struct held *held_first, **held_end = &held_first; /* under held_lock */
static bool held_stops;                                   /* under held_lock */
static pthread_t held_thread;
static bool held_runs; /* the thread does */

/* In a forked child, whose parent goes on to hold the objects. */
static void forget_held(void) {
    held_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    held_changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    held_first = NULL;
    held_end = &held_first;
    held_runs = held_stops = false;
}

void le_py_streams_forget(void) {
    cached_count = 0;
    forget_held();
}

static struct held *next_held(void) {
    pthread_mutex_lock(&held_lock);
    while (!held_first && !held_stops)
        pthread_cond_wait(&held_changed, &held_lock);
    struct held *held = held_first;
    if (held && !(held_first = held->next))
        held_end = &held_first;
    pthread_mutex_unlock(&held_lock);
    return held;
}

static void *release_all(void *none) {
    struct held *held;
    (void)none;
    while ((held = next_held())) {
        (void)leat_ticket_wait(held->ctx, held->ticket); /* a failed device has no work left either */
        PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(held->object);
        PyGILState_Release(state);
        free(held);
    }
    return NULL;
}

static bool start_thread(void) {
    held_runs = held_runs || pthread_create(&held_thread, NULL, release_all, NULL) == 0;
    return held_runs;
}

int le_py_release_later(struct le_py_device *device, leat_stream *stream, PyObject *object) {
    struct held *held = malloc(sizeof *held);
    leat_status status = held ? LEAT_OK : LEAT_OUT_OF_MEMORY;
    if (!status)
        status = leat_stream_ticket(device->ctx, stream, &held->ticket);
    if (status || !start_thread()) { /* wait here instead */
        free(held);
        Py_BEGIN_ALLOW_THREADS(void)
        leat_stream_synchronize(stream);
        Py_END_ALLOW_THREADS
        Py_DECREF(object);
        return 0;
    }
    held->ctx = device->ctx;
    held->object = object;
    held->next = NULL;
    pthread_mutex_lock(&held_lock);
    *held_end = held;
    held_end = &held->next;
    pthread_cond_signal(&held_changed);
    pthread_mutex_unlock(&held_lock);
    return 0;
}

/* At interpreter exit, before threads may no longer take the GIL. */
static PyObject *stop_releasing(PyObject *self, PyObject *none) {
    (void)self;
    (void)none;
    if (held_runs) {
        pthread_mutex_lock(&held_lock);
        held_stops = true;
        pthread_cond_signal(&held_changed);
        pthread_mutex_unlock(&held_lock);
        Py_BEGIN_ALLOW_THREADS
        pthread_join(held_thread, NULL);
        Py_END_ALLOW_THREADS
        held_runs = held_stops = false;
    }
    Py_RETURN_NONE;
}

/* ---- leat.Stream and leat.Event */

struct py_stream {
    PyObject_HEAD leat_stream *stream;
    struct le_py_device *device;
};
struct py_event {
    PyObject_HEAD leat_event *event;
    struct le_py_device *device;
    leat_ticket ticket; /* of the recorded work */
};
/* The device named, else that of leat.device, else the default one; the first GPU if that is the CPU and there is one.
 */
static struct le_py_device *device_for(PyObject *name) {
    struct le_py_device *device;
    if (le_py_device_of(name, &device) < 0)
        return NULL;
    return device ? device : le_py_device_is_chosen() ? le_py_device_default() : le_py_device_or_gpu();
}

static PyObject *stream_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    static char *words[] = {"device", NULL};
    PyObject *name = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|$O", words, &name))
        return NULL;
    struct le_py_device *device = device_for(name);
    struct py_stream *made = device ? le_py_object_new(type) : NULL;
    if (!made)
        return NULL;
    made->device = device;
    leat_status status = leat_stream_new(device->ctx, &made->stream);
    if (!status)
        return (PyObject *)made;
    Py_DECREF(made);
    return le_py_raise(status, NULL, NULL);
}

static void stream_dealloc(PyObject *self) {
    struct py_stream *stream = (struct py_stream *)self;
    if (stream->device && stream->device->generation == le_py_generation())
        leat_stream_free(stream->stream);
    le_py_object_free(self);
}

static PyObject *done(leat_status status) {
    return status ? le_py_raise(status, NULL, NULL) : Py_NewRef(Py_None);
}

static PyObject *stream_synchronize(PyObject *self, PyObject *none) {
    const struct py_stream *stream = (struct py_stream *)self;
    leat_status status;
    (void)none;
    Py_BEGIN_ALLOW_THREADS
    status = le_py_wait_stream(stream->device->ctx, stream->stream);
    if (!status)
        status = leat_stream_synchronize(stream->stream);
    Py_END_ALLOW_THREADS
    return done(status);
}

static PyObject *stream_wait(PyObject *self, PyObject *event) {
    if (Py_TYPE(event) != event_type)
        return PyErr_Format(PyExc_TypeError, "wait takes a leat.Event, not %R", event);
    return done(leat_stream_wait_event(((struct py_stream *)self)->stream, ((struct py_event *)event)->event));
}

static PyObject *stream_ptr(PyObject *self, void *none) {
    void *native;
    (void)none;
    leat_status status = leat_stream_native(((struct py_stream *)self)->stream, &native);
    return status ? le_py_raise(status, NULL, NULL) : native ? PyLong_FromVoidPtr(native) : PyLong_FromLong(0);
}

/* NVIDIA's protocol for streams (CUDA Python): (version, CUstream). */
static PyObject *stream_protocol(PyObject *self, PyObject *none) {
    PyObject *pointer = stream_ptr(self, none);
    PyObject *pair = pointer ? Py_BuildValue("(iO)", 0, pointer) : NULL;
    Py_XDECREF(pointer);
    return pair;
}

static PyObject *stream_device(PyObject *self, void *none) {
    (void)none;
    return PyUnicode_FromString(((struct py_stream *)self)->device->name);
}

static PyObject *stream_repr(PyObject *self) {
    return PyUnicode_FromFormat("<leat.Stream on %s>", ((struct py_stream *)self)->device->name);
}

static PyMethodDef stream_methods[] = {
    {"synchronize", stream_synchronize, METH_NOARGS,
     "synchronize($self, /)\n--\n\nWaits for all work in the stream. Raises its error, if any."},
    {"wait", stream_wait, METH_O,
     "wait($self, event, /)\n--\n\nMakes later work in the stream wait for the event, without blocking Python."},
    {"__cuda_stream__", stream_protocol, METH_NOARGS, NULL},
    {0}};
static PyGetSetDef stream_members[] = {{"ptr", stream_ptr, NULL, "The CUstream as a number; 0 on the CPU.", NULL},
                                       {"device", stream_device, NULL, "The name of its device.", NULL},
                                       {0}};
static PyType_Slot stream_slots[] = {
    {Py_tp_doc, "Stream(*, device=None)\n--\n\nA stream executes its work in the order in which it was enqueued. Leat "
                "orders work of different streams that shares a leat.Array."},
    {Py_tp_new, stream_new},
    {Py_tp_dealloc, stream_dealloc},
    {Py_tp_repr, stream_repr},
    {Py_tp_methods, stream_methods},
    {Py_tp_getset, stream_members},
    {0}};
static PyType_Spec stream_spec = {
    .name = "leat.Stream", .basicsize = sizeof(struct py_stream), .flags = Py_TPFLAGS_DEFAULT, .slots = stream_slots};

static PyObject *event_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    static char *words[] = {"device", NULL};
    PyObject *name = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|$O", words, &name))
        return NULL;
    struct le_py_device *device = device_for(name);
    struct py_event *made = device ? le_py_object_new(type) : NULL;
    if (!made)
        return NULL;
    made->device = device;
    leat_status status = leat_event_new(device->ctx, &made->event);
    if (!status)
        return (PyObject *)made;
    Py_DECREF(made);
    return le_py_raise(status, NULL, NULL);
}

static void event_dealloc(PyObject *self) {
    struct py_event *event = (struct py_event *)self;
    if (event->device && event->device->generation == le_py_generation())
        leat_event_free(event->event);
    le_py_object_free(self);
}

static PyObject *event_record(PyObject *self, PyObject *args) {
    struct py_event *event = (struct py_event *)self;
    PyObject *value = Py_None;
    leat_stream *stream = NULL;
    struct le_py_wrapped *wrapped = NULL;
    if (!PyArg_ParseTuple(args, "|O", &value))
        return NULL;
    if (value != Py_None && le_py_stream_of(value, event->device, &stream, &wrapped) < 0)
        return NULL;
    leat_status status = leat_event_record(event->event, stream);
    if (!status)
        status = leat_stream_ticket(event->device->ctx, stream, &event->ticket);
    le_py_stream_release(wrapped);
    return done(status);
}

static PyObject *event_synchronize(PyObject *self, PyObject *none) {
    const struct py_event *event = (struct py_event *)self;
    leat_status status;
    (void)none;
    Py_BEGIN_ALLOW_THREADS
    status = le_py_wait(event->device->ctx, event->ticket);
    if (!status)
        status = leat_event_synchronize(event->event);
    Py_END_ALLOW_THREADS
    return done(status);
}

static PyObject *event_elapsed(PyObject *self, PyObject *stop) {
    double milliseconds;
    leat_status status;
    if (Py_TYPE(stop) != event_type)
        return PyErr_Format(PyExc_TypeError, "elapsed_ms takes a leat.Event, not %R", stop);
    const struct py_event *first = (struct py_event *)self, *last = (struct py_event *)stop;
    Py_BEGIN_ALLOW_THREADS
    status = le_py_wait(last->device->ctx, last->ticket);
    if (!status)
        status = leat_event_elapsed_ms(first->event, last->event, &milliseconds);
    Py_END_ALLOW_THREADS
    return status ? le_py_raise(status, NULL, NULL) : PyFloat_FromDouble(milliseconds);
}

static PyMethodDef event_methods[] = {
    {"record", event_record, METH_VARARGS,
     "record($self, stream=None, /)\n--\n\n"
     "Records the event in a stream. None: the device's default stream, which calls and launches use if neither they\n"
     "nor their arrays name another one. It is reached when all work enqueued in the stream so far is done."},
    {"synchronize", event_synchronize, METH_NOARGS, "synchronize($self, /)\n--\n\nWaits until the event is reached."},
    {"elapsed_ms", event_elapsed, METH_O,
     "elapsed_ms($self, stop, /)\n--\n\nWaits for `stop`, and returns the milliseconds from this event to it by the "
     "device's clock."},
    {0}};
static PyType_Slot event_slots[] = {
    {Py_tp_doc, "Event(*, device=None)\n--\n\nA point in a stream, to wait for or to measure time with."},
    {Py_tp_new, event_new},
    {Py_tp_dealloc, event_dealloc},
    {Py_tp_methods, event_methods},
    {0}};
static PyType_Spec event_spec = {
    .name = "leat.Event", .basicsize = sizeof(struct py_event), .flags = Py_TPFLAGS_DEFAULT, .slots = event_slots};

/* The CUstream of a Python value; -1 with an exception. */
static int native_of(PyObject *value, void **native) {
    static const char *const attributes[] = {"ptr", "cuda_stream"};
    PyObject *number = PyLong_Check(value) ? Py_NewRef(value) : NULL;
    if (!number && PyObject_HasAttrString(value, "__cuda_stream__")) {
        PyObject *pair = PyObject_CallMethod(value, "__cuda_stream__", NULL);
        number = pair && PyTuple_Check(pair) && PyTuple_Size(pair) == 2 ? Py_NewRef(PyTuple_GetItem(pair, 1)) : NULL;
        Py_XDECREF(pair);
    }
    for (size_t k = 0; k < 2 && !number && !PyErr_Occurred(); k++)
        if (PyObject_HasAttrString(value, attributes[k]))
            number = PyObject_GetAttrString(value, attributes[k]);
    if (!number && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "stream must be a leat.Stream, an integer, or have __cuda_stream__, not %R",
                     value);
    *native = number ? PyLong_AsVoidPtr(number) : NULL;
    Py_XDECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

int le_py_stream_of(PyObject *value, struct le_py_device *device, leat_stream **stream,
                    struct le_py_wrapped **wrapped) {
    void *native;
    *wrapped = NULL;
    if (Py_TYPE(value) == stream_type) {
        struct py_stream *given = (struct py_stream *)value;
        *stream = given->stream;
        if (given->device == device)
            return 0;
        PyErr_Format(PyExc_ValueError, "the stream is of device %s, and the work is for %s", given->device->name,
                     device->name);
        return -1;
    }
    if (native_of(value, &native) < 0)
        return -1;
    if (!device->is_cuda) {
        PyErr_Format(PyExc_ValueError, "a stream of CUDA cannot be used on %s", device->name);
        return -1;
    }
    *wrapped = le_py_stream_wrap(device, native, PyLong_Check(value) ? NULL : value);
    *stream = *wrapped ? (*wrapped)->stream : NULL;
    return *wrapped ? 0 : -1;
}

struct le_py_device *le_py_device_of_stream(PyObject *value) {
    return Py_TYPE(value) == stream_type ? ((struct py_stream *)value)->device : NULL;
}

int le_py_stream_init(PyObject *module) {
    stream_type = (PyTypeObject *)PyType_FromSpec(&stream_spec);
    event_type = (PyTypeObject *)PyType_FromSpec(&event_spec);
    if (!stream_type || !event_type || PyModule_AddObjectRef(module, "Stream", (PyObject *)stream_type) < 0 ||
        PyModule_AddObjectRef(module, "Event", (PyObject *)event_type) < 0)
        return -1;
    static PyMethodDef method = {"_stop", stop_releasing, METH_NOARGS, NULL};
    return le_py_at_exit(&method);
}
