/* Reports are stored as text when they are found, because the module may be gone later. */
#include "sim/check/sim_report.h"
#include "base/hash.h"
#include "base/memory.h"
#include <string.h>

static const char *const names[SIM_REPORT_KINDS] = {
    [SIM_REPORT_DIVERGENT_BARRIER] = "divergent barrier",
    [SIM_REPORT_SHARED_RACE] = "shared race",
    [SIM_REPORT_GLOBAL_RACE] = "global race",
    [SIM_REPORT_UNINITIALISED] = "uninitialized read",
    [SIM_REPORT_OUT_OF_BOUNDS] = "out of bounds",
    [SIM_REPORT_MISALIGNED] = "misaligned access",
    [SIM_REPORT_HOST_READ] = "missing synchronization",
    [SIM_REPORT_USE_AFTER_FREE] = "use after free",
    [SIM_REPORT_STREAM_ORDER] = "wrong stream order",
    [SIM_REPORT_DYNAMIC_SHARED] = "dynamic shared memory too small",
};

const char *le_sim_report_name(enum sim_report_kind kind) {
    return names[kind];
}

uint64_t le_sim_report_key(enum sim_report_kind kind, uint64_t seed, const char *text) {
    return le_hash(text, strlen(text), seed * 31 + (uint64_t)kind);
}

static struct sim_report_alias *alias_slot(struct sim_report_alias *at, size_t capacity, uint64_t key) {
    size_t k = (size_t)key & (capacity - 1);
    while (at[k].report && at[k].key != key)
        k = (k + 1) & (capacity - 1);
    return &at[k];
}

bool le_sim_reports_known(struct sim_reports *reports, uint64_t alias) {
    if (!reports->alias_capacity)
        return false;
    const struct sim_report_alias *slot = alias_slot(reports->aliases, reports->alias_capacity, alias);
    if (slot->report)
        reports->at[slot->report - 1].count++;
    return slot->report != 0;
}

/* Without memory for the alias, the text is made again next time. */
static void add_alias(struct sim_reports *reports, uint64_t key, size_t report) {
    if (2 * reports->alias_count >= reports->alias_capacity) {
        size_t capacity = reports->alias_capacity ? 2 * reports->alias_capacity : 64;
        struct sim_report_alias *larger = le_alloc_zero(capacity, sizeof *larger);
        if (!larger)
            return;
        for (size_t k = 0; k < reports->alias_capacity; k++)
            if (reports->aliases[k].report)
                *alias_slot(larger, capacity, reports->aliases[k].key) = reports->aliases[k];
        le_free(reports->aliases);
        reports->aliases = larger;
        reports->alias_capacity = capacity;
    }
    *alias_slot(reports->aliases, reports->alias_capacity, key) =
        (struct sim_report_alias){.key = key, .report = (uint32_t)report + 1};
    reports->alias_count++;
}

void le_sim_reports_add(struct sim_reports *reports, uint64_t alias, uint64_t key, struct le_text *text) {
    for (size_t k = 0; k < reports->count; k++)
        if (reports->at[k].key == key) {
            reports->at[k].count++;
            add_alias(reports, alias, k);
            le_text_finish(text);
            return;
        }
    if (text->failed || reports->count == SIM_REPORTS_MAX) {
        reports->failed = reports->failed || text->failed;
        reports->dropped++;
        le_text_finish(text);
        return;
    }
    add_alias(reports, alias, reports->count);
    reports->at[reports->count++] = (struct sim_report){.key = key, .text = text->at, .count = 1};
    *text = (struct le_text){0};
}

void le_sim_text_add_count(struct le_text *text, uint64_t count) {
    if (count >= 1000) {
        le_sim_text_add_count(text, count / 1000);
        le_text_add(text, ",%03u", (unsigned)(count % 1000));
    } else {
        le_text_add(text, "%u", (unsigned)count);
    }
}

const char *le_sim_reports_text(struct sim_reports *reports, bool incomplete) {
    struct le_text *all = &reports->all;
    le_text_finish(all);
    for (size_t k = 0; k < reports->count; k++) {
        le_text_add(all, "%s%s", k ? "\n" : "", reports->at[k].text);
        if (reports->at[k].count > 1) {
            le_text_add(all, "    (");
            le_sim_text_add_count(all, reports->at[k].count);
            le_text_add(all, " times)\n");
        }
    }
    if (reports->dropped) {
        le_text_add(all, "\n");
        le_sim_text_add_count(all, reports->dropped);
        le_text_add(all, " more, not listed\n");
    }
    if (incomplete || reports->failed)
        le_text_add(all, "%schecks incomplete: out of memory\n", all->length ? "\n" : "");
    return all->failed ? "checks incomplete: out of memory for the report\n" : all->at;
}

void le_sim_reports_clear(struct sim_reports *reports) {
    for (size_t k = 0; k < reports->count; k++)
        le_free(reports->at[k].text);
    le_free(reports->aliases);
    le_text_finish(&reports->all);
    memset(reports, 0, sizeof *reports);
}
