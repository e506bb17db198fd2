/* sim: a CUDA driver, an NVRTC and a cuBLAS that run on the CPU. Their function tables have the shape of the real ones,
 * so device/cuda runs on them unchanged. A process has one simulated device, because a CUDA driver has no handle of its
 * own. Every function of the driver table takes the same lock. Kernels run on a thread of sim's own (the executor),
 * which starts at first use. docs/SIM.md describes the supported CUDA C and the checks. */
#ifndef LE_SIM_H
#define LE_SIM_H
#include "base/status.h"
#include "device/driver/cublas.h"
#include "device/driver/cuda_driver.h"
#include "device/driver/nvrtc.h"

/* Which operation of each kind fails, counted from 1; 0: none. */
struct le_sim_faults {
    uint64_t allocation, launch, copy, module; /* OUT_OF_MEMORY; LAUNCH_FAILED; LAUNCH_FAILED; INVALID_IMAGE */
    uint64_t sticky_launch;       /* this kernel ends with ILLEGAL_ADDRESS, and every later call fails with it */
    uint64_t call;                /* counts all driver calls except releasing the context and naming errors */
    le_cu_result call_result;     /* what that call returns; 0: UNKNOWN */
    bool call_sticks;             /* every later call fails with it */
    uint64_t nvrtc, cublas;       /* count all calls except those that destroy */
    le_nvrtc_result nvrtc_result; /* what that call returns; 0: INTERNAL_ERROR */
    le_cublas_status cublas_result;
};

struct le_sim_options {
    bool check;          /* instrument kernels and report their bugs; also LEAT_SIM_CHECK=1 */
    uint64_t seed;       /* decides in which order work, blocks and threads run; 0: LEAT_SIM_SEED */
    size_t memory_bytes; /* size of device memory; 0: 4 GiB */
    uint64_t kernel_ns;  /* each kernel's time on the virtual clock; 0: LEAT_SIM_KERNEL_NS, else an estimate */
    uint64_t context_ms; /* extra real time for creating the context; 0: LEAT_SIM_CONTEXT_MS, else none */
    bool only_on_wait;   /* run work only when a call waits for it, however long the host is silent */
    struct le_sim_faults faults;
};

/* Calls since le_sim_configure, counted as le_sim_faults counts them, and objects that the last context still held when
 * it was released. */
struct le_sim_tally {
    uint64_t driver_calls, nvrtc_calls, cublas_calls;
    int contexts;                                      /* current uses of the primary context */
    int allocations, modules, streams, events, graphs; /* still held by the last context when it was released */
};

/* Applies to everything done from now on. options NULL: those of the environment, as at the start of the process. */
leat_status le_sim_configure(const struct le_sim_options *options);
/* LEAT_INVALID: a variable LEAT_SIM_* has an invalid value. */
leat_status le_sim_environment_check(void);
uint64_t le_sim_context_ms(void); /* the current setting */
void le_sim_tally_get(struct le_sim_tally *tally);
const struct le_cuda_driver *le_sim_driver(void);
const struct le_nvrtc *le_sim_nvrtc(void);
const struct le_cublas *le_sim_cublas(void); /* computes products with kernels of sim's own */
#endif
