/* Collects the mappings that fit a stage, and chooses one. */
#include "base/text.h"
#include "gen/mapping/mapping.h"
#include <stdlib.h>
#include <string.h>

/* ---- LEAT_MAPPING */

static bool is_word_end(char c) {
    return c == 0 || c == ' ' || c == ';';
}

/* The settings that LEAT_MAPPING has for mappings of that name; NULL: it does not name them. */
static const char *find_forced(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = text; at; at = strchr(at, ';')) {
        at += strspn(at, "; ");
        if (strncmp(at, name, length) == 0 && is_word_end(at[length]))
            return at + length;
    }
    return NULL;
}

static bool find_number(const char *settings, const char *name, int64_t *value) {
    size_t length = strlen(name);
    for (const char *at = settings; at && *at && *at != ';'; at += strcspn(at, " ;")) {
        at += strspn(at, " ");
        if (strncmp(at, name, length) != 0 || at[length] != '=')
            continue;
        char *end;
        *value = strtoll(at + length + 1, &end, 10);
        return end > at + length + 1 && is_word_end(*end);
    }
    return false;
}

/* ---- */

struct le_mapping *le_mapping_add(struct le_mapping_search *search, const char *name,
                                  leat_status (*make)(const struct le_mapping *mapping, void *found,
                                                      struct le_generated_launches *out),
                                  void *found) {
    struct le_mapping *m = &search->at[search->count++];
    *m = (struct le_mapping){
        .name = name, .make = make, .found = found, .forced = find_forced(search->job->facts->mapping, name)};
    return m;
}

int64_t le_mapping_set(struct le_mapping *mapping, const char *name, int64_t chosen, int64_t least, int64_t most,
                       bool powers) {
    int64_t value;
    if (find_number(mapping->forced, name, &value) && value >= least && value <= most &&
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
    const char *text = mapping->name;
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

/* The one that LEAT_MAPPING names first, or else the fastest. The simplest are proposed first. */
static const struct le_mapping *choose(const struct le_mapping_search *search) {
    const struct le_mapping *best = &search->at[0];
    for (int k = 1; k < search->count; k++) {
        const struct le_mapping *m = &search->at[k];
        bool sooner = m->forced && (!best->forced || m->forced < best->forced);
        if (sooner || (!best->forced && is_worth_it(m, best)))
            best = m;
    }
    return best;
}

leat_status le_mapping_make(struct le_mapping_search *search, struct le_generated_launches *out) {
    const struct le_mapping *m = choose(search);
    int first = out->count;
    leat_status status = m->make(m, m->found, out);
    for (int k = first; k < out->count; k++)
        out->at[k].mapping = k == first ? mapping_text(search->job->kernel.arena, m) : NULL;
    if (out->count > first)
        out->at[first].predicted_seconds = m->seconds;
    return status;
}
