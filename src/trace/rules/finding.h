/* Findings: what would make a program faster, according to its trace. A rule is one function in a file rule_*.c, with
 * its thresholds and the reasons for them. rules.def lists the rules; findings.c runs them and sorts their findings by
 * gain. Nothing here prints. Gains are upper bounds of one process's wall time and must not be added up. */
#ifndef LE_FINDING_H
#define LE_FINDING_H
#include "base/arena.h"
#include "base/status.h"
#include "trace/index.h"

enum le_confidence { LE_LIKELY, LE_PLAUSIBLE, LE_HINT };

enum { LE_FINDING_SOURCES = 4 };
struct le_finding {
    const char *rule;     /* its name in docs/FINDINGS.md: "launch-bound" */
    const char *title;    /* one line: what is wrong, with the main numbers */
    const char *evidence; /* lines: counts, times, names */
    const char *advice;   /* lines: what to do next, in the words of the framework that made the calls */
    uint64_t gain_ns;     /* upper bound; 0: the rule promises no gain */
    enum le_confidence confidence;
    int32_t process;
    int32_t sources[LE_FINDING_SOURCES]; /* places in the program, most expensive first; LE_NONE ends the list */
    uint64_t start_ns, end_ns;           /* where to mark it on a timeline */
};

struct le_findings {
    struct le_finding *at;
    int count, capacity;
};

/* Findings are allocated from the arena and sorted by gain, then rule and start, so the same trace gives the same list.
 */
leat_status le_findings_find(const struct le_trace_index *index, struct le_arena *arena, struct le_findings *findings);
#endif
