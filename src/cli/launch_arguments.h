/* What stands behind NAME= for `leat launch`: arrays on the device, from files or new ones, and numbers of the types
 * that the kernel's parameters have. */
#ifndef LE_CLI_LAUNCH_ARGUMENTS_H
#define LE_CLI_LAUNCH_ARGUMENTS_H
#include "cli/command_line.h"

struct le_cli_argument {
    const char *name;
    leat_array *array;  /* on the device; NULL: a number */
    leat_array *source; /* what it is filled from before a run, once it is no longer what it was made as; or NULL */
};
struct le_cli_arguments {
    struct le_cli_argument *items;
    leat_argument *values; /* for the launch */
    size_t count;
};
/* One for each binding. keep: what new arrays are refilled from is made, too. */
int le_cli_arguments_make(struct le_cli *cli, const struct le_cli_line *line, leat_kernel *kernel, bool keep,
                          struct le_cli_arguments *arguments);
/* All arrays are again as they were made; enqueued. */
/* Fails: the kernel takes another number of arguments. */
int le_cli_arguments_wrong_count(struct le_cli *cli, const struct le_cli_line *line, leat_kernel *kernel);
/* A note where an argument has the name of another parameter: arguments are matched by position. */
void le_cli_arguments_check_names(struct le_cli *cli, const struct le_cli_line *line, leat_kernel *kernel);
int le_cli_arguments_refill(struct le_cli *cli, struct le_cli_arguments *arguments);
/* The array of that name; NULL: none, or a number. */
leat_array *le_cli_arguments_find(const struct le_cli_arguments *arguments, const char *name);
void le_cli_arguments_free(struct le_cli_arguments *arguments);

/* "f32[10,20]"; false where text is no type with extents. */
bool le_cli_extents_parse(const char *text, leat_dtype *dtype, int *rank, int64_t *shape);
/* An f16 or bf16, the nearest to value. */
uint16_t le_cli_half(double value, leat_dtype dtype);
#endif
