/* Calling a program: reads the arguments, decides device, stream and library, binds, runs without the GIL, and hands
 * the results over. */
#include "py_leat.h"
#include <stdlib.h>
#include <string.h>

/* ---- reading arguments */

enum option { OPTION_OUT, OPTION_STREAM, OPTION_DEVICE, OPTION_LIKE, OPTIONS };

static PyObject *option_names[OPTIONS];

static int make_option_names(void) {
    static const char *const texts[] = {"out", "stream", "device", "like"};
    for (int k = 0; k < OPTIONS && !option_names[OPTIONS - 1]; k++)
        if (!(option_names[k] = PyUnicode_InternFromString(texts[k])))
            return -1;
    return 0;
}

/* Words of a call and names of a program are interned, so that comparing addresses finds almost all. */
static Py_ssize_t find_interned(PyObject *names, Py_ssize_t count, PyObject *name) {
    Py_ssize_t k = 0;
    while (k < count && PyTuple_GetItem(names, k) != name)
        k++;
    return k < count ? k : -1;
}

static Py_ssize_t find_name(PyObject *names, Py_ssize_t count, PyObject *name) {
    Py_ssize_t found = find_interned(names, count, name);
    for (Py_ssize_t k = 0; k < count && found < 0; k++)
        if (PyUnicode_Compare(PyTuple_GetItem(names, k), name) == 0)
            found = k;
    return found;
}

static PyObject **option_at(struct le_py_run *run, PyObject *name) {
    PyObject **const at[] = {&run->out, &run->stream_value, &run->device_value, &run->like};
    for (int k = 0; k < OPTIONS; k++)
        if (option_names[k] == name)
            return at[k];
    for (int k = 0; k < OPTIONS; k++)
        if (PyUnicode_Compare(option_names[k], name) == 0)
            return at[k];
    return NULL;
}

/* The number of an input, or -1 for an option. An option's own word names an input only if that is the same string. */
static Py_ssize_t find_input(const struct le_py_program *program, PyObject *name) {
    Py_ssize_t k = find_interned(program->inputs, program->input_count, name);
    for (int option = 0; option < OPTIONS && k < 0; option++)
        if (option_names[option] == name)
            return -1;
    return k >= 0 ? k : find_name(program->inputs, program->input_count, name);
}

/* An input of the same name comes before an option. */
static int read_named(struct le_py_run *run, PyObject *name, PyObject *value) {
    const struct le_py_program *program = run->program;
    Py_ssize_t k = find_input(program, name);
    PyObject **option = k < 0 ? option_at(run, name) : NULL;
    if (k < 0 && !option) {
        PyErr_Format(PyExc_TypeError, "%U has no input '%U'; its inputs are %S", program->name, name, program->inputs);
        return -1;
    }
    if (k >= 0 && run->values[k]) {
        PyErr_Format(PyExc_TypeError, "%U got two values for '%U'", program->name, name);
        return -1;
    }
    if (k >= 0)
        run->values[k] = value;
    else
        *option = value == Py_None ? NULL : value;
    return 0;
}

static bool is_missing(const struct le_py_run *run, Py_ssize_t k) {
    return !run->values[k] && !run->program->is_optional[k];
}

/* Names all from the first on. */
static int fail_missing(const struct le_py_run *run, Py_ssize_t first) {
    const struct le_py_program *program = run->program;
    PyObject *names = PyUnicode_FromFormat("'%U'", PyTuple_GetItem(program->inputs, first));
    Py_ssize_t count = 1;
    for (Py_ssize_t k = first + 1; names && k < program->input_count; k++)
        if (is_missing(run, k)) {
            PyObject *longer = PyUnicode_FromFormat("%U, '%U'", names, PyTuple_GetItem(program->inputs, k));
            Py_DECREF(names);
            names = longer;
            count++;
        }
    if (names)
        PyErr_Format(PyExc_TypeError, "%U is missing the argument%s %U", program->name, count > 1 ? "s" : "", names);
    Py_XDECREF(names);
    return -1;
}

static int check_missing(const struct le_py_run *run) {
    for (Py_ssize_t k = 0; k < run->program->input_count; k++)
        if (is_missing(run, k))
            return fail_missing(run, k);
    return 0;
}

static int read_values(struct le_py_run *run, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    const struct le_py_program *program = run->program;
    if (count > program->input_count) {
        PyErr_Format(PyExc_TypeError, "%U takes %zd arguments, %S, but got %zd", program->name, program->input_count,
                     program->inputs, count);
        return -1;
    }
    for (Py_ssize_t k = 0; k < count; k++)
        run->values[k] = args[k];
    for (Py_ssize_t k = 0; names && k < PyTuple_Size(names); k++)
        if (read_named(run, PyTuple_GetItem(names, k), args[count + k]) < 0)
            return -1;
    return check_missing(run);
}

/* ---- resolving */

static void release_arguments(struct le_py_run *run) {
    for (Py_ssize_t k = 0; k < run->resolved_inputs; k++)
        le_py_argument_release(&run->inputs[k]);
    for (Py_ssize_t k = 0; k < run->resolved_outs; k++) {
        le_py_argument_release(&run->outs[k]);
        Py_CLEAR(run->targets[k]);
    }
    run->resolved_inputs = run->resolved_outs = 0;
    run->asked.wrapped = NULL;
}

static int set_target(struct le_py_run *run, Py_ssize_t k, PyObject *value) {
    const char *name = le_py_text(PyTuple_GetItem(run->program->results, k));
    if (!name || le_py_argument_resolve(value, name, true, &run->asked, &run->outs[k]) < 0)
        return -1;
    run->targets[k] = Py_NewRef(value); /* the caller's dict may change during the run */
    return 0;
}

/* Works on a copy, because resolving an array may run Python code that changes the dict. */
static int set_targets_of_dict(struct le_py_run *run) {
    PyObject *key, *value, *copy = PyDict_Copy(run->out);
    Py_ssize_t at = 0;
    int failed = copy ? 0 : -1;
    while (!failed && PyDict_Next(copy, &at, &key, &value)) {
        Py_ssize_t k = PyUnicode_Check(key) ? find_name(run->program->results, run->program->result_count, key) : -1;
        if (k < 0) {
            PyErr_Format(PyExc_ValueError, "out: %U has no result %R; its results are %S", run->program->name, key,
                         run->program->results);
            failed = -1;
        } else if (value != Py_None) {
            failed = set_target(run, k, value);
        }
    }
    Py_XDECREF(copy);
    return failed;
}

/* out: a tuple of the results' arrays, in order. */
static int set_targets_of_tuple(struct le_py_run *run, PyObject *out) {
    Py_ssize_t count = run->program->result_count;
    if (!PyTuple_Check(out) || PyTuple_Size(out) != count) {
        PyErr_Format(PyExc_TypeError, "out must be a dict, or a tuple or list of %zd arrays: the results are %S", count,
                     run->program->results);
        return -1;
    }
    for (Py_ssize_t k = 0; k < count; k++)
        if (PyTuple_GetItem(out, k) != Py_None && set_target(run, k, PyTuple_GetItem(out, k)) < 0)
            return -1;
    return 0;
}

/* Works on a copy, as that of a dict. */
static int set_targets_of_list(struct le_py_run *run) {
    PyObject *copy = PyList_AsTuple(run->out);
    int failed = copy ? set_targets_of_tuple(run, copy) : -1;
    Py_XDECREF(copy);
    return failed;
}

/* One array for the only result, a dict by name, or a tuple or list in order. */
static int resolve_targets(struct le_py_run *run) {
    Py_ssize_t count = run->program->result_count;
    for (Py_ssize_t k = 0; k < count; k++)
        le_py_argument_clear(&run->outs[k]);
    run->resolved_outs = count;
    if (!run->out)
        return 0;
    if (PyDict_Check(run->out))
        return set_targets_of_dict(run);
    if (PyList_Check(run->out))
        return set_targets_of_list(run);
    if (!PyTuple_Check(run->out) && count == 1)
        return set_target(run, 0, run->out);
    return set_targets_of_tuple(run, run->out);
}

static int resolve_inputs(struct le_py_run *run) {
    for (Py_ssize_t k = 0; k < run->program->input_count; k++) {
        if (run->values[k]) {
            if (le_py_argument_resolve(run->values[k], le_py_input_name(run->program, k), false, &run->asked,
                                       &run->inputs[k]) < 0)
                return -1;
        } else {
            le_py_argument_clear(&run->inputs[k]);
        }
        run->resolved_inputs = k + 1;
    }
    return 0;
}

int le_py_run_resolve(struct le_py_run *run) {
    release_arguments(run);
    return resolve_inputs(run) < 0 || resolve_targets(run) < 0 ? -1 : 0;
}

static int make_room(struct le_py_run *run) {
    size_t inputs = (size_t)run->program->input_count, results = (size_t)run->program->result_count,
           count = inputs + results;
    if (count <= LE_PY_MANY) {
        run->inputs = run->few;
        run->values = run->few_values;
    } else {
        run->heap = malloc(count * (sizeof *run->inputs + sizeof *run->values));
        if (!run->heap)
            return PyErr_NoMemory(), -1;
        run->inputs = run->heap;
        run->values = (PyObject **)(run->inputs + count);
    }
    run->outs = run->inputs + inputs;
    run->targets = run->values + inputs;
    memset(run->values, 0, count * sizeof *run->values);
    return 0;
}

/* ---- deciding where it runs, in which stream, and what the results are */

static const struct le_py_argument *first_on_device(const struct le_py_run *run) {
    for (Py_ssize_t k = 0; k < run->resolved_inputs + run->resolved_outs; k++)
        if (run->inputs[k].kind != LE_PY_ABSENT && run->inputs[k].device && !run->inputs[k].device->is_cpu)
            return &run->inputs[k];
    return NULL;
}

/* The name of argument k: inputs first, then results. */
static const char *name_of(const struct le_py_run *run, Py_ssize_t k) {
    const struct le_py_program *program = run->program;
    return k < program->input_count ? le_py_input_name(program, k)
                                    : le_py_text(PyTuple_GetItem(program->results, k - program->input_count));
}

static int check_places(const struct le_py_run *run) {
    for (Py_ssize_t k = 0; k < run->resolved_inputs + run->resolved_outs; k++) {
        const struct le_py_argument *a = &run->inputs[k];
        if (a->kind == LE_PY_ABSENT || !a->device || a->device == run->device ||
            (a->device->is_cpu && k < run->resolved_inputs) || strcmp(a->device->name, run->device->name) == 0)
            continue;
        PyErr_Format(le_py_errors.device, "argument '%s' is on %s, but the program runs on %s", name_of(run, k),
                     a->device->name, run->device->name);
        return -1;
    }
    return 0;
}

static int choose_device(struct le_py_run *run) {
    const struct le_py_argument *first = first_on_device(run);
    PyObject *named = run->device_value ? run->device_value : run->program->device;
    if (le_py_device_of(named, &run->device) < 0)
        return -1;
    if (!run->device && first && !le_py_device_is_chosen())
        run->device = first->device;
    if (!run->device && run->stream_value && !le_py_device_is_chosen())
        run->device = le_py_device_of_stream(run->stream_value);
    if (!run->device)
        run->device = le_py_device_default();
    return run->device ? check_places(run) : -1;
}

/* A library that is not NumPy's, of an array on the GPU if there is one. */
static int choose_library(struct le_py_run *run) {
    const struct le_py_argument *first = first_on_device(run);
    run->results_on_host = !first && !run->like;
    if (run->like)
        return le_py_library_of(run->like, &run->library);
    run->library = first ? first->library : LE_PY_NUMPY;
    for (Py_ssize_t k = 0; k < run->resolved_inputs && run->library == LE_PY_NUMPY; k++)
        if (run->inputs[k].kind == LE_PY_MEMORY || run->inputs[k].kind == LE_PY_HANDLE)
            run->library = run->inputs[k].library;
    return 0;
}

int le_py_run_start(struct le_py_run *run, struct le_py_program *program, PyObject *const *args, Py_ssize_t count,
                    PyObject *names) {
    run->program = program;
    run->out = run->stream_value = run->device_value = run->like = NULL;
    run->resolved_inputs = run->resolved_outs = 0;
    run->heap = NULL;
    run->call = NULL;
    run->prepared = NULL;
    run->order = (struct le_py_order){0};
    run->asked.wrapped = NULL;
    run->has_host_memory = false;
    if (make_option_names() < 0 || make_room(run) < 0 || read_values(run, args, count, names) < 0)
        return -1;
    return le_py_run_resolve(run) < 0 || choose_device(run) < 0 || choose_library(run) < 0 ? -1 : 0;
}

/* ---- binding */

static leat_status bind_memory(struct le_py_run *run, Py_ssize_t k, struct le_py_argument *a) {
    bool is_input = k < run->program->input_count;
    size_t number = (size_t)(is_input ? k : k - run->program->input_count);
    run->has_host_memory |= !a->device;
    if (!a->device && !run->device->is_cpu && le_py_is_pinned(run->device, &a->memory))
        a->memory.memory = LEAT_MEMORY_PINNED;
    if (a->is_copied && !le_py_copy_ledger) {
        leat_ledger_begin(run->device->ctx, LEAT_COST_COPY, name_of(run, k));
        leat_ledger_end(run->device->ctx, (uint64_t)a->view.len);
    }
    return is_input ? leat_call_set_memory_at(run->call->call, number, &a->memory)
                    : leat_call_want_memory_at(run->call->call, number, &a->memory);
}

/* An array of another context is bound by its memory; the caller has waited for the work on it. So is an array on the
 * CPU in a run there, which has no order to keep: that takes less than binding and releasing the handle. */
static leat_status bind_handle(struct le_py_run *run, Py_ssize_t k, struct le_py_argument *a) {
    bool is_input = k < run->program->input_count;
    if (a->device->is_cpu ? run->device->is_cpu : a->device != run->device) {
        leat_status status = leat_array_get(a->array, &a->memory); /* fails in a child process of fork() */
        return status ? status : bind_memory(run, k, a);
    }
    if (!is_input)
        return leat_call_want_at(run->call->call, (size_t)(k - run->program->input_count), a->array);
    run->call->is_array[k] = true;
    return leat_call_set_array_at(run->call->call, (size_t)k, a->array);
}

static leat_status bind_number(leat_call *call, size_t k, const struct le_py_argument *a) {
    switch (a->kind) {
    case LE_PY_F64:
        return leat_call_set_f64_at(call, k, a->number.f64[0]);
    case LE_PY_I64:
        return leat_call_set_i64_at(call, k, a->number.i64);
    case LE_PY_U64:
        return leat_call_set_u64_at(call, k, a->number.u64);
    case LE_PY_C128:
        return leat_call_set_c128_at(call, k, a->number.f64[0], a->number.f64[1]);
    default:
        return leat_call_set_bool_at(call, k, a->number.i64 != 0);
    }
}

static leat_status bind_input(struct le_py_run *run, Py_ssize_t k) {
    struct le_py_argument *a = &run->inputs[k];
    bool was_bound = run->call->is_bound[k];
    run->call->is_bound[k] = a->kind != LE_PY_ABSENT;
    run->call->is_array[k] = false;
    if (a->kind == LE_PY_MEMORY)
        return bind_memory(run, k, a);
    if (a->kind == LE_PY_HANDLE)
        return bind_handle(run, k, a);
    if (a->kind != LE_PY_ABSENT)
        return bind_number(run->call->call, (size_t)k, a);
    return was_bound ? leat_call_set_array_at(run->call->call, (size_t)k, NULL) : LEAT_OK;
}

static leat_status bind_target(struct le_py_run *run, Py_ssize_t k) {
    struct le_py_argument *a = &run->outs[k];
    Py_ssize_t number = run->program->input_count + k;
    if (a->kind == LE_PY_MEMORY)
        return bind_memory(run, number, a);
    if (a->kind == LE_PY_HANDLE)
        return bind_handle(run, number, a);
    return leat_call_want_at(run->call->call, (size_t)k, NULL);
}

/* Names the argument in the message of a failed binding. */
static int fail_bind(const struct le_py_run *run, Py_ssize_t k, leat_status status) {
    leat_error error;
    char quoted[128];
    leat_error_get(NULL, &error);
    PyOS_snprintf(quoted, sizeof quoted, "'%s'", name_of(run, k));
    if (status == LEAT_OUT_OF_MEMORY || status == LEAT_DEVICE || strstr(error.message, quoted))
        return le_py_raise(status, NULL, le_py_text(run->program->name)), -1;
    PyErr_Format(PyExc_ValueError, "argument '%s': %s", name_of(run, k), error.message);
    return -1;
}

int le_py_run_bind(struct le_py_run *run) {
    leat_status status;
    for (Py_ssize_t k = 0; k < run->program->input_count; k++)
        if ((status = bind_input(run, k)))
            return fail_bind(run, k, status);
    for (Py_ssize_t k = 0; k < run->program->result_count; k++)
        if ((status = bind_target(run, k)))
            return fail_bind(run, run->program->input_count + k, status);
    return 0;
}

/* ---- running */

leat_status le_py_run_perform(struct le_py_run *run, leat_stream *stream, bool waits) {
    leat_status status;
    Py_BEGIN_ALLOW_THREADS
    le_py_count_run(1);
    status = waits ? leat_call_complete(run->call->call, stream) : leat_call_run(run->call->call, stream, NULL);
    le_py_count_run(-1);
    Py_END_ALLOW_THREADS
    if (run->call->progress.start_ms)
        le_py_progress_end(&run->call->progress);
    return status;
}

/* The text has been checked, so what the library finds wrong with the program now comes from its arguments. */
int le_py_run_fail(const struct le_py_run *run, leat_status status) {
    le_py_raise(status == LEAT_PROGRAM ? LEAT_MISMATCH : status, le_py_text(run->program->text),
                le_py_text(run->program->name));
    return -1;
}

/* Memory of the host is used until the run is done, so a run that uses it is waited for. What a run enqueued before it
 * failed may still use the memory of its arguments. */
static int run_on_device(struct le_py_run *run) {
    leat_status status = le_py_order_begin(&run->order);
    if (!status)
        status = le_py_run_perform(run, run->order.stream, run->has_host_memory);
    if (status)
        le_py_run_fail(run, status);
    int failed = PyErr_Occurred() ? -1 : 0; /* of a handler of a signal, which came too late to cancel the run */
    if (failed && run->has_host_memory)
        le_py_order_drain(&run->order);
    status = le_py_order_end(&run->order);
    return status && !failed ? le_py_run_fail(run, status) : failed;
}

static int run_on_cpu(struct le_py_run *run) {
    leat_status status = le_py_run_perform(run, run->order.stream, false);
    if (status)
        le_py_run_fail(run, status);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *result_of(struct le_py_run *run, Py_ssize_t k) {
    leat_array *array;
    if (run->targets[k])
        return Py_NewRef(run->targets[k]);
    leat_status status = leat_call_take_at(run->call->call, (size_t)k, &array);
    return status ? le_py_raise(status, NULL, NULL)
                  : le_py_result_deliver(array, run->device, run->library, run->results_on_host);
}

static PyObject *results_of(struct le_py_run *run) {
    Py_ssize_t count = run->program->result_count;
    for (Py_ssize_t k = 0; k < run->resolved_outs; k++)
        if (run->targets[k] && run->outs[k].library == LE_PY_TORCH && le_py_torch_written(run->targets[k]) < 0)
            return NULL;
    if (count == 1)
        return result_of(run, 0);
    PyObject *results = PyTuple_New(count);
    for (Py_ssize_t k = 0; results && k < count; k++) {
        PyObject *result = result_of(run, k);
        if (!result || PyTuple_SetItem(results, k, result) < 0)
            Py_CLEAR(results);
    }
    return results;
}

/* Destructors of other libraries need a clear error state. */
void le_py_run_finish(struct le_py_run *run) {
    struct le_py_pending pending;
    le_py_error_hold(&pending);
    le_py_order_release(&run->order);
    if (run->call) /* first, so that the last reference to an array is its object's, which is freed without the GIL */
        le_py_call_give(run->program, run->prepared, run->call);
    release_arguments(run);
    free(run->heap);
    le_py_error_restore(&pending);
}

/* Borrows a call, binds and runs. */
static int perform(struct le_py_run *run) {
    run->prepared = le_py_program_prepare(run->program, run->device);
    run->call = run->prepared ? le_py_call_take(run->program, run->prepared) : NULL;
    run->order.device = run->device;
    run->order.arguments = run->inputs;
    run->order.count = run->resolved_inputs + run->resolved_outs;
    if (!run->call || le_py_order_choose(&run->order, run->stream_value) < 0 || le_py_run_bind(run) < 0)
        return -1;
    return run->device->is_cpu ? run_on_cpu(run) : run_on_device(run);
}

PyObject *le_py_program_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    struct le_py_run run;
    struct le_py_notes notes;
    PyObject *results = NULL;
    le_py_notes_begin(&notes);
    int failed =
        le_py_run_start(&run, (struct le_py_program *)self, args, (Py_ssize_t)(count & ~LE_PY_ARGUMENTS_OFFSET), names);
    if (!failed && perform(&run) == 0)
        results = results_of(&run);
    le_py_run_finish(&run);
    return le_py_notes_end(&notes, results);
}

/* Makes a vectorcall of a tuple and a dict. */
PyObject *le_py_call_slow(le_py_vectorcall *call, PyObject *self, PyObject *args, PyObject *names) {
    Py_ssize_t count = PyTuple_Size(args), named = names ? PyDict_Size(names) : 0, at = 0, k = count;
    PyObject **values = malloc((size_t)(count + named + 1) * sizeof *values), *words = PyTuple_New(named), *key, *value;
    PyObject *results = NULL;
    if (!values || !words) {
        free(values);
        Py_XDECREF(words);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t j = 0; j < count; j++)
        values[j] = PyTuple_GetItem(args, j);
    while (names && PyDict_Next(names, &at, &key, &value)) {
        PyTuple_SetItem(words, k - count, Py_NewRef(key));
        values[k++] = value;
    }
    results = call(self, values, (size_t)count, words);
    Py_DECREF(words);
    free(values);
    return results;
}

PyObject *le_py_program_call_slow(PyObject *self, PyObject *args, PyObject *names) {
    return le_py_call_slow(le_py_program_call, self, args, names);
}
