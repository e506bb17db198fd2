/* Memory: device memory, from one reserved range of addresses that is committed as it is used; pinned memory; host
 * memory that the caller registers; and the variables of modules, which are only recorded. While checking, a device
 * address is not reused as long as there are unused ones. Guarded by the state's lock. */
#include "base/memory.h"
#include "sim/driver/sim_guard.h"
#include "sim/check/sim_report.h"
#include "sim/driver/sim_state.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t RESERVED_BYTES = (size_t)256 << 30;

size_t le_sim_page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t in_pages(size_t size_bytes) {
    return (size_bytes + le_sim_page_bytes() - 1) & ~(le_sim_page_bytes() - 1);
}

/* ---- the list of allocations */

/* The index of the first allocation that ends after the address. */
static int position_of(const struct sim_memory *memory, uintptr_t address) {
    int low = 0, high = memory->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (memory->at[middle].address + memory->at[middle].span_bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct sim_allocation *le_sim_memory_find(uintptr_t address, size_t size_bytes) {
    const struct sim_memory *memory = &le_sim_state()->memory;
    int k = position_of(memory, address);
    if (k == memory->count)
        return NULL;
    const struct sim_allocation *allocation = &memory->at[k];
    bool inside = allocation->address <= address && size_bytes <= allocation->size_bytes &&
                  address - allocation->address <= allocation->size_bytes - size_bytes;
    return inside ? allocation : NULL;
}

/* "array of 4,000 bytes" */
static void describe_bytes(char what[80], const char *name, size_t size_bytes) {
    struct le_text text = {0};
    le_text_add(&text, "%s of ", name);
    le_sim_text_add_count(&text, size_bytes);
    snprintf(what, 80, "%s bytes", text.failed ? name : text.at);
    le_text_finish(&text);
}

static void declare_allocation(const struct sim_allocation *allocation, enum sim_memory_state new_state) {
    static const char *const names[] = {[SIM_ALLOCATION_DEVICE] = "device memory",
                                        [SIM_ALLOCATION_PINNED] = "pinned memory",
                                        [SIM_ALLOCATION_REGISTERED] = "registered memory",
                                        [SIM_ALLOCATION_MODULE] = "variable"};
    struct sim_state *state = le_sim_state();
    if (!state->check || allocation->kind == SIM_ALLOCATION_MODULE) /* modules declare theirs */
        return;
    char what[80];
    describe_bytes(what, names[allocation->kind], allocation->size_bytes);
    if (allocation->span_bytes > allocation->size_bytes)
        le_sim_check_memory(state->check, allocation->address + allocation->size_bytes,
                            allocation->span_bytes - allocation->size_bytes, SIM_MEMORY_NONE, what);
    le_sim_check_memory(state->check, allocation->address, allocation->size_bytes, new_state, what);
}

/* Device addresses that are not allocated are invalid. */
static void declare_reserved(const struct sim_memory *memory) {
    if (le_sim_state()->check && memory->base)
        le_sim_check_memory(le_sim_state()->check, memory->base, memory->reserved_bytes, SIM_MEMORY_NONE, "the device");
}

void le_sim_memory_declare_all(void) {
    struct sim_memory *memory = &le_sim_state()->memory;
    declare_reserved(memory);
    for (int k = 0; k < memory->count; k++) {
        declare_allocation(&memory->at[k], SIM_MEMORY_VALID);
        memory->at[k].pooled = true; /* it may already have arrays, so the next note_memory is not the first */
        le_sim_guard_allocation(&memory->at[k], true);
    }
}

static bool grow_allocations(struct sim_memory *memory) {
    int capacity = memory->capacity ? 2 * memory->capacity : 64;
    struct sim_allocation *at = le_realloc(memory->at, (size_t)capacity * sizeof *at);
    if (!at)
        return false;
    memory->at = at;
    memory->capacity = capacity;
    return true;
}

bool le_sim_memory_add(const struct sim_allocation *allocation) {
    struct sim_memory *memory = &le_sim_state()->memory;
    le_sim_guard_lock(); /* the guard's handler searches the list */
    bool room = memory->count < memory->capacity || grow_allocations(memory);
    if (room) {
        int k = position_of(memory, allocation->address);
        memmove(memory->at + k + 1, memory->at + k, (size_t)(memory->count - k) * sizeof *memory->at);
        memory->at[k] = *allocation;
        memory->count++;
    }
    le_sim_guard_unlock();
    if (!room)
        return false;
    /* device memory is uninitialized until it is written; writes of the host to its memory are not seen */
    declare_allocation(allocation, allocation->kind == SIM_ALLOCATION_DEVICE ? SIM_MEMORY_FRESH : SIM_MEMORY_VALID);
    le_sim_guard_allocation(allocation, true);
    return true;
}

void le_sim_memory_remove(uintptr_t address) {
    struct sim_memory *memory = &le_sim_state()->memory;
    int k = position_of(memory, address);
    struct sim_allocation allocation = memory->at[k];
    le_sim_guard_lock();
    memory->count--;
    memmove(memory->at + k, memory->at + k + 1, (size_t)(memory->count - k) * sizeof *memory->at);
    le_sim_guard_unlock();
    declare_allocation(&allocation, allocation.kind == SIM_ALLOCATION_REGISTERED ? SIM_MEMORY_OTHER : SIM_MEMORY_FREED);
    le_sim_guard_allocation(&allocation, false);
}

/* ---- device memory */

static bool reserve_addresses(struct sim_memory *memory) {
    for (size_t size_bytes = RESERVED_BYTES; !memory->base && size_bytes >= le_sim_state()->options.memory_bytes;
         size_bytes /= 2) {
        void *base = mmap(NULL, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED)
            continue;
        madvise(base, size_bytes, MADV_DONTDUMP); /* keep it out of core files */
        memory->base = memory->next = (uintptr_t)base;
        memory->reserved_bytes = size_bytes;
        declare_reserved(memory);
    }
    return memory->base;
}

/* The lowest gap that is large enough; 0: none. */
static uintptr_t find_gap(const struct sim_memory *memory, size_t span_bytes) {
    uintptr_t at = memory->base, end = memory->base + memory->reserved_bytes;
    for (int k = position_of(memory, at); k < memory->count && memory->at[k].address < end; k++) {
        if (memory->at[k].address - at >= span_bytes)
            return at;
        at = memory->at[k].address + memory->at[k].span_bytes;
    }
    return end - at >= span_bytes ? at : 0;
}

/* While checking, allocates after all earlier allocations as long as there is room. memory->next is the end of the
 * highest allocation so far. */
static uintptr_t choose_address(struct sim_memory *memory, size_t span_bytes) {
    bool room = memory->base + memory->reserved_bytes - memory->next >= span_bytes;
    uintptr_t address = le_sim_state()->options.check && room ? memory->next : find_gap(memory, span_bytes);
    if (address && address + span_bytes > memory->next)
        memory->next = address + span_bytes;
    return address;
}

static le_cu_result allocate_device(uintptr_t *address, size_t size_bytes) {
    struct sim_state *state = le_sim_state();
    struct sim_memory *memory = &state->memory;
    if (!size_bytes)
        return LE_CU_ERROR_INVALID_VALUE;
    size_t cap_bytes = state->options.memory_bytes;
    if (le_sim_fault_now(&state->counts.allocation, state->options.faults.allocation) || size_bytes > cap_bytes ||
        in_pages(size_bytes) > cap_bytes - memory->used_bytes || !reserve_addresses(memory))
        return LE_CU_ERROR_OUT_OF_MEMORY;
    struct sim_allocation allocation = {
        .size_bytes = size_bytes, .span_bytes = in_pages(size_bytes), .kind = SIM_ALLOCATION_DEVICE};
    allocation.address = choose_address(memory, allocation.span_bytes);
    if (!allocation.address || mprotect((void *)allocation.address, allocation.span_bytes, PROT_READ | PROT_WRITE))
        return LE_CU_ERROR_OUT_OF_MEMORY;
    if (!le_sim_memory_add(&allocation))
        return LE_CU_ERROR_OUT_OF_MEMORY;
    memory->used_bytes += allocation.span_bytes;
    *address = allocation.address;
    return LE_CU_SUCCESS;
}

/* Releases the pages and keeps the addresses reserved and inaccessible. */
static void uncommit(const struct sim_allocation *allocation) {
    mmap((void *)allocation->address, allocation->span_bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static le_cu_result free_device(uintptr_t address) {
    if (!address)
        return LE_CU_SUCCESS;
    const struct sim_allocation *found = le_sim_memory_find(address, 1);
    if (!found || found->kind != SIM_ALLOCATION_DEVICE || found->address != address)
        return LE_CU_ERROR_INVALID_VALUE;
    le_sim_force_all(); /* enqueued work may use it */
    found = le_sim_memory_find(address, 1);
    if (!found)
        return LE_CU_ERROR_INVALID_VALUE; /* freed by another thread meanwhile */
    struct sim_allocation allocation = *found;
    le_sim_memory_remove(address);
    uncommit(&allocation);
    le_sim_state()->memory.used_bytes -= allocation.span_bytes;
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_MemAlloc(le_cu_deviceptr *address, size_t size_bytes) {
    le_cu_result result = le_sim_enter(SIM_CALL_ALLOCATE);
    if (result)
        return result;
    uintptr_t found = 0;
    result = address ? allocate_device(&found, size_bytes) : LE_CU_ERROR_INVALID_VALUE;
    if (!result)
        *address = found;
    return le_sim_leave(result);
}

le_cu_result le_sim_MemFree(le_cu_deviceptr address) {
    le_cu_result result = le_sim_enter(SIM_CALL_ALLOCATE);
    return result ? result : le_sim_leave(free_device(address));
}

le_cu_result le_sim_MemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    if (result)
        return result;
    const struct sim_state *state = le_sim_state();
    size_t total = state->options.memory_bytes, used = state->memory.used_bytes;
    if (free_bytes)
        *free_bytes = used < total ? total - used : 0;
    if (total_bytes)
        *total_bytes = total;
    return le_sim_leave(LE_CU_SUCCESS);
}

/* ---- host memory */

static le_cu_result host_allocate(void **memory, size_t size_bytes, unsigned flags) {
    struct sim_state *state = le_sim_state();
    if (!memory || !size_bytes || flags > 7 || in_pages(size_bytes) < size_bytes)
        return LE_CU_ERROR_INVALID_VALUE;
    if (le_sim_fault_now(&state->counts.allocation, state->options.faults.allocation))
        return LE_CU_ERROR_OUT_OF_MEMORY;
    struct sim_allocation allocation = {
        .size_bytes = size_bytes, .span_bytes = in_pages(size_bytes), .kind = SIM_ALLOCATION_PINNED};
    void *at = mmap(NULL, allocation.span_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return LE_CU_ERROR_OUT_OF_MEMORY;
    allocation.address = (uintptr_t)at;
    if (!le_sim_memory_add(&allocation)) {
        munmap(at, allocation.span_bytes);
        return LE_CU_ERROR_OUT_OF_MEMORY;
    }
    state->clock_ns += le_sim_pin_ns(size_bytes);
    *memory = at;
    return LE_CU_SUCCESS;
}

/* The allocation of that kind that starts at memory, after running all work; NULL: none. */
static const struct sim_allocation *find_host_allocation(const void *memory, enum sim_allocation_kind kind) {
    const struct sim_allocation *allocation = le_sim_memory_find((uintptr_t)memory, 1);
    if (!allocation || allocation->kind != kind || allocation->address != (uintptr_t)memory)
        return NULL;
    le_sim_force_all();
    return le_sim_memory_find((uintptr_t)memory, 1);
}

/* While checking, freed addresses stay reserved until the context is destroyed. Otherwise something else, such as a
 * thread's stack, could be mapped there. */
static bool retire_addresses(const struct sim_allocation *allocation) {
    struct sim_memory *memory = &le_sim_state()->memory;
    struct sim_allocation *graves = le_realloc(memory->retired, (size_t)(memory->retired_count + 1) * sizeof *graves);
    if (!graves) {
        le_sim_check_memory(le_sim_state()->check, allocation->address, allocation->span_bytes, SIM_MEMORY_OTHER, "");
        return false;
    }
    memory->retired = graves;
    memory->retired[memory->retired_count++] = *allocation;
    return true;
}

static le_cu_result host_free(void *memory) {
    const struct sim_allocation *found = find_host_allocation(memory, SIM_ALLOCATION_PINNED);
    if (!found)
        return LE_CU_ERROR_INVALID_VALUE;
    struct sim_allocation allocation = *found;
    le_sim_memory_remove(allocation.address);
    if (le_sim_state()->check && retire_addresses(&allocation))
        uncommit(&allocation);
    else
        munmap((void *)allocation.address, allocation.span_bytes);
    return LE_CU_SUCCESS;
}

/* Whether the range overlaps an allocation. */
static bool overlaps(uintptr_t address, size_t size_bytes) {
    const struct sim_memory *memory = &le_sim_state()->memory;
    int k = position_of(memory, address);
    return k < memory->count && memory->at[k].address < address + size_bytes;
}

static le_cu_result host_register(void *memory, size_t size_bytes, unsigned flags) {
    struct sim_state *state = le_sim_state();
    uintptr_t address = (uintptr_t)memory;
    if (!memory || !size_bytes || flags > 15 || address + size_bytes < address)
        return LE_CU_ERROR_INVALID_VALUE;
    if (overlaps(address, size_bytes))
        return LE_CU_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    if (le_sim_fault_now(&state->counts.allocation, state->options.faults.allocation))
        return LE_CU_ERROR_OUT_OF_MEMORY;
    struct sim_allocation allocation = {
        .address = address, .size_bytes = size_bytes, .span_bytes = size_bytes, .kind = SIM_ALLOCATION_REGISTERED};
    if (!le_sim_memory_add(&allocation))
        return LE_CU_ERROR_OUT_OF_MEMORY;
    state->clock_ns += le_sim_pin_ns(size_bytes);
    return LE_CU_SUCCESS;
}

static le_cu_result host_unregister(void *memory) {
    if (!memory)
        return LE_CU_ERROR_INVALID_VALUE;
    if (!find_host_allocation(memory, SIM_ALLOCATION_REGISTERED))
        return LE_CU_ERROR_HOST_MEMORY_NOT_REGISTERED;
    le_sim_memory_remove((uintptr_t)memory);
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_MemHostAlloc(void **memory, size_t size_bytes, unsigned flags) {
    le_cu_result result = le_sim_enter(SIM_CALL_ALLOCATE);
    return result ? result : le_sim_leave(host_allocate(memory, size_bytes, flags));
}

le_cu_result le_sim_MemFreeHost(void *memory) {
    le_cu_result result = le_sim_enter(SIM_CALL_ALLOCATE);
    return result ? result : le_sim_leave(host_free(memory));
}

le_cu_result le_sim_MemHostRegister(void *memory, size_t size_bytes, unsigned flags) {
    le_cu_result result = le_sim_enter(SIM_CALL_ALLOCATE);
    return result ? result : le_sim_leave(host_register(memory, size_bytes, flags));
}

le_cu_result le_sim_MemHostUnregister(void *memory) {
    le_cu_result result = le_sim_enter(SIM_CALL_ALLOCATE);
    return result ? result : le_sim_leave(host_unregister(memory));
}

static bool is_host_memory(const struct sim_allocation *allocation) {
    return allocation && (allocation->kind == SIM_ALLOCATION_PINNED || allocation->kind == SIM_ALLOCATION_REGISTERED);
}

le_cu_result le_sim_MemHostGetDevicePointer(le_cu_deviceptr *address, void *memory, unsigned flags) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    if (result)
        return result;
    if (!address || flags || !is_host_memory(le_sim_memory_find((uintptr_t)memory, 1)))
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    *address = (uintptr_t)memory;
    return le_sim_leave(LE_CU_SUCCESS);
}

static le_cu_result attribute_of(void *value, le_cu_pointer_attribute attribute,
                                 const struct sim_allocation *allocation) {
    if (!value || !allocation)
        return LE_CU_ERROR_INVALID_VALUE;
    switch (attribute) {
    case LE_CU_POINTER_ATTRIBUTE_CONTEXT:
        *(le_cu_context *)value = le_sim_primary();
        return LE_CU_SUCCESS;
    case LE_CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)value = is_host_memory(allocation) ? LE_CU_MEMORYTYPE_HOST : LE_CU_MEMORYTYPE_DEVICE;
        return LE_CU_SUCCESS;
    case LE_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = 0;
        return LE_CU_SUCCESS;
    default:
        return LE_CU_ERROR_INVALID_VALUE;
    }
}

le_cu_result le_sim_PointerGetAttribute(void *value, le_cu_pointer_attribute attribute, le_cu_deviceptr address) {
    le_cu_result result = le_sim_enter(SIM_CALL_FREE);
    return result ? result : le_sim_leave(attribute_of(value, attribute, le_sim_memory_find(address, 1)));
}

/* From the first note on, the parts of the allocation that are not noted are out of bounds. */
static void note_array(uintptr_t address, size_t size_bytes, bool live) {
    struct sim_check *check = le_sim_state()->check;
    const struct sim_allocation *found = le_sim_memory_find(address, size_bytes);
    if (!found)
        return;
    struct sim_allocation *allocation = &le_sim_state()->memory.at[found - le_sim_state()->memory.at];
    le_sim_guard_array(address, size_bytes, live);
    bool first = !allocation->pooled;
    if (first)
        le_sim_check_memory(check, allocation->address, allocation->size_bytes, SIM_MEMORY_NONE, "pool");
    allocation->pooled = true;
    if (first && !live)
        return; /* it was never in use */
    char what[80];
    describe_bytes(what, "array", size_bytes);
    enum sim_memory_state fresh = allocation->kind == SIM_ALLOCATION_DEVICE ? SIM_MEMORY_FRESH : SIM_MEMORY_VALID;
    le_sim_check_memory(check, address, size_bytes, live ? fresh : SIM_MEMORY_FREED, what);
}

/* Called by pools when an array begins (live) or ends. Enqueued work may still use an array that ends, so it runs
 * first. */
void le_sim_note_memory(le_cu_deviceptr address, size_t size_bytes, int live) {
    if (le_sim_enter(SIM_CALL_FREE))
        return;
    if (le_sim_state()->check) {
        if (!live)
            le_sim_force_all();
        note_array(address, size_bytes, live);
    }
    le_sim_leave(LE_CU_SUCCESS);
}

void le_sim_memory_finish(void) {
    struct sim_memory *memory = &le_sim_state()->memory;
    for (int k = 0; k < memory->count; k++)
        if (memory->at[k].kind == SIM_ALLOCATION_PINNED)
            munmap((void *)memory->at[k].address, memory->at[k].span_bytes);
    for (int k = 0; k < memory->retired_count; k++)
        munmap((void *)memory->retired[k].address, memory->retired[k].span_bytes);
    if (memory->base)
        munmap((void *)memory->base, memory->reserved_bytes);
    le_free(memory->retired);
    le_free(memory->at);
    *memory = (struct sim_memory){0};
}
