/* Leat: arrays in index notation, for C. A program is prepared once, called with arrays, and run on the CPU or on a
 * CUDA GPU, or on `sim`, which simulates one. There kernels of your own in CUDA C run beside it.
 *
 *     leat_context *ctx;  leat_program *p;  leat_call *c;  leat_array *y;
 *     leat_open(NULL, &ctx);
 *     leat_program_new(ctx, "y[i] = a[i] / sum(k: a[k])", 0, NULL, &p);
 *     leat_call_new(p, &c);
 *     leat_call_set_array(c, "a", a);
 *     leat_call_run(c, NULL, NULL);
 *     leat_call_result(c, "y", &y);
 *
 * Every function returns a leat_status (LEAT_OK is 0) and writes its outputs only on success. leat_error_get() tells
 * the calling thread's last failure. Handles are opaque; `_free` takes NULL. Nothing aborts, prints or exits.
 *
 * Threads: a context, a program, an array, a module and a kernel may be used by several threads at once; a call, a
 * stream and an event belong to one thread at a time. What is in an array is the caller's to guard where work is done
 * on the CPU: there a thread does its work in its own call, and one that writes an array while another reads or writes
 * it must wait for it. Sizes in bytes are size_t; extents and strides are int64_t and
 * count elements. Text is UTF-8. */
#ifndef LEAT_H
#define LEAT_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(LEAT_BUILD) && defined(__GNUC__)
#define LEAT_API __attribute__((visibility("default")))
#else
#define LEAT_API
#endif

#define LEAT_VERSION_MAJOR 0
#define LEAT_VERSION_MINOR 1
#define LEAT_VERSION_PATCH 0
#define LEAT_RANK_MAX      8 /* axes of an array */

typedef enum leat_status {
    LEAT_OK = 0,
    LEAT_INVALID,       /* an argument is wrong: NULL, out of range, a name the program does not have */
    LEAT_PROGRAM,       /* the program's text is wrong */
    LEAT_MISMATCH,      /* arrays whose types, ranks or shapes do not fit the program */
    LEAT_MISSING,       /* an input that was not bound */
    LEAT_FILE,          /* a file cannot be read, written, or is malformed */
    LEAT_DEVICE,        /* no such device, or it failed */
    LEAT_OUT_OF_MEMORY, /* memory, or a byte cap given in the options, is exhausted */
    LEAT_DATA,          /* an error in the data, found as the program ran: a subscript out of range */
    LEAT_UNSUPPORTED,   /* right, but not possible here */
    LEAT_INTERNAL       /* a fault of Leat's own: please report it */
} leat_status;

typedef enum leat_dtype {
    LEAT_BOOL = 1,
    LEAT_I8,
    LEAT_I16,
    LEAT_I32,
    LEAT_I64,
    LEAT_U8,
    LEAT_U16,
    LEAT_U32,
    LEAT_U64,
    LEAT_F16,
    LEAT_BF16,
    LEAT_F32,
    LEAT_F64,
    LEAT_C64, /* complex: a pair of f32 (c128: f64), the real part first */
    LEAT_C128
} leat_dtype;

typedef struct leat_context leat_context;
typedef struct leat_program leat_program;
typedef struct leat_call leat_call;
typedef struct leat_array leat_array;
typedef struct leat_stream leat_stream;
typedef struct leat_event leat_event;
typedef struct leat_module leat_module;
typedef struct leat_kernel leat_kernel;
typedef struct leat_ticket {
    uint64_t stream_id, number;
} leat_ticket; /* a point in a stream; {0} is always reached */

/* ---- errors */

typedef struct leat_error {
    leat_status code;
    const char *message;    /* one line; "" when there was no failure */
    const char *expected;   /* what to write or give instead, or "" */
    int line, column, span; /* of program text, from 1 and in bytes; 0 where the error is in no text */
} leat_error;

/* The calling thread's last failure, to be read before its next call of other functions: one that succeeds may forget
 * it, one that fails takes its place. The strings live as long. ctx may be NULL. */
LEAT_API leat_status leat_error_get(const leat_context *ctx, leat_error *error);
/* A program's errors come all at once, at most 20: *count of them, and the k-th (from 0) as leat_error_get gives it. */
LEAT_API leat_status leat_error_count(const leat_context *ctx, size_t *count);
LEAT_API leat_status leat_error_at(const leat_context *ctx, size_t k, leat_error *error);
/* All of them as a person reads them: message, the line of text, a caret under the span. Owned as the strings above. */
LEAT_API const char *leat_error_text(const leat_context *ctx);
LEAT_API const char *leat_status_name(leat_status status);
LEAT_API const char *leat_dtype_name(leat_dtype dtype); /* "f32"; "?" for none */
LEAT_API leat_status leat_dtype_parse(const char *name, leat_dtype *dtype);
LEAT_API size_t leat_dtype_size_bytes(leat_dtype dtype); /* 0 for none */
LEAT_API const char *leat_version(void);                 /* "0.1.0" */

/* ---- context */

typedef enum leat_log_level { LEAT_LOG_NOTE, LEAT_LOG_WARNING } leat_log_level;

/* What a CUDA device (or sim) runs of an expression whose code is neither loaded nor in the code cache. The interpreter
 * runs it at once, with the same bits, while a thread of Leat's compiles code of its own; the next run takes that as
 * soon as it is there. Large arrays take it 10 to 35 times as long as that code does (an H200, 2^26 numbers,
 * bench/results), small ones a few microseconds more. Some statements wait all the same: those that can fail as they
 * run, scans, scatters, `each`, products of matrices, several totals in one pass, arithmetic in integers other than i64
 * and bool, those of more operations than the compiler takes time for (30 million for each multiprocessor), and what
 * adds up f32 and f64 at once. leat_close waits for what was asked to be compiled; exit() for what the compiler is at,
 * a second or two at most where NVRTC (13.0) can be stopped. */
typedef enum leat_interpret {
    /* The environment's LEAT_INTERPRET (never, ready, always, only); else READY with keep_code, NEVER without. */
    LEAT_INTERPRET_DEFAULT,
    LEAT_INTERPRET_NEVER, /* code of its own always: the first run waits for the compiler */
    /* The interpreter runs what it can where it is ready. It is compiled once for a device and a version of Leat, and
     * kept with keep_code: in that thread, when a context of five seconds' age has waited for a compiler twice. NVRTC
     * is used once in each process before (some 0.03 s, in the first run that leaves something to the thread). */
    LEAT_INTERPRET_READY,
    LEAT_INTERPRET_ALWAYS, /* from the first run on: the interpreter is waited for, which takes some seconds once */
    LEAT_INTERPRET_ONLY    /* the same, and nothing is compiled for what the interpreter runs */
} leat_interpret;

typedef struct leat_options { /* {0} is a good default */
    /* "auto" (also NULL; LEAT_DEVICE overrides), "cpu", "cuda", "cuda:1" or "sim", a simulated CUDA device on the CPU.
     * auto is the CPU. */
    const char *device;
    int threads;              /* 0: LEAT_THREADS, else the cores that this process may use */
    const char *simd;         /* NULL: LEAT_SIMD, else the best here; "baseline", "avx2", "avx512" */
    size_t memory_cap_bytes;  /* most bytes of array memory that Leat allocates at one time; 0: no cap */
    size_t cache_cap_bytes;   /* most bytes of released array memory that are kept for reuse, of each kind; 0: 1 GiB */
    size_t code_cap_bytes;    /* most bytes of programs' compiled code that stay loaded on a device; 0: 256 MiB */
    bool keep_code;           /* programs' compiled code is kept on disk and found there: the code cache, below */
    leat_interpret interpret; /* whether a new expression waits for its compilation, on cuda and sim */
    int ledger_level;         /* 0 counts, 1 times the host, 2 the device as well (leat_ledger_level_set) */
    int copy_threads;         /* most threads that copy pageable memory to and from a GPU; 0: the cores, at most 8 */
    bool sim_check;           /* sim: check kernels and their order (also LEAT_SIM_CHECK=1) */
    uint64_t sim_seed;        /* sim: of the order that work, blocks and threads run in; 0: LEAT_SIM_SEED, else 1 */
    /* Memory for everything that Leat keeps; all NULL: malloc, realloc, free. Called from any thread. */
    void *(*allocate)(size_t size_bytes, void *user);
    void *(*reallocate)(void *memory, size_t size_bytes, void *user);
    void (*release)(void *memory, void *user);
    void *allocator_user;
    /* Notes (division by zero, ...) and warnings, one line each; called from the thread that the call is made on, or,
     * of the code cache, from the one that compiles (leat_interpret). */
    void (*log)(leat_log_level level, const char *text, void *user);
    void *log_user;
} leat_options;

/* The allocator hooks are the process's: they are taken from the first open context and must stay valid until the last
 * is closed. Strings in options are copied. Using any handle after fork() in the child is LEAT_INVALID. */
LEAT_API leat_status leat_open(const leat_options *options, leat_context **ctx);
/* The context lives on until the last program, call, array and stream made from it is freed. */
LEAT_API void leat_close(leat_context *ctx);

/* ---- devices: what is here. The CPU is number 0, then come the CUDA devices and sim, which runs CUDA C on the CPU.
 * Where CUDA cannot be used at all, one device "cuda" that is not usable says why. */

typedef struct leat_device_info {
    char name[64], kind[16]; /* "Intel(R) Xeon(R)", "cpu"; "NVIDIA H200", "cuda"; "sim" */
    char device[24];         /* as leat_options names it: "cpu", "cuda:1", "sim" */
    bool usable;             /* false: reason says why not, in words; what is below may be 0 */
    char reason[256];
    size_t memory_bytes, cache_bytes; /* main memory or the device's; last-level cache of the CPU */
    /* of the CPU */
    char simd[16]; /* instruction set in use; best_simd: the best of this machine */
    char best_simd[16];
    int threads, cores; /* threads that Leat uses; cores that the process may use */
    /* of a CUDA device, and of sim as far as it has them */
    int ordinal;               /* its number among the devices that CUDA shows */
    char uuid[48], pci_id[24]; /* "GPU-6f4c...", "0000:0f:00.0" */
    int capability;            /* 90 for 9.0 */
    int multiprocessors;
    int f64_ratio;    /* f32 operations in the time of one f64 */
    int cuda_version; /* of the driver: 12040 for 12.4 */
    /* measured; 0: not measured. Copies of host memory are from and to pinned memory. */
    double copy_bytes_per_second; /* in its memory (the CPU's: by all threads), bytes read plus bytes written */
    double upload_bytes_per_second, download_bytes_per_second;
    double launch_ns, round_trip_ns; /* enqueueing one of many kernels that do nothing; launching one and waiting */
} leat_device_info;

/* The first call looks for CUDA, which takes about 0.1 s where there is a driver. */
LEAT_API leat_status leat_device_count(leat_context *ctx, size_t *count);
/* measure: true measures the rates (the CPU's about 0.1 s, once a context; a CUDA device's about 0.4 s, each time; sim
 * has none, its clock is virtual), false gives what is known already. */
LEAT_API leat_status leat_device_get(leat_context *ctx, size_t k, bool measure, leat_device_info *info);
/* What computes products of matrices of floats on the CPU, in words that live to the end of the process: a BLAS and the
 * CPU that it chose its kernels for, or Leat's own kernels and why. Loads the BLAS, as the first product does. */
LEAT_API leat_status leat_products_get(leat_context *ctx, const char **words);

/* What Leat looked for to use CUDA, and where: each once a process, at its first use or here. */
typedef enum leat_search_kind {
    LEAT_SEARCH_DRIVER,  /* libcuda.so.1 */
    LEAT_SEARCH_NVRTC,   /* compiles CUDA C */
    LEAT_SEARCH_CUBLAS,  /* located, not loaded */
    LEAT_SEARCH_HEADERS, /* of a toolkit, for programs that include <cuda_fp16.h> */
    LEAT_SEARCH_KINDS
} leat_search_kind;
typedef struct leat_search { /* strings live to the end of the process */
    const char *name;        /* "driver", "nvrtc", "cublas", "headers" */
    bool found;
    int version;        /* 13000 for 13.0; 0: unknown */
    const char *path;   /* of the library or the folder; "" where it was not found */
    const char *reason; /* why not, in words; "" where it was found */
    size_t line_count;
} leat_search;
typedef struct leat_search_line {
    const char *name;    /* what, or by which variable: "libnvrtc.so.12", "CUDA_PATH" */
    const char *path;    /* where; "" for the dynamic loader's own search */
    const char *outcome; /* "found, CUDA 12.4", "not set", "for CUDA 13, newer than the driver's 12" */
} leat_search_line;
LEAT_API leat_status leat_search_get(leat_context *ctx, leat_search_kind kind, leat_search *search);
LEAT_API leat_status leat_search_line_get(leat_context *ctx, leat_search_kind kind, size_t k, leat_search_line *line);

/* ---- arrays: a buffer, a type, a shape and strides. Rank 0 is one element. */

typedef enum leat_memory {
    LEAT_MEMORY_DEVICE, /* the device's own: a GPU's memory, which the host cannot read; the CPU's is host memory */
    LEAT_MEMORY_HOST,   /* the host's, pageable; copies between it and a GPU go through a pinned ring */
    LEAT_MEMORY_PINNED, /* the host's, page-locked: copied by the GPU itself */
    LEAT_MEMORY_MAPPED  /* page-locked, and kernels read and write it where it is, over the bus */
} leat_memory;          /* on the CPU all four are host memory */

typedef struct leat_description {
    leat_dtype dtype;
    int rank;
    int64_t shape[LEAT_RANK_MAX];
    int64_t strides[LEAT_RANK_MAX]; /* in elements; may be 0 or negative */
    void *data;                     /* of element [0,...,0]; of device memory: the address that kernels see */
    bool read_only;
    leat_memory memory;
} leat_description;

/* A new array, its elements zero. shape: rank extents, each at least 0. */
LEAT_API leat_status leat_array_new(leat_context *ctx, leat_dtype dtype, int rank, const int64_t *shape,
                                    leat_memory memory, leat_array **array);
/* The same, its elements anything until they are written: nothing is spent on zeros. */
LEAT_API leat_status leat_array_new_empty(leat_context *ctx, leat_dtype dtype, int rank, const int64_t *shape,
                                          leat_memory memory, leat_array **array);
/* Borrows memory: it must stay valid and, unless read_only, unshared by others until release(user) is called (NULL:
 * never), which may be on another thread, after the work that uses it. memory says what it is; host memory that is
 * found to be page-locked is copied as such. */
LEAT_API leat_status leat_array_wrap(leat_context *ctx, const leat_description *description,
                                     void (*release)(void *user), void *user, leat_array **array);
LEAT_API leat_status leat_array_get(const leat_array *array, leat_description *description);
/* Copies elements in from, out to, dense row-major host memory of exactly size_bytes bytes, in stream (NULL: the
 * context's own), in order with all other work on the array. ticket NULL: returns when that is done. Else it is
 * enqueued: the memory must stay as it is, or is not there yet, until the ticket is reached. Memory that is not
 * page-locked is copied by threads of Leat's; the stream's next operation first waits until all of it is under way. */
LEAT_API leat_status leat_array_write(leat_array *array, const void *source, size_t size_bytes, leat_stream *stream,
                                      leat_ticket *ticket);
LEAT_API leat_status leat_array_read(const leat_array *array, void *target, size_t size_bytes, leat_stream *stream,
                                     leat_ticket *ticket);
/* Between arrays of one context, type and shape, in any memories and with any strides; the ranges of memory
 * between their first and last elements must not overlap. */
LEAT_API leat_status leat_array_copy(leat_array *target, const leat_array *source, leat_stream *stream,
                                     leat_ticket *ticket);
/* Page-locks memory of the caller's, so that copies from and to it need no ring (about 0.3 ms a MiB), until it is
 * unpinned, which waits for the context's device. LEAT_INVALID: it is page-locked already, or not by leat_host_pin. */
LEAT_API leat_status leat_host_pin(leat_context *ctx, void *memory, size_t size_bytes);
LEAT_API leat_status leat_host_unpin(leat_context *ctx, void *memory);

typedef struct leat_memory_use {
    size_t live_bytes; /* of arrays and results that are there */
    size_t kept_bytes; /* released and kept for reuse */
    size_t peak_bytes; /* most of both together so far */
    size_t cap_bytes;  /* leat_options.memory_cap_bytes; 0: none */
    size_t free_bytes; /* of the device, by anybody; 0: not known */
    uint64_t trims;    /* times that memory ran out, what was kept was given back, and it was tried again */
} leat_memory_use;
LEAT_API leat_status leat_memory_get(leat_context *ctx, leat_memory memory, leat_memory_use *use);
/* Gives back all that is kept for reuse; waits for the device. */
LEAT_API leat_status leat_memory_trim(leat_context *ctx);

/* Views share the memory and keep it alive. Per axis: start, stop (half open, within the extent) and step (not 0; with
 * a negative one, start is the first element taken and stop the one before the last: -1 for all). */
LEAT_API leat_status leat_array_slice(leat_array *array, const int64_t *start, const int64_t *stop, const int64_t *step,
                                      leat_array **view);
LEAT_API leat_status leat_array_transpose(leat_array *array, const int *axes, leat_array **view); /* NULL: reversed */
/* LEAT_UNSUPPORTED where no view can show the elements in that shape. One extent may be -1. */
LEAT_API leat_status leat_array_reshape(leat_array *array, int rank, const int64_t *shape, leat_array **view);
LEAT_API leat_array *leat_array_retain(leat_array *array);
LEAT_API void leat_array_free(leat_array *array);

/* Files: .npy (versions 1 to 3), .npz ("file.npz" and a key; NULL takes the only one) and .png (grey 8 and 16 bit as u8
 * or u16 [h,w]; all else as [h,w,3] or [h,w,4]). declared: 0, or the type that the program declares: it tells bf16 from
 * two plain bytes. A large .npy is mapped, not copied: the array is read-only, and while it lives the
 * file must not be cut. LEAT_FILE: the file cannot be read, or is malformed. */
LEAT_API leat_status leat_array_load(leat_context *ctx, const char *path, const char *key, leat_dtype declared,
                                     leat_array **array);
LEAT_API leat_status leat_array_load_memory(leat_context *ctx, const void *bytes, size_t size_bytes,
                                            leat_dtype declared,
                                            leat_array **array); /* the bytes of an .npy; they are copied */
/* By the ending of path: .npy, .npz (as `key`, NULL: "array"; the file then holds this alone), .png (u8 and u16 as they
 * are, another real [h,w] scaled from its least to its greatest, NaN black). Written to a temporary name and renamed.
 */
typedef enum leat_colormap { LEAT_COLORMAP_GREY, LEAT_COLORMAP_VIRIDIS } leat_colormap;
LEAT_API leat_status leat_array_save(const leat_array *array, const char *path, const char *key,
                                     leat_colormap colormap);
/* The bytes of an .npy; *bytes is freed with leat_memory_free.
 * leat_memory_free gives memory that Leat handed out back to the heap that it is from: where leat_open was given
 * allocator hooks, before the last context is closed. */
LEAT_API leat_status leat_array_save_memory(const leat_array *array, void **bytes, size_t *size_bytes);
LEAT_API void leat_memory_free(void *memory);

/* DLPack (dmlc/dlpack, version 0.8's DLManagedTensor): out, the consumer calls its deleter; in, Leat calls it when the
 * array is freed. native_stream, a CUstream, is where the consumer will work: it waits there for the work on the array;
 * it must be NULL for host memory. sim's device memory is nobody else's: LEAT_UNSUPPORTED. */
struct DLManagedTensor;
LEAT_API leat_status leat_array_to_dlpack(leat_array *array, void *native_stream, struct DLManagedTensor **tensor);
LEAT_API leat_status leat_array_from_dlpack(leat_context *ctx, struct DLManagedTensor *tensor, leat_array **array);

/* ---- programs: checked text, immutable, shared by threads */

typedef struct leat_program_options { /* {0} is a good default */
    const char *name;                 /* for messages: a file's name; NULL: "program" */
} leat_program_options;

/* text of size_bytes bytes; 0: up to its NUL. All of its errors come at once: leat_error_count. */
LEAT_API leat_status leat_program_new(leat_context *ctx, const char *text, size_t size_bytes,
                                      const leat_program_options *options, leat_program **program);
LEAT_API void leat_program_free(leat_program *program);

typedef enum leat_name_kind { LEAT_NAME_INPUT, LEAT_NAME_RESULT, LEAT_NAME_INDEX, LEAT_NAME_TEMPORARY } leat_name_kind;
typedef struct leat_name_info {
    const char *name; /* the program's, and lives with it */
    leat_dtype dtype; /* declared, or following from what is; 0: it depends on the inputs */
    int rank;         /* of an array; 0: a scalar; -1: any rank (...) */
    bool optional;    /* an input with a default, or whose value follows from a shape */
    bool has_value;   /* false: an index */
    int line;         /* of its first appearance */
} leat_name_info;
/* The program's names of one kind, in order of appearance. LEAT_NAME_RESULT: the default results. */
LEAT_API leat_status leat_program_count(const leat_program *program, leat_name_kind kind, size_t *count);
LEAT_API leat_status leat_program_name(const leat_program *program, leat_name_kind kind, size_t k,
                                       leat_name_info *info);
/* Prints one form of the program. tree: as checked; the others need a call that has all its inputs (leat_call_show).
 * bytecode is the CPU's; cuda, ptx and sass, the kernels as CUDA C, as NVRTC's PTX and as the toolkit's nvdisasm shows
 * them, are of a context of cuda or sim. *text is freed with leat_memory_free. */
typedef enum leat_form {
    LEAT_FORM_TREE,
    LEAT_FORM_IR,
    LEAT_FORM_PLAN,
    LEAT_FORM_BYTECODE,
    LEAT_FORM_CUDA,
    LEAT_FORM_PTX,
    LEAT_FORM_SASS
} leat_form;
LEAT_API leat_status leat_program_show(const leat_program *program, leat_form form, char **text);

/* ---- calls: one thread's bindings of a program */

LEAT_API leat_status leat_call_new(leat_program *program, leat_call **call);
LEAT_API void leat_call_free(leat_call *call);
/* Inputs. Arrays are retained until replaced or the call is freed; array NULL unbinds. Numbers are weak (they do not
 * widen types, so a whole number must fit the integer types that it meets); an array of rank 0 is a strong scalar. On a
 * device, arrays in its own or in mapped memory are read where they lie; those in host or pinned memory are copied to
 * the device in each run, and must stay as they are until its ticket is reached. */
LEAT_API leat_status leat_call_set_array(leat_call *call, const char *name, leat_array *array);
LEAT_API leat_status leat_call_set_f64(leat_call *call, const char *name, double value);
LEAT_API leat_status leat_call_set_i64(leat_call *call, const char *name, int64_t value);
LEAT_API leat_status leat_call_set_u64(leat_call *call, const char *name, uint64_t value);
LEAT_API leat_status leat_call_set_c128(leat_call *call, const char *name, double re, double im);
LEAT_API leat_status leat_call_set_bool(leat_call *call, const char *name, bool value);
/* Asks for a result: into array (of its exact shape and type, and not read-only; it may be an input's own), or into a
 * new one (NULL). Without any call of this the program's default results are made. After a run that failed, the
 * elements of such an array may have changed. */
LEAT_API leat_status leat_call_want(leat_call *call, const char *name, leat_array *array);
LEAT_API leat_status leat_call_want_clear(leat_call *call);
/* Runs. stream NULL: the context's own; ticket may be NULL. On the CPU the work is done when it returns.
 *
 * On a device it is enqueued, and its results, new arrays of the device's memory or those that were given, are there
 * when the ticket is reached; what reads them is in order by itself. It waits where the host has to know a number
 * first (a while's condition, a range that hangs on data: the ledger says which), and at its end if an element may be
 * read or written out of range, or a note given (integer division by zero): such errors are told by this call, as on
 * the CPU, and then there are no results. */
LEAT_API leat_status leat_call_run(leat_call *call, leat_stream *stream, leat_ticket *ticket);
/* A result of the last run; the caller owns a reference (leat_array_free). */
LEAT_API leat_status leat_call_result(leat_call *call, const char *name, leat_array **array);
LEAT_API leat_status leat_call_result_count(leat_call *call, size_t *count);
LEAT_API leat_status leat_call_result_name(leat_call *call, size_t k, const char **name);
LEAT_API leat_status leat_call_show(leat_call *call, leat_form form, char **text);
/* The IR after a pass: "lower" (as it starts), "sweep", "contract", "scan", "loops", "inline", "hoist", "siblings" or
 * "moves". LEAT_FORM_IR: after all. */
LEAT_API leat_status leat_call_show_pass(leat_call *call, const char *pass, char **text);
/* PTX and SASS for an architecture, "sm_90", of which no device need be here; NULL: the device's (sim's: sm_90). */
LEAT_API leat_status leat_call_show_code(leat_call *call, leat_form form, const char *architecture, char **text);

/* All of it at once; the program is cached in the context by its text. inputs and results end with a NULL name; results
 * come back in results[].array (owned by the caller), for a name that was asked for. */
typedef enum leat_value_kind { LEAT_VALUE_ARRAY, LEAT_VALUE_F64, LEAT_VALUE_I64, LEAT_VALUE_C128 } leat_value_kind;
typedef struct leat_binding {
    const char *name;
    leat_value_kind kind;
    leat_array *array;
    double f64; /* C128: the real part */
    int64_t i64;
    double im; /* C128 */
} leat_binding;
LEAT_API leat_status leat_eval(leat_context *ctx, const char *text, const leat_binding *inputs, leat_binding *results);

/* ---- streams, events, tickets. Work given to one stream is done in that order; work of different streams that shares
 * an array is ordered by itself, at no cost within one stream. On the CPU work is finished when the call that asked for
 * it returns. NULL stands for the context's own stream. */

LEAT_API leat_status leat_stream_new(leat_context *ctx, leat_stream **stream);
/* A stream of another library's (a CUstream), which must outlive this handle and what was given to it here; work that
 * Leat knows nothing of is in order with that. */
LEAT_API leat_status leat_stream_wrap(leat_context *ctx, void *native, leat_stream **stream);
LEAT_API leat_status leat_stream_native(leat_stream *stream, void **native); /* the CUstream; NULL on the CPU */
LEAT_API void leat_stream_free(leat_stream *stream);                         /* never waits: work in it goes on */
/* The point in the stream that all work given to it so far has passed when it is reached. */
LEAT_API leat_status leat_stream_ticket(leat_context *ctx, leat_stream *stream, leat_ticket *ticket);
LEAT_API leat_status leat_stream_synchronize(leat_stream *stream);
LEAT_API leat_status leat_stream_wait_event(leat_stream *stream, leat_event *event);
/* Returns the error of work up to the ticket, if there was one. A ticket of a freed stream counts too. */
LEAT_API leat_status leat_ticket_wait(leat_context *ctx, leat_ticket ticket);
LEAT_API leat_status leat_context_synchronize(leat_context *ctx); /* all streams of the context */
LEAT_API leat_status leat_event_new(leat_context *ctx, leat_event **event);
LEAT_API void leat_event_free(leat_event *event);
LEAT_API leat_status leat_event_record(leat_event *event, leat_stream *stream);
LEAT_API leat_status leat_event_synchronize(leat_event *event);
/* From start to stop, both recorded (LEAT_INVALID otherwise), on the device's clock; waits for stop. Resolution: about
 * 0.5 us on a GPU (CUDA's documentation of cuEventElapsedTime), CLOCK_MONOTONIC's on the CPU, virtual time on sim. */
LEAT_API leat_status leat_event_elapsed_ms(leat_event *start, leat_event *stop, double *milliseconds);

/* ---- the code cache: compiled code that is kept between processes (leat_options.keep_code; the command does), in
 * LEAT_CACHE_DIR, else $XDG_CACHE_HOME/leat, else $HOME/.cache/leat; not under AT_SECURE. The folder must be the user's
 * own and closed to others (0700). Above LEAT_CACHE_CAP_BYTES (1 GiB; 0: nothing is kept) what was used longest ago
 * goes first. Where the cache cannot be used, code is compiled anew and a note says so. These functions say why with
 * LEAT_FILE; a folder that is not there is an empty cache. */

typedef struct leat_cache_info {
    char folder[4096];
    size_t count; /* of entries */
    uint64_t size_bytes, cap_bytes;
} leat_cache_info;
typedef struct leat_cache_entry {
    char label[128]; /* "sm_90 blur.leat: y[i] = a[i] + 1; a f32[:], y f32[:]"; "(damaged)": cannot be read */
    uint64_t size_bytes;
    uint64_t uses;          /* how often it was read from disk, about */
    int64_t made_s, used_s; /* since 1970; used_s: read last, or made */
} leat_cache_entry;
LEAT_API leat_status leat_cache_stat(leat_context *ctx, leat_cache_info *info);
/* The entries, the one that goes next first, in one block that leat_memory_free frees. */
LEAT_API leat_status leat_cache_list(leat_context *ctx, leat_cache_entry **entries, size_t *count);
/* Removes all entries. removed: how many and how large they were; may be NULL. */
LEAT_API leat_status leat_cache_clear(leat_context *ctx, leat_cache_info *removed);

/* ---- kernels of your own: CUDA C, compiled at run time by NVRTC, which must be found (`leat devices` says where it
 * was looked for), or for sim by the host's C++ compiler. On cuda and sim; LEAT_UNSUPPORTED on the CPU. */

typedef struct leat_module_options { /* {0} is a good default; lists end with NULL, NULL is an empty one */
    const char *name;                /* for messages: a file's name; NULL: "module.cu" */
    const char *const *macros;       /* "NAME" or "NAME=VALUE" */
    const char *const *include_paths;
    const char *const *options; /* further ones of NVRTC's, "--use_fast_math" */
    const char *const *names;   /* templates to instantiate: "scale<float>", "ns::fold<double, 256>" */
    bool line_info;             /* source lines for profilers and checkers */
} leat_module_options;

/* cuda_c: NUL-terminated. Text that does not compile is LEAT_PROGRAM: the first error with its file and line, all of
 * them by leat_error_text. <cuda_fp16.h> and the like are found where a toolkit is. */
LEAT_API leat_status leat_module_new(leat_context *ctx, const char *cuda_c, const leat_module_options *options,
                                     leat_module **module);
LEAT_API void leat_module_free(leat_module *module);
LEAT_API leat_status leat_module_log(const leat_module *module, const char **log); /* warnings, ""; lives with it */
/* name: a kernel's as it is written, "f" or "ns::f", or one of options.names. The kernel lives with the module. */
LEAT_API leat_status leat_module_kernel(leat_module *module, const char *name, leat_kernel **kernel);
LEAT_API leat_status leat_module_kernel_count(const leat_module *module, size_t *count);
LEAT_API leat_status leat_module_kernel_at(leat_module *module, size_t k, leat_kernel **kernel);
/* A __device__ or __constant__ variable as an array of its bytes, u8[n], in the device's memory; keeps the module. */
LEAT_API leat_status leat_module_symbol(leat_module *module, const char *name, leat_array **array);

typedef struct leat_kernel_info {
    const char *name;                /* lives with the module */
    int registers;                   /* of a thread */
    int max_block_threads;           /* that its registers allow in a block */
    int best_block_threads;          /* the block size of the best occupancy (cuOccupancyMaxPotentialBlockSize) */
    size_t static_shared_bytes;      /* of a block */
    size_t max_dynamic_shared_bytes; /* that a launch may ask for besides */
    size_t local_bytes;              /* of a thread: spilled registers and arrays */
    size_t constant_bytes;
    int parameter_count;
} leat_kernel_info;
LEAT_API leat_status leat_kernel_get(leat_kernel *kernel, leat_kernel_info *info);
typedef struct leat_parameter_info {
    size_t size_bytes;
    leat_dtype dtype; /* f32, f64, f16; integers as i8 to i64, whether signed or not; 0: a struct */
    bool is_address;  /* of 8 bytes: it may be a pointer or a 64-bit integer, which compiled code does not tell apart */
} leat_parameter_info;
LEAT_API leat_status leat_kernel_parameter(leat_kernel *kernel, size_t k, leat_parameter_info *info);

/* What a kernel is launched with, in the order of its parameters. An array's parameter is the address of its first
 * element; the kernel is told nothing of extents and strides. In, out and inout say what the kernel does with it, and
 * so what it has to wait for. An address of your own is given as leat_u64; then order is yours to keep, too. */
typedef enum leat_argument_kind {
    LEAT_ARGUMENT_IN = 1,
    LEAT_ARGUMENT_OUT,
    LEAT_ARGUMENT_INOUT,
    LEAT_ARGUMENT_NUMBER,
    LEAT_ARGUMENT_BYTES /* a struct, as the kernel declares it */
} leat_argument_kind;
typedef struct leat_argument {
    leat_argument_kind kind;
    leat_dtype dtype; /* of a number */
    leat_array *array;
    const void *bytes; /* read before the launch returns */
    size_t size_bytes;
    union {
        float f32;
        double f64;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        uint8_t all[8];
    } number;
} leat_argument;
#define LEAT_ARGUMENT_FILL_(...)                                                                                       \
    leat_argument argument;                                                                                            \
    argument.kind = LEAT_ARGUMENT_NUMBER;                                                                              \
    argument.dtype = (leat_dtype)0;                                                                                    \
    argument.array = NULL;                                                                                             \
    argument.bytes = NULL;                                                                                             \
    argument.size_bytes = 0;                                                                                           \
    argument.number.u64 = 0;                                                                                           \
    __VA_ARGS__;                                                                                                       \
    return argument
static inline leat_argument leat_in(leat_array *array) {
    LEAT_ARGUMENT_FILL_(argument.kind = LEAT_ARGUMENT_IN; argument.array = array);
}
static inline leat_argument leat_out(leat_array *array) {
    LEAT_ARGUMENT_FILL_(argument.kind = LEAT_ARGUMENT_OUT; argument.array = array);
}
static inline leat_argument leat_inout(leat_array *array) {
    LEAT_ARGUMENT_FILL_(argument.kind = LEAT_ARGUMENT_INOUT; argument.array = array);
}
#define LEAT_ARGUMENT_NUMBER_(name, type, dtype_of)                                                                    \
    static inline leat_argument leat_##name(type value) {                                                              \
        LEAT_ARGUMENT_FILL_(argument.dtype = dtype_of; argument.number.name = value);                                  \
    }
LEAT_ARGUMENT_NUMBER_(f32, float, LEAT_F32)
LEAT_ARGUMENT_NUMBER_(f64, double, LEAT_F64)
LEAT_ARGUMENT_NUMBER_(i32, int32_t, LEAT_I32)
LEAT_ARGUMENT_NUMBER_(u32, uint32_t, LEAT_U32)
LEAT_ARGUMENT_NUMBER_(i64, int64_t, LEAT_I64)
LEAT_ARGUMENT_NUMBER_(u64, uint64_t, LEAT_U64)
static inline leat_argument leat_bytes(const void *bytes, size_t size_bytes) {
    LEAT_ARGUMENT_FILL_(argument.kind = LEAT_ARGUMENT_BYTES; argument.bytes = bytes; argument.size_bytes = size_bytes);
}

typedef struct leat_dim3 {
    unsigned x, y, z; /* 0 counts as 1 */
} leat_dim3;
/* Enqueues count arguments' launch in stream. Wrong counts, types, sizes and limits are LEAT_INVALID, before the driver
 * sees them. shared_bytes: dynamic shared memory of a block; more than 48 KB needs no asking. */
LEAT_API leat_status leat_kernel_launch(leat_kernel *kernel, leat_dim3 grid, leat_dim3 block, size_t shared_bytes,
                                        leat_stream *stream, const leat_argument *arguments, size_t count);
/* The same with all blocks resident at one time, so that they may wait for each other. */
LEAT_API leat_status leat_kernel_launch_cooperative(leat_kernel *kernel, leat_dim3 grid, leat_dim3 block,
                                                    size_t shared_bytes, leat_stream *stream,
                                                    const leat_argument *arguments, size_t count);

/* ---- the ledger: every cost, one record each. leat_array_save has no context, and so no record: leat_ledger_begin and
 * leat_ledger_end around it make one (LEAT_COST_WRITE). */

typedef enum leat_cost_kind {
    LEAT_COST_INIT,    /* opening a context, the driver's included */
    LEAT_COST_LIBRARY, /* loading the driver, NVRTC */
    LEAT_COST_READ,
    LEAT_COST_CHECK,
    LEAT_COST_COMPILE,
    LEAT_COST_IN_MEMORY, /* compiled code that was asked for, found loaded in this process */
    LEAT_COST_ON_DISK,   /* the same, found in the code cache */
    LEAT_COST_INTERPRET, /* a statement that the interpreter ran (leat_interpret) */
    LEAT_COST_MODULE,    /* loading compiled code */
    LEAT_COST_PLAN,      /* what a program does, kernel by kernel; keeping a launch that comes again and again */
    LEAT_COST_ALLOCATE,
    LEAT_COST_PIN,
    LEAT_COST_LAUNCH, /* the host's part of a kernel on a device */
    LEAT_COST_KERNEL, /* the device's part; on the CPU both */
    LEAT_COST_COPY,   /* within one memory */
    LEAT_COST_UPLOAD,
    LEAT_COST_DOWNLOAD,
    LEAT_COST_WAIT,
    LEAT_COST_IDLE, /* of a device: a gap between its work; cause: what the host did meanwhile */
    LEAT_COST_UNLOAD,
    LEAT_COST_EVICT,
    LEAT_COST_WRITE,
    LEAT_COST_OTHER,
    LEAT_COST_KINDS
} leat_cost_kind;
typedef struct leat_cost {
    leat_cost_kind kind;
    const char *what;                           /* "y[i] = ...", a file's name; lives until the ledger is cleared */
    const char *cause;                          /* "first use with these types", or "" */
    uint64_t count, time_ns, bytes, operations; /* time_ns excludes what other records hold; 0 at level 0 */
    bool on_device;                             /* time_ns is the device's, by events around the work (level 2) */
} leat_cost;
/* 0 counts (under 50 ns a cost), 1 times the host, 2 times the device too, by two events around each operation: about 2
 * us of the host's time each, which has a record of its own ("timing the device"). */
LEAT_API leat_status leat_ledger_level_set(leat_context *ctx, int level);
LEAT_API leat_status leat_ledger_clear(leat_context *ctx);
LEAT_API leat_status leat_ledger_count(leat_context *ctx, size_t *count);
LEAT_API leat_status leat_ledger_get(leat_context *ctx, size_t k, leat_cost *cost);
/* Now, by the clock of the ledger's host times: CLOCK_MONOTONIC; on sim its virtual clock. */
LEAT_API leat_status leat_ledger_clock(leat_context *ctx, uint64_t *time_ns);
/* What a device did at level 2, from the start of its first timed work to the end of its last that is over by now: the
 * union of what it was busy with, and the gaps, each of which is in a LEAT_COST_IDLE record with what the host did in
 * it. span = busy + idle; overlap: what the kernels' and copies' records hold more than busy, because they ran side by
 * side. dropped: intervals lost for want of memory. */
typedef struct leat_ledger_sums {
    uint64_t span_ns, busy_ns, idle_ns, overlap_ns, dropped;
} leat_ledger_sums;
LEAT_API leat_status leat_ledger_device(leat_context *ctx, leat_ledger_sums *sums);
/* A cost of the caller's own, from begin to end on one thread; they nest, and an inner one's time is not in the outer
 * one's. */
LEAT_API leat_status leat_ledger_begin(leat_context *ctx, leat_cost_kind kind, const char *what);
LEAT_API leat_status leat_ledger_end(leat_context *ctx, uint64_t bytes);
LEAT_API const char *leat_cost_name(leat_cost_kind kind);

/* ---- traces: what any CUDA program did, and what would make it faster. They need no context; errors are
 * leat_error_get's with NULL. */

typedef struct leat_trace_options { /* {0} is a good default */
    const char *file;               /* made anew, at the end, by renaming; NULL: "leat.trace" */
    const char *recorder;           /* the shared object that is loaded into the program; NULL: it is looked for */
    uint64_t limit_bytes;           /* of a process' part; what comes after is counted, not kept; 0: no limit */
    bool no_source;                 /* without the lines of source that made the calls */
    bool paused;                    /* recording starts at cuProfilerStart, and ends at cuProfilerStop */
} leat_trace_options;
typedef struct leat_trace_outcome {
    int exit_status;  /* the command's; 128 + the signal that ended it */
    size_t processes; /* that were recorded; 0: none was seen to use CUDA */
    uint64_t bytes;   /* of the file */
    char note[512];   /* what is missing, in a line; or "" */
} leat_trace_outcome;
/* Runs command (its last pointer is NULL; found by PATH) with standard input and output as they are, records what it
 * and its children do on CUDA devices into a file, and waits for it. That nothing can be recorded is no error: the
 * command runs, and outcome->note tells the reason. LEAT_FILE: the command cannot be started, or the file not be
 * written. */
LEAT_API leat_status leat_trace_record(const char *const *command, const leat_trace_options *options,
                                       leat_trace_outcome *outcome);

typedef struct leat_trace leat_trace;
/* A damaged or cut file gives what can be saved, which its notes tell; one that is no trace is LEAT_FILE. Threads may
 * share a trace. */
LEAT_API leat_status leat_trace_open(const char *file, leat_trace **trace);
LEAT_API void leat_trace_free(leat_trace *trace); /* NULL is fine */

typedef enum leat_report {
    LEAT_REPORT_OVERVIEW,   /* a picture in ten lines, then the findings */
    LEAT_REPORT_SUMMARY,    /* a line a name: time, calls, least, mean, most */
    LEAT_REPORT_OPERATIONS, /* a line for each kernel and copy */
    LEAT_REPORT_FINDINGS,
    LEAT_REPORT_PERFETTO, /* JSON for Perfetto and chrome://tracing, whatever the format */
    LEAT_REPORT_SVG       /* a timeline as a picture, whatever the format */
} leat_report;
typedef enum leat_report_format { LEAT_REPORT_TEXT, LEAT_REPORT_CSV, LEAT_REPORT_JSON } leat_report_format;
/* Takes the report's bytes, piece by piece; false ends it with LEAT_FILE. */
typedef bool leat_report_write(void *user, const void *bytes, size_t size_bytes);
/* The same trace gives the same bytes. */
LEAT_API leat_status leat_trace_report(const leat_trace *trace, leat_report report, leat_report_format format,
                                       leat_report_write *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
