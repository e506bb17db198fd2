/* Collects the mappings that fit a stage, and chooses one. */
#include "base/text.h"
#include "gen/mapping/mapping.h"
#include <assert.h>
#include <string.h>

struct le_mapping *le_mapping_add(struct le_mapping_search *search, enum le_mapping_kind kind,
                                  leat_status (*make)(const struct le_mapping *mapping, void *found,
                                                      struct le_generated_launches *out),
                                  void *found) {
    struct le_mapping *m = &search->at[search->count++];
    *m = (struct le_mapping){
        .kind = kind, .make = make, .found = found, .forced = le_mapping_forced(search->job->facts->mapping, kind)};
    return m;
}

int64_t le_mapping_set(struct le_mapping *mapping, const char *name, int64_t chosen, int64_t least, int64_t most,
                       bool powers) {
    int64_t value;
    assert(le_mapping_has_setting(mapping->kind, name));
    if (le_mapping_forced_number(mapping->forced, name, &value) && value >= least && value <= most &&
        !(powers && (value & (value - 1))))
        chosen = value;
    mapping->settings[mapping->count++] = (struct le_setting){name, chosen};
    return chosen;
}

int64_t le_mapping_get(const struct le_mapping *mapping, const char *name) {
    for (int k = 0; k < mapping->count; k++)
        if (strcmp(mapping->settings[k].name, name) == 0)
            return mapping->settings[k].value;
    return 0;
}

static const char *mapping_text(struct le_arena *arena, const struct le_mapping *mapping) {
    const char *text = le_mapping_name(mapping->kind);
    for (int k = 0; k < mapping->count; k++)
        text = le_arena_format(arena, "%s %s=%lld", text, mapping->settings[k].name,
                               (long long)mapping->settings[k].value);
    return text;
}

/* Of a simpler mapping's time: what one that takes the compiler longer has to gain. */
#define GAIN         0.9
#define GAIN_SECONDS 2e-6

static bool is_worth_it(const struct le_mapping *m, const struct le_mapping *simpler) {
    return m->seconds < GAIN * simpler->seconds && m->seconds < simpler->seconds - GAIN_SECONDS;
}

/* The simplest are proposed first. */
const struct le_mapping *le_mapping_choose(const struct le_mapping_search *search) {
    const struct le_mapping *best = search->preferred ? search->preferred : &search->at[0];
    for (int k = 0; k < search->count; k++) {
        const struct le_mapping *m = &search->at[k];
        bool sooner = m->forced && (!best->forced || m->forced < best->forced);
        if (sooner || (!best->forced && !search->preferred && is_worth_it(m, best)))
            best = m;
    }
    return best;
}

leat_status le_mapping_make(struct le_mapping_search *search, struct le_generated_launches *out) {
    const struct le_mapping *m = le_mapping_choose(search);
    int first = out->count;
    leat_status status = m->make(m, m->found, out);
    for (int k = first; k < out->count; k++)
        out->at[k].mapping = k == first ? mapping_text(search->job->kernel.arena, m) : NULL;
    if (out->count > first)
        out->at[first].predicted_seconds = m->seconds;
    return status;
}
