/* A sorted array of regions. A new region cuts those that it overlaps. */
#include "sim/check/sim_check_regions.h"
#include "base/memory.h"
#include <string.h>

static void release_description(struct sim_description *what) {
    if (what && --what->uses == 0)
        le_free(what);
}

void le_sim_regions_finish(struct sim_regions *regions) {
    for (size_t k = 0; k < regions->count; k++)
        release_description(regions->at[k].description);
    le_free(regions->at);
    *regions = (struct sim_regions){0};
}

/* The index of the first region that ends after address. */
static size_t first_after(const struct sim_regions *regions, uintptr_t address) {
    size_t low = 0, high = regions->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (regions->at[middle].high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct sim_region *le_sim_regions_after(const struct sim_regions *regions, uintptr_t address) {
    size_t k = first_after(regions, address);
    return k < regions->count ? &regions->at[k] : NULL;
}

const struct sim_region *le_sim_regions_find(const struct sim_regions *regions, uintptr_t address) {
    const struct sim_region *region = le_sim_regions_after(regions, address);
    return region && region->low <= address ? region : NULL;
}

const struct sim_region *le_sim_regions_nearest(const struct sim_regions *regions, uintptr_t address) {
    size_t middle = first_after(regions, address);
    const struct sim_region *below = NULL, *above = NULL;
    for (size_t k = middle; !below && k-- > 0;)
        if (sim_region_usable(&regions->at[k]))
            below = &regions->at[k];
    for (size_t k = middle; !above && k < regions->count; k++)
        if (regions->at[k].low > address && sim_region_usable(&regions->at[k]))
            above = &regions->at[k];
    if (!below || !above)
        return below ? below : above;
    return address - below->high <= above->low - address ? below : above;
}

static bool reserve_regions(struct sim_regions *regions, size_t count) {
    if (count <= regions->capacity)
        return true;
    size_t capacity = 2 * count + 16;
    struct sim_region *at = le_realloc(regions->at, capacity * sizeof *at);
    if (!at)
        return false;
    regions->at = at;
    regions->capacity = capacity;
    return true;
}

static void insert_region(struct sim_regions *regions, size_t k, struct sim_region region) {
    memmove(&regions->at[k + 1], &regions->at[k], (regions->count - k) * sizeof *regions->at);
    regions->at[k] = region;
    regions->count++;
}

/* Removes [low, high) from all regions. The array has room for one more region. */
static void cut_regions(struct sim_regions *regions, uintptr_t low, uintptr_t high) {
    size_t k = first_after(regions, low);
    if (k < regions->count && regions->at[k].low < low) {
        struct sim_region rest = regions->at[k];
        regions->at[k].high = low;
        if (rest.high > high) {
            rest.low = high;
            rest.description->uses++;
            insert_region(regions, k + 1, rest);
            return;
        }
        k++;
    }
    size_t gone = k;
    while (gone < regions->count && regions->at[gone].high <= high)
        release_description(regions->at[gone++].description);
    if (gone < regions->count && regions->at[gone].low < high)
        regions->at[gone].low = high;
    memmove(&regions->at[k], &regions->at[gone], (regions->count - gone) * sizeof *regions->at);
    regions->count -= gone - k;
}

/* Joins adjacent gaps, so that their number does not grow in a long run. */
static void join_gaps(struct sim_regions *regions, size_t k) {
    if (k + 1 < regions->count && regions->at[k].state == SIM_MEMORY_NONE &&
        regions->at[k + 1].state == SIM_MEMORY_NONE && regions->at[k].high == regions->at[k + 1].low) {
        regions->at[k].high = regions->at[k + 1].high;
        release_description(regions->at[k + 1].description);
        memmove(&regions->at[k + 1], &regions->at[k + 2], (regions->count - k - 2) * sizeof *regions->at);
        regions->count--;
    }
}

bool le_sim_regions_put(struct sim_regions *regions, uintptr_t low, uintptr_t high, enum sim_memory_state state,
                        const char *what) {
    size_t length = strlen(what) + 1;
    if (!reserve_regions(regions, regions->count + 2))
        return false;
    if (state == SIM_MEMORY_OTHER) {
        cut_regions(regions, low, high);
        return true;
    }
    struct sim_description *text = le_alloc(sizeof *text + length);
    if (!text)
        return false;
    text->uses = 1;
    memcpy(text->text, what, length);
    cut_regions(regions, low, high);
    size_t k = first_after(regions, low);
    insert_region(regions, k, (struct sim_region){.low = low, .high = high, .state = state, .description = text});
    join_gaps(regions, k);
    if (k > 0)
        join_gaps(regions, k - 1);
    return true;
}
