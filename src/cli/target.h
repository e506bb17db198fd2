/* Output files: the file that a path means after all links are followed. */
#ifndef LE_CLI_TARGET_H
#define LE_CLI_TARGET_H
#include <stdbool.h>

/* A regular file is replaced when written, so its folder must be writable. false: errno is the reason. */
bool le_cli_target_can_be_written(const char *path);
bool le_cli_target_is_regular(const char *path); /* or does not exist yet */
/* Whether both paths mean the same file. */
bool le_cli_target_is_same(const char *a, const char *b);
#endif
