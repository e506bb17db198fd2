/* Stands in for libcuda.so.1 in the tests of the library search. Environment variables decide its answers:
 *   FAKE_VERSION     the driver's version, 12040 by default
 *   FAKE_COUNT       the number of devices, 1 by default
 *   FAKE_INIT        the error that cuInit returns, 0 by default
 *   FAKE_STUB        the error that every function returns
 *   FAKE_MISSING     a symbol that it lacks
 *   FAKE_CAPABILITY  the compute capability, 90 by default
 *   FAKE_MODE        the compute mode, 0 by default
 * FAKE_ENTRY at compile time: 2 exports both versions of cuGetProcAddress, 1 the older one only, 0 none. */
#include "device/driver/cuda_driver.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT __attribute__((visibility("default")))

static int number(const char *name, int otherwise) {
    const char *value = getenv(name);
    return value ? atoi(value) : otherwise;
}

OUT le_cu_result cuDriverGetVersion(int *version);
OUT le_cu_result cuDriverGetVersion(int *version) {
    if (getenv("FAKE_STUB"))
        return LE_CU_ERROR_STUB_LIBRARY;
    *version = number("FAKE_VERSION", 12040);
    return 0;
}

static le_cu_result init(unsigned flags) {
    return flags ? LE_CU_ERROR_INVALID_VALUE : number("FAKE_INIT", 0);
}
static le_cu_result device_count(int *count) {
    *count = number("FAKE_COUNT", 1);
    return 0;
}
static le_cu_result device_get(le_cu_device *device, int ordinal) {
    *device = 40 + ordinal;
    return ordinal < number("FAKE_COUNT", 1) ? 0 : LE_CU_ERROR_INVALID_DEVICE;
}
static le_cu_result device_name(char *name, int length, le_cu_device device) {
    snprintf(name, (size_t)length, "Fake %d", device);
    return 0;
}
static le_cu_result device_uuid(le_cu_uuid *uuid, le_cu_device device) {
    memset(uuid, device, sizeof *uuid);
    return 0;
}
static le_cu_result device_pci(char *id, int length, le_cu_device device) {
    snprintf(id, (size_t)length, "0000:%02x:00.0", device);
    return 0;
}
static le_cu_result device_memory(size_t *size_bytes, le_cu_device device) {
    *size_bytes = (size_t)device << 30;
    return 0;
}
static le_cu_result device_attribute(int *value, le_cu_device_attribute which, le_cu_device device) {
    int capability = number("FAKE_CAPABILITY", 90);
    *value = which == LE_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR                ? capability / 10
             : which == LE_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR              ? capability % 10
             : which == LE_CU_DEVICE_ATTRIBUTE_COMPUTE_MODE                          ? number("FAKE_MODE", 0)
             : which == LE_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT                  ? 132
             : which == LE_CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO ? 2
                                                                                     : -1;
    return device < 40 ? LE_CU_ERROR_INVALID_DEVICE : 0;
}
static le_cu_result error_name(le_cu_result error, const char **name) {
    *name = error == 304 ? "CUDA_ERROR_OPERATING_SYSTEM" : NULL;
    return *name ? 0 : LE_CU_ERROR_INVALID_VALUE;
}
static le_cu_result error_string(le_cu_result error, const char **text) {
    *text = error == 304 ? "OS call failed or operation not supported on this OS" : NULL;
    return *text ? 0 : LE_CU_ERROR_INVALID_VALUE;
}
static le_cu_result not_here(void) {
    return LE_CU_ERROR_NOT_SUPPORTED;
}

static const struct {
    const char *symbol;
    int version;
} rows[] = {
#define LE_CU(name, symbol, version, need, parameters) {symbol, version},
#include "device/driver/cuda_driver.def"
#undef LE_CU
};
static const struct {
    const char *symbol;
    void (*function)(void);
} functions[] = {
#define F(symbol, function)                                                                                            \
    { symbol, (void (*)(void))function }
    F("cuInit", init),
    F("cuDriverGetVersion", cuDriverGetVersion),
    F("cuDeviceGetCount", device_count),
    F("cuDeviceGet", device_get),
    F("cuDeviceGetName", device_name),
    F("cuDeviceGetUuid", device_uuid),
    F("cuDeviceGetPCIBusId", device_pci),
    F("cuDeviceTotalMem", device_memory),
    F("cuDeviceGetAttribute", device_attribute),
    F("cuGetErrorName", error_name),
    F("cuGetErrorString", error_string),
#undef F
};

/* A symbol is there in the form of the table's version alone. */
static le_cu_result find(const char *symbol, void **function, int version) {
    const char *missing = getenv("FAKE_MISSING");
    void (*found)(void) = NULL;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strcmp(rows[k].symbol, symbol) == 0 && rows[k].version == version)
            found = (void (*)(void))not_here;
    for (size_t k = 0; found && k < sizeof functions / sizeof *functions; k++)
        if (strcmp(functions[k].symbol, symbol) == 0)
            found = functions[k].function;
    if (missing && strcmp(missing, symbol) == 0)
        found = NULL;
    memcpy(function, &found, sizeof found);
    return found ? 0 : LE_CU_ERROR_NOT_FOUND;
}

#if FAKE_ENTRY >= 2
OUT le_cu_GetProcAddress_12000 cuGetProcAddress_v2;
le_cu_result cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                                 le_cu_proc_address_result *result) {
    le_cu_result error = find(symbol, function, version);
    *result = error != 0;
    return flags ? LE_CU_ERROR_INVALID_VALUE : 0; /* as the real one: found or not is in *result */
}
#endif
#if FAKE_ENTRY == 0
#define cuGetProcAddress fake_get /* a name that is not looked up */
#endif
OUT le_cu_GetProcAddress_11030 cuGetProcAddress;
le_cu_result cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags) {
    return flags ? LE_CU_ERROR_INVALID_VALUE : find(symbol, function, version);
}
