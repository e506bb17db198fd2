/* Modules and kernels, shared by the front door (module.c, kernel_name.c, launch.c) and the backend
 * (device/cuda/cuda_module.c). The backend fills the fields marked as its own in its slot module_new. Nothing changes
 * after that, except for atomics and fields marked with a lock. Kernels and variables live as long as their module. */
#ifndef LE_DEVICE_MODULE_H
#define LE_DEVICE_MODULE_H
#include "device/front/device_state.h"
#include "device/front/ptx.h"

enum { LE_LAUNCH_PARAMETERS_MAX = 512 }; /* limit for kernels that can be launched */

struct le_device_kernel {
    struct le_device_module *module; /* not retained */
    const struct le_ptx_kernel *entry;
    const char *name; /* as the user writes it: "ns::f", or a name expression */
    /* the backend's: */
    void *native; /* NULL: the driver does not find the kernel */
    int registers, max_block_threads, best_block_threads;
    size_t static_shared_bytes, max_dynamic_shared_bytes, local_bytes, constant_bytes;
    atomic_bool shared_opted_in; /* has opted in to more dynamic shared memory than the default */
    atomic_bool used;            /* launched at least once */
    struct le_tally launches;    /* the ledger's counter, for a ledger that only counts */
};

struct le_device_variable {
    const struct le_ptx_variable *entry;
    uint64_t address; /* from the backend; 0: the driver does not find the variable */
    size_t size_bytes;
    _Atomic(struct le_allocation *) allocation; /* created under the module's lock, at the first use */
};

struct le_module_name { /* one of le_module_source.names */
    char *expression, *lowered;
};

struct le_device_module {
    struct le_device *device; /* retained */
    char *title;              /* the source's label or, if it has none, its name */
    /* the backend's: */
    void *native;
    char *log, *ptx; /* from le_alloc */
    size_t image_bytes;
    bool was_cached; /* found in the cache */
    struct le_module_name *names;
    int name_count;
    /* filled by le_module_read: */
    struct le_ptx contents;
    bool is_read;
    struct le_device_kernel *kernels; /* one for each of contents.kernels */
    struct le_device_variable *variables;
    atomic_bool launched; /* a kernel was launched */
    atomic_bool exposed;  /* a variable has an allocation */
    pthread_mutex_t lock;
};

/* For backends: reads module->ptx, which must be set along with names, and creates kernels and variables. */
leat_status le_module_read(struct le_device_module *module);

/* replay.c. le_replay_prepare counts one more launch with launch->replay; it returns true if the launch must be done by
 * le_replay_launch. That falls back to an ordinary launch if the replay fails. */
bool le_replay_prepare(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                       const struct le_device_stream *stream, void **parameters);
leat_status le_replay_launch(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                             const struct le_device_stream *stream, void **parameters);

/* kernel_name.c: finds the kernel by name. If there is none, LEAT_INVALID, and the message lists the kernels. */
leat_status le_module_find(struct le_device_module *module, const char *name, struct le_device_kernel **kernel);
#endif
