/* A map of the address space, sorted by address: arrays, freed arrays, and the gaps of the reserved range. It holds no
 * stamps. Owned by struct sim_check. */
#ifndef LE_SIM_CHECK_REGIONS_H
#define LE_SIM_CHECK_REGIONS_H
#include "sim/check/sim_check.h"

struct sim_description { /* a text with a reference count */
    size_t uses;
    char text[];
};
struct sim_region {
    uintptr_t low, high;
    enum sim_memory_state state;
    struct sim_description *description;
};
struct sim_regions { /* sorted, without overlaps; {0} is empty */
    struct sim_region *at;
    size_t count, capacity;
};
void le_sim_regions_finish(struct sim_regions *regions);
/* Sets a region, which replaces what it overlaps; SIM_MEMORY_OTHER only removes. false: out of memory, and nothing
 * changed. */
bool le_sim_regions_put(struct sim_regions *regions, uintptr_t low, uintptr_t high, enum sim_memory_state state,
                        const char *what);
/* The region that contains address, or NULL. */
const struct sim_region *le_sim_regions_find(const struct sim_regions *regions, uintptr_t address);
/* The first region that ends after address, or NULL. */
const struct sim_region *le_sim_regions_after(const struct sim_regions *regions, uintptr_t address);
/* The usable region nearest to an address that is in none; NULL: there is none. */
const struct sim_region *le_sim_regions_nearest(const struct sim_regions *regions, uintptr_t address);
static inline bool sim_region_usable(const struct sim_region *region) {
    return region->state == SIM_MEMORY_FRESH || region->state == SIM_MEMORY_VALID;
}
#endif
