/* Which addresses are what: arrays, freed arrays, and the gaps of the reserved range, in order of address. No stamps.
 * Owner: struct sim_check. */
#ifndef LE_SIM_CHECK_REGIONS_H
#define LE_SIM_CHECK_REGIONS_H
#include "sim/check/sim_check.h"

struct sim_description { /* a shared text */
    size_t uses;
    char text[];
};
struct sim_region {
    uintptr_t low, high;
    enum sim_memory_state state;
    struct sim_description *description;
};
struct sim_regions { /* sorted, none overlap; {0} is empty */
    struct sim_region *at;
    size_t count, capacity;
};
void le_sim_regions_finish(struct sim_regions *regions);
/* What was there before ends there. false: no memory, nothing changed but that parts may be gone. */
bool le_sim_regions_put(struct sim_regions *regions, uintptr_t low, uintptr_t high, enum sim_memory_state state,
                        const char *what);
/* The region with address in it; NULL: none. */
const struct sim_region *le_sim_regions_find(const struct sim_regions *regions, uintptr_t address);
/* The first that ends after address; NULL: none. */
const struct sim_region *le_sim_regions_after(const struct sim_regions *regions, uintptr_t address);
/* The array next to an address that is in none: NULL if there is no array at all. */
const struct sim_region *le_sim_regions_nearest(const struct sim_regions *regions, uintptr_t address);
static inline bool sim_region_usable(const struct sim_region *region) {
    return region->state == SIM_MEMORY_FRESH || region->state == SIM_MEMORY_VALID;
}
#endif
