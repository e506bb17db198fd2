/* The texts of reports. The first line names the kind, the kernel, the block, the thread and the source location. The
 * second says what was accessed. The third, if there is one, says who else accessed it. The texts are stable;
 * docs/SIM.md shows them. */
#include "base/memory.h"
#include "sim/check/sim_check_state.h"
#include <stdio.h>
#include <string.h>

enum { LOCATION_BYTES = 512, NEAR_BYTES = 1 << 20 };

static struct sim_phase *phase_of(const struct sim_check *check, const struct sim_stamp *stamp) {
    return &check->phases[stamp->who >> SIM_THREAD_BITS];
}

static uintptr_t code_of(const struct sim_check *check, const struct sim_stamp *stamp) {
    const struct sim_phase *phase = phase_of(check, stamp);
    return phase->code && stamp->where & SIM_CODE ? phase->code + (stamp->where & SIM_CODE) : 0;
}

static void source_line_of(const struct sim_check *check, const struct sim_stamp *stamp, char text[LOCATION_BYTES]) {
    const struct sim_phase *phase = phase_of(check, stamp);
    uintptr_t code = code_of(check, stamp);
    if (!code || !phase->source_line || !phase->source_line(phase->user, code, text, LOCATION_BYTES))
        snprintf(text, LOCATION_BYTES, "an unknown line");
}

static const char *article(const char *what) {
    if (what[0] < 'a' || what[0] > 'z')
        return "";
    return strchr("aeiou", what[0]) ? "an " : "a ";
}

static void add_position(struct le_text *text, uint64_t k, const unsigned extents[3]) {
    le_text_add(text, "(%u,%u,%u)", (unsigned)(k % extents[0]), (unsigned)(k / extents[0] % extents[1]),
                (unsigned)(k / extents[0] / extents[1]));
}

static void add_thread(struct le_text *text, const struct sim_phase *phase, const struct sim_stamp *stamp) {
    le_text_add(text, "thread ");
    add_position(text, stamp->who % SIM_THREADS_MAX, phase->block);
}

static void add_block_and_thread(struct le_text *text, const struct sim_phase *phase, const struct sim_stamp *stamp) {
    le_text_add(text, "block ");
    add_position(text, stamp->block, phase->grid);
    le_text_add(text, " ");
    add_thread(text, phase, stamp);
}

static void add_bytes(struct le_text *text, uint64_t count) {
    le_sim_text_add_count(text, count);
    le_text_add(text, count == 1 ? " byte" : " bytes");
}

/* Writes the first line, and the beginning of the second. locations: reports with the same locations are one report. */
static void begin_report(const struct sim_access *access, enum sim_report_kind kind, struct le_text *text,
                         struct le_text *locations) {
    const struct sim_phase *phase = phase_of(access->check, &access->me);
    char location[LOCATION_BYTES] = "";
    if (access->block) {
        source_line_of(access->check, &access->me, location);
        le_text_add(text, "%s in kernel %s: ", le_sim_report_name(kind), phase->name);
        add_block_and_thread(text, phase, &access->me);
        le_text_add(text, " at %s\n", location);
    } else {
        le_text_add(text, "%s: %s\n", le_sim_report_name(kind), phase->name);
    }
    le_text_add(locations, "%s|%s", phase->name, location);
    le_text_add(text, "    %s ", access->flags & SIM_ATOMIC ? "updates" : access->writes ? "writes" : "reads");
    add_bytes(text, access->size_bytes);
}

static uint64_t alias_of(const struct sim_access *access, enum sim_report_kind kind, const struct sim_stamp *other) {
    const struct sim_check *check = access->check;
    uint64_t words[] = {code_of(check, &access->me), other ? code_of(check, other) : 0,
                        (uintptr_t)phase_of(check, &access->me)->name,
                        other ? (uintptr_t)phase_of(check, other)->name : 0};
    uint64_t key = 0;
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        key = (key ^ words[k]) * UINT64_C(0x9e3779b97f4a7c15) + (key >> 29);
    return le_sim_report_key(kind, key, "");
}

static void end_report(struct sim_access *access, enum sim_report_kind kind, uint64_t alias, struct le_text *text,
                       struct le_text *locations) {
    struct sim_reports *reports = &access->check->reports;
    if (locations->failed)
        text->failed = true;
    le_sim_reports_add(reports, alias, locations->failed ? alias : le_sim_report_key(kind, 0, locations->at), text);
    le_text_finish(locations);
}

/* ---- describing an address */
static const struct sim_shared_variable *variable_at(const struct sim_check *check, uintptr_t address) {
    for (size_t k = 0; k < check->variable_count; k++)
        if (address - check->variables[k].address < check->variables[k].size_bytes)
            return &check->variables[k];
    return NULL;
}

static void add_part(struct le_text *text, size_t offset, const char *before, const char *name, const char *after) {
    le_text_add(text, " at byte ");
    le_sim_text_add_count(text, offset);
    le_text_add(text, " of %s%s%s", before, name, after);
}

static void add_target(struct le_text *text, const struct sim_access *access) {
    const struct sim_check *check = access->check;
    const struct sim_shared_variable *variable = access->shared ? variable_at(check, access->address) : NULL;
    const struct sim_region *region = access->shared ? NULL : le_sim_regions_find(&check->regions, access->address);
    if (variable && variable->address == check->grid.dynamic) {
        add_part(text, access->address - variable->address, "", "dynamic shared memory", " (");
        add_bytes(text, variable->size_bytes);
        le_text_add(text, ")");
    } else if (variable) {
        add_part(text, access->address - variable->address, "shared '", variable->name, "' (");
        add_bytes(text, variable->size_bytes);
        le_text_add(text, ")");
    }
    if (access->shared && access->home != access->block) {
        le_text_add(text, " of block ");
        add_position(text, access->home->number, phase_of(check, &access->me)->grid);
    }
    if (region) {
        add_part(text, access->address - region->low, article(region->description->text), region->description->text,
                 "");
    }
}

static void add_distance(struct le_text *text, size_t distance, const char *side) {
    if (distance) {
        le_text_add(text, ", ");
        add_bytes(text, distance);
    } else {
        le_text_add(text, ", just");
    }
    le_text_add(text, " %s of ", side);
}

/* Describes where the access lies relative to [low, high). */
static void add_beside(struct le_text *text, const struct sim_access *access, uintptr_t low, uintptr_t high) {
    if (access->address >= high) {
        add_distance(text, access->address - high, "after the end");
    } else if (access->address + access->size_bytes <= low) {
        add_distance(text, low - access->address - access->size_bytes, "before the start");
    } else if (access->address < low) {
        le_text_add(text, ", the first ");
        le_sim_text_add_count(text, low - access->address);
        le_text_add(text, " of them before the start of ");
    } else {
        le_text_add(text, ", the last ");
        le_sim_text_add_count(text, access->address + access->size_bytes - high);
        le_text_add(text, " of them after the end of ");
    }
}

/* ---- races */
static void add_other(struct le_text *text, const struct sim_access *access, const struct sim_stamp *other,
                      const char *did, const char *location) {
    const struct sim_phase *mine = phase_of(access->check, &access->me), *phase = phase_of(access->check, other);
    le_text_add(text, "\n    which ");
    if (mine->op == phase->op && other->block == access->me.block) {
        add_thread(text, phase, other);
        bool warp = (other->who ^ access->me.who) / SIM_WARP == 0;
        le_text_add(text, " %s at %s, with no barrier%s between\n", did, location, warp ? " or __syncwarp" : "");
    } else if (mine->op == phase->op) {
        add_block_and_thread(text, phase, other);
        le_text_add(text, " %s at %s, with nothing that orders the two blocks\n", did, location);
    } else if (phase->kernel) {
        le_text_add(text, "kernel %s, ", phase->name);
        add_block_and_thread(text, phase, other);
        le_text_add(text, ", %s at %s, with nothing that orders the two operations\n", did, location);
    } else {
        le_text_add(text, "%s%s %s, with nothing that orders the two operations\n", article(phase->name), phase->name,
                    did);
    }
}

void le_sim_report_conflict(struct sim_access *access, const struct sim_stamp *other, bool other_wrote) {
    const struct sim_check *check = access->check;
    const struct sim_phase *phase = phase_of(check, other);
    enum sim_report_kind kind = access->shared ? SIM_REPORT_SHARED_RACE : SIM_REPORT_GLOBAL_RACE;
    if (phase_of(check, &access->me)->op != phase->op)
        kind = SIM_REPORT_STREAM_ORDER;
    uint64_t alias = alias_of(access, kind, other);
    if (access->reported || check->known.failed)
        return;
    access->reported = true;
    if (le_sim_reports_known(&access->check->reports, alias))
        return;
    struct le_text text = {0}, locations = {0};
    char location[LOCATION_BYTES];
    source_line_of(check, other, location);
    begin_report(access, kind, &text, &locations);
    add_target(&text, access);
    const char *did = !other_wrote ? "read" : other->where & SIM_UPDATE ? "updated atomically" : "wrote";
    add_other(&text, access, other, did, location);
    le_text_add(&locations, "|%s|%s", phase->name, phase->kernel ? location : "");
    end_report(access, kind, alias, &text, &locations);
}

/* ---- the rest */
static bool is_known(struct sim_access *access, enum sim_report_kind kind, uint64_t *alias) {
    *alias = alias_of(access, kind, NULL);
    return le_sim_reports_known(&access->check->reports, *alias);
}

void le_sim_report_uninitialized(struct sim_access *access) {
    uint64_t alias;
    if (is_known(access, SIM_REPORT_UNINITIALISED, &alias))
        return;
    struct le_text text = {0}, locations = {0};
    begin_report(access, SIM_REPORT_UNINITIALISED, &text, &locations);
    add_target(&text, access);
    le_text_add(&text, ", which nothing has written\n");
    end_report(access, SIM_REPORT_UNINITIALISED, alias, &text, &locations);
}

void le_sim_report_misaligned(struct sim_access *access) {
    uint64_t alias;
    if (is_known(access, SIM_REPORT_MISALIGNED, &alias))
        return;
    struct le_text text = {0}, locations = {0};
    begin_report(access, SIM_REPORT_MISALIGNED, &text, &locations);
    add_target(&text, access);
    le_text_add(&text, ", an address that is not a multiple of %zu\n", access->size_bytes);
    end_report(access, SIM_REPORT_MISALIGNED, alias, &text, &locations);
}

/* The array that was probably meant: the nearest one, if the access is within the device's addresses or near an array.
 * NULL: none. */
static const struct sim_region *nearest_array(const struct sim_access *access, bool device) {
    const struct sim_region *near = le_sim_regions_nearest(&access->check->regions, access->address);
    if (!near || access->address < SIM_PAGE_BYTES)
        return NULL;
    size_t distance = access->address >= near->high ? access->address - near->high : near->low - access->address;
    return device || distance < NEAR_BYTES ? near : NULL;
}

void le_sim_report_outside(struct sim_access *access, const struct sim_region *region) {
    bool freed = region && region->state == SIM_MEMORY_FREED;
    enum sim_report_kind kind = freed ? SIM_REPORT_USE_AFTER_FREE : SIM_REPORT_OUT_OF_BOUNDS;
    uint64_t alias;
    if (is_known(access, kind, &alias))
        return;
    struct le_text text = {0}, locations = {0};
    begin_report(access, kind, &text, &locations);
    const struct sim_region *near =
        region && sim_region_usable(region) ? region : nearest_array(access, region != NULL);
    if (freed) {
        add_target(&text, access);
        le_text_add(&text, " that was freed\n");
    } else if (near) {
        add_beside(&text, access, near->low, near->high);
        le_text_add(&text, "%s%s\n", article(near->description->text), near->description->text);
    } else {
        bool null = access->address < SIM_PAGE_BYTES;
        le_text_add(&text, " at address %#zx%s\n", (size_t)access->address,
                    null ? ": a null pointer" : ", which is not in device memory");
    }
    end_report(access, kind, alias, &text, &locations);
}

static size_t gap_to(const struct sim_access *access, const struct sim_shared_variable *variable) {
    uintptr_t low = variable->address, high = low + variable->size_bytes;
    if (access->address >= high)
        return access->address - high;
    return access->address < low ? low - access->address : 0;
}

/* Whether the access lies after the end of dynamic shared memory, with no static variable in between. Static variables
 * may lie before or after dynamic memory. */
static bool is_past_dynamic(const struct sim_access *access) {
    const struct sim_check *check = access->check;
    const struct sim_grid_info *grid = &check->grid;
    bool past = grid->dynamic && access->address >= grid->dynamic &&
                access->address + access->size_bytes > grid->dynamic + grid->dynamic_bytes;
    for (size_t k = 0; past && k < check->variable_count; k++)
        past = check->variables[k].address <= grid->dynamic || check->variables[k].address > access->address;
    return past;
}

void le_sim_report_shared_outside(struct sim_access *access) {
    const struct sim_check *check = access->check;
    const struct sim_grid_info *grid = &check->grid;
    bool dynamic = is_past_dynamic(access);
    enum sim_report_kind kind = dynamic ? SIM_REPORT_DYNAMIC_SHARED : SIM_REPORT_OUT_OF_BOUNDS;
    uint64_t alias;
    if (is_known(access, kind, &alias))
        return;
    const struct sim_shared_variable *near = NULL;
    for (size_t k = 0; k < check->variable_count; k++)
        if (!near || gap_to(access, &check->variables[k]) < gap_to(access, near))
            near = &check->variables[k];
    struct le_text text = {0}, locations = {0};
    begin_report(access, kind, &text, &locations);
    if (dynamic) {
        add_part(&text, access->address - grid->dynamic, "", "dynamic shared memory", ", but the launch provides ");
        add_bytes(&text, grid->dynamic_bytes);
        le_text_add(&text, "\n");
    } else if (near) {
        add_beside(&text, access, near->address, near->address + near->size_bytes);
        le_text_add(&text, "shared '%s' (", near->name);
        add_bytes(&text, near->size_bytes);
        le_text_add(&text, ")\n");
    } else {
        le_text_add(&text, " of shared memory outside all variables\n");
    }
    end_report(access, kind, alias, &text, &locations);
}

void le_sim_check_report(struct sim_check *check, enum sim_report_kind kind, const struct sim_thread_id *thread,
                         const char *location, const char *format, ...) {
    struct le_text text = {0}, locations = {0};
    le_text_add(&text, "%s", le_sim_report_name(kind));
    if (check->in_grid) {
        const struct sim_phase *phase = &check->phases[check->phase];
        le_text_add(&text, " in kernel %s", phase->name);
        le_text_add(&locations, "%s", phase->name);
        if (thread) {
            struct sim_stamp stamp = {.who = thread->thread, .block = (uint32_t)thread->block};
            le_text_add(&text, ": ");
            add_block_and_thread(&text, phase, &stamp);
        }
    }
    if (location)
        le_text_add(&text, " at %s", location);
    le_text_add(&text, "\n    ");
    va_list arguments;
    va_start(arguments, format);
    size_t start = text.length;
    le_text_add_list(&text, format, arguments);
    va_end(arguments);
    le_text_add(&text, "\n");
    le_text_add(&locations, "|%s", location ? location : text.at ? text.at + start : "");
    struct sim_access access = {.check = check};
    uint64_t alias = locations.failed ? 0 : le_sim_report_key(kind, 1, locations.at);
    end_report(&access, kind, alias, &text, &locations);
}
