/* See terminal.h. */
#include "cli/terminal.h"
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 80, COLUMNS_MAX = 100000 };

int le_terminal_columns(void) {
    const char *variable = getenv("COLUMNS");
    char *end = NULL;
    long columns = variable && *variable ? strtol(variable, &end, 10) : 0;
    if (columns >= 1 && end && *end == '\0')
        return columns < COLUMNS_MAX ? (int)columns : COLUMNS_MAX;
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return COLUMNS_DEFAULT;
}
