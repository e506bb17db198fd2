/* DLPack between libraries: the C functions that a library offers through the attribute __dlpack_c_exchange_api__ of
 * its array type, capsules of __dlpack__, and the table that leat.Array offers. */
#include "py_array.h"
#include "py_dlpack.h"

typedef void set_error(void *error_ctx, const char *kind, const char *message);
struct le_py_exchange {
    uint32_t major, minor;
    struct le_py_exchange *older;
    int (*allocate)(struct DLTensor *prototype, struct DLManagedTensorVersioned **out, void *error_ctx,
                    set_error *fail);
    int (*export)(void *object, struct DLManagedTensorVersioned **out);
    int (*import)(struct DLManagedTensorVersioned *tensor, void **object);
    int (*describe)(void *object, struct DLTensor *out); /* may be NULL */
    int (*current_stream)(int32_t device_type, int32_t device_id, void **stream);
};

#define EXCHANGE_ATTRIBUTE "__dlpack_c_exchange_api__"
#define EXCHANGE_CAPSULE   "dlpack_exchange_api"

/* ---- of other libraries */

const struct le_py_exchange *le_py_exchange_of(PyTypeObject *type) {
    PyObject *capsule = PyErr_Occurred() ? NULL : PyObject_GetAttrString((PyObject *)type, EXCHANGE_ATTRIBUTE);
    const struct le_py_exchange *found = NULL;
    if (capsule && PyCapsule_IsValid(capsule, EXCHANGE_CAPSULE))
        found = PyCapsule_GetPointer(capsule, EXCHANGE_CAPSULE);
    while (found && found->major != 1)
        found = found->major > 1 ? found->older : NULL;
    if (!capsule && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    Py_XDECREF(capsule); /* the table belongs to the type, which lives as long as its library */
    return found;
}

/* Fills a->memory, and opens the device of the tensor's memory. */
static int use_tensor(const struct DLTensor *tensor, const char *name, struct le_py_argument *a) {
    int ordinal;
    leat_status status = leat_dltensor_describe(tensor, &a->memory, &ordinal);
    a->kind = LE_PY_MEMORY;
    if (status) {
        leat_error error;
        leat_error_get(NULL, &error);
        PyErr_Format(status == LEAT_DEVICE ? le_py_errors.device : PyExc_TypeError, "argument '%s': %s", name,
                     error.message);
        return -1;
    }
    if (ordinal < 0)
        return 0;
    a->device = le_py_device_cuda(ordinal);
    return a->device ? 0 : -1;
}

static int fail_exchange(const char *name) {
    if (PyErr_Occurred())
        return le_py_fail_library(name);
    PyErr_Format(PyExc_TypeError, "the library of argument '%s' does not hand out its memory", name);
    return -1;
}

static void delete_managed(PyObject *capsule) {
    struct DLManagedTensorVersioned *tensor = PyCapsule_GetPointer(capsule, "leat");
    if (tensor && tensor->deleter)
        tensor->deleter(tensor);
}

PyObject *le_py_tensor_owner(struct DLManagedTensorVersioned *tensor) {
    PyObject *owner = PyCapsule_New(tensor, "leat", delete_managed);
    if (!owner && tensor->deleter)
        tensor->deleter(tensor);
    return owner;
}

/* For a library that only exports managed tensors: a capsule keeps one until the argument is released. */
static int describe_managed(const struct le_py_exchange *exchange, PyObject *value, const char *name,
                            struct le_py_argument *a) {
    struct DLManagedTensorVersioned *tensor;
    if (exchange->export(value, &tensor) != 0)
        return fail_exchange(name);
    a->keep = le_py_tensor_owner(tensor);
    if (!a->keep)
        return -1;
    if (tensor->major != 1) {
        PyErr_Format(PyExc_TypeError, "the library of argument '%s' hands out its memory as DLPack %u, not 1", name,
                     (unsigned)tensor->major);
        return -1;
    }
    int failed = use_tensor(&tensor->dl_tensor, name, a);
    a->memory.read_only = tensor->flags & LE_PY_DLPACK_READ_ONLY;
    return failed;
}

int le_py_exchange_describe(const struct le_py_exchange *exchange, PyObject *value, const char *name,
                            struct le_py_argument *a) {
    struct DLTensor tensor;
    int failed;
    if (exchange->describe) {
        failed = exchange->describe(value, &tensor) == 0 ? use_tensor(&tensor, name, a) : fail_exchange(name);
        a->memory.read_only = false;
    } else {
        failed = describe_managed(exchange, value, name, a);
    }
    if (failed || !a->device || le_py_asked_again(a, a->library))
        return failed;
    return le_py_asked(a, a->library, le_py_exchange_stream(exchange, a->device, a->library));
}

PyObject *le_py_exchange_import(const struct le_py_exchange *exchange, struct DLManagedTensorVersioned *tensor) {
    void *object = NULL;
    if (exchange->import(tensor, &object) == 0)
        return object;
    if (tensor->deleter)
        tensor->deleter(tensor);
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "the library did not accept the result's memory");
    return NULL;
}

/* PyTorch's current stream as its object, which says whether the stream is one of its own; NULL: not known. */
static PyObject *torch_stream(const struct le_py_device *device) {
    PyObject *cuda = PyImport_ImportModule("torch.cuda"),
             *stream = cuda ? PyObject_CallMethod(cuda, "current_stream", "i", device->ordinal) : NULL;
    Py_XDECREF(cuda);
    PyErr_Clear();
    return stream;
}

struct le_py_wrapped *le_py_exchange_stream(const struct le_py_exchange *exchange, struct le_py_device *device,
                                            enum le_py_library library) {
    void *native;
    if (exchange->current_stream(LE_PY_DLPACK_CUDA, device->ordinal, &native) != 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_RuntimeError, "there is no current stream");
        return NULL;
    }
    struct le_py_wrapped *wrapped = le_py_stream_known(device, native);
    if (wrapped)
        return wrapped;
    PyObject *object = native && library == LE_PY_TORCH ? torch_stream(device) : NULL;
    wrapped = le_py_stream_wrap(device, native, object);
    Py_XDECREF(object);
    return wrapped;
}

/* ---- capsules */

static void delete_old(PyObject *owner) {
    struct DLManagedTensor *tensor = PyCapsule_GetPointer(owner, "leat");
    if (tensor && tensor->deleter)
        tensor->deleter(tensor);
}

/* Takes the tensor out of its capsule, which another consumer then refuses; a->keep deletes it. */
static int take_tensor(PyObject *capsule, bool versioned, struct le_py_argument *a) {
    void *tensor = PyCapsule_GetPointer(capsule, versioned ? LE_PY_DLPACK_VERSIONED : LE_PY_DLPACK_OLD);
    a->keep = PyCapsule_New(tensor, "leat", versioned ? delete_managed : delete_old);
    if (!a->keep)
        return -1;
    return PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor");
}

int le_py_capsule_describe(PyObject *capsule, const char *name, struct le_py_argument *a) {
    bool versioned = PyCapsule_IsValid(capsule, LE_PY_DLPACK_VERSIONED), read_only = false;
    const struct DLTensor *tensor = NULL;
    if (versioned) {
        const struct DLManagedTensorVersioned *managed = PyCapsule_GetPointer(capsule, LE_PY_DLPACK_VERSIONED);
        tensor = managed->major == 1 ? &managed->dl_tensor : NULL;
        read_only = managed->flags & LE_PY_DLPACK_READ_ONLY;
    } else if (PyCapsule_IsValid(capsule, LE_PY_DLPACK_OLD)) {
        tensor = &((const struct DLManagedTensor *)PyCapsule_GetPointer(capsule, LE_PY_DLPACK_OLD))->dl_tensor;
    }
    if ((versioned || tensor) && take_tensor(capsule, versioned, a) < 0)
        return -1;
    if (!tensor) {
        PyErr_Format(PyExc_TypeError,
                     "the __dlpack__ of argument '%s' did not return an unused DLPack capsule of version 0 or 1", name);
        return -1;
    }
    if (use_tensor(tensor, name, a) < 0)
        return -1;
    a->memory.read_only = read_only;
    return 0;
}

/* ---- Leat's own table: for consumers, arrays are ordered by Leat's own stream of their device */

static int own_native(struct le_py_device *device, void **native) {
    *native = NULL;
    if (!device->is_cuda)
        return 0;
    leat_stream *own = le_py_stream_own(device);
    leat_status status = own ? leat_stream_native(own, native) : LEAT_INVALID;
    return status ? (le_py_raise(status, NULL, NULL), -1) : 0;
}

static int export_array(void *object, struct DLManagedTensorVersioned **out) {
    struct le_py_array *array = object;
    void *native;
    if (!le_py_is_array(object)) {
        PyErr_SetString(PyExc_TypeError, "the object is not a leat.Array");
        return -1;
    }
    if (own_native(array->device, &native) < 0)
        return -1;
    leat_status status = leat_array_to_dlpack_versioned(array->array, native, out);
    return status ? (le_py_raise(status, NULL, NULL), -1) : 0;
}

static struct le_py_device *device_of_tensor(const struct DLTensor *tensor) {
    return tensor->device_type == LE_PY_DLPACK_CUDA ? le_py_device_cuda(tensor->device_id) : le_py_device_open("cpu");
}

/* As in all tables: after a failure the tensor is still the caller's. */
static int import_array(struct DLManagedTensorVersioned *tensor, void **object) {
    struct le_py_device *device = device_of_tensor(&tensor->dl_tensor);
    struct le_py_array *made = device ? le_py_array_blank() : NULL;
    leat_array *array;
    if (!made)
        return -1;
    leat_status status = leat_array_from_dlpack_versioned(device->ctx, tensor, &array);
    if (status) {
        Py_DECREF((PyObject *)made);
        return le_py_raise(status, NULL, NULL), -1;
    }
    le_py_array_fill(made, array, device);
    made->is_foreign = true;
    *object = made;
    return 0;
}

static int allocate_array(struct DLTensor *prototype, struct DLManagedTensorVersioned **out, void *error_ctx,
                          set_error *fail) {
    leat_description wanted;
    leat_array *array = NULL;
    int ordinal;
    void *native;
    PyGILState_STATE state = PyGILState_Ensure();
    struct le_py_device *device = device_of_tensor(prototype);
    leat_status status = device ? leat_dltensor_describe(prototype, &wanted, &ordinal) : LEAT_DEVICE;
    if (!status)
        status = leat_array_new_empty(device->ctx, wanted.dtype, wanted.rank, wanted.shape, LEAT_MEMORY_DEVICE, &array);
    if (!status)
        status = own_native(device, &native) < 0 ? LEAT_DEVICE : leat_array_to_dlpack_versioned(array, native, out);
    if (status) {
        leat_error error;
        leat_error_get(NULL, &error);
        fail(error_ctx, status == LEAT_OUT_OF_MEMORY ? "MemoryError" : "RuntimeError", error.message);
        PyErr_Clear();
    }
    leat_array_free(array);
    PyGILState_Release(state);
    return status ? -1 : 0;
}

static int own_stream(int32_t device_type, int32_t device_id, void **stream) {
    const struct DLTensor tensor = {.device_type = device_type, .device_id = device_id};
    struct le_py_device *device = device_of_tensor(&tensor);
    return device ? own_native(device, stream) : -1;
}

int le_py_exchange_init(PyTypeObject *array_type) {
    static struct le_py_exchange table = {.major = 1,
                                          .minor = 3,
                                          .allocate = allocate_array,
                                          .export = export_array,
                                          .import = import_array,
                                          .current_stream = own_stream};
    PyObject *capsule = PyCapsule_New(&table, EXCHANGE_CAPSULE, NULL);
    int failed = capsule ? PyObject_SetAttrString((PyObject *)array_type, EXCHANGE_ATTRIBUTE, capsule) : -1;
    Py_XDECREF(capsule);
    return failed;
}
