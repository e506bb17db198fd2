/* The check: memory, grids, blocks, and the events that order threads. */
#include "base/memory.h"
#include "sim/check/sim_check_state.h"
#include <string.h>

leat_status le_sim_check_new(bool (*before)(void *user, uint64_t a, uint64_t b), void *user, struct sim_check **check) {
    *check = le_alloc_zero(1, sizeof **check);
    if (!*check)
        return le_fail_out_of_memory(sizeof **check);
    (*check)->before = before;
    (*check)->user = user;
    (*check)->random = 1;
    (*check)->phase_count = 1; /* 0 means no phase */
    return LEAT_OK;
}

static void finish_residents(struct sim_resident *resident) {
    while (resident) {
        struct sim_resident *next = resident->next;
        le_sim_resident_finish(resident);
        le_free(resident);
        resident = next;
    }
}

static void finish_phases(struct sim_check *check) {
    for (uint32_t k = 1; k < check->phase_count; k++)
        if (check->phases[k].owner)
            le_free(check->phases[k].name);
    check->phase_count = 1;
}

void le_sim_check_free(struct sim_check *check) {
    if (!check)
        return;
    le_sim_regions_finish(&check->regions);
    le_sim_pages_finish(&check->pages);
    le_sim_known_end(&check->known);
    finish_residents(check->residents);
    finish_residents(check->idle);
    finish_phases(check);
    le_free(check->phases);
    le_free(check->variables);
    le_free(check->owners);
    le_sim_reports_clear(&check->reports);
    le_free(check);
}

/* ---- memory */
static void forget_range(struct sim_page *page, uintptr_t low, uintptr_t high) {
    uintptr_t start = page->number << SIM_PAGE_BITS, end = start + SIM_PAGE_BYTES;
    uintptr_t from = low > start ? low : start, to = high < end ? high : end;
    if (from < to)
        le_sim_page_forget(page, from - start, to - from);
}

void le_sim_check_memory(struct sim_check *check, uintptr_t address, size_t size_bytes, enum sim_memory_state state,
                         const char *what) {
    if (size_bytes == 0)
        return;
    le_sim_check_resolve_pending(check);
    uintptr_t high = address + size_bytes;
    if (!le_sim_regions_put(&check->regions, address, high, state, what ? what : ""))
        check->failed = true;
    memset(check->cache, 0, sizeof check->cache);
    uintptr_t first = address >> SIM_PAGE_BITS, last = (high - 1) >> SIM_PAGE_BITS;
    if (last - first < check->pages.count) {
        for (uintptr_t number = first; number <= last; number++) {
            struct sim_page *page = le_sim_pages_find(&check->pages, number);
            if (page)
                forget_range(page, address, high);
        }
    } else {
        for (size_t k = 0; k < check->pages.capacity; k++)
            if (check->pages.slots[k])
                forget_range(check->pages.slots[k], address, high);
    }
}

void le_sim_check_assume_written(struct sim_check *check) {
    le_sim_check_resolve_pending(check);
    for (size_t k = 0; k < check->regions.count; k++)
        if (check->regions.at[k].state == SIM_MEMORY_FRESH)
            check->regions.at[k].state = SIM_MEMORY_VALID;
}

struct sim_page *le_sim_check_page(struct sim_check *check, uintptr_t address) {
    struct sim_page *page = le_sim_pages_get(&check->pages, address >> SIM_PAGE_BITS);
    if (!page)
        check->failed = true;
    return page;
}

/* ---- operations */
/* Stamps name phases by number. Before the numbers run out, all stamps are forgotten. This may hide a report, but never
 * causes one. */
static void forget_phases(struct sim_check *check) {
    for (size_t k = 0; k < check->pages.capacity; k++)
        if (check->pages.slots[k])
            le_sim_page_close(check->pages.slots[k]);
    finish_residents(check->idle);
    check->idle = NULL;
    finish_phases(check);
    memset(check->orders, 0, sizeof check->orders);
}

uint32_t le_sim_phase_new(struct sim_check *check, const struct sim_phase *phase) {
    if (check->phase_count == check->phase_capacity || !check->phase_capacity) {
        uint32_t capacity = check->phase_capacity ? 2 * check->phase_capacity : 64;
        struct sim_phase *phases = le_realloc(check->phases, capacity * sizeof *phases);
        if (!phases) {
            check->failed = true;
            return 0;
        }
        check->phases = phases;
        check->phase_capacity = capacity;
    }
    check->phases[check->phase_count] = *phase;
    return check->phase_count++;
}

bool le_sim_op_before(struct sim_check *check, uint32_t phase, uint64_t op) {
    struct sim_op_order *order = &check->orders[phase % SIM_ORDER_CACHE];
    if (order->phase != phase || order->op != op) {
        uint64_t other = check->phases[phase].op;
        *order = (struct sim_op_order){
            .phase = phase, .op = op, .before = other == op || check->before(check->user, other, op)};
    }
    return order->before;
}

static uint32_t begin_op(struct sim_check *check, uint64_t op, const char *name, struct sim_phase *phase) {
    if (check->phase_count >= SIM_PHASES_MAX)
        forget_phases(check);
    phase->op = op;
    phase->owner = true;
    phase->name = le_strdup(name ? name : "");
    uint32_t number = phase->name ? le_sim_phase_new(check, phase) : 0;
    if (!number) {
        check->failed = true;
        le_free(phase->name);
    }
    return number;
}

static uint32_t phase_of_op(struct sim_check *check, uint64_t op, const char *what) {
    const struct sim_phase *last = check->phase_count > 1 ? &check->phases[check->phase_count - 1] : NULL;
    if (last && last->op == op && !last->kernel && strcmp(last->name, what) == 0)
        return check->phase_count - 1;
    struct sim_phase phase = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    return begin_op(check, op, what, &phase);
}

static void visit_part(struct sim_access *access, uintptr_t address, size_t size_bytes, bool fresh) {
    struct sim_page *page = le_sim_check_page(access->check, address);
    size_t offset = address % SIM_PAGE_BYTES;
    bool whole = size_bytes == SIM_PAGE_BYTES;
    if (!page || (!whole && !le_sim_page_open(page))) {
        access->check->failed = true;
        return;
    }
    if (fresh && access->writes)
        le_sim_bits_set(page->written, offset, size_bytes);
    if (!whole) {
        le_sim_visit_cells(access, page->cells, offset, size_bytes);
    } else if (!page->cells) {
        le_sim_visit_cell(access, &page->whole);
    } else {
        for (size_t k = 0; k < SIM_PAGE_WORDS; k++)
            le_sim_visit_cell(access, &page->cells[k]);
        if (access->writes) {
            le_sim_page_close(page);
            page->whole.write = access->me;
        }
    }
}

static void visit_region(struct sim_access *access, const struct sim_region *region) {
    uintptr_t low = access->address > region->low ? access->address : region->low;
    uintptr_t end = access->address + access->size_bytes, high = end < region->high ? end : region->high;
    if (!sim_region_usable(region)) {
        le_sim_report_outside(access, region);
        return;
    }
    while (low < high) {
        uintptr_t next = (low | (SIM_PAGE_BYTES - 1)) + 1;
        size_t size_bytes = (next < high ? next : high) - low;
        visit_part(access, low, size_bytes, region->state == SIM_MEMORY_FRESH);
        low += size_bytes;
    }
}

void le_sim_check_range(struct sim_check *check, uint64_t op, const char *what, uintptr_t address, size_t size_bytes,
                        bool write) {
    le_sim_check_resolve_pending(check);
    uint32_t phase = phase_of_op(check, op, what);
    if (!phase || size_bytes == 0)
        return;
    struct sim_access access = {.check = check,
                                .me = {.who = phase << SIM_THREAD_BITS},
                                .address = address,
                                .size_bytes = size_bytes,
                                .writes = write,
                                .reads = !write};
    const struct sim_region *region = le_sim_regions_after(&check->regions, address);
    const struct sim_region *end = check->regions.at + check->regions.count;
    for (; region && region < end && region->low < address + size_bytes; region++)
        visit_region(&access, region);
}

/* ---- grids */
static void map_words(struct sim_check *check, size_t index) {
    const struct sim_shared_variable *variable = &check->variables[index];
    size_t first = variable->address - check->grid.shared_low, end = first + variable->size_bytes;
    for (size_t word = first / 4; 4 * word < end; word++) {
        bool whole = 4 * word >= first && 4 * word + 4 <= end;
        check->owners[word] = whole ? (uint16_t)index : SIM_WORD_MIXED;
    }
}

/* false: out of memory. */
static bool copy_variables(struct sim_check *check) {
    struct sim_grid_info *grid = &check->grid;
    size_t count = (size_t)grid->variable_count, words;
    grid->shared_low &= ~(uintptr_t)3;
    check->shared_bytes = grid->shared_high - grid->shared_low;
    words = check->shared_bytes / 4 + 1;
    check->variables = le_alloc((count + 1) * sizeof *check->variables);
    check->owners = le_alloc(words * sizeof *check->owners);
    if (!check->variables || !check->owners || count >= SIM_WORD_MIXED)
        return false;
    memset(check->owners, 0xff, words * sizeof *check->owners);
    if (count)
        memcpy(check->variables, grid->variables, count * sizeof *check->variables);
    if (grid->dynamic_bytes)
        check->variables[count++] = (struct sim_shared_variable){
            .name = "dynamic", .address = grid->dynamic, .size_bytes = grid->dynamic_bytes};
    check->variable_count = count;
    for (size_t k = 0; k < count; k++)
        map_words(check, k);
    return true;
}

static void drop_variables(struct sim_check *check) {
    le_free(check->variables);
    le_free(check->owners);
    check->variables = NULL;
    check->owners = NULL;
    check->variable_count = 0;
}

void le_sim_check_grid_begin(struct sim_check *check, const struct sim_grid_info *grid) {
    le_sim_check_resolve_pending(check);
    struct sim_phase phase = {.kernel = true, .source_line = grid->source_line, .user = grid->user};
    memcpy(phase.grid, grid->grid, sizeof phase.grid);
    memcpy(phase.block, grid->block, sizeof phase.block);
    check->phase = begin_op(check, grid->op, grid->kernel, &phase);
    check->grid = *grid;
    if (!check->phase || !copy_variables(check)) {
        drop_variables(check);
        check->failed = true;
        return;
    }
    le_sim_known_begin(&check->known, (uint64_t)grid->grid[0] * grid->grid[1] * grid->grid[2]);
    check->in_grid = true;
}

void le_sim_check_grid_end(struct sim_check *check) {
    le_sim_check_resolve_pending(check);
    while (check->residents)
        le_sim_check_block_end(check, check->residents->number);
    check->failed = check->failed || check->known.failed;
    le_sim_known_end(&check->known);
    drop_variables(check);
    check->in_grid = false;
}

struct sim_resident *le_sim_check_resident(struct sim_check *check, uint64_t block) {
    struct sim_resident *resident = check->current;
    if (resident && resident->number == block)
        return resident;
    for (resident = check->residents; resident && resident->number != block;)
        resident = resident->next;
    return resident;
}

/* Provides cells for shared memory of this size, as unwritten. false: out of memory. */
static bool fit_shared(struct sim_resident *resident, size_t shared_bytes) {
    size_t count = shared_bytes / 4 + 1, words = shared_bytes / 64 + 2;
    if (resident->cell_count < count) {
        le_sim_cells_free(resident->cells, resident->cell_count);
        le_free(resident->written);
        resident->cells = le_alloc_zero(count, sizeof *resident->cells);
        resident->written = le_alloc_zero(words, sizeof *resident->written);
        resident->cell_count = resident->cells && resident->written ? count : 0;
    }
    if (resident->cell_count)
        memset(resident->written, 0, words * sizeof *resident->written);
    return resident->cell_count != 0;
}

void le_sim_check_block_begin(struct sim_check *check, uint64_t block) {
    if (!check->in_grid)
        return;
    le_sim_check_resolve_pending(check);
    struct sim_resident *resident = check->idle;
    if (resident)
        check->idle = resident->next;
    else
        resident = le_alloc_zero(1, sizeof *resident);
    if (!resident || !fit_shared(resident, check->shared_bytes)) {
        check->failed = true;
        if (resident)
            le_sim_resident_finish(resident);
        le_free(resident);
        return;
    }
    const unsigned *extents = check->grid.block;
    le_sim_resident_begin(resident, block, extents[0] * extents[1] * extents[2]);
    resident->next = check->residents;
    check->current = check->residents = resident;
}

void le_sim_check_block_switch(struct sim_check *check, uint64_t block) {
    struct sim_pending *pending = &check->pending;
    if (pending->active && pending->access.shared)
        pending->active = false; /* its memory is gone: le_sim_check_resolve_pending was not called */
    check->current = le_sim_check_resident(check, block);
}

void le_sim_check_block_end(struct sim_check *check, uint64_t block) {
    le_sim_check_resolve_pending(check);
    struct sim_resident **link = &check->residents;
    while (*link && (*link)->number != block)
        link = &(*link)->next;
    struct sim_resident *resident = *link;
    if (!resident)
        return;
    *link = resident->next;
    resident->next = check->idle;
    check->idle = resident;
    if (check->current == resident)
        check->current = NULL;
}

/* ---- events that order threads */
void le_sim_check_barrier(struct sim_check *check, uint64_t block) {
    le_sim_check_resolve_pending(check);
    struct sim_resident *resident = le_sim_check_resident(check, block);
    if (resident)
        le_sim_known_barrier(&check->known, resident);
}

void le_sim_check_cluster_barrier(struct sim_check *check, const uint64_t *blocks, unsigned count) {
    struct sim_resident *residents[SIM_CLUSTER_BLOCKS];
    unsigned found = 0;
    le_sim_check_resolve_pending(check);
    for (unsigned k = 0; k < count && k < SIM_CLUSTER_BLOCKS; k++) {
        residents[found] = le_sim_check_resident(check, blocks[k]);
        found += residents[found] != NULL;
    }
    le_sim_known_cluster_barrier(&check->known, residents, found);
}

void le_sim_check_warp_barrier(struct sim_check *check, uint64_t block, unsigned warp, uint32_t mask) {
    le_sim_check_resolve_pending(check);
    struct sim_resident *resident = le_sim_check_resident(check, block);
    if (resident)
        le_sim_known_warp_barrier(&check->known, resident, warp, mask);
}

/* Everything before the barrier comes before everything after it: starts a new phase of the same operation. */
void le_sim_check_grid_barrier(struct sim_check *check) {
    le_sim_check_resolve_pending(check);
    if (!check->in_grid)
        return;
    struct sim_phase phase = check->phases[check->phase];
    phase.owner = false;
    uint32_t number = le_sim_phase_new(check, &phase);
    if (number)
        check->phase = number;
}

void le_sim_check_fence(struct sim_check *check, struct sim_thread_id thread, enum sim_fence scope) {
    le_sim_check_resolve_pending(check);
    struct sim_resident *resident = le_sim_check_resident(check, thread.block);
    if (resident)
        le_sim_known_fence(&check->known, resident, thread.thread, scope);
}

/* ---- reports */
size_t le_sim_check_report_count(const struct sim_check *check) {
    return check->reports.count;
}

const char *le_sim_check_reports(struct sim_check *check) {
    le_sim_check_resolve_pending(check);
    return le_sim_reports_text(&check->reports, check->failed);
}

void le_sim_check_reports_clear(struct sim_check *check) {
    check->pending.active = false;
    le_sim_reports_clear(&check->reports);
}
