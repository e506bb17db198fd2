/* The contexts of devices, and leat.device. A context is opened at the first use of its device, without the GIL. After
 * a fork the child starts with an empty list: the parent's contexts are not usable there, and are never closed there.
 */
#include "py_leat.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static struct le_py_device *devices;                             /* newest first; under opening_lock to change */
static pthread_mutex_t opening_lock = PTHREAD_MUTEX_INITIALIZER; /* taken without the GIL */
static unsigned generation = 1;

struct device_block { /* leat.device(...) */
    PyObject_HEAD struct le_py_device *device;
    struct device_block *outer; /* while it is listed */
    bool is_listed;             /* among the blocks of a thread */
    bool has_ended;             /* though one inside it has not */
};
static _Thread_local struct device_block *innermost; /* of the blocks of this thread, which it retains */

void le_py_devices_forget(void) {
    static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
    generation++;
    devices = NULL;
    opening_lock = unlocked;
}

unsigned le_py_generation(void) {
    return generation;
}

/* "cuda" and "cuda:0" are one device. */
static void canonical(const char *name, char out[LEAT_DEVICE_NAME_BYTES]) {
    PyOS_snprintf(out, LEAT_DEVICE_NAME_BYTES, "%s", strcmp(name, "cuda") == 0 ? "cuda:0" : name);
}

static struct le_py_device *find(const char *name) {
    for (struct le_py_device *device = devices; device; device = device->next)
        if (strcmp(device->name, name) == 0)
            return device;
    return NULL;
}

/* A copy of the environment, which Python's threads change with the GIL held; NULL: no memory. */
static const char **copy_environment(void) {
    size_t count = 0, size_bytes = 0;
    for (; environ && environ[count]; count++)
        size_bytes += strlen(environ[count]) + 1;
    const char **made = malloc((count + 1) * sizeof *made + size_bytes);
    char *at = made ? (char *)(made + count + 1) : NULL;
    for (size_t k = 0; made && k < count; k++) {
        size_t length = strlen(environ[k]) + 1;
        made[k] = memcpy(at, environ[k], length);
        at += length;
    }
    if (made)
        made[count] = NULL;
    return made;
}

/* Without the GIL, under opening_lock. NULL: *status says why. */
static struct le_py_device *open_device(const char *name, const char *const *variables, leat_status *status) {
    struct le_py_device *made = calloc(1, sizeof *made);
    if (!made) {
        *status = LEAT_OUT_OF_MEMORY;
        return NULL;
    }
    const leat_options options = {
        .struct_size = sizeof options, .device = name, .keep_code = true, .log = le_py_note, .environment = variables};
    *status = leat_open(&options, &made->ctx);
    if (*status) {
        free(made);
        return NULL;
    }
    PyOS_snprintf(made->name, sizeof made->name, "%s", name);
    made->is_cpu = strcmp(name, "cpu") == 0;
    made->is_cuda = strncmp(name, "cuda:", 5) == 0;
    made->ordinal = made->is_cuda ? atoi(name + 5) : 0;
    made->generation = generation;
    made->next = devices;
    __atomic_store_n(&devices, made, __ATOMIC_RELEASE);
    return made;
}

/* `auto` is LEAT_DEVICE, else the CPU. */
static const char *resolve_auto(void) {
    const char *name = getenv("LEAT_DEVICE");
    return name && *name && strcmp(name, "auto") != 0 ? name : "cpu";
}

/* CUDA, and sim with it, cannot be used in the child of a fork after the parent has used it. */
static void *fail_in_child(void) {
    leat_error error;
    leat_error_get(NULL, &error);
    PyErr_Format(le_py_errors.device,
                 "%s\nhelp: a forked process cannot use a GPU after its parent has; start processes "
                 "with multiprocessing.get_context(\"spawn\")",
                 error.message);
    return NULL;
}

static struct le_py_device *open_named(const char *name) {
    char full[LEAT_DEVICE_NAME_BYTES];
    if (strlen(name) + 3 > sizeof full)
        return PyErr_Format(le_py_errors.device, "there is no device '%.100s'", name), NULL;
    canonical(name, full);
    struct le_py_device *device = find(full);
    if (device)
        return device;
    leat_status status = LEAT_OK;
    const char **variables = copy_environment();
    if (!variables)
        return PyErr_NoMemory(), NULL;
    PyThreadState *thread = PyEval_SaveThread();
    pthread_mutex_lock(&opening_lock);
    device = find(full);
    if (!device)
        device = open_device(full, variables, &status);
    pthread_mutex_unlock(&opening_lock);
    PyEval_RestoreThread(thread);
    free(variables);
    if (!device && generation > 1 && status == LEAT_DEVICE)
        return fail_in_child();
    return device ? device : le_py_raise(status, NULL, NULL);
}

/* Says where the name of the device came from. */
static void *fail_variable(void) {
    PyObject *type, *reason, *trace;
    if (!PyErr_ExceptionMatches(le_py_errors.device))
        return NULL;
    PyErr_Fetch(&type, &reason, &trace);
    PyErr_Format(type, "the environment variable LEAT_DEVICE: %S", reason ? reason : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(reason);
    Py_XDECREF(trace);
    return NULL;
}

/* LEAT_DEVICE is read once, as the library's own contexts read it when they are opened; a value that fails is read
 * again. */
static struct le_py_device *open_auto(void) {
    static struct le_py_device *automatic;
    if (automatic && automatic->generation == generation)
        return automatic;
    const char *name = resolve_auto();
    automatic = open_named(name);
    return automatic || strcmp(name, "cpu") == 0 ? automatic : fail_variable();
}

struct le_py_device *le_py_device_open(const char *name) {
    return strcmp(name, "auto") == 0 ? open_auto() : open_named(name);
}

struct le_py_device *le_py_device_first(void) {
    return devices;
}

struct le_py_device *le_py_device_cuda(int ordinal) {
    char name[LEAT_DEVICE_NAME_BYTES];
    for (struct le_py_device *device = devices; device; device = device->next)
        if (device->is_cuda && device->ordinal == ordinal)
            return device;
    PyOS_snprintf(name, sizeof name, "cuda:%d", ordinal);
    return le_py_device_open(name);
}

bool le_py_device_is_chosen(void) {
    return innermost && innermost->device->generation == generation;
}

struct le_py_device *le_py_device_default(void) {
    return le_py_device_is_chosen() ? innermost->device : open_auto();
}

static struct {
    unsigned generation; /* of the process that looked; 0: none has */
    int count;
    char first[LEAT_DEVICE_NAME_BYTES];
} gpus; /* the usable CUDA devices */

static int find_gpus(void) {
    struct le_py_device *cpu = gpus.generation == generation ? NULL : le_py_device_open("cpu");
    if (!cpu)
        return gpus.generation == generation ? 0 : -1;
    size_t count = 0;
    int usable = 0;
    leat_device_info info, first = {.usable = false};
    Py_BEGIN_ALLOW_THREADS
    leat_device_count(cpu->ctx, &count);
    for (size_t k = 0; k < count; k++)
        if (leat_device_get(cpu->ctx, k, false, &info) == LEAT_OK && info.usable && strcmp(info.kind, "cuda") == 0 &&
            usable++ == 0)
            first = info;
    Py_END_ALLOW_THREADS
    PyOS_snprintf(gpus.first, sizeof gpus.first, "%s", first.device);
    gpus.count = usable;
    gpus.generation = generation;
    return 0;
}

int le_py_device_cuda_count(void) {
    return find_gpus() < 0 ? -1 : gpus.count;
}

struct le_py_device *le_py_device_or_gpu(void) {
    struct le_py_device *device = le_py_device_default();
    if (!device || !device->is_cpu)
        return device;
    if (find_gpus() < 0)
        return NULL;
    struct le_py_device *gpu = gpus.count > 0 ? le_py_device_open(gpus.first) : NULL;
    le_py_forgive();
    return gpu || PyErr_Occurred() ? gpu : device;
}

int le_py_device_of(PyObject *value, struct le_py_device **device) {
    *device = NULL;
    if (!value || value == Py_None)
        return 0;
    if (!PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "device must be a string such as \"cpu\" or \"cuda:1\", not %R", value);
        return -1;
    }
    Py_ssize_t size;
    const char *name = PyUnicode_AsUTF8AndSize(value, &size);
    if (name && strlen(name) != (size_t)size)
        PyErr_Format(le_py_errors.device, "there is no device %R", value);
    else if (name)
        *device = le_py_device_open(name);
    return *device ? 0 : -1;
}

/* ---- leat.device */

static PyObject *block_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    static char *words[] = {"name", NULL};
    PyObject *name;
    struct le_py_device *device;
    if (!PyArg_ParseTupleAndKeywords(args, names, "U", words, &name) || le_py_device_of(name, &device) < 0)
        return NULL;
    struct device_block *made = le_py_object_new(type);
    if (made)
        made->device = device;
    return (PyObject *)made;
}

static PyObject *block_enter(PyObject *self, PyObject *none) {
    struct device_block *block = (struct device_block *)self;
    (void)none;
    if (block->is_listed)
        return PyErr_SetString(PyExc_RuntimeError, "this device is already entered; make another leat.device(...)"),
               NULL;
    block->is_listed = true;
    block->has_ended = false;
    block->outer = innermost;
    innermost = (struct device_block *)Py_NewRef(self);
    return Py_NewRef(self);
}

/* The blocks that ended inside those that have not. */
static void leave_ended(void) {
    while (innermost && innermost->has_ended) {
        struct device_block *ended = innermost;
        innermost = ended->outer;
        ended->outer = NULL;
        ended->is_listed = false;
        Py_DECREF((PyObject *)ended);
    }
}

static PyObject *block_exit(PyObject *self, PyObject *args) {
    struct device_block *block = (struct device_block *)self, *at = innermost;
    (void)args;
    while (at && at != block)
        at = at->outer;
    if (!at || block->has_ended)
        return PyErr_SetString(PyExc_RuntimeError, "this leat.device block was not entered in this thread"), NULL;
    bool in_order = block == innermost;
    block->has_ended = true;
    leave_ended();
    if (in_order)
        Py_RETURN_NONE;
    PyErr_SetString(PyExc_RuntimeError, "this leat.device block ends before one inside it, so that block's device "
                                        "holds until it ends; end the blocks of a thread in the reverse order");
    return NULL;
}

static PyObject *block_repr(PyObject *self) {
    return PyUnicode_FromFormat("leat.device('%s')", ((struct device_block *)self)->device->name);
}

static PyMethodDef block_methods[] = {
    {"__enter__", block_enter, METH_NOARGS, NULL}, {"__exit__", block_exit, METH_VARARGS, NULL}, {0}};

static PyType_Slot block_slots[] = {
    {Py_tp_doc, "device(name)\n--\n\nRuns the programs of a `with` block on a device: \"auto\", \"cpu\", \"cuda\", "
                "\"cuda:1\" or \"sim\". The choice holds for the current thread, whose blocks must end in "
                "the reverse order."},
    {Py_tp_new, block_new},
    {Py_tp_dealloc, le_py_object_free},
    {Py_tp_repr, block_repr},
    {Py_tp_methods, block_methods},
    {0}};

PyType_Spec le_py_device_spec = {
    .name = "leat.device", .basicsize = sizeof(struct device_block), .flags = Py_TPFLAGS_DEFAULT, .slots = block_slots};
