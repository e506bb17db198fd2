/* Finds and loads CUDA at run time: libcuda.so.1, NVRTC, cuBLAS and the toolkit's headers. Fills the symbol tables of
 * device/driver/cuda_driver.h, device/driver/nvrtc.h and device/driver/cublas.h. Reports what was looked for, where,
 * and why something cannot be used. It creates no context, runs nothing on a device, and knows nothing of the
 * simulator, which fills such tables itself.
 *
 * Each search is made once per process, by the first thread that needs it. Its result stays valid and unchanged until
 * the process ends; libraries are never closed. Results live in static memory. Any thread.
 *
 * Libraries are found by soname through the dynamic loader, or by absolute paths, never in the working directory. The
 * order for NVRTC, cuBLAS and the headers: what the process has already loaded, LEAT_CUDA_PATH, the soname, CUDA_PATH,
 * /usr/local/cuda*, then wheels and packages in $VIRTUAL_ENV and $CONDA_PREFIX. Their CUDA major version may not be
 * newer than the driver's; without a driver, any will do. */
#ifndef LE_CUDA_LIBRARIES_H
#define LE_CUDA_LIBRARIES_H
#include "base/library_search.h"
#include "base/status.h"
#include "device/driver/cublas.h"
#include "device/driver/cuda_driver.h"
#include "device/driver/nvrtc.h"

#define LE_CUDA_VERSION_MIN    12000 /* driver 525 */
#define LE_CUDA_CAPABILITY_MIN 75    /* 10 * major + minor */

/* ---- the driver */

/* Opens the driver: loads libcuda.so.1, fills the table, calls cuInit. *cuda_version: as from cuDriverGetVersion; 12040
 * is CUDA 12.4. Fails with LEAT_DEVICE, and the reason as its message: no library, a toolkit's stub, a driver older
 * than LE_CUDA_VERSION_MIN, a required symbol missing, or cuInit failing (no device, CUDA_VISIBLE_DEVICES). The first
 * call takes about 0.1 s if there is a GPU, later ones nothing. A failure is permanent. */
leat_status le_cuda_driver_open(const struct le_cuda_driver **driver, int *cuda_version);

/* Facts about a device, available without a context. */
struct le_cuda_facts {
    int ordinal;
    le_cu_device device;
    char name[64];
    char uuid[48];       /* "GPU-6f4c...": as nvidia-smi writes it */
    char pci_id[24];     /* "0000:0f:00.0" */
    int capability;      /* 10 * major + minor: 90 */
    size_t memory_bytes; /* total memory */
    int multiprocessors;
    double memory_bytes_per_second,
        clock_hz;  /* of the memory at its clock and width; of the multiprocessors; 0: unknown */
    int f64_ratio; /* f32 operations in the time of one f64: 2, 32, 64; 0: unknown */
    bool usable;
    char reason[128]; /* why it is not usable; "" if it is */
};
/* Calls cuInit. If it fails, the message has the driver's reason. */
leat_status le_cuda_facts_init(const struct le_cuda_driver *driver);
/* Counts the devices that the driver reports (CUDA_VISIBLE_DEVICES may hide some). driver: an open real driver, or the
 * simulator's. */
leat_status le_cuda_facts_count(const struct le_cuda_driver *driver, int *count);
leat_status le_cuda_facts_get(const struct le_cuda_driver *driver, int ordinal, struct le_cuda_facts *facts);

/* Checks a value of CUDA_VISIBLE_DEVICES. true: it is malformed, and `why` gets one line that explains it. */
bool le_cuda_visible_error(const char *value, char *why, size_t size_bytes);

/* ---- NVRTC and headers */

/* Fails with LEAT_UNSUPPORTED, and a message that tells what to install or set, if there is no NVRTC that fits the
 * driver. Needs no device: without a driver, NVRTC compiles for any architecture. Does not call cuInit. The first call
 * takes 10 to 50 ms (the library has 100 MB). version: 1000 * major + 10 * minor, like the driver's. */
leat_status le_nvrtc_open(const struct le_nvrtc **nvrtc, int *version);
/* The absolute path of the folder with the toolkit's headers (<cuda_fp16.h>) that belong to this NVRTC, for -I. NULL:
 * none. */
const char *le_cuda_include_folder(void);
/* Loads cuBLAS at the first call. Fails with LEAT_UNSUPPORTED, and the reason, if there is none, it cannot be loaded,
 * or it lacks a symbol. */
leat_status le_cublas_open(const struct le_cublas **cublas);

/* ---- results of the searches */

enum le_cuda_library { LE_LIBRARY_DRIVER, LE_LIBRARY_NVRTC, LE_LIBRARY_CUBLAS, LE_LIBRARY_HEADERS, LE_CUDA_LIBRARIES };
/* The first call searches. version: 1000 * major + 10 * minor; minor is 0 if only the major version is known. path: the
 * library, or the folder of the headers. cuBLAS is only located, not loaded. */
const struct le_search *le_cuda_library_search(enum le_cuda_library what);
#endif
