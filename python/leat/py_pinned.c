/* leat.pinned_empty and leat.pinned: NumPy arrays over page-locked memory, and the list of its ranges.
 *
 * The arrays belong to the CPU's context, so that NumPy never waits for a GPU; the page-locked memory behind them
 * belongs to the GPU's. The list is guarded by a mutex, because arrays are released on any thread. */
#include "py_memory.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list of ranges */

/* The addresses from the first to the last byte of the elements. */
static size_t range_of(const leat_description *d, char **start) {
    size_t element = leat_dtype_size_bytes(d->dtype);
    int64_t low = 0, high = 0;
    for (int k = 0; k < d->rank; k++) {
        if (d->shape[k] == 0)
            return 0;
        int64_t reach = (d->shape[k] - 1) * d->strides[k];
        *(reach < 0 ? &low : &high) += reach;
    }
    *start = (char *)d->data + low * (int64_t)element;
    return (size_t)(high - low + 1) * element;
}

struct range {
    const char *start, *end;
    const struct le_py_device *device; /* whose context locked it: another context knows nothing of it */
};
static pthread_mutex_t ranges_lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges; /* sorted, without overlaps; under ranges_lock */
static size_t range_capacity;
static size_t range_count; /* under ranges_lock; read without it as a hint */

/* The number of ranges that start at or before memory; under ranges_lock. */
static size_t count_up_to(const char *memory) {
    size_t low = 0, high = range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges[middle].start <= memory)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool grow_ranges(void) {
    size_t capacity = range_capacity ? 2 * range_capacity : 16;
    struct range *grown = range_count < range_capacity ? ranges : realloc(ranges, capacity * sizeof *grown);
    if (!grown)
        return false;
    if (range_count == range_capacity)
        range_capacity = capacity;
    ranges = grown;
    return true;
}

/* A forked child has no page-locked memory. */
void le_py_pinned_forget(void) {
    ranges_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    range_count = 0;
}

/* With the GIL. */
static int add_range(const struct le_py_device *device, const char *start, size_t size_bytes) {
    pthread_mutex_lock(&ranges_lock);
    bool fits = grow_ranges();
    if (fits) {
        size_t at = count_up_to(start);
        memmove(&ranges[at + 1], &ranges[at], (range_count - at) * sizeof *ranges);
        ranges[at] = (struct range){start, start + size_bytes, device};
        __atomic_store_n(&range_count, range_count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&ranges_lock);
    return fits ? 0 : (PyErr_NoMemory(), -1);
}

static void remove_range(const char *start) {
    pthread_mutex_lock(&ranges_lock);
    size_t at = count_up_to(start);
    if (at > 0 && ranges[at - 1].start == start) {
        memmove(&ranges[at - 1], &ranges[at], (range_count - at) * sizeof *ranges);
        __atomic_store_n(&range_count, range_count - 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&ranges_lock);
}

bool le_py_is_pinned(const struct le_py_device *device, const leat_description *memory) {
    char *start;
    if (__atomic_load_n(&range_count, __ATOMIC_ACQUIRE) == 0)
        return false;
    size_t size_bytes = range_of(memory, &start);
    if (size_bytes == 0)
        return false;
    pthread_mutex_lock(&ranges_lock);
    size_t at = count_up_to(start);
    bool found = at > 0 && ranges[at - 1].device == device && start + size_bytes <= ranges[at - 1].end;
    pthread_mutex_unlock(&ranges_lock);
    return found;
}

/* ---- NumPy arrays over it */

struct pin {
    leat_context *ctx; /* in which leat_host_pin locked it, or NULL */
    void *start;
    leat_array *array;               /* of pinned_empty, or NULL */
    struct le_py_argument *argument; /* of pinned: what is locked, or NULL */
};

/* A release callback: on any thread. */
static void release_pin(void *user) {
    struct pin *pin = user;
    remove_range(pin->start);
    if (pin->ctx)
        (void)leat_host_unpin(pin->ctx, pin->start);
    if (pin->argument)
        le_py_release_kept(pin->argument);
    leat_array_free(pin->array);
    free(pin);
}

/* The NumPy array over memory that pin owns, and takes over pin. */
static PyObject *numpy_over(const leat_description *memory, struct pin *pin) {
    leat_description d = *memory;
    leat_array *array;
    struct le_py_device *cpu = le_py_device_open("cpu");
    d.memory = LEAT_MEMORY_HOST;
    leat_status status = cpu ? leat_array_wrap(cpu->ctx, &d, release_pin, pin, &array) : LEAT_DEVICE;
    if (status) {
        le_py_raise(status, NULL, NULL);
        Py_BEGIN_ALLOW_THREADS
        release_pin(pin);
        Py_END_ALLOW_THREADS
        return NULL;
    }
    struct le_py_array *made = (struct le_py_array *)le_py_array_new(array, cpu);
    if (!made)
        return NULL;
    made->is_foreign = true; /* release_pin may wait for the GPU */
    PyObject *numpy = le_py_to_numpy(made);
    Py_DECREF((PyObject *)made);
    return numpy;
}

/* ---- pinned_empty */

static int read_shape(PyObject *value, int64_t *shape) {
    PyObject *extents = PyIndex_Check(value) ? PyTuple_Pack(1, value) : PySequence_Tuple(value);
    Py_ssize_t rank = extents ? PyTuple_Size(extents) : -1;
    int failed = rank > LEAT_RANK_MAX ? le_py_fail_rank("shape", rank) : 0;
    for (Py_ssize_t k = 0; k < rank && !failed; k++) {
        shape[k] = PyNumber_AsSsize_t(PyTuple_GetItem(extents, k), PyExc_OverflowError);
        failed = PyErr_Occurred() ? -1 : 0;
    }
    Py_XDECREF(extents);
    return failed ? -1 : (int)rank;
}

static PyObject *new_empty(struct le_py_device *device, leat_dtype dtype, int rank, const int64_t *shape) {
    leat_description d;
    char *start;
    struct pin *pin = calloc(1, sizeof *pin);
    if (!pin)
        return PyErr_NoMemory();
    leat_status status;
    Py_BEGIN_ALLOW_THREADS
    status = leat_array_new_empty(device->ctx, dtype, rank, shape, LEAT_MEMORY_PINNED, &pin->array);
    Py_END_ALLOW_THREADS
    if (status) {
        free(pin);
        return le_py_raise(status, NULL, NULL);
    }
    leat_array_get(pin->array, &d);
    size_t size_bytes = range_of(&d, &start);
    if (size_bytes > 0 && !device->is_cpu && add_range(device, pin->start = start, size_bytes) < 0) {
        leat_array_free(pin->array);
        free(pin);
        return NULL;
    }
    return numpy_over(&d, pin);
}

PyObject *le_py_pinned_empty(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"shape", "dtype", NULL};
    PyObject *shape_value, *dtype_value = NULL;
    int64_t shape[LEAT_RANK_MAX];
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|O", words, &shape_value, &dtype_value))
        return NULL;
    int rank = read_shape(shape_value, shape);
    leat_dtype dtype = rank < 0 ? (leat_dtype)0 : dtype_value ? le_py_dtype_parse(dtype_value) : LEAT_F64;
    struct le_py_device *device = dtype ? le_py_device_or_gpu() : NULL;
    return device ? new_empty(device, dtype, rank, shape) : NULL;
}

/* ---- pinned */

static int lock_memory(struct le_py_device *device, struct pin *pin) {
    char *start = NULL;
    size_t size_bytes = range_of(&pin->argument->memory, &start);
    leat_status status;
    if (device->is_cpu || size_bytes == 0)
        return 0;
    Py_BEGIN_ALLOW_THREADS
    status = leat_host_pin(device->ctx, start, size_bytes);
    Py_END_ALLOW_THREADS
    if (status)
        return le_py_raise(status, NULL, NULL), -1;
    if (add_range(device, start, size_bytes) == 0) {
        pin->ctx = device->ctx;
        pin->start = start;
        return 0;
    }
    (void)leat_host_unpin(device->ctx, start);
    return -1;
}

/* The memory of a NumPy array or another object with a buffer; never a copy. */
static int resolve_host(PyObject *value, struct le_py_argument *argument) {
    if (le_py_argument_resolve(value, "a", false, NULL, argument) < 0)
        return -1;
    le_py_argument_keep(argument, value);
    if (argument->kind == LE_PY_MEMORY && !argument->device && !argument->is_copied)
        return 0;
    le_py_argument_release(argument);
    return le_py_fail_type(value, "a", "which is not an array in host memory that can be page-locked");
}

PyObject *le_py_pinned(PyObject *self, PyObject *value) {
    struct le_py_device *device = le_py_device_or_gpu();
    struct le_py_argument *argument = device ? calloc(1, sizeof *argument) : NULL;
    struct pin *pin = argument ? calloc(1, sizeof *pin) : NULL;
    (void)self;
    if (!pin) {
        free(argument);
        return device ? PyErr_NoMemory() : NULL;
    }
    if (resolve_host(value, argument) == 0) {
        pin->argument = argument;
        if (lock_memory(device, pin) == 0)
            return numpy_over(&argument->memory, pin);
        le_py_argument_release(argument);
    }
    free(argument);
    free(pin);
    return NULL;
}
