/* Loads NVRTC and uses it once in a background thread while a device is being opened, which takes longer. The first
 * kernel then waits for neither. Call begin and end from one thread at a time. */
#ifndef LE_NVRTC_PRELOAD_H
#define LE_NVRTC_PRELOAD_H
#include "base/store.h"
#include "device/driver/nvrtc.h"

struct le_nvrtc_warm;
/* Returns NULL if nothing is prepared: for example, if the store remembers an NVRTC. Then it may also hold the code,
 * and NVRTC may not be needed at all. */
struct le_nvrtc_warm *le_nvrtc_warm_begin(struct le_store *store);
/* Skips what the thread has not started yet, because a real compilation is about to start. warm may be NULL. */
void le_nvrtc_warm_cancel(struct le_nvrtc_warm *warm);
/* The same, and waits for the thread. Sets *warm to NULL; *warm may be NULL. */
void le_nvrtc_warm_end(struct le_nvrtc_warm **warm);
/* Notes that NVRTC has compiled something in this process, so it is warmed up. */
void le_nvrtc_note_used(void);
void le_nvrtc_use_once(const struct le_nvrtc *nvrtc); /* compiles something, unless NVRTC has been used */
#endif
