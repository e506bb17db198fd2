/* host-would-win: the device has so little work that the CPU would finish before the device is ready. Host time
 * outside CUDA calls while the device is idle is needed on either of them. But the time right before a module is
 * loaded is compiling for the device, which only Numba, PyTorch and JAX do for the CPU, too. */
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"

/* With 4 TB/s of memory bandwidth against 100 to 200 GB/s, and 60 TFLOP/s against one or two, a CPU takes 20 to 50
 * times as long. Tensor cores are faster still, so the CPU must need at most half of the time. */
enum { PROCESSOR_IS_SLOWER = 50, MARGIN = 2 };

static bool compiles_for_device_alone(const struct le_rule_input *input) {
    return input->framework == LE_FRAMEWORK_CUDA || input->framework == LE_FRAMEWORK_CUPY;
}

/* The time from the first work on that is spent on calls, on work of the device outside calls, and on compiling. */
static uint64_t device_cost_ns(const struct le_rule_input *input) {
    uint64_t until_ns = input->start_ns, cost_ns = 0,
             host_ns = 0; /* host_ns: the host's own time since the last work */
    bool is_sole = compiles_for_device_alone(input);
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        if (call->start_ns < input->start_ns || call->start_ns >= input->end_ns)
            continue;
        if (call->start_ns > until_ns) {
            uint64_t busy_ns = le_periods_overlap(&input->busy, until_ns, call->start_ns);
            cost_ns += busy_ns;
            host_ns += call->start_ns - until_ns - busy_ns;
        }
        cost_ns += is_sole && le_is_module_load(input, call) ? host_ns : 0;
        if (le_is_module_load(input, call) || (call->kind >= LE_CALL_LAUNCH && call->kind <= LE_CALL_WAIT))
            host_ns = 0;
        cost_ns += call->end_ns - le_once_from(&until_ns, call->start_ns, call->end_ns);
    }
    return cost_ns + le_periods_overlap(&input->busy, until_ns, input->end_ns);
}

void le_rule_host_would_win(struct le_rule_input *input) {
    uint64_t start_up_ns = 0;
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        if (call->start_ns < input->start_ns && (call->kind == LE_CALL_START || call->kind == LE_CALL_LOAD ||
                                                 call->kind == LE_CALL_ALLOCATE || call->kind == LE_CALL_PIN))
            start_up_ns += le_call_ns(call);
    }
    uint64_t device_ns = start_up_ns + device_cost_ns(input);
    uint64_t processor_ns = input->kernel_ns * PROCESSOR_IS_SLOWER;
    if (input->kernel_ns == 0 || processor_ns * MARGIN > device_ns || device_ns - processor_ns < input->least_gain_ns)
        return;
    struct le_arena *arena = input->arena;
    le_rule_input_claim(
        input, &(struct le_claim){
                   .rule = "host-would-win",
                   .title = le_arena_format(
                       arena, "The CPU might be faster: %s of kernels cost %s of start-up, copies and CUDA calls",
                       le_format_time(arena, input->kernel_ns), le_format_time(arena, device_ns)),
                   .evidence = le_arena_format(
                       arena,
                       "start-up took %s and copies %s; the rest is CUDA calls%s\nassumed: "
                       "the CPU takes 50 times as long as the kernels, which is %s",
                       le_format_time(arena, start_up_ns), le_format_time(arena, le_periods_total(&input->copies)),
                       compiles_for_device_alone(input) ? " and what the host did before it loaded modules" : "",
                       le_format_time(arena, processor_ns)),
                   .advice = LE_ADVICE_HOST,
                   .gain_ns = device_ns - processor_ns,
                   .confidence = LE_HINT,
               });
}
