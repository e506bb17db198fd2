/* sim: a CUDA driver, an NVRTC and a cuBLAS on the CPU, as tables of the same shape as the real ones, so that
 * device/cuda runs unchanged over it. One simulated device for the process, as a driver has no handle of its own.
 * Everything that the driver table offers takes one lock; kernels run on one thread of sim's own (the executor),
 * started at first use. docs/SIM.md says which CUDA C it takes and what its checks find. */
#ifndef LE_SIM_H
#define LE_SIM_H
#include "base/status.h"
#include "device/driver/cublas.h"
#include "device/driver/cuda_driver.h"
#include "device/driver/nvrtc.h"

/* The Nth (from 1) of its kind fails; 0: none does. */
struct le_sim_faults {
    uint64_t allocation, launch, copy, module; /* OUT_OF_MEMORY; LAUNCH_FAILED; LAUNCH_FAILED; INVALID_IMAGE */
    uint64_t sticky_launch; /* the Nth kernel ends in ILLEGAL_ADDRESS as it runs: every later call fails with it */
    uint64_t call;          /* of all calls of the driver's but those that release the context or tell errors' names */
    le_cu_result call_result;     /* what that one gives; 0: UNKNOWN */
    bool call_sticks;             /* every later call fails with it */
    uint64_t nvrtc, cublas;       /* of all calls but those that destroy */
    le_nvrtc_result nvrtc_result; /* what that one gives; 0: INTERNAL_ERROR */
    le_cublas_status cublas_result;
};

struct le_sim_options {
    bool check;    /* instrument kernels and report their bugs; also LEAT_SIM_CHECK=1 */
    uint64_t seed; /* of the order that work, blocks and threads run in; also LEAT_SIM_SEED; 0: from the variable */
    size_t memory_bytes; /* of the device; 0: 4 GiB */
    uint64_t kernel_ns;  /* what each kernel takes on the virtual clock; 0: sim's estimate; also LEAT_SIM_KERNEL_NS */
    uint64_t context_ms; /* real time that making the context takes besides; 0: none; also LEAT_SIM_CONTEXT_MS */
    bool only_on_wait;   /* nothing runs but when a call waits for it, however long the host makes none */
    struct le_sim_faults faults;
};

/* Calls since le_sim_configure, as faults count them; what a context held that was left when it was released last. */
struct le_sim_tally {
    uint64_t driver_calls, nvrtc_calls, cublas_calls;
    int contexts;                                      /* now */
    int allocations, modules, streams, events, graphs; /* left behind by the last context */
};

/* Takes effect for what is done from now on; options NULL: as at the start, from the environment. */
leat_status le_sim_configure(const struct le_sim_options *options);
uint64_t le_sim_context_ms(void); /* as it is set now */
void le_sim_tally_get(struct le_sim_tally *tally);
const struct le_cuda_driver *le_sim_driver(void);
const struct le_nvrtc *le_sim_nvrtc(void);
const struct le_cublas *le_sim_cublas(void); /* its products are kernels of sim's own */
#endif
