/* The parsed command line of a subcommand. Strings point into argv: parsing replaces the `=` or `:` after a name or
 * path by a NUL. */
#ifndef LE_CLI_COMMAND_LINE_H
#define LE_CLI_COMMAND_LINE_H
#include "cli/cli.h"

struct le_cli_binding {
    char *name;
    char *value; /* after the `=`: a number, FILE, FILE.npz:key, or "-" */
    char *key;   /* of FILE.npz:key, else NULL */
};
struct le_cli_output {
    char *name;
    char *path; /* NULL: print; "-": write npy to stdout */
    char *key;  /* of FILE.npz:key; NULL: use the name */
};
enum le_cli_accepts { /* groups of options that a subcommand accepts */
                      LE_ACCEPTS_PROGRAM = 1,
                      LE_ACCEPTS_BINDINGS = 2,
                      LE_ACCEPTS_RUN = 4,     /* -o, --explain, --repeat, --colormap, --sync */
                      LE_ACCEPTS_THREADS = 8, /* --threads */
                      LE_ACCEPTS_DEVICE = 32, /* --device */
                      LE_ACCEPTS_MACHINE = LE_ACCEPTS_THREADS | LE_ACCEPTS_DEVICE,
                      LE_ACCEPTS_FORM = 16,  /* --emit, --arch */
                      LE_ACCEPTS_KERNEL = 64 /* FILE.cu:KERNEL, --grid, --block, --shared, -D, -I, --check */
};
struct le_cli_line {
    bool help;
    char *text, *path; /* the program: -e TEXT, or a file ("-": stdin) */
    struct le_cli_binding *bindings;
    struct le_cli_output *outputs;
    size_t binding_count, output_count;
    char *device;
    int threads, tf32; /* tf32: as in leat_options */
    uint64_t repeat;
    leat_colormap colormap;
    bool sync; /* wait until the results are on the disk */
    leat_form form;
    char *pass;         /* the PASS of ir:PASS; NULL: the last pass */
    char *architecture; /* for ptx and sass; NULL: the device's */
    /* LE_ACCEPTS_KERNEL: */
    char *kernel; /* path is FILE.cu */
    leat_dim3 grid, block;
    uint64_t shared_bytes;
    char **macros, **include_paths; /* each ends with NULL */
    size_t macro_count, include_path_count;
    bool check;
};

/* Parses the argc arguments after the subcommand. Also sets cli->json and cli->explain. */
int le_cli_line_parse(struct le_cli *cli, unsigned accepts, int argc, char **argv, struct le_cli_line *line);
void le_cli_line_free(struct le_cli_line *line);
bool le_cli_ends_with(const char *path, const char *ending);
bool le_cli_has_known_ending(const char *path);             /* of a file that Leat reads and writes */
bool le_cli_is_archive(const struct le_cli_output *output); /* it goes into an .npz */
/* Refuses two outputs to the same file, unless it is an archive and their keys differ. */
int le_cli_check_pair(struct le_cli *cli, const struct le_cli_output *first, const struct le_cli_output *second);
#endif
