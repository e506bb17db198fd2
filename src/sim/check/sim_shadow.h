/* What memory last saw: for every word, and for every byte where words are taken apart, the last write and a few last
 * reads as stamps, and for every byte whether it was written. It knows no order and no arrays. Pages of 4 KiB appear at
 * their first use; one that no kernel touched has one cell for all of it. Owner: struct sim_check. */
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
    SIM_SPLIT = -1 /* who, as a number, of a word that is taken apart */
};

/* Who accessed, and when: who is phase << 10 | thread, a phase being a part of an operation (sim_check_state.h) and 0
 * no access at all; time is the block's clock (sim_happens_before.h); where is the place of the code with two bits
 * above.
 */
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
    struct sim_cell *cells; /* SIM_PAGE_WORDS; NULL: whole is each one's */
    struct sim_cell whole;
    uint64_t written[SIM_PAGE_BYTES / 64]; /* a bit for each byte */
};
struct sim_pages { /* {0} is empty */
    struct sim_page **slots;
    size_t count, capacity; /* a power of two */
};
void le_sim_pages_finish(struct sim_pages *pages);
struct sim_page *le_sim_pages_find(const struct sim_pages *pages, uintptr_t number); /* NULL: none yet */
struct sim_page *le_sim_pages_get(struct sim_pages *pages, uintptr_t number);        /* NULL: no memory */
/* Gives the page cells of its own. false: no memory. */
bool le_sim_page_open(struct sim_page *page);
/* One cell for all of it, empty. */
void le_sim_page_close(struct sim_page *page);

/* The cells of a word's bytes: takes the word apart if need be. NULL: no memory. */
struct sim_cell *le_sim_cell_split(struct sim_cell *cell);
static inline bool sim_cell_is_split(const struct sim_cell *cell) {
    return cell->write.who == (uint32_t)SIM_SPLIT;
}
void le_sim_cells_free(struct sim_cell *cells, size_t count);

/* Bits [first, first + count) of a map; count may be 0. */
void le_sim_bits_set(uint64_t *bits, size_t first, size_t count);
void le_sim_bits_clear(uint64_t *bits, size_t first, size_t count);
/* [address, +size_bytes) lies in one page. */
void le_sim_page_forget(struct sim_page *page, size_t offset, size_t size_bytes); /* no accesses, nothing written */
/* Which of the count (at most 64) bytes from first on are not set: bit k for byte first + k. */
uint64_t le_sim_bits_missing(const uint64_t *bits, size_t first, size_t count);
#endif
