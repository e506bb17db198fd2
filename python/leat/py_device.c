/* The contexts of devices, and leat.device. A context is opened at the first use of its device, without the GIL. After
 * a fork the child starts with an empty list: the parent's contexts are not usable there, and are never closed there.
 */
#include "py_leat.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct le_py_device *devices;                             /* newest first; under opening_lock to change */
static pthread_mutex_t opening_lock = PTHREAD_MUTEX_INITIALIZER; /* taken without the GIL */
static unsigned generation = 1;
static _Thread_local struct le_py_device *chosen; /* of the innermost `with leat.device(...)` */

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

/* Without the GIL, under opening_lock. NULL: *status says why. */
static struct le_py_device *open_device(const char *name, leat_status *status) {
    struct le_py_device *made = calloc(1, sizeof *made);
    if (!made) {
        *status = LEAT_OUT_OF_MEMORY;
        return NULL;
    }
    const leat_options options = {.struct_size = sizeof options, .device = name, .keep_code = true, .log = le_py_note};
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
static const char *resolve_auto(const char *name) {
    const char *variable = strcmp(name, "auto") == 0 ? getenv("LEAT_DEVICE") : NULL;
    if (variable && *variable)
        name = variable;
    return strcmp(name, "auto") == 0 ? "cpu" : name;
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

struct le_py_device *le_py_device_open(const char *name) {
    char full[LEAT_DEVICE_NAME_BYTES];
    name = resolve_auto(name);
    if (strlen(name) + 3 > sizeof full)
        return PyErr_Format(le_py_errors.device, "there is no device '%.100s'", name), NULL;
    canonical(name, full);
    struct le_py_device *device = find(full);
    if (device)
        return device;
    leat_status status = LEAT_OK;
    PyThreadState *thread = PyEval_SaveThread();
    pthread_mutex_lock(&opening_lock);
    device = find(full);
    if (!device)
        device = open_device(full, &status);
    pthread_mutex_unlock(&opening_lock);
    PyEval_RestoreThread(thread);
    if (!device && generation > 1 && status == LEAT_DEVICE)
        return fail_in_child();
    return device ? device : le_py_raise(status, NULL, NULL);
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
    return chosen && chosen->generation == generation;
}

/* LEAT_DEVICE is read once, as the library's own contexts read it when they are opened. */
struct le_py_device *le_py_device_default(void) {
    static struct le_py_device *automatic;
    if (le_py_device_is_chosen())
        return chosen;
    if (!automatic || automatic->generation != generation)
        automatic = le_py_device_open("auto");
    return automatic;
}

/* The first usable CUDA device, or NULL without an exception. */
static struct le_py_device *find_gpu(const struct le_py_device *cpu) {
    size_t count = 0;
    leat_device_info info = {.usable = false};
    leat_device_count(cpu->ctx, &count);
    for (size_t k = 0; k < count && !(info.usable && strcmp(info.kind, "cuda") == 0); k++)
        if (leat_device_get(cpu->ctx, k, false, &info))
            info.usable = false;
    struct le_py_device *gpu = info.usable && strcmp(info.kind, "cuda") == 0 ? le_py_device_open(info.device) : NULL;
    PyErr_Clear();
    return gpu;
}

struct le_py_device *le_py_device_or_gpu(void) {
    static struct le_py_device *gpu; /* what find_gpu found */
    static unsigned searched;        /* the generation in which it did */
    struct le_py_device *device = le_py_device_default();
    if (!device || !device->is_cpu)
        return device;
    if (searched != generation) {
        gpu = find_gpu(device);
        searched = generation;
    }
    return gpu ? gpu : device;
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

struct device_block {
    PyObject_HEAD struct le_py_device *device, *before;
    bool entered;
};

static PyObject *block_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    static char *words[] = {"name", NULL};
    PyObject *name;
    struct le_py_device *device;
    if (!PyArg_ParseTupleAndKeywords(args, names, "U", words, &name) || le_py_device_of(name, &device) < 0)
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct device_block *made = (struct device_block *)allocate(type, 0);
    if (made)
        made->device = device;
    return (PyObject *)made;
}

static PyObject *block_enter(PyObject *self, PyObject *none) {
    struct device_block *block = (struct device_block *)self;
    (void)none;
    if (block->entered)
        return PyErr_SetString(PyExc_RuntimeError, "this device is already entered; make another leat.device(...)"),
               NULL;
    block->entered = true;
    block->before = chosen;
    chosen = block->device;
    return Py_NewRef(self);
}

static PyObject *block_exit(PyObject *self, PyObject *args) {
    struct device_block *block = (struct device_block *)self;
    (void)args;
    if (block->entered)
        chosen = block->before;
    block->entered = false;
    Py_RETURN_NONE;
}

static PyObject *block_repr(PyObject *self) {
    return PyUnicode_FromFormat("leat.device('%s')", ((struct device_block *)self)->device->name);
}

static void block_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef block_methods[] = {
    {"__enter__", block_enter, METH_NOARGS, NULL}, {"__exit__", block_exit, METH_VARARGS, NULL}, {0}};

static PyType_Slot block_slots[] = {
    {Py_tp_doc, "device(name)\n--\n\nRuns the programs of a `with` block on a device: \"auto\", \"cpu\", \"cuda\", "
                "\"cuda:1\" or \"sim\". The choice holds for the current thread."},
    {Py_tp_new, block_new},
    {Py_tp_dealloc, block_dealloc},
    {Py_tp_repr, block_repr},
    {Py_tp_methods, block_methods},
    {0}};

PyType_Spec le_py_device_spec = {
    .name = "leat.device", .basicsize = sizeof(struct device_block), .flags = Py_TPFLAGS_DEFAULT, .slots = block_slots};
