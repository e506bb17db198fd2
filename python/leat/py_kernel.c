/* leat.Module and leat.Kernel: the user's own CUDA C. Launches are in py_launch.c. */
#include "py_kernel.h"
#include <stdlib.h>
#include <string.h>

struct py_module {
    PyObject_HEAD leat_module *module;
    struct le_py_device *device;
    PyObject *name; /* for messages */
};
static PyTypeObject *module_type, *kernel_type, *parameter_type;

/* ---- kernels */

enum { PARAMETER_FIELDS = 6 };

static int read_facts(struct le_py_kernel *kernel) {
    leat_status status = leat_kernel_get(kernel->kernel, &kernel->info);
    if (!status) {
        kernel->parameters = calloc((size_t)kernel->info.parameter_count + 1, sizeof *kernel->parameters);
        if (!kernel->parameters)
            return PyErr_NoMemory(), -1;
    }
    for (int k = 0; k < kernel->info.parameter_count && !status; k++)
        status = leat_kernel_parameter(kernel->kernel, (size_t)k, &kernel->parameters[k]);
    return status ? (le_py_raise(status, NULL, NULL), -1) : 0;
}

static PyObject *new_kernel(PyObject *module, leat_kernel *native) {
    struct le_py_kernel *made = le_py_object_new(kernel_type);
    if (!made)
        return NULL;
    made->kernel = native;
    made->module = Py_NewRef(module);
    made->device = ((struct py_module *)module)->device;
    if (read_facts(made) < 0)
        Py_CLEAR(made);
    return (PyObject *)made;
}

static void kernel_dealloc(PyObject *self) {
    struct le_py_kernel *kernel = (struct le_py_kernel *)self;
    free(kernel->parameters);
    Py_XDECREF(kernel->module);
    le_py_object_free(self);
}

static PyObject *describe_parameter(const leat_parameter_info *info) {
    PyObject *made = PyStructSequence_New(parameter_type);
    if (!made)
        return NULL;
    leat_dtype dtype = info->is_pointer ? info->pointee : info->dtype;
    PyObject *fields[] = {le_py_string(info->name),
                          dtype ? le_py_dtype_object(dtype) : Py_NewRef(Py_None),
                          PyLong_FromSize_t(info->size_bytes),
                          PyBool_FromLong(info->is_address),
                          PyBool_FromLong(info->is_const),
                          PyBool_FromLong(info->is_pointer)};
    for (int k = 0; k < PARAMETER_FIELDS; k++)
        if (fields[k])
            PyStructSequence_SetItem(made, k, fields[k]);
    if (PyErr_Occurred())
        Py_CLEAR(made);
    return made;
}

static PyObject *kernel_parameters(PyObject *self, void *none) {
    const struct le_py_kernel *kernel = (struct le_py_kernel *)self;
    (void)none;
    PyObject *all = PyTuple_New(kernel->info.parameter_count);
    for (int k = 0; all && k < kernel->info.parameter_count; k++) {
        PyObject *one = describe_parameter(&kernel->parameters[k]);
        if (!one || PyTuple_SetItem(all, k, one) < 0)
            Py_CLEAR(all);
    }
    return all;
}

/* "<leat.Kernel saxpy(y, x, a, n) on cuda:0>" */
static PyObject *kernel_repr(PyObject *self) {
    const struct le_py_kernel *kernel = (struct le_py_kernel *)self;
    PyObject *words = PyUnicode_FromString("");
    for (int k = 0; words && k < kernel->info.parameter_count; k++) {
        const char *name = kernel->parameters[k].name;
        PyObject *longer = PyUnicode_FromFormat("%U%s%s", words, k ? ", " : "", *name ? name : "?");
        Py_DECREF(words);
        words = longer;
    }
    PyObject *repr =
        words ? PyUnicode_FromFormat("<leat.Kernel %s(%U) on %s>", kernel->info.name, words, kernel->device->name)
              : NULL;
    Py_XDECREF(words);
    return repr;
}

static PyObject *kernel_call(PyObject *self, PyObject *args, PyObject *names) {
    const char *name = ((struct le_py_kernel *)self)->info.name;
    (void)args;
    (void)names;
    return PyErr_Format(
        PyExc_TypeError,
        "kernel %s cannot be called without a grid and a block; launch it with kernel[grid, block](...)", name);
}

static PyStructSequence_Field parameter_fields[] = {
    {"name", "Its name in the source; \"\" if that is not known."},
    {"dtype", "Its type, or the type that it points to, such as \"f32\"; integers are \"i32\" whether signed or not; "
              "None: another type, or unknown."},
    {"size_bytes", "Its size."},
    {"is_address", "It may be a pointer or a 64-bit integer."},
    {"is_const", "It points to const: an input."},
    {"is_pointer", "It is known to be a pointer."},
    {NULL, NULL}};
static PyStructSequence_Desc parameter_description = {.name = "leat.Parameter",
                                                      .doc = "A parameter of a kernel.",
                                                      .fields = parameter_fields,
                                                      .n_in_sequence = PARAMETER_FIELDS};

#define FACT(kind, field, doc)                                                                                         \
    { #field, kind, offsetof(struct le_py_kernel, info.field), READONLY, doc }
static PyMemberDef kernel_facts[] = {
    FACT(T_STRING, name, "Its name in the source."),
    FACT(T_INT, registers, "Registers of a thread."),
    FACT(T_INT, max_block_threads, "The most threads that a block may have, given its registers."),
    FACT(T_INT, best_block_threads, "The size of block with the best occupancy."),
    FACT(T_ULONG, static_shared_bytes, "Shared memory of a block."),
    FACT(T_ULONG, max_dynamic_shared_bytes, "The most shared memory that a launch may ask for in addition."),
    FACT(T_ULONG, local_bytes, "Memory of a thread for spilled registers and arrays."),
    FACT(T_ULONG, constant_bytes, "Constant memory."),
    {"module", T_OBJECT, offsetof(struct le_py_kernel, module), READONLY, "The leat.Module that it is from."},
    {0}};
static PyGetSetDef kernel_members[] = {
    {"parameters", kernel_parameters, NULL, "Its parameters, as a tuple of leat.Parameter.", NULL}, {0}};
static PyType_Slot kernel_slots[] = {
    {Py_tp_doc,
     "A kernel of a leat.Module. kernel[grid, block](...) launches it; kernel[grid, block, stream, shared_bytes] also "
     "names a stream and the dynamic shared memory. grid and block are numbers, or tuples of up to three. Arrays are "
     "passed by the address of their first element: those for pointers to const are inputs, the others are read and "
     "written. They must be on the kernel's device. Numbers are converted to the parameters' types. The launch is "
     "ordered with other work on the same arrays."},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_repr, kernel_repr},
    {Py_tp_members, kernel_facts},
    {Py_tp_getset, kernel_members},
    {Py_tp_call, kernel_call},
    {Py_mp_subscript, le_py_kernel_subscript},
    {0}};
static PyType_Spec kernel_spec = {.name = "leat.Kernel",
                                  .basicsize = sizeof(struct le_py_kernel),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  .slots = kernel_slots};

/* ---- lists of texts for the compiler */

struct texts {
    PyObject *held;  /* a list of bytes */
    const char **at; /* ends with NULL */
};

static void free_texts(struct texts *texts) {
    Py_XDECREF(texts->held);
    free(texts->at);
}

/* A sequence of strings, or of paths. */
static int read_texts(PyObject *value, const char *name, struct texts *texts) {
    *texts = (struct texts){0};
    if (!value)
        return 0;
    if (PyUnicode_Check(value) || PyBytes_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s must be a sequence of strings, not one string", name);
        return -1;
    }
    PyObject *items = PySequence_Tuple(value);
    Py_ssize_t count = items ? PyTuple_Size(items) : 0;
    texts->held = items ? PyList_New(0) : NULL;
    texts->at = calloc((size_t)count + 1, sizeof *texts->at);
    int failed = texts->held && texts->at ? 0 : -1;
    for (Py_ssize_t k = 0; k < count && !failed; k++) {
        PyObject *bytes = NULL;
        failed =
            PyUnicode_FSConverter(PyTuple_GetItem(items, k), &bytes) && PyList_Append(texts->held, bytes) == 0 ? 0 : -1;
        texts->at[k] = failed ? NULL : PyBytes_AsString(bytes);
        Py_XDECREF(bytes);
    }
    Py_XDECREF(items);
    return failed && !PyErr_Occurred() ? (PyErr_NoMemory(), -1) : failed;
}

/* ---- modules */

/* The device named, else the default one, else the first GPU. */
static struct le_py_device *device_for(PyObject *name) {
    struct le_py_device *device;
    PyObject *type, *reason, *trace;
    if (le_py_device_of(name, &device) < 0)
        return NULL;
    if (!device)
        device = le_py_device_or_gpu();
    if (!device || !device->is_cpu || (name && name != Py_None))
        return device;
    device = le_py_device_open("cuda"); /* says why there is none */
    if (device)
        return device;
    PyErr_Fetch(&type, &reason, &trace);
    PyErr_Format(le_py_errors.device, "CUDA C needs a GPU, or device=\"sim\", which simulates one: %S",
                 reason ? reason : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(reason);
    Py_XDECREF(trace);
    return NULL;
}

static int compile(struct py_module *module, const char *source, const leat_module_options *options) {
    leat_status status;
    Py_BEGIN_ALLOW_THREADS
    status = leat_module_new(module->device->ctx, source, options, &module->module);
    Py_END_ALLOW_THREADS
    return status ? (le_py_raise(status, source, options->name), -1) : 0;
}

static PyObject *module_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    static char *words[] = {"source",    "name",   "macros", "include_paths", "options", "names",
                            "line_info", "device", NULL};
    PyObject *lists[4] = {NULL}, *device = NULL;
    const char *source;
    leat_module_options options = {.struct_size = sizeof options, .name = NULL};
    struct texts texts[4] = {{0}};
    int line_info = 0;
    if (!PyArg_ParseTupleAndKeywords(args, names, "s|$zOOOOpO", words, &source, &options.name, &lists[0], &lists[1],
                                     &lists[2], &lists[3], &line_info, &device))
        return NULL;
    int failed = 0;
    for (int k = 0; k < 4 && !failed; k++)
        failed = read_texts(lists[k], words[k + 2], &texts[k]);
    struct py_module *made = failed ? NULL : le_py_object_new(type);
    if (made) {
        options.name = options.name && *options.name ? options.name : "module.cu";
        options.macros = texts[0].at;
        options.include_paths = texts[1].at;
        options.options = texts[2].at;
        options.names = texts[3].at;
        options.line_info = line_info;
        made->device = device_for(device);
        made->name = PyUnicode_FromString(options.name);
        if (!made->device || !made->name || compile(made, source, &options) < 0)
            Py_CLEAR(made);
    }
    for (int k = 0; k < 4; k++)
        free_texts(&texts[k]);
    return (PyObject *)made;
}

static void module_dealloc(PyObject *self) {
    struct py_module *module = (struct py_module *)self;
    if (module->module) {
        Py_BEGIN_ALLOW_THREADS /* it waits for the launches */
        leat_module_free(module->module);
        Py_END_ALLOW_THREADS
    }
    Py_XDECREF(module->name);
    le_py_object_free(self);
}

static PyObject *module_subscript(PyObject *self, PyObject *key) {
    const struct py_module *module = (struct py_module *)self;
    leat_kernel *kernel;
    if (!PyUnicode_Check(key))
        return PyErr_Format(PyExc_TypeError, "a kernel is found by its name, not by %R", key), NULL;
    const char *name = le_py_text(key);
    if (!name)
        return NULL;
    if (leat_module_kernel(module->module, name, &kernel) == LEAT_OK)
        return new_kernel(self, kernel);
    leat_error error;
    leat_error_get(NULL, &error);
    PyErr_Format(PyExc_KeyError, "%s", error.message);
    return NULL;
}

static PyObject *module_symbol(PyObject *self, PyObject *name) {
    const struct py_module *module = (struct py_module *)self;
    leat_array *array;
    const char *text = PyUnicode_Check(name) ? le_py_text(name) : NULL;
    if (!text)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "symbol takes a name, not %R", name);
    leat_status status = leat_module_symbol(module->module, text, &array);
    return status ? le_py_raise(status, NULL, NULL) : le_py_array_new(array, module->device);
}

static PyObject *kernel_names(PyObject *self) {
    const struct py_module *module = (struct py_module *)self;
    size_t count = 0;
    PyObject *list = PyList_New(0);
    leat_module_kernel_count(module->module, &count);
    for (size_t k = 0; list && k < count; k++) {
        leat_kernel *kernel;
        leat_kernel_info info;
        leat_status status = leat_module_kernel_at(module->module, k, &kernel);
        if (!status)
            status = leat_kernel_get(kernel, &info);
        PyObject *name = status ? le_py_raise(status, NULL, NULL) : le_py_string(info.name);
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *module_kernels(PyObject *self, void *none) {
    (void)none;
    return kernel_names(self);
}

static PyObject *module_log(PyObject *self, void *none) {
    const char *log;
    (void)none;
    leat_status status = leat_module_log(((struct py_module *)self)->module, &log);
    return status ? le_py_raise(status, NULL, NULL) : le_py_string(log);
}

static PyObject *module_device(PyObject *self, void *none) {
    (void)none;
    return PyUnicode_FromString(((struct py_module *)self)->device->name);
}

static PyObject *module_repr(PyObject *self) {
    const struct py_module *module = (struct py_module *)self;
    PyObject *names = kernel_names(self), *comma = PyUnicode_FromString(", "),
             *joined = names && comma ? PyUnicode_Join(comma, names) : NULL;
    PyObject *repr =
        joined ? PyUnicode_FromFormat("<leat.Module %U: %U on %s>", module->name, joined, module->device->name) : NULL;
    Py_XDECREF(names);
    Py_XDECREF(comma);
    Py_XDECREF(joined);
    return repr;
}

static PyMethodDef module_methods[] = {
    {"symbol", module_symbol, METH_O,
     "symbol($self, name, /)\n--\n\nReturns a __device__ or __constant__ variable as a leat.Array of its bytes."},
    {0}};
static PyMemberDef module_fields[] = {
    {"name", T_OBJECT, offsetof(struct py_module, name), READONLY, "Its name in messages."}, {0}};
static PyGetSetDef module_members[] = {{"kernels", module_kernels, NULL, "The names of its kernels, as a list.", NULL},
                                       {"log", module_log, NULL, "The compiler's warnings, or \"\".", NULL},
                                       {"device", module_device, NULL, "The name of its device.", NULL},
                                       {0}};
static PyType_Slot module_slots[] = {
    {Py_tp_doc,
     "Module(source, *, name=None, macros=(), include_paths=(), options=(), names=(), line_info=False, "
     "device=None)\n--\n\n"
     "Compiles CUDA C. module[\"f\"] is the kernel f. name is for messages, such as the file's. macros: \"NAME\" or "
     "\"NAME=VALUE\". options: further ones of NVRTC, such as \"--use_fast_math\". names: templates to instantiate, "
     "such as \"scale<float>\". line_info adds source lines to the code, for profilers. device: None is the default "
     "device, or the first GPU if that is the CPU; \"sim\" simulates one. Raises ProgramError if it does not compile."},
    {Py_tp_new, module_new},
    {Py_tp_dealloc, module_dealloc},
    {Py_tp_repr, module_repr},
    {Py_tp_methods, module_methods},
    {Py_tp_members, module_fields},
    {Py_tp_getset, module_members},
    {Py_mp_subscript, module_subscript},
    {0}};
static PyType_Spec module_spec = {
    .name = "leat.Module", .basicsize = sizeof(struct py_module), .flags = Py_TPFLAGS_DEFAULT, .slots = module_slots};

int le_py_kernel_init(PyObject *module) {
    module_type = (PyTypeObject *)PyType_FromSpec(&module_spec);
    kernel_type = (PyTypeObject *)PyType_FromSpec(&kernel_spec);
    parameter_type = PyStructSequence_NewType(&parameter_description);
    if (!module_type || !kernel_type || !parameter_type ||
        PyModule_AddObjectRef(module, "Module", (PyObject *)module_type) < 0 ||
        PyModule_AddObjectRef(module, "Kernel", (PyObject *)kernel_type) < 0 ||
        PyModule_AddObjectRef(module, "Parameter", (PyObject *)parameter_type) < 0)
        return -1;
    return le_py_launch_init(module);
}
