/* The output of `run` and `launch`: results as files, on stdout or as text; the times of the runs; and all of it as
 * JSON. */
#ifndef LE_CLI_OUTCOME_H
#define LE_CLI_OUTCOME_H
#include "cli/command_line.h"
#include "cli/json.h"

struct le_cli_outcome {
    struct le_cli *cli;
    uint64_t *times_ns; /* of each successful run */
    uint64_t count;
    struct le_json json; /* --json: the list of results, while it is written */
    char *results;
    size_t results_bytes;
};
/* Prepares the outcome of `repeat` runs. */
int le_cli_outcome_start(struct le_cli_outcome *outcome, struct le_cli *cli, uint64_t repeat);
void le_cli_outcome_free(struct le_cli_outcome *outcome);

/* Prints and writes the results; arrays[k] belongs to outputs[k]. Results for the same archive are written together. */
int le_cli_deliver(struct le_cli_outcome *outcome, const struct le_cli_output *outputs, leat_array *const *arrays,
                   size_t count, const struct le_cli_line *line);

/* Prints the times and the account, or the JSON object, at the end. */
void le_cli_report(struct le_cli_outcome *outcome, int code);

/* Refuses output files that cannot be written, and two results for the same file. Called before anything runs. */
int le_cli_check_files(struct le_cli *cli, const struct le_cli_line *line);
#endif
