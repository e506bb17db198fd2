/* Findings: what a trace says would make the program faster. A rule is one function over an index, in a file rule_*.c
 * with its threshold and the reason for it; findings.c has the list of rules and orders what they find by gain. Nothing
 * here prints. Gains are upper bounds, of one process' wall time, and are never added up. */
#ifndef LE_FINDING_H
#define LE_FINDING_H
#include "base/arena.h"
#include "base/status.h"
#include "trace/index.h"

enum le_confidence { LE_LIKELY, LE_PLAUSIBLE, LE_HINT };

enum { LE_FINDING_SOURCES = 4 };
struct le_finding {
    const char *rule;     /* its name, as docs/FINDINGS.md has it: "launch-bound" */
    const char *title;    /* one line: what is the matter, with its main figures */
    const char *evidence; /* lines: counts, times, names */
    const char *advice;   /* lines: the next thing to do, in the words of the library that made the calls */
    uint64_t gain_ns;     /* at most; 0: none is claimed */
    enum le_confidence confidence;
    int32_t process;
    int32_t sources[LE_FINDING_SOURCES]; /* where in the program, most expensive first; LE_NONE ends them */
    uint64_t start_ns, end_ns;           /* when; for pictures */
};

struct le_findings {
    struct le_finding *at;
    int count, capacity;
};

/* Into arena; sorted by gain, then rule and start: the same trace gives the same list. */
leat_status le_findings_find(const struct le_trace_index *index, struct le_arena *arena, struct le_findings *findings);
#endif
