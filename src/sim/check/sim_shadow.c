/* Pages of cells, in a hash table by page number, and maps of written bytes. */
#include "sim/check/sim_shadow.h"
#include "base/memory.h"
#include <string.h>

/* ---- cells */
void le_sim_cells_free(struct sim_cell *cells, size_t count) {
    for (size_t k = 0; cells && k < count; k++)
        if (sim_cell_is_split(&cells[k]))
            le_free(cells[k].bytes);
    le_free(cells);
}

struct sim_cell *le_sim_cell_split(struct sim_cell *cell) {
    if (sim_cell_is_split(cell))
        return cell->bytes;
    struct sim_cell *bytes = le_alloc(4 * sizeof *bytes);
    if (!bytes)
        return NULL;
    for (int k = 0; k < 4; k++)
        bytes[k] = *cell;
    *cell = (struct sim_cell){.write = {.who = (uint32_t)SIM_SPLIT}, .bytes = bytes};
    return bytes;
}

/* ---- maps of bits */
static uint64_t low_bits(size_t count) {
    return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

void le_sim_bits_set(uint64_t *bits, size_t first, size_t count) {
    while (count) {
        size_t shift = first % 64, part = 64 - shift < count ? 64 - shift : count;
        bits[first / 64] |= low_bits(part) << shift;
        first += part;
        count -= part;
    }
}

void le_sim_bits_clear(uint64_t *bits, size_t first, size_t count) {
    while (count) {
        size_t shift = first % 64, part = 64 - shift < count ? 64 - shift : count;
        bits[first / 64] &= ~(low_bits(part) << shift);
        first += part;
        count -= part;
    }
}

uint64_t le_sim_bits_missing(const uint64_t *bits, size_t first, size_t count) {
    size_t shift = first % 64;
    uint64_t found = bits[first / 64] >> shift;
    if (shift + count > 64)
        found |= bits[first / 64 + 1] << (64 - shift);
    return ~found & low_bits(count);
}

/* ---- pages */
static size_t slot_of(uintptr_t number, size_t capacity) {
    return (size_t)((uint64_t)number * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (capacity - 1);
}

static struct sim_page **find_slot(struct sim_page **slots, size_t capacity, uintptr_t number) {
    size_t k = slot_of(number, capacity);
    while (slots[k] && slots[k]->number != number)
        k = (k + 1) & (capacity - 1);
    return &slots[k];
}

struct sim_page *le_sim_pages_find(const struct sim_pages *pages, uintptr_t number) {
    return pages->capacity ? *find_slot(pages->slots, pages->capacity, number) : NULL;
}

static bool grow_pages(struct sim_pages *pages) {
    size_t capacity = pages->capacity ? 2 * pages->capacity : 64;
    struct sim_page **slots = le_alloc_zero(capacity, sizeof(struct sim_page *));
    if (!slots)
        return false;
    for (size_t k = 0; k < pages->capacity; k++)
        if (pages->slots[k])
            *find_slot(slots, capacity, pages->slots[k]->number) = pages->slots[k];
    le_free(pages->slots);
    pages->slots = slots;
    pages->capacity = capacity;
    return true;
}

struct sim_page *le_sim_pages_get(struct sim_pages *pages, uintptr_t number) {
    if (2 * pages->count >= pages->capacity && !grow_pages(pages))
        return NULL;
    struct sim_page **slot = find_slot(pages->slots, pages->capacity, number);
    if (!*slot) {
        *slot = le_alloc_zero(1, sizeof **slot);
        if (!*slot)
            return NULL;
        (*slot)->number = number;
        pages->count++;
    }
    return *slot;
}

void le_sim_pages_finish(struct sim_pages *pages) {
    for (size_t k = 0; k < pages->capacity; k++)
        if (pages->slots[k]) {
            le_sim_page_close(pages->slots[k]);
            le_free(pages->slots[k]);
        }
    le_free(pages->slots);
    *pages = (struct sim_pages){0};
}

bool le_sim_page_open(struct sim_page *page) {
    if (page->cells)
        return true;
    page->cells = le_alloc(SIM_PAGE_WORDS * sizeof *page->cells);
    for (int k = 0; page->cells && k < SIM_PAGE_WORDS; k++)
        page->cells[k] = page->whole;
    return page->cells != NULL;
}

void le_sim_page_close(struct sim_page *page) {
    le_sim_cells_free(page->cells, SIM_PAGE_WORDS);
    page->cells = NULL;
    page->whole = (struct sim_cell){0};
}

/* Words that are partly in the range are forgotten entirely, because arrays start at word boundaries. */
void le_sim_page_forget(struct sim_page *page, size_t offset, size_t size_bytes) {
    le_sim_bits_clear(page->written, offset, size_bytes);
    if (size_bytes == SIM_PAGE_BYTES) {
        le_sim_page_close(page);
    } else if (page->cells || page->whole.write.who || page->whole.reads[0].who) {
        if (!le_sim_page_open(page)) {
            page->whole = (struct sim_cell){0}; /* out of memory: forgets too much rather than too little */
            return;
        }
        for (size_t k = offset / 4; 4 * k < offset + size_bytes; k++) {
            if (sim_cell_is_split(&page->cells[k]))
                le_free(page->cells[k].bytes);
            page->cells[k] = (struct sim_cell){0};
        }
    }
}
