/* The CUDA backend, over a driver table: the real one (cuda_libraries.h) or the simulator's, as device_open.c chooses.
 * The front door has checked all input. Each call waits until the context exists, makes it current, and restores the
 * previous one. Any thread. */
#ifndef LE_CUDA_DEVICE_H
#define LE_CUDA_DEVICE_H
#include "device/driver/cublas.h"
#include "device/cuda/nvrtc_preload.h"
#include "device/driver/cuda_driver.h"
#include "device/front/device_state.h"
#include "device/driver/nvrtc.h"

struct le_cuda_device {
    const struct le_cuda_driver *driver;
    const struct le_nvrtc *nvrtc; /* NULL: the first compilation calls le_nvrtc_open */
    struct le_device *device;     /* not retained: it owns this struct */
    int ordinal;
    le_cu_device handle;
    bool is_sim;
    pthread_mutex_t context_lock; /* guards waiting for context_thread */
    pthread_t context_thread;
    atomic_bool is_opening, is_context_ready; /* is_opening: context_thread is creating the context; is_context_ready:
                                                 it exists, and the fields up to first_stream no longer change */
    le_cu_result context_result;              /* result of creating the context */
    le_cu_context context;                    /* the primary context, retained, never reset; NULL: none */
    le_cu_stream first_stream; /* the first stream, if its handle was returned before the context existed */
    bool first_stream_given;
    pthread_mutex_t warm_lock; /* guards ending warm */
    struct le_nvrtc_warm *warm;
    struct le_device_ops ops;        /* for device->ops */
    const struct le_cublas *cublas;  /* NULL: the first product calls le_cublas_open */
    pthread_mutex_t product_lock;    /* guards the handle, which serves one stream at a time */
    le_cublas_handle product_handle; /* NULL: not created yet */
};

struct le_cuda_opening {
    const struct le_cuda_driver *driver;
    const struct le_nvrtc *nvrtc;
    const struct le_cublas *cublas;
    int ordinal;
    const char *kind;           /* "cuda" or "sim", for limits and messages */
    struct le_nvrtc_warm *warm; /* ownership passes to the device; NULL: none */
    bool in_background;         /* a thread creates the context; le_cuda_is_opening until some call has waited for it */
};
/* Fills device->ops, native and limits. Fails with LEAT_DEVICE, and the reason, if there is no such device or it cannot
 * be used. */
leat_status le_cuda_device_new(const struct le_cuda_opening *opening, struct le_device *device);

/* cuda_context.c. begin reports only the errors that occur at once; le_cuda_enter reports the others. */
leat_status le_cuda_context_begin(struct le_cuda_device *cuda, bool apart);
bool le_cuda_is_opening(void *native);
bool le_cuda_has_context(struct le_cuda_device *cuda); /* waits until opening ends */
void le_cuda_context_end(struct le_cuda_device *cuda);
/* The driver's stream for a handle. Call after entering the context. */
static inline le_cu_stream le_cuda_stream_of(const struct le_cuda_device *cuda, void *stream) {
    return stream == (const void *)&cuda->first_stream ? cuda->first_stream : stream;
}
/* Call these around driver calls. *before: the context that was current. le_cuda_leave returns status. */
leat_status le_cuda_enter(struct le_cuda_device *cuda, le_cu_context *before);
/* For calls that release something or record a note, whose failure is ignored. Reports no error. Returns false if the
 * call failed. */
bool le_cuda_enter_to_free(struct le_cuda_device *cuda, le_cu_context *before);
leat_status le_cuda_leave(struct le_cuda_device *cuda, le_cu_context before, leat_status status);
/* Returns LEAT_OK for SUCCESS. Otherwise sets the thread's error "WHAT: the driver's text (ERROR_NAME)" and returns its
 * status. what: the call and its arguments in words: "allocating 4096 bytes of device memory". Fatal errors are
 * latched. */
leat_status le_cuda_result(struct le_cuda_device *cuda, le_cu_result result, const char *what, ...)
    __attribute__((format(printf, 3, 4)));
bool le_cuda_is_fatal(le_cu_result result);
/* Returns LEAT_DATA, with one error for each report, if the simulator's checks have found something; else returns
 * status. */
leat_status le_cuda_check_reports(struct le_cuda_device *cuda, leat_status status);

/* Slots of le_device_ops that the other files fill. */
leat_status le_cuda_memory_new(void *native, enum le_memory_kind kind, size_t size_bytes, void **host,
                               uint64_t *address);
void le_cuda_memory_free(void *native, enum le_memory_kind kind, void *host, uint64_t address, size_t size_bytes);
leat_status le_cuda_memory_info(void *native, size_t *free_bytes, size_t *total_bytes);
void le_cuda_memory_note(void *native, uint64_t address, size_t size_bytes, bool live);
leat_status le_cuda_host_pin(void *native, void *memory, size_t size_bytes, uint64_t *address);
leat_status le_cuda_host_unpin(void *native, void *memory);
enum le_memory_kind le_cuda_pointer_kind(void *native, const void *pointer, uint64_t *address);
leat_status le_cuda_stream_new(void *native, void **stream);
leat_status le_cuda_stream_check(void *native, void *stream);
void le_cuda_stream_free(void *native, void *stream);
leat_status le_cuda_stream_wait(void *native, void *stream, void *event);
leat_status le_cuda_stream_synchronize(void *native, void *stream);
leat_status le_cuda_synchronize(void *native);
leat_status le_cuda_copy(void *native, void *stream, const struct le_native_copy *copy);
leat_status le_cuda_fill(void *native, void *stream, uint64_t address, uint32_t value, size_t count, int value_bytes);
leat_status le_cuda_event_new(void *native, bool timed, void **event);
void le_cuda_event_free(void *native, void *event);
leat_status le_cuda_event_record(void *native, void *event, void *stream);
leat_status le_cuda_event_synchronize(void *native, void *event);
leat_status le_cuda_event_query(void *native, void *event, bool *passed);
leat_status le_cuda_event_elapsed(void *native, void *start, void *stop, double *milliseconds);
/* cuda_compile.c */
void le_cuda_compiler_begin(void *native);
/* cuda_module.c */
leat_status le_cuda_module_new(void *native, const struct le_module_source *source, struct le_device_module *module);
void le_cuda_module_free(void *native, struct le_device_module *module);
/* cuda_launch.c */
leat_status le_cuda_launch(void *native, void *stream, struct le_device_kernel *kernel,
                           const struct le_kernel_launch *launch, void **parameters);
leat_status le_cuda_replay_new(void *native, struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                               void **parameters, void **replay);
leat_status le_cuda_replay_launch(void *native, void *stream, bool foreign, struct le_device_kernel *kernel,
                                  const struct le_kernel_launch *launch, void **parameters, void *replay);
void le_cuda_replay_free(void *native, void *replay);
/* cuda_product.c */
leat_status le_cuda_product_open(void *native);
leat_status le_cuda_product(void *native, void *stream, const struct le_product *product, uint64_t work,
                            size_t work_bytes);
void le_cuda_product_close(struct le_cuda_device *cuda);
#endif
