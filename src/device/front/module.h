/* Modules and kernels as the front door (module.c, kernel_name.c, launch.c) and the backend (device/cuda/cuda_module.c)
 * share them. Backends fill what is marked so, in their slot module_new; it never changes after that, but for what has
 * a word about its lock. Kernels and variables live with their module. */
#ifndef LE_DEVICE_MODULE_H
#define LE_DEVICE_MODULE_H
#include "device/front/device_state.h"
#include "device/front/ptx.h"

enum { LE_LAUNCH_PARAMETERS_MAX = 512 }; /* of a kernel that can be launched */

struct le_device_kernel {
    struct le_device_module *module; /* not retained */
    const struct le_ptx_kernel *entry;
    const char *name; /* as its user knows it: "ns::f", or the name expression */
    /* the backend's: */
    void *native; /* NULL: its driver does not know the kernel */
    int registers, max_block_threads, best_block_threads;
    size_t static_shared_bytes, max_dynamic_shared_bytes, local_bytes, constant_bytes;
    atomic_bool shared_asked; /* more than the usual dynamic shared memory was asked for once */
    atomic_bool used;         /* launched at least once */
    struct le_tally launches; /* the ledger's, where it only counts */
};

struct le_device_variable {
    const struct le_ptx_variable *entry;
    uint64_t address; /* the backend's; 0: its driver does not know the variable */
    size_t size_bytes;
    _Atomic(struct le_allocation *) block; /* made under the module's lock, at the first use */
};

struct le_module_name { /* of le_module_source.names */
    char *expression, *lowered;
};

struct le_device_module {
    struct le_device *device; /* retained */
    char *title;              /* the source's label, or its name */
    /* the backend's: */
    void *native;
    char *log, *ptx; /* from le_alloc */
    size_t image_bytes;
    bool was_kept; /* it was found in the store */
    struct le_module_name *names;
    int name_count;
    /* le_module_read's: */
    struct le_ptx contents;
    bool is_read;
    struct le_device_kernel *kernels; /* of contents.kernels */
    struct le_device_variable *variables;
    atomic_bool launched; /* any kernel */
    atomic_bool shown;    /* any variable has a block */
    pthread_mutex_t lock;
};

/* For backends: reads module->ptx once it is there, along with names, and makes kernels and variables. */
leat_status le_module_read(struct le_device_module *module);

/* replay.c: notes one more launch with launch->replay. true: it is kept by now, and to be given by le_replay_launch,
 * which does it as if it were once where that fails. */
bool le_replay_prepare(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                       const struct le_device_stream *stream, void **parameters);
leat_status le_replay_launch(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                             const struct le_device_stream *stream, void **parameters);

/* kernel_name.c: the kernel that name stands for; LEAT_INVALID, with what there is. */
leat_status le_module_find(struct le_device_module *module, const char *name, struct le_device_kernel **kernel);
#endif
