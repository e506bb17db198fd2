/* The driver: libcuda.so.1, its version, its symbols, cuInit. Two steps, each done once: loading, which suffices for
 * the driver's version, and opening. */
#include "device/cuda/toolkit_search.h"
#include "base/environment.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRIVER "libcuda.so.1"

static struct le_search_line lines[LE_SEARCH_LINES];
static struct {
    struct le_cuda_driver table;
    int version; /* 0: no usable driver */
    pid_t process;
    struct le_search search;
} driver_library = {.search = {.lines = lines, .line_capacity = LE_SEARCH_LINES}};

const char *le_cuda_version_text(int version, char text[24]) {
    snprintf(text, 24, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    return text;
}

static void set_reason(const char *reason) {
    snprintf(driver_library.search.reason, sizeof driver_library.search.reason, "%s", reason);
}

/* ---- loading */

static const struct le_library_symbol symbols[] = {
#define LE_CU(name, symbol, version, need, parameters) {symbol, offsetof(struct le_cuda_driver, name), need, version},
#include "device/driver/cuda_driver.def"
#undef LE_CU
};

/* A required symbol may not be newer than the oldest supported driver. */
#define LE_CU(name, symbol, version, need, parameters)                                                                 \
    _Static_assert(need == OPTIONAL || version <= LE_CUDA_VERSION_MIN, symbol);
#include "device/driver/cuda_driver.def"
#undef LE_CU

struct entries {
    le_cu_GetProcAddress_12000 *get;
    le_cu_GetProcAddress_11030 *get_old;
};

static void *find_symbol(void *user, const struct le_library_symbol *symbol) {
    const struct entries *entries = user;
    void *function = NULL;
    char version[24];
    le_cu_proc_address_result result = 0;
    le_cu_result error =
        entries->get ? entries->get(symbol->name, &function, symbol->version, LE_CU_GET_PROC_ADDRESS_DEFAULT, &result)
                     : entries->get_old(symbol->name, &function, symbol->version, LE_CU_GET_PROC_ADDRESS_DEFAULT);
    if (error == LE_CU_SUCCESS && function)
        return function;
    le_search_log(&driver_library.search, symbol->name, driver_library.search.path, "missing as of %s%s",
                  le_cuda_version_text(symbol->version, version), symbol->need == REQUIRED ? "" : " (not required)");
    return NULL;
}

/* Returns false, and sets the reason, if a required symbol is missing. */
static bool fill_table(void *library) {
    struct entries entries;
    char version[24], reason[sizeof driver_library.search.reason];
    *(void **)&entries.get = dlsym(library, "cuGetProcAddress_v2");
    *(void **)&entries.get_old = dlsym(library, "cuGetProcAddress");
    if (!entries.get && !entries.get_old) {
        le_search_log(&driver_library.search, "cuGetProcAddress", driver_library.search.path, "missing");
        set_reason("the driver's " DRIVER " lacks cuGetProcAddress");
        return false;
    }
    const struct le_library_symbol *missing =
        le_library_fill(symbols, ARRAY_LEN(symbols), find_symbol, &entries, &driver_library.table);
    if (!missing)
        return true;
    snprintf(reason, sizeof reason, "the driver's " DRIVER " lacks %s of %s", missing->name,
             le_cuda_version_text(missing->version, version));
    set_reason(reason);
    return false;
}

/* The library's version. 0, with the reason set, if it is not usable. */
static int check_version(void *library) {
    int version = 0;
    le_cu_result (*get_version)(int *version);
    char text[24], reason[sizeof driver_library.search.reason];
    *(void **)&get_version = dlsym(library, "cuDriverGetVersion");
    le_cu_result error = get_version ? get_version(&version) : LE_CU_ERROR_NOT_FOUND;
    if (error == LE_CU_ERROR_STUB_LIBRARY) {
        le_search_log(&driver_library.search, DRIVER, driver_library.search.path, "a toolkit's stub, for linking only");
        set_reason(DRIVER " is a toolkit's stub, not a driver: remove its folder from LD_LIBRARY_PATH");
    } else if (error) {
        le_search_log(&driver_library.search, DRIVER, driver_library.search.path, "returns no version: error %d",
                      error);
        set_reason("the driver's " DRIVER " returns no version");
    } else if (version < LE_CUDA_VERSION_MIN) {
        snprintf(reason, sizeof reason, "driver too old: %s; CUDA 12.0 (driver 525) or later is needed",
                 le_cuda_version_text(version, text));
        le_search_log(&driver_library.search, DRIVER, driver_library.search.path, "%s", reason);
        set_reason(reason);
    } else {
        driver_library.search.version = version;
        return version;
    }
    return 0;
}

static void load_driver(void) {
    char why[sizeof driver_library.search.reason - 64], reason[sizeof driver_library.search.reason], text[24];
    void *library = le_library_load(DRIVER, RTLD_LAZY, why, sizeof why);
    if (!library) {
        le_search_log(&driver_library.search, DRIVER, NULL, "%s", why);
        snprintf(reason, sizeof reason, "there is no CUDA driver: " DRIVER ": %s", why);
        set_reason(reason);
        return;
    }
    if (!le_library_path(library, driver_library.search.path))
        snprintf(driver_library.search.path, sizeof driver_library.search.path, DRIVER);
    int version = check_version(library);
    if (!version || !fill_table(library))
        return;
    driver_library.version = version;
    le_search_log(&driver_library.search, DRIVER, driver_library.search.path, "found, %s",
                  le_cuda_version_text(version, text));
}

static void load_driver_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_driver);
}

int le_cuda_driver_version(void) {
    load_driver_once();
    return driver_library.version;
}

/* ---- opening */

/* If CUDA_VISIBLE_DEVICES is set, blames it for the lack of devices. false: it is not set. */
static bool explain_hidden_devices(char *reason, size_t size_bytes) {
    char why[160];
    const char *visible = le_environment_get("CUDA_VISIBLE_DEVICES");
    if (!visible)
        return false;
    if (le_cuda_visible_error(visible, why, sizeof why))
        snprintf(reason, size_bytes, "no CUDA device is visible: CUDA_VISIBLE_DEVICES is malformed: %s", why);
    else
        snprintf(reason, size_bytes, "no CUDA device is visible: CUDA_VISIBLE_DEVICES is \"%.80s\"", visible);
    return true;
}

static void log_visible_devices(void) {
    char why[160];
    const char *visible = le_environment_get("CUDA_VISIBLE_DEVICES");
    if (visible && le_cuda_visible_error(visible, why, sizeof why))
        le_search_log(&driver_library.search, "CUDA_VISIBLE_DEVICES", visible, "malformed: %s", why);
    else if (visible)
        le_search_log(&driver_library.search, "CUDA_VISIBLE_DEVICES", visible, "%s",
                      visible[0] && strcmp(visible, "-1") != 0 ? "used" : "hides every device");
}

static void explain_init_error(le_cu_result error, char *reason, size_t size_bytes) {
    const char *name = NULL, *text = NULL;
    if (error == LE_CU_ERROR_STUB_LIBRARY)
        snprintf(reason, size_bytes,
                 DRIVER " is a toolkit's stub, not a driver: remove its folder from LD_LIBRARY_PATH");
    else if (error == LE_CU_ERROR_SYSTEM_DRIVER_MISMATCH)
        snprintf(reason, size_bytes,
                 "the driver's library and its kernel module have different versions: reboot, or "
                 "reinstall the driver");
    else if ((error == LE_CU_ERROR_NO_DEVICE || error == LE_CU_ERROR_INVALID_DEVICE) &&
             explain_hidden_devices(reason, size_bytes)) /* INVALID_DEVICE: a device was listed twice */
        return;
    else if (error == LE_CU_ERROR_NO_DEVICE)
        snprintf(reason, size_bytes, "there is a CUDA driver, but no CUDA device");
    else {
        driver_library.table.GetErrorName(error, &name);
        driver_library.table.GetErrorString(error, &text);
        snprintf(reason, size_bytes, "the CUDA driver failed to initialize: %s (%s, %d)", text ? text : "unknown error",
                 name ? name : "no name", error);
    }
}

static void open_driver(void) {
    char reason[sizeof driver_library.search.reason];
    int count = 0;
    load_driver_once();
    if (!driver_library.version)
        return;
    log_visible_devices();
    driver_library.process = getpid();
    le_cu_result error = driver_library.table.Init(0);
    if (!error)
        error = driver_library.table.DeviceGetCount(&count);
    if (!error && count == 0)
        error = LE_CU_ERROR_NO_DEVICE;
    if (error) {
        explain_init_error(error, reason, sizeof reason);
        set_reason(reason);
    }
    le_search_log(&driver_library.search, "cuInit", NULL, "%s", error ? reason : "done");
    driver_library.search.found = !error;
}

const struct le_search *le_find_driver(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_driver);
    return &driver_library.search;
}

leat_status le_cuda_driver_open(const struct le_cuda_driver **driver, int *cuda_version) {
    const struct le_search *search = le_find_driver();
    if (!search->found)
        return le_fail(LEAT_DEVICE, "%s", search->reason);
    if (driver_library.process != getpid())
        return le_fail(LEAT_DEVICE, "CUDA was opened before a fork: the child process cannot use it");
    *driver = &driver_library.table;
    *cuda_version = driver_library.version;
    return LEAT_OK;
}

const struct le_search *le_cuda_library_search(enum le_cuda_library what) {
    switch (what) {
    case LE_LIBRARY_DRIVER:
        return le_find_driver();
    case LE_LIBRARY_NVRTC:
        return le_find_nvrtc();
    case LE_LIBRARY_CUBLAS:
        return le_find_cublas();
    default:
        return le_find_headers();
    }
}
