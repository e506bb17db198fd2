/* The names of mappings and their settings, and LEAT_MAPPING, which has them: "NAME SETTING=NUMBER ...; NAME ...". */
#include "gen/mapping/mapping.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *settings;
} mappings[LE_MAPPING_KINDS] = {
#define LE_MAPPING(kind, name, settings) {name, settings},
#include "gen/mapping/mapping.def"
#undef LE_MAPPING
};

const char *le_mapping_name(enum le_mapping_kind kind) {
    return mappings[kind].name;
}

/* ---- words */

struct word {
    const char *at;
    size_t length; /* 0: there is none before the semicolon or the end */
};

static struct word word_at(const char *text) {
    text += strspn(text, " ");
    return (struct word){text, strcspn(text, " ;")};
}

static struct word word_after(struct word w) {
    return word_at(w.at + w.length);
}

static bool is_same(struct word w, struct word other) {
    return w.length == other.length && memcmp(w.at, other.at, w.length) == 0;
}

static const char *next_entry(const char *entry) {
    const char *end = strchr(entry, ';');
    return end ? end + 1 : NULL;
}

/* Splits SETTING=NUMBER; false: it is something else. */
static bool is_setting(struct word w, struct word *name, int64_t *number) {
    const char *equals = memchr(w.at, '=', w.length);
    if (!equals)
        return false;
    *name = (struct word){w.at, (size_t)(equals - w.at)};
    *number = strtoll(equals + 1, NULL, 10);
    size_t digits = strspn(equals + 1, "0123456789");
    return digits > 0 && equals + 1 + digits == w.at + w.length;
}

static bool has_setting(enum le_mapping_kind kind, struct word name) {
    for (struct word w = word_at(mappings[kind].settings); w.length > 0; w = word_after(w))
        if (is_same(w, name))
            return true;
    return false;
}

bool le_mapping_has_setting(enum le_mapping_kind kind, const char *name) {
    return has_setting(kind, word_at(name));
}

/* ---- what LEAT_MAPPING says of a mapping */

const char *le_mapping_forced(const char *text, enum le_mapping_kind kind) {
    for (const char *entry = text; entry; entry = next_entry(entry)) {
        struct word w = word_at(entry);
        if (is_same(w, word_at(mappings[kind].name)))
            return w.at + w.length;
    }
    return NULL;
}

bool le_mapping_forced_number(const char *settings, const char *name, int64_t *value) {
    struct word own;
    for (struct word w = word_at(settings ? settings : ""); w.length > 0; w = word_after(w))
        if (is_setting(w, &own, value) && is_same(own, word_at(name)))
            return true;
    return false;
}

/* ---- whether it is well formed */

static leat_status unknown_mapping(struct word name) {
    static const char names[] =
#define LE_MAPPING(kind, mapping, settings) ", " mapping
#include "gen/mapping/mapping.def"
#undef LE_MAPPING
        ;
    return le_fail(LEAT_INVALID, "unknown mapping '%.*s' in LEAT_MAPPING; the mappings are %s",
                   (int)(name.length < 40 ? name.length : 40), name.at, names + strlen(", "));
}

static leat_status unknown_setting(enum le_mapping_kind kind, struct word name) {
    const char *settings = mappings[kind].settings;
    char help[128];
    snprintf(help, sizeof help, *settings ? "its settings are: %s" : "it has no settings%s", settings);
    return le_fail_at(LEAT_INVALID, (struct le_location){0}, help, "mapping '%s' has no setting '%.*s' (LEAT_MAPPING)",
                      mappings[kind].name, (int)(name.length < 40 ? name.length : 40), name.at);
}

static leat_status check_entry(const char *entry) {
    struct word name = word_at(entry), setting;
    int64_t number;
    int kind = 0;
    if (name.length == 0)
        return LEAT_OK;
    while (kind < LE_MAPPING_KINDS && !is_same(name, word_at(mappings[kind].name)))
        kind++;
    if (kind == LE_MAPPING_KINDS)
        return unknown_mapping(name);
    for (struct word w = word_after(name); w.length > 0; w = word_after(w)) {
        if (!is_setting(w, &setting, &number))
            return le_fail_at(LEAT_INVALID, (struct le_location){0},
                              "write NAME SETTING=NUMBER ..., with semicolons between mappings",
                              "'%.*s' in LEAT_MAPPING is not SETTING=NUMBER", (int)(w.length < 40 ? w.length : 40),
                              w.at);
        if (!has_setting((enum le_mapping_kind)kind, setting))
            return unknown_setting((enum le_mapping_kind)kind, setting);
    }
    return LEAT_OK;
}

leat_status le_mapping_check(const char *text) {
    leat_status status = LEAT_OK;
    for (const char *entry = text; entry && status == LEAT_OK; entry = next_entry(entry))
        status = check_entry(entry);
    return status;
}
