/* Finds CUPTI in the recorded process: LEAT_CUDA_PATH, what the process has loaded already, beside NVIDIA's libraries
 * that it has loaded (Python's wheels lie side by side), the dynamic loader, CUDA_PATH, /usr/local/cuda*, then wheels
 * and packages in $VIRTUAL_ENV and $CONDA_PREFIX. Libraries are never closed. One thread. */
#ifndef LE_CUPTI_LIBRARY_H
#define LE_CUPTI_LIBRARY_H
#include "trace/recorder/cupti.h"
#include <stdbool.h>

struct le_cupti_library {
    struct le_cupti table;
    void *handle;
    uint32_t version; /* 28, 130001 */
    char reason[256]; /* why there is none; "" where there is */
};

/* Whether a library, whose table is filled, will do. If not, it writes the reason, and the search goes on. */
typedef bool le_cupti_take(void *user, struct le_cupti_library *library);
bool le_cupti_library_open(struct le_cupti_library *library, le_cupti_take *take, void *user);
#endif
