/* The backend over a CUDA driver's table: the real one (cuda_libraries.h) or the simulator's, as device_open.c chooses.
 * The front door has checked all input. Each call waits for the context while it is being made, makes it current, and
 * restores the previous one. Any thread. */
#ifndef LE_CUDA_DEVICE_H
#define LE_CUDA_DEVICE_H
#include "device/driver/cublas.h"
#include "device/cuda/nvrtc_preload.h"
#include "device/driver/cuda_driver.h"
#include "device/front/device_state.h"
#include "device/driver/nvrtc.h"

struct le_cuda_device {
    const struct le_cuda_driver *driver;
    const struct le_nvrtc *nvrtc; /* NULL: le_nvrtc_open at the first compilation */
    struct le_device *device;     /* not retained: it owns this */
    int ordinal;
    le_cu_device handle;
    bool is_sim;
    pthread_mutex_t context_lock; /* guards waiting for the thread that makes it */
    pthread_t context_thread;
    atomic_bool is_opening,
        is_context_ready;        /* a thread makes it; it is there, and what follows does not change any more */
    le_cu_result context_result; /* what making it came to */
    le_cu_context context;       /* the primary one, retained; never reset; NULL: not there */
    le_cu_stream first_stream;   /* the first stream, if it was given out before the context was there */
    bool first_stream_given;
    pthread_mutex_t warm_lock; /* guards its end */
    struct le_nvrtc_warm *warm;
    struct le_device_ops ops;        /* the device's */
    const struct le_cublas *cublas;  /* NULL: le_cublas_open at the first product */
    pthread_mutex_t product_lock;    /* guards the handle, which is of one stream at a time */
    le_cublas_handle product_handle; /* NULL: not made yet */
};

struct le_cuda_opening {
    const struct le_cuda_driver *driver;
    const struct le_nvrtc *nvrtc;
    const struct le_cublas *cublas;
    int ordinal;
    const char *kind;           /* "cuda" or "sim", for limits and messages */
    struct le_nvrtc_warm *warm; /* the device's from then on; NULL: none */
    bool in_background; /* the context is made by a thread of its own: le_cuda_is_opening until it was waited for */
};
/* Fills device->ops, native and limits. LEAT_DEVICE where there is no such device or it is not usable, with the
 * reason. */
leat_status le_cuda_device_new(const struct le_cuda_opening *opening, struct le_device *device);

/* cuda_context.c. begin: what is known at once that went wrong; the rest is told by le_cuda_enter. */
leat_status le_cuda_context_begin(struct le_cuda_device *cuda, bool apart);
bool le_cuda_is_opening(void *native);
bool le_cuda_has_context(struct le_cuda_device *cuda); /* waits while it is opening */
void le_cuda_context_end(struct le_cuda_device *cuda);
/* The stream that a handle stands for, once the context was entered. */
static inline le_cu_stream le_cuda_stream_of(struct le_cuda_device *cuda, void *stream) {
    return stream == (void *)&cuda->first_stream ? cuda->first_stream : stream;
}
/* Around driver calls: what was current is in *before. le_cuda_leave gives status back. */
leat_status le_cuda_enter(struct le_cuda_device *cuda, le_cu_context *before);
/* For what gives back or notes, whose failures are nobody's to know: no error is told. false: it failed. */
bool le_cuda_enter_to_free(struct le_cuda_device *cuda, le_cu_context *before);
leat_status le_cuda_leave(struct le_cuda_device *cuda, le_cu_context before, leat_status status);
/* LEAT_OK for SUCCESS; else the thread's error: "WHAT: the driver's text (ITS_NAME)", what being the call and its
 * arguments in words: "cuMemAlloc of 4096 bytes". Fatal ones are latched. */
leat_status le_cuda_result(struct le_cuda_device *cuda, le_cu_result result, const char *what, ...)
    __attribute__((format(printf, 3, 4)));
bool le_cuda_is_fatal(le_cu_result result);
/* LEAT_DATA, with an error for each, where the simulator's checks have found something by now; else status. */
leat_status le_cuda_check_reports(struct le_cuda_device *cuda, leat_status status);

/* The slots of the other files. */
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
leat_status le_cuda_replay_launch(void *native, void *stream, struct le_device_kernel *kernel,
                                  const struct le_kernel_launch *launch, void **parameters, void *replay);
void le_cuda_replay_free(void *native, void *replay);
/* cuda_product.c */
leat_status le_cuda_product_open(void *native);
leat_status le_cuda_product(void *native, void *stream, const struct le_product *product, uint64_t work,
                            size_t work_bytes);
void le_cuda_product_close(struct le_cuda_device *cuda);
#endif
