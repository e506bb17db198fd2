/* Implements sim_image.h. */
#include "sim/compile/sim_image.h"
#include "base/hash.h"
#include "base/memory.h"
#include "sim/grid/sim_abi.h"
#include <string.h>

static const char magic[8] = "LEATSIM";

void *le_sim_image_make(const struct sim_image_parts *parts, size_t *size_bytes) {
    size_t header_bytes = sizeof(struct sim_image_header);
    size_t total = header_bytes + parts->ptx_bytes + parts->log_bytes + parts->object_bytes;
    char *image = le_alloc(total);
    if (!image)
        return NULL;
    char *at = image + header_bytes;
    memcpy(at, parts->object, parts->object_bytes);
    memcpy(at + parts->object_bytes, parts->ptx, parts->ptx_bytes);
    if (parts->log_bytes)
        memcpy(at + parts->object_bytes + parts->ptx_bytes, parts->log, parts->log_bytes);
    struct sim_image_header header = {.abi = SIM_ABI,
                                      .checking = parts->checking,
                                      .total_bytes = total,
                                      .object_bytes = parts->object_bytes,
                                      .ptx_bytes = parts->ptx_bytes,
                                      .log_bytes = parts->log_bytes,
                                      .hash = le_hash(at, total - header_bytes, SIM_ABI)};
    memcpy(header.magic, magic, sizeof magic);
    memcpy(image, &header, header_bytes);
    *size_bytes = total;
    return image;
}

bool le_sim_image_read(const void *image, size_t limit_bytes, struct sim_image_parts *parts) {
    struct sim_image_header header;
    if (!image || limit_bytes < sizeof header || memcmp(image, magic, sizeof magic) != 0)
        return false;
    memcpy(&header, image, sizeof header);
    size_t total = sizeof header;
    if (header.abi != SIM_ABI || header.total_bytes > limit_bytes ||
        __builtin_add_overflow(total, header.ptx_bytes, &total) ||
        __builtin_add_overflow(total, header.log_bytes, &total) ||
        __builtin_add_overflow(total, header.object_bytes, &total) || total != header.total_bytes)
        return false;
    const char *object = (const char *)image + sizeof header;
    const char *ptx = object + header.object_bytes, *log = ptx + header.ptx_bytes;
    if (le_hash(object, total - sizeof header, SIM_ABI) != header.hash || !header.ptx_bytes ||
        ptx[header.ptx_bytes - 1] != '\0' || (header.log_bytes && log[header.log_bytes - 1] != '\0'))
        return false;
    *parts = (struct sim_image_parts){.object = (const unsigned char *)object,
                                      .ptx = ptx,
                                      .log = log,
                                      .object_bytes = header.object_bytes,
                                      .ptx_bytes = header.ptx_bytes,
                                      .log_bytes = header.log_bytes,
                                      .total_bytes = total,
                                      .checking = header.checking != 0};
    return true;
}
