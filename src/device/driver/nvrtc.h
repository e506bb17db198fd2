/* NVRTC's interface as Leat declares it, in the same way as cuda_driver.h. Filled from libnvrtc (device/cuda) or by the
 * simulator (device/sim), whose "cubin" is a shared object for the host. Names are NVRTC's. If a real nvrtc.h is
 * present, tests/cuda_headers compares every declaration and constant with it. */
#ifndef LE_NVRTC_H
#define LE_NVRTC_H
#include "base/text.h"

typedef int le_nvrtc_result;
typedef struct _nvrtcProgram *le_nvrtc_program;
#define LE_NVRTC_CONSTANTS(X)                                                                                          \
    X(SUCCESS, NVRTC_SUCCESS, 0)                                                                                       \
    X(ERROR_OUT_OF_MEMORY, NVRTC_ERROR_OUT_OF_MEMORY, 1)                                                               \
    X(ERROR_INVALID_INPUT, NVRTC_ERROR_INVALID_INPUT, 3)                                                               \
    X(ERROR_INVALID_OPTION, NVRTC_ERROR_INVALID_OPTION, 5)                                                             \
    X(ERROR_COMPILATION, NVRTC_ERROR_COMPILATION, 6)                                                                   \
    X(ERROR_NAME_EXPRESSION_NOT_VALID, NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID, 10)                                      \
    X(ERROR_INTERNAL_ERROR, NVRTC_ERROR_INTERNAL_ERROR, 11)                                                            \
    X(ERROR_CANCELLED, NVRTC_ERROR_CANCELLED, 16)

enum le_nvrtc_constant {
#define X(name, theirs, value) LE_NVRTC_##name = value,
    LE_NVRTC_CONSTANTS(X)
#undef X
};

/* X(our name, symbol, need, result, parameters); OPTIONAL: NULL in an NVRTC that lacks it */
#define LE_NVRTC_SYMBOLS(X)                                                                                            \
    X(GetErrorString, "nvrtcGetErrorString", REQUIRED, const char *, (le_nvrtc_result result))                         \
    X(Version, "nvrtcVersion", REQUIRED, le_nvrtc_result, (int *major, int *minor))                                    \
    X(CreateProgram, "nvrtcCreateProgram", REQUIRED, le_nvrtc_result,                                                  \
      (le_nvrtc_program * program, const char *source, const char *name, int header_count, const char *const *headers, \
       const char *const *include_names))                                                                              \
    X(DestroyProgram, "nvrtcDestroyProgram", REQUIRED, le_nvrtc_result, (le_nvrtc_program * program))                  \
    X(AddNameExpression, "nvrtcAddNameExpression", REQUIRED, le_nvrtc_result,                                          \
      (le_nvrtc_program program, const char *expression))                                                              \
    X(CompileProgram, "nvrtcCompileProgram", REQUIRED, le_nvrtc_result,                                                \
      (le_nvrtc_program program, int option_count, const char *const *options))                                        \
    X(GetLoweredName, "nvrtcGetLoweredName", REQUIRED, le_nvrtc_result,                                                \
      (le_nvrtc_program program, const char *expression, const char **lowered))                                        \
    X(GetProgramLogSize, "nvrtcGetProgramLogSize", REQUIRED, le_nvrtc_result,                                          \
      (le_nvrtc_program program, size_t * size_bytes))                                                                 \
    X(GetProgramLog, "nvrtcGetProgramLog", REQUIRED, le_nvrtc_result, (le_nvrtc_program program, char *log))           \
    X(GetPTXSize, "nvrtcGetPTXSize", REQUIRED, le_nvrtc_result, (le_nvrtc_program program, size_t * size_bytes))       \
    X(GetPTX, "nvrtcGetPTX", REQUIRED, le_nvrtc_result, (le_nvrtc_program program, char *ptx))                         \
    X(GetCUBINSize, "nvrtcGetCUBINSize", REQUIRED, le_nvrtc_result, (le_nvrtc_program program, size_t * size_bytes))   \
    X(GetCUBIN, "nvrtcGetCUBIN", REQUIRED, le_nvrtc_result, (le_nvrtc_program program, char *cubin))                   \
    X(GetNumSupportedArchs, "nvrtcGetNumSupportedArchs", REQUIRED, le_nvrtc_result, (int *count))                      \
    X(GetSupportedArchs, "nvrtcGetSupportedArchs", REQUIRED, le_nvrtc_result, (int *architectures))                    \
    X(SetFlowCallback, "nvrtcSetFlowCallback", OPTIONAL, le_nvrtc_result,                                              \
      (le_nvrtc_program program, int (*callback)(void *payload, void *unused), void *payload))

struct le_nvrtc {
#define X(name, symbol, need, type, parameters) type(*name) parameters;
    LE_NVRTC_SYMBOLS(X)
#undef X
    /* Simulator only: identifies its compiler, so that code made by another compiler is not reused. false: unknown.
     * NULL in a real NVRTC, which is identified by its file. */
    bool (*identify)(struct le_text *text);
};
#endif
