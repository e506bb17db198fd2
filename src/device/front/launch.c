/* Launches. Everything that a driver would reject without an explanation, or accept and crash on, is checked here
 * first. Then the launch is ordered and given to the backend. A correct launch allocates nothing. Messages count
 * arguments from 1. */
#include "base/cancel.h"
#include "device/front/module.h"
#include "device/front/timing.h"
#include "spec/type.h"
#include <stdio.h>
#include <string.h>

/* The arguments that a launch passes to the backend, and the allocations that it uses: those of arguments and those of
 * the module's variables. */
enum { VARIABLES_MAX = 64, USES_MAX = LE_LAUNCH_PARAMETERS_MAX + VARIABLES_MAX };
struct passed_arguments {
    void *parameters[LE_LAUNCH_PARAMETERS_MAX];
    struct le_allocation_use uses[USES_MAX];
    int use_count;
};

/* ---- the shape of the grid */

static leat_status check_axes(const struct le_device_kernel *kernel, const char *what, const unsigned *extents,
                              const unsigned *most) {
    for (int axis = 0; axis < 3; axis++)
        if (extents[axis] == 0 || extents[axis] > most[axis])
            return le_fail(LEAT_INVALID, "kernel %s: %s.%c is %u; this device allows 1 to %u", kernel->name, what,
                           "xyz"[axis], extents[axis], most[axis]);
    return LEAT_OK;
}

static leat_status check_threads(const struct le_device_kernel *kernel, const struct le_kernel_launch *launch) {
    const struct le_device_limits *limits = &kernel->module->device->limits;
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    if (threads > (uint64_t)limits->block_threads)
        return le_fail(LEAT_INVALID, "kernel %s: a block of %ux%ux%u is %llu threads; this device allows at most %d",
                       kernel->name, launch->block[0], launch->block[1], launch->block[2], (unsigned long long)threads,
                       limits->block_threads);
    if (threads > (uint64_t)kernel->max_block_threads)
        return le_fail(LEAT_INVALID,
                       "kernel %s: a block of %llu threads; its %d registers a thread, or its __launch_bounds__, allow "
                       "at most %d",
                       kernel->name, (unsigned long long)threads, kernel->registers, kernel->max_block_threads);
    return LEAT_OK;
}

static leat_status check_shared(const struct le_device_kernel *kernel, const struct le_kernel_launch *launch) {
    if (launch->shared_bytes <= kernel->max_dynamic_shared_bytes)
        return LEAT_OK;
    return le_fail(
        LEAT_INVALID,
        "kernel %s: %zu bytes of dynamic shared memory; at most %zu are available: the kernel itself uses %zu of the "
        "block's %zu",
        kernel->name, launch->shared_bytes, kernel->max_dynamic_shared_bytes, kernel->static_shared_bytes,
        kernel->module->device->limits.shared_optin_bytes);
}

static leat_status check_shape(const struct le_device_kernel *kernel, const struct le_kernel_launch *launch) {
    const struct le_device_limits *limits = &kernel->module->device->limits;
    leat_status status = check_axes(kernel, "grid", launch->grid, limits->grid);
    if (!status)
        status = check_axes(kernel, "block", launch->block, limits->block);
    if (!status)
        status = check_threads(kernel, launch);
    if (!status)
        status = check_shared(kernel, launch);
    if (!status && launch->cooperative && !limits->cooperative)
        status =
            le_fail(LEAT_UNSUPPORTED, "kernel %s: this device does not support cooperative launches", kernel->name);
    return status;
}

/* ---- arguments */

enum { TEXT_BYTES = 96 };

static const char *describe_parameter(const struct le_parameter *parameter, char text[TEXT_BYTES]) {
    enum le_type type = (enum le_type)parameter->dtype;
    if (parameter->is_pointer)
        snprintf(text, TEXT_BYTES, "a pointer: pass an array, or an address as u64");
    else if (parameter->may_be_pointer)
        snprintf(text, TEXT_BYTES, "8 bytes: pass an array, i64 or u64");
    else if (le_type_is_int(type))
        snprintf(text, TEXT_BYTES, "an integer of %zu byte%s: pass i%zu or u%zu", parameter->size_bytes,
                 parameter->size_bytes > 1 ? "s" : "", 8 * parameter->size_bytes, 8 * parameter->size_bytes);
    else if (type)
        snprintf(text, TEXT_BYTES, "of type %s", le_type_name(type));
    else
        snprintf(text, TEXT_BYTES, "a struct of %zu bytes", parameter->size_bytes);
    return text;
}

static const char *describe_argument(const struct le_launch_argument *argument, char text[TEXT_BYTES]) {
    if (argument->allocation)
        return "an array";
    if (argument->dtype)
        snprintf(text, TEXT_BYTES, "a number of type %s", le_type_name((enum le_type)argument->dtype));
    else
        snprintf(text, TEXT_BYTES, "%zu bytes", argument->size_bytes);
    return text;
}

static leat_status fail_argument(const struct le_device_kernel *kernel, int k,
                                 const struct le_launch_argument *argument) {
    char expected[TEXT_BYTES], given[TEXT_BYTES];
    const struct le_parameter *parameter = &kernel->entry->parameters[k];
    return le_fail(LEAT_INVALID, "kernel %s: argument %d is %s; its parameter %d%s%s%s is %s", kernel->name, k + 1,
                   describe_argument(argument, given), k + 1, *parameter->name ? ", " : "", parameter->name,
                   *parameter->name ? "," : "", describe_parameter(parameter, expected));
}

static bool number_fits(const struct le_parameter *parameter, const struct le_launch_argument *argument) {
    if (argument->size_bytes != parameter->size_bytes)
        return false;
    if (!argument->dtype || !parameter->dtype) /* untyped bytes and structs fit anything of their size */
        return true;
    if (parameter->is_pointer)
        return argument->dtype == LEAT_U64;
    if (le_type_is_float((enum le_type)parameter->dtype))
        return argument->dtype == parameter->dtype;
    return !le_type_is_float((enum le_type)argument->dtype) || parameter->size_bytes == 2;
}

/* Integers of the same size are interchangeable. Complex numbers count as pairs of floats, also
 * as float2 and double2. 16-bit floats may be read as
 * their bits. Untyped bytes fit anything. */
static bool elements_fit(leat_dtype pointee, leat_dtype element) {
    enum le_type type = (enum le_type)element;
    if (!pointee || !element || le_type_size(type) == 1)
        return true;
    if (pointee == LEAT_C64 || pointee == LEAT_C128)
        return element == pointee || element == (pointee == LEAT_C64 ? LEAT_F32 : LEAT_F64);
    if (element == LEAT_C64 || element == LEAT_C128)
        return pointee == (element == LEAT_C64 ? LEAT_F32 : LEAT_F64);
    if (!le_type_is_int((enum le_type)pointee))
        return element == pointee;
    return le_type_size((enum le_type)pointee) == le_type_size(type) &&
           (le_type_is_int(type) || le_type_size(type) == 2);
}

static leat_status fail_element(const struct le_device_kernel *kernel, int k,
                                const struct le_launch_argument *argument) {
    const struct le_parameter *parameter = &kernel->entry->parameters[k];
    enum le_type pointee = (enum le_type)parameter->pointee;
    char expected[TEXT_BYTES];
    if (le_type_is_int(pointee))
        snprintf(expected, sizeof expected, "integers of %zu bytes", le_type_size(pointee));
    else
        snprintf(expected, sizeof expected, "%s", le_type_name(pointee));
    return le_fail(LEAT_INVALID, "kernel %s: argument %d is an array of %s; its parameter %d%s%s%s is a pointer to %s",
                   kernel->name, k + 1, le_type_name((enum le_type)argument->dtype), k + 1,
                   *parameter->name ? ", " : "", parameter->name, *parameter->name ? "," : "", expected);
}

static const char *kind_text(enum le_memory_kind kind) {
    return kind == LE_MEMORY_HOST ? "pageable host memory" : "memory";
}

static leat_status check_allocation(const struct le_device_kernel *kernel, int k,
                                    const struct le_launch_argument *argument) {
    const struct le_allocation *allocation = argument->allocation;
    if (allocation->device != kernel->module->device)
        return le_fail(LEAT_INVALID, "kernel %s: argument %d is an array of another context", kernel->name, k + 1);
    if (!kernel->entry->parameters[k].may_be_pointer)
        return fail_argument(kernel, k, argument);
    if (!elements_fit(kernel->entry->parameters[k].pointee, argument->dtype))
        return fail_element(kernel, k, argument);
    if (!allocation->address && allocation->size_bytes)
        return le_fail_at(LEAT_INVALID, (struct le_location){0}, "an array in LEAT_MEMORY_DEVICE, _MAPPED or _PINNED",
                          "kernel %s: argument %d is an array in %s, which kernels cannot access", kernel->name, k + 1,
                          kind_text(allocation->kind));
    return LEAT_OK;
}

static leat_status check_count(const struct le_device_kernel *kernel, const struct le_kernel_launch *launch) {
    const struct le_ptx_kernel *entry = kernel->entry;
    if (launch->argument_count != entry->parameter_count)
        return le_fail(LEAT_INVALID, "kernel %s takes %d argument%s%s%s%s, not %d", kernel->name,
                       entry->parameter_count, entry->parameter_count == 1 ? "" : "s",
                       *entry->parameter_list ? " (" : "", entry->parameter_list, *entry->parameter_list ? ")" : "",
                       launch->argument_count);
    if (entry->parameter_count > LE_LAUNCH_PARAMETERS_MAX)
        return le_fail(LEAT_UNSUPPORTED, "kernel %s has %d parameters; at most %d are supported", kernel->name,
                       entry->parameter_count, LE_LAUNCH_PARAMETERS_MAX);
    return LEAT_OK;
}

static leat_status pass_arguments(const struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                                  struct passed_arguments *passed) {
    leat_status status = check_count(kernel, launch);
    for (int k = 0; k < launch->argument_count && !status; k++) {
        const struct le_launch_argument *argument = &launch->arguments[k];
        memcpy(&passed->parameters[k], &argument->value, sizeof argument->value); /* drivers only read it */
        if (argument->allocation) {
            status = check_allocation(kernel, k, argument);
            passed->uses[passed->use_count++] = (struct le_allocation_use){argument->allocation, argument->access};
        } else if (!number_fits(&kernel->entry->parameters[k], argument)) {
            status = fail_argument(kernel, k, argument);
        }
    }
    for (int k = 0; k < launch->use_count && passed->use_count < USES_MAX; k++)
        passed->uses[passed->use_count++] = launch->uses[k];
    return status;
}

/* ---- variables of the module that have an allocation */

static void use_variable(const struct le_device_kernel *kernel, int k, struct passed_arguments *passed) {
    struct le_device_variable *variable = &kernel->module->variables[k];
    struct le_allocation *allocation = atomic_load_explicit(&variable->allocation, memory_order_acquire);
    if (!allocation || passed->use_count >= USES_MAX)
        return;
    enum le_allocation_access access = variable->entry->is_constant ? LE_ACCESS_READ : LE_ACCESS_BOTH;
    passed->uses[passed->use_count++] = (struct le_allocation_use){allocation, access};
}

static void pass_variables(const struct le_device_kernel *kernel, struct passed_arguments *passed) {
    const struct le_ptx_kernel *entry = kernel->entry;
    if (!atomic_load_explicit(&kernel->module->exposed, memory_order_acquire))
        return;
    for (int k = 0; entry->uses_all && k < kernel->module->contents.variables.count; k++)
        use_variable(kernel, k, passed);
    for (int k = 0; !entry->uses_all && k < entry->uses.count; k++)
        use_variable(kernel, entry->uses.at[k], passed);
}

/* ---- the launch */

static leat_status enqueue_launch(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                                  struct le_device_stream *stream, struct passed_arguments *passed) {
    struct le_device *device = kernel->module->device;
    bool kept = launch->replay && le_replay_prepare(kernel, launch, stream, passed->parameters);
    leat_status status = le_order_begin(stream, passed->uses, passed->use_count);
    if (status)
        return status;
    struct le_timed timed;
    le_timing_begin(device, stream->native, &timed);
    le_cancel_token_offer(stream->token);
    status = kept ? le_replay_launch(kernel, launch, stream, passed->parameters)
                  : device->ops->launch(device->native, stream->native, kernel, launch, passed->parameters);
    le_cancel_token_offer(NULL);
    if (status)
        le_timing_drop(device, &timed);
    else
        le_timing_end(device, stream->native, &timed, LEAT_COST_KERNEL, launch->what ? launch->what : kernel->name, 0);
    uint64_t number = le_order_end(stream, passed->uses, passed->use_count, !status);
    if (!status)
        le_device_note_launch(stream, number, kernel->name, launch->grid, launch->block);
    return status;
}

/* Charges the launch to the ledger. A ledger that only counts is not searched for the record at each launch. */
static leat_status launch_and_charge(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                                     struct le_device_stream *stream, struct passed_arguments *passed) {
    struct le_device *device = kernel->module->device;
    bool used = atomic_load_explicit(&kernel->used, memory_order_relaxed);
    struct le_ledger *ledger = atomic_load_explicit(&device->ledger, memory_order_relaxed);
    if (used && ledger && le_ledger_level(ledger) == 0) {
        le_ledger_tally(ledger, &kernel->launches, LEAT_COST_LAUNCH, kernel->name);
        return enqueue_launch(kernel, launch, stream, passed);
    }
    struct le_device_span span;
    le_device_span_begin(device, &span, LEAT_COST_LAUNCH, kernel->name, used ? "" : "first use");
    if (!used) {
        atomic_store(&kernel->used, true);
        atomic_store(&kernel->module->launched, true);
    }
    leat_status status = enqueue_launch(kernel, launch, stream, passed);
    le_device_span_end(&span, 0);
    return status;
}

leat_status le_device_launch(struct le_device_kernel *kernel, const struct le_kernel_launch *launch,
                             struct le_device_stream *stream) {
    struct le_device *device = kernel->module->device;
    struct passed_arguments passed;
    passed.use_count = 0;
    leat_status status = le_device_check(device);
    if (!status && stream->device != device)
        status = le_fail(LEAT_INVALID, "kernel %s: the stream belongs to another context", kernel->name);
    if (!status)
        status = check_shape(kernel, launch);
    if (!status)
        status = pass_arguments(kernel, launch, &passed);
    if (status)
        return status;
    pass_variables(kernel, &passed);
    return launch_and_charge(kernel, launch, stream, &passed);
}
