/* leat.dtype: an element type. It compares equal to what it can be made of, and has the attribute `dtype`, by which
 * numpy.dtype(x) finds the same type, where Leat's name alone would give NumPy another one ("i8", "u8", "f16"). */
#include "py_leat.h"

struct dtype_object {
    PyObject_HEAD leat_dtype dtype;
};
static PyTypeObject *dtype_type;

leat_dtype le_py_dtype_of_object(PyObject *value) {
    return Py_TYPE(value) == dtype_type ? ((struct dtype_object *)value)->dtype : (leat_dtype)0;
}

PyObject *le_py_dtype_object(leat_dtype dtype) {
    static PyObject *known[LEAT_C128 + 1]; /* one object for each type; made at the first use, under the GIL */
    if (!known[dtype]) {
        struct dtype_object *made = le_py_object_new(dtype_type);
        if (made)
            made->dtype = dtype;
        known[dtype] = (PyObject *)made;
    }
    return Py_XNewRef(known[dtype]);
}

/* Leat's names come first: "i8" has 8 bits. 0 with an exception. */
static leat_dtype parse(PyObject *value) {
    leat_dtype dtype = (leat_dtype)0;
    const char *text = PyUnicode_Check(value) ? le_py_text(value) : NULL;
    if (PyErr_Occurred())
        return dtype;
    return text && leat_dtype_parse(text, &dtype) == LEAT_OK ? dtype : le_py_dtype_parse(value);
}

static PyObject *dtype_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    static char *words[] = {"", NULL};
    PyObject *value;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O", words, &value))
        return NULL;
    leat_dtype dtype = parse(value);
    return dtype ? le_py_dtype_object(dtype) : NULL;
}

static const char *name_of(PyObject *self) {
    return leat_dtype_name(((struct dtype_object *)self)->dtype);
}

static PyObject *dtype_str(PyObject *self) {
    return PyUnicode_FromString(name_of(self));
}

static PyObject *dtype_repr(PyObject *self) {
    return PyUnicode_FromFormat("leat.dtype('%s')", name_of(self));
}

static PyObject *get_name(PyObject *self, void *none) {
    (void)none;
    return dtype_str(self);
}

/* That of Leat's name. The other spellings to which it is equal have other hashes. */
static Py_hash_t dtype_hash(PyObject *self) {
    PyObject *name = dtype_str(self);
    Py_hash_t hash = name ? PyObject_Hash(name) : -1;
    Py_XDECREF(name);
    return hash;
}

static bool is_torch_dtype(PyObject *value) {
    PyObject *text = le_py_library_of_type(Py_TYPE(value)) == LE_PY_TORCH ? PyType_GetName(Py_TYPE(value)) : NULL;
    bool found = text && PyUnicode_CompareWithASCIIString(text, "dtype") == 0;
    Py_XDECREF(text);
    return found;
}

/* With the texts and classes that leat.dtype() takes, and PyTorch's types. A numpy.dtype compares itself. */
static PyObject *dtype_compare(PyObject *self, PyObject *other, int operation) {
    bool is_own = Py_TYPE(other) == dtype_type, equal = self == other;
    if ((operation != Py_EQ && operation != Py_NE) ||
        (!is_own && !PyUnicode_Check(other) && !PyType_Check(other) && !is_torch_dtype(other)))
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    if (!is_own) {
        equal = parse(other) == ((struct dtype_object *)self)->dtype;
        le_py_forgive();
    }
    return PyErr_Occurred() ? NULL : PyBool_FromLong(equal == (operation == Py_EQ));
}

static PyObject *get_itemsize(PyObject *self, void *none) {
    (void)none;
    return PyLong_FromSize_t(leat_dtype_size_bytes(((struct dtype_object *)self)->dtype));
}

static PyObject *get_numpy(PyObject *self, void *none) {
    (void)none;
    return le_py_numpy_dtype(((struct dtype_object *)self)->dtype);
}

static PyObject *dtype_reduce(PyObject *self, PyObject *none) {
    (void)none;
    return Py_BuildValue("(O(s))", (PyObject *)dtype_type, name_of(self));
}

static PyMethodDef dtype_methods[] = {{"__reduce__", dtype_reduce, METH_NOARGS, NULL}, {0}};
static PyGetSetDef dtype_members[] = {{"name", get_name, NULL, "Leat's name, such as \"f32\"; also str(dtype).", NULL},
                                      {"itemsize", get_itemsize, NULL, "The size of an element in bytes.", NULL},
                                      {"dtype", get_numpy, NULL, "The numpy.dtype.", NULL},
                                      {0}};
static PyType_Slot dtype_slots[] = {
    {Py_tp_doc,
     "dtype(x, /)\n--\n\n"
     "An element type: of one of Leat's names (\"f32\", \"u8\"), or of what dtype= takes elsewhere. It is equal to "
     "each of these. Its hash is that of Leat's name only. numpy.dtype(x) of it is NumPy's type."},
    {Py_tp_new, dtype_new},
    {Py_tp_dealloc, le_py_object_free},
    {Py_tp_str, dtype_str},
    {Py_tp_repr, dtype_repr},
    {Py_tp_hash, dtype_hash},
    {Py_tp_richcompare, dtype_compare},
    {Py_tp_methods, dtype_methods},
    {Py_tp_getset, dtype_members},
    {0}};
static PyType_Spec dtype_spec = {
    .name = "leat.dtype", .basicsize = sizeof(struct dtype_object), .flags = Py_TPFLAGS_DEFAULT, .slots = dtype_slots};

int le_py_dtype_init(PyObject *module) {
    dtype_type = (PyTypeObject *)PyType_FromSpec(&dtype_spec);
    return dtype_type ? PyModule_AddObjectRef(module, "dtype", (PyObject *)dtype_type) : -1;
}
