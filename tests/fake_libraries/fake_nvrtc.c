/* Stands in for libnvrtc in the tests of the library search. It compiles nothing. Its version is FAKE_NVRTC_VERSION
 * or, by default, the number in its file's name and .0, so that links give one file several versions. Compiled with
 * FAKE_MISSING it lacks nvrtcGetCUBIN. */
#include "device/driver/nvrtc.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT __attribute__((visibility("default")))

OUT le_nvrtc_result nvrtcVersion(int *major, int *minor);
OUT le_nvrtc_result nvrtcVersion(int *major, int *minor) {
    Dl_info about;
    const char *told = getenv("FAKE_NVRTC_VERSION");
    *major = *minor = 0;
    if (told)
        return sscanf(told, "%d.%d", major, minor) == 2 ? LE_NVRTC_SUCCESS : LE_NVRTC_ERROR_INTERNAL_ERROR;
    if (!dladdr(__extension__(void *) nvrtcVersion, &about))
        return LE_NVRTC_ERROR_INTERNAL_ERROR;
    const char *ending = strstr(about.dli_fname, ".so.");
    *major = ending ? atoi(ending + 4) : 0;
    return LE_NVRTC_SUCCESS;
}

#define NOTHING(symbol)                                                                                                \
    OUT le_nvrtc_result symbol(void);                                                                                  \
    OUT le_nvrtc_result symbol(void) {                                                                                 \
        return LE_NVRTC_ERROR_INTERNAL_ERROR;                                                                          \
    }
NOTHING(nvrtcGetErrorString)
NOTHING(nvrtcCreateProgram)
NOTHING(nvrtcDestroyProgram)
NOTHING(nvrtcAddNameExpression)
NOTHING(nvrtcCompileProgram)
NOTHING(nvrtcGetLoweredName)
NOTHING(nvrtcGetProgramLogSize)
NOTHING(nvrtcGetProgramLog)
NOTHING(nvrtcGetPTXSize)
NOTHING(nvrtcGetPTX)
NOTHING(nvrtcGetCUBINSize)
NOTHING(nvrtcGetNumSupportedArchs)
NOTHING(nvrtcGetSupportedArchs)
#ifndef FAKE_MISSING
NOTHING(nvrtcGetCUBIN)
#endif
