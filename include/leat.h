/* Leat: arrays in index notation, for C. You prepare a program once, call it with arrays, and run it on the CPU, on a
 * CUDA GPU, or on `sim`, a simulated GPU. Your own CUDA C kernels run beside it on cuda and sim.
 *
 *     leat_context *ctx;  leat_program *p;  leat_call *c;  leat_array *y;
 *     leat_open(NULL, &ctx);
 *     leat_program_new(ctx, "y[i] = a[i] / sum(k: a[k])", 0, NULL, &p);
 *     leat_call_new(p, &c);
 *     leat_call_set_array(c, "a", a);
 *     leat_call_run(c, NULL, NULL);
 *     leat_call_result(c, "y", &y);
 *
 * Every function returns a leat_status (LEAT_OK is 0) and writes its outputs only on success. leat_error_get() returns
 * the calling thread's last failure. Handles are opaque; `_free` accepts NULL. The library never aborts, prints or
 * exits.
 *
 * Threads: several threads may use a context, program, array, module, kernel or stream at once. Each operation in a
 * stream is atomic; the caller decides the order of those of several threads. A call or event may be used by one thread
 * at a time. The caller synchronizes access to the elements of an array on the CPU: a thread does
 * its CPU work inside its own call, and a thread that writes an array must not run at the same time as another that
 * reads or writes it. Sizes in bytes are size_t. Extents and strides are int64_t and count elements. Text is UTF-8.
 *
 * Compatibility: enums only grow, at their end; an enumerator named ..._KINDS is the number of the others and changes.
 * Structs of options begin with struct_size, which is the size of the struct as the caller was compiled, and only grow
 * at their end. struct_size 0 stands for the fields of version 0.1, so {0} with designated fields works. Set it to
 * sizeof to use fields that later versions add. A field that this version does not know must be 0 (LEAT_INVALID). */
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
    LEAT_INVALID,       /* a wrong argument: NULL, out of range, or a name that the program does not have */
    LEAT_PROGRAM,       /* the program's text has errors */
    LEAT_MISMATCH,      /* the arrays' types, ranks or shapes do not fit the program */
    LEAT_MISSING,       /* an input is not bound, or an archive has no array with the key */
    LEAT_FILE,          /* a file cannot be read or written, or is malformed */
    LEAT_DEVICE,        /* there is no such device, or it failed */
    LEAT_OUT_OF_MEMORY, /* memory, or a byte limit from the options, is exhausted */
    LEAT_DATA,          /* an error in the data, found while the program ran, such as a subscript out of range */
    LEAT_UNSUPPORTED,   /* valid, but not possible on this device or machine */
    LEAT_INTERNAL,      /* a bug in Leat: please report it */
    LEAT_CANCELED       /* the run was canceled: leat_call_cancel, leat_call_watch */
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
    LEAT_C64, /* complex: two f32 (c128: two f64), the real part first */
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
} leat_ticket; /* a point in a stream; {0} has always been reached */

/* ---- errors */

typedef struct leat_error {
    leat_status code;
    const char *message;    /* one line; "" if there was no failure */
    const char *expected;   /* what to write or pass instead, or "" */
    int line, column, span; /* in the program's text, from 1 and in bytes; 0: unknown, or not in a text */
} leat_error;

/* Returns the calling thread's last failure. Read it before you call another function on this thread: a success may
 * clear it, and a failure replaces it. The strings are valid until then. ctx may be NULL. */
LEAT_API leat_status leat_error_get(const leat_context *ctx, leat_error *error);
/* leat_program_new reports all errors of a program at once, at most 20. *count is their number. leat_error_at returns
 * error k, from 0, in the form of leat_error_get; LEAT_INVALID if there are fewer. */
LEAT_API leat_status leat_error_count(const leat_context *ctx, size_t *count);
LEAT_API leat_status leat_error_at(const leat_context *ctx, size_t k, leat_error *error);
/* All errors as text for people: each message, its line of the program, and carets under the span. The string is valid
 * as long as those of leat_error_get. */
LEAT_API const char *leat_error_text(const leat_context *ctx);
LEAT_API const char *leat_status_name(leat_status status);                  /* "invalid argument"; static */
LEAT_API const char *leat_dtype_name(leat_dtype dtype);                     /* "f32"; "?" if dtype is not a type */
LEAT_API leat_status leat_dtype_parse(const char *name, leat_dtype *dtype); /* LEAT_INVALID: not a type's name */
LEAT_API size_t leat_dtype_size_bytes(leat_dtype dtype);                    /* 0 if dtype is not a type */
/* Writes a float as text: "0.1", "3.0", "1e-07", "-inf", "nan". dtype is the float type of value. precision_digits is
 * the maximum number of significant digits, 1 to 17, or 0 for the shortest text that reads back as the same value of
 * that type. The result does not depend on the locale. */
#define LEAT_FLOAT_TEXT_BYTES 32 /* the NUL included */
LEAT_API leat_status leat_float_text(leat_dtype dtype, double value, int precision_digits,
                                     char text[LEAT_FLOAT_TEXT_BYTES]);
LEAT_API const char *leat_version(void); /* "0.1.0" */

/* The names and operators of the language, for help texts and editors. */
typedef enum leat_builtin_kind {
    LEAT_BUILTIN_FUNCTION,
    LEAT_BUILTIN_REDUCTION,
    LEAT_BUILTIN_OPERATOR,
    LEAT_BUILTIN_CONSTANT,
    LEAT_BUILTIN_TYPE, /* calling it casts */
    LEAT_BUILTIN_EDGE, /* what a read outside an array returns */
    LEAT_BUILTIN_KEYWORD,
    LEAT_BUILTIN_FOREIGN, /* a name of NumPy, Python or C that Leat does not have; the summary says what to write */
    LEAT_BUILTIN_KINDS
} leat_builtin_kind;
typedef struct leat_builtin_info {
    const char *name;    /* "atan2" */
    const char *usage;   /* "atan2(y, x)": an expression that uses it; a statement for edge modes and keywords */
    const char *summary; /* "angle of the point (x, y) in radians, from -pi to pi" */
} leat_builtin_info;
/* The number of builtins of a kind, and builtin k, from 0. The strings are valid until the process ends. */
LEAT_API leat_status leat_builtin_count(leat_builtin_kind kind, size_t *count);
LEAT_API leat_status leat_builtin_get(leat_builtin_kind kind, size_t k, leat_builtin_info *info);

/* ---- context */

typedef enum leat_log_level { LEAT_LOG_NOTE, LEAT_LOG_WARNING } leat_log_level;

/* How a CUDA device (or sim) runs an expression whose code is neither loaded nor in the code cache. The interpreter
 * runs it at once, with bit-identical results, while a thread of Leat compiles code for it. The next run uses that code
 * as soon as it is ready. Interpreting a large array takes 10 to 35 times as long as the compiled code (an H200, 2^26
 * numbers, bench/results); a small array takes a few microseconds longer.
 *
 * These statements always wait for the compiler: statements that can fail while they run, scans, scatters, `each`,
 * matrix products, several reductions in one pass, arithmetic in integer types other than i64 and bool, statements that
 * sum f32 and f64 at once, and statements so large that compiling them takes less time than interpreting (over 30
 * million operations per multiprocessor).
 *
 * leat_close waits until everything that was queued is compiled. exit() waits for the current compilation only, one or
 * two seconds at most if NVRTC (13.0) can be canceled. */
typedef enum leat_interpret {
    /* LEAT_INTERPRET from the environment (never, ready, always, only); if unset, READY with keep_code, else NEVER. */
    LEAT_INTERPRET_DEFAULT,
    LEAT_INTERPRET_NEVER, /* always run compiled code: the first run waits for the compiler */
    /* Interpret where the interpreter is ready. It is compiled once per device and version of Leat, on the compiling
     * thread, after a context that is at least five seconds old has waited for the compiler twice. keep_code stores it
     * in the code cache. Before that, each process calls NVRTC once (about 0.03 s, in the first run that queues a
     * compilation). */
    LEAT_INTERPRET_READY,
    LEAT_INTERPRET_ALWAYS, /* interpret from the first run on; that run waits some seconds, once, for the interpreter */
    LEAT_INTERPRET_ONLY    /* the same, and never compile a statement that the interpreter can run */
} leat_interpret;

typedef struct leat_options { /* {0} is a good default */
    size_t struct_size;       /* sizeof(leat_options), or 0 for the fields of version 0.1 */
    /* "auto", "cpu", "cuda", "cuda:1", or "sim" for a CUDA device simulated on the CPU. "auto" and NULL mean
     * LEAT_DEVICE from the environment, else the CPU. */
    const char *device;
    int threads;              /* CPU threads; 0: LEAT_THREADS, else the number of cores that this process may use */
    const char *simd;         /* "baseline", "avx2" or "avx512"; NULL: LEAT_SIMD, else the best that the CPU has */
    size_t memory_cap_bytes;  /* limit of allocated array memory; 0: no limit */
    size_t cache_cap_bytes;   /* limit of released array memory kept for reuse, per kind of memory; 0: 1 GiB */
    size_t code_cap_bytes;    /* limit of programs' compiled code kept loaded on the device; 0: 256 MiB */
    bool keep_code;           /* store programs' compiled code in the code cache on disk, and look for it there */
    leat_interpret interpret; /* cuda and sim: whether a new expression waits for its compilation */
    int ledger_level; /* 0 counts costs, 1 also times the host, 2 also times the device (leat_ledger_level_set) */
    int copy_threads; /* limit of threads that copy pageable memory to and from a GPU; 0: the cores, at most 8 */
    bool sim_check;   /* sim: check kernels for races, out-of-bounds accesses and wrong order; also LEAT_SIM_CHECK=1 */
    uint64_t
        sim_seed; /* sim: seed of the order in which work, thread blocks and threads run; 0: LEAT_SIM_SEED, else 1 */
    /* Allocator hooks for all host memory that Leat keeps; all NULL: malloc, realloc, free. Called from any thread. */
    void *(*allocate)(size_t size_bytes, void *user);
    void *(*reallocate)(void *memory, size_t size_bytes, void *user);
    void (*release)(void *memory, void *user);
    void *allocator_user;
    /* Receives notes (division by zero, ...) and warnings, one line each. Called on the thread that called Leat; notes
     * about the code cache may come from a compiling thread (leat_interpret). */
    void (*log)(leat_log_level level, const char *text, void *user);
    void *log_user;
    /* Variables for the library to read, "NAME=value" each and NULL at the end, which are copied; NULL: the
     * environment, which no other thread may change while the context is opened. */
    const char *const *environment;
    /* cuda: 1 lets matrix products of f32 round their factors to TF32, which has 10 bits after the first. They are then
     * several times as fast. Other operations are not affected, nor is the CPU. -1: never; 0: as LEAT_PRECISION says,
     * f32 or tf32, else never. */
    int tf32;
} leat_options;

/* Opens a context. options may be NULL. Strings in options are copied. The allocator hooks belong to the process: Leat
 * takes them from the first open context, and they must stay valid until the last one is closed. The environment is
 * copied: threads of Leat may need it later, while the program changes it. Changes have an effect when the next context
 * is opened. After fork(), using any handle in the child fails with LEAT_INVALID. */
LEAT_API leat_status leat_open(const leat_options *options, leat_context **ctx);
/* The context stays alive until the last program, call, array and stream made from it is freed. */
LEAT_API void leat_close(leat_context *ctx);

/* ---- devices. Device 0 is the CPU. The CUDA devices follow, then sim, which runs CUDA C on the CPU. If CUDA cannot be
 * used at all, one unusable device "cuda" gives the reason. */

#define LEAT_DEVICE_NAME_BYTES 24 /* the NUL included */
typedef struct leat_device_info {
    char name[64], kind[16];             /* "Intel(R) Xeon(R)", "cpu"; "NVIDIA H200", "cuda"; "sim" */
    char device[LEAT_DEVICE_NAME_BYTES]; /* the name for leat_options: "cpu", "cuda:1", "sim" */
    bool usable;                         /* false: reason says why, and the fields below may be 0 */
    char reason[256];
    size_t memory_bytes, cache_bytes; /* of main memory or the device's memory; the CPU's last-level cache */
    /* of the CPU */
    char simd[16]; /* instruction set in use; best_simd: the best that the CPU has */
    char best_simd[16];
    int threads, cores; /* threads that Leat uses; cores that this process may use */
    /* of a CUDA device; sim has some of them */
    int ordinal;               /* CUDA's number of the device */
    char uuid[48], pci_id[24]; /* "GPU-6f4c...", "0000:0f:00.0" */
    int capability;            /* 90 for 9.0 */
    int multiprocessors;
    int f64_ratio;    /* f32 operations in the time of one f64 operation */
    int cuda_version; /* CUDA version of the driver: 12040 for 12.4 */
    /* measured; 0: not measured. Uploads and downloads are measured with pinned memory. */
    double copy_bytes_per_second; /* copies within its memory, bytes read plus bytes written; CPU: all threads */
    double upload_bytes_per_second, download_bytes_per_second;
    double additions_per_second;     /* CPU: f64 additions in its caches, all threads */
    double launch_ns, round_trip_ns; /* enqueueing one of many empty kernels; launching one and waiting for it */
} leat_device_info;

/* The first call looks for CUDA, which takes about 0.1 s if there is a driver. */
LEAT_API leat_status leat_device_count(leat_context *ctx, size_t *count);
/* Describes device k. measure: true measures the rates. This takes about 0.1 s for the CPU, once per context, and about
 * 0.4 s for a CUDA device, each time; sim has no rates, since its clock is virtual. false returns the rates that are
 * already known. */
LEAT_API leat_status leat_device_get(leat_context *ctx, size_t k, bool measure, leat_device_info *info);
/* Describes what computes products of float matrices on the CPU: a BLAS and the CPU model that it chose its kernels
 * for, or Leat's own kernels and the reason. Loads the BLAS, as the first product would. The string is valid until the
 * process ends. */
LEAT_API leat_status leat_products_get(leat_context *ctx, const char **words);

/* Where Leat looked for the CUDA libraries and headers. Each search runs once per process, at the first use or when it
 * is first asked for here. */
typedef enum leat_search_kind {
    LEAT_SEARCH_DRIVER,  /* libcuda.so.1 */
    LEAT_SEARCH_NVRTC,   /* the compiler of CUDA C */
    LEAT_SEARCH_CUBLAS,  /* located, not loaded */
    LEAT_SEARCH_HEADERS, /* a toolkit's headers, for CUDA C that includes <cuda_fp16.h> */
    LEAT_SEARCH_KINDS
} leat_search_kind;
typedef struct leat_search { /* its strings are valid until the process ends */
    const char *name;        /* "driver", "nvrtc", "cublas", "headers" */
    bool found;
    int version;        /* 13000 for 13.0; 0: unknown */
    const char *path;   /* of the library or the folder; "" if it was not found */
    const char *reason; /* why it was not found; "" if it was */
    size_t line_count;
} leat_search;
typedef struct leat_search_line {
    const char *name;    /* the file or the environment variable: "libnvrtc.so.12", "CUDA_PATH" */
    const char *path;    /* where Leat looked; "" for the dynamic loader's own search */
    const char *outcome; /* "found, CUDA 12.4", "not set", "for CUDA 13, newer than the driver's 12" */
} leat_search_line;
/* One search, and line k of its log, from 0. */
LEAT_API leat_status leat_search_get(leat_context *ctx, leat_search_kind kind, leat_search *search);
LEAT_API leat_status leat_search_line_get(leat_context *ctx, leat_search_kind kind, size_t k, leat_search_line *line);

/* ---- arrays: a buffer, an element type, a shape and strides. An array of rank 0 has one element. */

typedef enum leat_memory {
    LEAT_MEMORY_DEVICE, /* the device's memory; the host cannot read a GPU's */
    LEAT_MEMORY_HOST,   /* pageable host memory; copies to and from a GPU go through pinned staging buffers */
    LEAT_MEMORY_PINNED, /* page-locked host memory, which a GPU copies directly */
    LEAT_MEMORY_MAPPED  /* page-locked host memory that kernels read and write in place, over the bus */
} leat_memory;          /* on the CPU all four are host memory */

typedef struct leat_description {
    leat_dtype dtype;
    int rank;
    int64_t shape[LEAT_RANK_MAX];
    int64_t strides[LEAT_RANK_MAX]; /* in elements; may be 0 or negative */
    void *data;                     /* address of element [0,...,0]; for device memory, the address that kernels use */
    bool read_only;
    leat_memory memory;
} leat_description;

/* Creates an array of zeros. shape has rank extents, each at least 0. LEAT_OUT_OF_MEMORY if it does not fit. */
LEAT_API leat_status leat_array_new(leat_context *ctx, leat_dtype dtype, int rank, const int64_t *shape,
                                    leat_memory memory, leat_array **array);
/* The same without zeroing: the elements are undefined until they are written. */
LEAT_API leat_status leat_array_new_empty(leat_context *ctx, leat_dtype dtype, int rank, const int64_t *shape,
                                          leat_memory memory, leat_array **array);
/* Creates an array over the caller's memory. The memory must stay valid until Leat calls release(user), which may
 * happen on another thread, after all work that uses the memory; release may be NULL. Unless description->read_only,
 * no other code may read or write the memory until then. description->memory is its kind. Host memory that turns out to
 * be page-locked is copied without a staging buffer. */
LEAT_API leat_status leat_array_wrap(leat_context *ctx, const leat_description *description,
                                     void (*release)(void *user), void *user, leat_array **array);
/* Describes the array. description->data is valid as long as the array. */
LEAT_API leat_status leat_array_get(const leat_array *array, leat_description *description);
/* Copy all elements from or to dense row-major host memory of exactly size_bytes bytes. The copy runs in stream (NULL:
 * the context's default stream), in order with all other work on the array. With ticket NULL the function returns when
 * the copy is done. Otherwise it enqueues the copy: do not change source, or read target, until the ticket is reached.
 * Leat's own threads copy memory that is not page-locked; the next operation in the stream waits until all of it has
 * been submitted. LEAT_INVALID if size_bytes is not the size of the elements. */
LEAT_API leat_status leat_array_write(leat_array *array, const void *source, size_t size_bytes, leat_stream *stream,
                                      leat_ticket *ticket);
LEAT_API leat_status leat_array_read(const leat_array *array, void *target, size_t size_bytes, leat_stream *stream,
                                     leat_ticket *ticket);
/* Copies between arrays of the same context, type and shape, with any kinds of memory and any strides. The address
 * ranges of the two arrays, from the first to the last element, must not overlap. LEAT_INVALID for another context or
 * an overlap, LEAT_MISMATCH for another type or shape. */
LEAT_API leat_status leat_array_copy(leat_array *target, const leat_array *source, leat_stream *stream,
                                     leat_ticket *ticket);
/* leat_host_pin page-locks the caller's memory, which takes about 0.3 ms per MiB, so that copies need no staging
 * buffer. leat_host_unpin undoes this and waits for the context's device first. LEAT_INVALID: pin: the memory is
 * page-locked already; unpin: leat_host_pin did not page-lock it. */
LEAT_API leat_status leat_host_pin(leat_context *ctx, void *memory, size_t size_bytes);
LEAT_API leat_status leat_host_unpin(leat_context *ctx, void *memory);

typedef struct leat_memory_use {
    size_t live_bytes; /* of existing arrays and results */
    size_t kept_bytes; /* of released memory kept for reuse */
    size_t peak_bytes; /* maximum of live_bytes + kept_bytes so far */
    size_t cap_bytes;  /* leat_options.memory_cap_bytes; 0: no limit */
    size_t free_bytes; /* free memory of the device, shared with other processes; 0: not known */
    uint64_t trims;    /* times that an allocation failed, the kept memory was released, and Leat tried again */
} leat_memory_use;
/* The use of one kind of memory by this context. */
LEAT_API leat_status leat_memory_get(leat_context *ctx, leat_memory memory, leat_memory_use *use);
/* Releases all memory kept for reuse. Waits for the device. */
LEAT_API leat_status leat_memory_trim(leat_context *ctx);

/* Views share the array's memory and keep it alive. start, stop and step have one entry per axis. The slice takes
 * elements start, start + step, ... up to but excluding stop; all must be within the extent (LEAT_INVALID otherwise).
 * step is not 0. With a negative step, a stop of -1 includes element 0. */
LEAT_API leat_status leat_array_slice(leat_array *array, const int64_t *start, const int64_t *stop, const int64_t *step,
                                      leat_array **view);
/* axes is a permutation of 0..rank-1: axis k of the view is axes[k] of the array. NULL reverses the axes. */
LEAT_API leat_status leat_array_transpose(leat_array *array, const int *axes, leat_array **view);
/* One extent may be -1; it is computed from the others. LEAT_UNSUPPORTED if the strides allow no view of that shape. */
LEAT_API leat_status leat_array_reshape(leat_array *array, int rank, const int64_t *shape, leat_array **view);
/* Adds a reference and returns array. leat_array_free drops one; the last one frees the array. NULL is accepted. */
LEAT_API leat_array *leat_array_retain(leat_array *array);
LEAT_API void leat_array_free(leat_array *array);

/* Loads an array from a file. Formats:
 *
 *     .npy        versions 1 to 3
 *     .npz        the array named key; NULL: the only array
 *     .png        8-bit and 16-bit grayscale as u8 or u16 [h,w]; all others as [h,w,3] or [h,w,4]
 *     .csv, .tsv  a table of numbers separated by commas or tabs, known by the name's ending. One column is [rows],
 *                 several are [rows,columns]. The type is i64 if all numbers are whole, else f64. A header line is
 *                 skipped with a note.
 *
 * declared is the element type that the program declares for the array, or 0. It distinguishes bf16 from two plain
 * bytes, and it is the type of a table's elements. A large .npy is mapped, not copied: the array is read-only, and the
 * file must not be truncated while the array exists. LEAT_FILE if the file cannot be read or is malformed; for an empty
 * field or text in a table, the message has the line and column. LEAT_MISSING if the archive has no array named key;
 * LEAT_INVALID if it has several and key is NULL, or if key is given for another format. */
LEAT_API leat_status leat_array_load(leat_context *ctx, const char *path, const char *key, leat_dtype declared,
                                     leat_array **array);
/* The same from a file descriptor, such as a pipe, starting at its current offset. The elements of an .npy are read
 * directly into the array, and no byte after them is read. name is used in messages; NULL: "the file". The caller keeps
 * ownership of fd. */
LEAT_API leat_status leat_array_load_fd(leat_context *ctx, int fd, const char *name, leat_dtype declared,
                                        leat_array **array);
LEAT_API leat_status leat_array_load_memory(leat_context *ctx, const void *bytes, size_t size_bytes,
                                            leat_dtype declared,
                                            leat_array **array); /* from the bytes of an .npy, which are copied */
typedef enum leat_colormap { LEAT_COLORMAP_GREY, LEAT_COLORMAP_VIRIDIS } leat_colormap;
/* Writes the array to a file. The ending of path is the format: .npy, .npz (a file with this array only, named key;
 * NULL: "array"), .png (u8 and u16 unchanged; bool in black and white; any other real [h,w] is scaled from its least to
 * its greatest element, and NaN is black), or .csv and .tsv (real numbers, at most two axes; a vector is one column).
 * The file appears under path only when it is complete, and then replaces an older one. If the process is killed or the
 * disk is full, the older file is unchanged. The file is not synced to the disk: see leat_save_options. LEAT_INVALID if
 * the ending is none of these, or the format cannot hold the array. */
LEAT_API leat_status leat_array_save(const leat_array *array, const char *path, const char *key,
                                     leat_colormap colormap);
typedef struct leat_save_options { /* {0} is a good default */
    size_t struct_size;            /* sizeof(leat_save_options), or 0 for the fields of version 0.1 */
    const char *key;               /* see leat_array_save */
    leat_colormap colormap;
    bool sync; /* fsync the file before returning, so that it survives a crash of the machine */
    /* Called repeatedly on the calling thread while the file is written; NULL: never. If it returns false, the save
     * fails with LEAT_FILE and the older file is unchanged. */
    bool (*proceed)(void *user);
    void *user;
} leat_save_options;
/* The same with options, which may be NULL. */
LEAT_API leat_status leat_array_save_as(const leat_array *array, const char *path, const leat_save_options *options);
/* Writes one .npz with several named arrays. count is at least 1, and the names must differ. options may be NULL; its
 * key and colormap are ignored. */
typedef struct leat_named_array {
    const char *name;
    const leat_array *array;
} leat_named_array;
LEAT_API leat_status leat_archive_save(const char *path, const leat_named_array *arrays, size_t count,
                                       const leat_save_options *options);
/* Writes the array as the bytes of an .npy into new memory. Free *bytes with leat_memory_free.
 *
 * leat_memory_free frees memory that Leat returned. If leat_open was given allocator hooks, call it before the last
 * context is closed. NULL is accepted. */
LEAT_API leat_status leat_array_save_memory(const leat_array *array, void **bytes, size_t *size_bytes);
LEAT_API void leat_memory_free(void *memory);

/* Exchange with other libraries through DLPack (dmlc/dlpack, DLManagedTensor of version 0.8). The consumer of an
 * exported tensor calls its deleter. Leat calls the deleter of an imported tensor when the array is freed.
 * native_stream is the CUstream in which the consumer will use the tensor: that stream waits for the work on the array
 * so far. NULL waits for that work before returning, and so does CU_STREAM_PER_THREAD; it must be NULL for host memory.
 * When the consumer calls the deleter, on any thread, its work in native_stream may still be running: device memory is
 * used again only after that work. If native_stream is CU_STREAM_LEGACY or one that leat_stream_wrap knows, the deleter
 * returns at once. Otherwise, or if that stream has been freed, the deleter waits for the device. The consumer's work
 * on host memory must be done by then. The deleter may be called after leat_close.
 *
 * If the consumer's stream is not known, pass the CUstream of a stream made by leat_stream_new, and let the consumer
 * order its work after that stream: nothing waits on the host before the deleter, which waits for the device, so the
 * consumer may work in any stream.
 * LEAT_UNSUPPORTED for a read-only array, and for device memory of sim, which other libraries cannot use. */
struct DLManagedTensor;
LEAT_API leat_status leat_array_to_dlpack(leat_array *array, void *native_stream, struct DLManagedTensor **tensor);
LEAT_API leat_status leat_array_from_dlpack(leat_context *ctx, struct DLManagedTensor *tensor, leat_array **array);
/* The same for DLPack 1.x, which can express that an array is read-only. from: LEAT_UNSUPPORTED for another major
 * version. */
struct DLManagedTensorVersioned;
LEAT_API leat_status leat_array_to_dlpack_versioned(leat_array *array, void *native_stream,
                                                    struct DLManagedTensorVersioned **tensor);
LEAT_API leat_status leat_array_from_dlpack_versioned(leat_context *ctx, struct DLManagedTensorVersioned *tensor,
                                                      leat_array **array);
/* Describes a DLTensor, such as one from the C exchange table of another library, for leat_call_set_memory_at or
 * leat_array_wrap. *cuda_device receives the CUDA device of its memory, or -1 for host memory. */
struct DLTensor;
LEAT_API leat_status leat_dltensor_describe(const struct DLTensor *tensor, leat_description *description,
                                            int *cuda_device);
/* The reverse: fills *tensor, over shape and strides of the caller's with LEAT_RANK_MAX entries each, which must stay
 * valid as long as the tensor is used. Does not retain the array, and orders nothing. */
LEAT_API leat_status leat_array_to_dltensor(const leat_array *array, int64_t *shape, int64_t *strides,
                                            struct DLTensor *tensor);

/* ---- programs: checked text; immutable; threads may share them */

typedef struct leat_program_options { /* {0} is a good default */
    size_t struct_size;               /* sizeof(leat_program_options), or 0 for the fields of version 0.1 */
    const char *name;                 /* name for messages, such as the file's; NULL: "program" */
} leat_program_options;

/* Parses and checks a program. size_bytes 0: text ends with a NUL. options may be NULL. Reports all errors of the text
 * at once (LEAT_PROGRAM; leat_error_count). */
LEAT_API leat_status leat_program_new(leat_context *ctx, const char *text, size_t size_bytes,
                                      const leat_program_options *options, leat_program **program);
LEAT_API void leat_program_free(leat_program *program);

typedef enum leat_name_kind { LEAT_NAME_INPUT, LEAT_NAME_RESULT, LEAT_NAME_INDEX, LEAT_NAME_TEMPORARY } leat_name_kind;
typedef struct leat_name_info {
    const char *name; /* valid as long as the program */
    leat_dtype dtype; /* declared or inferred; 0: it depends on the inputs */
    int rank;         /* number of axes; 0: a scalar; -1: any rank (...) */
    bool optional;    /* an input that has a default, or whose value follows from the shape of another */
    bool has_value;   /* false: an index */
    int line;         /* where it first appears, from 1 */
} leat_name_info;
/* The names of one kind in the program, in order of appearance. Of the inputs, sizes that a declaration binds, such as
 * n in `in x[n]`, come last. LEAT_NAME_RESULT: the default results, in the order of the `out`s if there are any. */
LEAT_API leat_status leat_program_count(const leat_program *program, leat_name_kind kind, size_t *count);
LEAT_API leat_status leat_program_name(const leat_program *program, leat_name_kind kind, size_t k,
                                       leat_name_info *info);
/* Prints one form of the program into *text; free it with leat_memory_free. leat_program_show prints only the tree, the
 * program as checked. All other forms need a call with all its inputs (leat_call_show). Bytecode exists in contexts on
 * the CPU. The kernels as trees, as CUDA C, as PTX (by NVRTC) and as SASS (by the toolkit's nvdisasm) exist in contexts
 * on cuda and sim. */
/* The forms of a program on its way to code. The tree needs the text alone; all others need a call's inputs. */
typedef enum leat_form {
    LEAT_FORM_TREE,     /* the checked tree: its steps in order, with types if they are known */
    LEAT_FORM_IR,       /* the stages after all passes */
    LEAT_FORM_PLAN,     /* what runs, in order, and where each value is stored */
    LEAT_FORM_BYTECODE, /* the CPU's instructions */
    LEAT_FORM_CUDA,     /* CUDA C; of sim's plan if the context's device is not cuda */
    LEAT_FORM_PTX,      /* what NVRTC makes of it */
    LEAT_FORM_SASS,     /* the GPU's instructions, by nvdisasm or cuobjdump */
    LEAT_FORM_KERNEL    /* the typed trees that CUDA C is printed from; of sim's plan, like that */
} leat_form;
/* Prints one form of the program; only LEAT_FORM_TREE needs no call. Free *text with leat_memory_free. */
LEAT_API leat_status leat_program_show(const leat_program *program, leat_form form, char **text);

/* ---- calls: one thread's bindings of a program */

/* The call retains the program. */
LEAT_API leat_status leat_call_new(leat_program *program, leat_call **call);
LEAT_API void leat_call_free(leat_call *call);
/* Bind inputs. The call retains an array until it is replaced or the call is freed; array NULL unbinds the input. A
 * number is weak: it does not widen types, so a whole number must fit the integer types that it is combined with. An
 * array of rank 0 is a strong scalar.
 *
 * A device reads arrays in its own and in mapped memory in place. Each run copies arrays in host and pinned memory to
 * the device; do not change them until the run's ticket is reached. An array of another context is LEAT_INVALID, with
 * one exception: an array in host memory. A call on the CPU accepts one from any context, and a call on a device
 * accepts one from a context on the CPU. */
LEAT_API leat_status leat_call_set_array(leat_call *call, const char *name, leat_array *array);
LEAT_API leat_status leat_call_set_f64(leat_call *call, const char *name, double value);
LEAT_API leat_status leat_call_set_i64(leat_call *call, const char *name, int64_t value);
LEAT_API leat_status leat_call_set_u64(leat_call *call, const char *name, uint64_t value);
LEAT_API leat_status leat_call_set_c128(leat_call *call, const char *name, double re, double im);
LEAT_API leat_status leat_call_set_bool(leat_call *call, const char *name, bool value);
/* The same by number: input k in the order of leat_program_name(LEAT_NAME_INPUT), from 0. */
LEAT_API leat_status leat_call_set_array_at(leat_call *call, size_t k, leat_array *array);
LEAT_API leat_status leat_call_set_f64_at(leat_call *call, size_t k, double value);
LEAT_API leat_status leat_call_set_i64_at(leat_call *call, size_t k, int64_t value);
LEAT_API leat_status leat_call_set_u64_at(leat_call *call, size_t k, uint64_t value);
LEAT_API leat_status leat_call_set_c128_at(leat_call *call, size_t k, double re, double im);
LEAT_API leat_status leat_call_set_bool_at(leat_call *call, size_t k, bool value);
/* Binds memory of the caller's to input k without making an array. The description is copied. The caller keeps the
 * memory valid, and its elements unchanged, from leat_call_run until the run's ticket is reached; between runs, Leat
 * does not touch it. Leat does not order the run with other work on this memory: the caller's earlier work on it must
 * be done, or be enqueued in the stream of the run. description->memory must be true of the memory: it is not checked.
 * Binding the same description again costs nothing further. */
LEAT_API leat_status leat_call_set_memory_at(leat_call *call, size_t k, const leat_description *description);
/* Requests a result. array NULL: each run creates a new array. Otherwise runs write into array. It must have the
 * result's exact shape and type, belong to the call's context, be writable and have no overlapping elements; it may
 * also be an input. A second request for the same name replaces the array. If this function is never called, runs
 * compute the program's default results.
 *
 * The arrays of two results must not share memory (LEAT_INVALID); interleaved views that share no element are allowed.
 * If the other result's array was set before the last run, this function accepts the array, because the other one may
 * still be replaced, and leat_call_run reports the error. If a run fails, the elements of a given array may have
 * changed. */
LEAT_API leat_status leat_call_want(leat_call *call, const char *name, leat_array *array);
/* The same by number: result k in the order of leat_program_name(LEAT_NAME_RESULT), from 0. memory: the result is
 * written into memory of the caller's, by the rules of leat_call_set_memory_at; leat_call_result then fails for it. */
LEAT_API leat_status leat_call_want_at(leat_call *call, size_t k, leat_array *array);
LEAT_API leat_status leat_call_want_memory_at(leat_call *call, size_t k, const leat_description *description);
/* Removes all requests, so that runs compute the default results again. */
LEAT_API leat_status leat_call_want_clear(leat_call *call);
/* Runs the program in stream (NULL: the context's default stream). ticket may be NULL. On the CPU the work is done when
 * this function returns.
 *
 * On a device the work is enqueued. The results are new arrays in device memory, or the requested arrays, and are
 * complete when the ticket is reached. Other Leat work that reads them is ordered automatically. The function waits for
 * the device where the host needs a number (the condition of a `while`, a range that depends on data; the ledger
 * records the cause). It also waits at the end if an element may be out of range or a note may be given (integer
 * division by zero), so that this call reports the error, as on the CPU.
 *
 * After an error, or if the run was canceled, there are no results, and the ticket is not written. Part of the run may
 * have been enqueued; its work on memory of the caller's (leat_call_set_memory_at, leat_call_want_memory_at, and arrays
 * in host memory) is done when this function returns, so that the caller may free or change that memory. */
LEAT_API leat_status leat_call_run(leat_call *call, leat_stream *stream, leat_ticket *ticket);
/* Returns a result of the last run. The caller owns a reference (leat_array_free). */
LEAT_API leat_status leat_call_result(leat_call *call, const char *name, leat_array **array);
/* The same by number, as in leat_call_want_at. */
LEAT_API leat_status leat_call_result_at(leat_call *call, size_t k, leat_array **array);
/* The same, but the call gives its own reference away, so that its next run starts without the array, and the memory
 * is free as soon as the caller has freed the array. */
LEAT_API leat_status leat_call_take_at(leat_call *call, size_t k, leat_array **array);
/* The same, and waits until the results are complete. */
LEAT_API leat_status leat_call_complete(leat_call *call, leat_stream *stream);
/* Cancels the run of this call that is in progress, if any: leat_call_run or leat_call_complete soon returns
 * LEAT_CANCELED, and the elements of requested arrays may have changed. On sim, the run's kernels stop, or do not
 * begin. Kernels that a GPU has started run to their end, and the function waits only for those that use memory of the
 * caller's. Other work goes on. May be called on any thread and in a signal handler. */
LEAT_API void leat_call_cancel(leat_call *call);
/* Runs of this call call proceed(user) on the thread of the run about every 50 ms while they compute or wait. If
 * it returns false, the run is canceled. proceed must not use the call. NULL: never, the default. */
LEAT_API leat_status leat_call_watch(leat_call *call, bool (*proceed)(void *user), void *user);
/* The number of results, and the name of result k, from 0, which is valid as long as the program. */
LEAT_API leat_status leat_call_result_count(leat_call *call, size_t *count);
LEAT_API leat_status leat_call_result_name(leat_call *call, size_t k, const char **name);
/* Prints one form of the program for this call's inputs; see leat_form. */
LEAT_API leat_status leat_call_show(leat_call *call, leat_form form, char **text);
/* The IR after one pass: "lower" (the initial IR), "demand", "dead-code", "contract", "scan", "loops", "inline",
 * "hoist", "fuse-reductions" or "copy-elision". LEAT_FORM_IR is the IR after all passes. Free *text with
 * leat_memory_free. */
LEAT_API leat_status leat_call_show_pass(leat_call *call, const char *pass, char **text);
/* Trees, CUDA C, PTX or SASS for an architecture such as "sm_90"; no such device is needed. NULL: the device's (sim:
 * sm_90). */
LEAT_API leat_status leat_call_show_code(leat_call *call, leat_form form, const char *architecture, char **text);

/* Parses, binds and runs in one call. The context caches the program by its text. inputs (may be NULL) and results end
 * with an entry whose name is NULL. Each named result is returned in results[].array, of which the caller owns a
 * reference. */
typedef enum leat_value_kind { LEAT_VALUE_ARRAY, LEAT_VALUE_F64, LEAT_VALUE_I64, LEAT_VALUE_C128 } leat_value_kind;
typedef struct leat_binding {
    const char *name;
    leat_value_kind kind;
    leat_array *array;
    double f64; /* F64; C128: the real part */
    int64_t i64;
    double im; /* C128: the imaginary part */
} leat_binding;
LEAT_API leat_status leat_eval(leat_context *ctx, const char *text, const leat_binding *inputs, leat_binding *results);

/* ---- streams, events, tickets. A stream executes its work in the order in which it was enqueued. Leat orders work of
 * different streams that shares an array; within one stream this costs nothing. On the CPU, work is done when the
 * function that enqueued it returns. A NULL stream is the context's default stream. */

LEAT_API leat_status leat_stream_new(leat_context *ctx, leat_stream **stream);
/* Wraps another library's stream (a CUstream). It must outlive this handle and the work that Leat enqueues in it. Work
 * that others enqueue in it is ordered with Leat's as in any stream. */
LEAT_API leat_status leat_stream_wrap(leat_context *ctx, void *native, leat_stream **stream);
LEAT_API leat_status leat_stream_native(leat_stream *stream, void **native); /* the CUstream; NULL on the CPU */
LEAT_API void leat_stream_free(leat_stream *stream); /* does not wait: enqueued work continues */
/* Returns a ticket that is reached when all work enqueued in the stream so far is done. */
LEAT_API leat_status leat_stream_ticket(leat_context *ctx, leat_stream *stream, leat_ticket *ticket);
/* Waits for all work in the stream, and returns its error, if any. */
LEAT_API leat_status leat_stream_synchronize(leat_stream *stream);
/* Later work in the stream waits for the event, without blocking the host. */
LEAT_API leat_status leat_stream_wait_event(leat_stream *stream, leat_event *event);
/* Later work in the stream waits for the work on the array so far, without blocking the host. Leat's own work needs no
 * such call: this is for work of others that is ordered after the stream. */
LEAT_API leat_status leat_stream_wait_array(leat_stream *stream, const leat_array *array);
/* Waits until the ticket is reached, and returns the error of the work before it, if any. The ticket of a freed stream
 * is valid. */
LEAT_API leat_status leat_ticket_wait(leat_context *ctx, leat_ticket ticket);
/* The same, but waits for timeout_ms milliseconds at most (on sim, up to 0.1 s more), so that the caller can look
 * whether to go on. *reached tells whether the ticket was reached. timeout_ms 0 only asks. */
LEAT_API leat_status leat_ticket_wait_for(leat_context *ctx, leat_ticket ticket, uint32_t timeout_ms, bool *reached);
/* The ticket of the last work that writes to the array's memory; {0} if it is known to be done. */
LEAT_API leat_status leat_array_ticket(const leat_array *array, leat_ticket *ticket);
LEAT_API leat_status leat_context_synchronize(leat_context *ctx); /* all streams of the context */
/* The same, but waits for timeout_ms milliseconds at most (on sim, up to 0.1 s more). *done tells whether all is done.
 */
LEAT_API leat_status leat_context_synchronize_for(leat_context *ctx, uint32_t timeout_ms, bool *done);
/* Gives up all work that is in the context's streams now, of all calls and threads, and returns at once: for a program
 * that ends. On sim, kernels stop, or do not begin, and arrays that they would have written have undefined contents.
 * Copies are done. A GPU's work goes on. */
LEAT_API leat_status leat_context_cancel(leat_context *ctx);
LEAT_API leat_status leat_event_new(leat_context *ctx, leat_event **event);
LEAT_API void leat_event_free(leat_event *event);
/* Records the event in the stream. It is reached when all work enqueued in the stream so far is done. An event that was
 * never recorded counts as reached. */
LEAT_API leat_status leat_event_record(leat_event *event, leat_stream *stream);
LEAT_API leat_status leat_event_synchronize(leat_event *event);
/* Waits for stop and returns the time from start to stop by the device's clock. Both must have been recorded
 * (LEAT_INVALID otherwise). Resolution: about 0.5 us on a GPU (CUDA's documentation of cuEventElapsedTime), that of
 * CLOCK_MONOTONIC on the CPU; sim uses virtual time. */
LEAT_API leat_status leat_event_elapsed_ms(leat_event *start, leat_event *stop, double *milliseconds);

/* ---- the code cache: compiled code on disk, shared between processes (leat_options.keep_code; the `leat` command sets
 * it). Its folder is LEAT_CACHE_DIR, else $XDG_CACHE_HOME/leat, else $HOME/.cache/leat; these variables are ignored
 * under AT_SECURE. The folder must belong to the user and have mode 0700. When it exceeds LEAT_CACHE_CAP_BYTES (default
 * 1 GiB; 0 disables the cache), the least recently used entries are evicted. If the cache cannot be used, code is
 * compiled again and a note gives the reason; these functions then fail with LEAT_FILE. A missing folder is an empty
 * cache. */

typedef struct leat_cache_info {
    char folder[4096];
    size_t count; /* number of entries */
    uint64_t size_bytes, cap_bytes;
} leat_cache_info;
typedef struct leat_cache_entry {
    char label[128]; /* "sm_90 blur.leat: y[i] = a[i] + 1; a f32[:], y f32[:]"; "(damaged)" if it cannot be read */
    uint64_t size_bytes;
    uint64_t uses;          /* approximate number of reads from disk */
    int64_t made_s, used_s; /* Unix time of creation and of the last use */
} leat_cache_entry;
/* The folder, its number of entries, size and limit. */
LEAT_API leat_status leat_cache_stat(leat_context *ctx, leat_cache_info *info);
/* Lists the entries in one new array, the next to be evicted first. Free *entries with leat_memory_free. */
LEAT_API leat_status leat_cache_list(leat_context *ctx, leat_cache_entry **entries, size_t *count);
/* Removes all entries. removed (may be NULL) receives their number and total size. */
LEAT_API leat_status leat_cache_clear(leat_context *ctx, leat_cache_info *removed);

/* ---- your own kernels, in CUDA C. On cuda, NVRTC compiles them at run time; `leat devices` lists where Leat looks for
 * it. On sim, the host's C++ compiler does. LEAT_UNSUPPORTED on the CPU. */

typedef struct leat_module_options { /* {0} is a good default; lists end with NULL; a NULL list is empty */
    size_t struct_size;              /* sizeof(leat_module_options), or 0 for the fields of version 0.1 */
    const char *name;                /* name for messages, such as the file's; NULL: "module.cu" */
    const char *const *macros;       /* "NAME" or "NAME=VALUE" */
    const char *const *include_paths;
    const char *const *options; /* further NVRTC options, such as "--use_fast_math" */
    const char *const *names;   /* templates to instantiate: "scale<float>", "ns::fold<double, 256>" */
    bool line_info;             /* add source lines to the code, for profilers and checkers */
} leat_module_options;

/* Compiles CUDA C. cuda_c ends with a NUL. options may be NULL. LEAT_PROGRAM if it does not compile: leat_error_get
 * returns the first error with its line, and leat_error_text all of them. Headers such as <cuda_fp16.h> are found if a
 * CUDA toolkit is installed. */
LEAT_API leat_status leat_module_new(leat_context *ctx, const char *cuda_c, const leat_module_options *options,
                                     leat_module **module);
LEAT_API void leat_module_free(leat_module *module);
/* The compiler's warnings, or ""; valid as long as the module. */
LEAT_API leat_status leat_module_log(const leat_module *module, const char **log);
/* Finds a kernel by its name in the source, "f" or "ns::f", or by one of options.names. The kernel is valid as long as
 * the module. */
LEAT_API leat_status leat_module_kernel(leat_module *module, const char *name, leat_kernel **kernel);
/* The number of kernels, and kernel k, from 0. */
LEAT_API leat_status leat_module_kernel_count(const leat_module *module, size_t *count);
LEAT_API leat_status leat_module_kernel_at(leat_module *module, size_t k, leat_kernel **kernel);
/* Returns a __device__ or __constant__ variable as an array of its bytes, u8[n], in device memory. The array retains
 * the module. */
LEAT_API leat_status leat_module_symbol(leat_module *module, const char *name, leat_array **array);

typedef struct leat_kernel_info {
    const char *name;                /* valid as long as the module */
    int registers;                   /* per thread */
    int max_block_threads;           /* maximum threads per block, given its registers */
    int best_block_threads;          /* block size with the best occupancy (cuOccupancyMaxPotentialBlockSize) */
    size_t static_shared_bytes;      /* per block */
    size_t max_dynamic_shared_bytes; /* maximum that a launch may request in addition, per block */
    size_t local_bytes;              /* per thread: spilled registers and arrays */
    size_t constant_bytes;
    int parameter_count;
} leat_kernel_info;
LEAT_API leat_status leat_kernel_get(leat_kernel *kernel, leat_kernel_info *info);
typedef struct leat_parameter_info {
    size_t size_bytes;
    leat_dtype dtype; /* f32, f64 or f16; i8 to i64 for integers, signed or not; 0: a struct */
    bool is_address;  /* it has 8 bytes and may be a pointer or a 64-bit integer; compiled code does not say which */
    const char *name; /* its name in the source; "" if unknown; valid as long as the module */
    bool
        is_const; /* the source declares a pointer to const, so the kernel only reads; false: it does not, or unknown */
    bool is_pointer;    /* the source or the compiled code says that it is a pointer; false: it is not, or unknown */
    leat_dtype pointee; /* what a pointer points to: floats, complex (float2, double2), or i16 to i64 for integers,
                           signed or not; 0: not a pointer, another type, or unknown */
} leat_parameter_info;
/* Describes parameter k, from 0. */
LEAT_API leat_status leat_kernel_parameter(leat_kernel *kernel, size_t k, leat_parameter_info *info);

/* The arguments of a launch, in the order of the kernel's parameters. For an array the kernel receives the address of
 * element [0,...,0], without extents and strides. If the source, the mangled name or sim gives the type that the
 * parameter points to, an array of another type is LEAT_INVALID, such as f64 for a float *. Pointers to void,
 * characters and structs accept any array, arrays of bytes fit any pointer, and complex arrays fit pointers to their
 * parts. IN, OUT and INOUT say whether the kernel reads or writes the array; Leat orders the launch with other work
 * accordingly. Pass an address of your own as leat_u64; then you order the work on it yourself. */
typedef enum leat_argument_kind {
    LEAT_ARGUMENT_IN = 1,
    LEAT_ARGUMENT_OUT,
    LEAT_ARGUMENT_INOUT,
    LEAT_ARGUMENT_NUMBER,
    LEAT_ARGUMENT_BYTES /* a struct, laid out as the kernel declares it */
} leat_argument_kind;
typedef struct leat_argument {
    leat_argument_kind kind;
    leat_dtype dtype; /* NUMBER: its type */
    leat_array *array;
    const void *bytes; /* BYTES: copied before the launch returns */
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
    unsigned x, y, z; /* 0 means 1 */
} leat_dim3;
/* Enqueues a launch with count arguments in stream (NULL: the context's default stream). Leat checks the number, types
 * and sizes of the arguments and the device's limits before it calls the driver: LEAT_INVALID. shared_bytes is the
 * dynamic shared memory per block. More than 48 KB needs no extra call. */
LEAT_API leat_status leat_kernel_launch(leat_kernel *kernel, leat_dim3 grid, leat_dim3 block, size_t shared_bytes,
                                        leat_stream *stream, const leat_argument *arguments, size_t count);
/* The same, with all thread blocks resident at once, so that they may wait for each other. */
LEAT_API leat_status leat_kernel_launch_cooperative(leat_kernel *kernel, leat_dim3 grid, leat_dim3 block,
                                                    size_t shared_bytes, leat_stream *stream,
                                                    const leat_argument *arguments, size_t count);

/* ---- the ledger: a record of every cost; costs with the same kind, what and cause share a record. leat_array_save
 * takes no context and so records nothing: call leat_ledger_begin and leat_ledger_end around it (LEAT_COST_WRITE). */

typedef enum leat_cost_kind {
    LEAT_COST_INIT,    /* opening a context, including the driver's */
    LEAT_COST_LIBRARY, /* loading the driver and NVRTC */
    LEAT_COST_READ,
    LEAT_COST_CHECK,
    LEAT_COST_COMPILE,
    LEAT_COST_IN_MEMORY, /* compiled code found loaded in this process */
    LEAT_COST_ON_DISK,   /* compiled code found in the code cache */
    LEAT_COST_INTERPRET, /* a statement that the interpreter ran (leat_interpret) */
    LEAT_COST_MODULE,    /* loading compiled code onto the device */
    LEAT_COST_PLAN,      /* planning a program's kernels, and keeping the launches of a repeated call */
    LEAT_COST_ALLOCATE,
    LEAT_COST_PIN,
    LEAT_COST_LAUNCH, /* the host's part of a kernel on a device */
    LEAT_COST_KERNEL, /* the device's part; on the CPU, the whole kernel */
    LEAT_COST_COPY,   /* within one memory */
    LEAT_COST_UPLOAD,
    LEAT_COST_DOWNLOAD,
    LEAT_COST_WAIT,
    LEAT_COST_IDLE, /* a gap in a device's work; cause: what the host did meanwhile */
    LEAT_COST_UNLOAD,
    LEAT_COST_EVICT,
    LEAT_COST_WRITE,
    LEAT_COST_OTHER,
    LEAT_COST_KINDS
} leat_cost_kind;
typedef struct leat_cost {
    leat_cost_kind kind;
    const char *what;                           /* "y[i] = ..." or a file's name; valid until the ledger is cleared */
    const char *cause;                          /* "first use with these types", or "" */
    uint64_t count, time_ns, bytes, operations; /* time_ns excludes the time in other records; 0 at level 0. operations
                                                   are those of kernels; on the CPU a function counts as
                                                   the number of additions that take as long */
    bool on_device;                             /* time_ns is the device's time, measured with events (level 2) */
    bool in_background; /* the cost of a thread of the context, while the callers' threads went on or waited */
} leat_cost;
/* Level 0 counts costs (under 50 ns per cost). Level 1 also times the host. Level 2 also times the device with two
 * events around each operation; each costs about 2 us of host time, which has its own record ("timing the device"). */
LEAT_API leat_status leat_ledger_level_set(leat_context *ctx, int level);
/* Removes all records. */
LEAT_API leat_status leat_ledger_clear(leat_context *ctx);
/* The number of records, and record k, from 0, in the order of their first cost. */
LEAT_API leat_status leat_ledger_count(leat_context *ctx, size_t *count);
LEAT_API leat_status leat_ledger_get(leat_context *ctx, size_t k, leat_cost *cost);
/* The current time by the clock of the ledger's host times: CLOCK_MONOTONIC; on sim, its virtual clock. */
LEAT_API leat_status leat_ledger_clock(leat_context *ctx, uint64_t *time_ns);
/* The device's time at level 2, from the start of its first timed operation to the end of the last one that has
 * finished: span = busy + idle. busy is the union of all operations. idle is the sum of the gaps; each gap is in a
 * LEAT_COST_IDLE record with what the host did meanwhile. overlap is the sum of the records of kernels and copies minus
 * busy, because operations ran concurrently. dropped counts intervals lost for lack of memory. */
typedef struct leat_ledger_sums {
    uint64_t span_ns, busy_ns, idle_ns, overlap_ns, dropped;
} leat_ledger_sums;
LEAT_API leat_status leat_ledger_device(leat_context *ctx, leat_ledger_sums *sums);
/* Record a cost of the caller's own, from begin to end on the same thread. They nest; the time of an inner cost is not
 * part of the outer one. what is copied. */
LEAT_API leat_status leat_ledger_begin(leat_context *ctx, leat_cost_kind kind, const char *what);
LEAT_API leat_status leat_ledger_end(leat_context *ctx, uint64_t bytes);
LEAT_API const char *leat_cost_name(leat_cost_kind kind); /* "module load"; static */

/* The ledger as an account for people: a table of all costs, the time that no record covers, and a verdict on what
 * bounds the run and what would make it faster. Needs level 1; level 2 adds the device's time. It covers the time since
 * the context was opened, or since leat_ledger_clear. */
typedef enum leat_account_format {
    LEAT_ACCOUNT_TEXT,
    /* An object with the members "ledger" (a list of the records; the last one is the time that no other covers),
     * "device_time" (leat_ledger_sums, if there are any) and "verdict". The host's times add up to the wall time. */
    LEAT_ACCOUNT_JSON,
    LEAT_ACCOUNT_VERDICT /* the verdict's two lines only */
} leat_account_format;
typedef struct leat_account_options { /* {0} is a good default */
    size_t struct_size;               /* sizeof(leat_account_options), or 0 for the fields of version 0.1 */
    uint64_t before_ns; /* time that the caller spent before it opened the context; part of the wall time */
    const char *before; /* what it was spent on, such as "the command"; NULL: before_ns has no record */
    bool no_verdict;
    bool for_command; /* the verdict may name options of the `leat` command */
    bool is_repeated; /* the ledger has one call, which had run before: no advice to repeat it */
} leat_account_options;
/* Prints the account into *text. options may be NULL. Free *text with leat_memory_free. For a verdict and for the
 * table, the first call measures the CPU's rates, as leat_device_get does. */
LEAT_API leat_status leat_account_print(leat_context *ctx, leat_account_format format,
                                        const leat_account_options *options, char **text);

/* ---- traces: what a CUDA program did, and what would make it faster. These functions need no context; pass NULL to
 * leat_error_get. */

typedef struct leat_trace_options { /* {0} is a good default */
    size_t struct_size;             /* sizeof(leat_trace_options), or 0 for the fields of version 0.1 */
    const char *file;     /* the trace, which appears when complete and replaces an older file; NULL: "leat.trace" */
    const char *recorder; /* the shared object that is loaded into the program; NULL: Leat looks for it */
    uint64_t limit_bytes; /* limit per process; later records are counted only; 0: no limit */
    bool no_source;       /* do not record the source lines of the calls */
    bool paused;          /* record only from cuProfilerStart to cuProfilerStop */
    bool graphs_only;     /* record launches of graphs, not of single kernels */
} leat_trace_options;
typedef struct leat_trace_outcome {
    int exit_status;  /* the command's exit status; 128 + the signal that ended it */
    size_t processes; /* number of recorded processes; 0: none used CUDA */
    uint64_t bytes;   /* size of the file */
    char note[512];   /* one line that says what is missing, or "" */
} leat_trace_outcome;
/* Runs a command, waits for it, and records into a file what it and its children do on CUDA devices. command ends with
 * NULL; its first word is found by PATH. The command inherits standard input and output. If nothing can be recorded,
 * the command still runs and outcome->note gives the reason; this is not an error. options and outcome may be NULL.
 * LEAT_FILE if the command cannot be started or the file cannot be written. */
LEAT_API leat_status leat_trace_record(const char *const *command, const leat_trace_options *options,
                                       leat_trace_outcome *outcome);

typedef struct leat_trace leat_trace;
/* Opens a trace. Reads the intact part of a damaged file and notes what is missing. LEAT_FILE if the file is not a
 * trace. Several threads may share a leat_trace. */
LEAT_API leat_status leat_trace_open(const char *file, leat_trace **trace);
LEAT_API void leat_trace_free(leat_trace *trace); /* NULL is accepted */

typedef enum leat_report {
    LEAT_REPORT_OVERVIEW,   /* an overview in ten lines, then the findings */
    LEAT_REPORT_SUMMARY,    /* one line per name: time, calls, minimum, mean, maximum */
    LEAT_REPORT_OPERATIONS, /* one line per kernel and copy */
    LEAT_REPORT_FINDINGS,
    LEAT_REPORT_PERFETTO, /* JSON for Perfetto and chrome://tracing; the format is ignored */
    LEAT_REPORT_SVG       /* a timeline as a picture; the format is ignored */
} leat_report;
typedef enum leat_report_format { LEAT_REPORT_TEXT, LEAT_REPORT_CSV, LEAT_REPORT_JSON } leat_report_format;
/* Receives the bytes of a report in pieces. If it returns false, the report ends with LEAT_FILE. */
typedef bool leat_report_write(void *user, const void *bytes, size_t size_bytes);
/* Writes a report. The same trace always gives the same bytes. */
LEAT_API leat_status leat_trace_report(const leat_trace *trace, leat_report report, leat_report_format format,
                                       leat_report_write *write, void *user);
/* The same into a file, written as by leat_array_save_as. options may be NULL; its key and colormap are ignored. */
LEAT_API leat_status leat_trace_report_save(const leat_trace *trace, leat_report report, leat_report_format format,
                                            const char *path, const leat_save_options *options);

#ifdef __cplusplus
}
#endif
#endif
