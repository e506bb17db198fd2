/* What the files about the memory of arrays share: py_memory.c (asarray), py_pinned.c, py_file.c, py_device_info.c and
 * py_progress.c. */
#ifndef LE_PY_MEMORY_H
#define LE_PY_MEMORY_H
#include "py_leat.h"

/* An array of the library with the elements of a Python value. */
struct le_py_source {
    leat_array *array; /* owned */
    struct le_py_device *device;
    bool is_copied; /* its elements are a copy of the value's */
};
/* Fills the source from what a call accepts as an argument; name is for errors. Host memory is in the CPU's context.
 * The array keeps the value's memory alive. */
int le_py_source_of(PyObject *value, const char *name, struct le_py_source *source);
/* Frees a source's array without the GIL: it may wait for work that uses another library's memory. */
void le_py_free_waiting(leat_array *array);
/* Replace the array by one on another device, or of another type. The source is released if they fail. */
int le_py_source_move(struct le_py_source *source, struct le_py_device *device);
int le_py_source_cast(struct le_py_source *source, leat_dtype dtype);

/* Lets the argument keep the value alive, for memory that is used beyond a call. */
void le_py_argument_keep(struct le_py_argument *argument, PyObject *value);
/* An argument whose memory an array uses: a release callback of leat_array_wrap, for any thread, also at exit. */
void le_py_release_kept(void *argument);

#define LE_PY_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))
PyObject *le_py_asarray(PyObject *self, PyObject *args, PyObject *names);
PyObject *le_py_array_again(PyObject *self, PyObject *args);
PyObject *le_py_pinned(PyObject *self, PyObject *value);
PyObject *le_py_pinned_empty(PyObject *self, PyObject *args, PyObject *names);
PyObject *le_py_load(PyObject *self, PyObject *args, PyObject *names);
PyObject *le_py_save(PyObject *self, PyObject *args, PyObject *names);
PyObject *le_py_devices(PyObject *self, PyObject *args, PyObject *names);
PyObject *le_py_synchronize(PyObject *self, PyObject *args, PyObject *names);
int le_py_device_info_init(PyObject *module); /* leat.DeviceInfo */
PyObject *le_py_show_progress(PyObject *self, PyObject *on);
void le_py_progress_init(void); /* reads LEAT_PROGRESS */
#endif
