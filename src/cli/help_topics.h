/* The topics of `leat help`. The lists of functions, operators and types come from the library's tables. */
#ifndef LE_CLI_HELP_TOPICS_H
#define LE_CLI_HELP_TOPICS_H
#include <stdbool.h>

enum { LE_HELP_TOPICS_MAX = 8 };
/* Writes the names of all topics, followed by NULL, into an array of LE_HELP_TOPICS_MAX. */
void le_help_topics(const char **names);
/* Prints a topic, or the builtins of that name; false if there is neither. */
bool le_help_topic(const char *name);
/* What to write instead of a name of another language; NULL if it is not known. */
const char *le_help_foreign(const char *name);
#endif
