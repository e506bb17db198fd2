/* The topics of `leat help`. What they say of functions, operators and types comes from the library's tables. */
#ifndef LE_CLI_HELP_TOPICS_H
#define LE_CLI_HELP_TOPICS_H
#include <stdbool.h>

enum { LE_HELP_TOPICS_MAX = 8 };
/* Writes the names of all topics, and NULL after them. */
void le_help_topics(const char **names);
/* Prints a topic, or what the language has under that name; false: there is neither. */
bool le_help_topic(const char *name);
#endif
