/* See device_run.h: CONTRACT stages that a device's library computes, because they are large enough and the library can
 * read their operands in place, or copies of them in another order. Kernels compute all others. Kernels also compute a
 * stage if at run time a factor is 0 or not on the host: a library does not read what it multiplies by zero, although
 * that may be a NaN. Products of complex arrays are two stages, one for each part, and one call of the library if each
 * array has its parts side by side. */
#include "base/text.h"
#include "run/plan/contraction.h"
#include "run/device/device_run.h"
#include <limits.h>

/* Multiply-adds of 256 x 256 x 128. Smaller stages take our kernels a few microseconds, so loading a library of half a
 * GB would not pay. Extents, layouts, types and the device decide, not what ran before: results do not depend on that.
 */
#define WORK_MIN ((int64_t)1 << 23)

/* Multiply-adds of 512 x 512 x 512. From here on the library is always used for operands in place. */
#define LARGE_WORK ((int64_t)1 << 27)

/* An operand that is copied in another order. The target's copy is written first, and then the target. */
struct copied_operand {
    struct le_permutation *in, *out; /* out: of the target; in NULL: the copy need not be filled */
    size_t size_bytes;               /* 0: the operand is used in place */
    struct le_allocation *memory;    /* while the stage is enqueued */
};

struct le_device_contract {
    struct le_contract c;
    bool tf32;
    bool is_complex; /* it computes the imaginary part, too, which is the target of the next action */
    int64_t calls;   /* library calls for each product */
    struct le_contract_copies copies;
    struct copied_operand left[LE_TERMS_MAX], right[LE_TERMS_MAX], target;
};

/* ---- planning */

/* Multiply-adds of a real product; of a product of complex numbers, those of one part. */
static double work_of(const struct le_contract *c) {
    return (double)c->batch.total * (double)c->rows.total * (double)c->columns.total * (double)c->terms.total *
           (le_type_is_complex(c->array_type) ? 2 : c->form.product_count);
}

static bool pays_library(const struct le_contract *c) {
    return work_of(c) >= (double)WORK_MIN && work_of(c) < 4e18;
}

/* The library runs the innermost loop of the batch; we run the loops around it. */
static void count_calls(struct le_device_contract *d) {
    d->calls = 1;
    for (int k = 0; k < d->c.batch.count - 1; k++)
        d->calls *= d->c.batch.at[k].count;
}

static bool is_const_zero(const struct le_node *node) {
    return node && node->kind == LE_NODE_CONST && (node->bits << 1) == 0;
}

static bool has_const_zero(const struct le_contraction *said) {
    bool zero = is_const_zero(said->kept_scale);
    for (int k = 0; k < said->product_count; k++)
        zero |= is_const_zero(said->products[k].scale);
    return zero;
}

/* ---- complex arrays, whose parts lie side by side: a real part is y = a.re * b.re - a.im * b.im */

static bool are_parts(const struct leat_call *call, const struct le_contract_operand *re,
                      const struct le_contract_operand *im) {
    bool is_imaginary;
    return re->offset % 2 == 0 && re->offset == im->offset && re->host_count == 0 && im->host_count == 0 &&
           le_device_other_part(call, re->value, &is_imaginary) == im->value && !is_imaginary;
}

/* Whether the contraction has two products without factors whose operands have the same strides, all of them even. */
static bool walks_pairs(const struct le_contract *c) {
    const struct le_contract_axes *all[] = {&c->batch, &c->rows, &c->columns, &c->terms};
    bool does = c->form.product_count == 2 && !c->form.kept && !c->form.products[0].scale && !c->form.products[1].scale;
    for (size_t a = 0; a < ARRAY_LEN(all); a++)
        for (int k = 0; k < all[a]->count && does; k++) {
            const struct le_contract_axis *axis = &all[a]->at[k];
            does = axis->left[0] == axis->left[1] && axis->right[0] == axis->right[1] && axis->left[0] % 2 == 0 &&
                   axis->right[0] % 2 == 0 && axis->target % 2 == 0;
        }
    return does;
}

static bool same_loops(const struct le_contract_axes *a, const struct le_contract_axes *b) {
    bool same = a->count == b->count;
    for (int k = 0; k < a->count && same; k++)
        same = a->at[k].count == b->at[k].count && a->at[k].left[0] == b->at[k].left[0] &&
               a->at[k].right[0] == b->at[k].right[0] && a->at[k].target == b->at[k].target;
    return same;
}

/* Whether im computes the imaginary part of what re computes the real part of; product `of_re` of re is that of the
 * real parts. */
static bool is_complex(const struct leat_call *call, const struct le_contract *re, const struct le_contract *im,
                       int of_re) {
    const int of_im = 1 - of_re, k = im->left[0].value == re->left[of_re].value ? 0 : 1;
    return walks_pairs(re) && walks_pairs(im) && !re->form.products[of_re].negative &&
           re->form.products[of_im].negative && !im->form.products[0].negative && !im->form.products[1].negative &&
           are_parts(call, &re->left[of_re], &re->left[of_im]) &&
           are_parts(call, &re->right[of_re], &re->right[of_im]) && are_parts(call, &re->target, &im->target) &&
           im->left[k].value == re->left[of_re].value && im->right[k].value == re->right[of_im].value &&
           im->left[1 - k].value == re->left[of_im].value && im->right[1 - k].value == re->right[of_re].value &&
           same_loops(&re->batch, &im->batch) && same_loops(&re->rows, &im->rows) &&
           same_loops(&re->columns, &im->columns) && same_loops(&re->terms, &im->terms);
}

/* Copies move elements of at most 8 bytes. */
static bool has_copies(const struct le_contract_copies *copies) {
    return copies->left[0].is_used || copies->right[0].is_used || copies->target.is_used;
}

/* One product of complex numbers of the two for the real part. */
static void make_complex(struct le_contract *c, int of_re) {
    struct le_contract_axes *all[] = {&c->batch, &c->rows, &c->columns, &c->terms};
    c->left[0] = c->left[of_re];
    c->right[0] = c->right[of_re];
    c->form.products[0] = c->form.products[of_re];
    c->form.product_count = 1;
    c->array_type = c->target_type = c->type == LE_F64 ? LE_C128 : LE_C64;
    for (size_t a = 0; a < ARRAY_LEN(all); a++)
        for (int k = 0; k < all[a]->count; k++) {
            all[a]->at[k].left[0] /= 2;
            all[a]->at[k].right[0] /= 2;
            all[a]->at[k].target /= 2;
        }
}

static bool can_contract(struct leat_call *call, const struct le_stage *stage, struct le_arena *arena,
                         struct le_device_contract *d) {
    struct le_contract *c = &d->c;
    return le_contract_analyse(call->specialised, stage, arena, c) && (c->type == LE_F32 || c->type == LE_F64) &&
           pays_library(c) && !has_const_zero(&c->form) && le_contract_arrange(c, &d->copies);
}

static leat_status plan_copy(struct leat_call *call, struct le_plan_step *g, const struct le_action *action,
                             const struct le_contract_copy *copy, struct copied_operand *out) {
    const struct le_device_contract *d = action->device->contract;
    const bool is_target = out == &d->target;
    const enum le_type type = is_target ? d->c.target_type : d->c.array_type;
    leat_status status = LEAT_OK;
    if (!copy->is_used)
        return LEAT_OK;
    if (!le_mul_size((size_t)copy->elements, le_type_size(type), &out->size_bytes))
        return le_fail_out_of_memory(SIZE_MAX);
    if (!is_target || d->c.form.kept)
        status = le_permutation_new(call, g, copy, type, false, action->stage->name, &out->in);
    if (is_target && status == LEAT_OK)
        status = le_permutation_new(call, g, copy, type, true, action->stage->name, &out->out);
    return status;
}

static leat_status plan_copies(struct leat_call *call, struct le_plan_step *g, const struct le_action *action) {
    struct le_device_contract *d = action->device->contract;
    leat_status status = plan_copy(call, g, action, &d->copies.target, &d->target);
    for (int k = 0; k < d->c.form.product_count && status == LEAT_OK; k++) {
        status = plan_copy(call, g, action, &d->copies.left[k], &d->left[k]);
        if (status == LEAT_OK)
            status = plan_copy(call, g, action, &d->copies.right[k], &d->right[k]);
    }
    return status;
}

void le_device_contract_finish(struct le_device_contract *d) {
    for (int k = 0; d && k < d->c.form.product_count; k++) {
        le_permutation_finish(d->left[k].in);
        le_permutation_finish(d->right[k].in);
    }
    if (d) {
        le_permutation_finish(d->target.in);
        le_permutation_finish(d->target.out);
    }
}

/* What is small, copied or takes several calls must be faster than our own kernels are predicted to be. The mappings'
 * models know little of operands in any order, so for large ones the larger prediction counts. The kernels of both
 * parts of a complex product take as long as each other. */
static leat_status is_faster(struct leat_call *call, struct le_plan_step *g, const struct le_action *action,
                             const struct le_device_contract *d, bool *faster) {
    const bool is_large = work_of(&d->c) >= (double)LARGE_WORK;
    double predicted;
    *faster = is_large && (d->copies.is_plain || d->copies.seconds < le_contract_our_seconds(&d->c));
    if (*faster)
        return LEAT_OK;
    leat_status status = le_device_predict(call, g, action, &predicted);
    *faster = status == LEAT_OK && d->copies.seconds < (d->is_complex ? 2 : 1) * predicted;
    return status;
}

static leat_status use(struct leat_call *call, struct le_plan_step *g, struct le_action *action,
                       struct le_device_contract *d) {
    count_calls(d);
    d->tf32 = call->program->ctx->tf32 && d->c.array_type == LE_F32;
    action->device->contract = d;
    action->operations = (d->is_complex ? 8 : 2) * (uint64_t)d->c.form.product_count *
                         (uint64_t)(d->c.batch.total * d->c.rows.total * d->c.columns.total * d->c.terms.total);
    return plan_copies(call, g, action);
}

/* The product of complex arrays of which the action before computes the real part and this one the imaginary part;
 * false: they do not, or the library cannot compute it. */
static bool find_complex(struct leat_call *call, struct le_plan_step *g, const struct le_action *action,
                         struct le_device_contract *d) {
    const struct le_plan *plan = call->specialised->plan;
    const struct le_action *before = action - 1;
    struct le_contract im = {.type = LE_NONE};
    if (action == plan->actions || g->inside || g->arena != &plan->arena || plan->done > before - plan->actions ||
        !before->device || before->joined_to || before->device->also_count || action->storage != LE_STORAGE_NEW ||
        before->storage != LE_STORAGE_NEW || before->generated->kind != LE_STAGE_CONTRACT ||
        !le_contract_analyse(call->specialised, before->stage, g->arena, &d->c) ||
        !le_contract_analyse(call->specialised, action->stage, g->arena, &im))
        return false;
    const int of_re = d->c.form.products[0].negative;
    if ((d->c.type != LE_F32 && d->c.type != LE_F64) || !pays_library(&d->c) || !is_complex(call, &d->c, &im, of_re))
        return false;
    make_complex(&d->c, of_re);
    d->is_complex = le_contract_arrange(&d->c, &d->copies) && !(d->c.array_type == LE_C128 && has_copies(&d->copies));
    return d->is_complex;
}

/* The library's product, unless it is not faster or this machine has no library. */
static leat_status use_if_faster(struct leat_call *call, struct le_plan_step *g, const struct le_action *action,
                                 struct le_device_contract *d, bool *used) {
    leat_status status = is_faster(call, g, action, d, used);
    if (status != LEAT_OK || !*used)
        return status;
    status = le_device_product_open(call->home.device);
    if (status == LEAT_UNSUPPORTED) { /* kernels compute it */
        le_errors_clear();
        *used = false;
        return LEAT_OK;
    }
    return status;
}

/* If the library computes a product of complex arrays, the action before, which computes the real part, is planned anew
 * to compute both. */
static leat_status join_parts(struct leat_call *call, struct le_plan_step *g, struct le_action *action, bool *joined) {
    struct le_action *before = action - 1;
    struct le_device_contract *d = LE_NEW(g->arena, struct le_device_contract);
    *joined = find_complex(call, g, action, d);
    leat_status status = *joined ? use_if_faster(call, g, action, d, joined) : LEAT_OK;
    if (status != LEAT_OK || !*joined)
        return status;
    le_device_work_finish(before);
    before->device = LE_NEW(g->arena, struct le_device_work);
    before->device->also[before->device->also_count++] = action;
    action->joined_to = before;
    return use(call, g, before, d);
}

leat_status le_device_contract_plan(struct leat_call *call, struct le_plan_step *g, struct le_action *action) {
    struct le_device_contract *d = LE_NEW(g->arena, struct le_device_contract);
    if (action->generated->kind != LE_STAGE_CONTRACT)
        return LEAT_OK;
    bool used;
    leat_status status = join_parts(call, g, action, &used);
    if (status != LEAT_OK || used || !can_contract(call, action->stage, g->arena, d))
        return status;
    status = use_if_faster(call, g, action, d, &used);
    return status == LEAT_OK && used ? use(call, g, action, d) : status;
}

static bool is_load(const struct le_node *node) {
    return node && node->kind == LE_NODE_LOAD;
}

bool le_device_contract_is_sure(const struct le_device_contract *d) {
    const struct le_contraction *said = &d->c.form;
    bool load = is_load(said->kept_scale);
    for (int k = 0; k < said->product_count; k++)
        load |= is_load(said->products[k].scale);
    return !load;
}

void le_device_contract_show(const struct le_device_contract *d, struct le_text *out) {
    const struct le_contract *c = &d->c;
    le_text_add(out, "   cuBLAS: %lld x %lld x %lld", (long long)c->rows.total, (long long)c->columns.total,
                (long long)c->terms.total);
    if (c->batch.total > 1)
        le_text_add(out, ", %lld times", (long long)c->batch.total);
    if (c->form.product_count > 1)
        le_text_add(out, ", %d products", c->form.product_count);
    if (d->is_complex)
        le_text_add(out, ", of complex numbers");
    if (d->tf32)
        le_text_add(out, ", TF32");
    if (d->calls > 1)
        le_text_add(out, " in %lld calls", (long long)d->calls);
    le_text_add(out, le_device_contract_is_sure(d) ? "\n" : "; if a factor is 0 or not on the host, instead:\n");
    for (int k = 0; k < c->form.product_count; k++) {
        le_permutation_show(d->left[k].in, "before it, the left factor", out);
        le_permutation_show(d->right[k].in, "before it, the right factor", out);
    }
    le_permutation_show(d->target.in, "before it, the old values", out);
    le_permutation_show(d->target.out, "after it, the result", out);
}

/* ---- running */

static bool is_at_hand(const struct le_specialised *s, const struct le_node *node) {
    return !is_load(node) || !s->cells[node->value].on_device.address;
}

bool le_device_contract_can_run(const struct leat_call *call, const struct le_device_contract *d) {
    const struct le_specialised *s = call->specialised;
    const struct le_contraction *said = &d->c.form;
    bool can = is_at_hand(s, said->kept_scale) &&
               (!is_load(said->kept_scale) || le_contract_factor(s, said->kept_scale, false) != 0);
    for (int k = 0; k < said->product_count && can; k++) {
        const struct le_node *scale = said->products[k].scale;
        can = is_at_hand(s, scale) && (!is_load(scale) || le_contract_factor(s, scale, false) != 0);
    }
    return can;
}

/* Copies the kept old values into the target if they are not there yet: a target that is written completely does not
 * start as a copy of its base, nor does a part. */
static leat_status bring_kept(struct leat_call *call, const struct le_action *action, const struct le_contract *c,
                              const leat_array *target) {
    if (!c->form.kept)
        return LEAT_OK;
    const leat_array *kept = le_device_array_of(call, action, c->kept.value, false);
    if (le_device_address(kept) == le_device_address(target) || !(action->writes_all || call->specialised->part))
        return LEAT_OK;
    return le_call_copy(call, target, kept, action->stage->name, "its initial value");
}

static int64_t outer_offset(const struct le_contract_axes *batch, int64_t at, const int64_t *strides) {
    int64_t offset = 0;
    for (int k = batch->count - 2; k >= 0; k--) {
        offset += at % batch->at[k].count * strides[k];
        at /= batch->at[k].count;
    }
    return offset;
}

/* ---- copies */

static struct le_strided_memory memory_of(const struct leat_call *call, const struct le_action *action,
                                          const struct le_contract_operand *operand, bool target) {
    const leat_array *array = le_device_array_of(call, action, operand->value, target);
    int64_t offset = le_contract_offset_bytes(call->specialised, operand);
    return (struct le_strided_memory){array->buffer->allocation, le_device_address(array) + (uint64_t)offset};
}

static struct le_strided_memory copy_memory(const struct copied_operand *copied) {
    return (struct le_strided_memory){copied->memory, copied->memory->address};
}

/* Allocates the copy, and fills it unless it is only written. */
static leat_status begin_copy(struct leat_call *call, const struct le_action *action,
                              const struct le_contract_copy *copy, struct copied_operand *copied) {
    if (!copy->is_used)
        return LEAT_OK;
    leat_status status =
        le_allocation_new(call->home.device, LE_MEMORY_DEVICE, copied->size_bytes, call->home.stream, &copied->memory);
    if (status != LEAT_OK || !copied->in)
        return status;
    const struct le_strided_memory from = memory_of(call, action, &copy->array, copied->out != NULL),
                                   to = copy_memory(copied);
    return le_permutation_run(call, copied->in, &from, &to);
}

static leat_status begin_copies(struct leat_call *call, const struct le_action *action) {
    struct le_device_contract *d = action->device->contract;
    leat_status status = begin_copy(call, action, &d->copies.target, &d->target);
    for (int k = 0; k < d->c.form.product_count && status == LEAT_OK; k++) {
        status = begin_copy(call, action, &d->copies.left[k], &d->left[k]);
        if (status == LEAT_OK)
            status = begin_copy(call, action, &d->copies.right[k], &d->right[k]);
    }
    return status;
}

static void free_copy(struct copied_operand *copied) {
    le_allocation_free(copied->memory);
    copied->memory = NULL;
}

/* Copies the result to the target, and frees the copies after the work that uses them. */
static leat_status end_copies(struct leat_call *call, const struct le_action *action, leat_status status) {
    struct le_device_contract *d = action->device->contract;
    if (status == LEAT_OK && d->target.out) {
        const struct le_strided_memory from = copy_memory(&d->target),
                                       to = memory_of(call, action, &d->copies.target.array, true);
        status = le_permutation_run(call, d->target.out, &from, &to);
    }
    for (int k = 0; k < d->c.form.product_count; k++) {
        free_copy(&d->left[k]);
        free_copy(&d->right[k]);
    }
    free_copy(&d->target);
    return status;
}

/* ---- products */

/* The operand of a product in library call `number`. */
static struct le_matrix matrix_of(const struct leat_call *call, const struct le_action *action,
                                  enum le_contract_side side, int product, int64_t number) {
    const struct le_device_contract *d = action->device->contract;
    const struct le_contract_operand *operand = side == LE_SIDE_LEFT    ? &d->c.left[product]
                                                : side == LE_SIDE_RIGHT ? &d->c.right[product]
                                                                        : &d->c.target;
    const struct copied_operand *copied = side == LE_SIDE_LEFT    ? &d->left[product]
                                          : side == LE_SIDE_RIGHT ? &d->right[product]
                                                                  : &d->target;
    const struct le_contract_axes *batch = &d->c.batch;
    const struct le_strided_memory memory =
        copied->memory ? copy_memory(copied) : memory_of(call, action, operand, side == LE_SIDE_TARGET);
    int64_t strides[LE_CONTRACT_AXES_MAX] = {0};
    for (int k = 0; k < batch->count; k++)
        strides[k] = le_contract_stride(&batch->at[k], side, product);
    const enum le_type type = side == LE_SIDE_TARGET ? d->c.target_type : d->c.array_type;
    int64_t offset = outer_offset(batch, number, strides) * (int64_t)le_type_size(type);
    return (struct le_matrix){.allocation = memory.allocation,
                              .address = memory.address + (uint64_t)offset,
                              .batch_stride = batch->count ? strides[batch->count - 1] : 0};
}

static void set_view(struct le_matrix *matrix, const struct le_contract_view *view) {
    matrix->transposed = view->transposed == LE_BLAS_TRANSPOSED;
    matrix->stride = view->stride;
}

static leat_status multiply_batch(struct leat_call *call, const struct le_action *action, int k, int64_t number) {
    const struct le_contract *c = &action->device->contract->c;
    const struct le_specialised *s = call->specialised;
    struct le_product p = {.dtype = (leat_dtype)c->array_type,
                           .target_dtype = (leat_dtype)c->target_type,
                           .tf32 = action->device->contract->tf32,
                           .rows = (int)c->rows.total,
                           .columns = (int)c->columns.total,
                           .terms = (int)c->terms.total,
                           .batch = c->batch.count ? (int)c->batch.at[c->batch.count - 1].count : 1,
                           .left = matrix_of(call, action, LE_SIDE_LEFT, k, number),
                           .right = matrix_of(call, action, LE_SIDE_RIGHT, k, number),
                           .target = matrix_of(call, action, LE_SIDE_TARGET, k, number),
                           .what = action->stage->name};
    set_view(&p.left, &c->left_view[k]);
    set_view(&p.right, &c->right_view[k]);
    p.target.stride = (int)(c->rows.count ? c->rows.at[0].target : c->columns.total);
    p.scale = le_contract_factor(s, c->form.products[k].scale, c->form.products[k].negative);
    p.kept = k > 0 ? 1 : c->form.kept ? le_contract_factor(s, c->form.kept_scale, c->form.kept_negative) : 0;
    return le_device_product(call->home.stream, &p);
}

leat_status le_device_contract_run(struct leat_call *call, const struct le_action *action) {
    const struct le_device_contract *d = action->device->contract;
    const leat_array *target = le_device_array_of(call, action, d->c.target.value, true);
    leat_status status = bring_kept(call, action, &d->c, target);
    if (status == LEAT_OK)
        status = begin_copies(call, action);
    for (int64_t number = 0; number < d->calls && status == LEAT_OK; number++)
        for (int k = 0; k < d->c.form.product_count && status == LEAT_OK; k++)
            status = multiply_batch(call, action, k, number);
    return end_copies(call, action, status);
}
