/* The steps that `run`, `show` and `check` share: open the library, read and check the program, bind the inputs. Each
 * step returns an exit code after reporting any failure. le_cli_session_free() may be called after any of them. */
#ifndef LE_CLI_SESSION_H
#define LE_CLI_SESSION_H
#include "cli/command_line.h"

struct le_cli_session {
    struct le_cli *cli;
    struct le_cli_line line;
    leat_program *program;
    leat_call *call;
};
/* Fills in the options that all subcommands share: the log callback and the number of threads. */
void le_cli_session_options(struct le_cli_session *session, leat_options *options);
int le_cli_session_open(struct le_cli_session *session);
int le_cli_session_compile(struct le_cli_session *session); /* makes program and call */
int le_cli_session_bind(struct le_cli_session *session);
void le_cli_session_free(struct le_cli_session *session);

/* Reads all bytes of a file, or of stdin ("-"), and adds a NUL that is not counted. Free *bytes with free(). */
int le_cli_read_all(struct le_cli *cli, const char *path, const char *shown, size_t most_bytes, char **bytes,
                    size_t *size_bytes);
/* Reads an array from stdin. declared: see leat_array_load. */
int le_cli_load_stdin(struct le_cli *cli, leat_dtype declared, leat_array **array);
#endif
