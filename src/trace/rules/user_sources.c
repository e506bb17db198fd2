/* See user_sources.h. Libraries are recognized by the paths of files. Callers precede callees in the table of sources,
 * so each source's answer follows from its caller's. */
#include "trace/rules/user_sources.h"
#include "trace/rules/advice.h"
#include <string.h>

static bool is_library(const struct le_trace_index *index, const struct le_source *source) {
    const char *file = source->file == LE_NONE ? "" : index->texts.at[source->file];
    return file[0] == 0 || file[0] == '<' || strstr(file, "-packages/") || strstr(file, "/lib/python3") ||
           le_framework_of_path(file) != LE_FRAMEWORKS || (source->language == LE_TRACE_NATIVE && strstr(file, ".so"));
}

int32_t *le_user_sources(const struct le_trace_index *index, struct le_arena *arena) {
    int32_t *nearest = LE_NEW_ARRAY(arena, index->sources.count, int32_t);
    for (int32_t k = 0; k < index->sources.count; k++) {
        const struct le_source *source = &index->sources.at[k];
        bool has_caller = source->parent >= 0 && source->parent < k;
        nearest[k] = is_library(index, source) && has_caller ? nearest[source->parent] : k;
    }
    return nearest;
}
