/* See source_native.h. Steps from frame to frame. The table's value for a return address is its packed step: bit 31 is
 * set, then whether the address is outside CUDA's libraries, how to find the caller's stack pointer, and how to find
 * its frame pointer. An address is assumed to be the same code as long as the process lives: a library that is loaded
 * where another one was is not noticed. */
#include "trace/recorder/source_native.h"
#include "trace/recorder/source_frame.h"
#include <link.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { MOST_FRAMES = 64, MOST_FRAME_BYTES = 1 << 20 };
static const uint32_t is_kept = 0x80000000;
enum { IS_OUTSIDE = 1 << 30, BASE_SHIFT = 28, SAVED_SHIFT = 26, SAVED_OFFSET_SHIFT = 18 };

/* Whether frames in this library say nothing about the program: CUDA's libraries, the recorder, and the C library,
 * which calls main. */
static bool is_inside(const char *path) {
    static const char *const names[] = {"libcuda.so",  "libcudart",   "libcupti",    "libleat_trace", "libnvrtc",
                                        "libnvidia-",  "libcublas",   "libcudnn",    "libcufft",      "libcurand",
                                        "libcusolver", "libcusparse", "libcutensor", "libnvJitLink",  "libnvToolsExt",
                                        "libc.so",     "libpthread",  "libnccl",     "ld-linux"};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t k = 0; k < LENGTH(names); k++)
        if (strncmp(name, names[k], strlen(names[k])) == 0)
            return true;
    return false;
}

struct module_search {
    uintptr_t address;
    bool is_inside;
};

static int visit_module(struct dl_phdr_info *module, size_t size_bytes, void *data) {
    (void)size_bytes;
    struct module_search *search = data;
    for (int k = 0; k < module->dlpi_phnum; k++) {
        uintptr_t from = module->dlpi_addr + module->dlpi_phdr[k].p_vaddr;
        if (module->dlpi_phdr[k].p_type != PT_LOAD || search->address - from >= module->dlpi_phdr[k].p_memsz)
            continue;
        search->is_inside = is_inside(module->dlpi_name ? module->dlpi_name : "");
        return 1;
    }
    return 0;
}

static uint32_t pack_step(struct le_frame_step step, bool is_outside) {
    return is_kept | (is_outside ? IS_OUTSIDE : 0) | (uint32_t)step.base << BASE_SHIFT |
           (uint32_t)step.saved << SAVED_SHIFT | (uint32_t)(step.saved_offset / 8 & 0xff) << SAVED_OFFSET_SHIFT |
           (uint32_t)(step.offset / 8 & 0x3ffff);
}

static struct le_frame_step unpack_step(uint32_t packed) {
    return (struct le_frame_step){
        .base = packed >> BASE_SHIFT & 3,
        .saved = packed >> SAVED_SHIFT & 3,
        .offset = ((int32_t)(packed << 14) >> 14) * 8,
        .saved_offset = (int8_t)(packed >> SAVED_OFFSET_SHIFT) * 8,
    };
}

static uint32_t find_step(struct le_source_table *table, uintptr_t address) {
    uint64_t word = address, key = le_source_key_of_words(LE_KEY_STEP, &word, 1);
    uint32_t packed = le_source_table_find(table, key);
    if (packed || le_source_table_is_full(table))
        return packed;
    struct module_search search = {.address = address - 1};
    dl_iterate_phdr(visit_module, &search);
    packed = pack_step(le_frame_step_find(address), !search.is_inside);
    le_source_table_set(table, key, packed);
    return packed;
}

static uintptr_t read_stack(uintptr_t at) {
    return *(const uintptr_t *)at;
}

/* Steps to the caller's frame; false: there is none. */
static bool step_out(uint32_t packed, struct le_native_frame *at) {
    struct le_frame_step step = unpack_step(packed);
    uintptr_t base = step.base == LE_FRAME_STACK ? at->stack : at->frame;
    uintptr_t from = at->stack, stack = base + (uintptr_t)(intptr_t)step.offset;
    uintptr_t saved = (uintptr_t)(intptr_t)step.saved_offset;
    if (step.base == LE_FRAME_END || (step.base != LE_FRAME_STACK && (base < from || base - from > MOST_FRAME_BYTES)))
        return false;
    if (step.base == LE_FRAME_DEREF)
        stack = read_stack(stack);
    if (stack <= from || stack - from > MOST_FRAME_BYTES || stack % 8 != 0)
        return false;
    at->address = read_stack(stack - sizeof(uintptr_t));
    at->stack = stack;
    if (step.saved == LE_SAVED_IN_CALLER)
        at->frame = read_stack(stack + saved);
    else if (step.saved == LE_SAVED_IN_FRAME)
        at->frame = read_stack(at->frame + saved);
    else if (step.saved == LE_SAVED_UNKNOWN)
        at->frame = 0;
    return at->address != 0;
}

int le_native_addresses(struct le_source_table *table, struct le_native_frame at, uintptr_t *addresses) {
    int count = 0;
    for (int k = 0; k < MOST_FRAMES && count < LE_SOURCE_ADDRESSES; k++) {
        uint32_t packed = find_step(table, at.address);
        if (!packed)
            return 0;
        if (packed & IS_OUTSIDE)
            addresses[count++] = at.address;
        if (!step_out(packed, &at))
            break;
    }
    return count;
}
