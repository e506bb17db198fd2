/* Hands results over to the library of the caller's arrays. */
#include "py_array.h"
#include "py_dlpack.h"
#include <string.h>

static PyObject *imported(PyObject **at, const char *module) {
    if (!*at)
        *at = PyImport_ImportModule(module);
    return *at;
}

PyObject *le_py_numpy(void) {
    static PyObject *numpy;
    return imported(&numpy, "numpy");
}

/* ---- NumPy */

static PyObject *view_bf16(PyObject *array) {
    PyObject *dtype = array ? le_py_numpy_dtype(LEAT_BF16) : NULL;
    PyObject *view = dtype ? PyObject_CallMethod(array, "view", "O", dtype) : NULL;
    Py_XDECREF(dtype);
    return view;
}

/* numpy.asarray over the array's own memory. */
static PyObject *share_memory(struct le_py_array *array) {
    static PyObject *asarray;
    if (!asarray) {
        PyObject *numpy = le_py_numpy();
        asarray = numpy ? PyObject_GetAttrString(numpy, "asarray") : NULL;
    }
    if (!asarray)
        return NULL;
    if (array->description.dtype != LEAT_BF16)
        return PyObject_CallFunctionObjArgs(asarray, (PyObject *)array, NULL);
    PyObject *plain = le_py_array_view(array, leat_array_retain(array->array));
    if (!plain)
        return NULL;
    ((struct le_py_array *)plain)->as_u16 = true;
    PyObject *bytes = PyObject_CallFunctionObjArgs(asarray, plain, NULL), *view = view_bf16(bytes);
    Py_DECREF(plain);
    Py_XDECREF(bytes);
    return view;
}

/* A copy on the CPU of an array in a device's memory. */
static PyObject *copy_to_host(struct le_py_array *array) {
    const leat_description *d = &array->description;
    struct le_py_device *cpu = le_py_device_open("cpu");
    leat_array *made;
    leat_description host;
    if (!cpu)
        return NULL;
    leat_status status = leat_array_new_empty(cpu->ctx, d->dtype, d->rank, d->shape, LEAT_MEMORY_HOST, &made);
    if (status)
        return le_py_raise(status, NULL, NULL);
    leat_array_get(made, &host);
    size_t size_bytes = leat_dtype_size_bytes(d->dtype);
    for (int k = 0; k < d->rank; k++)
        size_bytes *= (size_t)d->shape[k];
    Py_BEGIN_ALLOW_THREADS
    status = le_py_wait_array(array->device->ctx, array->array);
    if (!status)
        status = leat_array_read(array->array, host.data, size_bytes, NULL, NULL);
    Py_END_ALLOW_THREADS
    if (!status)
        return le_py_array_new(made, cpu);
    le_py_raise(status, NULL, NULL);
    leat_array_free(made);
    return NULL;
}

PyObject *le_py_to_numpy(struct le_py_array *array) {
    if (le_py_array_is_readable(array))
        return share_memory(array);
    PyObject *host = copy_to_host(array), *made = host ? share_memory((struct le_py_array *)host) : NULL;
    Py_XDECREF(host);
    return made;
}

/* A result of rank 0 is a scalar, as NumPy's own functions return it. */
static PyObject *deliver_numpy(struct le_py_array *array) {
    PyObject *made = le_py_to_numpy(array);
    if (!made || array->description.rank > 0)
        return made;
    PyObject *none = PyTuple_New(0), *scalar = none ? PyObject_GetItem(made, none) : NULL;
    Py_XDECREF(none);
    Py_DECREF(made);
    return scalar;
}

/* ---- other libraries */

/* library.function(value). *function is found once. */
static PyObject *convert(PyObject **function, const char *library, const char *name, PyObject *value) {
    return value && le_py_find(function, library, name) ? PyObject_CallFunctionObjArgs(*function, value, NULL) : NULL;
}

static const struct le_py_exchange *torch_exchange(void) {
    static const struct le_py_exchange *exchange;
    static bool asked;
    if (!asked) {
        PyObject *torch = PyImport_ImportModule("torch"),
                 *type = torch ? PyObject_GetAttrString(torch, "Tensor") : NULL;
        exchange = type ? le_py_exchange_of((PyTypeObject *)type) : NULL;
        asked = type != NULL;
        Py_XDECREF(torch);
        Py_XDECREF(type);
    }
    return exchange;
}

/* Straight through PyTorch's table; the tensor is ordered by PyTorch's current stream. */
static PyObject *deliver_torch(struct le_py_array *array) {
    static PyObject *from_dlpack;
    const struct le_py_exchange *exchange = torch_exchange();
    struct DLManagedTensorVersioned *tensor;
    struct le_py_wrapped *stream = NULL;
    void *native = NULL;
    if (!exchange)
        return PyErr_Occurred() ? NULL : convert(&from_dlpack, "torch", "from_dlpack", (PyObject *)array);
    if (array->device->is_cuda && !(stream = le_py_exchange_stream(exchange, array->device, LE_PY_TORCH)))
        return NULL;
    leat_status status = stream ? leat_stream_native(stream->stream, &native) : LEAT_OK;
    if (!status)
        status = leat_array_to_dlpack_versioned(array->array, native, &tensor);
    le_py_stream_release(stream);
    return status ? le_py_raise(status, NULL, NULL) : le_py_exchange_import(exchange, tensor);
}

/* torch.autograd.graph.increment_version is a Python function around this, and takes three times as long. */
static PyObject *find_increment(void) {
    PyObject *module = PyImport_ImportModule("torch._C"),
             *increment = module ? PyObject_GetAttrString(module, "_increment_version") : NULL;
    Py_XDECREF(module);
    if (!increment && (PyErr_ExceptionMatches(PyExc_ImportError) || PyErr_ExceptionMatches(PyExc_AttributeError)))
        PyErr_Clear();
    return increment || PyErr_Occurred() ? increment : Py_NewRef(Py_None);
}

int le_py_torch_written(PyObject *tensor) {
    static PyObject *increment; /* None: this PyTorch has none */
    if (!increment)
        increment = find_increment();
    if (!increment || increment == Py_None)
        return increment ? 0 : -1;
    PyObject *tensors = PyTuple_Pack(1, tensor),
             *done = tensors ? PyObject_CallFunctionObjArgs(increment, tensors, NULL) : NULL;
    Py_XDECREF(tensors);
    if (!done && PyErr_ExceptionMatches(PyExc_TypeError)) { /* an older PyTorch takes one tensor */
        PyErr_Clear();
        done = PyObject_CallFunctionObjArgs(increment, tensor, NULL);
    }
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* As cupy.from_dlpack, in a third of its time: the array is ordered by CuPy's current stream, and its owner is a
 * tensor, whose deletion waits for CuPy's kernels. */
static PyObject *share_with_cupy(struct le_py_array *array) {
    struct DLManagedTensorVersioned *tensor;
    struct le_py_wrapped *stream = le_py_cupy_stream(array->device);
    leat_description memory = array->description;
    void *native = NULL;
    if (!stream)
        return NULL;
    leat_status status = leat_stream_native(stream->stream, &native);
    if (!status)
        status = leat_array_to_dlpack_versioned(array->array, native, &tensor);
    le_py_stream_release(stream);
    if (status)
        return le_py_raise(status, NULL, NULL);
    memory.data = (char *)tensor->dl_tensor.data + tensor->dl_tensor.byte_offset;
    PyObject *owner = le_py_tensor_owner(tensor), *dtype = owner ? le_py_numpy_dtype(array->description.dtype) : NULL,
             *made = dtype ? le_py_cupy_over(&memory, array->device, dtype, owner) : NULL;
    Py_XDECREF(owner);
    Py_XDECREF(dtype);
    return made;
}

/* Arrays on the host become CuPy's by a copy to the GPU. */
static PyObject *deliver_cupy(struct le_py_array *array) {
    static PyObject *from_dlpack, *asarray;
    if (array->device->is_cuda && array->description.dtype != LEAT_BF16 && !array->description.read_only)
        return share_with_cupy(array);
    if (array->device->is_cuda)
        return convert(&from_dlpack, "cupy", "from_dlpack", (PyObject *)array);
    PyObject *host = le_py_to_numpy(array), *made = convert(&asarray, "cupy", "asarray", host);
    Py_XDECREF(host);
    return made;
}

/* Other libraries cannot use the memory of sim. */
static PyObject *deliver_foreign(struct le_py_array *array, enum le_py_library library, bool on_host) {
    static PyObject *jax_from_dlpack;
    if ((on_host || !array->device->is_cuda) && !le_py_array_is_readable(array)) {
        PyObject *host = copy_to_host(array),
                 *made = host ? deliver_foreign((struct le_py_array *)host, library, on_host) : NULL;
        Py_XDECREF(host);
        return made;
    }
    if (library == LE_PY_TORCH)
        return deliver_torch(array);
    return library == LE_PY_CUPY ? deliver_cupy(array)
                                 : convert(&jax_from_dlpack, "jax.dlpack", "from_dlpack", (PyObject *)array);
}

PyObject *le_py_result_deliver(leat_array *array, struct le_py_device *device, enum le_py_library library,
                               bool on_host) {
    PyObject *made = le_py_array_new(array, device);
    if (library == LE_PY_OTHER)
        library = device->is_cuda && !on_host ? LE_PY_LEAT : LE_PY_NUMPY;
    if (!made || library == LE_PY_LEAT)
        return made;
    PyObject *delivered = library == LE_PY_NUMPY ? deliver_numpy((struct le_py_array *)made)
                                                 : deliver_foreign((struct le_py_array *)made, library, on_host);
    Py_DECREF(made);
    return delivered;
}

/* ---- like= */

static int library_of_name(const char *name, enum le_py_library *library) {
    static const char *const names[] = {[LE_PY_NUMPY] = "numpy",
                                        [LE_PY_LEAT] = "leat",
                                        [LE_PY_TORCH] = "torch",
                                        [LE_PY_CUPY] = "cupy",
                                        [LE_PY_JAX] = "jax"};
    for (int k = 0; k < LE_PY_OTHER; k++)
        if (strcmp(names[k], name) == 0 || (k == LE_PY_JAX && strcmp(name, "jax.numpy") == 0)) {
            *library = (enum le_py_library)k;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "like is '%s', and must be numpy, cupy, torch, jax or leat", name);
    return -1;
}

static int library_of_array(PyObject *like, enum le_py_library *library) {
    *library = le_py_library_of_type(Py_TYPE(like));
    bool is_array = *library != LE_PY_NUMPY || le_py_has(like, "__array__") || le_py_has(like, "__dlpack__") ||
                    le_py_has(like, "__cuda_array_interface__") || PyObject_CheckBuffer(like);
    if (!is_array && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "like must be an array, a library's module or its name, not %R", like);
    return PyErr_Occurred() ? -1 : 0;
}

int le_py_library_of(PyObject *like, enum le_py_library *library) {
    PyObject *name = PyModule_Check(like)    ? PyModule_GetNameObject(like)
                     : PyUnicode_Check(like) ? Py_NewRef(like)
                                             : NULL;
    const char *text = name ? le_py_text(name) : NULL;
    int failed = -1;
    if (text)
        failed = library_of_name(text, library);
    else if (!PyErr_Occurred()) {
        failed = library_of_array(like, library);
    }
    Py_XDECREF(name);
    return failed;
}
