/* Reads arrays of NumPy from their fields, in a tenth of the time that the buffer protocol takes. The fields' layout is
 * part of the binary interface of NumPy 1 and 2, on which all extension modules built for them rely
 * (numpy/ndarraytypes.h). Later versions, types derived from numpy.ndarray and arrays that are not plain go through the
 * buffer protocol. */
#include "py_leat.h"

struct descriptor {
    PyObject head;
    PyTypeObject *type;
    char kind, letter, byte_order, flags;
    int type_number;
};

struct ndarray {
    PyObject head;
    char *data;
    int rank;
    Py_ssize_t *shape, *strides; /* strides in bytes */
    PyObject *base;
    struct descriptor *descriptor;
    int flags;
};

#define IS_ALIGNED      0x0100u
#define IS_WRITABLE     0x0400u
#define WARNS_OF_WRITES 0x80000000u

/* By type number. */
static const leat_dtype dtypes[] = {LEAT_BOOL,
                                    LEAT_I8,
                                    LEAT_U8,
                                    LEAT_I16,
                                    LEAT_U16,
                                    LEAT_I32,
                                    LEAT_U32,
                                    sizeof(long) == 8 ? LEAT_I64 : LEAT_I32,
                                    sizeof(long) == 8 ? LEAT_U64 : LEAT_U32,
                                    LEAT_I64,
                                    LEAT_U64,
                                    LEAT_F32,
                                    LEAT_F64,
                                    [14] = LEAT_C64,
                                    [15] = LEAT_C128,
                                    [23] = LEAT_F16};
static const signed char size_shifts[] = {
    [LEAT_BOOL] = 0, [LEAT_I8] = 0,  [LEAT_U8] = 0,  [LEAT_I16] = 1, [LEAT_U16] = 1, [LEAT_F16] = 1, [LEAT_I32] = 2,
    [LEAT_U32] = 2,  [LEAT_F32] = 2, [LEAT_I64] = 3, [LEAT_U64] = 3, [LEAT_F64] = 3, [LEAT_C64] = 3, [LEAT_C128] = 4};

static leat_dtype dtype_of(const struct descriptor *descriptor) {
    bool is_native = descriptor->byte_order == '=' || descriptor->byte_order == '|';
    unsigned number = (unsigned)descriptor->type_number;
    return is_native && number < sizeof dtypes / sizeof dtypes[0] ? dtypes[number] : (leat_dtype)0;
}

/* False if the elements must be copied, or the array has too many axes. */
static bool describe(const struct ndarray *array, leat_description *d) {
    d->dtype = dtype_of(array->descriptor);
    if (!d->dtype || array->rank > LEAT_RANK_MAX || !((unsigned)array->flags & IS_ALIGNED))
        return false;
    int shift = size_shifts[d->dtype];
    d->rank = array->rank;
    d->data = array->data;
    d->read_only = !((unsigned)array->flags & IS_WRITABLE);
    d->memory = LEAT_MEMORY_HOST;
    for (int k = 0; k < array->rank; k++) {
        d->shape[k] = array->shape[k];
        d->strides[k] = array->strides[k] >> shift;
        if (array->strides[k] & (((Py_ssize_t)1 << shift) - 1) && array->shape[k] > 1)
            return false;
    }
    return true;
}

bool le_py_is_ndarray(PyTypeObject *type) {
    PyObject *numpy = PyErr_Occurred() ? NULL : le_py_numpy();
    PyObject *found = numpy ? PyObject_GetAttrString(numpy, "ndarray") : NULL;
    PyObject *version = found == (PyObject *)type ? PyObject_GetAttrString(numpy, "__version__") : NULL;
    const char *text = version && PyUnicode_Check(version) ? le_py_text(version) : NULL;
    bool is_known = text && (text[0] == '1' || text[0] == '2') && text[1] == '.';
    Py_XDECREF(found);
    Py_XDECREF(version);
    le_py_forgive();
    return is_known;
}

bool le_py_ndarray_describe(PyObject *value, bool writable, struct le_py_argument *a) {
    const struct ndarray *array = (const struct ndarray *)value;
    unsigned flags = (unsigned)array->flags;
    if ((writable && (flags & WARNS_OF_WRITES || !(flags & IS_WRITABLE))) || !describe(array, &a->memory))
        return false;
    a->kind = LE_PY_MEMORY;
    a->keep = Py_NewRef(value);
    return true;
}
