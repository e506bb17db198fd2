/* Options of sim, from le_sim_configure and the environment, and planned faults. Guarded by the state's lock. */
#include "sim/driver/sim_state.h"
#include "base/environment.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const size_t MEMORY_BYTES = (size_t)4 << 30;

static const char MULTIPROCESSORS[] = "LEAT_SIM_MULTIPROCESSORS";

static uint64_t number_of(const char *variable) {
    const char *text = le_environment_get(variable);
    return text ? strtoull(text, NULL, 0) : 0;
}

enum { FAULT_KINDS = 9, MEMORY_FAULT = 5 };
static const char *const fault_names[FAULT_KINDS] = {"allocation", "launch", "copy",  "module", "sticky",
                                                     "memory",     "call",   "nvrtc", "cublas"};

/* Reads an item, such as "launch=2", up to a comma or the end. Returns its kind; -1: it is not valid. */
static int read_fault(const char *text, uint64_t *value) {
    for (int k = 0; k < FAULT_KINDS; k++) {
        size_t length = strlen(fault_names[k]);
        if (strncmp(text, fault_names[k], length) != 0 || text[length] != '=')
            continue;
        char *end;
        *value = strtoull(text + length + 1, &end, 0);
        return isdigit((unsigned char)text[length + 1]) && (*end == ',' || *end == '\0') ? k : -1;
    }
    return -1;
}

static const char *next_item(const char *text) {
    const char *comma = strchr(text, ',');
    return comma ? comma + 1 : "";
}

/* LEAT_SIM_FAULT: "allocation=3,launch=2" names the Nth operation of each kind; memory=BYTES sets the size of device
 * memory. le_sim_environment_check reports invalid items. */
static void faults_read(const char *text, struct le_sim_faults *faults, size_t *memory_bytes) {
    uint64_t *const values[FAULT_KINDS] = {&faults->allocation, &faults->launch,        &faults->copy,
                                           &faults->module,     &faults->sticky_launch, NULL,
                                           &faults->call,       &faults->nvrtc,         &faults->cublas};
    for (; text && *text; text = next_item(text)) {
        uint64_t value;
        int kind = read_fault(text, &value);
        if (kind == MEMORY_FAULT && value)
            *memory_bytes = (size_t)value;
        else if (kind >= 0 && kind != MEMORY_FAULT)
            *values[kind] = value;
    }
}

leat_status le_sim_environment_check(void) {
    static const char *const numbers[] = {"LEAT_SIM_CHECK", "LEAT_SIM_SEED", "LEAT_SIM_KERNEL_NS",
                                          "LEAT_SIM_CONTEXT_MS", MULTIPROCESSORS};
    for (size_t k = 0; k < ARRAY_LEN(numbers); k++) {
        const char *text = le_environment_get(numbers[k]);
        char *end = NULL;
        if (text)
            (void)strtoull(text, &end, 0);
        if (text && *text && (*end || !isdigit((unsigned char)*text)))
            return le_fail(LEAT_INVALID, "%s is '%.40s', not a whole number", numbers[k], text);
    }
    if (number_of(MULTIPROCESSORS) > SIM_MULTIPROCESSORS_MOST)
        return le_fail(LEAT_INVALID, "%s is %s, more than %d", MULTIPROCESSORS, le_environment_get(MULTIPROCESSORS),
                       SIM_MULTIPROCESSORS_MOST);
    const char *text = le_environment_get("LEAT_SIM_FAULT");
    uint64_t value;
    for (; text && *text; text = next_item(text))
        if (read_fault(text, &value) < 0)
            return le_fail_at(LEAT_INVALID, (struct le_location){0},
                              "write KIND=NUMBER, such as launch=2; the kinds are allocation, launch, copy, module, "
                              "sticky, memory, call, nvrtc and cublas",
                              "LEAT_SIM_FAULT: '%.*s' is not a valid failure", (int)strcspn(text, ","), text);
    return LEAT_OK;
}

static bool any_fault(const struct le_sim_faults *faults) {
    return faults->allocation || faults->launch || faults->copy || faults->module || faults->sticky_launch ||
           faults->call || faults->nvrtc || faults->cublas;
}

static void options_set(struct sim_settings *now, const struct le_sim_options *options) {
    *now = (struct sim_settings){.configured = true,
                                 .check = options->check || number_of("LEAT_SIM_CHECK"),
                                 .seed = options->seed ? options->seed : number_of("LEAT_SIM_SEED"),
                                 .kernel_ns = options->kernel_ns ? options->kernel_ns : number_of("LEAT_SIM_KERNEL_NS"),
                                 .context_ms =
                                     options->context_ms ? options->context_ms : number_of("LEAT_SIM_CONTEXT_MS"),
                                 .multiprocessors = (int)number_of(MULTIPROCESSORS),
                                 .memory_bytes = MEMORY_BYTES,
                                 .only_on_wait = options->only_on_wait,
                                 .faults = options->faults};
    if (now->multiprocessors <= 0 || now->multiprocessors > SIM_MULTIPROCESSORS_MOST)
        now->multiprocessors = SIM_MULTIPROCESSORS;
    struct le_sim_faults from_environment = {0};
    faults_read(le_environment_get("LEAT_SIM_FAULT"), &from_environment, &now->memory_bytes);
    if (!any_fault(&now->faults))
        now->faults = from_environment;
    if (options->memory_bytes)
        now->memory_bytes = options->memory_bytes;
}

void le_sim_configuration_read(void) {
    struct sim_state *state = le_sim_state();
    if (!state->options.configured)
        options_set(&state->options, &(struct le_sim_options){0});
}

bool le_sim_checking(void) {
    struct sim_state *state = le_sim_state();
    pthread_mutex_lock(&state->lock);
    le_sim_configuration_read();
    bool check = state->options.check;
    pthread_mutex_unlock(&state->lock);
    return check;
}

uint64_t le_sim_context_ms(void) {
    struct sim_state *state = le_sim_state();
    pthread_mutex_lock(&state->lock);
    le_sim_configuration_read();
    uint64_t context_ms = state->options.context_ms;
    pthread_mutex_unlock(&state->lock);
    return context_ms;
}

bool le_sim_fault_now(uint64_t *count, uint64_t which) {
    ++*count;
    return which && *count == which;
}

le_cu_result le_sim_call_fault(void) {
    struct sim_state *state = le_sim_state();
    const struct le_sim_faults *faults = &state->options.faults;
    if (!le_sim_fault_now(&state->counts.call, faults->call))
        return LE_CU_SUCCESS;
    le_cu_result result = faults->call_result ? faults->call_result : LE_CU_ERROR_UNKNOWN;
    if (faults->call_sticks && state->context_uses)
        state->fatal = result;
    return result;
}

static bool library_fails(uint64_t *count, const uint64_t *which) {
    struct sim_state *state = le_sim_state();
    pthread_mutex_lock(&state->lock);
    le_sim_configuration_read();
    bool fails = le_sim_fault_now(count, *which);
    pthread_mutex_unlock(&state->lock);
    return fails;
}

le_nvrtc_result le_sim_nvrtc_fault(void) {
    struct sim_state *state = le_sim_state();
    const struct le_sim_faults *faults = &state->options.faults;
    if (!library_fails(&state->counts.nvrtc, &faults->nvrtc))
        return LE_NVRTC_SUCCESS;
    return faults->nvrtc_result ? faults->nvrtc_result : LE_NVRTC_ERROR_INTERNAL_ERROR;
}

le_cublas_status le_sim_cublas_fault(void) {
    struct sim_state *state = le_sim_state();
    const struct le_sim_faults *faults = &state->options.faults;
    if (!library_fails(&state->counts.cublas, &faults->cublas))
        return LE_CUBLAS_SUCCESS;
    return faults->cublas_result ? faults->cublas_result : LE_CUBLAS_INTERNAL_ERROR;
}

void le_sim_count_leftovers(void) {
    struct sim_state *state = le_sim_state();
    state->leftovers = (struct le_sim_tally){.modules = le_sim_handles_live(&state->module_handles),
                                             .streams = le_sim_handles_live(&state->stream_handles),
                                             .events = le_sim_handles_live(&state->event_handles),
                                             .graphs = le_sim_handles_live(&state->graph_handles) +
                                                       le_sim_handles_live(&state->exec_handles)};
    for (int k = 0; k < state->memory.count; k++)
        state->leftovers.allocations += state->memory.at[k].kind != SIM_ALLOCATION_MODULE;
}

void le_sim_tally_get(struct le_sim_tally *tally) {
    struct sim_state *state = le_sim_state();
    pthread_mutex_lock(&state->lock);
    *tally = state->leftovers;
    tally->driver_calls = state->counts.call;
    tally->nvrtc_calls = state->counts.nvrtc;
    tally->cublas_calls = state->counts.cublas;
    tally->contexts = state->context_uses;
    pthread_mutex_unlock(&state->lock);
}

/* If checking starts or stops while a context is open, all enqueued work runs first, and counts as waited for. */
static leat_status switch_check(struct sim_state *state) {
    if (!state->context_uses || !state->check == !state->options.check)
        return LEAT_OK;
    le_sim_force_all();
    if (state->check)
        le_sim_check_stop();
    else if (le_sim_check_start())
        return le_fail_out_of_memory(0);
    return LEAT_OK;
}

leat_status le_sim_configure(const struct le_sim_options *options) {
    struct sim_state *state = le_sim_state();
    if (le_sim_is_child())
        return le_fail(LEAT_DEVICE, "the simulated device cannot be used in a process created by fork");
    pthread_mutex_lock(&state->lock);
    options_set(&state->options, options ? options : &(struct le_sim_options){0});
    state->counts = (struct sim_counts){0};
    leat_status status = switch_check(state);
    pthread_mutex_unlock(&state->lock);
    return status;
}
