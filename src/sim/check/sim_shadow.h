/* Shadow memory: for every word, or every byte of a split word, stamps of the last write and of a few last reads; and
 * for every byte, whether it was written. It knows neither the order of accesses nor arrays. Pages of 4 KiB are created
 * at their first use. A page that no kernel has accessed has a single cell. Owned by struct sim_check. */
#ifndef LE_SIM_SHADOW_H
#define LE_SIM_SHADOW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIM_PAGE_BITS = 12,
    SIM_PAGE_BYTES = 1 << SIM_PAGE_BITS,
    SIM_PAGE_WORDS = SIM_PAGE_BYTES / 4,
    SIM_READS = 3,
    SIM_THREAD_BITS = 10,
    SIM_SPLIT = -1 /* the value of `who` that marks a split cell */
};

/* Who accessed, and when. who is phase << 10 | thread, where a phase is a part of an operation (sim_check_state.h); 0:
 * no access. time is the block's clock (sim_happens_before.h). where is the code address relative to the phase's code,
 * with the two flags below. */
struct sim_stamp {
    uint32_t who, block, time, where;
};
#define SIM_STRONG (UINT32_C(1) << 31) /* atomic or volatile */
#define SIM_UPDATE (UINT32_C(1) << 30) /* atomic */
#define SIM_CODE   ((UINT32_C(1) << 30) - 1)

struct sim_cell {
    struct sim_stamp write;
    union {
        struct sim_stamp reads[SIM_READS];
        struct sim_cell *bytes; /* four cells, if write.who is SIM_SPLIT */
    };
};

struct sim_page {
    uintptr_t number;
    struct sim_cell *cells; /* SIM_PAGE_WORDS; NULL: `whole` stands for each of them */
    struct sim_cell whole;
    uint64_t written[SIM_PAGE_BYTES / 64]; /* a bit for each byte */
};
struct sim_pages { /* {0} is empty */
    struct sim_page **slots;
    size_t count, capacity; /* a power of two */
};
void le_sim_pages_finish(struct sim_pages *pages);
struct sim_page *le_sim_pages_find(const struct sim_pages *pages, uintptr_t number); /* NULL: none yet */
struct sim_page *le_sim_pages_get(struct sim_pages *pages, uintptr_t number);        /* NULL: out of memory */
/* Gives the page a cell for each word. false: out of memory. */
bool le_sim_page_open(struct sim_page *page);
/* Gives the page a single empty cell. */
void le_sim_page_close(struct sim_page *page);

/* The cells of a word's four bytes; splits the cell if necessary. NULL: out of memory. */
struct sim_cell *le_sim_cell_split(struct sim_cell *cell);
static inline bool sim_cell_is_split(const struct sim_cell *cell) {
    return cell->write.who == (uint32_t)SIM_SPLIT;
}
void le_sim_cells_free(struct sim_cell *cells, size_t count);

/* Set or clear bits [first, first + count) of a map; count may be 0. */
void le_sim_bits_set(uint64_t *bits, size_t first, size_t count);
void le_sim_bits_clear(uint64_t *bits, size_t first, size_t count);
/* Forgets all accesses to a part of a page, which then counts as unwritten. */
void le_sim_page_forget(struct sim_page *page, size_t offset, size_t size_bytes);
/* Which of the bits [first, first + count) are not set, as a mask: bit k for first + k. count: at most 64. */
uint64_t le_sim_bits_missing(const uint64_t *bits, size_t first, size_t count);
#endif
