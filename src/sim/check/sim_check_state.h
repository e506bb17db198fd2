/* The state of the check, and the functions that its files share. Private to sim_check*.c. */
#ifndef LE_SIM_CHECK_STATE_H
#define LE_SIM_CHECK_STATE_H
#include "sim/check/sim_check.h"
#include "sim/check/sim_happens_before.h"
#include "sim/check/sim_check_regions.h"
#include "sim/check/sim_report.h"
#include "sim/check/sim_shadow.h"

/* A part of an operation: all of it, or, in a grid, the part from one grid barrier to the next. Within a phase,
 * sim_happens_before.c decides order. */
struct sim_phase {
    uint64_t op;
    char *name; /* of the kernel or operation; owned by the operation's first phase */
    bool kernel, owner;
    unsigned grid[3], block[3];
    uintptr_t code; /* stamps hold code addresses relative to this one; 0: no access yet */
    bool (*source_line)(void *user, uintptr_t pc, char *text, size_t size_bytes);
    void *user;
};
enum { SIM_PHASES_MAX = 1 << 20, SIM_PAGE_CACHE = 1024, SIM_ORDER_CACHE = 256 };

/* An access that is being checked: by a thread, or by an operation that is not a kernel (block is NULL). */
struct sim_access {
    struct sim_check *check;
    struct sim_resident *block, *home; /* home: the block that owns the shared memory */
    unsigned thread, flags;
    struct sim_stamp me;
    uintptr_t address;
    size_t size_bytes;
    bool shared, writes, reads, reported;
};
/* Values of sim_check.owners other than the index of a variable: no variable, or several. */
enum { SIM_WORD_NONE = 0xffff, SIM_WORD_MIXED = 0xfffe };

struct sim_check {
    bool (*before)(void *user, uint64_t a, uint64_t b);
    void *user;
    struct sim_regions regions;
    struct sim_pages pages;
    struct sim_page_slot {
        uintptr_t number; /* of the page, + 1; 0: empty */
        struct sim_page *page;
        const struct sim_region *region;
    } cache[SIM_PAGE_CACHE];
    struct sim_phase *phases; /* from 1 */
    uint32_t phase_count, phase_capacity;
    struct sim_op_order {
        uint32_t phase;
        bool before;
        uint64_t op;
    } orders[SIM_ORDER_CACHE];

    bool in_grid;
    struct sim_grid_info grid; /* its variables are not used; see the next two fields */
    struct sim_shared_variable *variables;
    size_t variable_count;
    uint16_t *owners; /* for each word of shared memory: the index of its variable, or SIM_WORD_... */
    size_t shared_bytes;
    uint32_t phase; /* the grid's current phase */
    struct sim_resident *current, *residents, *idle;
    struct sim_known known;

    struct sim_pending { /* two unordered plain writes: reported unless both write the same value */
        bool active;
        struct sim_access access;
        struct sim_stamp other;
        unsigned char old[16];
    } pending;
    uint32_t random;
    bool failed; /* out of memory at some time: reports may be missing */
    struct sim_reports reports;
};

/* ---- sim_check.c */
struct sim_page *le_sim_check_page(struct sim_check *check, uintptr_t address);    /* NULL: out of memory */
uint32_t le_sim_phase_new(struct sim_check *check, const struct sim_phase *phase); /* 0: out of memory */
struct sim_resident *le_sim_check_resident(struct sim_check *check, uint64_t block);
bool le_sim_op_before(struct sim_check *check, uint32_t phase, uint64_t op);

/* ---- sim_check_cells.c: checks and records an access in the cells of bytes [first, first + count) of a page or of
 * shared memory */
void le_sim_visit_cells(struct sim_access *access, struct sim_cell *cells, size_t first, size_t count);
void le_sim_visit_cell(struct sim_access *access, struct sim_cell *cell); /* the cell may be split */

/* ---- sim_check_report.c: makes reports */
void le_sim_report_conflict(struct sim_access *access, const struct sim_stamp *other, bool other_wrote);
void le_sim_report_uninitialized(struct sim_access *access);
void le_sim_report_misaligned(struct sim_access *access);
/* region: the region in which the access begins, or NULL. */
void le_sim_report_outside(struct sim_access *access, const struct sim_region *region);
void le_sim_report_shared_outside(struct sim_access *access);
#endif
