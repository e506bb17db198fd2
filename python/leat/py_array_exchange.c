/* leat.Array for other libraries: __dlpack__ and __cuda_array_interface__. */
#include "py_array.h"
#include "py_dlpack.h"

/* A consumer that takes the tensor changes the capsule's name. */
static void free_unused(PyObject *capsule) {
    struct DLManagedTensor *old = NULL;
    struct DLManagedTensorVersioned *tensor = NULL;
    if (PyCapsule_IsValid(capsule, LE_PY_DLPACK_OLD))
        old = PyCapsule_GetPointer(capsule, LE_PY_DLPACK_OLD);
    else if (PyCapsule_IsValid(capsule, LE_PY_DLPACK_VERSIONED))
        tensor = PyCapsule_GetPointer(capsule, LE_PY_DLPACK_VERSIONED);
    Py_BEGIN_ALLOW_THREADS /* it may wait for the device */
    if (old)
        old->deleter(old);
    if (tensor)
        tensor->deleter(tensor);
    Py_END_ALLOW_THREADS
}

static int device_type(const struct le_py_array *array) {
    if (!array->device->is_cuda || array->description.memory == LEAT_MEMORY_HOST)
        return LE_PY_DLPACK_CPU;
    return array->description.memory == LEAT_MEMORY_DEVICE ? LE_PY_DLPACK_CUDA : LE_PY_DLPACK_CUDA_HOST;
}

PyObject *le_py_array_dlpack_device(PyObject *self, PyObject *none) {
    struct le_py_array *array = (struct le_py_array *)self;
    (void)none;
    int type = device_type(array);
    return Py_BuildValue("(ii)", type, type == LE_PY_DLPACK_CUDA ? array->device->ordinal : 0);
}

/* The CUstream that a consumer names by the rules of the array API standard. None: the default stream; -1: none, so
 * Leat's own stream is taken, which need not wait for the host. */
static int consumer_stream(const struct le_py_array *array, PyObject *value, void **native) {
    *native = NULL;
    if (device_type(array) != LE_PY_DLPACK_CUDA)
        return 0;
    long number = value == Py_None ? 1 : PyLong_Check(value) ? 0 : -2;
    if (number == 0) {
        int overflow;
        number = PyLong_AsLongAndOverflow(value, &overflow);
        *native = number == -1 ? NULL : PyLong_AsVoidPtr(value);
    }
    if (number == 1)
        *native = (void *)1;
    if (number == 0 || number == -2) {
        PyErr_SetString(PyExc_ValueError, "stream must be None, -1, 1, 2 or a CUstream; 0 is ambiguous");
        return -1;
    }
    if (number != -1)
        return PyErr_Occurred() ? -1 : 0;
    leat_stream *own = le_py_stream_own(array->device);
    leat_status status = own ? leat_stream_native(own, native) : LEAT_INVALID;
    return status ? (le_py_raise(status, NULL, NULL), -1) : 0;
}

/* Whether the consumer can take a versioned tensor. */
static int is_versioned(PyObject *max_version, bool *versioned) {
    int major = 0, minor = 0;
    *versioned = false;
    if (max_version == Py_None)
        return 0;
    if (!PyTuple_Check(max_version) || !PyArg_ParseTuple(max_version, "ii", &major, &minor)) {
        PyErr_SetString(PyExc_TypeError, "max_version must be None or a tuple of two integers");
        return -1;
    }
    *versioned = major >= 1;
    return 0;
}

static int check_request(struct le_py_array *array, PyObject *device, PyObject *copy) {
    int type, number, has = device_type(array);
    if (copy == Py_True) {
        PyErr_SetString(PyExc_BufferError, "__dlpack__ makes no copies; copy the result instead");
        return -1;
    }
    if (device == Py_None)
        return 0;
    if (!PyTuple_Check(device)) {
        PyErr_SetString(PyExc_TypeError, "dl_device must be None or a tuple of two integers");
        return -1;
    }
    if (!PyArg_ParseTuple(device, "ii", &type, &number))
        return -1;
    if (type == has && (type != LE_PY_DLPACK_CUDA || number == array->device->ordinal))
        return 0;
    PyErr_SetString(PyExc_BufferError, "the array is on another device; x.numpy() copies it to the host");
    return -1;
}

static void *fail_export(leat_status status) {
    leat_error error;
    leat_error_get(NULL, &error);
    if (status != LEAT_UNSUPPORTED)
        return le_py_raise(status, NULL, NULL);
    PyErr_Format(PyExc_BufferError, "%s", error.message);
    return NULL;
}

PyObject *le_py_array_dlpack(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"stream", "max_version", "dl_device", "copy", NULL};
    struct le_py_array *array = (struct le_py_array *)self;
    PyObject *stream = Py_None, *max_version = Py_None, *device = Py_None, *copy = Py_None;
    bool versioned;
    void *native;
    struct DLManagedTensorVersioned *tensor = NULL;
    struct DLManagedTensor *old = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|$OOOO", words, &stream, &max_version, &device, &copy) ||
        is_versioned(max_version, &versioned) < 0 || check_request(array, device, copy) < 0 ||
        consumer_stream(array, stream, &native) < 0)
        return NULL;
    leat_status status;
    Py_BEGIN_ALLOW_THREADS
    status = versioned ? leat_array_to_dlpack_versioned(array->array, native, &tensor)
                       : leat_array_to_dlpack(array->array, native, &old);
    Py_END_ALLOW_THREADS
    if (status)
        return fail_export(status);
    PyObject *capsule = versioned ? PyCapsule_New(tensor, LE_PY_DLPACK_VERSIONED, free_unused)
                                  : PyCapsule_New(old, LE_PY_DLPACK_OLD, free_unused);
    if (!capsule && tensor)
        tensor->deleter(tensor);
    if (!capsule && old)
        old->deleter(old);
    return capsule;
}

/* ---- __cuda_array_interface__ */

/* Orders the work on the array before Leat's own stream, which the interface then names. */
static int order_own(struct le_py_array *array, void **native) {
    leat_stream *own = le_py_stream_own(array->device);
    leat_status status = own ? leat_stream_native(own, native) : LEAT_INVALID;
    if (!status)
        status = leat_stream_wait_array(own, array->array);
    return status ? (le_py_raise(status, NULL, NULL), -1) : 0;
}

static PyObject *typestr_of(const struct le_py_array *array) {
    static const char kinds[] = {
        [LEAT_BOOL] = 'b', [LEAT_I8] = 'i',  [LEAT_I16] = 'i', [LEAT_I32] = 'i', [LEAT_I64] = 'i',
        [LEAT_U8] = 'u',   [LEAT_U16] = 'u', [LEAT_U32] = 'u', [LEAT_U64] = 'u', [LEAT_F16] = 'f',
        [LEAT_BF16] = 0,   [LEAT_F32] = 'f', [LEAT_F64] = 'f', [LEAT_C64] = 'c', [LEAT_C128] = 'c'};
    leat_dtype dtype = array->description.dtype;
    if (!kinds[dtype])
        return PyErr_SetString(PyExc_AttributeError, "__cuda_array_interface__ has no type for bf16; use DLPack"), NULL;
    return PyUnicode_FromFormat("%c%c%zu", dtype <= LEAT_I8 || dtype == LEAT_U8 ? '|' : '<', kinds[dtype],
                                leat_dtype_size_bytes(dtype));
}

PyObject *le_py_array_interface(PyObject *self, void *none) {
    struct le_py_array *array = (struct le_py_array *)self;
    void *native;
    (void)none;
    if (!array->device->is_cuda || array->description.memory == LEAT_MEMORY_HOST)
        return PyErr_SetString(PyExc_AttributeError, "__cuda_array_interface__: the array is not in CUDA memory"), NULL;
    PyObject *typestr = typestr_of(array);
    if (!typestr || order_own(array, &native) < 0) {
        Py_XDECREF(typestr);
        return NULL;
    }
    PyObject *shape = PyObject_GetAttrString(self, "shape"), *strides = PyObject_GetAttrString(self, "strides");
    PyObject *interface = shape && strides ? Py_BuildValue("{s:i,s:O,s:O,s:O,s:(KO),s:K}", "version", 3, "typestr",
                                                           typestr, "shape", shape, "strides", strides, "data",
                                                           (unsigned long long)(uintptr_t)array->description.data,
                                                           array->description.read_only ? Py_True : Py_False, "stream",
                                                           (unsigned long long)(uintptr_t)native)
                                           : NULL;
    Py_XDECREF(typestr);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return interface;
}
