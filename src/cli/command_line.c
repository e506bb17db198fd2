/* See command_line.h. Options are rows of a table. Repeated or conflicting options are refused here, before any file is
 * touched. */
#include "cli/command_line.h"
#include "cli/suggest.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { THREADS_MAX = 1024, REPEAT_MAX = 10000000, DIGITS_MAX = 17 };

struct parse {
    struct le_cli *cli;
    unsigned accepts;
    struct le_cli_line *line;
};

bool le_cli_ends_with(const char *path, const char *ending) {
    size_t length = strlen(path), end = strlen(ending);
    return length > end && strcasecmp(path + length - end, ending) == 0;
}

static bool is_name(const char *text, size_t length) {
    if (length == 0 || isdigit((unsigned char)text[0]))
        return false;
    for (size_t k = 0; k < length; k++)
        if (!(isalnum((unsigned char)text[k]) || text[k] == '_'))
            return false;
    return true;
}

/* Splits FILE.npz:key: ends path at the colon and returns the key; NULL if there is none. */
static char *split_key(char *path) {
    char *at = strcasestr(path, ".npz:");
    if (!at)
        return NULL;
    at[4] = '\0';
    return at + 5;
}

static int set_text(struct parse *parse, char *value) {
    if (parse->line->text)
        return le_cli_usage(parse->cli, "-e is given twice");
    parse->line->text = value;
    return LE_EXIT_OK;
}

bool le_cli_is_archive(const struct le_cli_output *output) {
    return output->path && le_cli_ends_with(output->path, ".npz");
}

static const char *key_of(const struct le_cli_output *output) {
    return output->key ? output->key : output->name;
}

int le_cli_check_pair(struct le_cli *cli, const struct le_cli_output *first, const struct le_cli_output *second) {
    if (!le_cli_is_archive(first) || !le_cli_is_archive(second))
        return le_cli_usage(cli, "-o: two results go into the same file, %s", second->path);
    if (strcmp(key_of(first), key_of(second)) == 0)
        return le_cli_usage(cli, "-o: two results have the same key, %s:%s", second->path, key_of(second));
    return LE_EXIT_OK;
}

bool le_cli_has_known_ending(const char *path) {
    static const char *const ENDINGS[] = {".npy", ".npz", ".csv", ".tsv", ".png"};
    for (size_t k = 0; k < sizeof ENDINGS / sizeof ENDINGS[0]; k++)
        if (le_cli_ends_with(path, ENDINGS[k]))
            return true;
    return false;
}

static int set_output(struct parse *parse, char *value) {
    struct le_cli_line *line = parse->line;
    char *equals = strchr(value, '=');
    size_t length = equals ? (size_t)(equals - value) : strlen(value);
    if (!is_name(value, length))
        return le_cli_usage(parse->cli, "-o %s: write -o NAME or -o NAME=FILE.npy", value);
    struct le_cli_output output = {.name = value};
    if (equals) {
        *equals = '\0';
        output.path = equals + 1;
        output.key = split_key(output.path);
        if (output.key && !*output.key)
            return le_cli_usage(parse->cli, "-o %s=%s: missing key after the colon: write %s or %s:KEY", value,
                                output.path, output.path, output.path);
        if (!le_cli_has_known_ending(output.path) && strcmp(output.path, "-") != 0)
            return le_cli_usage(parse->cli, "-o %s=%s: the file's ending must be .npy, .npz, .csv, .tsv or .png", value,
                                equals + 1);
    }
    for (size_t k = 0; k < line->output_count; k++) {
        const struct le_cli_output *other = &line->outputs[k];
        bool same_file = output.path && other->path && strcmp(output.path, other->path) == 0;
        int code = same_file ? le_cli_check_pair(parse->cli, other, &output) : LE_EXIT_OK;
        if (code)
            return code;
        if (!output.path && !other->path && strcmp(output.name, other->name) == 0)
            return le_cli_usage(parse->cli, "-o %s is given twice", output.name);
    }
    line->outputs[line->output_count++] = output;
    return LE_EXIT_OK;
}

static int set_device(struct parse *parse, char *value) {
    parse->line->device = value;
    return LE_EXIT_OK;
}

/* Parses a whole number from 1 to most. */
static int set_count(struct parse *parse, const char *option, const char *value, uint64_t most, uint64_t *count) {
    char *end = NULL;
    errno = 0;
    unsigned long long number = isdigit((unsigned char)value[0]) ? strtoull(value, &end, 10) : 0;
    if (errno || number < 1 || number > most || !end || *end)
        return le_cli_usage(parse->cli, "%s %s: write a whole number from 1 to %llu", option, value,
                            (unsigned long long)most);
    *count = number;
    return LE_EXIT_OK;
}

static int set_threads(struct parse *parse, char *value) {
    uint64_t count = 0;
    int code = set_count(parse, "--threads", value, THREADS_MAX, &count);
    parse->line->threads = (int)count;
    return code;
}

static int set_repeat(struct parse *parse, char *value) {
    return set_count(parse, "--repeat", value, REPEAT_MAX, &parse->line->repeat);
}

static int set_precision(struct parse *parse, char *value) {
    uint64_t digits = 0;
    int code = set_count(parse, "--precision-digits", value, DIGITS_MAX, &digits);
    parse->cli->precision_digits = (int)digits;
    return code;
}

static int set_tf32(struct parse *parse, char *value) {
    parse->line->tf32 = strcmp(value, "tf32") == 0 ? 1 : -1;
    if (parse->line->tf32 < 0 && strcmp(value, "f32") != 0)
        return le_cli_usage(parse->cli, "--precision %s: write f32 or tf32", value);
    return LE_EXIT_OK;
}

static int set_colormap(struct parse *parse, char *value) {
    if (strcmp(value, "grey") == 0)
        parse->line->colormap = LEAT_COLORMAP_GREY;
    else if (strcmp(value, "viridis") == 0)
        parse->line->colormap = LEAT_COLORMAP_VIRIDIS;
    else
        return le_cli_usage(parse->cli, "--colormap %s: write viridis or grey", value);
    return LE_EXIT_OK;
}

static int set_sync(struct parse *parse, char *value) {
    (void)value;
    parse->line->sync = true;
    return LE_EXIT_OK;
}

static int set_form(struct parse *parse, char *value) {
    static const char *const FORMS[] = {
        [LEAT_FORM_TREE] = "tree",         [LEAT_FORM_IR] = "ir",        [LEAT_FORM_PLAN] = "plan",
        [LEAT_FORM_BYTECODE] = "bytecode", [LEAT_FORM_CUDA] = "cuda",    [LEAT_FORM_PTX] = "ptx",
        [LEAT_FORM_SASS] = "sass",         [LEAT_FORM_KERNEL] = "kernel"};
    parse->line->pass = strncmp(value, "ir:", 3) == 0 ? value + 3 : NULL;
    for (size_t k = 0; k < sizeof FORMS / sizeof FORMS[0]; k++) {
        if (strcmp(parse->line->pass ? "ir" : value, FORMS[k]) != 0)
            continue;
        parse->line->form = (leat_form)k;
        return LE_EXIT_OK;
    }
    return le_cli_usage(parse->cli, "--emit %s: write tree, ir, plan, bytecode, kernel, cuda, ptx or sass", value);
}

static int set_architecture(struct parse *parse, char *value) {
    parse->line->architecture = value;
    return LE_EXIT_OK;
}

/* Parses X, X,Y or X,Y,Z: whole numbers from 1. */
static int set_extents(struct parse *parse, const char *option, const char *value, leat_dim3 *extents) {
    unsigned axes[3] = {1, 1, 1};
    const char *at = value;
    for (int k = 0; k < 3; k++) {
        char *end = NULL;
        errno = 0;
        unsigned long long number = isdigit((unsigned char)*at) ? strtoull(at, &end, 10) : 0;
        if (errno || number < 1 || number > UINT32_MAX)
            break;
        axes[k] = (unsigned)number;
        if (*end == '\0') {
            *extents = (leat_dim3){axes[0], axes[1], axes[2]};
            return LE_EXIT_OK;
        }
        if (*end != ',')
            break;
        at = end + 1;
    }
    return le_cli_usage(parse->cli, "%s %s: write X or X,Y or X,Y,Z, whole numbers from 1", option, value);
}

static int set_grid(struct parse *parse, char *value) {
    return set_extents(parse, "--grid", value, &parse->line->grid);
}

static int set_block(struct parse *parse, char *value) {
    return set_extents(parse, "--block", value, &parse->line->block);
}

static int set_shared(struct parse *parse, char *value) {
    if (strcmp(value, "0") == 0)
        return LE_EXIT_OK;
    return set_count(parse, "--shared", value, UINT32_MAX, &parse->line->shared_bytes);
}

static int set_macro(struct parse *parse, char *value) {
    size_t length = strcspn(value, "=");
    if (!is_name(value, length))
        return le_cli_usage(parse->cli, "-D %s: write -D NAME or -D NAME=VALUE", value);
    parse->line->macros[parse->line->macro_count++] = value;
    return LE_EXIT_OK;
}

static int set_include_path(struct parse *parse, char *value) {
    parse->line->include_paths[parse->line->include_path_count++] = value;
    return LE_EXIT_OK;
}

static int set_check(struct parse *parse, char *value) {
    (void)value;
    parse->line->check = true;
    return LE_EXIT_OK;
}

static int set_explain(struct parse *parse, char *value) {
    (void)value;
    parse->cli->explain = true;
    return LE_EXIT_OK;
}

static int set_json(struct parse *parse, char *value) {
    (void)value;
    parse->cli->json = true;
    return LE_EXIT_OK;
}

static int set_help(struct parse *parse, char *value) {
    (void)value;
    parse->line->help = true;
    return LE_EXIT_OK;
}

static const struct option {
    const char *name;
    unsigned accepts; /* the le_cli_accepts that a subcommand needs for this option; 0: none */
    bool has_value;
    int (*set)(struct parse *parse, char *value);
} OPTIONS[] = {
    {"-e", LE_ACCEPTS_PROGRAM, true, set_text},
    {"-o", LE_ACCEPTS_RUN, true, set_output},
    {"--device", LE_ACCEPTS_DEVICE, true, set_device},
    {"--threads", LE_ACCEPTS_THREADS, true, set_threads},
    {"--grid", LE_ACCEPTS_KERNEL, true, set_grid},
    {"--block", LE_ACCEPTS_KERNEL, true, set_block},
    {"--shared", LE_ACCEPTS_KERNEL, true, set_shared},
    {"--check", LE_ACCEPTS_KERNEL, false, set_check},
    {"-D", LE_ACCEPTS_KERNEL, true, set_macro},
    {"-I", LE_ACCEPTS_KERNEL, true, set_include_path},
    {"--explain", LE_ACCEPTS_RUN, false, set_explain},
    {"--repeat", LE_ACCEPTS_RUN, true, set_repeat},
    {"--colormap", LE_ACCEPTS_RUN, true, set_colormap},
    {"--precision-digits", LE_ACCEPTS_RUN, true, set_precision},
    {"--precision", LE_ACCEPTS_PROGRAM | LE_ACCEPTS_MACHINE, true, set_tf32},
    {"--sync", LE_ACCEPTS_RUN, false, set_sync},
    {"--emit", LE_ACCEPTS_FORM, true, set_form},
    {"--arch", LE_ACCEPTS_FORM, true, set_architecture},
    {"--json", 0, false, set_json},
    {"--help", 0, false, set_help},
    {"-h", 0, false, set_help},
};

/* The option that the argument names. *value is the value in the same argument (--name=value, -DNAME), or NULL. */
static const struct option *find_option(unsigned accepts, char *argument, char **value) {
    for (size_t k = 0; k < sizeof OPTIONS / sizeof OPTIONS[0]; k++) {
        const struct option *option = &OPTIONS[k];
        size_t length = strlen(option->name);
        if ((option->accepts & accepts) != option->accepts || strncmp(argument, option->name, length) != 0)
            continue;
        *value = NULL;
        if (argument[length] == '\0')
            return option;
        if (option->accepts == LE_ACCEPTS_KERNEL && option->name[1] != '-') { /* -DN=3, -Ifolder */
            *value = argument + length;
            return option;
        }
        if (option->name[1] != '-' || argument[length] != '=')
            continue;
        *value = argument + length + 1;
        return option;
    }
    return NULL;
}

/* Reports an option that only other subcommands take, or that does not exist. */
static int refuse_option(struct parse *parse, char *argument) {
    const char *known[sizeof OPTIONS / sizeof OPTIONS[0] + 1] = {NULL};
    char *value;
    const struct option *other = find_option(~0u, argument, &value);
    const char *home = !other                                ? NULL
                       : other->accepts == LE_ACCEPTS_KERNEL ? "launch"
                       : other->accepts == LE_ACCEPTS_FORM   ? "show"
                                                             : "run";
    if (home && parse->cli->command && strcmp(home, parse->cli->command) != 0)
        return le_cli_usage(parse->cli, "unknown option `%s`; it belongs to `leat %s`", argument, home);
    for (size_t k = 0, count = 0; k < sizeof OPTIONS / sizeof OPTIONS[0]; k++)
        if ((OPTIONS[k].accepts & parse->accepts) == OPTIONS[k].accepts)
            known[count++] = OPTIONS[k].name;
    return le_cli_unknown_option(parse->cli, argument, known);
}

static int parse_option(struct parse *parse, int argc, char **argv, int *k) {
    char *argument = argv[*k], *value = NULL;
    const struct option *option = find_option(parse->accepts, argument, &value);
    if (!option)
        return refuse_option(parse, argument);
    if (!option->has_value && value)
        return le_cli_usage(parse->cli, "%s takes no value", option->name);
    if (option->has_value && !value) {
        if (*k + 1 >= argc)
            return le_cli_usage(parse->cli, "%s needs a value", option->name);
        value = argv[++*k];
    }
    return option->set(parse, value);
}

static int parse_binding(struct parse *parse, char *argument) {
    struct le_cli_line *line = parse->line;
    char *equals = strchr(argument, '=');
    if (!(parse->accepts & LE_ACCEPTS_BINDINGS))
        return le_cli_usage(parse->cli, "unexpected argument `%s`", argument);
    if (!equals && (parse->accepts & LE_ACCEPTS_PROGRAM) && le_cli_ends_with(argument, ".leat"))
        return le_cli_usage(parse->cli, "two programs given: %s and %s", line->text ? "-e TEXT" : line->path, argument);
    if (!equals || !is_name(argument, (size_t)(equals - argument)))
        return le_cli_usage(parse->cli, "`%s` is not %s: write NAME=FILE%s or NAME=NUMBER", argument,
                            line->kernel ? "an argument" : "a binding", line->kernel ? ", NAME=TYPE[EXTENTS]" : "");
    *equals = '\0';
    struct le_cli_binding binding = {.name = argument, .value = equals + 1};
    if (!*binding.value)
        return le_cli_usage(parse->cli, "%s= has no value: write %s=FILE or %s=NUMBER", argument, argument, argument);
    binding.key = split_key(binding.value);
    for (size_t k = 0; k < line->binding_count; k++)
        if (strcmp(line->bindings[k].name, binding.name) == 0)
            return le_cli_usage(parse->cli, "%s is %s twice", binding.name, line->kernel ? "given" : "bound");
    line->bindings[line->binding_count++] = binding;
    return LE_EXIT_OK;
}

/* FILE.cu:KERNEL: the file ends at the first `.cu:`. */
static int set_kernel(struct parse *parse, char *argument) {
    char *at = strstr(argument, ".cu:");
    if (!at || at == argument || !at[4])
        return le_cli_usage(parse->cli, "`%s` does not name a kernel: write FILE.cu:KERNEL", argument);
    at[3] = '\0';
    parse->line->path = argument;
    parse->line->kernel = at + 4;
    return LE_EXIT_OK;
}

/* Without -e the first positional argument is the program; all others are bindings. */
static int parse_positionals(struct parse *parse, int count, char **positionals) {
    int first = 0, code = LE_EXIT_OK;
    if (parse->accepts & LE_ACCEPTS_KERNEL) {
        if (count == 0)
            return le_cli_usage(parse->cli, "no kernel given: write FILE.cu:KERNEL");
        code = set_kernel(parse, positionals[first++]);
    }
    if (!parse->line->text && (parse->accepts & LE_ACCEPTS_PROGRAM)) {
        if (count == 0)
            return le_cli_usage(parse->cli, "no program given: write a file name, -e TEXT, or - for stdin");
        parse->line->path = positionals[first++];
    }
    for (int k = first; k < count && !code; k++)
        code = parse_binding(parse, positionals[k]);
    return code;
}

/* Refuses combinations of options that exclude each other. */
static int check_line(struct parse *parse) {
    const struct le_cli_line *line = parse->line;
    int readers = line->path && strcmp(line->path, "-") == 0, writers = 0, printed = 0;
    if (line->kernel && (!line->grid.x || !line->block.x))
        return le_cli_usage(parse->cli, "missing %s: write --grid X[,Y[,Z]] --block X[,Y[,Z]]",
                            line->grid.x ? "--block" : "--grid");
    for (size_t k = 0; k < line->binding_count; k++)
        readers += strcmp(line->bindings[k].value, "-") == 0;
    if (readers > 1)
        return le_cli_usage(parse->cli, "only one of the program and its inputs can come from stdin");
    for (size_t k = 0; k < line->output_count; k++) {
        writers += line->outputs[k].path && strcmp(line->outputs[k].path, "-") == 0;
        printed += !line->outputs[k].path;
    }
    if (writers && parse->cli->json)
        return le_cli_usage(parse->cli, "-o NAME=- and --json both write to stdout: use only one");
    if (writers > 1 || (writers && printed))
        return le_cli_usage(parse->cli, "-o NAME=- must be the only result on stdout");
    return LE_EXIT_OK;
}

static int parse_all(struct parse *parse, int argc, char **argv, char **positionals) {
    int count = 0, code = LE_EXIT_OK;
    bool options_ended = false;
    for (int k = 0; k < argc && !code; k++) {
        if (!options_ended && strcmp(argv[k], "--") == 0)
            options_ended = true;
        else if (!options_ended && argv[k][0] == '-' && argv[k][1])
            code = parse_option(parse, argc, argv, &k);
        else
            positionals[count++] = argv[k];
    }
    if (code || parse->line->help)
        return code;
    code = parse_positionals(parse, count, positionals);
    return code ? code : check_line(parse);
}

int le_cli_line_parse(struct le_cli *cli, unsigned accepts, int argc, char **argv, struct le_cli_line *line) {
    size_t room = (size_t)argc + 1;
    *line = (struct le_cli_line){.repeat = 1};
    for (int k = 0; k < argc; k++)
        cli->json |= strcmp(argv[k], "--json") == 0;
    char **positionals = malloc(room * sizeof *positionals);
    line->bindings = malloc(room * sizeof *line->bindings);
    line->outputs = malloc(room * sizeof *line->outputs);
    line->macros = calloc(room, sizeof *line->macros);
    line->include_paths = calloc(room + 1, sizeof *line->include_paths);
    int code;
    if (positionals && line->bindings && line->outputs && line->macros && line->include_paths) {
        struct parse parse = {.cli = cli, .accepts = accepts, .line = line};
        code = parse_all(&parse, argc, argv, positionals);
    } else {
        code = le_cli_fail(cli, LEAT_OUT_OF_MEMORY, "out of memory");
    }
    free(positionals);
    return code;
}

void le_cli_line_free(struct le_cli_line *line) {
    free(line->bindings);
    free(line->outputs);
    free(line->macros);
    free(line->include_paths);
    *line = (struct le_cli_line){0};
}
