/* Kernel launches. They are checked, copied with their arguments and enqueued here, and run later on sim's thread. What
 * a kernel prints goes to the standard output of the process, as with a real driver. Guarded by the state's lock. */
#include "base/memory.h"
#include "base/text.h"
#include "sim/driver/sim_function.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct sim_kernel {
    struct sim_grid grid;
    size_t buffer_bytes;
    unsigned char buffer[]; /* the parameters, at their offsets */
};

void le_sim_kernel_free(struct sim_kernel *kernel) {
    le_free(kernel);
}

const char *le_sim_kernel_name(const struct sim_kernel *kernel) {
    return kernel->grid.kernel->name;
}

uintptr_t le_sim_kernel_address(const struct sim_kernel *kernel, size_t k) {
    uintptr_t word;
    if ((k + 1) * sizeof word > kernel->buffer_bytes)
        return 0;
    memcpy(&word, kernel->buffer + k * sizeof word, sizeof word);
    return word ? word : 1; /* 1: not the address of any allocation */
}

static size_t parameter_bytes(const struct sim_item *item) {
    size_t size_bytes = 0;
    for (unsigned k = 0; k < item->parameter_count; k++) {
        size_t end = item->parameters[k].offset + (size_t)item->parameters[k].size_bytes;
        size_bytes = end > size_bytes ? end : size_bytes;
    }
    return size_bytes;
}

/* Checks as cuLaunchKernel does: first values that no kernel accepts, then values that this kernel does not accept. */
static le_cu_result check_shape(const struct sim_function *function, const struct sim_shape *shape) {
    static const unsigned block_max[3] = {1024, 1024, 64}, grid_max[3] = {2147483647, 65535, 65535};
    for (int k = 0; k < 3; k++)
        if (!shape->grid[k] || !shape->block[k] || shape->block[k] > block_max[k] || shape->grid[k] > grid_max[k])
            return LE_CU_ERROR_INVALID_VALUE;
    uint64_t threads = (uint64_t)shape->block[0] * shape->block[1] * shape->block[2];
    if (threads > SIM_BLOCK_THREADS || shape->shared_bytes > function->dynamic_max_bytes)
        return LE_CU_ERROR_INVALID_VALUE;
    if (function->item->max_threads && threads > function->item->max_threads)
        return LE_CU_ERROR_INVALID_VALUE;
    const unsigned *cluster = function->item->cluster;
    for (int k = 0; k < 3 && cluster[0]; k++)
        if (!cluster[k] || shape->grid[k] % cluster[k])
            return LE_CU_ERROR_INVALID_VALUE;
    if ((uint64_t)cluster[0] * cluster[1] * cluster[2] > SIM_CLUSTER_BLOCKS)
        return LE_CU_ERROR_INVALID_VALUE;
    if (threads > (uint64_t)le_sim_max_threads(function))
        return LE_CU_ERROR_LAUNCH_OUT_OF_RESOURCES;
    return LE_CU_SUCCESS;
}

static uint64_t volume(const unsigned extents[3]) {
    return (uint64_t)extents[0] * extents[1] * extents[2];
}

/* Parameters are given by an array of their addresses, or, in extra, as one buffer: {1, buffer, 2, &size, 0}. */
static le_cu_result parameters_copy(const struct sim_item *item, unsigned char *to, void **parameters, void **extra) {
    size_t size_bytes = parameter_bytes(item);
    if (!extra) {
        for (unsigned k = 0; k < item->parameter_count; k++) {
            if (!parameters || !parameters[k])
                return LE_CU_ERROR_INVALID_VALUE;
            memcpy(to + item->parameters[k].offset, parameters[k], item->parameters[k].size_bytes);
        }
        return LE_CU_SUCCESS;
    }
    const void *buffer = NULL;
    size_t given_bytes = 0;
    for (; *extra; extra += 2)
        if ((uintptr_t)*extra == 1)
            buffer = extra[1];
        else if ((uintptr_t)*extra == 2)
            given_bytes = *(const size_t *)extra[1];
        else
            return LE_CU_ERROR_INVALID_VALUE;
    if (parameters || given_bytes < size_bytes || (size_bytes && !buffer))
        return LE_CU_ERROR_INVALID_VALUE;
    memcpy(to, buffer, size_bytes);
    return LE_CU_SUCCESS;
}

static struct sim_op *kernel_new(const struct sim_function *function, const struct sim_shape *shape,
                                 size_t size_bytes) {
    struct sim_op *op = le_alloc_zero(1, sizeof *op);
    struct sim_kernel *kernel = le_alloc_zero(1, sizeof *kernel + size_bytes);
    if (!op || !kernel) {
        le_free(op);
        le_free(kernel);
        return NULL;
    }
    uint64_t blocks = volume(shape->grid), threads = volume(shape->block);
    const struct sim_settings *options = &le_sim_state()->options;
    int resident = options->multiprocessors * le_sim_resident_blocks(function, (int)threads, shape->shared_bytes);
    kernel->grid = (struct sim_grid){.module = function->loaded->module,
                                     .kernel = function->item,
                                     .dynamic_bytes = shape->shared_bytes,
                                     .buffer = kernel->buffer,
                                     .cooperative = shape->cooperative,
                                     .resident = (unsigned)resident};
    kernel->buffer_bytes = size_bytes;
    memcpy(kernel->grid.grid, shape->grid, sizeof shape->grid);
    memcpy(kernel->grid.block, shape->block, sizeof shape->block);
    op->kind = SIM_OP_KERNEL;
    op->kernel = kernel;
    op->engine = SIM_ENGINE_COMPUTE;
    op->lanes = blocks < SIM_LANES ? (int)blocks : SIM_LANES;
    op->duration_ns = options->kernel_ns ? options->kernel_ns : le_sim_kernel_ns(blocks, blocks * threads);
    return op;
}

le_cu_result le_sim_launch(le_cu_function handle, const struct sim_shape *shape, le_cu_stream stream_handle,
                           void **parameters, void **extra) {
    struct sim_state *state = le_sim_state();
    const struct sim_function *function = le_sim_function_of(handle);
    struct sim_stream *stream = le_sim_stream_of(stream_handle);
    if (!function || !stream)
        return LE_CU_ERROR_INVALID_HANDLE;
    le_cu_result result = check_shape(function, shape);
    if (result)
        return result;
    int resident = le_sim_resident_blocks(function, (int)volume(shape->block), shape->shared_bytes) *
                   state->options.multiprocessors;
    if (shape->cooperative && volume(shape->grid) > (uint64_t)resident)
        return LE_CU_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    if (le_sim_fault_now(&state->counts.launch, state->options.faults.launch))
        return LE_CU_ERROR_LAUNCH_FAILED;
    size_t size_bytes = parameter_bytes(function->item);
    struct sim_op *op = kernel_new(function, shape, size_bytes);
    if (!op)
        return LE_CU_ERROR_OUT_OF_MEMORY;
    result = parameters_copy(function->item, op->kernel->buffer, parameters, extra);
    if (result) {
        le_sim_op_free(op);
        return result;
    }
    return le_sim_enqueue(stream, op);
}

le_cu_result le_sim_launch_save(le_cu_function handle, const struct sim_shape *shape, void **parameters, void **extra,
                                struct sim_saved_launch **saved) {
    const struct sim_function *function = le_sim_function_of(handle);
    if (!function)
        return LE_CU_ERROR_INVALID_HANDLE;
    le_cu_result result = check_shape(function, shape);
    if (result)
        return result;
    size_t size_bytes = parameter_bytes(function->item);
    struct sim_saved_launch *made = le_alloc_zero(1, sizeof *made + size_bytes);
    if (!made)
        return LE_CU_ERROR_OUT_OF_MEMORY;
    made->function = handle;
    made->shape = *shape;
    made->buffer_bytes = size_bytes;
    result = parameters_copy(function->item, made->buffer, parameters, extra);
    if (result)
        le_free(made);
    else
        *saved = made;
    return result;
}

le_cu_result le_sim_LaunchKernel(le_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 le_cu_stream stream, void **parameters, void **extra) {
    struct sim_shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, false};
    le_cu_result result = le_sim_enter(SIM_CALL_LAUNCH);
    return result ? result : le_sim_leave(le_sim_launch(function, &shape, stream, parameters, extra));
}

le_cu_result le_sim_LaunchCooperativeKernel(le_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                            le_cu_stream stream, void **parameters) {
    struct sim_shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, true};
    le_cu_result result = le_sim_enter(SIM_CALL_LAUNCH);
    return result ? result : le_sim_leave(le_sim_launch(function, &shape, stream, parameters, NULL));
}

/* ---- running */

static void append_output(void *user, const char *text, size_t size_bytes) {
    le_text_add_bytes(user, text, size_bytes);
}

/* Flushes the host's streams first, so that earlier output of the host comes first. */
static void write_to_stdout(struct le_text *text) {
    if (text->length)
        fflush(NULL);
    for (size_t done = 0; done < text->length;) {
        ssize_t count = write(STDOUT_FILENO, text->at + done, text->length - done);
        if (count <= 0)
            break;
        done += (size_t)count;
    }
    le_text_finish(text);
}

static le_cu_result result_of_status(enum sim_grid_status status) {
    switch (status) {
    case SIM_GRID_OK:
    case SIM_GRID_CANCELED:
        return LE_CU_SUCCESS;
    case SIM_GRID_TRAP:
        return LE_CU_ERROR_LAUNCH_FAILED;
    case SIM_GRID_ASSERT:
        return LE_CU_ERROR_ASSERT;
    case SIM_GRID_ADDRESS:
        return LE_CU_ERROR_ILLEGAL_ADDRESS;
    case SIM_GRID_STACK:
        return LE_CU_ERROR_HARDWARE_STACK_ERROR;
    case SIM_GRID_MEMORY:
        return LE_CU_ERROR_LAUNCH_OUT_OF_RESOURCES;
    default:
        return LE_CU_ERROR_LAUNCH_TIMEOUT;
    }
}

void le_sim_kernel_skipped(const struct sim_state *state) {
    if (state->check)
        le_sim_check_assume_written(state->check);
}

/* An unchecked kernel runs without the lock, because it may wait for something that the host does. The operation stays
 * at the head of its stream. */
void le_sim_kernel_run(const struct sim_op *op) {
    struct sim_state *state = le_sim_state();
    struct sim_grid grid = op->kernel->grid;
    struct le_text printed = {0};
    bool check = state->check && le_sim_module_checking(grid.module);
    grid.seed = state->options.seed + op->number;
    grid.check = check ? state->check : NULL;
    grid.op = op->number;
    grid.tokens = &op->tokens;
    grid.stack_cache = &state->stack_cache;
    grid.print = append_output;
    grid.user = &printed;
    if (!state->check)
        pthread_mutex_unlock(&state->lock);
    enum sim_grid_status status = le_sim_grid_run(&grid);
    write_to_stdout(&printed);
    if (!state->check)
        pthread_mutex_lock(&state->lock);
    else if (!check || status == SIM_GRID_CANCELED) /* !check: its module was loaded before checking started */
        le_sim_kernel_skipped(state);
    le_cu_result result = result_of_status(status);
    if (le_sim_fault_now(&state->counts.kernel, state->options.faults.sticky_launch))
        result = LE_CU_ERROR_ILLEGAL_ADDRESS;
    if (result && !state->fatal)
        memcpy(state->failure, grid.message, sizeof state->failure);
    if (result)
        state->fatal = result;
}
