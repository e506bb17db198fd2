/* Divides each number by the sum of all numbers. After installing Leat (see the README), build and run it in this
 * folder:
 *
 *     cc share.c -o share $(pkg-config --cflags --libs leat) && ./share
 */
#include <leat.h>
#include <stdio.h>

int main(void) {
    leat_context *ctx;
    leat_array *a;
    double values[3] = {1, 2, 5};
    if (leat_open(NULL, &ctx) || leat_array_new(ctx, LEAT_F64, 1, (int64_t[]){3}, LEAT_MEMORY_DEVICE, &a) ||
        leat_array_write(a, values, sizeof values, NULL, NULL))
        return 1;
    leat_binding inputs[] = {{.name = "a", .kind = LEAT_VALUE_ARRAY, .array = a}, {0}};
    leat_binding results[] = {{.name = "y"}, {0}};
    if (leat_eval(ctx, "y[i] = a[i] / sum(k: a[k])", inputs, results)) {
        fputs(leat_error_text(ctx), stderr);
        return 1;
    }
    leat_array_read(results[0].array, values, sizeof values, NULL, NULL);
    printf("%g %g %g\n", values[0], values[1], values[2]); /* 0.125 0.25 0.625 */
    leat_array_free(results[0].array);
    leat_array_free(a);
    leat_close(ctx);
    return 0;
}
