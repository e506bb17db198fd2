/* See sim_options.h. Options that only concern the code of a GPU are taken and mean nothing here. */
#include "sim/compile/sim_options.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum what {
    WHAT_NOTHING,
    WHAT_DEFINE,
    WHAT_UNDEFINE,
    WHAT_INCLUDE,
    WHAT_PREINCLUDE,
    WHAT_STANDARD,
    WHAT_ARCHITECTURE,
    WHAT_QUIET,
    WHAT_NO_CACHE
};
enum value { VALUE_NONE, VALUE_EQUALS, VALUE_MAYBE, VALUE_JOINED }; /* JOINED: -Dx, -D x, as well as --name=x */

static const struct row {
    const char *name;
    enum value value;
    enum what what;
} rows[] = {
    {"-D", VALUE_JOINED, WHAT_DEFINE},
    {"--define-macro", VALUE_EQUALS, WHAT_DEFINE},
    {"-U", VALUE_JOINED, WHAT_UNDEFINE},
    {"--undefine-macro", VALUE_EQUALS, WHAT_UNDEFINE},
    {"-I", VALUE_JOINED, WHAT_INCLUDE},
    {"--include-path", VALUE_EQUALS, WHAT_INCLUDE},
    {"-include", VALUE_EQUALS, WHAT_PREINCLUDE},
    {"--pre-include", VALUE_EQUALS, WHAT_PREINCLUDE},
    {"-std", VALUE_EQUALS, WHAT_STANDARD},
    {"--std", VALUE_EQUALS, WHAT_STANDARD},
    {"-arch", VALUE_EQUALS, WHAT_ARCHITECTURE},
    {"--gpu-architecture", VALUE_EQUALS, WHAT_ARCHITECTURE},
    {"-w", VALUE_NONE, WHAT_QUIET},
    {"--disable-warnings", VALUE_NONE, WHAT_QUIET},
    {"-no-cache", VALUE_NONE, WHAT_NO_CACHE},
    {"--no-cache", VALUE_NONE, WHAT_NO_CACHE},
    {"-lineinfo", VALUE_MAYBE, WHAT_NOTHING},
    {"--generate-line-info", VALUE_MAYBE, WHAT_NOTHING},
    {"-G", VALUE_NONE, WHAT_NOTHING},
    {"--device-debug", VALUE_NONE, WHAT_NOTHING},
    {"-use_fast_math", VALUE_MAYBE, WHAT_NOTHING},
    {"--use_fast_math", VALUE_MAYBE, WHAT_NOTHING},
    {"-fmad", VALUE_EQUALS, WHAT_NOTHING},
    {"--fmad", VALUE_EQUALS, WHAT_NOTHING},
    {"-ftz", VALUE_EQUALS, WHAT_NOTHING},
    {"--ftz", VALUE_EQUALS, WHAT_NOTHING},
    {"-prec-div", VALUE_EQUALS, WHAT_NOTHING},
    {"--prec-div", VALUE_EQUALS, WHAT_NOTHING},
    {"-prec-sqrt", VALUE_EQUALS, WHAT_NOTHING},
    {"--prec-sqrt", VALUE_EQUALS, WHAT_NOTHING},
    {"-maxrregcount", VALUE_EQUALS, WHAT_NOTHING},
    {"--maxrregcount", VALUE_EQUALS, WHAT_NOTHING},
    {"-default-device", VALUE_NONE, WHAT_NOTHING},
    {"--device-as-default-execution-space", VALUE_NONE, WHAT_NOTHING},
    {"-restrict", VALUE_NONE, WHAT_NOTHING},
    {"--restrict", VALUE_NONE, WHAT_NOTHING},
    {"-rdc", VALUE_EQUALS, WHAT_NOTHING},
    {"--relocatable-device-code", VALUE_EQUALS, WHAT_NOTHING},
    {"--ptxas-options", VALUE_EQUALS, WHAT_NOTHING},
    {"-Xptxas", VALUE_EQUALS, WHAT_NOTHING},
    {"-dopt", VALUE_MAYBE, WHAT_NOTHING},
    {"--dopt", VALUE_MAYBE, WHAT_NOTHING},
    {"-opt-info", VALUE_EQUALS, WHAT_NOTHING},
    {"--optimization-info", VALUE_EQUALS, WHAT_NOTHING},
    {"-extra-device-vectorization", VALUE_NONE, WHAT_NOTHING},
    {"--extra-device-vectorization", VALUE_NONE, WHAT_NOTHING},
    {"--no-source-include", VALUE_NONE, WHAT_NOTHING},
    {"-no-source-include", VALUE_NONE, WHAT_NOTHING},
    {"--diag-suppress", VALUE_EQUALS, WHAT_NOTHING},
    {"-diag-suppress", VALUE_EQUALS, WHAT_NOTHING},
    {"--diag-warn", VALUE_EQUALS, WHAT_NOTHING},
    {"-diag-warn", VALUE_EQUALS, WHAT_NOTHING},
    {"--diag-error", VALUE_EQUALS, WHAT_NOTHING},
    {"-diag-error", VALUE_EQUALS, WHAT_NOTHING},
    {"--display-error-number", VALUE_NONE, WHAT_NOTHING},
    {"-err-no", VALUE_NONE, WHAT_NOTHING},
    {"--no-display-error-number", VALUE_NONE, WHAT_NOTHING},
    {"-no-err-no", VALUE_NONE, WHAT_NOTHING},
    {"-device-int128", VALUE_NONE, WHAT_NOTHING},
    {"--device-int128", VALUE_NONE, WHAT_NOTHING},
    {"-minimal", VALUE_NONE, WHAT_NOTHING},
    {"--minimal", VALUE_NONE, WHAT_NOTHING},
    {"--split-compile", VALUE_EQUALS, WHAT_NOTHING},
    {"-split-compile", VALUE_EQUALS, WHAT_NOTHING},
    {"--brief-diagnostics", VALUE_EQUALS, WHAT_NOTHING},
    {"-brief-diag", VALUE_EQUALS, WHAT_NOTHING},
};

static leat_status wrong(struct le_text *log, const char *format, const char *text) {
    le_text_add(log, "nvrtc: error: ");
    le_text_add(log, format, text);
    le_text_add(log, "\n");
    return LEAT_INVALID;
}

/* The program runs in another folder than the compiler. */
static const char *absolute(struct le_arena *arena, const char *path) {
    char here[4096];
    if (*path == '/' || !getcwd(here, sizeof here))
        return path;
    return le_arena_format(arena, "%s/%s", here, path);
}

static leat_status take_standard(struct le_arena *arena, const char *value, struct sim_options *read,
                                 struct le_text *log) {
    static const char *const known[] = {"c++03", "c++11", "c++14", "c++17", "c++20", "c++23"};
    for (size_t k = 0; k < ARRAY_LEN(known); k++)
        if (strcmp(value, known[k]) == 0) {
            /* what is read before a program needs C++17 */
            read->standard = k <= 3 ? "-std=c++17" : le_arena_format(arena, "-std=%s", value);
            return LEAT_OK;
        }
    return wrong(log, "invalid value for --std (-std): %s", value);
}

static leat_status take_architecture(const char *value, struct sim_options *read, struct le_text *log) {
    const char *number = value + strcspn(value, "_") + (strchr(value, '_') != NULL);
    int architecture = (strncmp(value, "compute_", 8) == 0 || strncmp(value, "sm_", 3) == 0) ? atoi(number) : 0;
    if (architecture < 50 || architecture > 999)
        return wrong(log, "invalid value for --gpu-architecture (-arch): %s", value);
    read->architecture = architecture * 10;
    return LEAT_OK;
}

static leat_status take(struct le_arena *arena, const struct row *row, const char *value, struct sim_options *read,
                        struct le_text *log) {
    size_t name = strcspn(value, "=");
    const char *line = NULL;
    switch (row->what) {
    case WHAT_DEFINE:
        line = le_arena_format(arena, "#define %.*s %s", (int)name, value, value[name] ? value + name + 1 : "1");
        break;
    case WHAT_UNDEFINE:
        line = le_arena_format(arena, "#undef %s", value);
        break;
    case WHAT_PREINCLUDE:
        line = le_arena_format(arena, "#include \"%s\"", value);
        break;
    case WHAT_INCLUDE:
        le_argv_add(arena, &read->folders, le_arena_format(arena, "-I%s", absolute(arena, value)));
        break;
    case WHAT_STANDARD:
        return take_standard(arena, value, read, log);
    case WHAT_ARCHITECTURE:
        return take_architecture(value, read, log);
    case WHAT_QUIET:
        read->quiet = true;
        break;
    case WHAT_NO_CACHE:
        read->no_cache = true;
        break;
    default:
        break;
    }
    if (line)
        read->lines = le_arena_format(arena, "%s%s\n", read->lines, line);
    return LEAT_OK;
}

/* Whether the option is this row's; its value, NULL: in the next word. */
static bool fits(const struct row *row, const char *option, const char **value) {
    size_t length = strlen(row->name);
    *value = NULL;
    if (strncmp(option, row->name, length) != 0)
        return false;
    const char *rest = option + length;
    if (!*rest)
        return true;
    *value = rest + (*rest == '=' && row->value != VALUE_JOINED);
    return row->value == VALUE_JOINED || (*rest == '=' && row->value != VALUE_NONE);
}

leat_status le_sim_options_read(struct le_arena *arena, const char *const *options, int count, struct sim_options *read,
                                struct le_text *log) {
    *read = (struct sim_options){.standard = "-std=c++17", .architecture = 900, .lines = ""};
    for (int k = 0; k < count; k++) {
        const struct row *row = rows;
        const char *value = NULL, *option = options[k] + strspn(options[k], " ");
        while (row < rows + ARRAY_LEN(rows) && !fits(row, option, &value))
            row++;
        if (row == rows + ARRAY_LEN(rows))
            return wrong(log, "unrecognized option %s found", option);
        bool needed = row->value == VALUE_EQUALS || row->value == VALUE_JOINED;
        if (needed && !value && ++k == count)
            return wrong(log, "option %s needs a value", option);
        if (needed && !value)
            value = options[k];
        leat_status status = take(arena, row, value ? value : "", read, log);
        if (status != LEAT_OK)
            return status;
    }
    return LEAT_OK;
}
