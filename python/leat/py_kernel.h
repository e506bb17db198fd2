/* What py_kernel.c (leat.Module, leat.Kernel) and py_launch.c (launches) share. */
#ifndef LE_PY_KERNEL_H
#define LE_PY_KERNEL_H
#include "py_leat.h"

struct le_py_kernel {
    PyObject_HEAD leat_kernel *kernel;
    PyObject *module; /* retained: it keeps the kernel valid */
    struct le_py_device *device;
    leat_kernel_info info;
    leat_parameter_info *parameters; /* info.parameter_count of them */
};
/* kernel[grid, block], kernel[grid, block, stream], kernel[grid, block, stream, shared_bytes]: a leat.Launcher, which
 * is called with the arguments. */
PyObject *le_py_kernel_subscript(PyObject *kernel, PyObject *key);
int le_py_launch_init(PyObject *module);
#endif
