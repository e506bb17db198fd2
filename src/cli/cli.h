/* Shared by all files of the command: the state of one invocation, its messages and its exit codes. The command uses
 * the library only through leat.h. Data goes to stdout, everything else to stderr. One thread runs the command; a
 * second one draws progress on a terminal (progress.h). A function that can fail returns the exit code and has already
 * reported the reason. */
#ifndef LE_CLI_H
#define LE_CLI_H
#include "leat.h"

enum le_cli_exit {
    LE_EXIT_OK = 0,
    LE_EXIT_PROGRAM = 1, /* errors in the program's text, or arrays that do not fit it */
    LE_EXIT_USAGE = 2,   /* wrong command line, or an input that is missing or not in the program */
    LE_EXIT_FILE = 3,
    LE_EXIT_DEVICE = 4,
    LE_EXIT_MEMORY = 5,
    LE_EXIT_DATA = 6,    /* an error in the data, found while the program ran */
    LE_EXIT_FAULT = 70,  /* a bug in Leat */
    LE_EXIT_SIGNAL = 128 /* plus the signal's number: 130 for Ctrl-C */
};

struct le_cli_message {
    leat_status code;
    int line, column, span;
    char *message, *expected;
};
struct le_cli_messages {
    struct le_cli_message *items;
    size_t count;
};

struct le_cli_progress;
struct le_cli {
    uint64_t start_ns;   /* when main() began */
    uint64_t before_ns;  /* from then until the library was opened */
    const char *command; /* the subcommand, "run"; NULL before it is known */
    bool json, explain;
    int precision_digits; /* --precision-digits; 0: print as many digits as the value needs */
    bool color;           /* stderr is a terminal that shows colours, and NO_COLOR is not set */
    leat_context *ctx;
    bool on_device; /* ctx is on a device, so this process may not be able to read arrays directly */
    struct le_cli_messages errors, notes;
    struct le_cli_progress *progress; /* NULL: no progress bar */
};

uint64_t le_cli_clock_ns(void);

/* Each prints a message on stderr, stores it for --json, and returns its exit code. */
int le_cli_usage(struct le_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
int le_cli_fail(struct le_cli *cli, leat_status code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same, with what to do instead. */
int le_cli_fail_with(struct le_cli *cli, leat_status code, const char *expected, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "cannot VERB PATH: REASON", where verb is "open", "read" or "write" and number is errno. */
int le_cli_fail_file(struct le_cli *cli, const char *verb, const char *path, int number);
/* Reports the library's last failure in the same way; LE_EXIT_OK for LEAT_OK. */
int le_cli_library_error(struct le_cli *cli, leat_status status);
void le_cli_note(struct le_cli *cli,
                 const char *text); /* prints on stderr and stores for --json; the same text only once */
void le_cli_note_for_json(struct le_cli *cli, const char *text); /* stores only */
void le_cli_messages_free(struct le_cli *cli);

/* Record a cost of the command itself in the ledger; without --explain they do nothing. */
void le_cli_cost_begin(struct le_cli *cli, leat_cost_kind kind, const char *what);
void le_cli_cost_end(struct le_cli *cli, uint64_t bytes);

int le_command_run(struct le_cli *cli, int argc, char **argv);
int le_command_check(struct le_cli *cli, int argc, char **argv);
int le_command_show(struct le_cli *cli, int argc, char **argv);
int le_command_launch(struct le_cli *cli, int argc, char **argv);
int le_command_devices(struct le_cli *cli, int argc, char **argv);
int le_command_cache(struct le_cli *cli, int argc, char **argv);
int le_command_trace(struct le_cli *cli, int argc, char **argv);
int le_command_report(struct le_cli *cli, int argc, char **argv);
/* Prints the help of a subcommand, or of the command itself (NULL), on stdout. */
void le_cli_help(const char *command);
#endif
