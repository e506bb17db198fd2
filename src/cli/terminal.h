/* The terminal that results are printed on. */
#ifndef LE_CLI_TERMINAL_H
#define LE_CLI_TERMINAL_H
/* Characters of a line: COLUMNS if it is set, else the terminal's width if stdout is one, else 80. */
int le_terminal_columns(void);
#endif
