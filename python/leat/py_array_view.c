/* Subscripts of leat.Array: integers, slices, `...` and None give a view. */
#include "py_array.h"

struct cut {
    int64_t start[LEAT_RANK_MAX], stop[LEAT_RANK_MAX], step[LEAT_RANK_MAX];
    int64_t shape[LEAT_RANK_MAX]; /* of the view */
    int axis, rank;               /* how many axes are cut, and of the view */
};

static int add_extent(struct cut *cut, int64_t extent) {
    if (cut->rank == LEAT_RANK_MAX)
        return le_py_fail_rank("the view", cut->rank + 1);
    cut->shape[cut->rank++] = extent;
    return 0;
}

static int cut_index(struct cut *cut, PyObject *item, Py_ssize_t extent) {
    Py_ssize_t at = PyNumber_AsSsize_t(item, PyExc_IndexError);
    if (at == -1 && PyErr_Occurred())
        return -1;
    Py_ssize_t from = at < 0 ? at + extent : at;
    if (from < 0 || from >= extent) {
        PyErr_Format(PyExc_IndexError, "index %zd is out of range for axis %d with extent %zd", at, cut->axis, extent);
        return -1;
    }
    cut->start[cut->axis] = from;
    cut->stop[cut->axis] = from + 1;
    cut->step[cut->axis++] = 1;
    return 0;
}

static int cut_slice(struct cut *cut, PyObject *item, Py_ssize_t extent) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(item, &start, &stop, &step) < 0)
        return -1;
    Py_ssize_t count = PySlice_AdjustIndices(extent, &start, &stop, step);
    bool empty = count == 0;
    cut->start[cut->axis] = empty ? 0 : start;
    cut->stop[cut->axis] = empty ? 0 : start + (count - 1) * step + (step > 0 ? 1 : -1);
    cut->step[cut->axis++] = empty ? 1 : step;
    return add_extent(cut, count);
}

static int cut_rest(struct cut *cut, const struct le_py_array *array, int until) {
    while (cut->axis < until) {
        int64_t extent = array->shape[cut->axis];
        cut->start[cut->axis] = 0;
        cut->stop[cut->axis] = extent;
        cut->step[cut->axis++] = 1;
        if (add_extent(cut, extent) < 0)
            return -1;
    }
    return 0;
}

static int cut_item(struct cut *cut, PyObject *item, const struct le_py_array *array) {
    int rank = array->description.rank;
    if (item == Py_None)
        return add_extent(cut, 1);
    if (!PySlice_Check(item) && (!PyIndex_Check(item) || PyBool_Check(item))) {
        PyErr_Format(PyExc_TypeError, "an array is subscripted by integers, slices, ... and None, not by %R", item);
        return -1;
    }
    if (cut->axis == rank) {
        PyErr_Format(PyExc_IndexError, "too many subscripts: the array has %d axes", rank);
        return -1;
    }
    return PySlice_Check(item) ? cut_slice(cut, item, array->shape[cut->axis])
                               : cut_index(cut, item, array->shape[cut->axis]);
}

/* The number of axes that the items take, apart from `...`. */
static int taken_axes(PyObject *items, int *dots) {
    int taken = 0;
    *dots = 0;
    for (Py_ssize_t k = 0; k < PyTuple_Size(items); k++) {
        PyObject *item = PyTuple_GetItem(items, k);
        *dots += item == Py_Ellipsis;
        taken += item != Py_Ellipsis && item != Py_None;
    }
    return taken;
}

static int cut_all(struct cut *cut, PyObject *items, const struct le_py_array *array) {
    int dots, rank = array->description.rank, taken = taken_axes(items, &dots);
    if (dots > 1) {
        PyErr_SetString(PyExc_IndexError, "a subscript has at most one ...");
        return -1;
    }
    for (Py_ssize_t k = 0; k < PyTuple_Size(items); k++) {
        PyObject *item = PyTuple_GetItem(items, k);
        int failed = item == Py_Ellipsis ? cut_rest(cut, array, cut->axis + rank - taken) : cut_item(cut, item, array);
        if (failed)
            return -1;
    }
    return cut_rest(cut, array, rank);
}

PyObject *le_py_array_subscript(PyObject *self, PyObject *key) {
    struct le_py_array *array = (struct le_py_array *)self;
    struct cut cut = {.axis = 0};
    leat_array *part, *view;
    PyObject *items = PyTuple_Check(key) ? Py_NewRef(key) : PyTuple_Pack(1, key);
    int failed = items ? cut_all(&cut, items, array) : -1;
    Py_XDECREF(items);
    if (failed)
        return NULL;
    leat_status status = leat_array_slice(array->array, cut.start, cut.stop, cut.step, &part);
    if (status)
        return le_py_raise(status, NULL, NULL);
    status = leat_array_reshape(part, cut.rank, cut.shape, &view);
    leat_array_free(part);
    return status ? le_py_raise(status, NULL, NULL) : le_py_array_view(array, view);
}
