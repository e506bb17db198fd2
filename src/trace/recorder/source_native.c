/* Unwinding with a memory. A function's frame, seen from one return address in it, mostly has one size: the *step* from
 * there to its caller's. The table keeps it, with whether the address is outside of CUDA's libraries. Where two sizes
 * were seen (alloca), or on a machine where a return address is not just below its caller's frame, the unwinder works
 * each time. Steps are followed only within the part of the stack that an unwinding of this thread has seen. */
#include "trace/recorder/source_native.h"
#include <link.h>
#include <string.h>
#include <unwind.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define NO_STEP       (UINT32_MAX >> 2) /* it varies */

enum { MOST_FRAMES = 64, IS_OUTSIDE = 1, IS_LAST = 2, STEP_SHIFT = 2, MOST_STEP_BYTES = 1 << 16 };

struct walk {
    uintptr_t from_address, from_stack;
    uintptr_t addresses[MOST_FRAMES], stacks[MOST_FRAMES];
    bool is_outside[MOST_FRAMES];
    int count;
    bool has_begun;
};

/* Libraries whose frames tell nothing of the program: CUDA's, ours, and the C library, which calls main. */
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

void le_native_init(struct le_native *native) {
    native->is_usable = pthread_key_create(&native->highest, NULL) == 0;
}

void le_native_finish(struct le_native *native) {
    if (native->is_usable)
        pthread_key_delete(native->highest);
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *data) {
    struct walk *walk = data;
    uintptr_t address = _Unwind_GetIP(context), stack = _Unwind_GetCFA(context);
    if (!walk->has_begun)
        walk->has_begun = address == walk->from_address && stack == walk->from_stack;
    if (!walk->has_begun)
        return _URC_NO_REASON;
    if (walk->count == MOST_FRAMES)
        return _URC_END_OF_STACK;
    walk->addresses[walk->count] = address;
    walk->stacks[walk->count++] = stack;
    return address ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* Marks the addresses that lie in a library that is_inside. */
static int visit_module(struct dl_phdr_info *module, size_t size_bytes, void *data) {
    (void)size_bytes;
    struct walk *walk = data;
    if (!is_inside(module->dlpi_name ? module->dlpi_name : ""))
        return 0;
    for (int k = 0; k < module->dlpi_phnum; k++) {
        uintptr_t from = module->dlpi_addr + module->dlpi_phdr[k].p_vaddr;
        for (int i = 0; module->dlpi_phdr[k].p_type == PT_LOAD && i < walk->count; i++)
            if (walk->addresses[i] - from < module->dlpi_phdr[k].p_memsz)
                walk->is_outside[i] = false;
    }
    return 0;
}

static uint32_t find_step(const struct le_source_table *table, uintptr_t address) {
    return le_source_table_find(table, le_source_key(LE_KEY_STEP, &address, sizeof address));
}

/* From frame k of a walk to the next: what the table keeps of it, flags apart. */
static uint32_t measure_step(const struct walk *walk, int k) {
#if defined(__x86_64__)
    if (k + 1 >= walk->count)
        return NO_STEP;
    uintptr_t bytes = walk->stacks[k + 1] - walk->stacks[k];
    uintptr_t return_address = *(const uintptr_t *)(walk->stacks[k + 1] - sizeof(uintptr_t));
    if (bytes > 0 && bytes < MOST_STEP_BYTES && bytes % 8 == 0 && return_address == walk->addresses[k + 1])
        return (uint32_t)bytes;
#else
    (void)walk, (void)k;
#endif
    return NO_STEP;
}

static void keep_steps(struct le_source_table *table, const struct walk *walk) {
    bool is_whole = walk->count < MOST_FRAMES;
    for (int k = 0; k < walk->count; k++) {
        uint32_t step = measure_step(walk, k), before = find_step(table, walk->addresses[k]);
        uint32_t flags = (walk->is_outside[k] ? IS_OUTSIDE : 0) | (is_whole && k + 1 == walk->count ? IS_LAST : 0);
        uint32_t now = (before && before >> STEP_SHIFT != step ? NO_STEP : step) << STEP_SHIFT | flags;
        if (now != before)
            le_source_table_set(table, le_source_key(LE_KEY_STEP, &walk->addresses[k], sizeof(uintptr_t)), now);
    }
}

static void classify(const struct le_source_table *table, struct walk *walk) {
    bool are_known = true;
    for (int k = 0; k < walk->count; k++) {
        uint32_t step = find_step(table, walk->addresses[k]);
        walk->is_outside[k] = !step || step & IS_OUTSIDE;
        are_known = are_known && step;
    }
    if (are_known)
        return;
    for (int k = 0; k < walk->count; k++)
        walk->is_outside[k] = true;
    dl_iterate_phdr(visit_module, walk);
}

static int unwind(const struct le_native *native, struct le_source_table *table, uintptr_t at, uintptr_t stack,
                  uintptr_t *addresses) {
    struct walk walk = {.from_address = at, .from_stack = stack};
    _Unwind_Backtrace(visit, &walk);
    while (walk.count && !walk.addresses[walk.count - 1])
        walk.count--;
    if (!walk.count)
        return 0;
    classify(table, &walk);
    keep_steps(table, &walk);
    uintptr_t highest = walk.stacks[walk.count - 1];
    if ((uintptr_t)pthread_getspecific(native->highest) < highest)
        pthread_setspecific(native->highest, (void *)highest);
    int count = 0;
    for (int k = 0; k < walk.count && count < LE_SOURCE_ADDRESSES; k++)
        if (walk.is_outside[k])
            addresses[count++] = walk.addresses[k];
    return count;
}

int le_native_addresses(const struct le_native *native, struct le_source_table *table, uintptr_t at, uintptr_t stack,
                        uintptr_t *addresses) {
    uintptr_t highest = (uintptr_t)pthread_getspecific(native->highest), address = at, top = stack;
    int count = 0;
    for (int k = 0; k < MOST_FRAMES; k++) {
        uint32_t step = find_step(table, address);
        if (!step)
            break;
        if (step & IS_OUTSIDE)
            addresses[count++] = address;
        if (step & IS_LAST || count == LE_SOURCE_ADDRESSES)
            return count;
        if (step >> STEP_SHIFT == NO_STEP || top + (step >> STEP_SHIFT) > highest)
            break;
        top += step >> STEP_SHIFT;
        address = *(const uintptr_t *)(top - sizeof(uintptr_t));
    }
    return le_source_table_is_full(table) ? 0 : unwind(native, table, at, stack, addresses);
}
