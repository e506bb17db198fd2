/* The parts of leat.Array. */
#ifndef LE_PY_ARRAY_H
#define LE_PY_ARRAY_H
#include "py_leat.h"

struct le_py_array *le_py_array_blank(void); /* to be filled, or released */
void le_py_array_fill(struct le_py_array *made, leat_array *array, struct le_py_device *device); /* takes over array */
PyObject *le_py_array_view(const struct le_py_array *array, leat_array *view);                   /* takes over view */
bool le_py_array_is_readable(const struct le_py_array *array);                                   /* by the host */
leat_status le_py_array_settle(const struct le_py_array *array); /* waits for the work on the array's device */

int le_py_copy_parse(PyObject *value, int *copy); /* copy=: 1: always, 0: never, -1: as needed (py_memory.c) */

/* py_array_view.c */
PyObject *le_py_array_subscript(PyObject *self, PyObject *key);

/* py_array_exchange.c */
PyObject *le_py_array_dlpack(PyObject *self, PyObject *args, PyObject *names);
PyObject *le_py_array_dlpack_device(PyObject *self, PyObject *none);
PyObject *le_py_array_interface(PyObject *self, void *none);
#endif
