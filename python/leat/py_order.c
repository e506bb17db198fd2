/* The order of a call or a launch among the streams of its arguments. */
#include "py_leat.h"

int le_py_order_choose(struct le_py_order *order, PyObject *wanted) {
    if (wanted)
        return le_py_stream_of(wanted, order->device, &order->stream, &order->wrapped);
    for (Py_ssize_t k = 0; k < order->count && !order->stream; k++)
        order->stream = order->arguments[k].ready;
    return 0;
}

leat_status le_py_order_begin(const struct le_py_order *order) {
    leat_status status = LEAT_OK;
    for (Py_ssize_t k = 0; k < order->count && !status; k++)
        if (order->arguments[k].ready)
            status = le_py_stream_follow(order->device, order->stream, order->arguments[k].ready);
    return status;
}

leat_status le_py_order_end(struct le_py_order *order) {
    leat_status status = LEAT_OK;
    for (Py_ssize_t k = 0; k < order->count; k++) {
        struct le_py_argument *a = &order->arguments[k];
        leat_status each = a->ready ? le_py_stream_follow(order->device, a->ready, order->stream) : LEAT_OK;
        status = status ? status : each;
        if (a->is_held && a->keep) {
            le_py_release_later(order->device, order->stream, a->keep);
            a->keep = NULL;
        }
    }
    return status;
}

void le_py_order_drain(const struct le_py_order *order) {
    Py_BEGIN_ALLOW_THREADS(void)
    leat_context_synchronize(order->device->ctx);
    Py_END_ALLOW_THREADS
}

void le_py_order_release(struct le_py_order *order) {
    le_py_stream_release(order->wrapped);
    order->wrapped = NULL;
    order->stream = NULL;
}
