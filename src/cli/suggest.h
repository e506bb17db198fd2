/* The known name that was probably meant by one that is not known. */
#ifndef LE_CLI_SUGGEST_H
#define LE_CLI_SUGGEST_H
#include "cli/cli.h"

/* The name that is spelled most like the given one, or that begins with it; NULL if none is near. known ends with NULL.
 */
const char *le_suggest(const char *given, const char *const *known);
/* Reports that `option` does not exist, with the nearest of the known ones. Returns the exit code. */
int le_cli_unknown_option(struct le_cli *cli, const char *option, const char *const *known);
#endif
