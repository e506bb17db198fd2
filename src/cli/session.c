/* See session.h. Names are checked before any input file is opened, so that a mistake on the command line costs no
 * time. */
#include "cli/session.h"
#include "cli/explain.h"
#include "cli/help_topics.h"
#include "cli/progress.h"
#include "cli/value.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define PROGRAM_BYTES_MAX ((size_t)64 << 20) /* longer text is refused */

static void on_log(leat_log_level level, const char *text, void *user) {
    (void)level;
    le_cli_note(user, text);
}

void le_cli_session_options(struct le_cli_session *session, leat_options *options) {
    options->threads = session->line.threads;
    options->tf32 = session->line.tf32;
    options->keep_code = true;
    if (!getenv("LEAT_INTERPRET")) /* a single run gains nothing: leat_close waits for the compiler anyway */
        options->interpret = LEAT_INTERPRET_NEVER;
    options->log = on_log;
    options->log_user = session->cli;
}

/* Whether leat_open would open a device other than the CPU for this name. */
static bool is_device(const char *given) {
    const char *variable = getenv("LEAT_DEVICE");
    const char *name = given && strcmp(given, "auto") != 0 ? given : variable ? variable : "";
    return strncmp(name, "cuda", 4) == 0 || strcmp(name, "sim") == 0;
}

int le_cli_session_open(struct le_cli_session *session) {
    struct le_cli *cli = session->cli;
    leat_options options = {.device = session->line.device, .ledger_level = cli->explain ? 1 : 0};
    le_cli_session_options(session, &options);
    cli->on_device = is_device(session->line.device);
    le_cli_progress_start(cli);
    le_cli_explain_begin(cli);
    return le_cli_library_error(cli, leat_open(&options, &cli->ctx));
}

static int compile_text(struct le_cli_session *session, const char *text, size_t size_bytes, const char *name) {
    leat_program_options options = {.name = name};
    leat_status status = leat_program_new(session->cli->ctx, text, size_bytes, &options, &session->program);
    if (!status)
        status = leat_call_new(session->program, &session->call);
    return le_cli_library_error(session->cli, status);
}

int le_cli_session_compile(struct le_cli_session *session) {
    const struct le_cli_line *line = &session->line;
    if (line->text)
        return compile_text(session, line->text, 0, NULL);
    char *text = NULL;
    size_t size_bytes = 0;
    const char *shown = strcmp(line->path, "-") == 0 ? "stdin" : line->path;
    le_cli_cost_begin(session->cli, LEAT_COST_READ, shown);
    int code = le_cli_read_all(session->cli, line->path, shown, PROGRAM_BYTES_MAX, &text, &size_bytes);
    le_cli_cost_end(session->cli, size_bytes);
    if (!code)
        code = compile_text(session, text, size_bytes, shown);
    free(text);
    return code;
}

/* Finds the program's input with that name. */
static bool find_input(const leat_program *program, const char *name, leat_name_info *info) {
    size_t count = 0;
    leat_program_count(program, LEAT_NAME_INPUT, &count);
    for (size_t k = 0; k < count; k++)
        if (leat_program_name(program, LEAT_NAME_INPUT, k, info) == LEAT_OK && strcmp(info->name, name) == 0)
            return true;
    return false;
}

static bool is_bound(const struct le_cli_line *line, const char *name) {
    for (size_t k = 0; k < line->binding_count; k++)
        if (strcmp(line->bindings[k].name, name) == 0)
            return true;
    return false;
}

/* "a, b, c" */
struct name_list {
    char text[400];
    size_t count;
};

static void add_name(struct name_list *names, const char *name) {
    size_t used = strlen(names->text);
    const char *comma = names->count++ ? ", " : "";
    if (used + strlen(name) + 8 < sizeof names->text)
        snprintf(names->text + used, sizeof names->text - used, "%s%s", comma, name);
    else if (used + 6 < sizeof names->text && !strstr(names->text, ", ..."))
        strcat(names->text, ", ...");
}

static int check_unknown(struct le_cli_session *session) {
    const struct le_cli_line *line = &session->line;
    struct name_list unknown = {{0}, 0}, inputs = {{0}, 0};
    leat_name_info info;
    for (size_t k = 0; k < line->binding_count; k++)
        if (!find_input(session->program, line->bindings[k].name, &info))
            add_name(&unknown, line->bindings[k].name);
    if (unknown.count == 0)
        return LE_EXIT_OK;
    size_t count = 0;
    leat_program_count(session->program, LEAT_NAME_INPUT, &count);
    for (size_t k = 0; k < count; k++)
        if (leat_program_name(session->program, LEAT_NAME_INPUT, k, &info) == LEAT_OK)
            add_name(&inputs, info.name);
    char expected[sizeof inputs.text + 32];
    snprintf(expected, sizeof expected, "its inputs are %s", inputs.text);
    return le_cli_fail_with(session->cli, LEAT_INVALID, inputs.count ? expected : "it has no inputs",
                            "the program has no input %s", unknown.text);
}

static int check_missing(struct le_cli_session *session) {
    struct name_list missing = {{0}, 0};
    const char *foreign = NULL; /* the first missing name that is a name of another language */
    size_t count = 0;
    leat_program_count(session->program, LEAT_NAME_INPUT, &count);
    for (size_t k = 0; k < count; k++) {
        leat_name_info info;
        if (leat_program_name(session->program, LEAT_NAME_INPUT, k, &info))
            continue;
        if (info.optional || is_bound(&session->line, info.name))
            continue;
        add_name(&missing, info.name);
        if (!foreign && le_help_foreign(info.name))
            foreign = info.name;
    }
    if (missing.count == 0)
        return LE_EXIT_OK;
    char expected[2 * sizeof missing.text + 64];
    const char *plural = missing.count > 1 ? "s" : "", *name = *plural ? "NAME" : missing.text;
    if (foreign)
        snprintf(expected, sizeof expected, "%s%s%s", *plural ? foreign : "", *plural ? ": " : "",
                 le_help_foreign(foreign));
    else
        snprintf(expected, sizeof expected, "write %s=FILE or %s=NUMBER", name, name);
    return le_cli_fail_with(session->cli, LEAT_MISSING, expected, "missing input%s %s", plural, missing.text);
}

/* Reshapes a table of text with one column or one line to a vector or a matrix, as the program declares it. */
static leat_status fit_rank(int rank, leat_array **array) {
    leat_description about;
    leat_array *fitted = NULL;
    leat_status status = leat_array_get(*array, &about);
    if (!status && rank == 2 && about.rank == 1)
        status = leat_array_reshape(*array, 2, (int64_t[]){about.shape[0], 1}, &fitted);
    else if (!status && rank == 1 && about.rank == 2 && about.shape[0] == 1)
        status = leat_array_reshape(*array, 1, (int64_t[]){about.shape[1]}, &fitted);
    if (fitted) {
        leat_array_free(*array);
        *array = fitted;
    }
    return status;
}

static int load_file(struct le_cli_session *session, const struct le_cli_binding *binding, leat_array **array) {
    leat_name_info info = {0};
    find_input(session->program, binding->name, &info);
    const char *path = binding->value;
    leat_status status = leat_array_load(session->cli->ctx, path, binding->key, info.dtype, array);
    if (!status && (le_cli_ends_with(path, ".csv") || le_cli_ends_with(path, ".tsv")))
        status = fit_rank(info.rank, array);
    return le_cli_library_error(session->cli, status);
}

static int load_stdin(struct le_cli_session *session, const struct le_cli_binding *binding, leat_array **array) {
    leat_name_info info = {0};
    find_input(session->program, binding->name, &info);
    return le_cli_load_stdin(session->cli, info.dtype, array);
}

/* Whether the value was probably meant as a number: it has no ending of a file, and there is no such file. */
static bool is_misspelled(const char *value) {
    return !strchr(value, '/') && !le_cli_has_known_ending(value) && access(value, F_OK) != 0 && errno == ENOENT;
}

static int refuse_value(struct le_cli *cli, const struct le_cli_binding *binding) {
    const char *value = binding->value, *expected = "";
    if (strcasecmp(value, "true") == 0 || strcasecmp(value, "false") == 0)
        expected = tolower((unsigned char)*value) == 't' ? "write true" : "write false";
    return le_cli_fail_with(cli, LEAT_FILE, expected, "%s=%s: not a number, and there is no file '%s'", binding->name,
                            value, value);
}

static int bind_array(struct le_cli_session *session, const struct le_cli_binding *binding) {
    leat_array *array = NULL;
    bool is_stdin = strcmp(binding->value, "-") == 0;
    if (!is_stdin && !binding->key && is_misspelled(binding->value))
        return refuse_value(session->cli, binding);
    int code = is_stdin ? load_stdin(session, binding, &array) : load_file(session, binding, &array);
    if (!code)
        code = le_cli_library_error(session->cli, leat_call_set_array(session->call, binding->name, array));
    leat_array_free(array);
    return code;
}

static int bind_input(struct le_cli_session *session, const struct le_cli_binding *binding) {
    struct le_cli_value value = le_cli_value_parse(binding->value);
    leat_call *call = session->call;
    const char *name = binding->name;
    leat_status status = LEAT_OK;
    switch (value.kind) {
    case LE_VALUE_PATH:
        return bind_array(session, binding);
    case LE_VALUE_RANGE:
        return le_cli_fail(session->cli, LEAT_INVALID, "%s=%s: no type can hold this number", name, binding->value);
    case LE_VALUE_BOOL:
        status = leat_call_set_bool(call, name, value.boolean);
        break;
    case LE_VALUE_I64:
        status = leat_call_set_i64(call, name, value.i64);
        break;
    case LE_VALUE_U64:
        status = leat_call_set_u64(call, name, value.u64);
        break;
    case LE_VALUE_F64:
        status = leat_call_set_f64(call, name, value.f64);
        break;
    case LE_VALUE_C128:
        status = leat_call_set_c128(call, name, value.f64, value.im);
        break;
    }
    return le_cli_library_error(session->cli, status);
}

int le_cli_session_bind(struct le_cli_session *session) {
    const struct le_cli_line *line = &session->line;
    int code = check_unknown(session);
    if (!code)
        code = check_missing(session);
    for (size_t k = 0; k < line->binding_count && !code; k++) {
        le_cli_progress_set(session->cli, line->bindings[k].value, k, line->binding_count);
        code = bind_input(session, &line->bindings[k]);
    }
    return code;
}

void le_cli_session_free(struct le_cli_session *session) {
    leat_call_free(session->call);
    leat_program_free(session->program);
    session->call = NULL;
    session->program = NULL;
}
