/* Helpers of the examples: exit with Leat's error message, read a file, parse options NAME=VALUE. */
#ifndef EXAMPLE_H
#define EXAMPLE_H
#include <leat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void must(leat_status status) {
    if (status == LEAT_OK)
        return;
    fprintf(stderr, "%s\n", leat_error_text(NULL));
    exit(1);
}

/* Returns the text of a file, or NULL if it cannot be read. */
static inline char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = file ? calloc(1, 1 << 20) : NULL;
    if (text && !fread(text, 1, (1 << 20) - 1, file)) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

/* Returns the value of the argument NAME=VALUE, or `otherwise` if it is not given. */
static inline const char *option(int argc, char **argv, const char *name, const char *otherwise) {
    size_t length = strlen(name);
    for (int k = 1; k < argc; k++)
        if (strncmp(argv[k], name, length) == 0 && argv[k][length] == '=')
            return argv[k] + length + 1;
    return otherwise;
}

/* Prints the usage and exits if an argument is not NAME=VALUE with one of the names, which end with NULL. */
static inline void check_arguments(int argc, char **argv, const char *usage, const char *const *names) {
    for (int k = 1; k < argc; k++) {
        const char *const *name = names;
        while (*name && (strncmp(argv[k], *name, strlen(*name)) != 0 || argv[k][strlen(*name)] != '='))
            name++;
        if (*name)
            continue;
        fprintf(stderr, "unknown argument %s\nusage: %s %s\n", argv[k], argv[0], usage);
        exit(2);
    }
}

/* Opens a context on the device of that name. auto: a GPU, or the simulated device if there is none. */
static inline leat_context *open_device(const char *name) {
    leat_context *ctx = NULL;
    bool any = strcmp(name, "auto") == 0;
    leat_options options = {.device = any ? "cuda" : name};
    leat_status status = leat_open(&options, &ctx);
    if (status && any) {
        options.device = "sim";
        status = leat_open(&options, &ctx);
    }
    must(status);
    return ctx;
}

/* Compiles a file of CUDA C. folder: NULL for the current folder or, if the file is not there, examples/cuda. */
static inline leat_module *load_module(leat_context *ctx, const char *folder, const char *name) {
    char path[512], *text;
    leat_module *module;
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", name);
    text = read_text(path);
    if (!text && !folder) {
        snprintf(path, sizeof path, "examples/cuda/%s", name);
        text = read_text(path);
    }
    if (!text) {
        fprintf(stderr, "%s was not found: write folder=FOLDER, the folder that it is in\n", name);
        exit(1);
    }
    leat_module_options options = {.name = path};
    must(leat_module_new(ctx, text, &options, &module));
    free(text);
    return module;
}

static inline leat_kernel *find_kernel(leat_module *module, const char *name) {
    leat_kernel *kernel;
    must(leat_module_kernel(module, name, &kernel));
    return kernel;
}
#endif
