/* Program.explain and Program.show: a call's arguments are bound as for a run. explain runs in a context of its own, so
 * that the account has this run's costs and no others; the cost of opening that context is not among them. The classes
 * of what they return are in _account.py. */
#include "py_leat.h"
#include <string.h>

/* ---- what both need */

/* Waits until the argument's memory is ready. An array of Leat's is then described as memory, which every context
 * binds. */
static leat_status wait_for(struct le_py_argument *a) {
    leat_status status = LEAT_OK;
    if (a->kind == LE_PY_MEMORY && a->ready) {
        status = leat_stream_synchronize(a->ready);
    } else if (a->kind == LE_PY_HANDLE) {
        status = a->device->is_cpu ? LEAT_OK : leat_context_synchronize(a->device->ctx);
        if (!status)
            status = leat_array_get(a->array, &a->memory);
        a->kind = LE_PY_MEMORY;
        a->device = a->device->is_cpu ? NULL : a->device;
    }
    a->ready = NULL;
    return status;
}

/* The work before the call's is waited for, also that in the stream that the caller names, which is of `device`. */
static int wait_for_all(struct le_py_run *run, struct le_py_device *device) {
    struct le_py_order *order = &run->order;
    leat_status status = LEAT_OK;
    if (run->stream_value && le_py_stream_of(run->stream_value, device, &order->stream, &order->wrapped) < 0)
        return -1;
    Py_BEGIN_ALLOW_THREADS
    status = order->stream ? leat_stream_synchronize(order->stream) : LEAT_OK;
    for (Py_ssize_t k = 0; k < run->resolved_inputs + run->resolved_outs && !status; k++)
        status = wait_for(&run->inputs[k]);
    Py_END_ALLOW_THREADS
    return status ? le_py_raise(status, NULL, NULL), -1 : 0;
}

/* Calls leat._account.name(...); takes over the texts of the library. */
static PyObject *make(const char *name, char *first, char *second, char *third) {
    PyObject *module = PyImport_ImportModule("leat._account");
    PyObject *made = module ? PyObject_CallMethod(module, name, third ? "sss" : "s", first, second, third) : NULL;
    Py_XDECREF(module);
    leat_memory_free(first);
    leat_memory_free(second);
    leat_memory_free(third);
    return made;
}

/* ---- explain */

static leat_status open_context(struct le_py_device *device) {
    const leat_options options = {
        .struct_size = sizeof options, .device = device->name, .keep_code = true, .ledger_level = 2, .log = le_py_note};
    leat_status status;
    device->own = NULL;
    device->ctx = NULL;
    Py_BEGIN_ALLOW_THREADS
    status = leat_open(&options, &device->ctx);
    if (!status)
        status = leat_ledger_clear(device->ctx);
    Py_END_ALLOW_THREADS
    return status;
}

/* Also after a failure: what was enqueued before it may still use the arguments. */
static int run_and_wait(struct le_py_run *run) {
    leat_status status = le_py_run_perform(run, NULL, false), waited = LEAT_OK;
    if (status)
        le_py_run_fail(run, status);
    Py_BEGIN_ALLOW_THREADS
    waited = run->device->is_cpu ? LEAT_OK : leat_context_synchronize(run->device->ctx);
    Py_END_ALLOW_THREADS
    if (waited)
        le_py_run_fail(run, waited);
    return PyErr_Occurred() ? -1 : 0;
}

static int wait_with_record(struct le_py_run *run, struct le_py_device *shared) {
    leat_context *ctx = run->device->ctx;
    if (shared->is_cpu)
        return wait_for_all(run, shared);
    leat_ledger_begin(ctx, LEAT_COST_WAIT, "earlier work on the arguments");
    int failed = wait_for_all(run, shared);
    leat_ledger_end(ctx, 0);
    return failed;
}

/* The arguments are resolved again, so that the account has the copies that this takes. */
static int bind_again(struct le_py_run *run, struct le_py_device *shared) {
    if (le_py_run_resolve(run) < 0)
        return -1;
    int failed = wait_with_record(run, shared);
    if (!failed && !run->prepared)
        run->prepared = le_py_prepared_new(run->program, run->device);
    run->call = !failed && run->prepared ? le_py_call_take(run->program, run->prepared) : NULL;
    return run->call ? le_py_run_bind(run) : -1;
}

static leat_status print_account(leat_context *ctx, leat_account_format format, bool has_verdict, char **text) {
    const leat_account_options options = {
        .struct_size = sizeof options, .no_verdict = !has_verdict, .is_repeated = has_verdict};
    leat_status status;
    Py_BEGIN_ALLOW_THREADS
    status = leat_account_print(ctx, format, &options, text);
    Py_END_ALLOW_THREADS
    return status;
}

/* The costs of the first run. The verdict is printed so that the machine is measured before the second run. */
static leat_status end_first(leat_context *ctx, char **first) {
    char *verdict = NULL;
    leat_status status = print_account(ctx, LEAT_ACCOUNT_JSON, false, first);
    if (!status)
        status = print_account(ctx, LEAT_ACCOUNT_VERDICT, true, &verdict);
    leat_memory_free(verdict);
    return status ? status : leat_ledger_clear(ctx);
}

/* One run, with the copies that its arguments take. -1: an exception is set. */
static int run_once(struct le_py_run *run, struct le_py_device *shared) {
    le_py_copy_ledger = run->device->ctx;
    int failed = bind_again(run, shared);
    le_py_copy_ledger = NULL;
    return failed || run_and_wait(run) < 0 ? -1 : 0;
}

/* device: the run's, but with the context of its own */
static PyObject *explain_on(struct le_py_run *run, struct le_py_device *device) {
    char *text = NULL, *json = NULL, *first = NULL;
    struct le_py_device *shared = run->device;
    run->device = device;
    leat_status status;
    if (run_once(run, shared) < 0)
        return NULL;
    le_py_call_give(run->program, run->prepared, run->call); /* the second run takes it again */
    run->call = NULL;
    status = end_first(device->ctx, &first);
    if (!status && run_once(run, shared) < 0) {
        leat_memory_free(first);
        return NULL;
    }
    if (!status)
        status = print_account(device->ctx, LEAT_ACCOUNT_TEXT, true, &text);
    if (!status)
        status = print_account(device->ctx, LEAT_ACCOUNT_JSON, false, &json);
    if (!status)
        return make("explained", text, json, first);
    leat_memory_free(text);
    leat_memory_free(first);
    le_py_run_fail(run, status);
    return NULL;
}

PyObject *le_py_program_explain(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    struct le_py_run run;
    PyObject *account = NULL;
    struct le_py_device device;
    struct le_py_notes notes;
    struct le_py_prepared *prepared = NULL;
    le_py_notes_begin(&notes);
    int failed = le_py_run_start(&run, (struct le_py_program *)self, args, count, names);
    if (!failed) {
        device = *run.device;
        leat_status status = open_context(&device);
        account = status ? le_py_raise(status, NULL, NULL) : explain_on(&run, &device);
        prepared = run.prepared;
    }
    le_py_run_finish(&run);
    le_py_prepared_free(prepared);
    if (!failed && device.ctx) {
        Py_BEGIN_ALLOW_THREADS
        leat_close(device.ctx);
        Py_END_ALLOW_THREADS
    }
    return le_py_notes_end(&notes, account);
}

/* ---- show */

struct wanted { /* what show prints */
    leat_form form;
    const char *pass, *architecture; /* or NULL */
};

static const char *const forms[] = {
    [LEAT_FORM_TREE] = "tree", [LEAT_FORM_IR] = "ir",   [LEAT_FORM_PLAN] = "plan", [LEAT_FORM_BYTECODE] = "bytecode",
    [LEAT_FORM_CUDA] = "cuda", [LEAT_FORM_PTX] = "ptx", [LEAT_FORM_SASS] = "sass", [LEAT_FORM_KERNEL] = "kernel"};

static int read_form(PyObject *value, struct wanted *wanted) {
    const char *text = PyUnicode_Check(value) ? le_py_text(value) : NULL;
    if (!text && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "the form must be a string such as \"tree\" or \"cuda\", not %R",
                     (PyObject *)Py_TYPE(value));
    if (!text)
        return -1;
    wanted->pass = strncmp(text, "ir:", 3) == 0 ? text + 3 : NULL;
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        if (strcmp(wanted->pass ? "ir" : text, forms[k]) == 0) {
            wanted->form = (leat_form)k;
            return 0;
        }
    PyErr_Format(PyExc_ValueError,
                 "there is no form %R; the forms are 'tree', 'ir', 'plan', 'bytecode', 'kernel', 'cuda', 'ptx' and "
                 "'sass', and 'ir:PASS', the IR after one pass",
                 value);
    return -1;
}

static int read_text(PyObject *value, const char **text) {
    *text = PyUnicode_Check(value) ? le_py_text(value) : NULL;
    if (!*text && value != Py_None && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "arch must be a string such as \"sm_90\", not %R", value);
    return PyErr_Occurred() ? -1 : 0;
}

/* Takes arch= out of the arguments, unless it is the name of an input: *others are the other names, and values, which
 * has room for all arguments, is as a call without it has them. */
static int read_architecture(const struct le_py_program *program, PyObject *const *args, Py_ssize_t count,
                             PyObject *names, PyObject **values, PyObject **others, struct wanted *wanted) {
    Py_ssize_t named = names ? PyTuple_Size(names) : 0, kept = 0;
    PyObject *list = PyList_New(0), *word = PyUnicode_FromString("arch");
    int is_input = list && word ? PySequence_Contains(program->inputs, word) : -1, failed = is_input < 0;
    memcpy(values, args, (size_t)count * sizeof *values);
    for (Py_ssize_t k = 0; k < named && !failed; k++) {
        PyObject *name = PyTuple_GetItem(names, k), *value = args[count + k];
        if (!is_input && PyUnicode_Compare(name, word) == 0) {
            failed = read_text(value, &wanted->architecture);
        } else {
            values[count + kept++] = value;
            failed = PyList_Append(list, name);
        }
    }
    *others = failed ? NULL : PyList_AsTuple(list);
    Py_XDECREF(list);
    Py_XDECREF(word);
    return *others ? 0 : -1;
}

static leat_status print_form(leat_call *call, const struct wanted *wanted, char **text) {
    if (wanted->pass)
        return leat_call_show_pass(call, wanted->pass, text);
    if (wanted->form >= LEAT_FORM_CUDA)
        return leat_call_show_code(call, wanted->form, wanted->architecture, text);
    return leat_call_show(call, wanted->form, text);
}

/* GPU code of a program that runs on the CPU is that of the simulated device. */
static int choose_device(struct le_py_run *run, const struct wanted *wanted) {
    if (wanted->form >= LEAT_FORM_CUDA && run->device->is_cpu && !run->device_value)
        run->device = le_py_device_open("sim");
    return run->device ? 0 : -1;
}

/* "" means that the program has no code of this kind. */
static PyObject *text_of(const struct le_py_run *run, const struct wanted *wanted, char *text) {
    if (*text || wanted->form != LEAT_FORM_BYTECODE || run->device->is_cpu)
        return make("Text", text, NULL, NULL);
    leat_memory_free(text);
    PyErr_SetString(PyExc_ValueError, "bytecode exists on the CPU only; show \"cuda\", or pass device=\"cpu\"");
    return NULL;
}

static PyObject *show_run(struct le_py_run *run, const struct wanted *wanted) {
    char *text = NULL;
    if (choose_device(run, wanted) < 0 || wait_for_all(run, run->device) < 0)
        return NULL;
    run->prepared = le_py_program_prepare(run->program, run->device);
    run->call = run->prepared ? le_py_call_take(run->program, run->prepared) : NULL;
    if (!run->call || le_py_run_bind(run) < 0)
        return NULL;
    leat_status status;
    Py_BEGIN_ALLOW_THREADS
    status = print_form(run->call->call, wanted, &text);
    Py_END_ALLOW_THREADS
    return status ? le_py_run_fail(run, status), NULL : text_of(run, wanted, text);
}

/* The tree needs no call. */
static PyObject *show_tree(struct le_py_program *program) {
    char *text = NULL;
    struct le_py_device *device;
    if (le_py_device_of(program->device, &device) < 0 || (!device && !(device = le_py_device_open("cpu"))))
        return NULL;
    struct le_py_prepared *prepared = le_py_program_prepare(program, device);
    if (!prepared)
        return NULL;
    leat_status status = leat_program_show(prepared->program, LEAT_FORM_TREE, &text);
    return status ? le_py_raise(status, NULL, NULL) : make("Text", text, NULL, NULL);
}

static PyObject *show_call(struct le_py_program *program, PyObject *const *args, Py_ssize_t count, PyObject *names,
                           struct wanted *wanted) {
    struct le_py_run run;
    PyObject *others = NULL, *text = NULL;
    size_t all = (size_t)(count + (names ? PyTuple_Size(names) : 0));
    PyObject **values = PyMem_Malloc((all + 1) * sizeof *values);
    if (!values)
        return PyErr_NoMemory();
    if (read_architecture(program, args, count, names, values, &others, wanted) == 0) {
        if (le_py_run_start(&run, program, values, count, others) == 0)
            text = show_run(&run, wanted);
        le_py_run_finish(&run);
    }
    Py_XDECREF(others);
    PyMem_Free(values);
    return text;
}

PyObject *le_py_program_show(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    struct le_py_program *program = (struct le_py_program *)self;
    struct wanted wanted = {.form = LEAT_FORM_TREE};
    if (count > 0 && read_form(args[0], &wanted) < 0)
        return NULL;
    if (wanted.form == LEAT_FORM_TREE && count <= 1 && !names)
        return show_tree(program);
    struct le_py_notes notes;
    le_py_notes_begin(&notes);
    return le_py_notes_end(&notes, show_call(program, args + (count > 0), count > 0 ? count - 1 : 0, names, &wanted));
}
