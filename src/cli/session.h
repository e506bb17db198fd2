/* What `run`, `show` and `check` have in common: open the library, read and check the program, bind the inputs.
 * Each step returns an exit code and has told what failed; le_cli_session_free() takes back whatever there is. */
#ifndef LE_CLI_SESSION_H
#define LE_CLI_SESSION_H
#include "cli/command_line.h"

struct le_cli_session {
    struct le_cli *cli;
    struct le_cli_line line;
    leat_program *program;
    leat_call *call;
};
/* The parts of options that all subcommands give alike: where notes go, threads. */
void le_cli_session_options(struct le_cli_session *session, leat_options *options);
int le_cli_session_open(struct le_cli_session *session);
int le_cli_session_compile(struct le_cli_session *session); /* makes program and call */
int le_cli_session_bind(struct le_cli_session *session);
void le_cli_session_free(struct le_cli_session *session);

/* All bytes of a file, or of stdin ("-"), with a NUL behind them that is not counted. *bytes is freed with free(). */
int le_cli_read_all(struct le_cli *cli, const char *path, const char *shown, size_t most_bytes, char **bytes,
                    size_t *size_bytes);
/* The array on stdin; declared as leat_array_load has it. */
int le_cli_load_stdin(struct le_cli *cli, leat_dtype declared, leat_array **array);
#endif
