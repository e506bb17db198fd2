/* The module leat._leat: its table of functions, leat.program and leat.eval, and what the other files add. */
#include "py_memory.h"

enum { EVALUATED = 256 }; /* programs that leat.eval remembers by their text */

static PyObject *evaluated; /* text: program; the text used last is the last */

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

/* Forgets the text that was used the longest ago. */
static int drop_evaluated(void) {
    PyObject *text, *program;
    Py_ssize_t at = 0;
    if (PyDict_Size(evaluated) < EVALUATED || !PyDict_Next(evaluated, &at, &text, &program))
        return 0;
    Py_INCREF(text);
    int failed = PyDict_DelItem(evaluated, text);
    Py_DECREF(text);
    return failed;
}

static PyObject *program_of(PyObject *text) {
    static const PyObject *last; /* the address of the text used last; only compared */
    PyObject *found = Py_XNewRef(PyDict_GetItemWithError(evaluated, text));
    if (PyErr_Occurred() || (found && text == last))
        return found;
    int failed = found ? PyDict_DelItem(evaluated, text) : drop_evaluated();
    if (!found && !failed) {
        PyObject *name = PyUnicode_FromString("program");
        found = name ? le_py_program_new(text, name, Py_None) : NULL;
        Py_XDECREF(name);
    }
    if (found && !failed)
        failed = PyDict_SetItem(evaluated, text, found);
    last = text;
    if (failed)
        Py_CLEAR(found);
    return found;
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
    {"program", LE_PY_KEYWORDS(make_program), METH_VARARGS | METH_KEYWORDS,
     "program(text, *, name=None, device=None)\n--\n\n"
     "Checks the text of a program and returns a leat.Program, which is called with its inputs. name is for messages, "
     "such as the file's. device fixes where it runs. Raises ProgramError, with all errors of the text."},
    {"eval", (PyCFunction)(void (*)(void))eval, METH_FASTCALL | METH_KEYWORDS,
     "eval(text, /, *args, out=None, stream=None, device=None, like=None, **inputs)\n--\n\nCalls the program of this "
     "text with these inputs. The last 256 texts are remembered."},
    {"asarray", LE_PY_KEYWORDS(le_py_asarray), METH_VARARGS | METH_KEYWORDS,
     "asarray(x, *, dtype=None, device=None, copy=None)\n--\n\n"
     "Returns a leat.Array with the elements of x: an array of any library, a number, or a list. Memory that the "
     "device can use is shared: host memory on the CPU, and a GPU's on that GPU; the work of x's library on it is "
     "waited for. Other memory is copied to the device. dtype converts the elements: floats are rounded, and a value "
     "that is not an integer of an integer type raises ValueError. device: None leaves memory of a GPU there and takes "
     "host memory to the default device. copy: True always copies, False raises ValueError where a copy is needed."},
    {"pinned_empty", LE_PY_KEYWORDS(le_py_pinned_empty), METH_VARARGS | METH_KEYWORDS,
     "pinned_empty(shape, dtype=\"f64\")\n--\n\nReturns a NumPy array over new page-locked memory, which a GPU copies "
     "directly and at full speed. Its elements are undefined. Without a GPU it is ordinary memory."},
    {"pinned", le_py_pinned, METH_O,
     "pinned(a, /)\n--\n\n"
     "Page-locks the memory of a NumPy array, which takes about 0.3 ms per MiB, and returns a NumPy array over the "
     "same memory. The memory is unlocked when that array is freed."},
    {"load", LE_PY_KEYWORDS(le_py_load), METH_VARARGS | METH_KEYWORDS,
     "load(path, *, key=None, dtype=None, device=None, like=None)\n--\n\n"
     "Reads an array from a .npy, .npz, .png, .csv or .tsv file. key names the array of an .npz that has several. "
     "dtype converts the elements. Returns a NumPy array, or with device a leat.Array there; like names another "
     "library, as in a call. A large .npy is mapped, not read: the array is read-only."},
    {"save", LE_PY_KEYWORDS(le_py_save), METH_VARARGS | METH_KEYWORDS,
     "save(path, array, *, key=None, colormap=None, sync=False)\n--\n\n"
     "Writes an array of any library to a .npy, .npz, .png, .csv or .tsv file, or a dict of arrays to an .npz. The "
     "file appears when it is complete. key is the array's name in an .npz (\"array\"). colormap, of a .png: \"grey\" "
     "or \"viridis\". sync: the file is on the disk when save returns."},
    {"devices", LE_PY_KEYWORDS(le_py_devices), METH_VARARGS | METH_KEYWORDS,
     "devices(measure=False)\n--\n\n"
     "Returns a leat.DeviceInfo for each device: the CPU, CUDA devices, and sim. measure: measures their rates, which "
     "takes up to 0.4 s for each."},
    {"synchronize", LE_PY_KEYWORDS(le_py_synchronize), METH_VARARGS | METH_KEYWORDS,
     "synchronize(device=None)\n--\n\n"
     "Waits for all of Leat's work on a device (None: on all devices in use), and raises its error, if any."},
    {"show_progress", le_py_show_progress, METH_O,
     "show_progress(on, /)\n--\n\nWhether a run that takes more than a second shows its program's name and the time on "
     "the terminal. The default is off, and on if the environment has LEAT_PROGRESS=1."},
    {"_program_again", program_again, METH_VARARGS, NULL},
    {"_array_again", le_py_array_again, METH_VARARGS, NULL},
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
    return failed || !evaluated || le_py_errors_init(module) || le_py_process_init() || le_py_dtype_init(module) ||
           le_py_argument_init() || le_py_array_init(module) || le_py_stream_init(module) ||
           le_py_program_init(module) || le_py_kernel_init(module) || le_py_memory_init(module) ||
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
