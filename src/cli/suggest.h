/* Suggests the known name that was probably meant by an unknown one. */
#ifndef LE_CLI_SUGGEST_H
#define LE_CLI_SUGGEST_H
#include "cli/cli.h"

/* The known name whose spelling is nearest to the given one, or that begins with it; NULL if none is near. known ends
 * with NULL. */
const char *le_suggest(const char *given, const char *const *known);
/* Reports an unknown option and suggests the nearest known one. Returns the exit code. */
int le_cli_unknown_option(struct le_cli *cli, const char *option, const char *const *known);
#endif
