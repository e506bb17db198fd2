/* Finds CUPTI in the recorded process. Searches, in this order: LEAT_CUDA_PATH, libraries that the process has loaded,
 * the folders beside NVIDIA libraries that it has loaded (Python's wheels are installed side by side), the dynamic
 * loader's path, CUDA_PATH, /usr/local/cuda*, and wheels and packages in $VIRTUAL_ENV and $CONDA_PREFIX. Libraries are
 * never closed. For one thread. */
#ifndef LE_CUPTI_LIBRARY_H
#define LE_CUPTI_LIBRARY_H
#include "trace/recorder/cupti.h"
#include <stdbool.h>

struct le_cupti_library {
    struct le_cupti table;
    void *handle;
    uint32_t version; /* 28, 130001 */
    char reason[256]; /* why CUPTI was not found; "" if it was */
};

/* Returns whether a library, whose table is filled, can be used. If not, it sets the reason, and the search continues.
 */
typedef bool le_cupti_take(void *user, struct le_cupti_library *library);
bool le_cupti_library_open(struct le_cupti_library *library, le_cupti_take *take, void *user);
#endif
