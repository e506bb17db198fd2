/* Resolves Python values into what a call can bind. How a type is resolved is found once and remembered. */
#include "py_leat.h"
#include <string.h>

enum route {
    ROUTE_UNKNOWN,
    ROUTE_LEAT,
    ROUTE_BOOL,
    ROUTE_INT,
    ROUTE_FLOAT,
    ROUTE_COMPLEX,
    ROUTE_EXCHANGE,       /* the C functions of its library */
    ROUTE_NDARRAY,        /* the fields of numpy.ndarray */
    ROUTE_BUFFER,         /* the buffer protocol */
    ROUTE_CUPY,           /* attributes of cupy.ndarray, which has no faster way */
    ROUTE_DLPACK,         /* __dlpack__ */
    ROUTE_CUDA_INTERFACE, /* __cuda_array_interface__ */
    ROUTE_NUMPY,          /* numpy.asarray: __array_interface__ and __array__ */
    ROUTE_MASKED          /* refused: the buffer protocol would ignore the mask */
};

enum { WAYS = 128 }; /* remembered types; a power of 2 */

struct way {
    PyTypeObject *type; /* retained */
    enum route route;
    enum le_py_library library;
    const struct le_py_exchange *exchange;
};

static struct way ways[WAYS];
static int way_count;
static PyObject *name_requires_grad;
_Thread_local leat_context *le_py_copy_ledger;

int le_py_argument_init(void) {
    name_requires_grad = PyUnicode_InternFromString("requires_grad");
    return name_requires_grad ? le_py_gpu_init() : -1;
}

/* ---- the current streams of libraries */

static void use_stream(struct le_py_argument *a, struct le_py_wrapped *wrapped) {
    a->wrapped = wrapped;
    a->ready = wrapped->stream;
}

bool le_py_asked_again(struct le_py_argument *a, enum le_py_library library) {
    const struct le_py_asked *asked = a->asked;
    if (!asked || !asked->wrapped || asked->library != library || asked->wrapped->device != a->device)
        return false;
    asked->wrapped->uses++;
    use_stream(a, asked->wrapped);
    return true;
}

int le_py_asked(struct le_py_argument *a, enum le_py_library library, struct le_py_wrapped *wrapped) {
    if (!wrapped)
        return -1;
    use_stream(a, wrapped);
    if (a->asked)
        *a->asked = (struct le_py_asked){library, wrapped};
    return 0;
}

void le_py_argument_clear(struct le_py_argument *argument) {
    argument->kind = LE_PY_ABSENT;
    argument->has_view = argument->is_copied = argument->is_held = false;
    argument->device = NULL;
    argument->ready = NULL;
    argument->wrapped = NULL;
    argument->keep = NULL;
}

void le_py_argument_release(struct le_py_argument *argument) {
    if (argument->has_view)
        PyBuffer_Release(&argument->view);
    argument->has_view = false;
    le_py_stream_release(argument->wrapped);
    argument->wrapped = NULL;
    argument->ready = NULL;
    Py_CLEAR(argument->keep);
}

/* Other libraries' destructors may not care for an exception that is set. */
static void release_after_failure(struct le_py_argument *argument) {
    struct le_py_pending pending;
    le_py_error_hold(&pending);
    le_py_argument_release(argument);
    le_py_error_restore(&pending);
}

/* ---- finding the way. After an exception the further questions are not asked, and no way is found. */

bool le_py_has(PyObject *object, const char *attribute) {
    PyObject *found = PyErr_Occurred() ? NULL : PyObject_GetAttrString(object, attribute);
    Py_XDECREF(found);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    return found;
}

static bool has(PyTypeObject *type, const char *attribute) {
    return le_py_has((PyObject *)type, attribute);
}

static bool begins(PyObject *module, const char *package) {
    const char *text = module && PyUnicode_Check(module) ? le_py_text(module) : NULL;
    size_t length = strlen(package);
    return text && strncmp(text, package, length) == 0 && (text[length] == 0 || text[length] == '.');
}

/* The module of the type, or of a type that it derives from, begins with these words. */
static bool is_of(PyTypeObject *type, const char *package) {
    bool found = false;
    PyObject *bases = PyErr_Occurred() ? NULL : PyObject_GetAttrString((PyObject *)type, "__mro__");
    for (Py_ssize_t k = 0; bases && !found && !PyErr_Occurred() && k < PyTuple_Size(bases); k++) {
        PyObject *module = PyObject_GetAttrString(PyTuple_GetItem(bases, k), "__module__");
        found = begins(module, package);
        Py_XDECREF(module);
    }
    Py_XDECREF(bases);
    return found;
}

static enum route number_route(PyTypeObject *type, PyObject *value) {
    if (type == &PyBool_Type)
        return ROUTE_BOOL;
    if (PyLong_CheckExact(value))
        return ROUTE_INT;
    if (PyFloat_CheckExact(value))
        return ROUTE_FLOAT;
    return PyComplex_CheckExact(value) ? ROUTE_COMPLEX : ROUTE_UNKNOWN;
}

static enum route subclass_route(PyObject *value) {
    if (PyLong_Check(value))
        return ROUTE_INT;
    if (PyFloat_Check(value))
        return ROUTE_FLOAT;
    return PyComplex_Check(value) ? ROUTE_COMPLEX : ROUTE_UNKNOWN;
}

/* NumPy's scalars of dates and durations, whose buffers are bytes. */
static bool is_time(PyTypeObject *type) {
    PyObject *name = is_of(type, "numpy") ? PyType_GetName(type) : NULL;
    bool found = name && (PyUnicode_CompareWithASCIIString(name, "datetime64") == 0 ||
                          PyUnicode_CompareWithASCIIString(name, "timedelta64") == 0);
    Py_XDECREF(name);
    return found;
}

static enum route array_route(PyTypeObject *type, PyObject *value, enum le_py_library library) {
    if (library == LE_PY_CUPY && has(type, "__cuda_array_interface__"))
        return ROUTE_CUPY;
    if (has(type, "filled") && has(type, "mask"))
        return ROUTE_MASKED;
    if (is_time(type))
        return ROUTE_UNKNOWN;
    if (PyObject_CheckBuffer(value) && library != LE_PY_JAX)
        return is_of(type, "numpy") && le_py_is_ndarray(type) ? ROUTE_NDARRAY : ROUTE_BUFFER;
    if (has(type, "__dlpack__") && has(type, "__dlpack_device__"))
        return ROUTE_DLPACK;
    if (le_py_has(value, "__cuda_array_interface__"))
        return ROUTE_CUDA_INTERFACE;
    if (le_py_has(value, "__array_interface__") || has(type, "__array__"))
        return ROUTE_NUMPY;
    return subclass_route(value);
}

enum le_py_library le_py_library_of_type(PyTypeObject *type) {
    if (type == le_py_array_type)
        return LE_PY_LEAT;
    if (is_of(type, "torch"))
        return LE_PY_TORCH;
    if (is_of(type, "cupy"))
        return LE_PY_CUPY;
    return is_of(type, "jax") || is_of(type, "jaxlib") ? LE_PY_JAX : LE_PY_NUMPY;
}

static struct way find_way(PyTypeObject *type, PyObject *value) {
    struct way way = {.type = type, .route = type == le_py_array_type ? ROUTE_LEAT : number_route(type, value)};
    way.library = le_py_library_of_type(type);
    if (way.route == ROUTE_UNKNOWN && (way.exchange = le_py_exchange_of(type)))
        way.route = ROUTE_EXCHANGE;
    if (way.route == ROUTE_UNKNOWN)
        way.route = array_route(type, value, way.library);
    if (way.library == LE_PY_NUMPY &&
        (way.route == ROUTE_EXCHANGE || way.route == ROUTE_CUDA_INTERFACE || way.route == ROUTE_DLPACK))
        way.library = LE_PY_OTHER;
    return way;
}

/* A full table remembers no more: a program has few types of arguments. NULL with an exception if the type fails. */
static const struct way *way_of(PyObject *value, struct way *made) {
    PyTypeObject *type = Py_TYPE(value);
    size_t at = ((uintptr_t)type >> 4) % WAYS;
    while (ways[at].type && ways[at].type != type)
        at = (at + 1) % WAYS;
    if (ways[at].type)
        return &ways[at];
    *made = find_way(type, value);
    if (PyErr_Occurred())
        return NULL;
    while (ways[at].type && ways[at].type != type) /* finding it ran Python code, which may have added others */
        at = (at + 1) % WAYS;
    if (ways[at].type || made->route == ROUTE_UNKNOWN || way_count >= WAYS / 2)
        return made;
    way_count++;
    Py_INCREF((PyObject *)type);
    ways[at] = *made;
    return &ways[at];
}

/* ---- numbers */

static int resolve_int(PyObject *value, const char *name, struct le_py_argument *a) {
    int overflow;
    a->kind = LE_PY_I64;
    a->number.i64 = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow > 0) {
        a->kind = LE_PY_U64;
        a->number.u64 = PyLong_AsUnsignedLongLong(value);
    }
    if (overflow >= 0 && !PyErr_Occurred())
        return 0;
    PyErr_Format(PyExc_OverflowError, "the number for '%s' does not fit 64 bits", name);
    return -1;
}

static int resolve_number(PyObject *value, enum route route, const char *name, struct le_py_argument *a) {
    a->kind = route == ROUTE_BOOL ? LE_PY_BOOL : route == ROUTE_FLOAT ? LE_PY_F64 : LE_PY_C128;
    if (route == ROUTE_INT)
        return resolve_int(value, name, a);
    if (route == ROUTE_BOOL) {
        a->number.i64 = value == Py_True;
        return 0;
    }
    a->number.f64[0] = route == ROUTE_FLOAT ? PyFloat_AsDouble(value) : PyComplex_RealAsDouble(value);
    a->number.f64[1] = route == ROUTE_FLOAT ? 0 : PyComplex_ImagAsDouble(value);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- host memory */

int le_py_fail_type(PyObject *value, const char *name, const char *reason) {
    PyObject *words = PyType_GetName(Py_TYPE(value));
    PyErr_Format(PyExc_TypeError, "argument '%s' is of type %V, %s", name, words, "?", reason);
    Py_XDECREF(words);
    return -1;
}

int le_py_fail_rank(const char *name, Py_ssize_t rank) {
    PyErr_Format(PyExc_ValueError, "argument '%s' has %zd axes; an array of Leat has at most %d", name, rank,
                 LEAT_RANK_MAX);
    return -1;
}

/* Fills the description from the view; *direct: false if the elements must be copied first. */
static void describe_view(const Py_buffer *view, leat_description *d, bool *direct) {
    size_t part = (size_t)(d->dtype == LEAT_C64 || d->dtype == LEAT_C128 ? view->itemsize / 2 : view->itemsize);
    d->rank = view->ndim;
    d->data = view->buf;
    d->read_only = view->readonly;
    d->memory = LEAT_MEMORY_HOST;
    *direct = (uintptr_t)view->buf % part == 0;
    Py_ssize_t dense = view->itemsize;
    for (int k = view->ndim - 1; k >= 0; k--) { /* without a shape there is one axis; without strides it is dense */
        Py_ssize_t extent = view->shape ? view->shape[k] : view->len / view->itemsize,
                   stride = view->strides ? view->strides[k] : dense;
        d->shape[k] = extent;
        d->strides[k] = stride / view->itemsize;
        if (stride % view->itemsize && extent > 1)
            *direct = false;
        dense *= extent;
    }
}

static int resolve_buffer(PyObject *value, const char *name, bool writable, struct le_py_argument *a);

/* Replaces the elements by a dense copy in this machine's byte order. */
static int resolve_copy(PyObject *value, const char *name, struct le_py_argument *a) {
    PyObject *numpy = le_py_numpy();
    if (le_py_copy_ledger)
        leat_ledger_begin(le_py_copy_ledger, LEAT_COST_COPY, name);
    PyObject *array = numpy ? PyObject_CallMethod(numpy, "asarray", "O", value) : NULL;
    PyObject *given = array ? PyObject_GetAttrString(array, "dtype") : NULL;
    PyObject *dtype = given ? PyObject_CallMethod(given, "newbyteorder", "s", "=") : NULL;
    PyObject *copy = dtype ? PyObject_CallMethod(numpy, "array", "OO", array, dtype) : NULL;
    PyObject *dense = copy ? PyObject_CallMethod(copy, "copy", "s", "C") : NULL;
    int failed = dense ? resolve_buffer(dense, name, false, a) : -1;
    if (le_py_copy_ledger)
        leat_ledger_end(le_py_copy_ledger, failed ? 0 : (uint64_t)a->view.len);
    Py_XDECREF(array);
    Py_XDECREF(given);
    Py_XDECREF(dtype);
    Py_XDECREF(copy);
    Py_XDECREF(dense); /* the view keeps it alive */
    a->is_copied = true;
    return failed;
}

/* Advice for a numpy.dtype of dates, text, objects or fields. NULL: another one, or with an exception. */
static PyObject *advice_of(PyObject *dtype) {
    PyObject *kind = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL,
             *names = kind ? PyObject_GetAttrString(dtype, "names") : NULL, *advice = NULL;
    const char *text = kind && PyUnicode_Check(kind) ? le_py_text(kind) : NULL;
    if (text && *text && strchr("Mm", *text))
        advice = PyUnicode_FromString("pass x.view(\"int64\"), which shares the memory, or x.astype(\"int64\")");
    else if (text && *text && strchr("OSUT", *text))
        advice = PyUnicode_FromString("if they are numbers, convert them first, as by x.astype(\"float64\")");
    else if (names && PyTuple_Check(names) && PyTuple_Size(names) > 0)
        advice = PyUnicode_FromFormat("pass one field, such as x[%R]", PyTuple_GetItem(names, 0));
    Py_XDECREF(kind);
    Py_XDECREF(names);
    le_py_forgive();
    return advice;
}

/* The type in the words of the value's library ("longdouble", "object"), else as the buffer protocol's code. */
static int fail_elements(PyObject *value, const char *name, const char *format) {
    PyObject *dtype = PyObject_GetAttrString(value, "dtype"), *words = dtype ? PyObject_Str(dtype) : NULL;
    le_py_forgive();
    PyObject *advice = PyErr_Occurred() ? NULL : advice_of(dtype);
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "argument '%s' has elements of type '%V', which Leat does not have; %V", name,
                     words, format ? format : "?", advice,
                     "convert them first, as by numpy.asarray(x, dtype=\"float64\")");
    Py_XDECREF(dtype);
    Py_XDECREF(words);
    Py_XDECREF(advice);
    return -1;
}

/* Whether the elements are of a kind that Leat does not have, read-only or not. */
static bool has_other_elements(PyObject *value) {
    PyObject *dtype = PyErr_Occurred() ? NULL : PyObject_GetAttrString(value, "dtype"), *advice = advice_of(dtype);
    Py_XDECREF(dtype);
    Py_XDECREF(advice);
    le_py_forgive();
    return advice;
}

static int use_view(PyObject *value, const char *name, bool writable, struct le_py_argument *a) {
    bool swapped, direct;
    a->memory.dtype = le_py_dtype_of_format(a->view.format, a->view.itemsize, &swapped);
    if (!a->memory.dtype)
        return fail_elements(value, name, a->view.format);
    if (a->view.ndim > LEAT_RANK_MAX)
        return le_py_fail_rank(name, a->view.ndim);
    describe_view(&a->view, &a->memory, &direct);
    a->kind = LE_PY_MEMORY;
    if (direct && !swapped)
        return 0;
    if (writable) {
        PyErr_Format(PyExc_ValueError, "cannot write '%s' into an array whose elements are %s", name,
                     swapped ? "not in this machine's byte order" : "not aligned");
        return -1;
    }
    le_py_argument_release(a);
    return resolve_copy(value, name, a);
}

/* numpy arrays of bfloat16 have no buffer: their bytes are taken as u16. */
static int resolve_bfloat16(PyObject *value, const char *name, bool writable, struct le_py_argument *a, bool *is_bf16) {
    PyObject *dtype = PyObject_GetAttrString(value, "dtype");
    PyObject *words = dtype ? PyObject_GetAttrString(dtype, "name") : NULL;
    *is_bf16 = words && PyUnicode_Check(words) && PyUnicode_CompareWithASCIIString(words, "bfloat16") == 0;
    Py_XDECREF(dtype);
    Py_XDECREF(words);
    PyErr_Clear();
    if (!*is_bf16)
        return -1;
    PyObject *plain = PyObject_CallMethod(value, "view", "s", "uint16");
    int failed = plain ? resolve_buffer(plain, name, writable, a) : -1;
    Py_XDECREF(plain);
    if (!failed)
        a->memory.dtype = LEAT_BF16;
    return failed;
}

/* Replaces the exception of the exporter by one that names the argument. */
static int fail_buffer(PyObject *value, const char *name, bool writable) {
    PyObject *type, *reason, *trace;
    Py_buffer view;
    PyErr_Fetch(&type, &reason, &trace);
    if (has_other_elements(value)) {
        fail_elements(value, name, NULL);
    } else if (writable && PyObject_GetBuffer(value, &view, PyBUF_STRIDES) == 0) {
        PyBuffer_Release(&view);
        PyErr_Format(PyExc_ValueError, "cannot write '%s' into a read-only array", name);
    } else {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "argument '%s' has elements that Leat cannot read: %S", name,
                     reason ? reason : Py_None);
    }
    Py_XDECREF(type);
    Py_XDECREF(reason);
    Py_XDECREF(trace);
    return -1;
}

static int resolve_buffer(PyObject *value, const char *name, bool writable, struct le_py_argument *a) {
    if (PyObject_GetBuffer(value, &a->view, writable ? PyBUF_RECORDS : PyBUF_RECORDS_RO) == 0) {
        a->has_view = true;
        return use_view(value, name, writable, a);
    }
    PyObject *type, *reason, *trace;
    bool is_bf16;
    PyErr_Fetch(&type, &reason, &trace);
    int failed = resolve_bfloat16(value, name, writable, a, &is_bf16);
    if (!is_bf16) {
        PyErr_Restore(type, reason, trace);
        return fail_buffer(value, name, writable);
    }
    Py_XDECREF(type);
    Py_XDECREF(reason);
    Py_XDECREF(trace);
    return failed;
}

static int resolve_by_numpy(PyObject *value, const char *name, bool writable, struct le_py_argument *a) {
    PyObject *numpy = le_py_numpy();
    if (writable)
        return le_py_fail_type(value, name, "which cannot be written to; pass an array");
    PyObject *array = numpy ? PyObject_CallMethod(numpy, "asarray", "O", value) : NULL;
    int failed = array ? resolve_buffer(array, name, false, a) : numpy ? le_py_fail_library(name) : -1;
    Py_XDECREF(array);
    return failed;
}

/* ---- tensors of PyTorch */

/* torch.NAME or torch.Tensor.NAME, found once; NULL without an exception if there is none. */
static PyObject *torch_function(PyObject **at, bool of_tensor, const char *name) {
    PyObject *torch = *at ? NULL : PyImport_ImportModule("torch"),
             *owner = torch && of_tensor ? PyObject_GetAttrString(torch, "Tensor") : Py_XNewRef(torch);
    if (owner)
        *at = PyObject_GetAttrString(owner, name);
    Py_XDECREF(torch);
    Py_XDECREF(owner);
    if (!*at && PyErr_ExceptionMatches(PyExc_AttributeError)) /* an old PyTorch has no such views */
        PyErr_Clear();
    return *at;
}

/* Whether the answer, whose reference it takes over, is true; NULL, with or without an exception, is not. */
static bool is_yes(PyObject *answer) {
    bool yes = answer && PyObject_IsTrue(answer) > 0;
    Py_XDECREF(answer);
    return yes;
}

/* function(value), or function() if value is NULL. After an exception nothing is asked. */
static bool says(PyObject *function, PyObject *value) {
    return function && !PyErr_Occurred() && is_yes(PyObject_CallFunctionObjArgs(function, value, NULL));
}

static bool records_gradient(PyObject *value) {
    static PyObject *is_enabled;
    return is_yes(PyObject_GetAttr(value, name_requires_grad)) &&
           says(torch_function(&is_enabled, false, "is_grad_enabled"), NULL);
}

/* The table hands out the stored elements, also where the tensor stands for other values. A tensor that does not answer
 * is refused. */
static int check_tensor(PyObject *value, const char *name, const struct le_py_argument *a) {
    static PyObject *is_conj, *is_neg;
    const char *reason = NULL;
    if (records_gradient(value))
        reason = "that requires a gradient, which Leat cannot record; pass x.detach(), or call under torch.no_grad()";
    else if (a->memory.dtype >= LEAT_C64 && !PyErr_Occurred() && says(torch_function(&is_conj, true, "is_conj"), value))
        reason = "that is a conjugated view; pass x.resolve_conj()";
    else if (!PyErr_Occurred() && says(torch_function(&is_neg, true, "is_neg"), value))
        reason = "that is a negated view; pass x.resolve_neg()";
    if (PyErr_Occurred())
        return le_py_fail_library(name);
    if (!reason)
        return 0;
    PyErr_Format(PyExc_ValueError, "argument '%s' is a tensor %s", name, reason);
    return -1;
}

static int resolve_exchange(PyObject *value, const char *name, const struct way *way, struct le_py_argument *a) {
    if (le_py_exchange_describe(way->exchange, value, name, a) < 0)
        return -1;
    if (way->library == LE_PY_TORCH) /* it reuses memory in the order of its streams */
        return check_tensor(value, name, a);
    a->is_held = a->device != NULL;
    if (a->is_held && !a->keep)
        a->keep = Py_NewRef(value);
    return 0;
}

/* An array of JAX on the CPU has the buffer protocol, which waits for the elements and is far faster than __dlpack__,
 * but not for all types. */
static int resolve_dlpack(PyObject *value, const char *name, const struct way *way, bool writable,
                          struct le_py_argument *a) {
    if (way->library != LE_PY_JAX || !PyObject_CheckBuffer(value))
        return le_py_dlpack_describe(value, name, a);
    if (PyObject_GetBuffer(value, &a->view, PyBUF_RECORDS_RO) == 0) {
        a->has_view = true;
        return use_view(value, name, writable, a);
    }
    le_py_forgive();
    return PyErr_Occurred() ? -1 : le_py_dlpack_describe(value, name, a);
}

/* ---- all */

static int resolve_handle(PyObject *value, struct le_py_argument *a) {
    struct le_py_array *array = (struct le_py_array *)value;
    a->kind = LE_PY_HANDLE;
    a->array = array->array;
    a->device = array->device;
    a->keep = Py_NewRef(value);
    return 0;
}

static int resolve_by(const struct way *way, PyObject *value, const char *name, bool writable,
                      struct le_py_argument *a) {
    switch (way->route) {
    case ROUTE_LEAT:
        return resolve_handle(value, a);
    case ROUTE_EXCHANGE:
        return resolve_exchange(value, name, way, a);
    case ROUTE_NDARRAY:
        return le_py_ndarray_describe(value, writable, a) ? 0 : resolve_buffer(value, name, writable, a);
    case ROUTE_BUFFER:
        return resolve_buffer(value, name, writable, a);
    case ROUTE_CUPY:
        return le_py_cupy_describe(value, name, a);
    case ROUTE_DLPACK:
        return resolve_dlpack(value, name, way, writable, a);
    case ROUTE_CUDA_INTERFACE:
        return le_py_interface_describe(value, name, a);
    case ROUTE_NUMPY:
        return resolve_by_numpy(value, name, writable, a);
    case ROUTE_MASKED:
        return le_py_fail_type(value, name, "whose mask Leat would ignore; pass x.filled(value)");
    default:
        return le_py_fail_type(value, name,
                               is_time(Py_TYPE(value)) ? "which is not a number; pass x.astype(\"int64\")"
                               : PyList_Check(value) || PyTuple_Check(value)
                                   ? "which is neither an array nor a number; pass numpy.asarray(x)"
                                   : "which is neither an array nor a number");
    }
}

int le_py_argument_resolve(PyObject *value, const char *name, bool writable, struct le_py_asked *asked,
                           struct le_py_argument *a) {
    struct way made;
    const struct way *way = way_of(value, &made);
    le_py_argument_clear(a);
    a->asked = asked;
    if (!way)
        return le_py_fail_library(name);
    a->library = way->library;
    if (way->route >= ROUTE_BOOL && way->route <= ROUTE_COMPLEX) {
        if (!writable)
            return resolve_number(value, way->route, name, a);
        return le_py_fail_type(value, name, "which cannot be written to; pass an array");
    }
    if (resolve_by(way, value, name, writable, a) < 0) {
        release_after_failure(a);
        return -1;
    }
    if (way->library == LE_PY_JAX)
        a->memory.read_only = true;
    if (!writable || a->kind != LE_PY_MEMORY || !a->memory.read_only)
        return 0;
    PyErr_Format(PyExc_ValueError, "cannot write '%s' into a read-only array%s", name,
                 way->library == LE_PY_JAX ? ": arrays of JAX never change" : "");
    release_after_failure(a);
    return -1;
}
