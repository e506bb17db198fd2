/* An image is the result of compiling and the input of loading: a header, then the object file, the substitute for PTX
 * and the compiler's log. The header holds the size, because driver functions are not given one. */
#ifndef LE_SIM_IMAGE_H
#define LE_SIM_IMAGE_H
#include "base/status.h"

struct sim_image_header {
    char magic[8];
    uint32_t abi, checking;
    uint64_t total_bytes, object_bytes, ptx_bytes, log_bytes;
    uint64_t hash,
        reserved; /* hash: of everything after the header. The header has 64 bytes, so the object is aligned */
};
struct sim_image_parts {
    const char *ptx, *log;
    const unsigned char *object;
    size_t object_bytes, ptx_bytes, log_bytes, total_bytes;
    bool checking;
};
/* Owned by the caller; freed with le_free. NULL: out of memory. */
void *le_sim_image_make(const struct sim_image_parts *parts, size_t *size_bytes);
/* false: not an image of this version. limit_bytes: the most that may be read; SIZE_MAX: trust the header. */
bool le_sim_image_read(const void *image, size_t limit_bytes, struct sim_image_parts *parts);
#endif
