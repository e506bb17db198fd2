/* Identifies the NVRTC that compiles here without loading it. The store remembers where NVRTC was found, under
 * everything that the search depends on; the file's metadata shows whether it is unchanged. Any thread. */
#ifndef LE_NVRTC_IDENTITY_H
#define LE_NVRTC_IDENTITY_H
#include "base/store.h"
#include "base/text.h"

/* Adds NVRTC's file and version and the driver's version to text. false: there is none, or it cannot be identified. */
bool le_nvrtc_identify(struct le_store *store, struct le_text *text);
/* Whether NVRTC's location is remembered, so that loading it may never be needed. */
bool le_nvrtc_is_remembered(struct le_store *store);
#endif
