/* leat.h: binding the inputs of a call, by name and by number. */
#include "api/api_check.h"
#include "run/call.h"
#include <string.h>

/* Finds the symbol of an input by its name, or by its number if name is NULL. */
static leat_status find_input(leat_call *call, const char *name, size_t k, int *symbol) {
    if (name)
        return le_call_find_input(call, name, symbol);
    *symbol = le_program_symbol(call->program, LEAT_NAME_INPUT, k);
    return *symbol >= 0 ? LEAT_OK
                        : le_fail(LEAT_INVALID, "k is %zu, and there are %zu inputs", k,
                                  call->program->name_counts[LEAT_NAME_INPUT]);
}

static leat_status set_array(leat_call *call, const char *name, size_t k, leat_array *array) {
    int symbol;
    if (array)
        LE_CHECK_BOUND_ARRAY(array);
    leat_status status = find_input(call, name, k, &symbol);
    return status == LEAT_OK ? le_call_set_array(call, symbol, array) : status;
}

leat_status leat_call_set_array(leat_call *call, const char *name, leat_array *array) {
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    return set_array(call, name, 0, array);
}

leat_status leat_call_set_array_at(leat_call *call, size_t k, leat_array *array) {
    LE_CHECK_CALL(call);
    return set_array(call, NULL, k, array);
}

leat_status leat_call_set_memory_at(leat_call *call, size_t k, const leat_description *description) {
    int symbol;
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(description);
    leat_status status = find_input(call, NULL, k, &symbol);
    return status == LEAT_OK ? le_call_set_memory(call, symbol, description) : status;
}

static leat_status set_number(leat_call *call, const char *name, size_t k, enum le_type type, const void *value,
                              size_t size) {
    uint64_t bits = 0;
    int symbol;
    leat_status status = find_input(call, name, k, &symbol);
    memcpy(&bits, value, size);
    return status == LEAT_OK ? le_call_set_number(call, symbol, type, bits) : status;
}

static leat_status set_complex(leat_call *call, const char *name, size_t k, double re, double im) {
    int symbol;
    leat_status status = find_input(call, name, k, &symbol);
    return status == LEAT_OK ? le_call_set_complex(call, symbol, re, im) : status;
}

leat_status leat_call_set_f64(leat_call *call, const char *name, double value) {
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    return set_number(call, name, 0, LE_WEAK_FLOAT, &value, sizeof value);
}

leat_status leat_call_set_f64_at(leat_call *call, size_t k, double value) {
    LE_CHECK_CALL(call);
    return set_number(call, NULL, k, LE_WEAK_FLOAT, &value, sizeof value);
}

leat_status leat_call_set_i64(leat_call *call, const char *name, int64_t value) {
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    return set_number(call, name, 0, LE_WEAK_INT, &value, sizeof value);
}

leat_status leat_call_set_i64_at(leat_call *call, size_t k, int64_t value) {
    LE_CHECK_CALL(call);
    return set_number(call, NULL, k, LE_WEAK_INT, &value, sizeof value);
}

/* A value up to 2^63 - 1 is a weak integer, like an i64. A larger one only fits u64 and is a strong u64. */
static enum le_type type_of(uint64_t value) {
    return value > INT64_MAX ? LE_U64 : LE_WEAK_INT;
}

leat_status leat_call_set_u64(leat_call *call, const char *name, uint64_t value) {
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    return set_number(call, name, 0, type_of(value), &value, sizeof value);
}

leat_status leat_call_set_u64_at(leat_call *call, size_t k, uint64_t value) {
    LE_CHECK_CALL(call);
    return set_number(call, NULL, k, type_of(value), &value, sizeof value);
}

leat_status leat_call_set_bool(leat_call *call, const char *name, bool value) {
    uint8_t byte = value;
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    return set_number(call, name, 0, LE_BOOL, &byte, sizeof byte);
}

leat_status leat_call_set_bool_at(leat_call *call, size_t k, bool value) {
    uint8_t byte = value;
    LE_CHECK_CALL(call);
    return set_number(call, NULL, k, LE_BOOL, &byte, sizeof byte);
}

leat_status leat_call_set_c128(leat_call *call, const char *name, double re, double im) {
    LE_CHECK_CALL(call);
    LE_CHECK_POINTER(name);
    return set_complex(call, name, 0, re, im);
}

leat_status leat_call_set_c128_at(leat_call *call, size_t k, double re, double im) {
    LE_CHECK_CALL(call);
    return set_complex(call, NULL, k, re, im);
}
