/* Exceptions, and notes of the library as Python warnings. */
#include "py_leat.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES_MAX = 32, SHOWN_BYTES = 200 /* of a source line under which a message draws a caret */ };

struct le_py_errors le_py_errors;

/* In the order of SyntaxError's arguments. */
static const char *const location_names[] = {"filename", "lineno", "offset", "text", "end_lineno", "end_offset"};

/* is_located: it has SyntaxError's attributes for a location, None where an error has none. */
static PyObject *new_exception(PyObject *module, const char *name, const char *doc, PyObject *base, PyObject *other,
                               bool is_located) {
    char full[64];
    PyOS_snprintf(full, sizeof full, "leat.%s", name);
    PyObject *bases = other ? PyTuple_Pack(2, base, other) : PyTuple_Pack(1, base), *members = PyDict_New();
    int failed = members ? 0 : -1;
    for (size_t k = 0; is_located && k < sizeof location_names / sizeof location_names[0] && !failed; k++)
        failed = PyDict_SetItemString(members, location_names[k], Py_None);
    PyObject *made = bases && !failed ? PyErr_NewExceptionWithDoc(full, doc, bases, members) : NULL;
    Py_XDECREF(bases);
    Py_XDECREF(members);
    if (made && PyModule_AddObjectRef(module, name, made) < 0)
        Py_CLEAR(made);
    return made;
}

int le_py_errors_init(PyObject *module) {
    struct le_py_errors *e = &le_py_errors;
    e->error = new_exception(module, "Error", "The base class of Leat's own exceptions.", PyExc_Exception, NULL, false);
    if (!e->error)
        return -1;
    e->program = new_exception(module, "ProgramError", "The text of a program has errors. `errors` lists all of them.",
                               e->error, PyExc_SyntaxError, false);
    e->shape = new_exception(module, "ShapeError",
                             "Types, ranks or shapes of arrays do not fit the program. `lineno`, `offset` and the like "
                             "are those of a SyntaxError.",
                             e->error, PyExc_ValueError, true);
    e->data = new_exception(module, "DataError",
                            "An error in the data, found while a program ran, such as a subscript out of range. "
                            "`lineno`, `offset` and the like are those of a SyntaxError.",
                            e->error, PyExc_IndexError, true);
    e->device = new_exception(module, "DeviceError", "A device cannot be used, or it failed.", e->error,
                              PyExc_RuntimeError, false);
    e->warning = new_exception(module, "LeatWarning", "A note about a run, such as a division of an integer by zero.",
                               PyExc_RuntimeWarning, NULL, false);
    return e->program && e->shape && e->data && e->device && e->warning ? 0 : -1;
}

/* ---- program errors */

/* Line `number` (from 1) of a text, without its end. NULL: there is none. */
static const char *find_line(const char *text, int number, size_t *size) {
    for (int k = 1; text && k < number; k++) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text || number < 1)
        return NULL;
    *size = strcspn(text, "\r\n");
    return text;
}

/* The column, in characters from 1, of the byte with number `byte` (from 1) of a line. */
static int column_of(const char *line, size_t size, int byte) {
    int column = 1;
    for (int k = 0; k < byte - 1 && (size_t)k < size; k++)
        column += (line[k] & 0xC0) != 0x80;
    return column;
}

/* (filename, line, column, text, end_line, end_column), as SyntaxError takes them. */
static PyObject *place_of(const leat_error *error, const char *text, const char *name) {
    size_t size = 0;
    const char *line = find_line(text, error->line, &size);
    if (!line)
        return Py_BuildValue("(sOOOOO)", name, Py_None, Py_None, Py_None, Py_None, Py_None);
    int column = error->column > 0 ? column_of(line, size, error->column) : 1;
    int end = error->span > 0 ? column_of(line, size, error->column + error->span) : column + 1;
    return Py_BuildValue("(siis#ii)", name, error->line, column, line, (Py_ssize_t)size, error->line, end);
}

/* Python has one context of a device, which stays open. */
static const char *advice_of(const leat_error *error) {
    return strncmp(error->expected, "open a new context", 18) == 0
               ? "start a new process: in this one, the device cannot be used any more"
               : error->expected;
}

static PyObject *message_of(const leat_error *error) {
    return *error->expected ? PyUnicode_FromFormat("%s\nhelp: %s", error->message, advice_of(error))
                            : le_py_string(error->message);
}

static PyObject *one_error(const leat_error *error) {
    return Py_BuildValue("{s:N,s:N,s:i,s:i,s:i}", "message", le_py_string(error->message), "help",
                         le_py_string(error->expected), "line", error->line, "column", error->column, "span",
                         error->span);
}

static PyObject *list_errors(void) {
    size_t count = 0;
    leat_error_count(NULL, &count);
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < count; k++) {
        leat_error error;
        PyObject *one = leat_error_at(NULL, k, &error) == LEAT_OK ? one_error(&error) : NULL;
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* What the command prints for the errors after the first. */
static const char *further_text(const leat_error *first) {
    leat_error second;
    const char *all = leat_error_text(NULL), *at = strstr(all, first->message);
    if (!at || leat_error_at(NULL, 1, &second) != LEAT_OK)
        return all;
    at = strstr(at + strlen(first->message), second.message);
    while (at && at > all && at[-1] != '\n')
        at--;
    return at ? at : all;
}

/* With several errors, the message of the first is followed by the text of the others. */
static PyObject *message_of_all(const leat_error *error) {
    size_t count = 0;
    leat_error_count(NULL, &count);
    PyObject *first = message_of(error);
    if (!first || count <= 1)
        return first;
    PyObject *all =
        PyUnicode_FromFormat("%U\n%zu more error%s:\n%s", first, count - 1, count > 2 ? "s" : "", further_text(error));
    Py_DECREF(first);
    return all;
}

static void raise_program(const leat_error *error, const char *text, const char *name) {
    PyObject *errors = list_errors(), *message = errors ? message_of_all(error) : NULL,
             *place = message ? place_of(error, text, name ? name : "program") : NULL;
    PyObject *made = place ? PyObject_CallFunctionObjArgs(le_py_errors.program, message, place, NULL) : NULL;
    if (made && PyObject_SetAttrString(made, "errors", errors) == 0)
        PyErr_SetObject(le_py_errors.program, made);
    Py_XDECREF(errors);
    Py_XDECREF(place);
    Py_XDECREF(message);
    Py_XDECREF(made);
}

/* ---- all errors */

static PyObject *exception_of(leat_status status) {
    switch (status) {
    case LEAT_MISMATCH:
        return le_py_errors.shape;
    case LEAT_DATA:
        return le_py_errors.data;
    case LEAT_DEVICE:
    case LEAT_UNSUPPORTED:
        return le_py_errors.device;
    case LEAT_MISSING:
        return PyExc_TypeError;
    case LEAT_OUT_OF_MEMORY:
        return PyExc_MemoryError;
    case LEAT_FILE:
        return PyExc_OSError;
    case LEAT_CANCELED:
        return PyExc_KeyboardInterrupt;
    case LEAT_INVALID:
        return PyExc_ValueError;
    default:
        return PyExc_SystemError;
    }
}

/* The source line of the failure, and a line with carets below it; "" if either is not known or too long to show. */
static PyObject *underlined(const leat_error *error, const char *text) {
    char carets[SHOWN_BYTES + 1] = "";
    size_t size = 0, length = 0, first = (size_t)(error->column > 0 ? error->column - 1 : 0),
           span = (size_t)(error->span > 0 ? error->span : 1);
    const char *line = find_line(text, error->line, &size);
    if (!line || size > SHOWN_BYTES || error->column <= 0 || first > size)
        return PyUnicode_FromString("");
    for (size_t k = 0; k < size && k < first + span; k++) /* a character of several bytes has one place */
        if ((line[k] & 0xC0) != 0x80)
            carets[length++] = k >= first ? '^' : line[k] == '\t' ? '\t' : ' ';
    PyObject *shown = PyUnicode_DecodeUTF8(line, (Py_ssize_t)size, "replace"),
             *both = shown ? PyUnicode_FromFormat("\n    %U\n    %s", shown, carets) : NULL;
    Py_XDECREF(shown);
    return both;
}

/* "message" with the help below it; if the failure has a location, "line 2 of softmax: " before it, and its source. */
static PyObject *text_of(const leat_error *error, const char *text, const char *name) {
    if (error->line <= 0)
        return message_of(error);
    PyObject *source = underlined(error, text);
    PyObject *located =
        source ? PyUnicode_FromFormat("line %d of %s: %s%U%s%s", error->line, name ? name : "the program",
                                      error->message, source, *error->expected ? "\nhelp: " : "", error->expected)
               : NULL;
    Py_XDECREF(source);
    return located;
}

static int set_location(PyObject *exception, PyObject *place) {
    for (Py_ssize_t k = 0; k < PyTuple_Size(place); k++)
        if (PyObject_SetAttrString(exception, location_names[k], PyTuple_GetItem(place, k)) < 0)
            return -1;
    return 0;
}

static void raise_located(PyObject *type, PyObject *message, PyObject *place) {
    PyObject *made = place ? PyObject_CallFunctionObjArgs(type, message, NULL) : NULL;
    if (made && set_location(made, place) == 0)
        PyErr_SetObject(type, made);
    Py_XDECREF(made);
    Py_XDECREF(place);
}

void *le_py_raise(leat_status status, const char *text, const char *name) {
    leat_error error;
    if (PyErr_Occurred())
        return NULL;
    leat_error_get(NULL, &error);
    if (status == LEAT_PROGRAM) {
        raise_program(&error, text, name);
        return NULL;
    }
    if (status == LEAT_CANCELED && le_py_must_stop()) { /* a daemon thread ends without a message */
        PyErr_SetNone(PyExc_SystemExit);
        return NULL;
    }
    PyObject *message = text_of(&error, text, name), *type = exception_of(status);
    if (message && error.line > 0 && (type == le_py_errors.shape || type == le_py_errors.data))
        raise_located(type, message, place_of(&error, text, name ? name : "program"));
    else if (message)
        PyErr_SetObject(type, message);
    Py_XDECREF(message);
    return NULL;
}

void le_py_forgive(void) {
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception) && !PyErr_ExceptionMatches(PyExc_MemoryError))
        PyErr_Clear();
}

int le_py_fail_library(const char *name) {
    PyObject *type, *cause, *trace, *made;
    if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError))
        return -1;
    PyErr_Fetch(&type, &cause, &trace);
    PyErr_NormalizeException(&type, &cause, &trace);
    if (trace)
        PyException_SetTraceback(cause, trace);
    Py_XDECREF(trace);
    PyObject *words = PyObject_Str(cause), *kind = PyType_GetName((PyTypeObject *)type),
             *lines = words ? PyUnicode_Splitlines(words, 0) : NULL; /* PyTorch adds its C++ stack */
    PyObject *line = lines && PyList_Size(lines) > 0 ? PyList_GetItem(lines, 0) : NULL;
    bool is_traced = kind && PyUnicode_CompareWithASCIIString(kind, "TracerArrayConversionError") == 0;
    PyErr_Format(PyExc_TypeError, "argument '%s' cannot be read: %V: %V%s", name, kind, "?", line, "",
                 is_traced
                     ? "\nhelp: inside jax.jit and jax.vmap, call the program through jax.pure_callback; jax.grad also "
                       "needs a jax.custom_vjp around it"
                     : "");
    Py_XDECREF(words);
    Py_XDECREF(kind);
    Py_XDECREF(lines);
    Py_XDECREF(type);
    PyErr_Fetch(&type, &made, &trace);
    PyErr_NormalizeException(&type, &made, &trace);
    PyException_SetCause(made, cause); /* takes over the reference */
    PyErr_Restore(type, made, trace);
    return -1;
}

void le_py_error_hold(struct le_py_pending *pending) {
    pending->type = NULL;
    if (PyErr_Occurred())
        PyErr_Fetch(&pending->type, &pending->value, &pending->trace);
}

void le_py_error_restore(struct le_py_pending *pending) {
    if (pending->type)
        PyErr_Restore(pending->type, pending->value, pending->trace);
}

/* ---- notes: of the function that collects on this thread, else of all, for the next function that ends */

static pthread_mutex_t notes_lock = PTHREAD_MUTEX_INITIALIZER;
static struct le_py_notes others; /* under notes_lock; its count is read without it as a hint */
static _Thread_local struct le_py_notes *collecting;

void le_py_notes_forget(void) {
    notes_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    others = (struct le_py_notes){.count = 0}; /* the lines are not freed: they may be in the midst of a change */
}

/* A note for which there is no memory is dropped. */
static void add_note(struct le_py_notes *notes, const char *text) {
    char **grown = notes->count < NOTES_MAX ? realloc(notes->lines, ((size_t)notes->count + 1) * sizeof *grown) : NULL,
         *line = grown ? strdup(text) : NULL;
    if (grown)
        notes->lines = grown;
    if (!line)
        return;
    notes->lines[notes->count] = line;
    __atomic_store_n(&notes->count, notes->count + 1, __ATOMIC_RELAXED);
}

void le_py_note(leat_log_level level, const char *text, void *user) {
    (void)level;
    (void)user;
    if (collecting) {
        add_note(collecting, text);
        return;
    }
    pthread_mutex_lock(&notes_lock);
    add_note(&others, text);
    pthread_mutex_unlock(&notes_lock);
}

/* Frees them; all after the first that is an error are dropped. */
static int raise_notes(struct le_py_notes *notes) {
    int failed = 0;
    for (int k = 0; k < notes->count; k++) {
        failed = failed ? failed : PyErr_WarnEx(le_py_errors.warning, notes->lines[k], 1);
        free(notes->lines[k]);
    }
    free(notes->lines);
    return failed;
}

static int raise_others(void) {
    if (__atomic_load_n(&others.count, __ATOMIC_RELAXED) == 0)
        return 0;
    pthread_mutex_lock(&notes_lock);
    struct le_py_notes taken = others;
    others = (struct le_py_notes){.count = 0};
    pthread_mutex_unlock(&notes_lock);
    return raise_notes(&taken);
}

void le_py_notes_begin(struct le_py_notes *notes) {
    *notes = (struct le_py_notes){.outer = collecting};
    collecting = notes;
}

PyObject *le_py_notes_end(struct le_py_notes *notes, PyObject *result) {
    struct le_py_pending pending;
    collecting = notes->outer;
    if (notes->count == 0 && __atomic_load_n(&others.count, __ATOMIC_RELAXED) == 0)
        return result;
    le_py_error_hold(&pending);
    bool failed = raise_notes(notes) < 0 || raise_others() < 0;
    le_py_error_restore(&pending); /* a failure counts more than a warning that is an error */
    if (failed)
        Py_CLEAR(result);
    return result;
}
