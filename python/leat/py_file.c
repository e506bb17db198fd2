/* leat.load and leat.save: files of arrays. */
#include "py_memory.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ERRNO_MAX = 133 }; /* the highest of Linux */

/* ---- errors */

/* The errno whose words end the message, as where the disk is full; 0: there is none. */
static int errno_of(const char *message) {
    size_t length = strlen(message);
    for (int number = 1; number <= ERRNO_MAX; number++) {
        const char *words = strerror(number);
        size_t size = strlen(words);
        if (size + 2 < length && strcmp(message + length - size, words) == 0 &&
            memcmp(message + length - size - 2, ": ", 2) == 0)
            return number;
    }
    return 0;
}

/* What the system says about the file, as errno: 0 if it can be read, or its folder can be written. */
static int system_error(const char *path, bool is_read) {
    char folder[4096];
    struct stat about;
    const char *slash = strrchr(path, '/');
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return EISDIR;
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
    int number = errno_of(error.message);
    if (number == 0)
        number = system_error(bytes, is_read);
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

/* A key that the archive does not have, or that is given for another format, is no fault of the file. */
static void *fail_load(leat_status status, const struct load *load, const char *path) {
    leat_error error;
    leat_error_get(NULL, &error);
    if (status == LEAT_MISSING)
        PyErr_SetString(PyExc_KeyError, error.message);
    else if (status == LEAT_INVALID)
        PyErr_Format(PyExc_ValueError, "key: %s", error.message);
    else
        return fail_file(status, load->path, path, true);
    return NULL;
}

static PyObject *perform_load(struct load *load) {
    const char *path = PyBytes_AsString(load->bytes);
    struct le_py_source source = {.device = load->device};
    leat_status status;
    Py_BEGIN_ALLOW_THREADS
    status = leat_array_load(source.device->ctx, path, load->key, load->dtype, &source.array);
    Py_END_ALLOW_THREADS
    if (status)
        return fail_load(status, load, path);
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

struct save {
    PyObject *path, *value;
    PyObject *bytes; /* the path for the system; owned */
    const char *colormap;
    leat_save_options options;
};

static bool ends_with(const char *path, const char *ending) {
    size_t length = strlen(path), size = strlen(ending);
    return length > size && PyOS_stricmp(path + length - size, ending) == 0;
}

static int read_colormap(struct save *save) {
    const char *name = save->colormap;
    save->options.colormap = LEAT_COLORMAP_GREY;
    if (!name || strcmp(name, "grey") == 0 || strcmp(name, "gray") == 0)
        return 0;
    save->options.colormap = LEAT_COLORMAP_VIRIDIS;
    if (strcmp(name, "viridis") == 0)
        return 0;
    PyErr_Format(PyExc_ValueError, "colormap is '%s', and must be grey or viridis", name);
    return -1;
}

/* Options that the file's format does not have are errors. */
static int check_options(const struct save *save, const char *path) {
    const char *wrong = NULL;
    if (save->options.key && PyDict_Check(save->value))
        wrong = "key: the arrays of a dict have the names of the dict";
    else if (save->options.key && !ends_with(path, ".npz"))
        wrong = "key: only an .npz has arrays with names";
    else if (save->colormap && !ends_with(path, ".png"))
        wrong = "colormap: only a .png has colors";
    if (wrong)
        PyErr_SetString(PyExc_ValueError, wrong);
    return wrong ? -1 : 0;
}

/* Pixels of u8 and u16 are written as they are. */
static int check_colormap(const struct save *save, const leat_array *array) {
    leat_description d;
    leat_array_get(array, &d);
    if (!save->colormap || (d.dtype != LEAT_U8 && d.dtype != LEAT_U16))
        return 0;
    PyErr_Format(PyExc_ValueError, "colormap: elements of type %s are written as they are; convert them to f32 first",
                 leat_dtype_name(d.dtype));
    return -1;
}

/* So that a signal can end the wait. */
static leat_status wait_for_source(const struct le_py_source *source) {
    leat_status status = LEAT_OK;
    if (source->device->is_cpu)
        return LEAT_OK;
    Py_BEGIN_ALLOW_THREADS
    status = le_py_wait_array(source->device->ctx, source->array);
    Py_END_ALLOW_THREADS
    return status;
}

static leat_status save_one(const char *path, const struct save *save) {
    struct le_py_source source;
    leat_status status;
    if (le_py_source_of(save->value, "array", &source) < 0)
        return LEAT_INVALID;
    if (check_colormap(save, source.array) < 0)
        return le_py_free_waiting(source.array), LEAT_INVALID;
    status = wait_for_source(&source);
    if (!status) {
        Py_BEGIN_ALLOW_THREADS
        le_py_count_run(1);
        status = leat_array_save_as(source.array, path, &save->options);
        le_py_count_run(-1);
        Py_END_ALLOW_THREADS
    }
    le_py_free_waiting(source.array);
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
        leat_status status = wait_for_source(&source);
        if (status)
            return le_py_raise(status, NULL, NULL), -1;
    }
    return 0;
}

static leat_status save_dict(const char *path, const struct save *save) {
    size_t capacity = (size_t)PyDict_Size(save->value), count = 0;
    leat_named_array *list = calloc(capacity + 1, sizeof *list);
    leat_array **arrays = calloc(capacity + 1, sizeof *arrays);
    leat_status status = LEAT_INVALID;
    PyObject *held = PyDict_Copy(save->value); /* its names and values stay while the file is written */
    if (!list || !arrays || !held)
        PyErr_NoMemory();
    else if (capacity == 0)
        PyErr_SetString(PyExc_ValueError, "there are no arrays to save");
    else if (list_arrays(held, list, arrays, &count) == 0) {
        Py_BEGIN_ALLOW_THREADS
        le_py_count_run(1);
        status = leat_archive_save(path, list, count, &save->options);
        le_py_count_run(-1);
        Py_END_ALLOW_THREADS
    }
    for (size_t k = 0; k < count; k++)
        le_py_free_waiting(arrays[k]);
    free(list);
    free(arrays);
    Py_XDECREF(held);
    return status;
}

static PyObject *perform_save(struct save *save) {
    const char *path = PyBytes_AsString(save->bytes);
    if (check_options(save, path) < 0)
        return NULL;
    leat_status status = PyDict_Check(save->value) ? save_dict(path, save) : save_one(path, save);
    return status ? fail_file(status, save->path, path, false) : Py_NewRef(Py_None);
}

PyObject *le_py_save(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"path", "array", "key", "colormap", "sync", NULL};
    struct save save = {.options = {.struct_size = sizeof save.options, .proceed = le_py_proceed}};
    int sync = 0;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, names, "OO|$zzp", words, &save.path, &save.value, &save.options.key,
                                     &save.colormap, &sync) ||
        read_colormap(&save) < 0 || !PyUnicode_FSConverter(save.path, &save.bytes))
        return NULL;
    struct le_py_notes notes;
    le_py_notes_begin(&notes);
    save.options.sync = sync;
    PyObject *done = perform_save(&save);
    Py_DECREF(save.bytes);
    return le_py_notes_end(&notes, done);
}
