/* What the files of the extension share. The extension is a thin layer over leat.h for CPython's limited API (3.11 and
 * newer): it resolves Python arguments into descriptions of memory, runs, and hands results back as arrays of the
 * caller's library. Everything here needs the GIL unless it says otherwise. A function that returns NULL or -1 has set
 * a Python exception. */
#ifndef LE_PY_LEAT_H
#define LE_PY_LEAT_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <structmember.h>
#include "leat.h"

/* Python 3.11 has vectorcall, but its limited API declares it only since 3.12. */
#define LE_PY_HAVE_VECTORCALL  (1UL << 11)
#define LE_PY_ARGUMENTS_OFFSET ((size_t)1 << (8 * sizeof(size_t) - 1))
typedef PyObject *le_py_vectorcall(PyObject *self, PyObject *const *args, size_t count, PyObject *names);

/* A new object of a heap type with zeroed fields, and what its tp_dealloc does last. */
static inline void *le_py_object_new(PyTypeObject *type) {
    return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}
static inline void le_py_object_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF((PyObject *)type);
}

#define LE_PY_MANY 16 /* inputs or results for which a call needs no memory from the heap */

/* ---- errors (py_error.c) */

struct le_py_errors {
    PyObject *error, *program, *shape, *data, *device, *warning;
};
extern struct le_py_errors le_py_errors;
int le_py_errors_init(PyObject *module);
/* Raises the exception for the calling thread's last failure in the library, and returns NULL. text is the program's,
 * for the caret, or NULL; name is the program's or file's. Keeps an exception that is already set. */
void *le_py_raise(leat_status status, const char *text, const char *name);
/* Set an exception aside, if there is one, for code that needs a clear error state, and set it again, in place of any
 * that this code has raised. */
struct le_py_pending {
    PyObject *type, *value, *trace;
};
void le_py_error_hold(struct le_py_pending *pending);
void le_py_error_restore(struct le_py_pending *pending);

/* The notes of the library that a function causes. */
struct le_py_notes {
    char **lines;
    int count;
    struct le_py_notes *outer; /* of a function of this thread that is interrupted */
};
void le_py_note(leat_log_level level, const char *text, void *user); /* leat_options.log; no GIL needed */
void le_py_notes_begin(struct le_py_notes *notes);
/* Raises the notes as Python warnings, those of no function too. result: of the function, or NULL with an exception.
 * Returns the result, or releases it and returns NULL, if a warning is an error. */
PyObject *le_py_notes_end(struct le_py_notes *notes, PyObject *result);
void le_py_notes_forget(void);

/* ---- fork and exit (py_process.c). A forked child calls the functions ..._forget of all files. */

int le_py_process_init(void);
int le_py_at_exit(PyMethodDef *method); /* registers a function without arguments */
/* Whether Python is about to exit, so that only its own threads may still take the GIL. Needs no GIL. */
bool le_py_is_exiting(void);
bool le_py_must_stop(void);       /* it is, and this is another thread than the one that exits. Needs no GIL */
void le_py_count_run(int change); /* 1 before a run, -1 after it. Needs no GIL */

/* ---- devices (py_device.c): one context for each device in use. They stay open until the process ends. In a forked
 * child they are forgotten, and opened again when they are needed. */

struct le_py_device {
    char name[LEAT_DEVICE_NAME_BYTES]; /* "cpu", "cuda:0", "sim" */
    leat_context *ctx;
    bool is_cpu, is_cuda; /* sim is neither */
    int ordinal;          /* of a CUDA device */
    unsigned generation;  /* of the process that opened it */
    leat_stream *own;     /* le_py_stream_own; NULL: not made yet */
    struct le_py_device *next;
};
unsigned le_py_generation(void); /* changes in a forked child */
void le_py_devices_forget(void);
struct le_py_device *le_py_device_open(const char *name); /* "auto", "cpu", "cuda", "cuda:1", "sim"; opens it once */
struct le_py_device *le_py_device_cuda(int ordinal);
int le_py_device_cuda_count(void);               /* usable ones; -1 with an exception */
struct le_py_device *le_py_device_default(void); /* of leat.device(...), else of LEAT_DEVICE, else the CPU */
struct le_py_device *le_py_device_or_gpu(void);  /* the default one, or the first usable GPU instead of the CPU */
bool le_py_device_is_chosen(void);               /* inside `with leat.device(...)` */
struct le_py_device *le_py_device_first(void);   /* of those that are open; the others follow by next */
/* The device that a Python value names: a string. None gives NULL without an exception. */
int le_py_device_of(PyObject *value, struct le_py_device **device);
extern PyType_Spec le_py_device_spec; /* leat.device, the context manager */

/* ---- types of elements (py_type.c) */

/* From the buffer protocol's format and item size. 0: Leat has no such type. *swapped: the bytes are in the other order
 * than this machine's. */
leat_dtype le_py_dtype_of_format(const char *format, Py_ssize_t size_bytes, bool *swapped);
const char *le_py_format_of_dtype(leat_dtype dtype);              /* NULL: the buffer protocol has none (bf16) */
leat_dtype le_py_dtype_of_kind(char kind, Py_ssize_t size_bytes); /* of __array_interface__: 'f', 4; 0: none */
/* A dtype in Python: "f32", "float32", numpy.float32, numpy.dtype(...), torch.float32, leat.dtype(...). 0 with an
 * exception, also for the names that mean other types to NumPy than to Leat. */
leat_dtype le_py_dtype_parse(PyObject *value);
PyObject *le_py_numpy_dtype(leat_dtype dtype); /* a new reference to numpy.dtype; bf16 needs ml_dtypes */
/* leat.dtype (py_dtype.c) */
int le_py_dtype_init(PyObject *module);
PyObject *le_py_dtype_object(leat_dtype dtype);    /* a new reference */
leat_dtype le_py_dtype_of_object(PyObject *value); /* 0: the object is not a leat.dtype */

/* ---- arrays (py_array.c) */

struct le_py_array {
    PyObject_HEAD leat_array *array;
    struct le_py_device *device;
    leat_description description;
    Py_ssize_t byte_strides[LEAT_RANK_MAX], shape[LEAT_RANK_MAX]; /* for the buffer protocol */
    bool as_u16;     /* a bf16 array that exports its elements as u16, which NumPy then views as bf16 */
    bool is_foreign; /* the memory is another library's, so that freeing it may wait and run Python code */
    PyObject *weak;  /* the list of its weak references */
};
extern PyTypeObject *le_py_array_type;
int le_py_array_init(PyObject *module);
/* A new leat.Array. Takes over the reference to array, also when it fails. */
PyObject *le_py_array_new(leat_array *array, struct le_py_device *device);
static inline bool le_py_is_array(PyObject *value) {
    return Py_TYPE(value) == le_py_array_type;
}

/* ---- streams (py_stream.c) */

struct le_py_device *le_py_device_of_stream(PyObject *value); /* of a leat.Stream; else NULL, without an exception */
int le_py_stream_init(PyObject *module);
void le_py_streams_forget(void);
/* The wrapped stream of another library, which its users share. It is kept for later calls if the native stream lasts:
 * a default stream, or one whose object keeps it alive. */
struct le_py_wrapped {
    leat_stream *stream;
    struct le_py_device *device;
    void *native;
    PyObject *keep; /* owned, or NULL */
    int uses;       /* by arguments and calls */
    bool is_cached;
    unsigned last_use;
};
/* Return a use of it, which le_py_stream_release ends. known: NULL without an exception, if it is not kept. object: has
 * the stream, and keeps it alive at least while it is used; or NULL. */
struct le_py_wrapped *le_py_stream_known(struct le_py_device *device, void *native);
struct le_py_wrapped *le_py_stream_wrap(struct le_py_device *device, void *native, PyObject *object);
void le_py_stream_release(struct le_py_wrapped *wrapped); /* may be NULL */
/* The stream that a Python value names, for work on the device: a leat.Stream, an int, or an object with
 * __cuda_stream__, .ptr (CuPy) or .cuda_stream (PyTorch). *wrapped: a use of it, or NULL. */
int le_py_stream_of(PyObject *value, struct le_py_device *device, leat_stream **stream, struct le_py_wrapped **wrapped);
/* Leat's own stream on the device, for arrays of libraries that do not tell their stream. */
leat_stream *le_py_stream_own(struct le_py_device *device);
/* Makes the later work of one stream wait for the present work of another. */
leat_status le_py_stream_follow(struct le_py_device *device, leat_stream *later, leat_stream *earlier);
/* Releases object when the work in the stream so far is done; takes over the reference. Does not wait. */
int le_py_release_later(struct le_py_device *device, leat_stream *stream, PyObject *object);

/* ---- arguments (py_argument.c) */

enum le_py_library { LE_PY_NUMPY, LE_PY_LEAT, LE_PY_TORCH, LE_PY_CUPY, LE_PY_JAX, LE_PY_OTHER };

enum le_py_kind {
    LE_PY_ABSENT,
    LE_PY_MEMORY, /* memory */
    LE_PY_HANDLE, /* array, borrowed from `keep` */
    LE_PY_F64,
    LE_PY_I64,
    LE_PY_U64,
    LE_PY_C128,
    LE_PY_BOOL
};

/* An argument as the library needs it. Release it with le_py_argument_release. */
struct le_py_argument {
    enum le_py_kind kind;
    enum le_py_library library;
    bool has_view;               /* view is held */
    bool is_copied;              /* the elements had to be copied */
    bool is_held;                /* the work must be done before `keep` is released: the library reuses memory freely */
    struct le_py_device *device; /* of the memory, or of the handle; NULL: host memory */
    leat_stream *ready;          /* the memory is ready in this stream; NULL: at once, or Leat orders it */
    struct le_py_wrapped *wrapped; /* the use of `ready`; NULL: it is one of Leat's */
    struct le_py_asked *asked;
    PyObject *keep; /* owned; or NULL */
    leat_array *array;
    union {
        double f64[2];
        int64_t i64;
        uint64_t u64;
    } number;
    leat_description memory;
    Py_buffer view;
};
int le_py_argument_init(void);
/* Raise a TypeError or ValueError that names the argument, and return -1. */
int le_py_fail_type(PyObject *value, const char *name, const char *reason);
int le_py_fail_rank(const char *name, Py_ssize_t rank);
/* Replaces the exception that another library raised about the argument by a TypeError that names it, with the other as
 * its cause. Keeps a MemoryError, and what is no Exception (KeyboardInterrupt). Returns -1. */
int le_py_fail_library(const char *name);
/* Clears an exception, except a MemoryError and what is no Exception (KeyboardInterrupt). */
void le_py_forgive(void);
/* The library that a call has asked for its current stream: it asks each library once. Empty at the start of a call,
 * and valid while the call holds its arguments. */
struct le_py_asked {
    enum le_py_library library;
    struct le_py_wrapped *wrapped; /* an argument's; NULL: none */
};
/* Gives the argument the answer, if its library has been asked for its device. */
bool le_py_asked_again(struct le_py_argument *argument, enum le_py_library library);
/* Gives the argument its library's current stream, and takes over the use; -1 if that is NULL. */
int le_py_asked(struct le_py_argument *argument, enum le_py_library library, struct le_py_wrapped *wrapped);
void le_py_argument_clear(struct le_py_argument *argument); /* LE_PY_ABSENT */
/* Resolves a value. name: the argument's, for errors. writable: it is written to, and so may not be copied. asked: the
 * call's, or NULL. */
int le_py_argument_resolve(PyObject *value, const char *name, bool writable, struct le_py_asked *asked,
                           struct le_py_argument *argument);
void le_py_argument_release(struct le_py_argument *argument);
/* py_ndarray.c. Whether the type is numpy.ndarray, with fields that are known. Then _describe fills the description of
 * one from them; false: it is read by the buffer protocol, which also finds what is wrong. */
bool le_py_is_ndarray(PyTypeObject *type);
bool le_py_ndarray_describe(PyObject *value, bool writable, struct le_py_argument *argument);
/* May set an exception, if the type fails. */
enum le_py_library le_py_library_of_type(PyTypeObject *type);
/* Whether the object has the attribute; false, with an exception, if it fails otherwise than by an AttributeError, or
 * if an exception was set before. */
bool le_py_has(PyObject *object, const char *attribute);
/* Where this thread records copies of arguments while it makes them; NULL: where the call runs. */
extern _Thread_local leat_context *le_py_copy_ledger;

/* ---- the order of a call among the streams of its arguments (py_order.c) */

struct le_py_order {
    struct le_py_device *device;
    struct le_py_argument *arguments; /* borrowed */
    Py_ssize_t count;
    leat_stream *stream;           /* in which the call works; NULL: the context's own */
    struct le_py_wrapped *wrapped; /* the use of `stream`, or NULL */
};
/* The stream that the caller wants, or NULL: the first argument's. */
int le_py_order_choose(struct le_py_order *order, PyObject *wanted);
leat_status le_py_order_begin(const struct le_py_order *order); /* the call waits for the arguments */
/* Later work on the arguments waits for the call, also for one that failed. Objects of libraries that may reuse memory
 * at any time are kept until the call has passed. */
leat_status le_py_order_end(struct le_py_order *order);
void le_py_order_drain(const struct le_py_order *order); /* waits for what a failed call has enqueued */
void le_py_order_release(struct le_py_order *order);

/* ---- arrays that tell about themselves in Python (py_gpu.c) */

int le_py_gpu_init(void);
/* library.name, borrowed; *at keeps it from the first time on. */
PyObject *le_py_find(PyObject **at, const char *library, const char *name);
struct le_py_wrapped *le_py_cupy_stream(struct le_py_device *device); /* a use of CuPy's current stream there */
/* A cupy.ndarray over the described memory of the device; its owner is kept while the array lives. */
PyObject *le_py_cupy_over(const leat_description *memory, struct le_py_device *device, PyObject *dtype,
                          PyObject *owner);
int le_py_cupy_describe(PyObject *value, const char *name, struct le_py_argument *argument);
int le_py_interface_describe(PyObject *value, const char *name, struct le_py_argument *argument);
int le_py_dlpack_describe(PyObject *value, const char *name, struct le_py_argument *argument);

/* ---- other libraries' tables (py_exchange.c) */

/* The functions that a library offers through the attribute __dlpack_c_exchange_api__ of its array type (DLPack 1.3).
 */
struct le_py_exchange;
const struct le_py_exchange *le_py_exchange_of(PyTypeObject *type); /* NULL without an exception: it has none */
int le_py_exchange_describe(const struct le_py_exchange *exchange, PyObject *value, const char *name,
                            struct le_py_argument *argument);
/* Takes over the tensor, also when it fails. */
/* A capsule that deletes the tensor with itself; NULL: it could not be made, and the tensor is deleted. */
PyObject *le_py_tensor_owner(struct DLManagedTensorVersioned *tensor);
PyObject *le_py_exchange_import(const struct le_py_exchange *exchange, struct DLManagedTensorVersioned *tensor);
/* A use of the library's current stream. */
struct le_py_wrapped *le_py_exchange_stream(const struct le_py_exchange *exchange, struct le_py_device *device,
                                            enum le_py_library library);
/* Fills the argument from a capsule of __dlpack__, which it retains. */
int le_py_capsule_describe(PyObject *capsule, const char *name, struct le_py_argument *argument);
int le_py_exchange_init(PyTypeObject *array_type); /* offers Leat's own table */

/* ---- results (py_result.c) */

/* Hands a result over to a library, in host memory or else where it is. Takes over the reference to array, also when it
 * fails. */
PyObject *le_py_result_deliver(leat_array *array, struct le_py_device *device, enum le_py_library library,
                               bool on_host);
/* Tells PyTorch that a tensor of its was written to, so that its automatic differentiation notices if the tensor's
 * earlier elements are needed. */
int le_py_torch_written(PyObject *tensor);
int le_py_library_of(PyObject *like, enum le_py_library *library); /* a name, a module or an array */
PyObject *le_py_to_numpy(struct le_py_array *array);
PyObject *le_py_numpy(void); /* the module; imported at the first use; borrowed */

/* ---- programs (py_program.c, py_call.c) */

struct le_py_progress { /* of a run; py_progress.c */
    PyObject *name;     /* the program's; borrowed */
    int64_t start_ms;   /* 0: no run is known to take long */
    int64_t drawn_ms;
};
/* Wait for a device without the GIL. A handler of a signal that raises ends the wait with LEAT_CANCELED; the work goes
 * on. */
leat_status le_py_wait(leat_context *ctx, leat_ticket ticket);
leat_status le_py_wait_context(leat_context *ctx);
leat_status le_py_wait_array(leat_context *ctx, const leat_array *array);
leat_status le_py_wait_stream(leat_context *ctx, leat_stream *stream);
bool le_py_proceed(void *progress); /* for leat_call_watch; progress may be NULL. Takes the GIL */
void le_py_progress_end(struct le_py_progress *progress);

struct le_py_call { /* a call of the library, used by one thread at a time */
    leat_call *call;
    struct le_py_progress progress;
    bool *is_bound; /* by input: something is bound to it */
    bool *is_array; /* by input: that is a handle, which is unbound after the run */
};
struct le_py_prepared { /* a program in one context, with the calls that no thread uses */
    struct le_py_device *device;
    unsigned generation;
    leat_program *program;
    struct le_py_call **idle;
    int idle_count, idle_capacity;
    struct le_py_prepared *next;
};
struct le_py_program {
    PyObject_HEAD le_py_vectorcall *vectorcall;
    PyObject *text, *name;      /* strings */
    PyObject *device;           /* a string or None */
    PyObject *inputs, *results; /* tuples of interned strings */
    Py_ssize_t input_count, result_count;
    bool *is_optional; /* by input */
    struct le_py_prepared *prepared;
    PyObject *weak; /* the list of its weak references */
};
extern PyTypeObject *le_py_program_type;
int le_py_program_init(PyObject *module);
PyObject *le_py_program_new(PyObject *text, PyObject *name, PyObject *device);
const char *le_py_input_name(const struct le_py_program *program, Py_ssize_t k);
/* The program in the device's context; made at the first use. */
struct le_py_prepared *le_py_program_prepare(struct le_py_program *program, struct le_py_device *device);
struct le_py_prepared *le_py_prepared_new(struct le_py_program *program, struct le_py_device *device);
void le_py_prepared_free(struct le_py_prepared *prepared);
struct le_py_call *le_py_call_take(struct le_py_program *program, struct le_py_prepared *prepared);
void le_py_call_give(struct le_py_program *program, struct le_py_prepared *prepared, struct le_py_call *call);

/* One run: its arguments, and what was decided for it. Storage for few arguments is inside. */
struct le_py_run {
    struct le_py_program *program;
    PyObject **values;                                  /* by input, borrowed; NULL: absent */
    struct le_py_argument *inputs;                      /* by input */
    struct le_py_argument *outs;                        /* by result; ABSENT: a new array */
    PyObject **targets;                                 /* by result, owned; NULL: a new array */
    PyObject *out, *stream_value, *device_value, *like; /* options, borrowed, or NULL */
    Py_ssize_t resolved_inputs, resolved_outs;
    struct le_py_device *device;
    struct le_py_prepared *prepared;
    struct le_py_call *call;
    struct le_py_order order;
    struct le_py_asked asked;
    bool has_host_memory;
    enum le_py_library library; /* of the results */
    bool results_on_host;       /* as all arrays among the arguments are */
    struct le_py_argument few[LE_PY_MANY];
    PyObject *few_values[LE_PY_MANY];
    void *heap;
};
/* Reads the arguments of a call, as a vectorcall has them, and resolves them. le_py_run_finish releases everything, and
 * must be called also after a failure. */
int le_py_run_start(struct le_py_run *run, struct le_py_program *program, PyObject *const *args, Py_ssize_t count,
                    PyObject *names);
int le_py_run_resolve(struct le_py_run *run); /* resolves the arguments again */
int le_py_run_bind(struct le_py_run *run);    /* run->device, ->prepared and ->call are set */
void le_py_run_finish(struct le_py_run *run);
int le_py_run_fail(const struct le_py_run *run, leat_status status); /* raises, and returns -1 */
/* Runs the call without the GIL, and ends its progress. waits: until the work is done. */
leat_status le_py_run_perform(struct le_py_run *run, leat_stream *stream, bool waits);
le_py_vectorcall le_py_program_call;
PyObject *le_py_program_call_slow(PyObject *self, PyObject *args, PyObject *names); /* from a tuple and a dict */
PyObject *le_py_call_slow(le_py_vectorcall *call, PyObject *self, PyObject *args, PyObject *names);
/* Methods of a program that take its arguments: explain and show (py_explain.c). */
PyObject *le_py_program_explain(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *le_py_program_show(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

/* ---- functions of the module that are in files of their own */

int le_py_kernel_init(PyObject *module); /* leat.Module, leat.Kernel */
int le_py_memory_init(PyObject *module); /* asarray, pinned, pinned_empty, load, save, devices, synchronize */
/* Whether all the elements are in one range that pinned or pinned_empty has page-locked for the device. */
bool le_py_is_pinned(const struct le_py_device *device, const leat_description *memory);
void le_py_pinned_forget(void);

const char *le_py_text(PyObject *text); /* UTF-8, valid as long as the string */
/* A string of a text that may have been cut within a character. */
static inline PyObject *le_py_string(const char *text) {
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}
#endif
