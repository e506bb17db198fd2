/* What `run` and `launch` hand out: results as files, on stdout or as text, the times of the runs, and all of it as
 * JSON. */
#ifndef LE_CLI_OUTCOME_H
#define LE_CLI_OUTCOME_H
#include "cli/command_line.h"
#include "cli/json.h"

struct le_cli_outcome {
    struct le_cli *cli;
    uint64_t *times_ns; /* of each run that ended well */
    uint64_t count;
    struct le_json json; /* --json: the list of results, as it is written */
    char *results;
    size_t results_bytes;
};
/* Room for as many times as there will be runs. */
int le_cli_outcome_start(struct le_cli_outcome *outcome, struct le_cli *cli, uint64_t repeat);
void le_cli_outcome_free(struct le_cli_outcome *outcome);

/* Prints and writes the results: arrays[k] is that of outputs[k]. Those that go into one archive are written at once.
 */
int le_cli_deliver(struct le_cli_outcome *outcome, const struct le_cli_output *outputs, leat_array *const *arrays,
                   size_t count, const struct le_cli_line *line);

/* The last word: times and the account, or the JSON object. */
void le_cli_report(struct le_cli_outcome *outcome, int code);

/* Refuses output files that cannot be written, and two results for one place, before anything is run. */
int le_cli_check_files(struct le_cli *cli, const struct le_cli_line *line);
#endif
