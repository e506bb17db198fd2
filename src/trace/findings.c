/* The list of rules, and the order of what they find. */
#include "trace/finding.h"

leat_status le_findings_find(const struct le_index *index, struct le_arena *arena, struct le_findings *findings) {
    (void)index;
    (void)arena;
    *findings = (struct le_findings){0};
    return LEAT_OK;
}
