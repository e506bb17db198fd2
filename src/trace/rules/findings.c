/* Runs every rule on every process, or on each device that a process used, and sorts the findings. Runs on one thread;
 * the same index gives the same list. */
#include "trace/rules/finding.h"
#include "trace/rules/rule_input.h"
#include <stdlib.h>
#include <string.h>

static int compare_findings(const void *a_, const void *b_) {
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

enum scope { DEVICE = 1, PROCESS = 2 };

/* Runs the rules that have one of the scopes. A rule's own data is in the rule_arena, which is emptied after each rule.
 */
static void ask_rules(struct le_rule_input *input, unsigned scopes, struct le_arena *rule_arena) {
    static const struct {
        enum scope scope;
        void (*ask)(struct le_rule_input *);
    } rules[] = {
#define LE_RULE(name, scope, function) {scope, function},
#include "trace/rules/rules.def"
#undef LE_RULE
    };
    input->scratch = rule_arena;
    for (size_t k = 0; k < ARRAY_LEN(rules); k++) {
        if (!(rules[k].scope & scopes))
            continue;
        input->names_device = rules[k].scope == DEVICE && input->index->devices.count > 1;
        rules[k].ask(input);
        le_rule_input_drop_charges(input);
        le_arena_finish(rule_arena);
    }
}

static void ask_about_process(struct le_rule_input *input, struct le_arena *device_arena, struct le_arena *rule_arena) {
    struct le_device_parts parts = le_device_parts_of(&input->owners, input->process, input->scratch);
    if (parts.count == 1) {
        ask_rules(input, DEVICE | PROCESS, rule_arena);
        return;
    }
    for (int32_t part = 0; part < parts.count; part++) {
        struct le_rule_input device_input = le_rule_input_for_device(input, &parts, part, device_arena);
        ask_rules(&device_input, DEVICE, rule_arena);
        le_arena_finish(device_arena);
    }
    ask_rules(input, PROCESS, rule_arena);
}

/* arenas[0] holds data about the whole trace, arenas[1] about a process, arenas[2] about a device, arenas[3] a rule's
 * own. */
enum { ARENAS = 4 };

static void ask_about_all(const struct le_trace_index *index, struct le_arena *arena, struct le_arena *arenas,
                          struct le_findings *findings) {
    struct le_rule_input whole = {.index = index, .arena = arena, .scratch = &arenas[0], .findings = findings};
    le_rule_input_init(&whole);
    for (int32_t process = 0; process < index->processes.count; process++) {
        struct le_rule_input input = whole;
        input.scratch = &arenas[1];
        if (le_rule_input_set_process(&input, process))
            ask_about_process(&input, &arenas[2], &arenas[3]);
        le_arena_finish(&arenas[1]);
    }
    le_arena_finish(&arenas[0]);
}

leat_status le_findings_find(const struct le_trace_index *index, struct le_arena *arena, struct le_findings *findings) {
    struct le_arena arenas[ARENAS];
    for (int k = 0; k < ARENAS; k++)
        le_arena_init(&arenas[k]);
    *findings = (struct le_findings){0};
    if (setjmp(arena->failure) || setjmp(arenas[0].failure) || setjmp(arenas[1].failure) || setjmp(arenas[2].failure) ||
        setjmp(arenas[3].failure)) {
        for (int k = 0; k < ARENAS; k++)
            le_arena_finish(&arenas[k]);
        return le_fail(LEAT_OUT_OF_MEMORY, "out of memory while looking for findings");
    }
    ask_about_all(index, arena, arenas, findings);
    if (findings->count > 1)
        qsort(findings->at, (size_t)findings->count, sizeof *findings->at, compare_findings);
    return LEAT_OK;
}
