/* The parts of leat.Array. */
#ifndef LE_PY_ARRAY_H
#define LE_PY_ARRAY_H
#include "py_leat.h"

bool le_py_array_is_readable(const struct le_py_array *array);   /* by the host */
leat_status le_py_array_settle(const struct le_py_array *array); /* waits for the work on the array's device */

/* py_array_view.c */
PyObject *le_py_array_subscript(PyObject *self, PyObject *key);

/* py_array_exchange.c */
PyObject *le_py_array_dlpack(PyObject *self, PyObject *args, PyObject *names);
PyObject *le_py_array_dlpack_device(PyObject *self, PyObject *none);
PyObject *le_py_array_interface(PyObject *self, void *none);
#endif
