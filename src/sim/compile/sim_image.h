/* An image: what compiling gives and loading takes. A header, then the object, the text that stands in for PTX and the
 * compiler's log. Its size is in it, since the driver's functions get no size. */
#ifndef LE_SIM_IMAGE_H
#define LE_SIM_IMAGE_H
#include "base/status.h"

struct sim_image_header {
    char magic[8];
    uint32_t abi, checking;
    uint64_t total_bytes, object_bytes, ptx_bytes, log_bytes;
    uint64_t hash, reserved; /* hash: of all that follows the header, which is of 64 bytes: objects are aligned */
};
struct sim_image_parts {
    const char *ptx, *log;
    const unsigned char *object;
    size_t object_bytes, ptx_bytes, log_bytes, total_bytes;
    bool checking;
};
/* Owned by the caller: le_free. NULL: no memory. */
void *le_sim_image_make(const struct sim_image_parts *parts, size_t *size_bytes);
/* false: not an image of this version. limit_bytes: how much may be read; SIZE_MAX: whatever the header says. */
bool le_sim_image_read(const void *image, size_t limit_bytes, struct sim_image_parts *parts);
#endif
