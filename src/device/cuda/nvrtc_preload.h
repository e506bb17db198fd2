/* NVRTC, loaded and used once by a thread of its own while a device is opened, which takes longer: the first kernel
 * then waits for neither. One thread at a time begins and ends it. */
#ifndef LE_NVRTC_PRELOAD_H
#define LE_NVRTC_PRELOAD_H
#include "base/store.h"
#include "device/driver/nvrtc.h"

struct le_nvrtc_warm;
/* NULL: nothing is made ready, as where the store remembers an NVRTC, and so, it may be, the code: then it may not be
 * needed at all. */
struct le_nvrtc_warm *le_nvrtc_warm_begin(struct le_store *store);
/* What the thread has not begun it leaves: something true is to be compiled. NULL is fine. */
void le_nvrtc_warm_cancel(struct le_nvrtc_warm *warm);
/* The same, and waits, where *warm is not NULL, and makes it NULL. */
void le_nvrtc_warm_end(struct le_nvrtc_warm **warm);
/* NVRTC has compiled something in this process, and has what it needs for it. */
void le_nvrtc_note_used(void);
void le_nvrtc_use_once(const struct le_nvrtc *nvrtc); /* it compiles something, unless it has */
#endif
