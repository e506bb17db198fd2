/* Contractions of 16-bit floats on the CPU: whole operands are converted to f32 before the product, and a result of
 * 16-bit floats after it, by the vector machine. The converted arrays are dense, with the axes in the order in which
 * they lie in the arrays. */
#include "run/plan/contraction.h"
#include "run/plan/plan.h"
#include <stdlib.h>
#include <string.h>

struct le_conversion {
    struct le_contract_copy copy;
    struct le_launches launches;
    struct le_cpu_code *codes;
    size_t offset, size_bytes; /* of the converted array in the work memory */
};

struct axis_list {
    struct le_contract_axis *at[4 * LE_CONTRACT_AXES_MAX];
    int count;
};

/* The loops that the operand walks, those with the greatest strides first. */
static void list_axes(struct le_contract *c, enum le_contract_side side, int product, struct axis_list *out) {
    struct le_contract_axes *all[] = {&c->batch, &c->rows, &c->columns, &c->terms};
    out->count = 0;
    for (size_t a = 0; a < ARRAY_LEN(all); a++)
        for (int k = 0; k < all[a]->count; k++) {
            int64_t stride = llabs(le_contract_stride(&all[a]->at[k], side, product));
            int q = out->count;
            if (stride == 0)
                continue;
            for (; q > 0 && llabs(le_contract_stride(out->at[q - 1], side, product)) < stride; q--)
                out->at[q] = out->at[q - 1];
            out->at[q] = &all[a]->at[k];
            out->count++;
        }
}

/* Gives the loops the strides of a dense array of the same elements. false: it would have too many axes, or elements
 * twice, such as those of overlapping windows. */
static bool make_dense(struct le_contract *c, enum le_contract_side side, int product, struct le_contract_copy *copy) {
    struct le_contract_operand *operand = side == LE_SIDE_LEFT    ? &c->left[product]
                                          : side == LE_SIDE_RIGHT ? &c->right[product]
                                                                  : &c->target;
    struct axis_list axes;
    double span = 1;
    list_axes(c, side, product, &axes);
    *copy = (struct le_contract_copy){.is_used = true, .array = *operand, .elements = 1};
    if (axes.count > LEAT_RANK_MAX)
        return false;
    copy->axis_count = axes.count;
    for (int k = axes.count - 1; k >= 0; k--) {
        int64_t *stride = le_contract_stride_at(axes.at[k], side, product), count = axes.at[k]->count;
        copy->axes[k].count = count;
        copy->axes[k].array = *stride;
        copy->axes[k].copy = copy->elements;
        span += (double)(count - 1) * (double)llabs(*stride);
        *stride = copy->elements;
        if (!le_mul_i64(copy->elements, count, &copy->elements))
            return false;
    }
    *operand = (struct le_contract_operand){.value = operand->value};
    return (double)copy->elements <= span;
}

static leat_status generate(struct leat_call *call, const struct le_stage *stage, struct le_arena *arena,
                            const struct le_contract *c, bool back, struct le_conversion *conversion) {
    struct le_plan *plan = call->specialised->plan;
    struct le_kernel kernel =
        le_contract_copy_kernel(call->specialised->ir, &conversion->copy, back ? c->target_type : c->array_type,
                                back ? c->type : c->factor_type, back, stage->name, arena);
    kernel.threads = le_pool_threads(call->program->ctx->threads);
    leat_status status = le_kernel_generate(&kernel, &conversion->launches);
    conversion->codes = LE_NEW_ARRAY(arena, conversion->launches.count, struct le_cpu_code);
    for (int k = 0; k < conversion->launches.count && status == LEAT_OK; k++) {
        status =
            le_cpu_prepare(arena, conversion->launches.at[k].unit, call->program->ctx->simd, &conversion->codes[k]);
        if (conversion->codes[k].scratch_bytes > plan->scratch_bytes)
            plan->scratch_bytes = conversion->codes[k].scratch_bytes;
    }
    return status;
}

struct planning {
    struct leat_call *call;
    const struct le_stage *stage;
    struct le_arena *arena;
    struct le_contract *c;
    bool *can;
};

static leat_status add_conversion(const struct planning *p, enum le_contract_side side, int product,
                                  struct le_conversion **out) {
    struct le_conversion *made = LE_NEW(p->arena, struct le_conversion);
    size_t bytes;
    if (!make_dense(p->c, side, product, &made->copy)) {
        *p->can = false;
        return LEAT_OK;
    }
    if (!le_mul_size((size_t)made->copy.elements, le_type_size(side == LE_SIDE_TARGET ? p->c->type : p->c->factor_type),
                     &bytes) ||
        bytes > SIZE_MAX / 4 - p->c->conversion_bytes)
        return le_fail_out_of_memory(SIZE_MAX);
    made->offset = p->c->conversion_bytes;
    p->c->conversion_bytes += (bytes + 63) / 64 * 64;
    *out = made;
    return generate(p->call, p->stage, p->arena, p->c, side == LE_SIDE_TARGET, made);
}

leat_status le_contract_convert_plan(struct leat_call *call, const struct le_stage *stage, struct le_arena *arena,
                                     struct le_contract *c, bool *can) {
    const struct planning p = {call, stage, arena, c, can};
    leat_status status = LEAT_OK;
    *can = true;
    for (int k = 0; k < c->form.product_count && c->array_type != c->factor_type && *can && status == LEAT_OK; k++) {
        status = add_conversion(&p, LE_SIDE_LEFT, k, &c->left_conversion[k]);
        if (status == LEAT_OK && *can)
            status = add_conversion(&p, LE_SIDE_RIGHT, k, &c->right_conversion[k]);
    }
    if (c->target_type != c->type && *can && status == LEAT_OK)
        status = add_conversion(&p, LE_SIDE_TARGET, 0, &c->target_conversion);
    return status;
}

/* ---- running */

char *le_conversion_memory(const struct le_conversion *conversion, char *memory) {
    return memory + conversion->offset;
}

static leat_status run(struct leat_call *call, const struct le_conversion *conversion, bool back, char *memory) {
    struct le_specialised *s = call->specialised;
    char *converted = le_conversion_memory(conversion, memory);
    char *array =
        (char *)s->buffers[conversion->copy.array.value] + le_contract_offset_bytes(s, &conversion->copy.array);
    void *buffers[] = {back ? converted : array, back ? array : converted};
    leat_status status = LEAT_OK;
    for (int k = 0; k < conversion->launches.count && status == LEAT_OK; k++) {
        struct le_cpu_job job = le_job_of(call, &conversion->launches.at[k], &conversion->codes[k]);
        job.buffers = buffers;
        status = le_cpu_run(call->program->ctx->threads, &job);
    }
    return status;
}

leat_status le_contract_convert_before(struct leat_call *call, const struct le_contract *c, char *memory) {
    leat_status status = LEAT_OK;
    for (int k = 0; k < c->form.product_count && status == LEAT_OK; k++) {
        if (c->left_conversion[k])
            status = run(call, c->left_conversion[k], false, memory);
        if (c->right_conversion[k] && status == LEAT_OK)
            status = run(call, c->right_conversion[k], false, memory);
    }
    return status;
}

leat_status le_contract_convert_after(struct leat_call *call, const struct le_contract *c, char *memory) {
    return c->target_conversion ? run(call, c->target_conversion, true, memory) : LEAT_OK;
}
