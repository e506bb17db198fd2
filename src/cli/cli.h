/* What all of the command's files share: the state of one call of the command, its messages and its exit codes.
 * The command knows the library by leat.h alone. Data goes to stdout, everything else to stderr. One thread runs it; a
 * second one draws progress on a terminal (progress.h). A function that can fail returns the exit code and has told the
 * reason. */
#ifndef LE_CLI_H
#define LE_CLI_H
#include "leat.h"

enum le_cli_exit {
    LE_EXIT_OK = 0,
    LE_EXIT_PROGRAM = 1, /* the program's text, or arrays that do not fit it */
    LE_EXIT_USAGE = 2,   /* the command line; an input that is missing or not in the program */
    LE_EXIT_FILE = 3,
    LE_EXIT_DEVICE = 4,
    LE_EXIT_MEMORY = 5,
    LE_EXIT_DATA = 6,    /* an error in the data, found as the program ran */
    LE_EXIT_FAULT = 70,  /* a fault of Leat's own */
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
    uint64_t opening_ns; /* --explain: from there until the library was open, less what its own ledger holds */
    uint64_t opened_ns;  /* and when that was: from main() on, and by the ledger's clock */
    uint64_t opened_ledger_ns;
    const char *command; /* "run"; NULL before it is known */
    bool json, explain;
    int precision_digits; /* --precision-digits; 0: printed numbers have as many digits as they need */
    bool color;           /* stderr is a terminal that shows colours, and NO_COLOR is not set */
    leat_context *ctx;
    bool on_device; /* ctx's: not the CPU, so that arrays may lie where this process cannot read them */
    struct le_cli_messages errors, notes;
    struct le_cli_progress *progress; /* NULL where nothing is drawn */
};

uint64_t le_cli_clock_ns(void);

/* Each tells the message on stderr, keeps it for --json, and returns the exit code that belongs to it. */
int le_cli_usage(struct le_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
int le_cli_fail(struct le_cli *cli, leat_status code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The library's own account of its last failure; LE_EXIT_OK for LEAT_OK. */
int le_cli_failed(struct le_cli *cli, leat_status status);
void le_cli_note(struct le_cli *cli, const char *text);   /* on stderr and for --json; the same text only once */
void le_cli_remark(struct le_cli *cli, const char *text); /* a note for --json alone */
void le_cli_messages_free(struct le_cli *cli);

/* A cost of the command's own in the ledger; nothing without --explain. */
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
/* The help of a subcommand, or of the command itself (NULL), on stdout. */
void le_cli_help(const char *command);
#endif
