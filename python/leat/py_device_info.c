/* leat.devices, leat.DeviceInfo and leat.synchronize. */
#include "py_memory.h"
#include <string.h>

struct py_device_info {
    PyObject_HEAD leat_device_info info;
};
static PyTypeObject *info_type;

#define FIELD(kind, field, doc)                                                                                        \
    { #field, kind, offsetof(struct py_device_info, info.field), READONLY, doc }
static PyMemberDef info_fields[] = {
    FIELD(T_STRING_INPLACE, device, "Its name for device=: \"cpu\", \"cuda:1\", \"sim\"."),
    FIELD(T_STRING_INPLACE, kind, "\"cpu\", \"cuda\" or \"sim\"."),
    FIELD(T_STRING_INPLACE, name, "The maker's name: \"NVIDIA H200\"."),
    FIELD(T_BOOL, usable, "False: `reason` says why, and the fields below may be 0."),
    FIELD(T_STRING_INPLACE, reason, "Why it is not usable, or \"\"."),
    FIELD(T_ULONG, memory_bytes, "The size of main memory, or of the device's."),
    FIELD(T_ULONG, cache_bytes, "The size of the CPU's last-level cache."),
    FIELD(T_STRING_INPLACE, simd, "The CPU's instruction set in use."),
    FIELD(T_STRING_INPLACE, best_simd, "The best instruction set that the CPU has."),
    FIELD(T_INT, threads, "CPU threads that Leat uses."),
    FIELD(T_INT, cores, "Cores that this process may use."),
    FIELD(T_INT, ordinal, "CUDA's number of the device."),
    FIELD(T_STRING_INPLACE, uuid, "\"GPU-6f4c...\""),
    FIELD(T_STRING_INPLACE, pci_id, "\"0000:0f:00.0\""),
    FIELD(T_INT, capability, "90 for compute capability 9.0."),
    FIELD(T_INT, multiprocessors, NULL),
    FIELD(T_INT, f64_ratio, "f32 operations in the time of one f64 operation."),
    FIELD(T_INT, cuda_version, "The CUDA version of the driver: 12040 for 12.4."),
    FIELD(T_DOUBLE, copy_bytes_per_second,
          "Measured: copies within its memory, bytes read and written. 0: not measured."),
    FIELD(T_DOUBLE, upload_bytes_per_second, "Measured with pinned memory."),
    FIELD(T_DOUBLE, download_bytes_per_second, "Measured with pinned memory."),
    FIELD(T_DOUBLE, additions_per_second, "Measured: f64 additions in the CPU's caches, all threads."),
    FIELD(T_DOUBLE, launch_ns, "Measured: enqueueing one of many empty kernels."),
    FIELD(T_DOUBLE, round_trip_ns, "Measured: launching an empty kernel and waiting for it."),
    {0}};

/* One line, such as "<cuda:0: NVIDIA H200, capability 9.0, 132 multiprocessors, 139.8 GiB>". */
static PyObject *info_repr(PyObject *self) {
    const leat_device_info *info = &((struct py_device_info *)self)->info;
    char facts[96] = "", memory[32] = "";
    if (!info->usable)
        return PyUnicode_FromFormat("<%s: not usable: %s>", info->device, info->reason);
    if (strcmp(info->kind, "cpu") == 0)
        PyOS_snprintf(facts, sizeof facts, ", %s, %d threads", info->simd, info->threads);
    else if (info->capability)
        PyOS_snprintf(facts, sizeof facts, ", capability %d.%d, %d multiprocessors", info->capability / 10,
                      info->capability % 10, info->multiprocessors);
    if (info->memory_bytes)
        PyOS_snprintf(memory, sizeof memory, ", %.1f GiB", (double)info->memory_bytes / (1 << 30));
    return PyUnicode_FromFormat("<%s: %s%s%s>", info->device, info->name, facts, memory);
}

static PyType_Slot info_slots[] = {
    {Py_tp_doc, "A device of this machine: what it is, whether it can be used, and its measured rates. leat.devices "
                "returns one for each."},
    {Py_tp_dealloc, le_py_object_free},
    {Py_tp_repr, info_repr},
    {Py_tp_members, info_fields},
    {0}};
static PyType_Spec info_spec = {.name = "leat.DeviceInfo",
                                .basicsize = sizeof(struct py_device_info),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = info_slots};

int le_py_device_info_init(PyObject *module) {
    info_type = (PyTypeObject *)PyType_FromSpec(&info_spec);
    return info_type ? PyModule_AddObjectRef(module, "DeviceInfo", (PyObject *)info_type) : -1;
}

/* ---- functions */

static PyObject *describe(leat_context *ctx, size_t k, bool measure) {
    struct py_device_info *made = le_py_object_new(info_type);
    leat_status status;
    if (!made)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = leat_device_get(ctx, k, measure, &made->info);
    Py_END_ALLOW_THREADS
    if (!status)
        return (PyObject *)made;
    Py_DECREF(made);
    return le_py_raise(status, NULL, NULL);
}

PyObject *le_py_devices(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"measure", NULL};
    int measure = 0;
    size_t count = 0;
    leat_status status;
    (void)self;
    struct le_py_device *cpu = le_py_device_open("cpu");
    if (!cpu || !PyArg_ParseTupleAndKeywords(args, names, "|p", words, &measure))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = leat_device_count(cpu->ctx, &count);
    Py_END_ALLOW_THREADS
    if (status)
        return le_py_raise(status, NULL, NULL);
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < count; k++) {
        PyObject *info = describe(cpu->ctx, k, measure);
        if (!info || PyList_Append(list, info) < 0)
            Py_CLEAR(list);
        Py_XDECREF(info);
    }
    return list;
}

static int wait_for(struct le_py_device *device) {
    leat_status status;
    Py_BEGIN_ALLOW_THREADS
    status = le_py_wait_context(device->ctx);
    Py_END_ALLOW_THREADS
    return status ? (le_py_raise(status, NULL, NULL), -1) : 0;
}

PyObject *le_py_synchronize(PyObject *self, PyObject *args, PyObject *names) {
    static char *words[] = {"device", NULL};
    PyObject *value = Py_None;
    struct le_py_device *device;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|O", words, &value) || le_py_device_of(value, &device) < 0)
        return NULL;
    int failed = device ? wait_for(device) : 0;
    for (struct le_py_device *each = device ? NULL : le_py_device_first(); each && !failed; each = each->next)
        failed = wait_for(each);
    return failed ? NULL : Py_NewRef(Py_None);
}
