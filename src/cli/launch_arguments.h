/* The arguments of `leat launch`: arrays on the device, loaded from files or new, and numbers with the types of the
 * kernel's parameters. */
#ifndef LE_CLI_LAUNCH_ARGUMENTS_H
#define LE_CLI_LAUNCH_ARGUMENTS_H
#include "cli/command_line.h"

struct le_cli_argument {
    const char *name;
    leat_array *array;  /* on the device; NULL: a number */
    leat_array *source; /* its original elements, from which it is refilled before each further run; or NULL */
};
struct le_cli_arguments {
    struct le_cli_argument *items;
    leat_argument *values; /* for the launch */
    size_t count;
};
/* Makes one argument for each binding. keep: also makes the sources from which new arrays are refilled. */
int le_cli_arguments_make(struct le_cli *cli, const struct le_cli_line *line, leat_kernel *kernel, bool keep,
                          struct le_cli_arguments *arguments);
/* Enqueues copies that restore the original elements of all arrays. */
/* Reports that the kernel takes another number of arguments. Returns the exit code. */
int le_cli_arguments_wrong_count(struct le_cli *cli, const struct le_cli_line *line, leat_kernel *kernel);
/* Prints a note if an argument has the name of another parameter, since arguments are matched by position. */
void le_cli_arguments_check_names(struct le_cli *cli, const struct le_cli_line *line, leat_kernel *kernel);
int le_cli_arguments_refill(struct le_cli *cli, struct le_cli_arguments *arguments);
/* The array argument with that name; NULL if there is none or it is a number. */
leat_array *le_cli_arguments_find(const struct le_cli_arguments *arguments, const char *name);
void le_cli_arguments_free(struct le_cli_arguments *arguments);

/* Parses "f32[10,20]"; false if text is not a type with extents. */
bool le_cli_extents_parse(const char *text, leat_dtype *dtype, int *rank, int64_t *shape);
/* The bits of the f16 or bf16 nearest to value. */
uint16_t le_cli_half(double value, leat_dtype dtype);
#endif
