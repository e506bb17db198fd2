/* The door to CUDA: finds libcuda.so.1, NVRTC, cuBLAS and the toolkit's headers at run time, fills the symbol tables
 * of device/driver/cuda_driver.h, device/driver/nvrtc.h and device/driver/cublas.h, and says what was looked for,
 * where, and why something cannot be used. It makes no context, runs nothing on a device, and knows nothing of the
 * simulator, which fills such tables itself.
 *
 * Each search is made once a process, at its first use, by whichever thread comes first; what it found stays valid and
 * unchanged to the end of the process: libraries are never closed. Results live in static memory. Any thread.
 *
 * Libraries are taken by soname through the dynamic loader, or by absolute paths: never from the working directory.
 * NVRTC, cuBLAS and headers: what the process has loaded already, LEAT_CUDA_PATH, soname, CUDA_PATH, /usr/local/cuda*,
 * then wheels and packages in $VIRTUAL_ENV and $CONDA_PREFIX. Their CUDA major may not be above the driver's; where
 * there is no driver any will do. */
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

/* Opens the driver: loads libcuda.so.1, fills the table, cuInit. *cuda_version as cuDriverGetVersion gives it: 12040 is
 * CUDA 12.4. LEAT_DEVICE, with the reason as its message, where that cannot be: no library, a toolkit's stub, a driver
 * below LE_CUDA_VERSION_MIN, a required symbol that is missing, cuInit failing (no device, CUDA_VISIBLE_DEVICES). The
 * first call takes about 0.1 s where there is a GPU, later ones nothing; a failure stays one. */
leat_status le_cuda_driver_open(const struct le_cuda_driver **driver, int *cuda_version);

/* What is known of a device before a context is made on it. */
struct le_cuda_facts {
    int ordinal;
    le_cu_device device;
    char name[64];
    char uuid[48];       /* "GPU-6f4c...": as nvidia-smi writes it */
    char pci_id[24];     /* "0000:0f:00.0" */
    int capability;      /* 10 * major + minor: 90 */
    size_t memory_bytes; /* all of it, free or not */
    int multiprocessors;
    int f64_ratio; /* f32 operations in the time of one f64: 2, 32, 64; 0: unknown */
    bool usable;
    char reason[128]; /* why it is not, in words; "" where it is */
};
/* cuInit, with the driver's reason where it fails. */
leat_status le_cuda_facts_init(const struct le_cuda_driver *driver);
/* Devices that the driver shows (CUDA_VISIBLE_DEVICES may hide some); driver: an open door's, or the simulator's. */
leat_status le_cuda_facts_count(const struct le_cuda_driver *driver, int *count);
leat_status le_cuda_facts_get(const struct le_cuda_driver *driver, int ordinal, struct le_cuda_facts *facts);

/* What is wrong with a value of CUDA_VISIBLE_DEVICES: writes one line to why, and gives true; false: nothing is. */
bool le_cuda_visible_error(const char *value, char *why, size_t size_bytes);

/* ---- NVRTC and headers */

/* LEAT_UNSUPPORTED, with what to install or set as its message, where there is no NVRTC that fits the driver. It needs
 * no device: with no driver at all, it compiles for any architecture. Does not call cuInit. The first call takes 10 to
 * 50 ms (the library is of 100 MB). version: 1000 * major + 10 * minor, as the driver's. */
leat_status le_nvrtc_open(const struct le_nvrtc **nvrtc, int *version);
/* The folder with the toolkit's headers (<cuda_fp16.h>) that belong to this NVRTC, absolute, for -I; NULL: none. */
const char *le_cuda_include_folder(void);
/* Loads cuBLAS at the first call, where it was located. LEAT_UNSUPPORTED, with the reason: there is none, or it cannot
 * be loaded or lacks something. */
leat_status le_cublas_open(const struct le_cublas **cublas);

/* ---- what was looked for */

enum le_cuda_library { LE_LIBRARY_DRIVER, LE_LIBRARY_NVRTC, LE_LIBRARY_CUBLAS, LE_LIBRARY_HEADERS, LE_CUDA_LIBRARIES };
/* Makes the search at the first call. Its version: 1000 * major + 10 * minor; minor 0 if only the major is known. Its
 * path: the library's, or the folder of the headers. cuBLAS is located only, not loaded. */
const struct le_search *le_cuda_library_search(enum le_cuda_library what);
#endif
