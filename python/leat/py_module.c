/* The module leat._leat: functions that make programs, and what the other files add. */
#include "py_leat.h"

enum { EVALUATED = 256 }; /* programs that leat.eval remembers by their text */

static PyObject *evaluated; /* text: program */

/* program(text, *, name=None, device=None) */
static PyObject *make_program(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"text", "name", "device", NULL};
    PyObject *text, *name = Py_None, *device = Py_None;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, names, "U|$OO", words, &text, &name, &device))
        return NULL;
    if (name != Py_None && !PyUnicode_Check(name))
        return PyErr_Format(PyExc_TypeError, "name must be a string, not %R", name);
    PyObject *named = name == Py_None ? PyUnicode_FromString("program") : Py_NewRef(name);
    PyObject *made = named ? le_py_program_new(text, named, device) : NULL;
    Py_XDECREF(named);
    return made;
}

/* For pickle: (text, name, device). */
static PyObject *program_again(PyObject *self, PyObject *args) {
    PyObject *text, *name, *device;
    (void)self;
    return PyArg_ParseTuple(args, "UUO", &text, &name, &device) ? le_py_program_new(text, name, device) : NULL;
}

/* The oldest half goes when the table is full. */
static void drop_evaluated(void) {
    PyObject *keys = PyDict_Keys(evaluated);
    for (Py_ssize_t k = 0; keys && k < EVALUATED / 2; k++)
        PyDict_DelItem(evaluated, PyList_GetItem(keys, k));
    Py_XDECREF(keys);
}

static PyObject *program_of(PyObject *text) {
    PyObject *known = PyDict_GetItemWithError(evaluated, text);
    if (known || PyErr_Occurred())
        return Py_XNewRef(known);
    PyObject *name = PyUnicode_FromString("program"), *made = name ? le_py_program_new(text, name, Py_None) : NULL;
    Py_XDECREF(name);
    if (made && PyDict_Size(evaluated) >= EVALUATED)
        drop_evaluated();
    if (made && PyDict_SetItem(evaluated, text, made) < 0)
        Py_CLEAR(made);
    return made;
}

/* eval(text, *args, **named): a program of this text, made at the first use, and called. */
static PyObject *eval(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    (void)self;
    if (count < 1 || !PyUnicode_Check(args[0]))
        return PyErr_SetString(PyExc_TypeError, "eval takes the text of a program, then its inputs"), NULL;
    PyObject *program = program_of(args[0]);
    PyObject *results = program ? le_py_program_call(program, args + 1, (size_t)(count - 1), names) : NULL;
    Py_XDECREF(program);
    return results;
}

static PyMethodDef functions[] = {
    {"program", (PyCFunction)(void (*)(void))make_program, METH_VARARGS | METH_KEYWORDS,
     "program(text, *, name=None, device=None)\n--\n\nChecks the text of a program and returns a leat.Program, which "
     "is "
     "called with its inputs. name is for messages, such as the file's. device fixes where it runs. Raises "
     "ProgramError, "
     "with all errors of the text."},
    {"eval", (PyCFunction)(void (*)(void))eval, METH_FASTCALL | METH_KEYWORDS,
     "eval(text, /, *args, out=None, stream=None, device=None, like=None, **inputs)\n--\n\nCalls the program of this "
     "text with these inputs. The last 256 texts are remembered."},
    {"_program_again", program_again, METH_VARARGS, NULL},
    {0}};

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "leat._leat",
                                        .m_doc = "The extension behind the package leat.",
                                        .m_size = -1,
                                        .m_methods = functions};

static int add_all(PyObject *module) {
    PyObject *device = PyType_FromSpec(&le_py_device_spec);
    int failed = device ? PyModule_AddObjectRef(module, "device", device) : -1;
    Py_XDECREF(device);
    evaluated = PyDict_New();
    return failed || !evaluated || le_py_errors_init(module) || le_py_process_init() || le_py_argument_init() ||
           le_py_array_init(module) || le_py_stream_init(module) || le_py_program_init(module) ||
           le_py_kernel_init(module) || le_py_memory_init(module) ||
           PyModule_AddStringConstant(module, "__version__", leat_version());
}

PyMODINIT_FUNC PyInit__leat(void);
PyMODINIT_FUNC PyInit__leat(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module && add_all(module)) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
