/* `leat trace`: runs a command and records what it does on CUDA devices. leat itself prints on stderr only, since
 * stdout belongs to the command. */
#include "cli/cli.h"
#include "cli/suggest.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace_line {
    leat_trace_options options;
    const char *const *command;
    bool help;
};

/* Parses a whole number of bytes. The suffixes K, M and G are powers of 1024. */
static int parse_limit(struct le_cli *cli, const char *value, uint64_t *limit_bytes) {
    static const char UNITS[] = "KMG";
    char *end = NULL;
    errno = 0;
    unsigned long long number = value[0] >= '0' && value[0] <= '9' ? strtoull(value, &end, 10) : 0;
    const char *unit = end && *end ? strchr(UNITS, *end) : NULL;
    int shift = unit ? 10 * ((int)(unit - UNITS) + 1) : 0;
    bool wrong = !end || errno || !number || (*end && (!unit || end[1])) || number > UINT64_MAX >> shift;
    if (wrong)
        return le_cli_usage(cli, "--limit %s: not a byte count; write a number such as 500000000 or 500M", value);
    *limit_bytes = (uint64_t)number << shift;
    return LE_EXIT_OK;
}

static int parse_graphs(struct le_cli *cli, const char *value, bool *graphs_only) {
    if (strcmp(value, "only") != 0)
        return le_cli_usage(cli, "--graphs %s: write --graphs only", value);
    *graphs_only = true;
    return LE_EXIT_OK;
}

static int parse_from_start(struct le_cli *cli, const char *value, bool *paused) {
    if (strcmp(value, "off") != 0)
        return le_cli_usage(cli, "--from-start %s: write --from-start off", value);
    *paused = true;
    return LE_EXIT_OK;
}

/* The value of option name: the text after `=`, or the next word. NULL if the word is another option. */
static const char *option_value(const char *name, int argc, char **argv, int *k) {
    size_t length = strlen(name);
    if (strncmp(argv[*k], name, length) != 0)
        return NULL;
    if (argv[*k][length] == '=')
        return argv[*k] + length + 1;
    if (argv[*k][length])
        return NULL;
    return *k + 1 < argc ? argv[++*k] : "";
}

static int parse_option(struct le_cli *cli, int argc, char **argv, int *k, struct trace_line *line) {
    static const char *const OPTIONS[] = {"-o", "--no-source", "--limit", "--from-start", "--graphs", "--help", NULL};
    const char *value, *word = argv[*k];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        line->help = true;
    else if (strcmp(word, "--no-source") == 0)
        line->options.no_source = true;
    else if ((value = option_value("-o", argc, argv, k)) != NULL)
        line->options.file = value;
    else if ((value = option_value("--limit", argc, argv, k)) != NULL)
        return parse_limit(cli, value, &line->options.limit_bytes);
    else if ((value = option_value("--from-start", argc, argv, k)) != NULL)
        return parse_from_start(cli, value, &line->options.paused);
    else if ((value = option_value("--graphs", argc, argv, k)) != NULL)
        return parse_graphs(cli, value, &line->options.graphs_only);
    else
        return le_cli_unknown_option(cli, word, OPTIONS);
    return LE_EXIT_OK;
}

/* Options of leat come first. The first other word and everything after it are the command. argv ends with NULL. */
static int parse_line(struct le_cli *cli, int argc, char **argv, struct trace_line *line) {
    int k = 0;
    for (; k < argc && argv[k][0] == '-' && strcmp(argv[k], "--") != 0; k++) {
        int code = parse_option(cli, argc, argv, &k, line);
        if (code || line->help)
            return code;
    }
    if (k < argc && strcmp(argv[k], "--") == 0)
        k++;
    if (line->options.file && !*line->options.file)
        return le_cli_usage(cli, "-o needs a file name");
    if (k >= argc)
        return le_cli_usage(cli, "no command given: write the command to record, such as python3 app.py");
    line->command = (const char *const *)argv + k;
    return LE_EXIT_OK;
}

static void print_outcome(struct le_cli *cli, const struct trace_line *line, const leat_trace_outcome *outcome) {
    char text[1024];
    const char *file = line->options.file ? line->options.file : "leat.trace";
    if (outcome->note[0])
        le_cli_note(cli, outcome->note);
    if (!outcome->processes)
        return;
    bool small = outcome->bytes < 1000000;
    snprintf(text, sizeof text, "recorded %zu process%s in %s (%.1f %s); show it with: leat report %s",
             outcome->processes, outcome->processes == 1 ? "" : "es", file,
             (double)outcome->bytes / (small ? 1e3 : 1e6), small ? "kB" : "MB", file);
    le_cli_note(cli, text);
}

int le_command_trace(struct le_cli *cli, int argc, char **argv) {
    struct trace_line line = {0};
    leat_trace_outcome outcome;
    int code = parse_line(cli, argc, argv, &line);
    if (!code && line.help) {
        le_cli_help("trace");
        return LE_EXIT_OK;
    }
    if (!code)
        code = le_cli_library_error(cli, leat_trace_record(line.command, &line.options, &outcome));
    if (code)
        return code;
    print_outcome(cli, &line, &outcome);
    return outcome.exit_status;
}
