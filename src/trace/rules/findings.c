/* Asks every rule about every process, and puts what they found in order. One thread; the same index gives the same
 * list. */
#include "trace/rules/finding.h"
#include "trace/rules/scene.h"
#include <stdlib.h>
#include <string.h>

static int compare(const void *a_, const void *b_) {
    const struct le_finding *a = a_, *b = b_;
    if (a->gain_ns != b->gain_ns)
        return a->gain_ns > b->gain_ns ? -1 : 1;
    int by_rule = strcmp(a->rule, b->rule);
    if (by_rule != 0)
        return by_rule;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return strcmp(a->title, b->title);
}

/* What a rule works out for itself goes when it is done. */
static void ask_rules(struct le_scene *scene, struct le_arena *passing) {
    static void (*const rules[])(struct le_scene *) = {
#define LE_RULE(name, function) function,
#include "trace/rules/rules.def"
#undef LE_RULE
    };
    scene->scratch = passing;
    for (size_t k = 0; k < ARRAY_LEN(rules); k++) {
        rules[k](scene);
        le_scene_drop(scene);
        le_arena_finish(passing);
    }
}

leat_status le_findings_find(const struct le_index *index, struct le_arena *arena, struct le_findings *findings) {
    struct le_arena lasting, passing;
    le_arena_init(&lasting);
    le_arena_init(&passing);
    *findings = (struct le_findings){0};
    if (setjmp(arena->failure) || setjmp(lasting.failure) || setjmp(passing.failure)) {
        le_arena_finish(&lasting);
        le_arena_finish(&passing);
        return le_fail(LEAT_OUT_OF_MEMORY, "no memory to look for findings");
    }
    for (int32_t process = 0; process < index->processes.count; process++) {
        struct le_scene scene = {.index = index, .arena = arena, .scratch = &lasting, .findings = findings};
        if (le_scene_choose(&scene, process))
            ask_rules(&scene, &passing);
        le_arena_finish(&lasting);
    }
    if (findings->count > 1)
        qsort(findings->at, (size_t)findings->count, sizeof *findings->at, compare);
    return LEAT_OK;
}
