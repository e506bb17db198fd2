/* Handles: numbers that name objects of sim. A handle consists of a kind, a generation and a slot, so the handle of a
 * destroyed object is recognized as invalid. Guarded by the state's lock. */
#include "base/memory.h"
#include "sim/driver/sim_state.h"

enum { KIND_SHIFT = 48, GENERATION_SHIFT = 24, FIELD_MASK = 0xffffff };

static int free_slot(struct sim_handles *handles) {
    for (int k = 0; k < handles->count; k++)
        if (!handles->at[k].object)
            return k;
    int count = handles->count ? 2 * handles->count : 16;
    struct sim_handle_slot *at = le_realloc(handles->at, (size_t)count * sizeof *at);
    if (!at)
        return -1;
    for (int k = handles->count; k < count; k++)
        at[k] = (struct sim_handle_slot){0};
    int slot = handles->count;
    handles->at = at;
    handles->count = count;
    return slot;
}

uintptr_t le_sim_handle_put(struct sim_handles *handles, void *object) {
    int slot = free_slot(handles);
    if (slot < 0)
        return 0;
    handles->generation = (handles->generation + 1) & FIELD_MASK;
    handles->at[slot] = (struct sim_handle_slot){.object = object, .generation = handles->generation};
    return (uintptr_t)handles->kind << KIND_SHIFT | (uintptr_t)handles->generation << GENERATION_SHIFT |
           (uintptr_t)(slot + 1);
}

static struct sim_handle_slot *slot_of(const struct sim_handles *handles, uintptr_t handle) {
    uintptr_t slot = handle & FIELD_MASK;
    if (handle >> KIND_SHIFT != (uintptr_t)handles->kind || !slot || slot > (uintptr_t)handles->count)
        return NULL;
    struct sim_handle_slot *found = &handles->at[slot - 1];
    return found->object && found->generation == (handle >> GENERATION_SHIFT & FIELD_MASK) ? found : NULL;
}

void *le_sim_handle_get(const struct sim_handles *handles, uintptr_t handle) {
    struct sim_handle_slot *slot = slot_of(handles, handle);
    return slot ? slot->object : NULL;
}

void le_sim_handle_drop(struct sim_handles *handles, uintptr_t handle) {
    struct sim_handle_slot *slot = slot_of(handles, handle);
    if (slot)
        slot->object = NULL;
}

int le_sim_handles_live(const struct sim_handles *handles) {
    int live = 0;
    for (int k = 0; k < handles->count; k++)
        live += handles->at[k].object != NULL;
    return live;
}

/* The generation is not reset, so earlier handles stay invalid. */
void le_sim_handles_finish(struct sim_handles *handles) {
    le_free(handles->at);
    handles->at = NULL;
    handles->count = 0;
}
