/* Declarations of the part of CUPTI that the recorder uses, so that building Leat does not need CUPTI's headers. The
 * layouts of activity records are in cupti_layout.def. tests/cuda_headers compares both with a real cupti.h, if there
 * is one. cupti_library.c fills the table LE_CUPTI_SYMBOLS with dlsym; the tests' stand-in exports its functions. */
#ifndef LE_CUPTI_H
#define LE_CUPTI_H
#include <stddef.h>
#include <stdint.h>

typedef int le_cupti_result;
typedef int le_cupti_kind; /* of an activity */
typedef int le_cupti_domain;
typedef int le_cupti_thread_id_type;
typedef int le_cupti_attribute;
typedef void le_cupti_activity;
struct CUctx_st;
struct CUstream_st;
struct CUpti_Subscriber_st;
typedef struct CUctx_st *le_cupti_context;
typedef struct CUstream_st *le_cupti_stream;
typedef struct CUpti_Subscriber_st *le_cupti_subscriber;

/* X(our name, CUPTI's, value) */
#define LE_CUPTI_CONSTANTS(X)                                                                                          \
    X(SUCCESS, CUPTI_SUCCESS, 0)                                                                                       \
    X(ERROR_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED, 12)                                                      \
    X(ERROR_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, 35)                                          \
    X(ERROR_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39)                                  \
    X(ERROR_VIRTUALIZED_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, 40)                        \
    X(KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY, 1)                                                                      \
    X(KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET, 2)                                                                      \
    X(KIND_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER, 4)                                                                      \
    X(KIND_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME, 5)                                                                    \
    X(KIND_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE, 8)                                                                      \
    X(KIND_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT, 9)                                                                    \
    X(KIND_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 10)                                                          \
    X(KIND_NAME, CUPTI_ACTIVITY_KIND_NAME, 11)                                                                         \
    X(KIND_MARKER, CUPTI_ACTIVITY_KIND_MARKER, 12)                                                                     \
    X(KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD, 17)                                                                 \
    X(KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2, 22)                                                                   \
    X(KIND_STREAM, CUPTI_ACTIVITY_KIND_STREAM, 37)                                                                     \
    X(KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2, 49)                                                                   \
    X(KIND_GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 51)                                                                 \
    X(FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED, 1)                                                               \
    X(COPY_ASYNC, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC, 1)                                                                 \
    X(MARKER_INSTANT, CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, 1)                                                     \
    X(MARKER_START, CUPTI_ACTIVITY_FLAG_MARKER_START, 2)                                                               \
    X(MARKER_END, CUPTI_ACTIVITY_FLAG_MARKER_END, 4)                                                                   \
    X(OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD, 2)                                                                  \
    X(COPY_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1)                                                                   \
    X(COPY_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 2)                                                                   \
    X(COPY_HTOA, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA, 3)                                                                   \
    X(COPY_ATOH, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH, 4)                                                                   \
    X(COPY_ATOA, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA, 5)                                                                   \
    X(COPY_ATOD, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD, 6)                                                                   \
    X(COPY_DTOA, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA, 7)                                                                   \
    X(COPY_DTOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, 8)                                                                   \
    X(COPY_HTOH, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, 9)                                                                   \
    X(COPY_PTOP, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, 10)                                                                  \
    X(MEMORY_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE, 1)                                                         \
    X(MEMORY_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, 2)                                                             \
    X(MEMORY_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, 3)                                                             \
    X(MEMORY_ARRAY, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY, 4)                                                               \
    X(MEMORY_MANAGED, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED, 5)                                                           \
    X(MEMORY_DEVICE_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC, 6)                                               \
    X(MEMORY_MANAGED_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC, 7)                                             \
    X(ALLOCATION, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, 1)                                                  \
    X(RELEASE, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, 2)                                                        \
    X(STREAM_DEFAULT, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT, 1)                                                    \
    X(STREAM_NON_BLOCKING, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING, 2)                                          \
    X(OVERHEAD_COMPILER, CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER, 1)                                                   \
    X(OVERHEAD_FLUSH, CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, 1 << 16)                                             \
    X(OVERHEAD_INSTRUMENT, CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION, 2 << 16)                                     \
    X(OVERHEAD_RESOURCE, CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE, 3 << 16)                                              \
    X(DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API, 1)                                                                    \
    X(DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API, 2)                                                                  \
    X(ENTER, CUPTI_API_ENTER, 0)                                                                                       \
    X(EXIT, CUPTI_API_EXIT, 1)                                                                                         \
    X(THREAD_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM, 1)                                                          \
    X(ATTRIBUTE_ZEROED, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 5)

/* Constants of newer versions: all of them exist from this version on. */
#define LE_CUPTI_YOUNGEST_CONSTANT 24
#define LE_CUPTI_YOUNGER_CONSTANTS(X)                                                                                  \
    X(KIND_JIT, CUPTI_ACTIVITY_KIND_JIT, 52)                                                                           \
    X(OVERHEAD_MODULE_LOADING, CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING, 4 << 16)                      \
    X(OVERHEAD_FUNCTION_LOADING, CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING, 5 << 16)                               \
    X(OVERHEAD_QUEUE_FULL, CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL, 6 << 16)                                       \
    X(OVERHEAD_BUFFER_REQUEST, CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST, 7 << 16)

enum {
#define X(name, theirs, value) LE_CUPTI_##name = value,
    LE_CUPTI_CONSTANTS(X) LE_CUPTI_YOUNGER_CONSTANTS(X)
#undef X
};

/* The data passed to a callback for a driver or runtime function. */
struct le_cupti_callback {
    int site; /* LE_CUPTI_ENTER, LE_CUPTI_EXIT */
    const char *function_name;
    const void *parameters; /* a structure of the function's parameters */
    void *result;
    const char *symbol_name;
    le_cupti_context context;
    uint32_t context_id;
    uint64_t *data;
    uint32_t correlation;
};
/* X(our member, CUPTI's) */
#define LE_CUPTI_CALLBACK_MEMBERS(X)                                                                                   \
    X(site, callbackSite)                                                                                              \
    X(function_name, functionName)                                                                                     \
    X(parameters, functionParams)                                                                                      \
    X(result, functionReturnValue)                                                                                     \
    X(symbol_name, symbolName)                                                                                         \
    X(context, context)                                                                                                \
    X(context_id, contextUid)                                                                                          \
    X(data, correlationData)                                                                                           \
    X(correlation, correlationId)

typedef void le_cupti_callback_function(void *user, le_cupti_domain domain, uint32_t id, const void *data);
typedef void le_cupti_request_function(uint8_t **buffer, size_t *size_bytes, size_t *most_records);
typedef void le_cupti_complete_function(le_cupti_context context, uint32_t stream, uint8_t *buffer, size_t size_bytes,
                                        size_t valid_bytes);

/* X(our name, symbol, need, parameters) */
#define LE_CUPTI_SYMBOLS(X)                                                                                            \
    X(get_version, cuptiGetVersion, REQUIRED, (uint32_t * version))                                                    \
    X(get_timestamp, cuptiGetTimestamp, REQUIRED, (uint64_t * time_ns))                                                \
    X(get_result_string, cuptiGetResultString, OPTIONAL, (le_cupti_result result, const char **text))                  \
    X(set_thread_id_type, cuptiSetThreadIdType, OPTIONAL, (le_cupti_thread_id_type type))                              \
    X(subscribe, cuptiSubscribe, REQUIRED,                                                                             \
      (le_cupti_subscriber * subscriber, le_cupti_callback_function * function, void *user))                           \
    X(unsubscribe, cuptiUnsubscribe, REQUIRED, (le_cupti_subscriber subscriber))                                       \
    X(enable_callback, cuptiEnableCallback, REQUIRED,                                                                  \
      (uint32_t enable, le_cupti_subscriber subscriber, le_cupti_domain domain, uint32_t id))                          \
    X(get_callback_name, cuptiGetCallbackName, REQUIRED, (le_cupti_domain domain, uint32_t id, const char **name))     \
    X(activity_enable, cuptiActivityEnable, REQUIRED, (le_cupti_kind kind))                                            \
    X(activity_disable, cuptiActivityDisable, REQUIRED, (le_cupti_kind kind))                                          \
    X(activity_register, cuptiActivityRegisterCallbacks, REQUIRED,                                                     \
      (le_cupti_request_function * request, le_cupti_complete_function * complete))                                    \
    X(activity_next, cuptiActivityGetNextRecord, REQUIRED,                                                             \
      (uint8_t * buffer, size_t valid_bytes, le_cupti_activity * *record))                                             \
    X(activity_dropped, cuptiActivityGetNumDroppedRecords, REQUIRED,                                                   \
      (le_cupti_context context, uint32_t stream, size_t * dropped))                                                   \
    X(activity_flush, cuptiActivityFlushAll, REQUIRED, (uint32_t flag))                                                \
    X(set_attribute, cuptiActivitySetAttribute, OPTIONAL,                                                              \
      (le_cupti_attribute attribute, size_t * size_bytes, void *value))                                                \
    X(get_stream_id, cuptiGetStreamIdEx, OPTIONAL,                                                                     \
      (le_cupti_context context, le_cupti_stream stream, uint8_t per_thread, uint32_t * id))

/* Functions of newer versions: they exist from this version on. */
#define LE_CUPTI_YOUNGEST_SYMBOL 23
#define LE_CUPTI_YOUNGER_SYMBOLS(X)                                                                                    \
    X(select_driver, cuptiActivityEnableDriverApi, OPTIONAL, (uint32_t id, uint8_t is_on))                             \
    X(select_runtime, cuptiActivityEnableRuntimeApi, OPTIONAL, (uint32_t id, uint8_t is_on))

struct le_cupti {
#define X(name, symbol, need, parameters) le_cupti_result(*name) parameters;
    LE_CUPTI_SYMBOLS(X) LE_CUPTI_YOUNGER_SYMBOLS(X)
#undef X
};
#endif
