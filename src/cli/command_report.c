/* `leat report`: prints what a trace says as text, CSV or JSON, and writes pictures to files. */
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/suggest.h"
#include "cli/target.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct report_line {
    const char *file, *perfetto, *svg;
    leat_report report;
    leat_report_format format;
    bool is_chosen, csv, help;
};

/* ---- the command line */

static int choose_report(struct le_cli *cli, struct report_line *line, leat_report report) {
    if (line->is_chosen)
        return le_cli_usage(cli, "--summary, --trace and --findings exclude each other");
    line->is_chosen = true;
    line->report = report;
    return LE_EXIT_OK;
}

/* Takes the value of option name: the text after `=`, or the next word. Returns false if the word is another option. */
static bool take_value(const char *name, int argc, char **argv, int *k, const char **value) {
    size_t length = strlen(name);
    if (strncmp(argv[*k], name, length) != 0 || (argv[*k][length] && argv[*k][length] != '='))
        return false;
    if (argv[*k][length] == '=')
        *value = argv[*k] + length + 1;
    else
        *value = *k + 1 < argc ? argv[++*k] : "";
    return true;
}

static int parse_option(struct le_cli *cli, int argc, char **argv, int *k, struct report_line *line) {
    static const char *const OPTIONS[] = {"--summary", "--trace",    "--findings", "--csv", "--json",
                                          "--svg",     "--perfetto", "--help",     NULL};
    const char *word = argv[*k];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        line->help = true;
    else if (strcmp(word, "--summary") == 0)
        return choose_report(cli, line, LEAT_REPORT_SUMMARY);
    else if (strcmp(word, "--trace") == 0)
        return choose_report(cli, line, LEAT_REPORT_OPERATIONS);
    else if (strcmp(word, "--findings") == 0)
        return choose_report(cli, line, LEAT_REPORT_FINDINGS);
    else if (strcmp(word, "--csv") == 0)
        line->csv = true;
    else if (strcmp(word, "--json") == 0)
        cli->json = true;
    else if (take_value("--perfetto", argc, argv, k, &line->perfetto))
        return *line->perfetto ? LE_EXIT_OK : le_cli_usage(cli, "--perfetto needs a file name");
    else if (take_value("--svg", argc, argv, k, &line->svg))
        return *line->svg ? LE_EXIT_OK : le_cli_usage(cli, "--svg needs a file name");
    else
        return le_cli_unknown_option(cli, word, OPTIONS);
    return LE_EXIT_OK;
}

static bool is_stdout(const char *path) {
    return path && strcmp(path, "-") == 0;
}

static bool is_same(const char *a, const char *b) {
    return a && b && (strcmp(a, b) == 0 || (!is_stdout(a) && !is_stdout(b) && le_cli_target_is_same(a, b)));
}

static int parse_line(struct le_cli *cli, int argc, char **argv, struct report_line *line) {
    bool options_ended = false;
    for (int k = 0; k < argc; k++)
        cli->json |= strcmp(argv[k], "--json") == 0;
    for (int k = 0; k < argc; k++) {
        int code = LE_EXIT_OK;
        if (!options_ended && strcmp(argv[k], "--") == 0)
            options_ended = true;
        else if (!options_ended && argv[k][0] == '-' && argv[k][1])
            code = parse_option(cli, argc, argv, &k, line);
        else if (line->file)
            code = le_cli_usage(cli, "unexpected argument `%s`", argv[k]);
        else
            line->file = argv[k];
        if (code || line->help)
            return code;
    }
    if (!line->file)
        return le_cli_usage(cli,
                            "no trace file given: write the name of a file that leat trace wrote, such as leat.trace");
    if (line->csv && cli->json)
        return le_cli_usage(cli, "--csv and --json exclude each other");
    if (line->csv && !line->is_chosen)
        return le_cli_usage(cli, "--csv needs --summary, --trace or --findings");
    if (is_same(line->svg, line->perfetto))
        return le_cli_usage(cli, "--svg and --perfetto name the same file");
    if (is_same(line->file, line->svg) || is_same(line->file, line->perfetto))
        return le_cli_usage(cli, "%s is the trace itself: write the picture to another file", line->file);
    if ((is_stdout(line->svg) || is_stdout(line->perfetto)) && (line->is_chosen || cli->json))
        return le_cli_usage(cli, "only one report can be written to standard output: write the picture to a file");
    line->format = line->csv ? LEAT_REPORT_CSV : cli->json ? LEAT_REPORT_JSON : LEAT_REPORT_TEXT;
    return LE_EXIT_OK;
}

/* ---- reports */

static bool write_file(void *user, const void *bytes, size_t size_bytes) {
    return fwrite(bytes, 1, size_bytes, user) == size_bytes;
}

static int save_report(struct le_cli *cli, const leat_trace *trace, leat_report report, const char *path) {
    if (is_stdout(path))
        return le_cli_library_error(cli, leat_trace_report(trace, report, LEAT_REPORT_TEXT, write_file, stdout));
    if (!le_cli_target_can_be_written(path))
        return le_cli_fail_file(cli, "write", path, errno);
    const leat_save_options options = {.proceed = le_cli_interrupt_proceed};
    le_cli_interrupt_hold(path);
    leat_status status = leat_trace_report_save(trace, report, LEAT_REPORT_TEXT, path, &options);
    le_cli_interrupt_release();
    return le_cli_library_error(cli, status);
}

/* With only --svg or --perfetto, nothing is printed. */
static int write_reports(struct le_cli *cli, const struct report_line *line, const leat_trace *trace) {
    bool is_printed = line->is_chosen || cli->json || (!line->perfetto && !line->svg);
    int code = LE_EXIT_OK;
    if (line->perfetto)
        code = save_report(cli, trace, LEAT_REPORT_PERFETTO, line->perfetto);
    if (!code && line->svg)
        code = save_report(cli, trace, LEAT_REPORT_SVG, line->svg);
    if (!code && is_printed)
        code = le_cli_library_error(cli, leat_trace_report(trace, line->report, line->format, write_file, stdout));
    return code;
}

static void report_failure(struct le_cli *cli) {
    struct le_json json = {.file = stdout};
    le_json_open(&json, NULL, '{');
    le_json_integer(&json, "schema", LE_JSON_SCHEMA);
    le_json_messages(&json, cli);
    le_json_close(&json, '}');
    fputc('\n', stdout);
}

int le_command_report(struct le_cli *cli, int argc, char **argv) {
    struct report_line line = {.report = LEAT_REPORT_OVERVIEW};
    leat_trace *trace = NULL;
    int code = parse_line(cli, argc, argv, &line);
    if (!code && line.help) {
        le_cli_help("report");
        return code;
    }
    if (!code)
        code = le_cli_library_error(cli, leat_trace_open(line.file, &trace));
    if (!code)
        code = write_reports(cli, &line, trace);
    if (code && cli->json)
        report_failure(cli);
    leat_trace_free(trace);
    return code;
}
