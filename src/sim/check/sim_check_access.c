/* Checks one access of a thread: whether its address is valid, then its cells. Every load and store of a checked kernel
 * takes this path. */
#include "sim/check/sim_check_state.h"
#include <string.h>

enum { SEGMENT_BYTES = 64, PADDING_MAX = 7 };

/* Whether the value looks like a flag, a counter or a level, which many threads may store to one address on purpose.
 * Data such as floats seldom looks like that. */
static bool is_flag(const unsigned char *bytes, size_t size_bytes) {
    uint64_t value = 0, ones;
    if (size_bytes > sizeof value)
        return false;
    for (size_t k = size_bytes; k-- > 0;)
        value = value << 8 | bytes[k];
    ones = ~UINT64_C(0) >> (64 - 8 * size_bytes);
    return value == ones || (value >= 1 && value <= 65535);
}

void le_sim_check_resolve_pending(struct sim_check *check) {
    struct sim_pending *pending = &check->pending;
    if (!pending->active)
        return;
    pending->active = false;
    struct sim_access *access = &pending->access;
    bool same = memcmp(pending->old, (const void *)access->address, access->size_bytes) == 0;
    bool same_code =
        pending->other.block == access->me.block && (pending->other.where & SIM_CODE) == (access->me.where & SIM_CODE);
    if (!same || !(same_code || is_flag(pending->old, access->size_bytes)))
        le_sim_report_conflict(access, &pending->other, true);
}

/* Structures are copied with their padding, so some unwritten bytes among written ones are not an error, unless there
 * are more in a row than padding can have. */
static bool is_uninitialized(uint64_t missing, size_t count) {
    uint64_t all = count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
    for (int k = 0; missing != all && k < PADDING_MAX; k++)
        missing &= missing >> 1;
    return missing != 0;
}

static void visit_written(struct sim_access *access, uint64_t *written, size_t first) {
    uint64_t missing = access->reads ? le_sim_bits_missing(written, first, access->size_bytes) : 0;
    if (missing && is_uninitialized(missing, access->size_bytes)) {
        le_sim_report_uninitialized(access);
        le_sim_bits_set(written, first, access->size_bytes); /* report it only once */
    }
    if (access->writes)
        le_sim_bits_set(written, first, access->size_bytes);
}

/* ---- shared memory */
static bool is_in_variable(const struct sim_check *check, const struct sim_access *access) {
    size_t offset = access->address - check->grid.shared_low;
    uintptr_t end = access->address + access->size_bytes;
    unsigned owner = check->owners[offset / 4];
    if (owner < SIM_WORD_MIXED)
        return end <= check->variables[owner].address + check->variables[owner].size_bytes;
    for (size_t k = 0; owner == SIM_WORD_MIXED && k < check->variable_count; k++) {
        const struct sim_shared_variable *variable = &check->variables[k];
        if (access->address >= variable->address && end <= variable->address + variable->size_bytes)
            return true;
    }
    return false;
}

static void access_shared(struct sim_access *access) {
    struct sim_check *check = access->check;
    size_t offset = access->address - check->grid.shared_low;
    if (!is_in_variable(check, access)) {
        le_sim_report_shared_outside(access);
        return;
    }
    visit_written(access, access->home->written, offset);
    le_sim_visit_cells(access, access->home->cells, offset, access->size_bytes);
}

/* ---- global memory */
/* Whether the access continues in the next region, which is another part of the same array. */
static bool continues_in_next(const struct sim_check *check, const struct sim_region *region, uintptr_t end) {
    const struct sim_region *next = region + 1;
    return next < check->regions.at + check->regions.count && next->low == region->high && end <= next->high &&
           sim_region_usable(next) && strcmp(next->description->text, region->description->text) == 0;
}

/* The region that contains the access. NULL: none, and the access was reported. */
static const struct sim_region *find_region(struct sim_access *access, struct sim_page_slot *slot) {
    const struct sim_check *check = access->check;
    uintptr_t end = access->address + access->size_bytes;
    const struct sim_region *region = le_sim_regions_find(&check->regions, access->address);
    if (!region || !sim_region_usable(region) || (end > region->high && !continues_in_next(check, region, end))) {
        le_sim_report_outside(access, region);
        return NULL;
    }
    slot->region = region;
    return region;
}

static void access_global(struct sim_access *access) {
    struct sim_check *check = access->check;
    uintptr_t number = access->address >> SIM_PAGE_BITS;
    struct sim_page_slot *slot = &check->cache[number % SIM_PAGE_CACHE];
    if (slot->number != number + 1)
        *slot = (struct sim_page_slot){.number = number + 1};
    const struct sim_region *region = slot->region;
    if (!region || access->address < region->low || access->address + access->size_bytes > region->high) {
        region = find_region(access, slot);
        if (!region)
            return;
    }
    if (!slot->page)
        slot->page = le_sim_check_page(check, access->address);
    struct sim_page *page = slot->page;
    if (!page || !le_sim_page_open(page)) {
        check->failed = true;
        return;
    }
    size_t offset = access->address % SIM_PAGE_BYTES;
    if (region->state == SIM_MEMORY_FRESH)
        visit_written(access, page->written, offset);
    le_sim_visit_cells(access, page->cells, offset, access->size_bytes);
}

/* ---- shared or global */
static void note_strong_access(struct sim_access *access) {
    enum sim_strong strong = SIM_STRONG_READ;
    if (access->flags & SIM_ATOMIC)
        strong = SIM_STRONG_UPDATE;
    else if (access->writes)
        strong = SIM_STRONG_STORE;
    le_sim_known_strong_access(&access->check->known, access->block, access->thread, access->address,
                               access->shared ? access->home->number + 1 : 0, strong);
}

static uint32_t code_distance(struct sim_phase *phase, uintptr_t pc) {
    if (!phase->code)
        phase->code = pc - (SIM_CODE + 1) / 2;
    uintptr_t distance = pc - phase->code;
    return distance <= SIM_CODE ? (uint32_t)distance : 0;
}

/* An access that crosses a segment is checked in pieces, none of which crosses a page. */
static void access_pieces(struct sim_access *access) {
    uintptr_t end = access->address + access->size_bytes;
    while (access->address < end) {
        uintptr_t next = (access->address | (SEGMENT_BYTES - 1)) + 1;
        access->size_bytes = (next < end ? next : end) - access->address;
        if (access->shared)
            access_shared(access);
        else
            access_global(access);
        access->address += access->size_bytes;
    }
}

void le_sim_check_access(struct sim_check *check, struct sim_thread_id thread, uintptr_t address, size_t size_bytes,
                         unsigned flags, uintptr_t pc) {
    le_sim_check_access_of(check, thread, thread.block, address, size_bytes, flags, pc);
}

void le_sim_check_access_of(struct sim_check *check, struct sim_thread_id thread, uint64_t home, uintptr_t address,
                            size_t size_bytes, unsigned flags, uintptr_t pc) {
    le_sim_check_resolve_pending(check);
    if (!check->in_grid || size_bytes == 0)
        return;
    struct sim_access access = {
        .check = check,
        .block = le_sim_check_resident(check, thread.block),
        .home = le_sim_check_resident(check, home),
        .thread = thread.thread,
        .flags = flags,
        .me = {.who = check->phase << SIM_THREAD_BITS | thread.thread, .block = (uint32_t)thread.block},
        .address = address,
        .size_bytes = size_bytes,
        .shared = address - check->grid.shared_low < check->shared_bytes,
        .writes = (flags & (SIM_WRITE | SIM_ATOMIC)) != 0,
        .reads = flags & SIM_ATOMIC ? !(flags & SIM_BLIND) : !(flags & SIM_WRITE),
    };
    if (!access.block || !access.home)
        return;
    access.me.time = access.block->clock;
    access.me.where = code_distance(&check->phases[check->phase], pc);
    if (flags & (SIM_ATOMIC | SIM_VOLATILE)) {
        access.me.where |= SIM_STRONG | (flags & SIM_ATOMIC ? SIM_UPDATE : 0);
        note_strong_access(&access);
    }
    bool power = size_bytes <= 16 && (size_bytes & (size_bytes - 1)) == 0;
    if (power && (address & (size_bytes - 1)) && !(flags & SIM_UNALIGNED) &&
        (access.shared || le_sim_regions_find(&check->regions, address)))
        le_sim_report_misaligned(&access);
    if ((address ^ (address + size_bytes - 1)) < SEGMENT_BYTES && access.shared)
        access_shared(&access);
    else if ((address ^ (address + size_bytes - 1)) < SEGMENT_BYTES)
        access_global(&access);
    else
        access_pieces(&access);
}
