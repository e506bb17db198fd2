/* The NVRTC interface of sim's compiler. Programs are handles, as in NVRTC. Any thread may call; a program may be used
 * by one thread at a time. */
#include "base/memory.h"
#include "sim/sim.h"
#include "sim/driver/sim_state.h"
#include <string.h>

struct _nvrtcProgram {
    char *source, *name;
    char **headers, **header_names;
    int header_count;
    char **expressions;
    int expression_count;
    bool tried, done;
    int (*flow)(void *payload, void *unused); /* NULL: no callback */
    void *payload;
    struct sim_compiled compiled;
};

static const char *get_error_string(le_nvrtc_result result) {
    switch (result) {
#define X(name, theirs, value)                                                                                         \
    case value:                                                                                                        \
        return #theirs;
        LE_NVRTC_CONSTANTS(X)
#undef X
    default:
        return "NVRTC_ERROR unknown";
    }
}

static le_nvrtc_result version(int *major, int *minor) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!major || !minor)
        return LE_NVRTC_ERROR_INVALID_INPUT;
    *major = 13;
    *minor = 0;
    return LE_NVRTC_SUCCESS;
}

static void free_list(char **list, int count) {
    for (int k = 0; list && k < count; k++)
        le_free(list[k]);
    le_free(list);
}

static le_nvrtc_result destroy_program(le_nvrtc_program *handle) {
    if (!handle || !*handle)
        return LE_NVRTC_ERROR_INVALID_INPUT;
    le_nvrtc_program program = *handle;
    free_list(program->headers, program->header_count);
    free_list(program->header_names, program->header_count);
    free_list(program->expressions, program->expression_count);
    le_sim_compiled_finish(&program->compiled);
    le_free(program->source);
    le_free(program->name);
    le_free(program);
    *handle = NULL;
    return LE_NVRTC_SUCCESS;
}

static bool copy_list(char ***copy, const char *const *list, int count) {
    bool all = true;
    *copy = le_alloc_zero((size_t)count + 1, sizeof **copy);
    for (int k = 0; *copy && k < count; k++)
        all &= list[k] && ((*copy)[k] = le_strdup(list[k]));
    return *copy && all;
}

static le_nvrtc_result create_program(le_nvrtc_program *handle, const char *source, const char *name, int header_count,
                                      const char *const *headers, const char *const *include_names) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!handle || !source || header_count < 0 || (header_count && (!headers || !include_names)))
        return LE_NVRTC_ERROR_INVALID_INPUT;
    le_nvrtc_program program = le_alloc_zero(1, sizeof *program);
    *handle = program;
    if (!program)
        return LE_NVRTC_ERROR_OUT_OF_MEMORY;
    program->header_count = header_count;
    program->source = le_strdup(source);
    program->name = le_strdup(name && *name ? name : "default_program");
    if (program->source && program->name && copy_list(&program->headers, headers, header_count) &&
        copy_list(&program->header_names, include_names, header_count))
        return LE_NVRTC_SUCCESS;
    destroy_program(handle);
    return LE_NVRTC_ERROR_OUT_OF_MEMORY;
}

static le_nvrtc_result add_name_expression(le_nvrtc_program program, const char *expression) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!program || !expression || program->tried)
        return LE_NVRTC_ERROR_INVALID_INPUT;
    char **grown = le_realloc(program->expressions, ((size_t)program->expression_count + 1) * sizeof *grown);
    if (!grown)
        return LE_NVRTC_ERROR_OUT_OF_MEMORY;
    program->expressions = grown;
    grown[program->expression_count] = le_strdup(expression);
    if (!grown[program->expression_count])
        return LE_NVRTC_ERROR_OUT_OF_MEMORY;
    program->expression_count++;
    return LE_NVRTC_SUCCESS;
}

static le_nvrtc_result set_flow_callback(le_nvrtc_program program, int (*callback)(void *payload, void *unused),
                                         void *payload) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!program || !callback)
        return LE_NVRTC_ERROR_INVALID_INPUT;
    program->flow = callback;
    program->payload = payload;
    return LE_NVRTC_SUCCESS;
}

static le_nvrtc_result as_nvrtc(leat_status status) {
    switch (status) {
    case LEAT_OK:
        return LE_NVRTC_SUCCESS;
    case LEAT_PROGRAM:
        return LE_NVRTC_ERROR_COMPILATION;
    case LEAT_INVALID:
        return LE_NVRTC_ERROR_INVALID_OPTION;
    case LEAT_MISSING:
        return LE_NVRTC_ERROR_COMPILATION; /* as in NVRTC, the log names the expression */
    case LEAT_OUT_OF_MEMORY:
        return LE_NVRTC_ERROR_OUT_OF_MEMORY;
    default:
        return LE_NVRTC_ERROR_INTERNAL_ERROR;
    }
}

static le_nvrtc_result compile_program(le_nvrtc_program program, int option_count, const char *const *options) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!program || program->tried || option_count < 0 || (option_count && !options))
        return LE_NVRTC_ERROR_INVALID_INPUT;
    program->tried = true;
    if (program->flow && program->flow(program->payload, NULL)) /* called only once, because another process compiles */
        return LE_NVRTC_ERROR_CANCELLED;
    struct sim_compile_options o = {.source = program->source,
                                    .name = program->name,
                                    .header_names = (const char *const *)program->header_names,
                                    .headers = (const char *const *)program->headers,
                                    .header_count = program->header_count,
                                    .options = options,
                                    .option_count = option_count,
                                    .expressions = (const char *const *)program->expressions,
                                    .expression_count = program->expression_count,
                                    .check = le_sim_checking()};
    leat_status status = le_sim_compile(&o, &program->compiled);
    struct sim_compiled *compiled = &program->compiled;
    if (status != LEAT_OK && (!compiled->log || !*compiled->log)) { /* no compiler or no folder: the log says so */
        const leat_error *error = le_error_at(0);
        le_free(compiled->log);
        compiled->log = le_strdup(error ? error->message : leat_status_name(status));
    }
    program->done = status == LEAT_OK;
    return as_nvrtc(status);
}

static le_nvrtc_result get_lowered_name(le_nvrtc_program program, const char *expression, const char **lowered) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!program || !expression || !lowered || !program->done)
        return LE_NVRTC_ERROR_INVALID_INPUT;
    for (int k = 0; k < program->expression_count; k++)
        if (strcmp(program->expressions[k], expression) == 0) {
            *lowered = program->compiled.lowered[k];
            return LE_NVRTC_SUCCESS;
        }
    return LE_NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

static const char *log_of(le_nvrtc_program program) {
    return program->compiled.log ? program->compiled.log : "";
}

static le_nvrtc_result get_program_log_size(le_nvrtc_program program, size_t *size_bytes) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!program || !size_bytes)
        return LE_NVRTC_ERROR_INVALID_INPUT;
    *size_bytes = strlen(log_of(program)) + 1;
    return LE_NVRTC_SUCCESS;
}

static le_nvrtc_result get_program_log(le_nvrtc_program program, char *log) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!program || !log)
        return LE_NVRTC_ERROR_INVALID_INPUT;
    memcpy(log, log_of(program), strlen(log_of(program)) + 1);
    return LE_NVRTC_SUCCESS;
}

static le_nvrtc_result get_ptx_size(le_nvrtc_program program, size_t *size_bytes) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!program || !size_bytes || !program->done)
        return LE_NVRTC_ERROR_INVALID_INPUT;
    *size_bytes = strlen(program->compiled.ptx) + 1;
    return LE_NVRTC_SUCCESS;
}

static le_nvrtc_result get_ptx(le_nvrtc_program program, char *ptx) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!program || !ptx || !program->done)
        return LE_NVRTC_ERROR_INVALID_INPUT;
    memcpy(ptx, program->compiled.ptx, strlen(program->compiled.ptx) + 1);
    return LE_NVRTC_SUCCESS;
}

static le_nvrtc_result get_cubin_size(le_nvrtc_program program, size_t *size_bytes) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!program || !size_bytes || !program->done)
        return LE_NVRTC_ERROR_INVALID_INPUT;
    *size_bytes = program->compiled.image_bytes;
    return LE_NVRTC_SUCCESS;
}

static le_nvrtc_result get_cubin(le_nvrtc_program program, char *cubin) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!program || !cubin || !program->done)
        return LE_NVRTC_ERROR_INVALID_INPUT;
    memcpy(cubin, program->compiled.image, program->compiled.image_bytes);
    return LE_NVRTC_SUCCESS;
}

static const int architectures[] = {75, 80, 86, 89, 90};

static le_nvrtc_result get_num_supported_archs(int *count) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!count)
        return LE_NVRTC_ERROR_INVALID_INPUT;
    *count = (int)ARRAY_LEN(architectures);
    return LE_NVRTC_SUCCESS;
}

static le_nvrtc_result get_supported_archs(int *list) {
    le_nvrtc_result fault = le_sim_nvrtc_fault();
    if (fault)
        return fault;
    if (!list)
        return LE_NVRTC_ERROR_INVALID_INPUT;
    memcpy(list, architectures, sizeof architectures);
    return LE_NVRTC_SUCCESS;
}

const struct le_nvrtc *le_sim_nvrtc(void) {
    static const struct le_nvrtc table = {.GetErrorString = get_error_string,
                                          .Version = version,
                                          .CreateProgram = create_program,
                                          .DestroyProgram = destroy_program,
                                          .AddNameExpression = add_name_expression,
                                          .CompileProgram = compile_program,
                                          .GetLoweredName = get_lowered_name,
                                          .GetProgramLogSize = get_program_log_size,
                                          .GetProgramLog = get_program_log,
                                          .GetPTXSize = get_ptx_size,
                                          .GetPTX = get_ptx,
                                          .GetCUBINSize = get_cubin_size,
                                          .GetCUBIN = get_cubin,
                                          .GetNumSupportedArchs = get_num_supported_archs,
                                          .GetSupportedArchs = get_supported_archs,
                                          .SetFlowCallback = set_flow_callback,
                                          .identify = le_sim_identify};
    return &table;
}
