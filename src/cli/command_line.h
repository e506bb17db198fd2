/* The command line of a subcommand, taken apart. Strings are argv's own: a name or key ends where its `=` or `:` stood.
 */
#ifndef LE_CLI_COMMAND_LINE_H
#define LE_CLI_COMMAND_LINE_H
#include "cli/cli.h"

struct le_cli_binding {
    char *name;
    char *value; /* what stands behind the `=`: a number, FILE, FILE.npz:key, or "-" */
    char *key;   /* of FILE.npz:key, else NULL */
};
struct le_cli_output {
    char *name;
    char *path; /* NULL: printed; "-": npy on stdout */
    char *key;  /* of FILE.npz:key, else NULL: the name */
};
enum le_cli_accepts { /* what a subcommand takes */
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
    int threads;
    uint64_t repeat;
    leat_colormap colormap;
    bool sync; /* results are on the disk when the command ends */
    leat_form form;
    char *pass;         /* of ir:PASS; NULL: the last one */
    char *architecture; /* of ptx and sass; NULL: the device's */
    /* LE_ACCEPTS_KERNEL: */
    char *kernel; /* path is FILE.cu */
    leat_dim3 grid, block;
    uint64_t shared_bytes;
    char **macros, **include_paths; /* each ends with NULL */
    size_t macro_count, include_path_count;
    bool check;
};

/* Takes apart argc arguments, those after the subcommand. Sets cli->json and cli->explain. */
int le_cli_line_parse(struct le_cli *cli, unsigned accepts, int argc, char **argv, struct le_cli_line *line);
void le_cli_line_free(struct le_cli_line *line);
bool le_cli_ends_with(const char *path, const char *ending);
bool le_cli_is_archive(const struct le_cli_output *output); /* goes into an .npz */
/* Refuses two outputs that go to the same file, unless that is an archive with a key for each. */
int le_cli_check_pair(struct le_cli *cli, const struct le_cli_output *first, const struct le_cli_output *second);
#endif
