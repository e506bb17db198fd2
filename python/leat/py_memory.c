/* leat.asarray: arrays of Leat over the memory of other libraries, or with copies of it. */
#include "py_memory.h"
#include "py_array.h"
#include <stdlib.h>
#include <string.h>

/* ---- keeping the memory of others alive */

void le_py_argument_keep(struct le_py_argument *argument, PyObject *value) {
    if (!argument->has_view && !argument->keep)
        argument->keep = Py_NewRef(value);
}

/* At exit the memory is left to the process's end. */
void le_py_release_kept(void *argument) {
    if (le_py_is_exiting())
        return;
    PyGILState_STATE state = PyGILState_Ensure();
    le_py_argument_release(argument);
    PyGILState_Release(state);
    free(argument);
}

/* ---- sources */

void le_py_free_waiting(leat_array *array) {
    Py_BEGIN_ALLOW_THREADS
    leat_array_free(array);
    Py_END_ALLOW_THREADS
}

/* The work of the value's library on its current stream is waited for: Leat orders only its own. */
static leat_status wrap_memory(struct le_py_argument *argument, struct le_py_source *source) {
    leat_status status = LEAT_OK;
    Py_BEGIN_ALLOW_THREADS
    if (argument->ready)
        status = leat_stream_synchronize(argument->ready);
    if (!status)
        status = leat_array_wrap(source->device->ctx, &argument->memory, le_py_release_kept, argument, &source->array);
    Py_END_ALLOW_THREADS
    return status;
}

static leat_status wrap_number(const struct le_py_argument *argument, struct le_py_source *source) {
    static const leat_dtype types[] = {[LE_PY_F64] = LEAT_F64,
                                       [LE_PY_I64] = LEAT_I64,
                                       [LE_PY_U64] = LEAT_U64,
                                       [LE_PY_C128] = LEAT_C128,
                                       [LE_PY_BOOL] = LEAT_BOOL};
    const bool flag = argument->number.i64 != 0;
    const void *number = argument->kind == LE_PY_BOOL ? (const void *)&flag : &argument->number;
    leat_dtype dtype = types[argument->kind];
    source->is_copied = true;
    leat_status status = leat_array_new_empty(source->device->ctx, dtype, 0, NULL, LEAT_MEMORY_DEVICE, &source->array);
    return status ? status : leat_array_write(source->array, number, leat_dtype_size_bytes(dtype), NULL, NULL);
}

/* Takes over the argument. */
static int use_argument(struct le_py_argument *argument, struct le_py_source *source) {
    leat_status status = LEAT_OK;
    bool is_kept = argument->kind == LE_PY_MEMORY;
    source->is_copied = argument->is_copied;
    source->device = argument->device ? argument->device : le_py_device_open("cpu");
    source->array = NULL;
    if (!source->device)
        status = LEAT_DEVICE;
    else if (argument->kind == LE_PY_HANDLE)
        source->array = leat_array_retain(argument->array);
    else
        status = is_kept ? wrap_memory(argument, source) : wrap_number(argument, source);
    if (status)
        le_py_raise(status, NULL, NULL);
    if (status || !is_kept) {
        le_py_argument_release(argument);
        free(argument);
    }
    if (status)
        leat_array_free(source->array);
    return status ? -1 : 0;
}

int le_py_source_of(PyObject *value, const char *name, struct le_py_source *source) {
    struct le_py_argument *argument = calloc(1, sizeof *argument);
    PyObject *listed = NULL;
    if (!argument)
        return PyErr_NoMemory(), -1;
    if (PyList_Check(value) || PyTuple_Check(value)) {
        PyObject *numpy = le_py_numpy();
        value = listed = numpy ? PyObject_CallMethod(numpy, "asarray", "O", value) : NULL;
    }
    int failed = value ? le_py_argument_resolve(value, name, false, NULL, argument) : -1;
    if (failed) {
        free(argument);
    } else {
        le_py_argument_keep(argument, value);
        failed = use_argument(argument, source);
    }
    if (!failed)
        source->is_copied |= listed != NULL;
    Py_XDECREF(listed);
    return failed;
}

static int replace_array(struct le_py_source *source, leat_status status, leat_array *made) {
    le_py_free_waiting(source->array);
    source->array = made;
    source->is_copied = true;
    if (!status)
        return 0;
    leat_array_free(made);
    le_py_raise(status, NULL, NULL);
    return -1;
}

/* Copies within one context, from memory of any kind. */
static leat_status copy_within(struct le_py_device *device, leat_array *from, leat_array **made) {
    leat_description d;
    leat_status status = leat_array_get(from, &d);
    if (!status)
        status = leat_array_new_empty(device->ctx, d.dtype, d.rank, d.shape, LEAT_MEMORY_DEVICE, made);
    return status ? status : leat_array_copy(*made, from, NULL, NULL);
}

/* Host memory of the CPU's context as an array of another context, for one copy. */
static leat_status upload(struct le_py_device *device, leat_array *from, leat_array **made) {
    leat_description d;
    leat_array *host;
    leat_status status = leat_array_get(from, &d);
    d.memory = LEAT_MEMORY_HOST;
    if (!status)
        status = leat_array_wrap(device->ctx, &d, NULL, NULL, &host);
    if (status)
        return status;
    status = copy_within(device, host, made);
    leat_array_free(host);
    return status;
}

static leat_status download(struct le_py_device *cpu, leat_array *from, leat_array **made) {
    leat_description d;
    leat_status status = leat_array_get(from, &d);
    if (!status)
        status = leat_array_new_empty(cpu->ctx, d.dtype, d.rank, d.shape, LEAT_MEMORY_DEVICE, made);
    if (status)
        return status;
    size_t size_bytes = leat_dtype_size_bytes(d.dtype);
    for (int k = 0; k < d.rank; k++)
        size_bytes *= (size_t)d.shape[k];
    if (size_bytes == 0)
        return status;
    leat_array_get(*made, &d);
    return leat_array_read(from, d.data, size_bytes, NULL, NULL);
}

int le_py_source_move(struct le_py_source *source, struct le_py_device *device) {
    struct le_py_device *from = source->device;
    leat_array *made = NULL;
    leat_status status;
    if (!from->is_cpu && !device->is_cpu && from != device) { /* through the host */
        struct le_py_device *cpu = le_py_device_open("cpu");
        if (!cpu)
            return le_py_free_waiting(source->array), -1;
        if (le_py_source_move(source, cpu) < 0)
            return -1;
        from = cpu;
    }
    Py_BEGIN_ALLOW_THREADS
    status = from->is_cpu || from == device ? LEAT_OK : le_py_wait_array(from->ctx, source->array);
    if (!status)
        status = from == device ? copy_within(device, source->array, &made)
                 : from->is_cpu ? upload(device, source->array, &made)
                                : download(device, source->array, &made);
    Py_END_ALLOW_THREADS
    source->device = device;
    return replace_array(source, status, made);
}

/* ---- casts */

enum { CONDITION_BYTES = 160, CAST_BYTES = 2 * CONDITION_BYTES };

static bool is_int(leat_dtype dtype) {
    return dtype >= LEAT_I8 && dtype <= LEAT_U64;
}

static bool is_signed(leat_dtype dtype) {
    return dtype <= LEAT_I64;
}

/* Writes the condition, in Leat, under which element `x` is not a value of the integer type; "": never. Bounds that the
 * elements' own type keeps are left out: they may not be written as its numbers. */
static void misfit_of(leat_dtype from, leat_dtype to, const char *x, char text[CONDITION_BYTES]) {
    int bits = 8 * (int)leat_dtype_size_bytes(to), value_bits = bits - is_signed(to),
        from_bits = 8 * (int)leat_dtype_size_bytes(from) - is_signed(from);
    *text = 0;
    if (!is_int(to) || from == LEAT_BOOL)
        return;
    if (!is_int(from)) { /* powers of two, which are exact; a NaN compares false */
        double above = (double)(1ULL << (value_bits - 1)) * 2;
        PyOS_snprintf(text, CONDITION_BYTES, "!(f64(%s) >= %.0f.0 && f64(%s) < %.0f.0 && floor(f64(%s)) == f64(%s))", x,
                      is_signed(to) ? -above : 0.0, x, above, x, x);
        return;
    }
    bool has_low = is_signed(from) && (!is_signed(to) || from_bits > value_bits), has_high = from_bits > value_bits;
    long long high = has_high ? (long long)((1ULL << (value_bits - 1)) - 1) * 2 + 1 : 0;
    char low_text[CONDITION_BYTES / 2] = "";
    if (has_low)
        PyOS_snprintf(low_text, sizeof low_text, "%s < %lld", x, is_signed(to) ? -high - 1 : 0);
    if (has_high)
        PyOS_snprintf(text, CONDITION_BYTES, "%s%s%s > %lld", low_text, has_low ? " || " : "", x, high);
    else
        memcpy(text, low_text, sizeof low_text);
}

/* y: the elements as the type; bad: whether one of them is not a value of it. */
static void write_cast(const leat_description *d, leat_dtype dtype, char text[CAST_BYTES]) {
    char misfit[CONDITION_BYTES];
    const char *name = leat_dtype_name(dtype);
    misfit_of(d->dtype, dtype, d->rank ? "x[...]" : "x", misfit);
    if (!*misfit)
        PyOS_snprintf(misfit, sizeof misfit, "false");
    PyOS_snprintf(text, CAST_BYTES, d->rank ? "y[...] = %s(x[...]); bad = any(...: %s)" : "y = %s(x); bad = %s", name,
                  misfit);
}

static void fail_cast(PyObject *type, leat_dtype from, leat_dtype to, const char *reason) {
    PyErr_Format(type, "elements of type %s cannot become %s%s", leat_dtype_name(from), leat_dtype_name(to), reason);
}

static bool is_complex(leat_dtype dtype) {
    return dtype == LEAT_C64 || dtype == LEAT_C128;
}

/* Floats are rounded, and anything that is not 0 is true. An integer type takes its own values only. */
int le_py_source_cast(struct le_py_source *source, leat_dtype dtype) {
    char text[CAST_BYTES];
    leat_description d;
    leat_status status = leat_array_get(source->array, &d);
    if (status)
        return le_py_free_waiting(source->array), le_py_raise(status, NULL, NULL), -1;
    if (d.dtype == dtype)
        return 0;
    if (is_complex(d.dtype) && !is_complex(dtype) && dtype != LEAT_BOOL) {
        fail_cast(PyExc_TypeError, d.dtype, dtype, "; pass x.real");
        return le_py_free_waiting(source->array), -1;
    }
    write_cast(&d, dtype, text);
    const leat_binding inputs[] = {{.name = "x", .kind = LEAT_VALUE_ARRAY, .array = source->array}, {0}};
    leat_binding results[] = {{.name = "y"}, {.name = "bad"}, {0}};
    bool bad = false;
    Py_BEGIN_ALLOW_THREADS
    status = source->device->is_cpu ? LEAT_OK : le_py_wait_array(source->device->ctx, source->array);
    if (!status)
        status = leat_eval(source->device->ctx, text, inputs, results);
    if (!status)
        status = leat_array_read(results[1].array, &bad, sizeof bad, NULL, NULL);
    Py_END_ALLOW_THREADS
    leat_array_free(results[1].array);
    if (status == LEAT_PROGRAM || status == LEAT_MISMATCH)
        fail_cast(PyExc_TypeError, d.dtype, dtype, "");
    if (!status && bad) {
        fail_cast(PyExc_ValueError, d.dtype, dtype,
                  ": a value is not an integer of that type; round or clip first, or use NumPy's astype");
        status = LEAT_INVALID;
    }
    return replace_array(source, status, results[0].array);
}

/* ---- asarray */

int le_py_copy_parse(PyObject *value, int *copy) {
    *copy = value == Py_None ? -1 : PyObject_IsTrue(value);
    return value != Py_None && *copy < 0 ? -1 : 0;
}

/* Moves and casts where the caller asks for it. */
static int convert(struct le_py_source *source, leat_dtype dtype, struct le_py_device *device, int copy) {
    if (device && device != source->device && le_py_source_move(source, device) < 0)
        return -1;
    if (dtype && le_py_source_cast(source, dtype) < 0)
        return -1;
    if (copy == 1 && !source->is_copied && le_py_source_move(source, source->device) < 0)
        return -1;
    if (copy != 0 || !source->is_copied)
        return 0;
    le_py_free_waiting(source->array);
    PyErr_SetString(PyExc_ValueError, "copy=False, but the elements had to be copied");
    return -1;
}

/* Host memory goes to the default device, and memory of a GPU stays there. */
PyObject *le_py_asarray(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"x", "dtype", "device", "copy", NULL};
    PyObject *value, *dtype_value = Py_None, *device_value = Py_None, *copy_value = Py_None;
    struct le_py_source source;
    struct le_py_device *device;
    leat_dtype dtype = (leat_dtype)0;
    int copy;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|$OOO", words, &value, &dtype_value, &device_value, &copy_value) ||
        le_py_copy_parse(copy_value, &copy) < 0 || le_py_device_of(device_value, &device) < 0)
        return NULL;
    if (dtype_value != Py_None && !(dtype = le_py_dtype_parse(dtype_value)))
        return NULL;
    if (le_py_source_of(value, "x", &source) < 0)
        return NULL;
    bool is_array = le_py_is_array(value);
    if (!device && !is_array && source.device->is_cpu && !(device = le_py_device_default()))
        return le_py_free_waiting(source.array), NULL;
    if (convert(&source, dtype, device, copy) < 0)
        return NULL;
    if (is_array && !source.is_copied) {
        le_py_free_waiting(source.array);
        return Py_NewRef(value);
    }
    PyObject *made = le_py_array_new(source.array, source.device);
    if (made)
        ((struct le_py_array *)made)->is_foreign = !source.is_copied;
    return made;
}

/* ---- unpickling */

/* The device of this name, else the first GPU instead of another one, else the CPU. */
static struct le_py_device *device_like(const char *name) {
    const char *const names[] = {name, strncmp(name, "cuda:", 5) == 0 ? "cuda" : "cpu", "cpu"};
    struct le_py_device *found = NULL;
    for (int k = 0; k < 3 && !found && !PyErr_Occurred(); k++) {
        found = le_py_device_open(names[k]);
        if (!found && PyErr_ExceptionMatches(le_py_errors.device))
            PyErr_Clear();
    }
    return found;
}

/* The elements of a NumPy array as those of another type of the same size (bf16 for u16). */
static int source_as(PyObject *value, leat_dtype dtype, struct le_py_source *source) {
    struct le_py_argument *argument = calloc(1, sizeof *argument);
    if (!argument)
        return PyErr_NoMemory(), -1;
    if (le_py_argument_resolve(value, "x", false, NULL, argument) < 0) {
        free(argument);
        return -1;
    }
    le_py_argument_keep(argument, value);
    if (argument->kind == LE_PY_MEMORY && !argument->device &&
        leat_dtype_size_bytes(argument->memory.dtype) == leat_dtype_size_bytes(dtype)) {
        argument->memory.dtype = dtype;
        return use_argument(argument, source);
    }
    le_py_argument_release(argument);
    free(argument);
    return le_py_fail_type(value, "x", "which is not a pickled leat.Array");
}

/* _array_again(elements, device, dtype) */
PyObject *le_py_array_again(PyObject *self, PyObject *args) {
    PyObject *value, *dtype_value;
    const char *name;
    struct le_py_source source;
    (void)self;
    if (!PyArg_ParseTuple(args, "OsO", &value, &name, &dtype_value))
        return NULL;
    leat_dtype dtype = le_py_dtype_parse(dtype_value);
    struct le_py_device *device = dtype ? device_like(name) : NULL;
    if (!device || source_as(value, dtype, &source) < 0 ||
        (device != source.device && le_py_source_move(&source, device) < 0))
        return NULL;
    PyObject *made = le_py_array_new(source.array, source.device);
    if (made)
        ((struct le_py_array *)made)->is_foreign = !source.is_copied;
    return made;
}

int le_py_memory_init(PyObject *module) {
    le_py_progress_init();
    return le_py_device_info_init(module);
}
