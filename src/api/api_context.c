/* leat.h: contexts, the version, and leat_memory_free. */
#include "api/api_check.h"

#define TEXT_OF(x)                        #x
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

leat_status leat_open(const leat_options *options, leat_context **ctx) {
    leat_options all;
    LE_CHECK_POINTER(ctx);
    LE_TAKE_OPTIONS(options, leat_options, &all);
    return le_context_new(&all, ctx);
}

void leat_close(leat_context *ctx) {
    le_context_close(ctx);
}

const char *leat_version(void) {
    return VERSION_TEXT(LEAT_VERSION_MAJOR, LEAT_VERSION_MINOR, LEAT_VERSION_PATCH);
}

void leat_memory_free(void *memory) {
    le_free(memory);
}
