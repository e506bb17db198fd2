/* leat.Program: its text, its names, and its prepared forms on devices. Calls are in py_call.c. */
#include "py_leat.h"
#include <stdlib.h>
#include <string.h>

enum { IDLE_MAX = 64 };

PyTypeObject *le_py_program_type;

const char *le_py_text(PyObject *text) {
    return PyUnicode_AsUTF8AndSize(text, NULL);
}

const char *le_py_input_name(const struct le_py_program *program, Py_ssize_t k) {
    return le_py_text(PyTuple_GetItem(program->inputs, k));
}

/* ---- calls */

static void free_call(struct le_py_call *call) {
    if (!call)
        return;
    leat_call_free(call->call);
    free(call);
}

static struct le_py_call *new_call(const struct le_py_program *program, struct le_py_prepared *prepared) {
    size_t count = (size_t)program->input_count;
    struct le_py_call *made = calloc(1, sizeof *made + 2 * count + 1);
    if (!made)
        return (struct le_py_call *)PyErr_NoMemory();
    made->is_bound = (bool *)(made + 1);
    made->is_array = made->is_bound + count;
    made->progress.name = program->name;
    leat_status status = leat_call_new(prepared->program, &made->call);
    if (!status)
        status = leat_call_watch(made->call, le_py_proceed, &made->progress);
    if (!status)
        return made;
    free_call(made);
    return le_py_raise(status, NULL, NULL);
}

struct le_py_call *le_py_call_take(struct le_py_program *program, struct le_py_prepared *prepared) {
    return prepared->idle_count > 0 ? prepared->idle[--prepared->idle_count] : new_call(program, prepared);
}

void le_py_call_give(struct le_py_program *program, struct le_py_prepared *prepared, struct le_py_call *call) {
    for (Py_ssize_t k = 0; k < program->input_count; k++)
        if (call->is_array[k]) {
            leat_call_set_array_at(call->call, (size_t)k, NULL);
            call->is_array[k] = call->is_bound[k] = false;
        }
    if (prepared->idle_count == prepared->idle_capacity && prepared->idle_capacity < IDLE_MAX) {
        int capacity = prepared->idle_capacity ? 2 * prepared->idle_capacity : 4;
        struct le_py_call **grown = realloc(prepared->idle, (size_t)capacity * sizeof(struct le_py_call *));
        if (grown) {
            prepared->idle = grown;
            prepared->idle_capacity = capacity;
        }
    }
    if (prepared->idle_count < prepared->idle_capacity)
        prepared->idle[prepared->idle_count++] = call;
    else
        free_call(call);
}

/* ---- prepared forms */

struct le_py_prepared *le_py_prepared_new(struct le_py_program *program, struct le_py_device *device) {
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(program->text, &size), *name = le_py_text(program->name);
    struct le_py_prepared *made = text && name ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return text && name ? (struct le_py_prepared *)PyErr_NoMemory() : NULL;
    const leat_program_options options = {.struct_size = sizeof options, .name = name};
    leat_status status;
    Py_BEGIN_ALLOW_THREADS
    status = leat_program_new(device->ctx, text, (size_t)size, &options, &made->program);
    Py_END_ALLOW_THREADS
    if (status) {
        free(made);
        return le_py_raise(status, text, name);
    }
    made->device = device;
    made->generation = le_py_generation();
    return made;
}

void le_py_prepared_free(struct le_py_prepared *prepared) {
    if (!prepared || prepared->generation != le_py_generation()) /* the parent's of a forked child: left alone */
        return;
    Py_BEGIN_ALLOW_THREADS /* it may wait for work that uses another library's memory */
    for (int k = 0; k < prepared->idle_count; k++)
        free_call(prepared->idle[k]);
    leat_program_free(prepared->program);
    Py_END_ALLOW_THREADS
    free(prepared->idle);
    free(prepared);
}

static struct le_py_prepared *find_prepared(struct le_py_program *program, const struct le_py_device *device) {
    struct le_py_prepared *at = program->prepared;
    while (at && (at->device != device || at->generation != le_py_generation()))
        at = at->next;
    return at;
}

struct le_py_prepared *le_py_program_prepare(struct le_py_program *program, struct le_py_device *device) {
    struct le_py_prepared *found = find_prepared(program, device);
    if (found)
        return found;
    struct le_py_prepared *made = le_py_prepared_new(program, device);
    found = made ? find_prepared(program, device) : NULL; /* another thread may have been first */
    if (found) {
        le_py_prepared_free(made);
        return found;
    }
    if (made) {
        made->next = program->prepared;
        program->prepared = made;
    }
    return made;
}

/* ---- names */

static PyObject *names_of(const leat_program *program, leat_name_kind kind, bool *is_optional) {
    size_t count = 0;
    leat_program_count(program, kind, &count);
    PyObject *names = PyTuple_New((Py_ssize_t)count);
    for (size_t k = 0; names && k < count; k++) {
        leat_name_info info;
        leat_program_name(program, kind, k, &info);
        PyObject *name = PyUnicode_InternFromString(info.name);
        if (is_optional)
            is_optional[k] = info.optional;
        if (!name || PyTuple_SetItem(names, (Py_ssize_t)k, name) < 0)
            Py_CLEAR(names);
    }
    return names;
}

static int read_names(struct le_py_program *program, const leat_program *checked) {
    size_t inputs = 0;
    leat_program_count(checked, LEAT_NAME_INPUT, &inputs);
    program->is_optional = calloc(inputs + 1, sizeof *program->is_optional);
    if (!program->is_optional)
        return PyErr_NoMemory(), -1;
    program->inputs = names_of(checked, LEAT_NAME_INPUT, program->is_optional);
    program->results = names_of(checked, LEAT_NAME_RESULT, NULL);
    if (!program->inputs || !program->results)
        return -1;
    program->input_count = PyTuple_Size(program->inputs);
    program->result_count = PyTuple_Size(program->results);
    return 0;
}

/* The text is checked on the program's device, else on the CPU, which is opened fastest. */
PyObject *le_py_program_new(PyObject *text, PyObject *name, PyObject *device) {
    struct le_py_device *checks_on;
    if (le_py_device_of(device, &checks_on) < 0 || (!checks_on && !(checks_on = le_py_device_open("cpu"))))
        return NULL;
    struct le_py_program *made = le_py_object_new(le_py_program_type);
    if (!made)
        return NULL;
    made->vectorcall = le_py_program_call;
    made->text = Py_NewRef(text);
    made->name = Py_NewRef(name);
    made->device = Py_NewRef(device ? device : Py_None);
    struct le_py_prepared *prepared = le_py_program_prepare(made, checks_on);
    if (prepared && read_names(made, prepared->program) == 0)
        return (PyObject *)made;
    Py_DECREF(made);
    return NULL;
}

static void program_dealloc(PyObject *self) {
    struct le_py_program *program = (struct le_py_program *)self;
    if (program->weak)
        PyObject_ClearWeakRefs(self);
    for (struct le_py_prepared *at = program->prepared, *next; at; at = next) {
        next = at->next;
        le_py_prepared_free(at);
    }
    free(program->is_optional);
    Py_XDECREF(program->text);
    Py_XDECREF(program->name);
    Py_XDECREF(program->device);
    Py_XDECREF(program->inputs);
    Py_XDECREF(program->results);
    le_py_object_free(self);
}

/* ---- attributes */

static PyObject *join(PyObject *names) {
    PyObject *comma = PyUnicode_FromString(", "), *joined = comma ? PyUnicode_Join(comma, names) : NULL;
    Py_XDECREF(comma);
    return joined;
}

static PyObject *program_repr(PyObject *self) {
    struct le_py_program *program = (struct le_py_program *)self;
    PyObject *inputs = join(program->inputs), *results = join(program->results);
    PyObject *repr = inputs && results
                         ? PyUnicode_FromFormat("<leat.Program %U: (%U) -> (%U)>", program->name, inputs, results)
                         : NULL;
    Py_XDECREF(inputs);
    Py_XDECREF(results);
    return repr;
}

/* Pickled as its text, so that a program can go to another process or machine. */
static PyObject *program_reduce(PyObject *self, PyObject *none) {
    struct le_py_program *program = (struct le_py_program *)self;
    PyObject *module = PyImport_ImportModule("leat._leat"),
             *make = module ? PyObject_GetAttrString(module, "_program_again") : NULL;
    PyObject *reduced = make ? Py_BuildValue("(O(OOO))", make, program->text, program->name, program->device) : NULL;
    (void)none;
    Py_XDECREF(module);
    Py_XDECREF(make);
    return reduced;
}

/* ---- __signature__ and __doc__, which inspect and help() read: a program has its own, and so has the class */

static const char program_doc[] =
    "A checked program. leat.program makes one. Call it with its inputs, by position or by name: arrays of NumPy, "
    "CuPy, PyTorch, JAX or Leat, and numbers. Threads may share it; it pickles as its text.";

struct attribute { /* a descriptor: `made` computes a program's value */
    PyObject_HEAD;
    PyObject *of_class;
    PyObject *(*made)(PyObject *module, PyObject *program, PyObject *of_class);
};

static PyObject *make_signature(PyObject *module, PyObject *program, PyObject *none) {
    (void)none;
    return PyObject_CallMethod(module, "of", "O", program);
}

static PyObject *make_doc(PyObject *module, PyObject *program, PyObject *of_class) {
    return PyObject_CallMethod(module, "document", "OO", program, of_class);
}

static PyObject *attribute_get(PyObject *self, PyObject *program, PyObject *type) {
    const struct attribute *attribute = (struct attribute *)self;
    (void)type;
    if (!program || program == Py_None)
        return Py_NewRef(attribute->of_class);
    PyObject *module = PyImport_ImportModule("leat._signature");
    PyObject *made = module ? attribute->made(module, program, attribute->of_class) : NULL;
    Py_XDECREF(module);
    return made;
}

static void attribute_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((struct attribute *)self)->of_class);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyType_Slot attribute_slots[] = {{Py_tp_descr_get, attribute_get}, {Py_tp_dealloc, attribute_dealloc}, {0}};
static PyType_Spec attribute_spec = {.name = "leat._leat.Attribute",
                                     .basicsize = sizeof(struct attribute),
                                     .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     .slots = attribute_slots};

/* Takes over of_class. */
static int add_attribute(PyObject *type, const char *name, PyObject *of_class,
                         PyObject *(*made)(PyObject *, PyObject *, PyObject *)) {
    allocfunc allocate = type && of_class ? (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc) : NULL;
    struct attribute *attribute = allocate ? (struct attribute *)allocate((PyTypeObject *)type, 0) : NULL;
    if (!attribute) {
        Py_XDECREF(of_class);
        return -1;
    }
    attribute->of_class = of_class;
    attribute->made = made;
    int failed = PyObject_SetAttrString((PyObject *)le_py_program_type, name, (PyObject *)attribute);
    Py_DECREF(attribute);
    return failed;
}

/* ---- other attributes */

static PyObject *program_optional(PyObject *self, void *none) {
    struct le_py_program *program = (struct le_py_program *)self;
    (void)none;
    PyObject *list = PyList_New(0);
    for (Py_ssize_t k = 0; list && k < program->input_count; k++)
        if (program->is_optional[k] && PyList_Append(list, PyTuple_GetItem(program->inputs, k)) < 0)
            Py_CLEAR(list);
    PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

static Py_hash_t program_hash(PyObject *self) {
    return PyObject_Hash(((struct le_py_program *)self)->text);
}

static PyObject *program_compare(PyObject *a, PyObject *b, int how) {
    const struct le_py_program *left = (struct le_py_program *)a, *right = (struct le_py_program *)b;
    if ((how != Py_EQ && how != Py_NE) || Py_TYPE(b) != le_py_program_type)
        Py_RETURN_NOTIMPLEMENTED;
    int same = PyObject_RichCompareBool(left->text, right->text, Py_EQ);
    if (same > 0)
        same = PyObject_RichCompareBool(left->device, right->device, Py_EQ);
    return same < 0 ? NULL : PyBool_FromLong((same > 0) == (how == Py_EQ));
}

static PyMemberDef program_fields[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(struct le_py_program, vectorcall), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct le_py_program, weak), READONLY, NULL},
    {"text", T_OBJECT, offsetof(struct le_py_program, text), READONLY, "The program's text."},
    {"name", T_OBJECT, offsetof(struct le_py_program, name), READONLY, "Its name in messages."},
    {"device", T_OBJECT, offsetof(struct le_py_program, device), READONLY, "The device it always runs on, or None."},
    {"inputs", T_OBJECT, offsetof(struct le_py_program, inputs), READONLY,
     "The names of the inputs, in the order of arguments by position."},
    {"results", T_OBJECT, offsetof(struct le_py_program, results), READONLY, "The names of the results, in order."},
    {0}};
static PyGetSetDef program_members[] = {
    {"optional", program_optional, NULL, "The names of the inputs that may be left out.", NULL}, {0}};
static PyMethodDef program_methods[] = {
    {"explain", (PyCFunction)(void (*)(void))le_py_program_explain, METH_FASTCALL | METH_KEYWORDS,
     "explain($self, *args, out=None, stream=None, device=None, like=None, **inputs)\n--\n\nRuns the program twice, "
     "apart from its other calls, and returns the account of the second run as a leat.Account: what was done, why, "
     "how often and how long it took, what bounds the run, and what only the first run cost. A script prints it; a "
     "prompt displays it as a table, a notebook as a picture. Writes the results into out."},
    {"show", (PyCFunction)(void (*)(void))le_py_program_show, METH_FASTCALL | METH_KEYWORDS,
     "show($self, form=\"tree\", /, *args, arch=None, out=None, stream=None, device=None, like=None, **inputs)\n--\n\n"
     "Returns one form of the program as text. \"tree\" needs no arguments. \"ir\", \"ir:PASS\" (the IR after one "
     "pass), \"plan\", \"bytecode\", \"kernel\", \"cuda\", \"ptx\" and \"sass\" are for these arguments. The last four "
     "need no GPU. arch names the architecture of ptx and sass, such as \"sm_90\"."},
    {"__reduce__", program_reduce, METH_NOARGS, NULL},
    {0}};
static PyType_Slot program_slots[] = {{Py_tp_dealloc, program_dealloc},
                                      {Py_tp_repr, program_repr},
                                      {Py_tp_hash, program_hash},
                                      {Py_tp_richcompare, program_compare},
                                      {Py_tp_call, le_py_program_call_slow},
                                      {Py_tp_members, program_fields},
                                      {Py_tp_getset, program_members},
                                      {Py_tp_methods, program_methods},
                                      {0}};
static PyType_Spec program_spec = {.name = "leat.Program",
                                   .basicsize = sizeof(struct le_py_program),
                                   .flags =
                                       Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | LE_PY_HAVE_VECTORCALL,
                                   .slots = program_slots};

int le_py_program_init(PyObject *module) {
    le_py_program_type = (PyTypeObject *)PyType_FromSpec(&program_spec);
    PyObject *attribute = le_py_program_type ? PyType_FromSpec(&attribute_spec) : NULL;
    int failed = add_attribute(attribute, "__signature__", Py_NewRef(Py_None), make_signature) < 0 ||
                 add_attribute(attribute, "__doc__", PyUnicode_FromString(program_doc), make_doc) < 0;
    Py_XDECREF(attribute);
    return failed ? -1 : PyModule_AddObjectRef(module, "Program", (PyObject *)le_py_program_type);
}
