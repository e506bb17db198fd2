/* Shared by the generator's tests: reads IR as text with the extents of its arrays, and sets up ranges and layouts. */
#ifndef LE_KERNEL_TESTING_H
#define LE_KERNEL_TESTING_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/text.h"
#include "gen/kernel.h"
#include "tests/ir/reader/ir_reader.h"
#include <stdlib.h>
#include <string.h>

static inline leat_status no_value(void *user, struct le_node *node, int64_t *value) {
    (void)user, (void)node, (void)value;
    return LEAT_MISSING;
}

/* "a 30 40 by 500 1, b 7": extents, and strides where they are not dense. Gives what stands behind the name. */
static inline const char *find_array(const char *arrays, const char *name) {
    size_t length = strlen(name);
    for (const char *at = arrays; at; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        if (strncmp(at, name, length) == 0 && at[length] == ' ')
            return at + length;
    }
    return NULL;
}

static inline int read_numbers(const char *at, int64_t *out) {
    char *end;
    int count = 0;
    for (; count < LEAT_RANK_MAX; count++, at = end) {
        int64_t number = strtoll(at, &end, 10);
        if (end == at)
            break;
        out[count] = number;
    }
    return count;
}

static inline int64_t hoisted_extent(const struct le_space *space, const struct le_value *v, int d) {
    return space->ranges[space->ir->stages.at[v->stage].left[d]->index].high;
}

static inline void set_layout(const struct le_space *space, const struct le_value *v, const char *arrays,
                              struct le_layout *out) {
    const char *given = v->stage < 0 ? find_array(arrays, v->name) : NULL;
    const char *by = given ? strstr(given, "by") : NULL, *comma = given ? strchr(given, ',') : NULL;
    int64_t stride = 1;
    for (int d = v->rank - 1; d >= 0; d--) {
        out->shape[d] = v->symbol >= 0 ? space->shape[v->symbol][d] : hoisted_extent(space, v, d);
        out->strides[d] = stride;
        stride *= out->shape[d];
    }
    if (by && (!comma || by < comma))
        read_numbers(by + 2, out->strides);
}

static inline void find_ranges(struct le_space *space, const char *arrays) {
    const struct le_ir *ir = space->ir;
    space->shape = le_arena_array(space->arena, (size_t)ir->tree->symbol_count, sizeof *space->shape);
    space->shaped = LE_NEW_ARRAY(space->arena, ir->tree->symbol_count, bool);
    space->ranges = LE_NEW_ARRAY(space->arena, ir->indices.count, struct le_range);
    for (int s = 0; s < ir->tree->symbol_count; s++) {
        const char *given = find_array(arrays, ir->tree->symbols[s]->name);
        space->shaped[s] = given && read_numbers(given, space->shape[s]) > 0;
    }
    for (int k = 0; k < ir->statements.count; k++)
        if (le_ranges_find(space, &ir->statements.at[k]) != LEAT_OK)
            fail_msg("%s", le_errors_text());
}

/* Everything a kernel needs but its stage. */
static inline void set_up_kernel(struct le_kernel *kernel, struct le_space *space, struct le_arena *arena,
                                 struct le_ir *ir, const char *arrays, int threads) {
    *space = (struct le_space){.ir = ir, .arena = arena, .evaluate = no_value};
    find_ranges(space, arrays);
    struct le_layout *layouts = LE_NEW_ARRAY(arena, ir->values.count, struct le_layout);
    for (int v = 0; v < ir->values.count; v++)
        set_layout(space, &ir->values.at[v], arrays, &layouts[v]);
    *kernel = (struct le_kernel){.ir = ir, .space = space, .layouts = layouts, .threads = threads, .arena = arena};
    kernel->work = LE_NEW(arena, struct le_kernel_work);
    le_kernel_work_init(kernel->work, arena);
}

/* The same of the text's IR, verified. */
static inline void set_up(struct le_kernel *kernel, struct le_space *space, struct le_arena *arena, const char *text,
                          const char *arrays, int threads) {
    struct le_ir *ir;
    if (le_ir_read(arena, text, strlen(text), &ir) != LEAT_OK || le_ir_verify(ir) != LEAT_OK)
        fail_msg("%s", le_errors_text());
    set_up_kernel(kernel, space, arena, ir, arrays, threads);
}
#endif
