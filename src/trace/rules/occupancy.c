/* The rules of NVIDIA's occupancy calculator: registers are allocated to warps in units of 256, shared memory to thread
 * blocks in units of 128 bytes. From compute capability 8 on, the system takes 1 KiB of shared memory for each block.
 */
#include "trace/rules/occupancy.h"

enum { REGISTER_UNIT = 256, SHARED_UNIT = 128, SYSTEM_SHARED_BYTES = 1024 };

/* Capped at 2^30, more than any real launch has, so that numbers from a damaged file cannot overflow. */
static uint64_t capped_product(const uint32_t extents[3]) {
    uint64_t most = 1u << 30, count = extents[0] < most ? extents[0] : most;
    for (int k = 1; k < 3; k++) {
        count *= extents[k] ? extents[k] : 1;
        count = count < most ? count : most;
    }
    return count;
}

uint64_t le_shape_blocks(const struct le_shape *shape) {
    return capped_product(shape->grid);
}

uint64_t le_shape_threads(const struct le_shape *shape) {
    return capped_product(shape->block);
}

static uint64_t round_up(uint64_t value, uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint32_t le_occupancy_blocks(const struct le_trace_device *device, const struct le_shape *shape) {
    uint64_t threads = le_shape_threads(shape), warp = device->warp_threads ? device->warp_threads : 32;
    if (threads == 0 || device->multiprocessor_threads == 0)
        return 0;
    uint64_t warps = (threads + warp - 1) / warp;
    uint64_t blocks = device->multiprocessor_threads / (warps * warp);
    if (device->multiprocessor_blocks)
        blocks = smaller(blocks, device->multiprocessor_blocks);
    uint64_t registers = round_up((uint64_t)shape->registers * warp, REGISTER_UNIT) * warps;
    if (registers && device->multiprocessor_registers)
        blocks = smaller(blocks, device->multiprocessor_registers / registers);
    uint64_t shared = (uint64_t)shape->static_shared_bytes + shape->dynamic_shared_bytes;
    shared = round_up(shared + (device->capability_major >= 8 ? SYSTEM_SHARED_BYTES : 0), SHARED_UNIT);
    if (shared && device->multiprocessor_shared_bytes)
        blocks = smaller(blocks, device->multiprocessor_shared_bytes / shared);
    return (uint32_t)blocks;
}
