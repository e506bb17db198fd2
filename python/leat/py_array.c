/* leat.Array: the type, its attributes and elements, and the buffer protocol. Subscripts are in py_array_view.c,
 * exchange with other libraries is in py_array_exchange.c, and leat.asarray is in py_memory.c. */
#include "py_array.h"
#include "py_memory.h"

PyTypeObject *le_py_array_type;

struct le_py_array *le_py_array_blank(void) {
    return le_py_object_new(le_py_array_type);
}

void le_py_array_fill(struct le_py_array *made, leat_array *array, struct le_py_device *device) {
    made->array = array;
    made->device = device;
    leat_array_get(array, &made->description);
    Py_ssize_t size = (Py_ssize_t)leat_dtype_size_bytes(made->description.dtype);
    for (int k = 0; k < made->description.rank; k++) {
        made->shape[k] = (Py_ssize_t)made->description.shape[k];
        made->byte_strides[k] = (Py_ssize_t)made->description.strides[k] * size;
    }
}

PyObject *le_py_array_new(leat_array *array, struct le_py_device *device) {
    struct le_py_array *made = le_py_array_blank();
    if (made)
        le_py_array_fill(made, array, device);
    else
        leat_array_free(array);
    return (PyObject *)made;
}

PyObject *le_py_array_view(const struct le_py_array *array, leat_array *view) {
    PyObject *made = le_py_array_new(view, array->device);
    if (made)
        ((struct le_py_array *)made)->is_foreign = array->is_foreign;
    return made;
}

static void array_dealloc(PyObject *self) {
    struct le_py_array *array = (struct le_py_array *)self;
    leat_array *held = array->array;
    bool is_foreign = array->is_foreign;
    if (array->weak)
        PyObject_ClearWeakRefs(self);
    le_py_object_free(self);
    if (!is_foreign) {
        leat_array_free(held);
        return;
    }
    Py_BEGIN_ALLOW_THREADS /* it may wait for work that uses the memory, and call the other library */
    leat_array_free(held);
    Py_END_ALLOW_THREADS
}

static Py_ssize_t element_count(const struct le_py_array *array) {
    Py_ssize_t count = 1;
    for (int k = 0; k < array->description.rank; k++)
        count *= array->shape[k];
    return count;
}

bool le_py_array_is_readable(const struct le_py_array *array) {
    return array->device->is_cpu || array->description.memory != LEAT_MEMORY_DEVICE;
}

leat_status le_py_array_settle(const struct le_py_array *array) {
    leat_status status = LEAT_OK;
    if (!array->device->is_cpu) {
        Py_BEGIN_ALLOW_THREADS
        status = le_py_wait_context(array->device->ctx);
        Py_END_ALLOW_THREADS
    }
    return status;
}

/* ---- the buffer protocol */

static int fail_buffer(const char *reason) {
    PyErr_SetString(PyExc_BufferError, reason);
    return -1;
}

static bool is_dense(const struct le_py_array *array, bool reversed) {
    Py_ssize_t dense = (Py_ssize_t)leat_dtype_size_bytes(array->description.dtype);
    int rank = array->description.rank;
    if (element_count(array) == 0)
        return true;
    for (int k = 0; k < rank; k++) {
        int axis = reversed ? k : rank - 1 - k;
        if (array->shape[axis] > 1 && array->byte_strides[axis] != dense)
            return false;
        dense *= array->shape[axis];
    }
    return true;
}

static int check_layout(const struct le_py_array *array, int flags) {
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !is_dense(array, false))
        return fail_buffer("the array is not dense in C's order");
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !is_dense(array, true))
        return fail_buffer("the array is not dense in Fortran's order");
    if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !is_dense(array, false) && !is_dense(array, true))
        return fail_buffer("the array is not dense");
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !is_dense(array, false))
        return fail_buffer("the array has strides");
    return 0;
}

static int array_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    struct le_py_array *array = (struct le_py_array *)self;
    const leat_description *d = &array->description;
    const char *format = array->as_u16 ? "H" : le_py_format_of_dtype(d->dtype);
    view->obj = NULL;
    if (!le_py_array_is_readable(array))
        return fail_buffer("the array is in a device's memory; x.numpy() copies it to the host");
    if (!format)
        return fail_buffer("the buffer protocol has no type for bf16; use x.numpy()");
    if ((flags & PyBUF_WRITABLE) && d->read_only)
        return fail_buffer("the array is read-only");
    if (check_layout(array, flags) < 0)
        return -1;
    leat_status status = le_py_array_settle(array);
    if (status)
        return le_py_raise(status, NULL, NULL), -1;
    static char nothing[16]; /* NULL would mean failure for some consumers */
    *view = (Py_buffer){.buf = d->data ? d->data : nothing,
                        .obj = Py_NewRef(self),
                        .itemsize = (Py_ssize_t)leat_dtype_size_bytes(d->dtype),
                        .readonly = d->read_only,
                        .ndim = d->rank,
                        .format = (flags & PyBUF_FORMAT) ? (char *)(uintptr_t)format : NULL,
                        .shape = d->rank && (flags & PyBUF_ND) ? array->shape : NULL,
                        .strides = d->rank && (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? array->byte_strides : NULL};
    view->len = element_count(array) * view->itemsize;
    return 0;
}

/* ---- attributes */

static PyObject *tuple_of(const Py_ssize_t *values, int count) {
    PyObject *tuple = PyTuple_New(count);
    for (int k = 0; tuple && k < count; k++) {
        PyObject *value = PyLong_FromSsize_t(values[k]);
        if (!value || PyTuple_SetItem(tuple, k, value) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_shape(PyObject *self, void *none) {
    struct le_py_array *array = (struct le_py_array *)self;
    (void)none;
    return tuple_of(array->shape, array->description.rank);
}

static PyObject *get_strides(PyObject *self, void *none) {
    struct le_py_array *array = (struct le_py_array *)self;
    (void)none;
    return tuple_of(array->byte_strides, array->description.rank);
}

static PyObject *get_dtype(PyObject *self, void *none) {
    (void)none;
    return le_py_dtype_object(((struct le_py_array *)self)->description.dtype);
}

static PyObject *get_ndim(PyObject *self, void *none) {
    (void)none;
    return PyLong_FromLong(((struct le_py_array *)self)->description.rank);
}

static PyObject *get_size(PyObject *self, void *none) {
    (void)none;
    return PyLong_FromSsize_t(element_count((struct le_py_array *)self));
}

static PyObject *get_itemsize(PyObject *self, void *none) {
    (void)none;
    return PyLong_FromSize_t(leat_dtype_size_bytes(((struct le_py_array *)self)->description.dtype));
}

static PyObject *get_nbytes(PyObject *self, void *none) {
    struct le_py_array *array = (struct le_py_array *)self;
    (void)none;
    return PyLong_FromSsize_t(element_count(array) * (Py_ssize_t)leat_dtype_size_bytes(array->description.dtype));
}

static PyObject *get_device(PyObject *self, void *none) {
    (void)none;
    return PyUnicode_FromString(((struct le_py_array *)self)->device->name);
}

static PyObject *get_transposed(PyObject *self, void *none) {
    struct le_py_array *array = (struct le_py_array *)self;
    leat_array *view;
    (void)none;
    leat_status status = leat_array_transpose(array->array, NULL, &view);
    return status ? le_py_raise(status, NULL, NULL) : le_py_array_view(array, view);
}

static PyObject *array_repr(PyObject *self) {
    struct le_py_array *array = (struct le_py_array *)self;
    PyObject *shape = PyUnicode_FromString("");
    for (int k = 0; shape && k < array->description.rank; k++) {
        PyObject *longer = PyUnicode_FromFormat(k ? "%U,%zd" : "%U%zd", shape, array->shape[k]);
        Py_DECREF(shape);
        shape = longer;
    }
    PyObject *repr = shape ? PyUnicode_FromFormat("<leat.Array %s[%U] on %s>",
                                                  leat_dtype_name(array->description.dtype), shape, array->device->name)
                           : NULL;
    Py_XDECREF(shape);
    return repr;
}

static Py_ssize_t array_length(PyObject *self) {
    struct le_py_array *array = (struct le_py_array *)self;
    if (array->description.rank > 0)
        return array->shape[0];
    PyErr_SetString(PyExc_TypeError, "an array of rank 0 has no length");
    return -1;
}

/* a[k] of the sequence protocol, for iteration; k is not negative. */
static PyObject *array_part(PyObject *self, Py_ssize_t k) {
    PyObject *key = PyLong_FromSsize_t(k), *part = key ? le_py_array_subscript(self, key) : NULL;
    Py_XDECREF(key);
    return part;
}

static PyObject *array_iterate(PyObject *self) {
    if (((struct le_py_array *)self)->description.rank > 0)
        return PySeqIter_New(self);
    return PyErr_SetString(PyExc_TypeError, "an array of rank 0 cannot be iterated over"), NULL;
}

/* ---- elements */

/* Reads the only element of an array; -1 with an exception. */
static int read_element(struct le_py_array *array, void *element) {
    leat_status status;
    size_t size_bytes = leat_dtype_size_bytes(array->description.dtype);
    if (element_count(array) != 1) {
        PyErr_SetString(PyExc_TypeError, "only an array of one element is a number");
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS
    status = le_py_wait_array(array->device->ctx, array->array);
    if (!status)
        status = leat_array_read(array->array, element, size_bytes, NULL, NULL);
    Py_END_ALLOW_THREADS
    return status ? (le_py_raise(status, NULL, NULL), -1) : 0;
}

/* The elements of a buffer, as memoryview knows them; f16, bf16 and complex numbers are not among those. */
static PyObject *array_item(PyObject *self, PyObject *none) {
    union {
        unsigned char bytes[16];
        uint16_t u16;
        uint32_t u32;
        float f32[2];
        double f64[2];
    } e = {{0}};
    struct le_py_array *array = (struct le_py_array *)self;
    leat_dtype dtype = array->description.dtype;
    (void)none;
    if (read_element(array, &e) < 0)
        return NULL;
    if (dtype == LEAT_C64 || dtype == LEAT_C128)
        return PyComplex_FromDoubles(dtype == LEAT_C64 ? e.f32[0] : e.f64[0], dtype == LEAT_C64 ? e.f32[1] : e.f64[1]);
    if (dtype == LEAT_BF16) {
        e.u32 = (uint32_t)e.u16 << 16;
        return PyFloat_FromDouble(e.f32[0]);
    }
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)e.bytes, (Py_ssize_t)leat_dtype_size_bytes(dtype));
    PyObject *module = PyImport_ImportModule("struct");
    PyObject *tuple =
        module && bytes ? PyObject_CallMethod(module, "unpack", "sO", le_py_format_of_dtype(dtype), bytes) : NULL;
    PyObject *item = tuple ? Py_XNewRef(PyTuple_GetItem(tuple, 0)) : NULL;
    Py_XDECREF(bytes);
    Py_XDECREF(module);
    Py_XDECREF(tuple);
    return item;
}

/* bytes(x) would take an integer of rank 0 for a size. */
static PyObject *array_bytes(PyObject *self, PyObject *none) {
    (void)none;
    return PyBytes_FromObject(self);
}

static PyObject *array_complex(PyObject *self, PyObject *none) {
    PyObject *item = array_item(self, none),
             *number = item ? PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, item, NULL) : NULL;
    Py_XDECREF(item);
    return number;
}

static PyObject *array_float(PyObject *self) {
    PyObject *item = array_item(self, NULL), *number = item ? PyNumber_Float(item) : NULL;
    Py_XDECREF(item);
    return number;
}

static PyObject *array_int(PyObject *self) {
    PyObject *item = array_item(self, NULL), *number = item ? PyNumber_Long(item) : NULL;
    Py_XDECREF(item);
    return number;
}

/* An integer of rank 0 counts as a subscript of a list, or as range's limit, as in NumPy. */
static PyObject *array_index(PyObject *self) {
    const leat_description *d = &((struct le_py_array *)self)->description;
    if (d->rank == 0 && d->dtype >= LEAT_I8 && d->dtype <= LEAT_U64)
        return array_item(self, NULL);
    return PyErr_SetString(PyExc_TypeError, "only an array of integers and of rank 0 can be an index"), NULL;
}

static int array_bool(PyObject *self) {
    PyObject *item = array_item(self, NULL);
    int yes = item ? PyObject_IsTrue(item) : -1;
    Py_XDECREF(item);
    return yes;
}

static PyObject *array_numpy(PyObject *self, PyObject *none) {
    (void)none;
    return le_py_to_numpy((struct le_py_array *)self);
}

/* numpy.asarray(array, dtype) with NumPy 2's meaning of copy in any NumPy: 1: always, 0: never, -1: as needed. */
static PyObject *cast_numpy(PyObject *array, PyObject *dtype, int copy) {
    PyObject *numpy = le_py_numpy(), *cast = NULL;
    if (numpy)
        cast = PyObject_CallMethod(numpy, copy > 0 ? "array" : "asarray", "OO", array, dtype);
    if (!cast || copy != 0 || cast == array)
        return cast;
    PyObject *shares = PyObject_CallMethod(numpy, "may_share_memory", "OO", cast, array);
    bool copied = shares == Py_False;
    Py_XDECREF(shares);
    if (shares && !copied)
        return cast;
    Py_DECREF(cast);
    if (copied)
        PyErr_SetString(PyExc_ValueError, "copy=False, but another type of elements needs a copy");
    return NULL;
}

/* NumPy asks here where the buffer protocol fails. A copy from a GPU is not made unasked. */
static PyObject *array_array(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy_value = Py_None;
    int copy;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|OO", words, &dtype, &copy_value) ||
        le_py_copy_parse(copy_value, &copy) < 0)
        return NULL;
    if (!le_py_array_is_readable((struct le_py_array *)self))
        return PyErr_SetString(PyExc_TypeError, "the array is in a device's memory; x.numpy() copies it to the host"),
               NULL;
    PyObject *array = le_py_to_numpy((struct le_py_array *)self);
    if (!array || (dtype == Py_None && copy <= 0))
        return array;
    PyObject *cast = cast_numpy(array, dtype, copy);
    Py_DECREF(array);
    return cast;
}

static PyObject *array_tolist(PyObject *self, PyObject *none) {
    PyObject *array = array_numpy(self, none), *list = array ? PyObject_CallMethod(array, "tolist", NULL) : NULL;
    Py_XDECREF(array);
    return list;
}

/* (leat._leat._array_again, (numpy array, device)); bf16 as its bits. */
static PyObject *array_reduce(PyObject *self, PyObject *none) {
    struct le_py_array *array = (struct le_py_array *)self;
    PyObject *module = PyImport_ImportModule("leat._leat"),
             *make = module ? PyObject_GetAttrString(module, "_array_again") : NULL,
             *elements = make ? le_py_to_numpy(array) : NULL;
    (void)none;
    if (elements && array->description.dtype == LEAT_BF16) {
        PyObject *bits = PyObject_CallMethod(elements, "view", "s", "uint16");
        Py_DECREF(elements);
        elements = bits;
    }
    PyObject *reduced = elements ? Py_BuildValue("(O(OsN))", make, elements, array->device->name,
                                                 le_py_dtype_object(array->description.dtype))
                                 : NULL;
    Py_XDECREF(module);
    Py_XDECREF(make);
    Py_XDECREF(elements);
    return reduced;
}

/* Dense, in new memory of its device. */
static PyObject *array_copy(PyObject *self, PyObject *none) {
    struct le_py_source source;
    (void)none;
    if (le_py_source_of(self, "x", &source) < 0 || le_py_source_move(&source, source.device) < 0)
        return NULL;
    return le_py_array_new(source.array, source.device);
}

/* An array is a container: its elements are read by the names below, and programs write them. */
static int array_contains(PyObject *self, PyObject *value) {
    (void)self;
    (void)value;
    PyErr_SetString(PyExc_TypeError, "a leat.Array does not search its elements; use `value in a.numpy()`");
    return -1;
}

static int array_assign(PyObject *self, PyObject *key, PyObject *value) {
    (void)key;
    if (!value)
        PyErr_SetString(PyExc_TypeError, "elements of a leat.Array cannot be deleted");
    else
        PyErr_Format(
            PyExc_TypeError, "a leat.Array cannot be assigned to by subscripts; write it with a program (out=a)%s",
            ((struct le_py_array *)self)->device->is_cpu ? ", or through a.numpy(), which shares its memory" : "");
    return -1;
}

static PyObject *array_reshape(PyObject *self, PyObject *args) {
    struct le_py_array *array = (struct le_py_array *)self;
    int64_t shape[LEAT_RANK_MAX];
    leat_array *view;
    PyObject *given =
        PyTuple_Size(args) == 1 && PyTuple_Check(PyTuple_GetItem(args, 0)) ? PyTuple_GetItem(args, 0) : args;
    Py_ssize_t rank = PyTuple_Size(given);
    if (rank > LEAT_RANK_MAX)
        return le_py_fail_rank("shape", rank), NULL;
    for (Py_ssize_t k = 0; k < rank; k++)
        shape[k] = PyLong_AsLongLong(PyTuple_GetItem(given, k));
    if (PyErr_Occurred())
        return NULL;
    leat_status status = leat_array_reshape(array->array, (int)rank, shape, &view);
    return status ? le_py_raise(status, NULL, NULL) : le_py_array_view(array, view);
}

/* ---- the type */

static PyMethodDef array_methods[] = {
    {"numpy", array_numpy, METH_NOARGS,
     "numpy($self, /)\n--\n\n"
     "Returns the elements as a NumPy array: over the same memory if the host can read it, else a copy. Waits for the "
     "work on the array."},
    {"item", array_item, METH_NOARGS, "item($self, /)\n--\n\nReturns the only element as a Python number."},
    {"tolist", array_tolist, METH_NOARGS,
     "tolist($self, /)\n--\n\nReturns the elements as nested lists of Python numbers."},
    {"reshape", array_reshape, METH_VARARGS,
     "reshape($self, *shape)\n--\n\nReturns a view with another shape; one extent may be -1. Fails if the strides "
     "allow none."},
    {"__copy__", array_copy, METH_NOARGS, NULL},
    {"__deepcopy__", array_copy, METH_O, NULL},
    {"__reduce__", array_reduce, METH_NOARGS, NULL},
    {"__bytes__", array_bytes, METH_NOARGS, NULL},
    {"__complex__", array_complex, METH_NOARGS, NULL},
    {"__array__", (PyCFunction)(void (*)(void))array_array, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack__", (PyCFunction)(void (*)(void))le_py_array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "Exports the array (array API standard). Read-only arrays need max_version of at least (1, 0)."},
    {"__dlpack_device__", le_py_array_dlpack_device, METH_NOARGS, NULL},
    {0}};
static PyMemberDef array_fields[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct le_py_array, weak), READONLY, NULL}, {0}};
static PyGetSetDef array_members[] = {
    {"shape", get_shape, NULL, "The extents, as a tuple.", NULL},
    {"strides", get_strides, NULL, "The strides in bytes, as a tuple.", NULL},
    {"dtype", get_dtype, NULL, "The element type, a leat.dtype, which is equal to Leat's name, such as \"f32\".", NULL},
    {"ndim", get_ndim, NULL, "The number of axes.", NULL},
    {"size", get_size, NULL, "The number of elements.", NULL},
    {"itemsize", get_itemsize, NULL, "The size of an element in bytes.", NULL},
    {"nbytes", get_nbytes, NULL, "The size of the elements in bytes.", NULL},
    {"device", get_device, NULL, "The name of the device: \"cpu\", \"cuda:0\", \"sim\".", NULL},
    {"T", get_transposed, NULL, "A view with the axes reversed.", NULL},
    {"__cuda_array_interface__", le_py_array_interface, NULL, "For CUDA memory only; version 3.", NULL},
    {0}};
static PyType_Slot array_slots[] = {
    {Py_tp_doc, "An array of Leat. Programs return it with like=\"leat\"; leat.asarray and leat.load make one. It is "
                "exchanged without copies through DLPack, the buffer protocol and __cuda_array_interface__."},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_repr, array_repr},
    {Py_tp_methods, array_methods},
    {Py_tp_getset, array_members},
    {Py_tp_members, array_fields},
    {Py_tp_iter, array_iterate},
    {Py_bf_getbuffer, array_getbuffer},
    {Py_mp_length, array_length},
    {Py_sq_length, array_length},
    {Py_sq_item, array_part},
    {Py_mp_subscript, le_py_array_subscript},
    {Py_mp_ass_subscript, array_assign},
    {Py_sq_contains, array_contains},
    {Py_nb_float, array_float},
    {Py_nb_int, array_int},
    {Py_nb_index, array_index},
    {Py_nb_bool, array_bool},
    {0}};
static PyType_Spec array_spec = {.name = "leat.Array",
                                 .basicsize = sizeof(struct le_py_array),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 .slots = array_slots};

int le_py_array_init(PyObject *module) {
    le_py_array_type = (PyTypeObject *)PyType_FromSpec(&array_spec);
    if (!le_py_array_type || le_py_exchange_init(le_py_array_type) < 0)
        return -1;
    return PyModule_AddObjectRef(module, "Array", (PyObject *)le_py_array_type);
}
