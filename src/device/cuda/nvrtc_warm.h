/* NVRTC, loaded and used once by a thread of its own while a context is made, which takes longer: the first kernel then
 * waits for neither. One thread begins and ends it. */
#ifndef LE_NVRTC_WARM_H
#define LE_NVRTC_WARM_H
#include "base/store.h"
#include <pthread.h>

struct le_nvrtc_warm {
    pthread_t thread;
    bool runs;
};
/* Does nothing where the store remembers an NVRTC, and so, it may be, the code: then it may not be needed at all. */
void le_nvrtc_warm_begin(struct le_nvrtc_warm *warm, struct le_store *store);
bool le_nvrtc_warm_end(struct le_nvrtc_warm *warm); /* waits; did it do anything? */
#endif
