/* The command `leat`: finds the subcommand and calls it. */
#include "cli/cli.h"
#include "cli/help_topics.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/suggest.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*run)(struct le_cli *cli, int argc, char **argv);
} COMMANDS[] = {
    {"run", le_command_run},       {"check", le_command_check},     {"show", le_command_show},
    {"launch", le_command_launch}, {"devices", le_command_devices}, {"cache", le_command_cache},
    {"trace", le_command_trace},   {"report", le_command_report},
};
enum { COMMANDS_COUNT = sizeof COMMANDS / sizeof COMMANDS[0] };

static bool shows_color(void) {
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (no_color && *no_color)
        return false;
    return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

static int find_command(const char *name) {
    for (int k = 0; k < COMMANDS_COUNT; k++)
        if (strcmp(COMMANDS[k].name, name) == 0)
            return k;
    return -1;
}

/* Prints the JSON object with the errors if --json is anywhere on the command line. For errors before a subcommand is
 * known. */
static int print_usage_json(struct le_cli *cli, int argc, char **argv, int code) {
    for (int k = 1; k < argc; k++)
        cli->json |= strcmp(argv[k], "--json") == 0;
    if (code && cli->json) {
        struct le_json json = {.file = stdout};
        le_json_open(&json, NULL, '{');
        le_json_integer(&json, "schema", LE_JSON_SCHEMA);
        le_json_messages(&json, cli);
        le_json_close(&json, '}');
        putchar('\n');
    }
    return code;
}

/* Reports an unknown subcommand and suggests the one that was probably meant. */
static int refuse_name(struct le_cli *cli, const char *name) {
    static const char *const OPTIONS[] = {"--help", "--version", NULL};
    const char *known[COMMANDS_COUNT + 2] = {NULL};
    size_t length = strlen(name);
    for (int k = 0; k < COMMANDS_COUNT; k++)
        known[k] = COMMANDS[k].name;
    known[COMMANDS_COUNT] = "help";
    const char *near = le_suggest(name, *name == '-' ? OPTIONS : known);
    if (*name == '-' && !near)
        return le_cli_usage(cli, "no subcommand `%s`: a subcommand comes first, as in leat run %s", name, name);
    if (length > 5 && strcmp(name + length - 5, ".leat") == 0)
        return le_cli_usage(cli, "no subcommand `%s`; did you mean `leat run %s`?", name, name);
    if (near)
        return le_cli_usage(cli, "%s `%s`; did you mean `%s`?", *name == '-' ? "unknown option" : "no subcommand", name,
                            near);
    return le_cli_usage(cli, "no subcommand `%s`; use run, check, show, launch, devices, cache, trace, report or help",
                        name);
}

static int refuse_topic(struct le_cli *cli, const char *name) {
    const char *known[COMMANDS_COUNT + LE_HELP_TOPICS_MAX + 1] = {NULL};
    for (int k = 0; k < COMMANDS_COUNT; k++)
        known[k] = COMMANDS[k].name;
    le_help_topics(known + COMMANDS_COUNT);
    const char *near = le_suggest(name, known);
    if (near)
        return le_cli_usage(cli, "no help for `%s`; did you mean `%s`?", name, near);
    return le_cli_usage(cli, "no help for `%s`: no subcommand, topic or function has that name", name);
}

/* `leat help`, with the arguments after it. */
static int help(struct le_cli *cli, int argc, char **argv) {
    const char *name = argc > 0 ? argv[0] : NULL;
    if (argc > 1)
        return le_cli_usage(cli, "help takes one subcommand, topic or function");
    if (!name || find_command(name) >= 0)
        le_cli_help(name);
    else if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        le_cli_help("help");
    else if (!le_help_topic(name))
        return refuse_topic(cli, name);
    return LE_EXIT_OK;
}

static int dispatch(struct le_cli *cli, int argc, char **argv) {
    if (argc < 2) {
        fputs("usage: leat run | check | show | launch | devices | cache | trace | report | help, or leat --help\n",
              stderr);
        return LE_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("leat %s\n", leat_version());
        return LE_EXIT_OK;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help(cli, 0, NULL);
    if (strcmp(name, "help") == 0)
        return print_usage_json(cli, argc, argv, help(cli, argc - 2, argv + 2));
    int k = find_command(name);
    if (k < 0)
        return print_usage_json(cli, argc, argv, refuse_name(cli, name));
    cli->command = name;
    return COMMANDS[k].run(cli, argc - 2, argv + 2);
}

int main(int argc, char **argv) {
    struct le_cli cli = {.start_ns = le_cli_clock_ns(), .color = shows_color()};
    le_cli_interrupt_catch();
    int code = dispatch(&cli, argc, argv);
    le_cli_progress_stop(&cli);
    leat_close(cli.ctx);
    cli.ctx = NULL;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        int failed = le_cli_fail_file(&cli, "write", "stdout", errno);
        code = code ? code : failed;
    }
    le_cli_messages_free(&cli);
    return code;
}
