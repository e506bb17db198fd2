/* Options of sim, from le_sim_configure and the environment, and its planned faults. Under the state's lock. */
#include "device/sim/sim_state.h"
#include <stdlib.h>
#include <string.h>

static const size_t MEMORY_BYTES = (size_t)4 << 30;

static uint64_t number_of(const char *variable) {
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 0) : 0;
}

/* LEAT_SIM_FAULT: "allocation=3,launch=2": the Nth of each; memory=BYTES: of the device. What it does not know it
 * passes over. */
static void faults_read(const char *text, struct le_sim_faults *faults, size_t *memory_bytes) {
    uint64_t memory = 0;
    const struct {
        const char *name;
        uint64_t *value;
    } names[] = {{"allocation", &faults->allocation}, {"launch", &faults->launch},        {"copy", &faults->copy},
                 {"module", &faults->module},         {"sticky", &faults->sticky_launch}, {"memory", &memory}};
    for (; text && *text; text = strchr(text, ',') ? strchr(text, ',') + 1 : "")
        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            size_t length = strlen(names[k].name);
            if (!strncmp(text, names[k].name, length) && text[length] == '=')
                *names[k].value = strtoull(text + length + 1, NULL, 0);
        }
    if (memory)
        *memory_bytes = (size_t)memory;
}

static bool any_fault(const struct le_sim_faults *faults) {
    return faults->allocation || faults->launch || faults->copy || faults->module || faults->sticky_launch;
}

static void options_set(struct sim_options_now *now, const struct le_sim_options *options) {
    *now =
        (struct sim_options_now){.configured = true,
                                 .check = options->check || number_of("LEAT_SIM_CHECK"),
                                 .seed = options->seed ? options->seed : number_of("LEAT_SIM_SEED"),
                                 .kernel_ns = options->kernel_ns ? options->kernel_ns : number_of("LEAT_SIM_KERNEL_NS"),
                                 .memory_bytes = MEMORY_BYTES,
                                 .faults = options->faults};
    struct le_sim_faults from_environment = {0};
    faults_read(getenv("LEAT_SIM_FAULT"), &from_environment, &now->memory_bytes);
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

bool le_sim_fault_now(uint64_t *count, uint64_t which) {
    ++*count;
    return which && *count == which;
}

/* Where checking begins or ends under an open context, all that was given is run first and counts as waited for. */
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
        return le_fail(LEAT_DEVICE, "the simulated device cannot be used after a fork");
    pthread_mutex_lock(&state->lock);
    options_set(&state->options, options ? options : &(struct le_sim_options){0});
    state->counts = (struct sim_counts){0};
    leat_status status = switch_check(state);
    pthread_mutex_unlock(&state->lock);
    return status;
}
