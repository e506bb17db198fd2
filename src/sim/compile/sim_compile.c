/* Compiles CUDA C into an image: preprocesses it with the prelude, rewrites it, and looks it up in the store. If it is
 * not there, compiles it, and pads the assembly text of instrumented code. The store's key is the preprocessed and
 * rewritten text with the flags of the command, so it includes all headers and the compiler's version. */
#include "sim/compile/sim_compile_steps.h"
#include "base/memory.h"
#include "base/store.h"
#include "sim/compile/sim_image.h"
#include "sim/compile/sim_prelude.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static void add_all(struct le_arena *arena, struct le_argv *words, const char *const *more, size_t count) {
    for (size_t k = 0; k < count; k++)
        le_argv_add(arena, words, more[k]);
}

static struct le_argv copy_words(struct le_arena *arena, const struct le_argv *words) {
    struct le_argv copy = {0};
    add_all(arena, &copy, words->at, (size_t)words->count);
    return copy;
}

/* ---- preprocessing */

static leat_status write_sources(struct sim_compilation *c) {
    const struct sim_compile_options *o = c->options;
    struct sim_file file;
    leat_status status = LEAT_OK;
    for (size_t k = 0; status == LEAT_OK && le_sim_prelude_file(k, &file); k++)
        status =
            le_scratch_write(c->folder, le_arena_format(c->arena, "leat/%s", file.name), file.bytes, file.size_bytes);
    for (int k = 0; status == LEAT_OK && k < o->header_count; k++) {
        if (o->header_names[k][0] == '/') /* the compiler finds it by its full name only */
            return le_fail(LEAT_INVALID, "a header's name must be a relative path: %s", o->header_names[k]);
        status = le_scratch_write(c->folder, le_arena_format(c->arena, "headers/%s", o->header_names[k]), o->headers[k],
                                  strlen(o->headers[k]));
    }
    struct le_text source = {0};
    le_text_add(&source, "%s#line 1 \"", c->read.lines);
    for (const char *at = o->name; *at; at++) {
        if (*at == '"' || *at == '\\')
            le_text_add(&source, "\\");
        le_text_add_bytes(&source, at, 1);
    }
    le_text_add(&source, "\"\n%s\n", o->source);
    if (status == LEAT_OK)
        status = source.failed ? le_fail_out_of_memory(source.length)
                               : le_scratch_write(c->folder, "source.cu", source.at, source.length);
    le_text_finish(&source);
    return status;
}

static leat_status fail_with_log(struct sim_compilation *c, int errors) {
    le_sim_log_end(c, errors);
    if (c->expression_failed)
        return le_fail(LEAT_MISSING, "a name expression does not name a kernel or variable");
    return le_fail(LEAT_PROGRAM, "%s does not compile", c->options->name);
}

static leat_status preprocess(struct sim_compilation *c) {
    static const char *const fixed[] = {"-E",
                                        "-x",
                                        "c++",
                                        "-fdiagnostics-color=never",
                                        "-U_FORTIFY_SOURCE",
                                        "-D__CUDACC__=1",
                                        "-D__CUDACC_RTC__=1",
                                        "-D__CUDACC_VER_MAJOR__=12",
                                        "-D__CUDACC_VER_MINOR__=0",
                                        "-D__LEAT_SIM__=1"};
    struct le_argv command = copy_words(c->arena, &c->compiler);
    add_all(c->arena, &command, fixed, ARRAY_LEN(fixed));
    le_argv_add(c->arena, &command, c->read.standard);
    le_argv_add(c->arena, &command, le_arena_format(c->arena, "-D__CUDA_ARCH__=%d", c->read.architecture));
    if (c->options->check)
        le_argv_add(c->arena, &command, "-DLEAT_SIM_CHECK=1");
    else if (c->rewritten.spins)
        le_argv_add(c->arena, &command, "-DLEAT_SIM_SPIN=1");
    le_argv_add(c->arena, &command, le_arena_format(c->arena, "-I%s/leat", c->folder));
    le_argv_add(c->arena, &command, le_arena_format(c->arena, "-I%s/headers", c->folder));
    le_argv_add(c->arena, &command, "-include");
    le_argv_add(c->arena, &command, "sim_all.inc");
    add_all(c->arena, &command, c->read.folders.at, (size_t)c->read.folders.count);
    le_argv_add(c->arena, &command, le_arena_format(c->arena, "%s/source.cu", c->folder));
    struct le_text errors = {0};
    int code = 0;
    leat_status status = le_process_run(c->arena, &command, NULL, -1, &c->preprocessed, &errors, &code);
    int count = errors.at ? le_sim_log_add(c, errors.at) : 0;
    if (status == LEAT_OK && code != 0) {
        if (!count && errors.at)
            le_text_add(&c->log, "%s\n", errors.at);
        status = fail_with_log(c, count);
    }
    le_text_finish(&errors);
    return status;
}

static leat_status rewrite_once(struct sim_compilation *c) {
    struct sim_source source = {.text = c->preprocessed.at ? c->preprocessed.at : "",
                                .length = c->preprocessed.length,
                                .folder = c->folder,
                                .expressions = c->options->expressions,
                                .expression_count = c->options->expression_count,
                                .check = c->options->check};
    le_sim_rewrite(c->arena, &source, &c->rewritten);
    if (c->rewritten.log.at)
        le_text_add(&c->log, "%s", c->rewritten.log.at);
    if (c->rewritten.errors)
        return fail_with_log(c, c->rewritten.errors);
    if (c->rewritten.text.failed || c->rewritten.log.failed)
        return le_fail_out_of_memory(c->preprocessed.length);
    return le_scratch_write(c->folder, "kernel.ii", c->rewritten.text.at, c->rewritten.text.length);
}

/* A program that reads volatile memory is preprocessed again, for the prelude that lets other threads run at such
 * reads. */
static leat_status rewrite_source(struct sim_compilation *c) {
    leat_status status = rewrite_once(c);
    if (status != LEAT_OK || !c->rewritten.spins || c->options->check)
        return status;
    struct le_text *texts[] = {&c->preprocessed, &c->log, &c->rewritten.text, &c->rewritten.log};
    for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
        le_text_finish(texts[k]);
        *texts[k] = (struct le_text){0};
    }
    status = preprocess(c);
    return status == LEAT_OK ? rewrite_once(c) : status;
}

/* ---- compiling */

static struct le_argv compile_command(struct sim_compilation *c) {
    static const char *const fixed[] = {"-fPIC",
                                        "-fvisibility=hidden",
                                        "-fno-exceptions",
                                        "-fno-rtti",
                                        "-fno-strict-aliasing",
                                        "-fno-delete-null-pointer-checks", /* so that null pointer accesses are found */
                                        "-fwrapv",
                                        "-ffp-contract=off",
                                        "-fno-math-errno",
                                        "-fno-trapping-math",
                                        "-fno-builtin-printf",
                                        "-fno-stack-protector",
                                        "-fstack-clash-protection", /* a large frame cannot skip the guard page */
                                        "-fno-threadsafe-statics",
                                        "-fdiagnostics-color=never",

                                        "-Wno-attributes"};
    static const char *const gcc_hooks[] = {"-fsanitize=thread", "--param", "tsan-distinguish-volatile=1", "--param",
                                            "tsan-instrument-func-entry-exit=0"};
    static const char *const clang_hooks[] = {"-fsanitize=thread", "-mllvm", "-tsan-distinguish-volatile", "-mllvm",
                                              "-tsan-instrument-func-entry-exit=0"};
    bool gcc = c->rewritten.gcc, check = c->options->check;
    struct le_argv command = copy_words(c->arena, &c->compiler);
    le_argv_add(c->arena, &command, c->read.standard);
    add_all(c->arena, &command, fixed, ARRAY_LEN(fixed));
    if (gcc) {
        le_argv_add(c->arena, &command, "-fno-extern-tls-init");
        le_argv_add(c->arena, &command, "-fno-tree-slp-vectorize"); /* gcc 12 drops (double)(float)x with it */
    }
    le_argv_add(c->arena, &command, gcc ? "-fno-diagnostics-show-caret" : "-fno-caret-diagnostics");
    le_argv_add(c->arena, &command, check && gcc ? "-Og" : "-O1");
    if (check) {
        le_argv_add(c->arena, &command, "-g1"); /* lines of the source, for reports */
        le_argv_add(c->arena, &command, gcc ? "-fsanitize=bounds" : "-fsanitize=array-bounds");
        le_argv_add(c->arena, &command, le_arena_format(c->arena, "-fdebug-prefix-map=%s=/leat", c->folder));
    }
    if (check || c->rewritten.spins)
        add_all(c->arena, &command, gcc ? gcc_hooks : clang_hooks, ARRAY_LEN(gcc_hooks));
    return command;
}

static leat_status run_step(struct sim_compilation *c, struct le_argv command, const char *const *more, size_t count) {
    struct le_text errors = {0};
    int code = 0;
    add_all(c->arena, &command, more, count);
    leat_status status = le_process_run(c->arena, &command, c->folder, -1, NULL, &errors, &code);
    int found = status == LEAT_OK && errors.at ? le_sim_log_add(c, errors.at) : 0;
    if (status == LEAT_OK && code != 0) {
        if (!found && errors.at)
            le_text_add(&c->log, "%s\n", errors.at);
        status = fail_with_log(c, found ? found : 1);
    }
    le_text_finish(&errors);
    return status;
}

static leat_status pad_variables(struct sim_compilation *c) {
    struct le_text text = {0}, padded = {0};
    leat_status status = le_scratch_read(c->folder, "kernel.s", &text);
    if (status == LEAT_OK && !le_sim_assembly_pad(text.at ? text.at : "", text.length, &padded))
        status = le_fail_out_of_memory(text.length);
    if (status == LEAT_OK)
        status = le_scratch_write(c->folder, "padded.s", padded.at, padded.length);
    le_text_finish(&text);
    le_text_finish(&padded);
    return status;
}

/* The instrumentation's hooks are in the module, so the sanitizer's library must not be linked. Kernels rarely need the
 * C++ libraries, which take most of the linker's time. They are linked only if linking without them fails; that attempt
 * also reports errors. */
static leat_status link_object(struct sim_compilation *c) {
    static const char *const lean[] = {"-nodefaultlibs", "-lgcc", "-lc"};
    const char *input = c->options->check ? "padded.s" : "kernel.s";
    const char *const all[] = {"-shared", "-o", "kernel.so", input, "-Wl,-z,defs", "-lm"};
    struct le_argv command = copy_words(c->arena, &c->compiler), whole;
    int code = 0;
    add_all(c->arena, &command, all, ARRAY_LEN(all));
    whole = copy_words(c->arena, &command);
    add_all(c->arena, &command, lean, ARRAY_LEN(lean));
    leat_status status = le_process_run(c->arena, &command, c->folder, -1, NULL, NULL, &code);
    return status || code == 0 ? status : run_step(c, whole, NULL, 0);
}

static leat_status compile_and_link(struct sim_compilation *c) {
    static const char *const to_text[] = {"-S", "-x", "c++-cpp-output", "kernel.ii", "-o", "kernel.s"};
    leat_status status = run_step(c, compile_command(c), to_text, ARRAY_LEN(to_text));
    if (status == LEAT_OK && c->options->check)
        status = pad_variables(c);
    if (status == LEAT_OK)
        status = link_object(c);
    if (status == LEAT_OK)
        status = le_scratch_read(c->folder, "kernel.so", &c->object);
    if (status == LEAT_OK)
        status = le_sim_ptx_write(le_arena_format(c->arena, "%s/kernel.so", c->folder), &c->ptx);
    return status;
}

/* ---- the store */

static leat_status make_key(struct sim_compilation *c, struct le_text *key) {
    struct le_argv command = compile_command(c);
    le_text_add(key, "sim %d\n", SIM_ABI); /* the text includes the prelude, which covers the rest of our version */
    for (int k = 0; k < command.count; k++) {
        const char *folder = strstr(command.at[k], c->folder);
        if (folder)
            le_text_add(key, "%.*s\n", (int)(folder - command.at[k]), command.at[k]);
        else
            le_text_add(key, "%s\n", command.at[k]);
    }
    if (c->log.at) /* warnings are part of the result */
        le_text_add(key, "%s\n", c->log.at);
    if (c->rewritten.text.at)
        le_text_add_bytes(key, c->rewritten.text.at, c->rewritten.text.length);
    return key->failed ? le_fail_out_of_memory(key->length) : LEAT_OK;
}

static leat_status make_image(struct sim_compilation *c, struct sim_compiled *compiled) {
    struct sim_image_parts parts = {.ptx = c->ptx.at,
                                    .ptx_bytes = c->ptx.length + 1,
                                    .log = c->log.at,
                                    .log_bytes = c->log.at ? c->log.length + 1 : 0,
                                    .object = (const unsigned char *)c->object.at,
                                    .object_bytes = c->object.length,
                                    .checking = c->options->check};
    compiled->image = le_sim_image_make(&parts, &compiled->image_bytes);
    return compiled->image ? LEAT_OK : le_fail_out_of_memory(c->object.length);
}

/* Returns the texts in the image, which may be new or from the store, to the caller. */
static leat_status unpack_image(struct sim_compiled *compiled) {
    struct sim_image_parts parts;
    if (!le_sim_image_read(compiled->image, compiled->image_bytes, &parts))
        return LEAT_DEVICE;
    compiled->ptx = le_strdup(parts.ptx);
    compiled->log = le_strdup(parts.log_bytes ? parts.log : "");
    return compiled->ptx && compiled->log ? LEAT_OK : le_fail_out_of_memory(parts.ptx_bytes);
}

static leat_status get_or_compile(struct sim_compilation *c, struct sim_compiled *compiled) {
    struct le_store *store = NULL;
    struct le_text key = {0};
    leat_status status = make_key(c, &key);
    if (status == LEAT_OK && !c->read.no_cache)
        status = le_store_open(NULL, &store);
    if (store && le_store_get(store, key.at, key.length, &compiled->image, &compiled->image_bytes, NULL)) {
        struct sim_image_parts parts;
        if (!le_sim_image_read(compiled->image, compiled->image_bytes, &parts)) {
            le_free(compiled->image);
            compiled->image = NULL;
        }
    }
    if (status == LEAT_OK && !compiled->image) {
        status = compile_and_link(c);
        if (status == LEAT_OK)
            status = make_image(c, compiled);
        if (status == LEAT_OK && store)
            le_store_put(
                store, le_arena_format(c->arena, "sim%s %s", c->options->check ? " (checking)" : "", c->options->name),
                key.at, key.length, compiled->image, compiled->image_bytes);
    }
    le_store_close(store);
    le_text_finish(&key);
    return status == LEAT_OK ? unpack_image(compiled) : status;
}

static leat_status lower_names(struct sim_compilation *c, struct sim_compiled *compiled) {
    int count = c->options->expression_count;
    compiled->lowered = le_alloc_zero((size_t)count + 1, sizeof *compiled->lowered);
    if (!compiled->lowered)
        return le_fail_out_of_memory((size_t)count);
    for (int k = 0; k < count; k++)
        if (!(compiled->lowered[k] = le_strdup(le_sim_lowered_name(c->arena, c->options->expressions[k]))))
            return le_fail_out_of_memory(1);
    return LEAT_OK;
}

static leat_status all_steps(struct sim_compilation *c, struct sim_compiled *compiled) {
    const struct sim_compile_options *o = c->options;
    leat_status status = le_sim_options_read(c->arena, o->options, o->option_count, &c->read, &c->log);
    if (status != LEAT_OK)
        return le_fail(status, "invalid compiler option: %s", c->log.at ? c->log.at : "");
    if ((status = le_sim_toolchain_find(c->arena, &c->compiler)) != LEAT_OK ||
        (status = le_scratch_new(c->arena, &c->folder)) != LEAT_OK || (status = write_sources(c)) != LEAT_OK ||
        (status = preprocess(c)) != LEAT_OK || (status = rewrite_source(c)) != LEAT_OK ||
        (status = get_or_compile(c, compiled)) != LEAT_OK)
        return status;
    return lower_names(c, compiled);
}

leat_status le_sim_compile(const struct sim_compile_options *options, struct sim_compiled *compiled) {
    struct le_arena arena;
    sigset_t before;
    struct sim_compilation *c = le_alloc_zero(1, sizeof *c);
    *compiled = (struct sim_compiled){0};
    if (!c)
        return le_fail_out_of_memory(sizeof *c);
    le_arena_init(&arena);
    le_signals_hold(&before);
    leat_status status = LEAT_OUT_OF_MEMORY;
    if (setjmp(arena.failure) == 0) {
        c->arena = &arena;
        c->options = options;
        status = all_steps(c, compiled);
    } else
        status = le_fail_out_of_memory(arena.size_bytes);
    if (status != LEAT_OK && !compiled->log)
        compiled->log = le_strdup(c->log.at ? c->log.at : "");
    le_scratch_remove(c->folder);
    le_signals_release(&before);
    struct le_text *texts[] = {&c->log, &c->preprocessed, &c->object, &c->ptx, &c->rewritten.text, &c->rewritten.log};
    for (size_t k = 0; k < ARRAY_LEN(texts); k++)
        le_text_finish(texts[k]);
    le_free(c);
    le_arena_finish(&arena);
    return status;
}

void le_sim_compiled_finish(struct sim_compiled *compiled) {
    le_free(compiled->log);
    le_free(compiled->ptx);
    le_free(compiled->image);
    for (size_t k = 0; compiled->lowered && compiled->lowered[k]; k++)
        le_free((void *)(uintptr_t)compiled->lowered[k]);
    le_free(compiled->lowered);
    *compiled = (struct sim_compiled){0};
}
