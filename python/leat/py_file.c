/* leat.load and leat.save: files of arrays. */
#include "py_memory.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- errors */

/* What the system says about the file, as errno: 0 if it can be read, or its folder can be written. */
static int system_error(const char *path, bool is_read) {
    char folder[4096];
    const char *slash = strrchr(path, '/');
    if (is_read)
        return access(path, R_OK) == 0 ? 0 : errno;
    PyOS_snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return access(folder, W_OK) == 0 ? 0 : errno;
}

static void *fail_system(int number, PyObject *path) {
    PyObject *name = PyOS_FSPath(path);
    errno = number;
    if (name)
        PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, name);
    Py_XDECREF(name);
    return NULL;
}

/* FileNotFoundError and the like as Python's own functions raise them, else OSError with the library's message, without
 * the path before it, which OSError prints itself. */
static void *fail_file(leat_status status, PyObject *path, const char *bytes, bool is_read) {
    leat_error error;
    size_t length = strlen(bytes);
    if (status != LEAT_FILE || PyErr_Occurred())
        return le_py_raise(status, NULL, NULL);
    leat_error_get(NULL, &error);
    int number = system_error(bytes, is_read);
    if (number != 0)
        return fail_system(number, path);
    const char *message = error.message;
    if (strncmp(message, bytes, length) == 0 && message[length] == ':' && message[length + 1] == ' ')
        message += length + 2;
    PyObject *arguments =
        Py_BuildValue("(iNN)", EINVAL, PyUnicode_FromFormat(*error.expected ? "%s; %s" : "%s", message, error.expected),
                      PyOS_FSPath(path));
    if (arguments)
        PyErr_SetObject(PyExc_OSError, arguments);
    Py_XDECREF(arguments);
    return NULL;
}

/* ---- load */

struct load {
    PyObject *path, *dtype_value, *device_value, *like;
    PyObject *bytes; /* the path for the system; owned */
    const char *key;
    leat_dtype dtype; /* 0: the file's */
    struct le_py_device *device;
    enum le_py_library library;
};

static int read_load(struct load *load) {
    if (load->dtype_value != Py_None && !(load->dtype = le_py_dtype_parse(load->dtype_value)))
        return -1;
    if (le_py_device_of(load->device_value, &load->device) < 0)
        return -1;
    load->library = load->device && !load->device->is_cpu ? LE_PY_LEAT : LE_PY_NUMPY;
    if (load->like != Py_None && le_py_library_of(load->like, &load->library) < 0)
        return -1;
    if (!load->device)
        load->device = le_py_device_open("cpu");
    return load->device && PyUnicode_FSConverter(load->path, &load->bytes) ? 0 : -1;
}

static PyObject *perform_load(struct load *load) {
    const char *path = PyBytes_AsString(load->bytes);
    struct le_py_source source = {.device = load->device};
    leat_status status;
    Py_BEGIN_ALLOW_THREADS
    status = leat_array_load(source.device->ctx, path, load->key, load->dtype, &source.array);
    Py_END_ALLOW_THREADS
    if (status)
        return fail_file(status, load->path, path, true);
    if (load->dtype && le_py_source_cast(&source, load->dtype) < 0)
        return NULL;
    return le_py_result_deliver(source.array, source.device, load->library, false);
}

PyObject *le_py_load(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"path", "key", "dtype", "device", "like", NULL};
    struct load load = {.dtype_value = Py_None, .device_value = Py_None, .like = Py_None};
    PyObject *made = NULL;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|$zOOO", words, &load.path, &load.key, &load.dtype_value,
                                     &load.device_value, &load.like))
        return NULL;
    struct le_py_notes notes;
    le_py_notes_begin(&notes);
    if (read_load(&load) == 0)
        made = perform_load(&load);
    Py_XDECREF(load.bytes);
    return le_py_notes_end(&notes, made);
}

/* ---- save */

static int read_colormap(const char *name, leat_colormap *colormap) {
    *colormap = LEAT_COLORMAP_GREY;
    if (!name || strcmp(name, "grey") == 0 || strcmp(name, "gray") == 0)
        return 0;
    *colormap = LEAT_COLORMAP_VIRIDIS;
    if (strcmp(name, "viridis") == 0)
        return 0;
    PyErr_Format(PyExc_ValueError, "colormap is '%s', and must be grey or viridis", name);
    return -1;
}

static leat_status save_one(const char *path, PyObject *value, const leat_save_options *options) {
    struct le_py_source source;
    leat_status status;
    if (le_py_source_of(value, "array", &source) < 0)
        return LEAT_INVALID;
    Py_BEGIN_ALLOW_THREADS
    le_py_count_run(1);
    status = leat_array_save_as(source.array, path, options);
    le_py_count_run(-1);
    Py_END_ALLOW_THREADS
    leat_array_free(source.array);
    return status;
}

/* Fills the list from the dict; *count grows with each. */
static int list_arrays(PyObject *dict, leat_named_array *list, leat_array **arrays, size_t *count) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, &value)) {
        struct le_py_source source;
        const char *name = PyUnicode_Check(key) ? le_py_text(key) : NULL;
        if (!name) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_TypeError, "the names of arrays must be strings, not %R", key);
            return -1;
        }
        if (le_py_source_of(value, name, &source) < 0)
            return -1;
        arrays[*count] = source.array;
        list[(*count)++] = (leat_named_array){name, source.array};
    }
    return 0;
}

static leat_status save_dict(const char *path, PyObject *dict, const leat_save_options *options) {
    size_t capacity = (size_t)PyDict_Size(dict), count = 0;
    leat_named_array *list = calloc(capacity + 1, sizeof *list);
    leat_array **arrays = calloc(capacity + 1, sizeof *arrays);
    leat_status status = LEAT_INVALID;
    PyObject *held = PyDict_Copy(dict); /* its names and values stay while the file is written */
    if (!list || !arrays || !held)
        PyErr_NoMemory();
    else if (capacity == 0)
        PyErr_SetString(PyExc_ValueError, "there are no arrays to save");
    else if (list_arrays(held, list, arrays, &count) == 0) {
        Py_BEGIN_ALLOW_THREADS
        le_py_count_run(1);
        status = leat_archive_save(path, list, count, options);
        le_py_count_run(-1);
        Py_END_ALLOW_THREADS
    }
    for (size_t k = 0; k < count; k++)
        leat_array_free(arrays[k]);
    free(list);
    free(arrays);
    Py_XDECREF(held);
    return status;
}

PyObject *le_py_save(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"path", "array", "key", "colormap", "sync", NULL};
    leat_save_options options = {.struct_size = sizeof options, .proceed = le_py_proceed};
    const char *colormap = NULL;
    PyObject *path, *value, *bytes;
    int sync = 0;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, names, "OO|$zzp", words, &path, &value, &options.key, &colormap, &sync) ||
        read_colormap(colormap, &options.colormap) < 0 || !PyUnicode_FSConverter(path, &bytes))
        return NULL;
    struct le_py_notes notes;
    le_py_notes_begin(&notes);
    options.sync = sync;
    const char *file = PyBytes_AsString(bytes);
    leat_status status = PyDict_Check(value) ? save_dict(file, value, &options) : save_one(file, value, &options);
    PyObject *done = status ? fail_file(status, path, file, false) : Py_NewRef(Py_None);
    Py_DECREF(bytes);
    return le_py_notes_end(&notes, done);
}
