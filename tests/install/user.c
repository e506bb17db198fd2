/* What a user's first program looks like; built against the installed tree, as C and as C++. Prints the extent, the
 * three results and the version. */
#include <leat.h>
#include <stdio.h>

int main(void) {
    leat_context *ctx = NULL;
    leat_program *program = NULL;
    leat_call *call = NULL;
    leat_array *a = NULL, *y = NULL;
    const double values[3] = {1.0, 2.0, 6.0};
    double results[3] = {0, 0, 0};
    int64_t shape[1] = {3};
    leat_error error;
    if (leat_open(NULL, &ctx) || leat_program_new(ctx, "y[i] = a[i] / mean(k: a[k])", 0, NULL, &program) ||
        leat_call_new(program, &call) || leat_array_new(ctx, LEAT_F64, 1, shape, LEAT_MEMORY_DEVICE, &a) ||
        leat_array_write(a, values, sizeof values, NULL, NULL) || leat_call_set_array(call, "a", a) ||
        leat_call_run(call, NULL, NULL) || leat_call_result(call, "y", &y) ||
        leat_array_read(y, results, sizeof results, NULL, NULL)) {
        leat_error_get(ctx, &error);
        fprintf(stderr, "user: %s\n", error.message);
        return 1;
    }
    printf("%d %g %g %g %s\n", (int)shape[0], results[0], results[1], results[2], leat_version());
    leat_array_free(y);
    leat_array_free(a);
    leat_call_free(call);
    leat_program_free(program);
    leat_close(ctx);
    return 0;
}
