/* Launches of the user's kernels: converts Python values to the types of the parameters and enqueues, without the
 * GIL. */
#include "py_kernel.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct launcher {
    PyObject_HEAD le_py_vectorcall *vectorcall;
    struct le_py_kernel *kernel; /* retained */
    PyObject *stream;            /* retained, or NULL */
    leat_dim3 grid, block;
    size_t shared_bytes;
};
static PyTypeObject *launcher_type;

/* One launch. Storage for few arguments is inside. */
struct launch {
    const struct launcher *launcher;
    const struct le_py_kernel *kernel;
    struct le_py_argument *values; /* what arrays and bytes come from; released at the end */
    leat_argument *arguments;
    leat_array **wrapped; /* owned; NULL where the array is the caller's */
    Py_ssize_t count;     /* of the values that are resolved */
    bool cooperative, strided;
    struct le_py_order order;
    struct le_py_asked asked;
    struct le_py_argument few_values[LE_PY_MANY];
    leat_argument few_arguments[LE_PY_MANY];
    leat_array *few_wrapped[LE_PY_MANY];
    void *heap;
};

/* ---- words for errors */

static const char *name_of(const struct launch *launch, Py_ssize_t k, char text[32]) {
    const char *name = launch->kernel->parameters[k].name;
    if (*name)
        return name;
    PyOS_snprintf(text, 32, "argument %zd", k + 1);
    return text;
}

static int fail_value(const struct launch *launch, Py_ssize_t k, PyObject *value, const char *wanted) {
    char text[32];
    PyObject *type = PyType_GetName(Py_TYPE(value));
    PyErr_Format(PyExc_TypeError, "kernel %s: parameter '%s' takes %s, not a value of type %V%s",
                 launch->kernel->info.name, name_of(launch, k, text), wanted, type, "?",
                 launch->kernel->parameters[k].is_pointer ? "; ctypes.c_void_p(x) passes an address, or NULL" : "");
    Py_XDECREF(type);
    return -1;
}

/* ---- numbers */

/* An integer that fits the parameter, signed or not: compiled code does not say which. */
static int set_int(struct launch *launch, Py_ssize_t k, PyObject *number) {
    const leat_parameter_info *parameter = &launch->kernel->parameters[k];
    int overflow, bits = 8 * (int)parameter->size_bytes;
    char text[32];
    leat_argument *to = &launch->arguments[k];
    *to = leat_i64(PyLong_AsLongLongAndOverflow(number, &overflow));
    if (overflow > 0 && bits == 64)
        to->number.u64 = PyLong_AsUnsignedLongLong(number);
    bool fits = !PyErr_Occurred() && (bits == 64 ? overflow >= 0
                                                 : !overflow && to->number.i64 >= -((int64_t)1 << (bits - 1)) &&
                                                       to->number.i64 < (int64_t)1 << bits);
    if (!fits) {
        PyErr_Format(PyExc_OverflowError, "kernel %s: %S does not fit parameter '%s', which has %d bits",
                     launch->kernel->info.name, number, name_of(launch, k, text), bits);
        return -1;
    }
    static const leat_dtype types[] = {[1] = LEAT_I8, [2] = LEAT_I16, [4] = LEAT_I32, [8] = LEAT_I64};
    to->dtype =
        overflow > 0 || (parameter->is_address && to->number.i64 >= 0) ? LEAT_U64 : types[parameter->size_bytes];
    return 0;
}

static int set_index(struct launch *launch, Py_ssize_t k, PyObject *value) {
    if (PyLong_Check(value))
        return set_int(launch, k, value);
    PyObject *number = PyNumber_Index(value);
    int failed = number ? set_int(launch, k, number) : -1;
    Py_XDECREF(number);
    return failed;
}

/* Python's struct module knows f16. */
static int set_f16(struct launch *launch, Py_ssize_t k, double number) {
    PyObject *module = PyImport_ImportModule("struct");
    PyObject *bytes = module ? PyObject_CallMethod(module, "pack", "sd", "e", number) : NULL;
    leat_argument *to = &launch->arguments[k];
    *to = leat_f64(0);
    to->dtype = LEAT_F16;
    if (bytes)
        memcpy(to->number.all, PyBytes_AsString(bytes), 2);
    Py_XDECREF(module);
    Py_XDECREF(bytes);
    return bytes ? 0 : -1;
}

static int set_float(struct launch *launch, Py_ssize_t k, double number) {
    leat_dtype dtype = launch->kernel->parameters[k].dtype;
    if (number == -1.0 && PyErr_Occurred())
        return -1;
    if (dtype == LEAT_F16)
        return set_f16(launch, k, number);
    launch->arguments[k] = dtype == LEAT_F32 ? leat_f32((float)number) : leat_f64(number);
    return 0;
}

enum scalar { NO_SCALAR, SCALAR_BOOL, SCALAR_INT, SCALAR_FLOAT, SCALAR_COMPLEX, SCALAR_ADDRESS };

/* A NumPy scalar, array of rank 0 or ctypes.c_void_p, by its buffer. */
static enum scalar scalar_of(PyObject *value) {
    Py_buffer view;
    if (!PyObject_CheckBuffer(value) || PyObject_GetBuffer(value, &view, PyBUF_FORMAT | PyBUF_STRIDES) < 0)
        return PyErr_Clear(), NO_SCALAR;
    const char *format = view.ndim == 0 && view.format ? view.format : "";
    if (strcmp(format, "<P") == 0)
        format++;
    enum scalar found = *format == 'Z'                  ? SCALAR_COMPLEX
                        : !*format || format[1]         ? NO_SCALAR
                        : *format == '?'                ? SCALAR_BOOL
                        : strchr("bBhHiIlLqQ", *format) ? SCALAR_INT
                        : strchr("efd", *format)        ? SCALAR_FLOAT
                        : *format == 'P'                ? SCALAR_ADDRESS
                                                        : NO_SCALAR;
    PyBuffer_Release(&view);
    return found;
}

static int set_number(struct launch *launch, Py_ssize_t k, PyObject *value) {
    leat_dtype dtype = launch->kernel->parameters[k].dtype;
    bool wants_float = dtype == LEAT_F16 || dtype == LEAT_F32 || dtype == LEAT_F64;
    if (PyLong_Check(value))
        return wants_float ? set_float(launch, k, PyFloat_AsDouble(value)) : set_int(launch, k, value);
    if (PyFloat_Check(value) && wants_float)
        return set_float(launch, k, PyFloat_AsDouble(value));
    enum scalar scalar = scalar_of(value);
    if (wants_float && (scalar == SCALAR_BOOL || scalar == SCALAR_INT || scalar == SCALAR_FLOAT))
        return set_float(launch, k, PyFloat_AsDouble(value));
    if (!wants_float && scalar == SCALAR_BOOL)
        return set_int(launch, k, PyObject_IsTrue(value) > 0 ? Py_True : Py_False);
    if (!wants_float && PyIndex_Check(value) && (scalar == SCALAR_INT || !PyObject_CheckBuffer(value)))
        return set_index(launch, k, value);
    return fail_value(launch, k, value, wants_float ? "a number" : "an integer");
}

/* The bytes of a structure of NumPy or ctypes, of a NumPy scalar, or of an object of bytes. */
static int set_struct(struct launch *launch, Py_ssize_t k, PyObject *value) {
    struct le_py_argument *held = &launch->values[k];
    char wanted[64];
    if (PyObject_CheckBuffer(value) && PyObject_GetBuffer(value, &held->view, PyBUF_SIMPLE) == 0) {
        held->has_view = true; /* until the launch is enqueued */
        if ((size_t)held->view.len == launch->kernel->parameters[k].size_bytes) {
            launch->arguments[k] = leat_bytes(held->view.buf, (size_t)held->view.len);
            return 0;
        }
    }
    PyErr_Clear();
    PyOS_snprintf(wanted, sizeof wanted, "a structure of %zu bytes", launch->kernel->parameters[k].size_bytes);
    return fail_value(launch, k, value, wanted);
}

/* ---- arrays */

static int fail_place(const struct launch *launch, const char *name, const struct le_py_argument *value) {
    const char *device = launch->kernel->device->name;
    if (value->device)
        PyErr_Format(le_py_errors.device, "kernel %s: argument '%s' is on %s, but the kernel is on %s",
                     launch->kernel->info.name, name, value->device->name, device);
    else
        PyErr_Format(
            PyExc_TypeError,
            "kernel %s: argument '%s' is in host memory; leat.asarray(%s, device=\"%s\") copies it to the device",
            launch->kernel->info.name, name, name, device);
    return -1;
}

/* A kernel gets the address of the first element only, so it would take other elements for those of a view. */
static int check_dense(const struct launch *launch, const char *name, const leat_description *d) {
    int64_t dense = 1;
    bool is_dense = true;
    for (int k = d->rank - 1; k >= 0; k--) {
        if (d->shape[k] == 0)
            return 0;
        is_dense &= d->shape[k] == 1 || d->strides[k] == dense;
        dense *= d->shape[k];
    }
    if (is_dense || launch->strided)
        return 0;
    PyErr_Format(PyExc_ValueError,
                 "kernel %s: the elements of argument '%s' are not one after another; pass a dense array, such as "
                 "leat.asarray(%s, copy=True), or strided=True if the kernel knows the strides",
                 launch->kernel->info.name, name, name);
    return -1;
}

static int set_array(struct launch *launch, Py_ssize_t k, PyObject *value) {
    struct le_py_argument *a = &launch->values[k];
    bool is_const = launch->kernel->parameters[k].is_const;
    char text[32];
    const char *name = name_of(launch, k, text);
    if (le_py_argument_resolve(value, name, !is_const, &launch->asked, a) < 0)
        return -1;
    if (a->device != launch->kernel->device)
        return fail_place(launch, name, a);
    const leat_description *d = a->kind == LE_PY_MEMORY ? &a->memory : &((struct le_py_array *)value)->description;
    if (check_dense(launch, name, d) < 0)
        return -1;
    leat_array *array = a->array;
    if (a->kind == LE_PY_MEMORY) {
        leat_status status = leat_array_wrap(a->device->ctx, &a->memory, NULL, NULL, &launch->wrapped[k]);
        if (status)
            return le_py_raise(status, NULL, NULL), -1;
        array = launch->wrapped[k];
    } else if (!is_const && d->read_only) {
        PyErr_Format(PyExc_ValueError, "kernel %s: cannot write '%s' into a read-only array", launch->kernel->info.name,
                     name);
        return -1;
    }
    launch->arguments[k] = is_const ? leat_in(array) : leat_inout(array);
    return 0;
}

/* ---- all arguments */

static void init_value(struct launch *launch, Py_ssize_t k) {
    le_py_argument_clear(&launch->values[k]);
    launch->wrapped[k] = NULL;
}

/* The bits of a ctypes.c_void_p. */
static int set_address(struct launch *launch, Py_ssize_t k, PyObject *value) {
    PyObject *number = PyObject_GetAttrString(value, "value"); /* None: NULL */
    launch->arguments[k] = leat_u64(number && number != Py_None ? PyLong_AsUnsignedLongLong(number) : 0);
    Py_XDECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

/* A parameter of 8 bytes of which it is not known whether it is a pointer may also be an integer: the value says so. */
static int set_argument(struct launch *launch, Py_ssize_t k, PyObject *value) {
    const leat_parameter_info *parameter = &launch->kernel->parameters[k];
    init_value(launch, k);
    launch->count = k + 1;
    if (!parameter->is_address)
        return parameter->dtype ? set_number(launch, k, value) : set_struct(launch, k, value);
    enum scalar scalar = le_py_is_array(value) ? NO_SCALAR : scalar_of(value);
    if (scalar == SCALAR_ADDRESS)
        return set_address(launch, k, value);
    bool is_int = PyLong_Check(value) || (PyIndex_Check(value) && scalar == SCALAR_INT);
    if (is_int && !parameter->is_pointer)
        return set_index(launch, k, value);
    bool is_number = scalar != NO_SCALAR && !le_py_is_ndarray(Py_TYPE(value)); /* a scalar of NumPy */
    if (is_int || is_number || value == Py_None || PyFloat_Check(value) || PyComplex_Check(value))
        return fail_value(launch, k, value, parameter->is_pointer ? "an array" : "an array or an integer");
    return set_array(launch, k, value);
}

static int fail_count(const struct launch *launch, Py_ssize_t given) {
    PyErr_Format(PyExc_TypeError, "kernel %s takes %d arguments, but got %zd", launch->kernel->info.name,
                 launch->kernel->info.parameter_count, given);
    return -1;
}

static int make_room(struct launch *launch, size_t count) {
    launch->values = launch->few_values;
    launch->arguments = launch->few_arguments;
    launch->wrapped = launch->few_wrapped;
    if (count <= LE_PY_MANY)
        return 0;
    launch->heap = malloc(count * (sizeof *launch->values + sizeof *launch->arguments + sizeof *launch->wrapped));
    if (!launch->heap)
        return PyErr_NoMemory(), -1;
    launch->values = launch->heap;
    launch->arguments = (leat_argument *)(launch->values + count);
    launch->wrapped = (leat_array **)(launch->arguments + count);
    return 0;
}

/* The words of a launch: cooperative=True, strided=True. */
static int read_words(struct launch *launch, PyObject *const *values, PyObject *names) {
    launch->cooperative = launch->strided = false;
    for (Py_ssize_t k = 0; names && k < PyTuple_Size(names); k++) {
        PyObject *name = PyTuple_GetItem(names, k);
        bool *word = PyUnicode_CompareWithASCIIString(name, "cooperative") == 0 ? &launch->cooperative
                     : PyUnicode_CompareWithASCIIString(name, "strided") == 0   ? &launch->strided
                                                                                : NULL;
        if (!word) {
            PyErr_Format(PyExc_TypeError,
                         "a launch takes its arguments by position, and cooperative= and strided=; not '%U'", name);
            return -1;
        }
        int yes = PyObject_IsTrue(values[k]);
        if (yes < 0)
            return -1;
        *word = yes;
    }
    return 0;
}

/* ---- launching */

static leat_status enqueue(struct launch *launch) {
    const struct launcher *l = launch->launcher;
    leat_stream *stream = launch->order.stream;
    size_t count = (size_t)launch->count;
    leat_status status;
    Py_BEGIN_ALLOW_THREADS
    status = launch->cooperative ? leat_kernel_launch_cooperative(l->kernel->kernel, l->grid, l->block, l->shared_bytes,
                                                                  stream, launch->arguments, count)
                                 : leat_kernel_launch(l->kernel->kernel, l->grid, l->block, l->shared_bytes, stream,
                                                      launch->arguments, count);
    Py_END_ALLOW_THREADS
    return status;
}

static int fail(const struct launch *launch, leat_status status) {
    le_py_raise(status, NULL, launch->kernel->info.name);
    return -1;
}

static int perform(struct launch *launch) {
    launch->order.device = launch->kernel->device;
    launch->order.arguments = launch->values;
    launch->order.count = launch->count;
    if (le_py_order_choose(&launch->order, launch->launcher->stream) < 0)
        return -1;
    leat_status status = le_py_order_begin(&launch->order);
    if (!status)
        status = enqueue(launch);
    int failed = status ? fail(launch, status) : 0;
    status = le_py_order_end(&launch->order);
    return status && !failed ? fail(launch, status) : failed;
}

/* Destructors of other libraries need a clear error state. */
static void finish(struct launch *launch) {
    struct le_py_pending pending;
    le_py_error_hold(&pending);
    le_py_order_release(&launch->order);
    for (Py_ssize_t k = 0; k < launch->count; k++) {
        leat_array_free(launch->wrapped[k]); /* has no release callback, so it does not wait */
        le_py_argument_release(&launch->values[k]);
    }
    free(launch->heap);
    le_py_error_restore(&pending);
}

static PyObject *launch_kernel(PyObject *self, PyObject *const *args, size_t given, PyObject *names) {
    struct launch launch;
    Py_ssize_t count = (Py_ssize_t)(given & ~LE_PY_ARGUMENTS_OFFSET);
    launch.launcher = (struct launcher *)self;
    launch.kernel = launch.launcher->kernel;
    launch.count = 0;
    launch.order = (struct le_py_order){0};
    launch.asked.wrapped = NULL;
    launch.heap = NULL;
    int failed = read_words(&launch, args + count, names);
    if (!failed && count != launch.kernel->info.parameter_count)
        failed = fail_count(&launch, count);
    if (!failed)
        failed = make_room(&launch, (size_t)count);
    for (Py_ssize_t k = 0; k < count && !failed; k++)
        failed = set_argument(&launch, k, args[k]);
    if (!failed)
        failed = perform(&launch);
    finish(&launch);
    return failed ? NULL : Py_NewRef(Py_None);
}

static PyObject *launch_slow(PyObject *self, PyObject *args, PyObject *names) {
    return le_py_call_slow(launch_kernel, self, args, names);
}

/* ---- kernel[grid, block, stream, shared_bytes] */

static int read_extent(PyObject *value, const char *what, unsigned *extent) {
    Py_ssize_t number = PyNumber_AsSsize_t(value, PyExc_OverflowError);
    if (number == -1 && PyErr_Occurred())
        return -1;
    *extent = (unsigned)number;
    if (number >= 1 && number <= UINT_MAX)
        return 0;
    PyErr_Format(PyExc_ValueError, "the %s has an extent of %zd, which must be from 1 to %u", what, number, UINT_MAX);
    return -1;
}

/* A number, or a tuple of up to three: x, y, z. */
static int read_extents(PyObject *value, const char *what, leat_dim3 *extents) {
    unsigned all[3] = {1, 1, 1};
    Py_ssize_t count = PyTuple_Check(value) ? PyTuple_Size(value) : 1;
    if (count < 1 || count > 3 || !(PyTuple_Check(value) || PyIndex_Check(value))) {
        PyErr_Format(PyExc_TypeError, "the %s must be a number or a tuple of up to three, not %R", what, value);
        return -1;
    }
    for (Py_ssize_t k = 0; k < count; k++)
        if (read_extent(PyTuple_Check(value) ? PyTuple_GetItem(value, k) : value, what, &all[k]) < 0)
            return -1;
    *extents = (leat_dim3){all[0], all[1], all[2]};
    return 0;
}

static int read_key(PyObject *key, struct launcher *launcher) {
    Py_ssize_t count = PyTuple_Check(key) ? PyTuple_Size(key) : 0;
    if (count < 2 || count > 4) {
        PyErr_SetString(PyExc_TypeError,
                        "write kernel[grid, block](...), kernel[grid, block, stream] or kernel[grid, block, stream, "
                        "shared_bytes]");
        return -1;
    }
    if (read_extents(PyTuple_GetItem(key, 0), "grid", &launcher->grid) < 0 ||
        read_extents(PyTuple_GetItem(key, 1), "block", &launcher->block) < 0)
        return -1;
    PyObject *stream = count > 2 ? PyTuple_GetItem(key, 2) : Py_None;
    launcher->stream = stream == Py_None ? NULL : Py_NewRef(stream);
    launcher->shared_bytes = count > 3 ? PyLong_AsSize_t(PyTuple_GetItem(key, 3)) : 0;
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *le_py_kernel_subscript(PyObject *kernel, PyObject *key) {
    struct launcher *made = le_py_object_new(launcher_type);
    if (!made)
        return NULL;
    made->vectorcall = launch_kernel;
    made->kernel = (struct le_py_kernel *)Py_NewRef(kernel);
    if (read_key(key, made) < 0)
        Py_CLEAR(made);
    return (PyObject *)made;
}

static void launcher_dealloc(PyObject *self) {
    struct launcher *launcher = (struct launcher *)self;
    Py_XDECREF((PyObject *)launcher->kernel);
    Py_XDECREF(launcher->stream);
    le_py_object_free(self);
}

static PyObject *launcher_repr(PyObject *self) {
    const struct launcher *l = (struct launcher *)self;
    return PyUnicode_FromFormat("<leat.Launcher %s[(%u, %u, %u), (%u, %u, %u)]>", l->kernel->info.name, l->grid.x,
                                l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z);
}

static PyMemberDef launcher_fields[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(struct launcher, vectorcall), READONLY, NULL}, {0}};
static PyType_Slot launcher_slots[] = {
    {Py_tp_doc,
     "A kernel with its grid and block. Call it with the kernel's arguments; it enqueues one launch and "
     "returns None. cooperative=True has all thread blocks resident at once. strided=True passes views whose "
     "elements are not one after another, by the address of the first."},
    {Py_tp_dealloc, launcher_dealloc},
    {Py_tp_repr, launcher_repr},
    {Py_tp_call, launch_slow},
    {Py_tp_members, launcher_fields},
    {0}};
static PyType_Spec launcher_spec = {.name = "leat.Launcher",
                                    .basicsize = sizeof(struct launcher),
                                    .flags =
                                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | LE_PY_HAVE_VECTORCALL,
                                    .slots = launcher_slots};

int le_py_launch_init(PyObject *module) {
    launcher_type = (PyTypeObject *)PyType_FromSpec(&launcher_spec);
    return launcher_type ? PyModule_AddObjectRef(module, "Launcher", (PyObject *)launcher_type) : -1;
}
