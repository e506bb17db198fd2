/* Puts the inputs into their cells: arrays as they are, scalars converted to the type that the program uses. */
#include "lang/literal.h"
#include "run/device/device_run.h"
#include <stdio.h>
#include <string.h>

/* Converts a number to the type that the program declares for it. */
static leat_status convert_number(struct leat_call *call, const char *name, enum le_type from, enum le_type to,
                                  uint64_t *bits) {
    struct le_instr cast = {.code = LE_CODE_CAST, .type = (uint8_t)from, .type2 = (uint8_t)to, .d = 0, .a = 1};
    struct le_instr back = {.code = LE_CODE_CAST, .type = (uint8_t)to, .type2 = (uint8_t)from, .d = 0, .a = 1};
    cast.b = cast.c = cast.e = back.b = back.c = back.e = LE_NO_REG;
    if (from == to)
        return LEAT_OK;
    if (le_type_is_int(to) && le_type_is_float(from)) {
        char advice[120];
        snprintf(advice, sizeof advice, "declare %.40s as %s, or bind an integer", name, le_type_name(from));
        return le_fail_at(LEAT_MISMATCH, (struct le_location){0}, advice, "'%s' is %s, but is declared %s", name,
                          le_type_name(from), le_type_name(to));
    }
    uint64_t result = 0, again = 0;
    le_cpu_op_find(call->program->ctx->simd, &cast)((void *[]){&result, bits}, &cast, 1);
    le_cpu_op_find(call->program->ctx->simd, &back)((void *[]){&again, &result}, &back, 1);
    bool negative = le_type_is_int(from) && from != LE_U64 && (int64_t)*bits < 0;
    if (le_type_is_int(to) && (again != *bits || (negative && le_type_is_unsigned(to))))
        return le_fail(LEAT_MISMATCH, "the number bound to '%s' is out of range for %s", name, le_type_name(to));
    *bits = result;
    return LEAT_OK;
}

static leat_status bind_scalar(struct leat_call *call, int symbol, struct le_cell *cell) {
    struct le_specialised *s = call->specialised;
    const struct le_bind *b = &s->bound[symbol];
    const struct le_symbol *sym = s->tree->symbols[symbol];
    enum le_type from = b->kind == LE_BOUND_ARRAY ? (enum le_type)b->array->dtype : le_type_strong(b->type);
    bool bound = false;
    leat_status status = call->device ? le_device_bind_scalar(call, symbol, cell, &bound) : LEAT_OK;
    if (status != LEAT_OK || bound)
        return status;
    cell->scalar = b->bits;
    if (cell->on_device.address) {
        status = le_device_fetch(call, s->ir->first[symbol]);
    } else if (b->kind == LE_BOUND_ARRAY) {
        cell->scalar = 0;
        memcpy(&cell->scalar, b->array->data, leat_dtype_size_bytes(b->array->dtype));
    }
    return status ? status : convert_number(call, sym->name, from, le_type_strong(sym->type), &cell->scalar);
}

/* A number that does not widen the type of an operation must be in that type's range, like a literal. */
static leat_status check_fits(struct leat_call *call) {
    const struct le_specialised *s = call->specialised;
    for (int k = 0; k < s->tree->fit_count; k++) {
        const struct le_fit *fit = &s->tree->fits[k];
        const char *name = s->tree->symbols[fit->symbol]->name;
        struct le_literal number = le_literal_of_i64((int64_t)call->binds[fit->symbol].bits);
        number = le_literal_signed(number, fit->sign);
        if (le_literal_fits(&number, fit->type))
            continue;
        char advice[80];
        snprintf(advice, sizeof advice, "give it a type: `in %.40s: i64`", name);
        le_fail_at(LEAT_MISMATCH, fit->location, advice,
                   "the number %s%llu is out of range for %s: '%s' is bound to it", number.negative ? "-" : "",
                   (unsigned long long)number.size, le_type_name(fit->type), name);
        le_program_source(call->program);
        return LEAT_MISMATCH;
    }
    return LEAT_OK;
}

leat_status le_bind_inputs(struct leat_call *call) {
    struct le_specialised *s = call->specialised;
    leat_status status = check_fits(call);
    if (status == LEAT_OK && call->device)
        status = le_device_bind(call);
    if (status == LEAT_OK)
        status = le_complex_bind(call);
    for (int k = 0; k < s->tree->symbol_count && status == LEAT_OK; k++) {
        const struct le_bind *b = &s->bound[k];
        int value = s->ir->first[k];
        if (value < 0)
            continue;
        struct le_cell *cell = &s->cells[value];
        cell->ready = true;
        if (b->kind == LE_BOUND_ARRAY && b->array->rank > 0) {
            if (cell->array != b->array) {
                le_array_free(cell->array);
                cell->array = le_array_retain(b->array);
            }
            s->buffers[value] = le_array_is_deferred(b->array) ? NULL : b->array->data;
        } else {
            status = bind_scalar(call, k, cell);
            s->buffers[value] = &cell->scalar;
        }
    }
    return status;
}
