/* Types of elements, as the buffer protocol, __array_interface__ and Python's own words spell them. */
#include "py_leat.h"
#include <string.h>

struct spelling {
    leat_dtype dtype;
    const char *format, *name, *numpy; /* of the buffer protocol; Leat's name; NumPy's */
};

/* NumPy's int64 is C's long where that has 64 bits. */
#define FORMAT_64(of_long, of_long_long) (sizeof(long) == 8 ? of_long : of_long_long)

static const struct spelling spellings[] = {{LEAT_BOOL, "?", "bool", "bool"},
                                            {LEAT_I8, "b", "i8", "int8"},
                                            {LEAT_I16, "h", "i16", "int16"},
                                            {LEAT_I32, "i", "i32", "int32"},
                                            {LEAT_I64, FORMAT_64("l", "q"), "i64", "int64"},
                                            {LEAT_U8, "B", "u8", "uint8"},
                                            {LEAT_U16, "H", "u16", "uint16"},
                                            {LEAT_U32, "I", "u32", "uint32"},
                                            {LEAT_U64, FORMAT_64("L", "Q"), "u64", "uint64"},
                                            {LEAT_F16, "e", "f16", "float16"},
                                            {LEAT_BF16, NULL, "bf16", "bfloat16"},
                                            {LEAT_F32, "f", "f32", "float32"},
                                            {LEAT_F64, "d", "f64", "float64"},
                                            {LEAT_C64, "Zf", "c64", "complex64"},
                                            {LEAT_C128, "Zd", "c128", "complex128"}};
enum { SPELLINGS = sizeof spellings / sizeof spellings[0] };

leat_dtype le_py_dtype_of_kind(char kind, Py_ssize_t size_bytes) {
    switch (kind) {
    case 'b':
        return size_bytes == 1 ? LEAT_BOOL : (leat_dtype)0;
    case 'i':
        return size_bytes == 4   ? LEAT_I32
               : size_bytes == 8 ? LEAT_I64
               : size_bytes == 1 ? LEAT_I8
               : size_bytes == 2 ? LEAT_I16
                                 : (leat_dtype)0;
    case 'u':
        return size_bytes == 1   ? LEAT_U8
               : size_bytes == 4 ? LEAT_U32
               : size_bytes == 8 ? LEAT_U64
               : size_bytes == 2 ? LEAT_U16
                                 : (leat_dtype)0;
    case 'f':
        return size_bytes == 4 ? LEAT_F32 : size_bytes == 8 ? LEAT_F64 : size_bytes == 2 ? LEAT_F16 : (leat_dtype)0;
    case 'c':
        return size_bytes == 8 ? LEAT_C64 : size_bytes == 16 ? LEAT_C128 : (leat_dtype)0;
    default:
        return (leat_dtype)0;
    }
}

const char *le_py_format_of_dtype(leat_dtype dtype) {
    return spellings[dtype - LEAT_BOOL].format;
}

/* The kind of a format character; 0: none of Leat's. The sizes of C's types follow from the item size. */
static char kind_of(const char *format) {
    static const char kinds[128] = {
        ['?'] = 'b', ['b'] = 'i', ['h'] = 'i', ['i'] = 'i', ['l'] = 'i', ['q'] = 'i', ['n'] = 'i', ['B'] = 'u',
        ['H'] = 'u', ['I'] = 'u', ['L'] = 'u', ['Q'] = 'u', ['N'] = 'u', ['e'] = 'f', ['f'] = 'f', ['d'] = 'f'};
    if (format[0] == 'Z')
        return (format[1] == 'f' || format[1] == 'd') && !format[2] ? 'c' : 0;
    return format[0] > 0 && !format[1] ? kinds[(unsigned char)format[0]] : 0;
}

leat_dtype le_py_dtype_of_format(const char *format, Py_ssize_t size_bytes, bool *swapped) {
    const uint16_t probe = 1;
    bool little = *(const unsigned char *)&probe == 1;
    *swapped = false;
    if (!format)
        return LEAT_U8;
    if (*format == '>' || *format == '!' || *format == '<') {
        *swapped = size_bytes > 1 && (*format == '<') != little;
        format++;
    } else if (*format == '@' || *format == '=') {
        format++;
    }
    return le_py_dtype_of_kind(kind_of(format), size_bytes);
}

/* ---- in Python's words */

static leat_dtype dtype_of_name(const char *name) {
    for (int k = 0; k < SPELLINGS; k++)
        if (strcmp(name, spellings[k].name) == 0 || strcmp(name, spellings[k].numpy) == 0)
            return spellings[k].dtype;
    return (leat_dtype)0;
}

/* "f32", or the text "torch.float32" of a PyTorch type. */
static leat_dtype dtype_of_text(PyObject *text, bool of_torch) {
    const char *name = text ? le_py_text(text) : NULL;
    if (name && of_torch)
        name = strncmp(name, "torch.", 6) == 0 ? name + 6 : NULL;
    return name ? dtype_of_name(name) : (leat_dtype)0;
}

/* Whether the bytes of the numpy.dtype are in this machine's order. */
static bool is_native(PyObject *dtype) {
    PyObject *native = PyObject_GetAttrString(dtype, "isnative");
    bool yes = native == Py_True;
    Py_XDECREF(native);
    return yes;
}

/* NumPy resolves what it knows: `float`, "f4", a dtype. 0: it does not know it, or with an exception. */
static leat_dtype dtype_by_numpy(PyObject *value) {
    PyObject *numpy = le_py_numpy();
    PyObject *dtype = numpy ? PyObject_CallMethod(numpy, "dtype", "O", value) : NULL;
    PyObject *name = dtype ? PyObject_GetAttrString(dtype, "name") : NULL;
    leat_dtype found = dtype_of_text(name, false);
    if (found && !is_native(dtype)) {
        found = (leat_dtype)0;
        PyErr_Format(PyExc_TypeError, "%R is not in this machine's byte order, the only one that Leat has", value);
    } else {
        le_py_forgive();
    }
    Py_XDECREF(dtype);
    Py_XDECREF(name);
    return found;
}

/* The names that NumPy gives to other types than Leat does: they would silently change the elements. */
static bool is_ambiguous(PyObject *text) {
    static const struct {
        const char *name, *of_numpy, *of_leat, *advice;
    } names[] = {{"i8", "int64", "int8", "\"int64\" or \"int8\""},
                 {"u8", "uint64", "uint8", "\"uint64\" or \"uint8\""},
                 {"f16", "longdouble", "float16", "\"float16\""}};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (PyUnicode_CompareWithASCIIString(text, names[k].name) == 0) {
            PyErr_Format(PyExc_TypeError, "the dtype \"%s\" is %s to NumPy, but %s to Leat; write %s", names[k].name,
                         names[k].of_numpy, names[k].of_leat, names[k].advice);
            return true;
        }
    return false;
}

leat_dtype le_py_dtype_parse(PyObject *value) {
    bool is_text = PyUnicode_Check(value);
    if (le_py_dtype_of_object(value))
        return le_py_dtype_of_object(value);
    if (is_text && is_ambiguous(value))
        return (leat_dtype)0;
    PyObject *text = is_text ? Py_NewRef(value) : PyObject_Str(value);
    leat_dtype found = dtype_of_text(text, !is_text);
    Py_XDECREF(text);
    le_py_forgive();
    if (!found && !PyErr_Occurred())
        found = dtype_by_numpy(value);
    if (!found && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%R is not an element type of Leat; use a name such as \"f32\" or numpy.float32",
                     value);
    return found;
}

static PyObject *bfloat16(void) {
    PyObject *module = PyImport_ImportModule("ml_dtypes");
    PyObject *type = module ? PyObject_GetAttrString(module, "bfloat16") : NULL;
    Py_XDECREF(module);
    if (!type && PyErr_ExceptionMatches(PyExc_ImportError))
        PyErr_SetString(PyExc_TypeError, "NumPy has no type for bf16: install ml_dtypes, or pass like=\"leat\"");
    return type;
}

PyObject *le_py_numpy_dtype(leat_dtype dtype) {
    static PyObject *known[SPELLINGS]; /* made at the first use, under the GIL */
    PyObject **at = &known[dtype - LEAT_BOOL];
    if (!*at) {
        PyObject *numpy = le_py_numpy();
        PyObject *type = !numpy               ? NULL
                         : dtype == LEAT_BF16 ? bfloat16()
                                              : PyUnicode_FromString(spellings[dtype - LEAT_BOOL].numpy);
        *at = type ? PyObject_CallMethod(numpy, "dtype", "O", type) : NULL;
        Py_XDECREF(type);
    }
    return Py_XNewRef(*at);
}
