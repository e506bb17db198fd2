/* The check's one state and what its files offer each other. Not seen outside of sim_check*.c. */
#ifndef LE_SIM_CHECK_STATE_H
#define LE_SIM_CHECK_STATE_H
#include "sim/check/sim_check.h"
#include "sim/check/sim_happens_before.h"
#include "sim/check/sim_check_regions.h"
#include "sim/check/sim_report.h"
#include "sim/check/sim_shadow.h"

/* A part of an operation within which only sim_check_known tells order: all of it, or a grid from one grid barrier to
 * the next. */
struct sim_phase {
    uint64_t op;
    char *name; /* of the kernel, or what the operation is; owned by the first of the operation's phases */
    bool kernel, owner;
    unsigned grid[3], block[3];
    uintptr_t code; /* stamps hold the distance from here; 0: no access yet */
    bool (*source_line)(void *user, uintptr_t pc, char *text, size_t size_bytes);
    void *user;
};
enum { SIM_PHASES_MAX = 1 << 20, SIM_PAGE_CACHE = 1024, SIM_ORDER_CACHE = 256 };

/* One access as it is checked: of a thread, or of an operation (block is NULL). */
struct sim_access {
    struct sim_check *check;
    struct sim_resident *block, *home; /* home: whose shared memory it is */
    unsigned thread, flags;
    struct sim_stamp me;
    uintptr_t address;
    size_t size_bytes;
    bool shared, writes, reads, reported;
};
/* Where a word of shared memory belongs. */
enum { SIM_WORD_NONE = 0xffff, SIM_WORD_MIXED = 0xfffe };

struct sim_check {
    bool (*before)(void *user, uint64_t a, uint64_t b);
    void *user;
    struct sim_regions regions;
    struct sim_pages pages;
    struct sim_page_slot {
        uintptr_t number; /* + 1 */
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
    struct sim_grid_info grid; /* variables: the next two */
    struct sim_shared_variable *variables;
    size_t variable_count;
    uint16_t *owners; /* of shared words: index of a variable, or SIM_WORD_... */
    size_t shared_bytes;
    uint32_t phase; /* the grid's present one */
    struct sim_resident *current, *residents, *idle;
    struct sim_known known;

    struct sim_pending { /* two plain writes without order: a report, unless both write the same */
        bool active;
        struct sim_access access;
        struct sim_stamp other;
        unsigned char old[16];
    } pending;
    uint32_t random;
    bool failed; /* no memory for something: there may be more than what is reported */
    struct sim_reports reports;
};

/* ---- sim_check.c */
struct sim_page *le_sim_check_page(struct sim_check *check, uintptr_t address);    /* NULL: no memory */
uint32_t le_sim_phase_new(struct sim_check *check, const struct sim_phase *phase); /* 0: no memory */
struct sim_resident *le_sim_check_resident(struct sim_check *check, uint64_t block);
bool le_sim_op_before(struct sim_check *check, uint32_t phase, uint64_t op);

/* ---- sim_check_cells.c: the cells of bytes [first, first + count) of a page or of shared memory */
void le_sim_visit_cells(struct sim_access *access, struct sim_cell *cells, size_t first, size_t count);
void le_sim_visit_cell(struct sim_access *access, struct sim_cell *cell); /* also one that is split */

/* ---- sim_check_report.c: what is found becomes a report */
void le_sim_report_conflict(struct sim_access *access, const struct sim_stamp *other, bool other_wrote);
void le_sim_report_uninitialised(struct sim_access *access);
void le_sim_report_misaligned(struct sim_access *access);
/* region: where the access begins; NULL: in none. */
void le_sim_report_outside(struct sim_access *access, const struct sim_region *region);
void le_sim_report_shared_outside(struct sim_access *access);
#endif
