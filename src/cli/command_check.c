/* `leat check`: prints a program's names and their types where known without any input, or its errors. */
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/session.h"
#include <string.h>

static const struct {
    leat_name_kind kind;
    const char *title;
} SECTIONS[] = {{LEAT_NAME_INPUT, "inputs"},
                {LEAT_NAME_INDEX, "indices"},
                {LEAT_NAME_RESULT, "results"},
                {LEAT_NAME_TEMPORARY, "temporaries"}};
enum { SECTIONS_COUNT = sizeof SECTIONS / sizeof SECTIONS[0] };

static void print_name(const leat_name_info *info, leat_name_kind kind, int width) {
    printf("  %-*s", width, info->name);
    if (kind == LEAT_NAME_INDEX) {
        printf("  line %d\n", info->line);
        return;
    }
    const char *type = info->dtype ? leat_dtype_name(info->dtype) : "any type";
    if (info->rank < 0)
        printf("  %-8s  any rank", type);
    else if (info->rank == 0)
        printf("  %-8s  scalar  ", type);
    else
        printf("  %-8s  %d %-6s", type, info->rank, info->rank == 1 ? "axis" : "axes");
    printf("  line %d%s\n", info->line, info->optional ? ", optional" : "");
}

static void print_section(const leat_program *program, leat_name_kind kind, const char *title) {
    size_t count = 0;
    int width = 0;
    leat_name_info info;
    leat_program_count(program, kind, &count);
    for (size_t k = 0; k < count; k++) {
        if (leat_program_name(program, kind, k, &info))
            continue;
        int length = (int)strlen(info.name);
        width = length > width ? length : width;
    }
    if (count)
        printf("%s\n", title);
    for (size_t k = 0; k < count; k++)
        if (leat_program_name(program, kind, k, &info) == LEAT_OK)
            print_name(&info, kind, width);
}

static void section_json(struct le_json *json, const leat_program *program, leat_name_kind kind, const char *title) {
    size_t count = 0;
    if (program)
        leat_program_count(program, kind, &count);
    le_json_open(json, title, '[');
    for (size_t k = 0; k < count; k++) {
        leat_name_info info;
        if (leat_program_name(program, kind, k, &info))
            continue;
        le_json_open(json, NULL, '{');
        le_json_string(json, "name", info.name);
        le_json_integer(json, "line", info.line);
        if (kind != LEAT_NAME_INDEX) {
            le_json_string(json, "dtype", info.dtype ? leat_dtype_name(info.dtype) : NULL);
            if (info.rank < 0)
                le_json_null(json, "rank");
            else
                le_json_integer(json, "rank", info.rank);
            le_json_boolean(json, "optional", info.optional);
        }
        le_json_close(json, '}');
    }
    le_json_close(json, ']');
}

static void print_json(const struct le_cli_session *session) {
    struct le_json json = {.file = stdout};
    le_json_open(&json, NULL, '{');
    le_json_integer(&json, "schema", LE_JSON_SCHEMA);
    for (int k = 0; k < SECTIONS_COUNT; k++)
        section_json(&json, session->program, SECTIONS[k].kind, SECTIONS[k].title);
    le_json_messages(&json, session->cli);
    le_json_close(&json, '}');
    fputc('\n', stdout);
}

int le_command_check(struct le_cli *cli, int argc, char **argv) {
    struct le_cli_session session = {.cli = cli};
    int code = le_cli_line_parse(cli, LE_ACCEPTS_PROGRAM, argc, argv, &session.line);
    if (!code && session.line.help) {
        le_cli_help("check");
    } else {
        if (!code)
            code = le_cli_session_open(&session);
        if (!code)
            code = le_cli_session_compile(&session);
        le_cli_progress_stop(cli);
        if (cli->json)
            print_json(&session);
        for (int k = 0; k < SECTIONS_COUNT && !code && !cli->json; k++)
            print_section(session.program, SECTIONS[k].kind, SECTIONS[k].title);
        le_cli_session_free(&session);
    }
    le_cli_line_free(&session.line);
    return code;
}
