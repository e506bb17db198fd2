/* Finds CUPTI in the process that is recorded: LEAT_CUDA_PATH, what it has loaded already, beside NVIDIA's libraries
 * that it has loaded (Python's wheels lie side by side), the dynamic loader, CUDA_PATH, /usr/local/cuda*, then wheels
 * and packages in $VIRTUAL_ENV and $CONDA_PREFIX. Libraries are never closed. One thread. */
#ifndef LE_CUPTI_DOOR_H
#define LE_CUPTI_DOOR_H
#include "trace/recorder/cupti.h"
#include <stdbool.h>

struct le_cupti_door {
    struct le_cupti table;
    void *library;
    uint32_t version; /* 28, 130001 */
    char reason[256]; /* why there is none; "" where there is */
};

/* Offered a library whose table is filled: false, with the reason written, looks on for another one. */
typedef bool le_cupti_take(void *user, struct le_cupti_door *door);
bool le_cupti_door_open(struct le_cupti_door *door, le_cupti_take *take, void *user);
#endif
