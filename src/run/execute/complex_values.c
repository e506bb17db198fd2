/* Complex numbers at the boundary of a run. The caller binds and requests complex values; the program that runs has
 * their real and imaginary parts (lang/complex_statements.c). A bound array becomes two views of real numbers in the
 * same memory, with twice the strides. A result is assembled by copying its parts into two such views of it, unless
 * kernels have computed them there. */
#include "run/device/device_run.h"
#include <string.h>

static leat_status view_part(leat_array *array, bool imaginary, leat_array **view) {
    leat_array *made;
    leat_status status = le_array_transpose(array, (const int[LEAT_RANK_MAX]){0, 1, 2, 3, 4, 5, 6, 7}, &made);
    if (status != LEAT_OK)
        return status;
    made->dtype = (leat_dtype)le_type_part((enum le_type)array->dtype);
    for (int k = 0; k < made->rank; k++)
        made->strides[k] *= 2;
    if (imaginary)
        made->data = (char *)made->data + leat_dtype_size_bytes(made->dtype);
    *view = made;
    return LEAT_OK;
}

/* ---- inputs */

static bool is_complex(const struct le_bind *bind) {
    enum le_type type = bind->kind == LE_BOUND_ARRAY ? (enum le_type)bind->array->dtype : bind->type;
    return bind->kind != LE_BOUND_NOT && le_type_is_complex(type);
}

static leat_status split_bind(const struct le_bind *from, struct le_bind *re, struct le_bind *im) {
    *re = *from;
    *im = (struct le_bind){.kind = from->kind == LE_BOUND_NOT ? LE_BOUND_NOT : LE_BOUND_NUMBER,
                           .type = LE_WEAK_FLOAT,
                           .bits = from->im_bits};
    if (!is_complex(from)) { /* a real number bound to a complex scalar */
        if (re->array)
            le_array_retain(re->array);
        return LEAT_OK;
    }
    if (from->kind == LE_BOUND_NUMBER) {
        re->type = LE_WEAK_FLOAT;
        return LEAT_OK;
    }
    re->array = NULL;
    im->kind = LE_BOUND_ARRAY;
    leat_status status = view_part(from->array, false, &re->array);
    return status == LEAT_OK ? view_part(from->array, true, &im->array) : status;
}

void le_complex_unbind(struct le_specialised *s) {
    if (s->tree == s->typed || !s->bound)
        return;
    for (int k = 0; k < s->tree->symbol_count; k++) {
        le_array_free(s->bound[k].array);
        s->bound[k] = (struct le_bind){0};
    }
}

leat_status le_complex_bind(struct leat_call *call) {
    struct le_specialised *s = call->specialised;
    struct le_bind *given = call->device ? call->device->binds : call->binds;
    leat_status status = LEAT_OK;
    if (s->tree == s->typed) {
        s->bound = given;
        return LEAT_OK;
    }
    le_complex_unbind(s);
    for (int k = 0; k < s->typed->symbol_count && status == LEAT_OK; k++) {
        const struct le_symbol *imaginary = s->tree->symbols[k]->imaginary;
        s->bound[k] = given[k];
        if (imaginary)
            status = split_bind(&given[k], &s->bound[k], &s->bound[imaginary->id]);
        else if (s->bound[k].array)
            le_array_retain(s->bound[k].array);
    }
    return status;
}

void le_complex_forget(struct le_specialised *s, int symbol) {
    const struct le_symbol *imaginary = s->tree->symbols[symbol]->imaginary;
    int value = imaginary ? s->ir->first[imaginary->id] : -1;
    le_complex_unbind(s);
    if (value < 0)
        return;
    le_array_free(s->cells[value].array);
    s->cells[value].array = NULL;
}

/* ---- results */

bool le_is_complex_result(const struct le_specialised *s, int symbol) {
    return le_type_is_complex(s->typed->symbols[symbol]->type);
}

static leat_status copy_part(struct leat_call *call, const leat_array *target, int value) {
    const struct le_specialised *s = call->specialised;
    const struct le_cell *cell = &s->cells[value];
    const char *name = s->ir->values.at[value].name;
    return cell->array ? le_call_copy(call, target, cell->array, name, "a part of complex numbers")
                       : le_call_store(call, target, cell, name);
}

static struct le_want *want_of(struct leat_call *call, int value) {
    const struct le_specialised *s = call->specialised;
    for (int k = 0; k < call->want_count; k++)
        if (s->ir->last[call->wants[k].symbol] == value)
            return &call->wants[k];
    return NULL;
}

/* Whether kernels can write the parts into the want's target. */
static bool takes_parts(const struct leat_call *call, const struct le_want *w, const int64_t *shape) {
    return w && w->target && call->wants_placed && le_array_is_contiguous(w->target) &&
           le_device_can_write(w->target) && !le_result_is_bound(call, w->target) &&
           memcmp(shape, w->target->shape, (size_t)w->target->rank * sizeof *shape) == 0;
}

leat_status le_complex_part_new(struct leat_call *call, int value, leat_array **array) {
    struct le_specialised *s = call->specialised;
    const int other = s->plan->other_part[value];
    const struct le_value *v = &s->ir->values.at[value];
    const int64_t *shape = s->plan->layouts[value].shape;
    struct le_want *of_value = want_of(call, value), *w = of_value ? of_value : want_of(call, other);
    leat_array *whole = takes_parts(call, w, shape) ? le_array_retain(w->target) : NULL, *beside = NULL;
    leat_status status = LEAT_OK;
    if (!whole)
        status = le_array_new_at(&call->home, LEAT_MEMORY_DEVICE, v->type == LE_F64 ? LEAT_C128 : LEAT_C64, v->rank,
                                 shape, false, &whole);
    if (status == LEAT_OK)
        status = view_part(whole, of_value == NULL, array);
    if (status == LEAT_OK)
        status = view_part(whole, of_value != NULL, &beside);
    le_array_free(whole);
    if (status != LEAT_OK)
        return status;
    le_array_free(s->cells[other].wanted);
    s->cells[other].wanted = beside;
    return LEAT_OK;
}

/* The array of complex numbers that both parts have been computed in; NULL: there is none, or it is not the target. */
static leat_array *computed_whole(const struct le_specialised *s, const struct le_want *w, const int *values) {
    leat_array *re = s->cells[values[0]].array, *whole;
    const leat_array *im = s->cells[values[1]].array;
    if (!re || !im || s->plan->other_part[values[0]] != values[1] || re->buffer != im->buffer ||
        (char *)im->data != (char *)re->data + leat_dtype_size_bytes(re->dtype))
        return NULL;
    if (w->target)
        return w->target->buffer == re->buffer && w->target->data == re->data ? le_array_retain(w->target) : NULL;
    if (le_array_transpose(re, (const int[LEAT_RANK_MAX]){0, 1, 2, 3, 4, 5, 6, 7}, &whole) != LEAT_OK) {
        le_errors_clear();
        return NULL;
    }
    whole->dtype = re->dtype == LEAT_F64 ? LEAT_C128 : LEAT_C64;
    for (int k = 0; k < whole->rank; k++)
        whole->strides[k] /= 2;
    return whole;
}

/* The target may be the array of an input. By now everything else that reads this array has been copied, except this
 * result's own parts. */
leat_status le_complex_deliver(struct leat_call *call, struct le_want *w) {
    struct le_specialised *s = call->specialised;
    const struct le_symbol *symbol = s->tree->symbols[w->symbol];
    int values[] = {s->ir->last[symbol->id], s->ir->last[symbol->imaginary->id]};
    const leat_array *like = s->cells[values[0]].array;
    leat_status status = LEAT_OK;
    if (w->target && like)
        status = le_call_check_shape(symbol->name, like, w->target);
    if (status)
        return status;
    w->result = computed_whole(s, w, values);
    if (w->result)
        return LEAT_OK;
    if (w->target)
        w->result = le_array_retain(w->target);
    else
        status = le_array_new_at(&call->home, LEAT_MEMORY_DEVICE,
                                 (leat_dtype)le_type_strong(s->typed->symbols[w->symbol]->type), like ? like->rank : 0,
                                 like ? like->shape : NULL, false, &w->result);
    for (int part = 0; part < 2 && status == LEAT_OK; part++) {
        leat_array *view;
        status = view_part(w->result, part == 1, &view);
        if (status != LEAT_OK)
            break;
        status = copy_part(call, view, values[part]);
        le_array_free(view);
    }
    return status;
}
