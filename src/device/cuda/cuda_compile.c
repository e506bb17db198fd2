/* See cuda_compile.h. */
#include "device/cuda/cuda_compile.h"
#include "base/exit_guard.h"
#include "base/memory.h"
#include "device/cuda/compile_log.h"
#include "device/cuda/cuda_cached_code.h"
#include "device/cuda/cuda_libraries.h"
#include "device/cuda/nvrtc_headers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARCHITECTURES_MAX = 128 };
static const char STANDARD[] = "c++17";
#define MINIMAL_VERSION 12040 /* the first NVRTC that accepts --minimal */

struct compile_job {
    const struct le_nvrtc *nvrtc;
    int version, capability;          /* NVRTC's version; the device's capability */
    bool is_sim, is_cached, is_exact; /* is_exact: compile for this capability only */
    const struct le_module_source *source;
    struct le_device_module *module;
    le_nvrtc_program program;
    struct le_arena arena; /* owns the options */
    struct {
        const char **at;
        int count, capacity;
    } options;
    bool is_cubin;
};

static leat_status nvrtc_failed(const struct compile_job *job, le_nvrtc_result result, const char *what) {
    if (result == LE_NVRTC_ERROR_OUT_OF_MEMORY)
        return le_fail(LEAT_OUT_OF_MEMORY, "%s: NVRTC is out of memory", what);
    return le_fail(LEAT_DEVICE, "%s: %s", what, job->nvrtc->GetErrorString(result));
}

/* ---- options */

static void add_option(struct compile_job *job, const char *prefix, const char *text) {
    *LE_PUSH(&job->arena, &job->options) = le_arena_format(&job->arena, "%s%s", prefix, text);
}

/* Finds the newest architecture that NVRTC supports and the device runs. 0: none. *exact: it is the device's own. */
static le_nvrtc_result choose_architecture(const struct compile_job *job, int *architecture, bool *exact) {
    int count = 0, known[ARCHITECTURES_MAX], capability = job->capability, best = 0;
    le_nvrtc_result result = job->nvrtc->GetNumSupportedArchs(&count);
    if (count > ARCHITECTURES_MAX)
        count = 0;
    if (result == LE_NVRTC_SUCCESS && count > 0)
        result = job->nvrtc->GetSupportedArchs(known);
    for (int k = 0; result == LE_NVRTC_SUCCESS && k < count; k++)
        if (known[k] <= capability && known[k] > best)
            best = known[k];
    *exact = best == capability;
    *architecture = best;
    return result;
}

/* For an architecture that is lower than all that NVRTC supports. */
static leat_status fail_architecture(const struct compile_job *job) {
    int known[ARCHITECTURES_MAX], count = 0, least = 0;
    if (job->nvrtc->GetNumSupportedArchs(&count) != LE_NVRTC_SUCCESS || count > ARCHITECTURES_MAX ||
        job->nvrtc->GetSupportedArchs(known) != LE_NVRTC_SUCCESS)
        count = 0;
    for (int k = 0; k < count; k++)
        least = !least || known[k] < least ? known[k] : least;
    return le_fail(LEAT_UNSUPPORTED, "NVRTC %d.%d cannot compile for sm_%d; it supports sm_%d and later",
                   job->version / 1000, job->version % 1000 / 10, job->capability, least);
}

static leat_status add_architecture(struct compile_job *job) {
    bool exact;
    int architecture;
    le_nvrtc_result result = choose_architecture(job, &architecture, &exact);
    if (result != LE_NVRTC_SUCCESS)
        return nvrtc_failed(job, result, "asking NVRTC for its architectures");
    if (architecture == 0)
        return fail_architecture(job);
    if (job->is_exact && !exact)
        return le_fail(LEAT_UNSUPPORTED,
                       "this NVRTC does not support sm_%d; the next lower architecture that it supports is sm_%d",
                       job->capability, architecture);
    job->is_cubin = exact;
    char number[16];
    snprintf(number, sizeof number, "%d", architecture);
    add_option(job, exact ? "--gpu-architecture=sm_" : "--gpu-architecture=compute_", number);
    return LEAT_OK;
}

static bool names_standard(const char *const *options) {
    for (; options && *options; options++)
        if (strncmp(*options, "-std", 4) == 0 || strncmp(*options, "--std", 5) == 0)
            return true;
    return false;
}

static void add_list(struct compile_job *job, const char *prefix, const char *const *list) {
    for (; list && *list; list++)
        add_option(job, prefix, *list);
}

/* Adds the toolkit's folder. From CUDA 13 on, the headers of its C++ libraries, which cooperative_groups.h needs, are
 * in a folder below. */
static void add_toolkit(struct compile_job *job, const char *folder) {
    add_option(job, "-I", folder);
    const char *libraries = le_arena_format(&job->arena, "%s/cccl", folder);
    if (access(libraries, R_OK) == 0)
        add_option(job, "-I", libraries);
}

/* The toolkit's headers come last, after the user's. The simulator brings its own. Every field of `source` used here
 * must be in the cache key: cuda_cached_code.c. */
static leat_status make_options(struct compile_job *job) {
    const struct le_module_source *source = job->source;
    const char *folder = job->is_sim || source->is_whole ? NULL : le_cuda_include_folder();
    if (setjmp(job->arena.failure))
        return le_fail_out_of_memory(0);
    leat_status status = add_architecture(job);
    if (status)
        return status;
    if (!names_standard(source->options))
        add_option(job, "--std=", STANDARD);
    if (source->line_info)
        add_option(job, "-lineinfo", "");
    if (source->is_plain && job->version >= MINIMAL_VERSION)
        add_option(job, "--minimal", "");
    if (job->is_sim && job->is_cached) /* cached here: do not cache it again */
        add_option(job, "--no-cache", "");
    add_list(job, "-D", source->macros);
    add_list(job, "-I", source->include_paths);
    if (folder)
        add_toolkit(job, folder);
    add_list(job, "", source->options);
    return LEAT_OK;
}

/* ---- results */

static leat_status take_log(struct compile_job *job) {
    size_t size_bytes = 0;
    if (job->nvrtc->GetProgramLogSize(job->program, &size_bytes) != LE_NVRTC_SUCCESS)
        size_bytes = 0;
    job->module->log = le_alloc_zero(1, size_bytes + 1);
    if (!job->module->log)
        return le_fail_out_of_memory(size_bytes);
    if (size_bytes && job->nvrtc->GetProgramLog(job->program, job->module->log) != LE_NVRTC_SUCCESS)
        job->module->log[0] = '\0';
    return LEAT_OK;
}

static leat_status take_code(struct compile_job *job, const char *what,
                             le_nvrtc_result (*size)(le_nvrtc_program program, size_t *size_bytes),
                             le_nvrtc_result (*get)(le_nvrtc_program program, char *code), char **code,
                             size_t *code_bytes) {
    size_t size_bytes = 0;
    le_nvrtc_result result = size(job->program, &size_bytes);
    if (result != LE_NVRTC_SUCCESS)
        return nvrtc_failed(job, result, what);
    char *memory = le_alloc_zero(1, size_bytes + 1);
    if (!memory)
        return le_fail_out_of_memory(size_bytes);
    result = get(job->program, memory);
    if (result == LE_NVRTC_SUCCESS) {
        *code = memory;
        *code_bytes = size_bytes;
        return LEAT_OK;
    }
    le_free(memory);
    return nvrtc_failed(job, result, what);
}

static leat_status take_names(struct compile_job *job) {
    for (int k = 0; k < job->module->name_count; k++) {
        struct le_module_name *name = &job->module->names[k];
        const char *lowered = NULL;
        le_nvrtc_result result = job->nvrtc->GetLoweredName(job->program, name->expression, &lowered);
        if (result != LE_NVRTC_SUCCESS || !lowered)
            return le_fail(LEAT_INVALID, "no kernel or variable named \"%.200s\" in %s", name->expression,
                           job->source->name);
        name->lowered = le_strdup(lowered);
        if (!name->lowered)
            return le_fail_out_of_memory(strlen(lowered));
    }
    return LEAT_OK;
}

/* ---- compiling */

static leat_status copy_names(struct compile_job *job) {
    struct le_device_module *module = job->module;
    size_t count = 0;
    while (job->source->names && job->source->names[count])
        count++;
    if (count == 0)
        return LEAT_OK;
    module->names = le_alloc_zero(count, sizeof *module->names);
    if (!module->names)
        return le_fail_out_of_memory(count * sizeof *module->names);
    for (; module->name_count < (int)count; module->name_count++) {
        char *expression = le_strdup(job->source->names[module->name_count]);
        if (!expression)
            return le_fail_out_of_memory(0);
        module->names[module->name_count].expression = expression;
    }
    return LEAT_OK;
}

static leat_status add_names(struct compile_job *job) {
    leat_status status = copy_names(job);
    for (int k = 0; k < job->module->name_count && !status; k++) {
        const char *expression = job->module->names[k].expression;
        le_nvrtc_result result = job->nvrtc->AddNameExpression(job->program, expression);
        if (result != LE_NVRTC_SUCCESS)
            status = le_fail(LEAT_INVALID, "the name \"%.200s\": %s", expression, job->nvrtc->GetErrorString(result));
    }
    return status;
}

/* Turns the compiler's result and log into a status. */
static leat_status check_result(struct compile_job *job, le_nvrtc_result result) {
    leat_status status = take_log(job);
    if (status || result == LE_NVRTC_SUCCESS)
        return status;
    const char *log = job->module->log;
    if (result == LE_NVRTC_ERROR_COMPILATION || result == LE_NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID)
        return le_compile_log_fail(log, job->source->name, job->source->text);
    if (result == LE_NVRTC_ERROR_INVALID_OPTION)
        return le_fail(LEAT_INVALID, "%s: %s", job->source->name, *log ? log : job->nvrtc->GetErrorString(result));
    if (!*log)
        return nvrtc_failed(job, result, job->source->name);
    if (result == LE_NVRTC_ERROR_OUT_OF_MEMORY)
        return le_fail(LEAT_OUT_OF_MEMORY, "%s: %s", job->source->name, log);
    return le_fail(job->is_sim ? LEAT_UNSUPPORTED : LEAT_DEVICE, "%s", log); /* sim: there is no host compiler */
}

/* NVRTC's flow callback: cancels the compilation. */
static int is_unwanted(void *payload, void *unused) {
    const struct le_module_source *source = payload;
    (void)unused;
    return source->is_unwanted(source->user);
}

static le_nvrtc_result compile_program(struct compile_job *job) {
    if (job->source->is_unwanted &&
        job->nvrtc->SetFlowCallback) /* if this fails, the compilation cannot be cancelled */
        job->nvrtc->SetFlowCallback(job->program, is_unwanted, (void *)(uintptr_t)job->source);
    le_nvrtc_result result = job->nvrtc->CompileProgram(job->program, job->options.count, job->options.at);
    if (result == LE_NVRTC_SUCCESS)
        le_nvrtc_note_used();
    return result;
}

static leat_status compile_source(struct compile_job *job, struct le_cuda_image *image) {
    struct le_device_module *module = job->module;
    size_t ptx_bytes = 0;
    leat_status status = add_names(job);
    if (status)
        return status;
    status = check_result(job, compile_program(job));
    if (!status)
        status = take_names(job);
    if (!status)
        status = take_code(job, "its PTX", job->nvrtc->GetPTXSize, job->nvrtc->GetPTX, &module->ptx, &ptx_bytes);
    if (status)
        return status;
    if (job->is_cubin)
        return take_code(job, "its code", job->nvrtc->GetCUBINSize, job->nvrtc->GetCUBIN, &image->bytes,
                         &image->size_bytes);
    image->size_bytes = strlen(module->ptx) + 1;
    image->bytes = le_strdup(module->ptx);
    return image->bytes ? LEAT_OK : le_fail_out_of_memory(image->size_bytes);
}

static leat_status create_and_compile(struct compile_job *job, struct le_cuda_image *image) {
    leat_status status = make_options(job);
    if (status)
        return status;
    const char *const *names = NULL, *const *headers = NULL;
    bool alone = job->is_sim || job->source->is_whole;
    int count = alone ? 0 : le_nvrtc_headers(&names, &headers);
    le_nvrtc_result result =
        job->nvrtc->CreateProgram(&job->program, job->source->text, job->source->name, count, headers, names);
    if (result != LE_NVRTC_SUCCESS)
        return nvrtc_failed(job, result, job->source->name);
    status = compile_source(job, image);
    job->nvrtc->DestroyProgram(&job->program);
    return status;
}

/* Runs the job in its own arena. */
static leat_status run_job(struct compile_job *job, struct le_cuda_image *image) {
    le_arena_init(&job->arena);
    leat_status status = create_and_compile(job, image);
    le_arena_finish(&job->arena);
    return status;
}

/* Waits for the compilation that opening the device has started: it would delay this one anyway. */
static leat_status find_nvrtc(struct le_cuda_device *cuda, const struct le_nvrtc **nvrtc, int *version) {
    *nvrtc = cuda->nvrtc;
    if (*nvrtc)
        return LEAT_OK;
    struct le_device_span span;
    pthread_mutex_lock(&cuda->warm_lock);
    le_device_span_begin(cuda->device, &span, LEAT_COST_LIBRARY, "NVRTC",
                         cuda->warm ? "started when the device was opened" : "");
    le_nvrtc_warm_end(&cuda->warm);
    leat_status status = le_nvrtc_open(nvrtc, version);
    le_device_span_end(&span, 0);
    pthread_mutex_unlock(&cuda->warm_lock);
    return status;
}

void le_cuda_compiler_begin(void *native) {
    struct le_cuda_device *cuda = native;
    const struct le_nvrtc *nvrtc;
    int version;
    if (find_nvrtc(cuda, &nvrtc, &version) != LEAT_OK)
        le_errors_clear(); /* the next compilation reports the error */
    else if (!cuda->is_sim)
        le_nvrtc_use_once(nvrtc);
    le_exit_guard_install();
}

static leat_status compile_uncached(struct le_cuda_device *cuda, const struct le_module_source *source, bool keeps,
                                    struct le_device_module *module, struct le_cuda_image *image) {
    struct compile_job job = {.capability = cuda->device->limits.capability,
                              .is_sim = cuda->is_sim,
                              .is_cached = keeps,
                              .source = source,
                              .module = module};
    leat_status status = find_nvrtc(cuda, &job.nvrtc, &job.version);
    return status ? status : run_job(&job, image);
}

static void cancel_warm(struct le_cuda_device *cuda) {
    pthread_mutex_lock(&cuda->warm_lock);
    le_nvrtc_warm_cancel(cuda->warm);
    pthread_mutex_unlock(&cuda->warm_lock);
}

leat_status le_cuda_compile(struct le_cuda_device *cuda, const struct le_module_source *source,
                            struct le_device_module *module, struct le_cuda_image *image) {
    struct le_device_span span;
    struct le_text key = {0};
    *image = (struct le_cuda_image){0};
    leat_status status = LEAT_OK;
    const char *what = source->label ? source->label : source->name;
    le_device_span_begin(cuda->device, &span, LEAT_COST_COMPILE, what, source->cause);
    cancel_warm(cuda);
    bool keeps = le_cuda_cached_code_key(cuda, source, &key);
    bool damaged = false;
    if (keeps && le_cuda_cached_code_get(cuda, &key, module, image, &damaged)) {
        span.span.kind = LEAT_COST_ON_DISK;
        module->was_cached = true;
    } else if (source->only_cached) {
        span.span.kind = LEAT_COST_READ;
        span.span.what = "code cache";
        status = LEAT_MISSING;
    } else {
        if (damaged)
            span.span.cause = "the cached code was damaged";
        status = compile_uncached(cuda, source, keeps, module, image);
        if (!status && keeps)
            le_cuda_cached_code_put(cuda, source, &key, module, image);
    }
    le_device_span_end(&span, image->size_bytes);
    le_text_finish(&key);
    return status;
}

leat_status le_cuda_compile_for(int capability, bool exact, const struct le_module_source *source,
                                struct le_device_module *module, struct le_cuda_image *image) {
    struct compile_job job = {.capability = capability, .is_exact = exact, .source = source, .module = module};
    *image = (struct le_cuda_image){0};
    leat_status status = le_nvrtc_open(&job.nvrtc, &job.version);
    return status ? status : run_job(&job, image);
}
