/* Which NVRTC compiles here, told without loading it: the store remembers where it was found, by all that the search
 * for it hangs on, and the file tells whether it is the same one still. Any thread. */
#ifndef LE_NVRTC_IDENTITY_H
#define LE_NVRTC_IDENTITY_H
#include "base/store.h"
#include "base/text.h"

/* Adds its file, version and the driver's; false: there is none, or nothing can be said of it. */
bool le_nvrtc_identify(struct le_store *store, struct le_text *text);
/* Is it remembered, so that it may never be needed? */
bool le_nvrtc_is_remembered(struct le_store *store);
#endif
