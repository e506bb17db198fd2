/* Implements sim_options.h. Options that only affect GPU code are accepted and ignored. */
#include "sim/compile/sim_options.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_effect {
    EFFECT_NONE,
    EFFECT_DEFINE,
    EFFECT_UNDEFINE,
    EFFECT_INCLUDE,
    EFFECT_PREINCLUDE,
    EFFECT_STANDARD,
    EFFECT_ARCHITECTURE,
    EFFECT_QUIET,
    EFFECT_NO_CACHE
};
enum value_form { VALUE_NONE, VALUE_EQUALS, VALUE_MAYBE, VALUE_JOINED }; /* JOINED: -Dx or -D x */

static const struct option_row {
    const char *name;
    enum value_form value;
    enum option_effect effect;
} rows[] = {
    {"-D", VALUE_JOINED, EFFECT_DEFINE},
    {"--define-macro", VALUE_EQUALS, EFFECT_DEFINE},
    {"-U", VALUE_JOINED, EFFECT_UNDEFINE},
    {"--undefine-macro", VALUE_EQUALS, EFFECT_UNDEFINE},
    {"-I", VALUE_JOINED, EFFECT_INCLUDE},
    {"--include-path", VALUE_EQUALS, EFFECT_INCLUDE},
    {"-include", VALUE_EQUALS, EFFECT_PREINCLUDE},
    {"--pre-include", VALUE_EQUALS, EFFECT_PREINCLUDE},
    {"-std", VALUE_EQUALS, EFFECT_STANDARD},
    {"--std", VALUE_EQUALS, EFFECT_STANDARD},
    {"-arch", VALUE_EQUALS, EFFECT_ARCHITECTURE},
    {"--gpu-architecture", VALUE_EQUALS, EFFECT_ARCHITECTURE},
    {"-w", VALUE_NONE, EFFECT_QUIET},
    {"--disable-warnings", VALUE_NONE, EFFECT_QUIET},
    {"-no-cache", VALUE_NONE, EFFECT_NO_CACHE},
    {"--no-cache", VALUE_NONE, EFFECT_NO_CACHE},
    {"-lineinfo", VALUE_MAYBE, EFFECT_NONE},
    {"--generate-line-info", VALUE_MAYBE, EFFECT_NONE},
    {"-G", VALUE_NONE, EFFECT_NONE},
    {"--device-debug", VALUE_NONE, EFFECT_NONE},
    {"-use_fast_math", VALUE_MAYBE, EFFECT_NONE},
    {"--use_fast_math", VALUE_MAYBE, EFFECT_NONE},
    {"-fmad", VALUE_EQUALS, EFFECT_NONE},
    {"--fmad", VALUE_EQUALS, EFFECT_NONE},
    {"-ftz", VALUE_EQUALS, EFFECT_NONE},
    {"--ftz", VALUE_EQUALS, EFFECT_NONE},
    {"-prec-div", VALUE_EQUALS, EFFECT_NONE},
    {"--prec-div", VALUE_EQUALS, EFFECT_NONE},
    {"-prec-sqrt", VALUE_EQUALS, EFFECT_NONE},
    {"--prec-sqrt", VALUE_EQUALS, EFFECT_NONE},
    {"-maxrregcount", VALUE_EQUALS, EFFECT_NONE},
    {"--maxrregcount", VALUE_EQUALS, EFFECT_NONE},
    {"-default-device", VALUE_NONE, EFFECT_NONE},
    {"--device-as-default-execution-space", VALUE_NONE, EFFECT_NONE},
    {"-restrict", VALUE_NONE, EFFECT_NONE},
    {"--restrict", VALUE_NONE, EFFECT_NONE},
    {"-rdc", VALUE_EQUALS, EFFECT_NONE},
    {"--relocatable-device-code", VALUE_EQUALS, EFFECT_NONE},
    {"--ptxas-options", VALUE_EQUALS, EFFECT_NONE},
    {"-Xptxas", VALUE_EQUALS, EFFECT_NONE},
    {"-dopt", VALUE_MAYBE, EFFECT_NONE},
    {"--dopt", VALUE_MAYBE, EFFECT_NONE},
    {"-opt-info", VALUE_EQUALS, EFFECT_NONE},
    {"--optimization-info", VALUE_EQUALS, EFFECT_NONE},
    {"-extra-device-vectorization", VALUE_NONE, EFFECT_NONE},
    {"--extra-device-vectorization", VALUE_NONE, EFFECT_NONE},
    {"--no-source-include", VALUE_NONE, EFFECT_NONE},
    {"-no-source-include", VALUE_NONE, EFFECT_NONE},
    {"--diag-suppress", VALUE_EQUALS, EFFECT_NONE},
    {"-diag-suppress", VALUE_EQUALS, EFFECT_NONE},
    {"--diag-warn", VALUE_EQUALS, EFFECT_NONE},
    {"-diag-warn", VALUE_EQUALS, EFFECT_NONE},
    {"--diag-error", VALUE_EQUALS, EFFECT_NONE},
    {"-diag-error", VALUE_EQUALS, EFFECT_NONE},
    {"--display-error-number", VALUE_NONE, EFFECT_NONE},
    {"-err-no", VALUE_NONE, EFFECT_NONE},
    {"--no-display-error-number", VALUE_NONE, EFFECT_NONE},
    {"-no-err-no", VALUE_NONE, EFFECT_NONE},
    {"-device-int128", VALUE_NONE, EFFECT_NONE},
    {"--device-int128", VALUE_NONE, EFFECT_NONE},
    {"-minimal", VALUE_NONE, EFFECT_NONE},
    {"--minimal", VALUE_NONE, EFFECT_NONE},
    {"--split-compile", VALUE_EQUALS, EFFECT_NONE},
    {"-split-compile", VALUE_EQUALS, EFFECT_NONE},
    {"--brief-diagnostics", VALUE_EQUALS, EFFECT_NONE},
    {"-brief-diag", VALUE_EQUALS, EFFECT_NONE},
};

static leat_status option_error(struct le_text *log, const char *format, const char *text) {
    le_text_add(log, "nvrtc: error: ");
    le_text_add(log, format, text);
    le_text_add(log, "\n");
    return LEAT_INVALID;
}

/* The compiler may run in another folder than this process, so paths are made absolute. */
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
            /* the prelude needs C++17 */
            read->standard = k <= 3 ? "-std=c++17" : le_arena_format(arena, "-std=%s", value);
            return LEAT_OK;
        }
    return option_error(log, "invalid value for --std (-std): %s", value);
}

static leat_status take_architecture(const char *value, struct sim_options *read, struct le_text *log) {
    const char *number = value + strcspn(value, "_") + (strchr(value, '_') != NULL);
    int architecture = (strncmp(value, "compute_", 8) == 0 || strncmp(value, "sm_", 3) == 0) ? atoi(number) : 0;
    if (architecture < 50 || architecture > 999)
        return option_error(log, "invalid value for --gpu-architecture (-arch): %s", value);
    read->architecture = architecture * 10;
    return LEAT_OK;
}

static leat_status apply_option(struct le_arena *arena, const struct option_row *row, const char *value,
                                struct sim_options *read, struct le_text *log) {
    size_t name = strcspn(value, "=");
    const char *line = NULL;
    switch (row->effect) {
    case EFFECT_DEFINE:
        line = le_arena_format(arena, "#define %.*s %s", (int)name, value, value[name] ? value + name + 1 : "1");
        break;
    case EFFECT_UNDEFINE:
        line = le_arena_format(arena, "#undef %s", value);
        break;
    case EFFECT_PREINCLUDE:
        line = le_arena_format(arena, "#include \"%s\"", value);
        break;
    case EFFECT_INCLUDE:
        le_argv_add(arena, &read->folders, le_arena_format(arena, "-I%s", absolute(arena, value)));
        break;
    case EFFECT_STANDARD:
        return take_standard(arena, value, read, log);
    case EFFECT_ARCHITECTURE:
        return take_architecture(value, read, log);
    case EFFECT_QUIET:
        read->quiet = true;
        break;
    case EFFECT_NO_CACHE:
        read->no_cache = true;
        break;
    default:
        break;
    }
    if (line)
        read->lines = le_arena_format(arena, "%s%s\n", read->lines, line);
    return LEAT_OK;
}

/* Whether the option is the one in this row. value: its value, or NULL if it is in the next word. */
static bool option_matches(const struct option_row *row, const char *option, const char **value) {
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
        const struct option_row *row = rows;
        const char *value = NULL, *option = options[k] + strspn(options[k], " ");
        while (row < rows + ARRAY_LEN(rows) && !option_matches(row, option, &value))
            row++;
        if (row == rows + ARRAY_LEN(rows))
            return option_error(log, "unrecognized option %s found", option);
        bool needed = row->value == VALUE_EQUALS || row->value == VALUE_JOINED;
        if (needed && !value && ++k == count)
            return option_error(log, "option %s needs a value", option);
        if (needed && !value)
            value = options[k];
        leat_status status = apply_option(arena, row, value ? value : "", read, log);
        if (status != LEAT_OK)
            return status;
    }
    return LEAT_OK;
}
