/* Describes arrays in GPU memory by what their libraries tell in Python: CuPy's attributes, __cuda_array_interface__,
 * __dlpack__. */
#include "py_dlpack.h"
#include "py_leat.h"
#include <stdlib.h>
#include <string.h>

enum { DTYPES = 16 };

static PyObject *name_data, *name_ptr, *name_shape, *name_strides, *name_dtype, *name_device_id, *name_dense;

int le_py_gpu_init(void) {
    static const struct {
        PyObject **at;
        const char *text;
    } names[] = {{&name_data, "data"},          {&name_ptr, "ptr"},     {&name_shape, "shape"},
                 {&name_strides, "strides"},    {&name_dtype, "dtype"}, {&name_device_id, "device_id"},
                 {&name_dense, "_c_contiguous"}};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (!(*names[k].at = PyUnicode_InternFromString(names[k].text)))
            return -1;
    return 0;
}

/* Reads a tuple of at most LEAT_RANK_MAX integers; -1 with an exception. */
static int read_extents(PyObject *tuple, const char *name, int64_t *extents) {
    Py_ssize_t rank = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (rank < 0) {
        PyErr_Format(PyExc_TypeError, "argument '%s' has a shape or strides that are not a tuple", name);
        return -1;
    }
    if (rank > LEAT_RANK_MAX)
        return le_py_fail_rank(name, rank);
    for (Py_ssize_t k = 0; k < rank; k++)
        extents[k] = PyLong_AsLongLong(PyTuple_GetItem(tuple, k));
    return PyErr_Occurred() ? -1 : (int)rank;
}

/* Strides in bytes become strides in elements; None: dense. */
static int read_strides(PyObject *strides, const char *name, leat_description *d) {
    int64_t size = (int64_t)leat_dtype_size_bytes(d->dtype), dense = 1;
    for (int k = d->rank - 1; strides == Py_None && k >= 0; k--) {
        d->strides[k] = dense;
        dense *= d->shape[k] > 0 ? d->shape[k] : 1;
    }
    if (strides == Py_None)
        return 0;
    if (read_extents(strides, name, d->strides) != d->rank) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "argument '%s' has %d axes, but another number of strides", name, d->rank);
        return -1;
    }
    for (int k = 0; k < d->rank; k++) {
        if (d->strides[k] % size && d->shape[k] > 1) {
            PyErr_Format(PyExc_ValueError, "argument '%s' has a stride that is not a multiple of its element's size",
                         name);
            return -1;
        }
        d->strides[k] /= size;
    }
    return 0;
}

static int open_gpu(int ordinal, struct le_py_argument *a) {
    a->device = le_py_device_cuda(ordinal);
    a->memory.memory = LEAT_MEMORY_DEVICE;
    a->kind = LE_PY_MEMORY;
    return a->device ? 0 : -1;
}

/* The element type of a numpy.dtype; remembered by the object, since NumPy has one for each type. */
static leat_dtype dtype_of(PyObject *dtype) {
    static struct {
        PyObject *object; /* retained */
        leat_dtype dtype;
    } known[DTYPES];
    size_t at = ((uintptr_t)dtype >> 4) % DTYPES;
    if (known[at].object == dtype)
        return known[at].dtype;
    leat_dtype found = le_py_dtype_parse(dtype);
    PyErr_Clear();
    if (found) {
        PyObject *before = known[at].object;
        known[at].object = Py_NewRef(dtype);
        known[at].dtype = found;
        Py_XDECREF(before);
    }
    return found;
}

static int fail_dtype(const char *name, PyObject *dtype) {
    PyErr_Format(PyExc_TypeError, "argument '%s' has elements of type %S, which Leat does not have", name, dtype);
    return -1;
}

/* ---- CuPy */

/* The strides as a tuple, or None for a dense array, whose flag is found faster. */
static PyObject *strides_of(PyObject *value) {
    PyObject *dense = PyObject_GetAttr(value, name_dense);
    if (dense == Py_True) {
        Py_DECREF(dense);
        return Py_NewRef(Py_None);
    }
    PyErr_Clear();
    Py_XDECREF(dense);
    return PyObject_GetAttr(value, name_strides);
}

static int describe_layout(PyObject *value, const char *name, leat_description *d) {
    PyObject *dtype = PyObject_GetAttr(value, name_dtype), *shape = NULL, *strides = NULL;
    int failed = -1;
    d->dtype = dtype ? dtype_of(dtype) : (leat_dtype)0;
    if (dtype && !d->dtype)
        fail_dtype(name, dtype);
    else if (dtype && (shape = PyObject_GetAttr(value, name_shape)) && (strides = strides_of(value)) &&
             (d->rank = read_extents(shape, name, d->shape)) >= 0)
        failed = read_strides(strides, name, d);
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return failed;
}

PyObject *le_py_find(PyObject **at, const char *library, const char *name) {
    PyObject *module = *at ? NULL : PyImport_ImportModule(library);
    if (module)
        *at = PyObject_GetAttrString(module, name);
    Py_XDECREF(module);
    return *at;
}

struct le_py_wrapped *le_py_cupy_stream(struct le_py_device *device) {
    static PyObject *function;
    PyObject *get_current = le_py_find(&function, "cupy.cuda", "get_current_stream"),
             *ordinal = get_current ? PyLong_FromLong(device->ordinal) : NULL,
             *current = ordinal ? PyObject_CallFunctionObjArgs(get_current, ordinal, NULL) : NULL,
             *pointer = current ? PyObject_GetAttr(current, name_ptr) : NULL;
    void *native = pointer ? PyLong_AsVoidPtr(pointer) : NULL;
    struct le_py_wrapped *wrapped = pointer && !PyErr_Occurred() ? le_py_stream_wrap(device, native, current) : NULL;
    Py_XDECREF(ordinal);
    Py_XDECREF(current);
    Py_XDECREF(pointer);
    return wrapped;
}

/* The stream is asked for at each call, because `with stream:` changes it. */
static int use_cupy_stream(struct le_py_argument *a) {
    return le_py_asked_again(a, LE_PY_CUPY) ? 0 : le_py_asked(a, LE_PY_CUPY, le_py_cupy_stream(a->device));
}

int le_py_cupy_describe(PyObject *value, const char *name, struct le_py_argument *a) {
    PyObject *data = PyObject_GetAttr(value, name_data), *pointer = data ? PyObject_GetAttr(data, name_ptr) : NULL,
             *ordinal = pointer ? PyObject_GetAttr(data, name_device_id) : NULL;
    int failed = ordinal ? open_gpu((int)PyLong_AsLong(ordinal), a) : -1;
    if (!failed) {
        a->memory.data = PyLong_AsVoidPtr(pointer);
        a->memory.read_only = false;
        failed = PyErr_Occurred() ? -1 : describe_layout(value, name, &a->memory);
    }
    if (!failed)
        failed = use_cupy_stream(a);
    Py_XDECREF(data);
    Py_XDECREF(pointer);
    Py_XDECREF(ordinal);
    return failed;
}

static PyObject *tuple_of(int rank, const int64_t *numbers, int64_t factor) {
    PyObject *made = PyTuple_New(rank);
    for (int k = 0; made && k < rank; k++) {
        PyObject *number = PyLong_FromLongLong(numbers[k] * factor);
        if (!number || PyTuple_SetItem(made, k, number) < 0)
            Py_CLEAR(made);
    }
    return made;
}

PyObject *le_py_cupy_over(const leat_description *d, struct le_py_device *device, PyObject *dtype, PyObject *owner) {
    static PyObject *memory, *pointer, *ndarray;
    int64_t size = (int64_t)leat_dtype_size_bytes(d->dtype), size_bytes = size;
    if (!le_py_find(&memory, "cupy.cuda", "UnownedMemory") || !le_py_find(&pointer, "cupy.cuda", "MemoryPointer") ||
        !le_py_find(&ndarray, "cupy", "ndarray"))
        return NULL;
    for (int k = 0; k < d->rank; k++)
        size_bytes *= d->shape[k];
    PyObject *shape = tuple_of(d->rank, d->shape, 1), *strides = tuple_of(d->rank, d->strides, size);
    PyObject *whole = PyObject_CallFunction(memory, "KLOi", (unsigned long long)(uintptr_t)d->data,
                                            (long long)size_bytes, owner, device->ordinal);
    PyObject *first = whole ? PyObject_CallFunction(pointer, "Oi", whole, 0) : NULL;
    PyObject *made =
        first && shape && strides ? PyObject_CallFunctionObjArgs(ndarray, shape, dtype, first, strides, NULL) : NULL;
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    Py_XDECREF(whole);
    Py_XDECREF(first);
    return made;
}

/* ---- __cuda_array_interface__, version 3 */

/* object.name.part as a number; -1 without an exception if there is none. */
static int read_ordinal(PyObject *object, const char *name, const char *part) {
    PyObject *owner = PyObject_GetAttrString(object, name), *id = owner ? PyObject_GetAttrString(owner, part) : NULL;
    int ordinal = id && PyLong_Check(id) ? (int)PyLong_AsLong(id) : -1;
    Py_XDECREF(owner);
    Py_XDECREF(id);
    le_py_forgive();
    return ordinal;
}

/* The number of the device is not part of the interface. The libraries with several devices tell it by .device.id
 * (CuPy) or .device.index (PyTorch); an object that does not is taken only where there is one device. */
static int ordinal_of(PyObject *value, const char *name) {
    static const char *const parts[] = {"id", "index"};
    for (int k = 0; k < 2; k++) {
        int ordinal = read_ordinal(value, "device", parts[k]);
        if (ordinal >= 0 || PyErr_Occurred())
            return ordinal;
    }
    int count = le_py_device_cuda_count();
    if (count <= 1)
        return count < 0 ? -1 : 0;
    return le_py_fail_type(value, name, "which does not tell its GPU by .device.id; there are several here");
}

/* "<f4" and the like. */
static leat_dtype dtype_of_typestr(PyObject *typestr) {
    const char *text = typestr && PyUnicode_Check(typestr) ? le_py_text(typestr) : NULL;
    if (!text || strlen(text) < 3 || *text == '>')
        return (leat_dtype)0;
    return le_py_dtype_of_kind(text[1], atoi(text + 2));
}

/* The stream of the interface: the producer's work there comes first. None: there is nothing to wait for. */
static int interface_stream(PyObject *interface, struct le_py_argument *a) {
    PyObject *stream = PyDict_GetItemString(interface, "stream");
    a->is_held = true;
    a->ready = le_py_stream_own(a->device);
    if (!a->ready || !stream || stream == Py_None)
        return a->ready ? 0 : -1;
    void *native = PyLong_AsVoidPtr(stream);
    leat_stream *producer;
    leat_status status = PyErr_Occurred() ? LEAT_INVALID : leat_stream_wrap(a->device->ctx, native, &producer);
    if (!status) {
        status = le_py_stream_follow(a->device, a->ready, producer);
        leat_stream_free(producer);
    }
    return status ? (le_py_raise(status, NULL, NULL), -1) : 0;
}

static int describe_interface(PyObject *interface, const char *name, leat_description *d) {
    PyObject *typestr = PyDict_GetItemString(interface, "typestr"), *shape = PyDict_GetItemString(interface, "shape"),
             *strides = PyDict_GetItemString(interface, "strides"), *data = PyDict_GetItemString(interface, "data"),
             *mask = PyDict_GetItemString(interface, "mask");
    d->dtype = dtype_of_typestr(typestr);
    if (!d->dtype)
        return fail_dtype(name, typestr ? typestr : Py_None);
    if (mask && mask != Py_None) {
        PyErr_Format(PyExc_TypeError, "argument '%s' has a mask, which Leat would ignore", name);
        return -1;
    }
    if (!shape || !data || !PyTuple_Check(data) || PyTuple_Size(data) != 2) {
        PyErr_Format(PyExc_TypeError, "the __cuda_array_interface__ of argument '%s' is not complete", name);
        return -1;
    }
    d->data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    d->read_only = PyObject_IsTrue(PyTuple_GetItem(data, 1)) != 0;
    d->rank = PyErr_Occurred() ? -1 : read_extents(shape, name, d->shape);
    return d->rank < 0 ? -1 : read_strides(strides ? strides : Py_None, name, d);
}

int le_py_interface_describe(PyObject *value, const char *name, struct le_py_argument *a) {
    PyObject *interface = PyObject_GetAttrString(value, "__cuda_array_interface__");
    if (interface && !PyDict_Check(interface)) {
        Py_DECREF(interface);
        return le_py_fail_type(value, name, "whose __cuda_array_interface__ is not a dict");
    }
    int ordinal = interface ? ordinal_of(value, name) : -1, failed = ordinal < 0 ? -1 : open_gpu(ordinal, a);
    if (!failed)
        failed = describe_interface(interface, name, &a->memory);
    if (!failed)
        failed = interface_stream(interface, a);
    Py_XDECREF(interface);
    a->keep = failed ? NULL : Py_NewRef(value);
    return failed;
}

/* ---- __dlpack__ */

/* (type, number) of __dlpack_device__; -1 with an exception. */
static int dlpack_device(PyObject *value, const char *name, long *type, long *ordinal) {
    PyObject *pair = PyObject_CallMethod(value, "__dlpack_device__", NULL);
    bool is_pair = pair && PyTuple_Check(pair) && PyTuple_Size(pair) == 2;
    if (is_pair) {
        PyObject *first = PyNumber_Index(PyTuple_GetItem(pair, 0)), *second = PyNumber_Index(PyTuple_GetItem(pair, 1));
        *type = first ? PyLong_AsLong(first) : 0;
        *ordinal = second ? PyLong_AsLong(second) : 0;
        Py_XDECREF(first);
        Py_XDECREF(second);
    }
    Py_XDECREF(pair);
    if (is_pair && !PyErr_Occurred())
        return 0;
    return PyErr_Occurred() ? le_py_fail_library(name)
                            : le_py_fail_type(value, name, "whose __dlpack_device__ does not return two numbers");
}

/* Calls __dlpack__ with the keywords of DLPack 1.0, and again without max_version if the producer is older. */
static PyObject *ask_capsule(PyObject *value, PyObject *stream) {
    PyObject *method = PyObject_GetAttrString(value, "__dlpack__"), *none = PyTuple_New(0), *capsule = NULL;
    PyObject *words = Py_BuildValue("{s:(ii)}", "max_version", 1, 3);
    int failed = !method || !none || !words || (stream && PyDict_SetItemString(words, "stream", stream) < 0);
    if (!failed && !(capsule = PyObject_Call(method, none, words)) && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyDict_DelItemString(words, "max_version");
        capsule = PyObject_Call(method, none, words);
    }
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(words);
    return capsule;
}

/* The producer orders its work before Leat's own stream. */
static PyObject *own_stream_number(struct le_py_argument *a) {
    void *native;
    a->ready = le_py_stream_own(a->device);
    leat_status status = a->ready ? leat_stream_native(a->ready, &native) : LEAT_INVALID;
    return status ? le_py_raise(status, NULL, NULL) : PyLong_FromVoidPtr(native);
}

int le_py_dlpack_describe(PyObject *value, const char *name, struct le_py_argument *a) {
    long type = 0, ordinal = 0;
    PyObject *stream = NULL;
    if (dlpack_device(value, name, &type, &ordinal) < 0)
        return -1;
    bool on_gpu = type == LE_PY_DLPACK_CUDA || type == LE_PY_DLPACK_CUDA_MANAGED;
    if (on_gpu && (open_gpu((int)ordinal, a) < 0 || !(stream = own_stream_number(a))))
        return -1;
    PyObject *capsule = ask_capsule(value, stream);
    Py_XDECREF(stream);
    int failed = capsule ? le_py_capsule_describe(capsule, name, a) : le_py_fail_library(name);
    struct le_py_pending pending;
    le_py_error_hold(&pending);
    Py_XDECREF(capsule);
    le_py_error_restore(&pending);
    if (!failed && on_gpu && a->memory.memory == LEAT_MEMORY_HOST)
        failed = le_py_fail_type(value, name, "whose __dlpack_device__ names a GPU but whose memory is the host's");
    a->is_held = on_gpu;
    return failed;
}
