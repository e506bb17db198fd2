/* Draws expressions: reads with all kinds of subscripts, reductions, calls of defs, and reads under conditions. */
#include "program_make.h"
#include "random_bits.h"
#include <string.h>

int64_t draw(struct maker *m, int64_t below) {
    return (int64_t)(random_bits(m->seed, ++m->drawn) % (uint64_t)below);
}

bool chance(struct maker *m, int percent) {
    return draw(m, 100) < percent;
}

int64_t draw_extent(struct maker *m) {
    return m->dims[draw(m, DIMS_MAX)];
}

void add_name(struct maker *m, struct symbol *symbol) {
    if (m->name_count < SYMBOLS_MAX)
        m->names[m->name_count++] = symbol;
}

/* ---- indices */

/* The names depend on the depth, so that no index hides another one. */
struct index *plan_index(struct maker *m, int64_t low, int64_t high) {
    static const char *const names[] = {"i", "j", "k", "l", "g", "h", "u", "w"};
    static const char *const names_in_def[] = {"e", "o", "q", "r", "ee", "oo", "qq", "rr"};
    struct index *index = new_index(m->source, m->in_def ? names_in_def[m->plan_count] : names[m->plan_count]);
    index->planned_low = low;
    index->planned_high = high;
    return index;
}

/* An extent, written in one of several ways. */
struct expression *make_extent(struct maker *m, int64_t extent) {
    if (chance(m, 45))
        return number(m, extent);
    int start = m->name_count ? (int)draw(m, m->name_count) : 0;
    for (int k = 0; k < m->name_count; k++) {
        struct symbol *symbol = m->names[(start + k) % m->name_count];
        if (symbol->size_of && symbol->size_of->shape[symbol->axis] == extent)
            return new_of_symbol(m->source, SCALAR, symbol);
        for (int d = 0; symbol->is_array && d < symbol->rank; d++)
            if (symbol->shape[d] == extent && chance(m, 70)) {
                struct expression *e = new_of_symbol(m->source, LENGTH, symbol);
                e->op = d;
                return e;
            }
    }
    return number(m, extent);
}

void set_range(struct maker *m, struct index *index, int64_t low, int64_t high) {
    index->low = low ? number(m, low) : number(m, 0);
    index->high = low == 0 ? make_extent(m, high) : number(m, high);
}

/* ---- names */

static bool is_of_class(const struct symbol *symbol, enum value_class value_class) {
    return symbol->value_class == value_class;
}

struct symbol *choose_name(struct maker *m, enum value_class value_class, bool is_array) {
    struct symbol *found[SYMBOLS_MAX];
    int count = 0;
    if (is_array && m->target && is_of_class(m->target, value_class) && m->target->rank > 0 && chance(m, 25))
        return m->target;
    for (int k = 0; k < m->name_count; k++) {
        struct symbol *symbol = m->names[k];
        if (symbol->is_array == is_array && is_of_class(symbol, value_class) && (!is_array || symbol->rank > 0))
            found[count++] = symbol;
    }
    return count ? found[draw(m, count)] : NULL;
}

static int draw_type(struct maker *m, enum value_class value_class) {
    return value_class == TRUTH ? LEAT_BOOL : value_class == REAL ? m->real_type : m->whole_types[draw(m, 2)];
}

static void name_sizes(struct maker *m, struct symbol *input) {
    for (int d = 0; d < input->rank; d++) {
        struct symbol *size = new_symbol(m->source, 'n', false);
        size->size_of = input;
        size->axis = d;
        size->value_class = WHOLE;
        add_name(m, size);
    }
}

struct symbol *make_input(struct maker *m, enum value_class value_class, int rank, const int64_t *shape) {
    struct symbol *input = new_symbol(m->source, 'x', true);
    input->is_input = true;
    input->value_class = value_class;
    input->dtype = input->type = draw_type(m, value_class);
    input->rank = rank;
    memcpy(input->shape, shape, (size_t)rank * sizeof *shape);
    input->greatest = value_class == TRUTH ? 1 : 1 + draw(m, 5);
    bool is_unsigned = input->dtype >= LEAT_U8 && input->dtype <= LEAT_U64;
    bool has_sign = value_class != TRUTH && !is_unsigned && chance(m, 50);
    input->least = has_sign ? -draw(m, 4) : 0;
    input->layout = chance(m, 75) ? LAYOUT_PLAIN : (enum layout)draw(m, LAYOUTS);
    input->has_written_type = chance(m, 20);
    if (!m->in_def)
        add_name(m, input);
    if (chance(m, 25) && !m->in_def)
        name_sizes(m, input);
    return input;
}

/* Most arrays have the extents of consecutive indices, so that the loops over them can be merged. */
struct symbol *make_fitting_input(struct maker *m, enum value_class value_class) {
    int64_t shape[AXES_MAX];
    int rank = 0, first = m->plan_count ? (int)draw(m, m->plan_count) : 0;
    if (first > 0 && chance(m, 60))
        first = 0;
    for (int k = first; k < m->plan_count && rank < AXES_MAX; k++)
        if (chance(m, 90))
            shape[rank++] = m->plans[k]->planned_high < 0 ? 0 : m->plans[k]->planned_high;
    if (rank == 0)
        shape[rank++] = draw_extent(m);
    if (chance(m, 50))
        shape[draw(m, rank)] = draw_extent(m);
    return make_input(m, value_class, rank, shape);
}

/* ---- subscripts */

static struct expression *make_call(struct maker *m, enum value_class value_class, int depth);

struct index *choose_plan(struct maker *m) {
    return m->plan_count ? m->plans[draw(m, m->plan_count)] : NULL;
}

bool is_inferred(const struct index *index) {
    return !index->low;
}

static bool is_inside(const struct index *index, int64_t extent) {
    return is_inferred(index) ? index->planned_high == extent
                              : index->planned_low >= 0 && index->planned_high <= extent;
}

/* The first plan that fits, at or after `preferred`, or NULL. */
static struct index *bare_index(struct maker *m, int64_t extent, int preferred) {
    for (int k = 0; k < m->plan_count; k++) {
        struct index *index = m->plans[(preferred + k) % m->plan_count];
        if (is_inside(index, extent))
            return index;
    }
    return NULL;
}

/* A subscript must be an integer; a bool is not. */
struct expression *whole_subscript(struct maker *m, struct expression *e) {
    return e->kind == NUMBER || e->kind == INDEX ? e : new_cast(m->source, LEAT_I64, e);
}

static struct expression *wrapped(struct maker *m, const struct symbol *array, int axis, struct expression *e) {
    int64_t extent = array->shape[axis];
    struct expression *length = chance(m, 80) ? number(m, extent) : new_of_symbol(m->source, LENGTH, (void *)array);
    length->op = length->kind == LENGTH ? axis : length->op;
    int64_t how = draw(m, 10);
    if (how < 6)
        return binary(m, MODULO, e, length);
    if (how < 8)
        return new_function(m->source, CLAMP, e, number(m, 0), number(m, extent - 1));
    return new_function(m->source, MIN, new_function(m->source, MAX, e, number(m, 0), NULL), number(m, extent - 1),
                        NULL);
}

static struct expression *make_table_read(struct maker *m, const struct symbol *array, int axis, int depth) {
    struct symbol *table = choose_name(m, WHOLE, true);
    if (!table || chance(m, 30))
        table = make_fitting_input(m, WHOLE);
    bool is_safe = table->is_input && table->least >= 0 && table->greatest < array->shape[axis];
    struct expression *read = new_of_symbol(m->source, READ, table);
    for (int d = 0; d < table->rank; d++)
        read->x[read->count++] = make_subscript(m, table, d, depth - 1);
    return is_safe && !m->is_plain && chance(m, 70) ? read : wrapped(m, array, axis, read);
}

static struct expression *divided(struct maker *m, int64_t extent) {
    struct index *index = choose_plan(m);
    int64_t by = 2 + draw(m, 2);
    if (!index || index->planned_low < 0 || (index->planned_high - 1) / by >= extent)
        return NULL;
    return binary(m, FLOOR_DIVIDE, of_index(m, index), number(m, by));
}

static struct expression *selected(struct maker *m, int64_t extent, int depth) {
    struct expression *condition = make_value(m, TRUTH, depth - 1);
    if (extent > 1 && chance(m, 40))
        return new_cast(m->source, LEAT_I64, condition);
    return new_choice(m->source, condition, number(m, draw(m, extent)), number(m, draw(m, extent)));
}

static struct expression *make_computed(struct maker *m, const struct symbol *array, int axis, int depth) {
    int64_t extent = array->shape[axis], how = draw(m, 10);
    struct index *index = choose_plan(m);
    struct expression *e = NULL;
    if (depth > 0 && m->source->def_count && !m->in_def && chance(m, 15))
        return wrapped(m, array, axis, whole_subscript(m, make_call(m, WHOLE, depth)));
    if (how < 2)
        e = divided(m, extent);
    else if (how < 3)
        e = selected(m, extent, depth);
    else if (how < 5 && depth > 0)
        e = make_table_read(m, array, axis, depth);
    else if (how < 8 && index)
        e = wrapped(m, array, axis,
                    chance(m, 50) ? of_index(m, index) : binary(m, ADD, of_index(m, index), number(m, 1 + draw(m, 3))));
    return e ? e : wrapped(m, array, axis, whole_subscript(m, make_value(m, WHOLE, depth - 1)));
}

static struct expression *make_stride(struct maker *m, int64_t extent, struct index *index) {
    int64_t by = 2 + draw(m, 2), low = by * index->planned_low, high = by * (index->planned_high - 1);
    bool is_out = low < 0 || high >= extent;
    if (is_out && !m->is_free && !is_inferred(index))
        return NULL;
    int64_t plus = high < extent - 1 ? draw(m, extent - high) : 0;
    struct expression *e = binary(m, MULTIPLY, number(m, by), of_index(m, index));
    return plus ? binary(m, ADD, e, number(m, plus)) : e;
}

static struct expression *make_offset(struct maker *m, int64_t extent, struct index *index) {
    int64_t least = -index->planned_low, most = extent - index->planned_high;
    if (m->is_free || (is_inferred(index) && chance(m, 10))) {
        least = -2;
        most = 2;
    }
    if (least > most || (least == 0 && most == 0))
        return NULL;
    int64_t by = least + draw(m, most - least + 1);
    if (by == 0)
        return of_index(m, index);
    return binary(m, by < 0 ? SUBTRACT : ADD, of_index(m, index), number(m, by < 0 ? -by : by));
}

static struct expression *make_reversal(struct maker *m, const struct symbol *array, int axis, struct index *index) {
    int64_t extent = array->shape[axis];
    if (!is_inside(index, extent) && !m->is_free)
        return NULL;
    if (chance(m, 60))
        return binary(m, SUBTRACT, number(m, extent - 1), of_index(m, index));
    struct expression *length = new_of_symbol(m->source, LENGTH, (struct symbol *)array);
    length->op = axis;
    return binary(m, SUBTRACT, binary(m, SUBTRACT, length, number(m, 1)), of_index(m, index));
}

static struct expression *make_window(struct maker *m, int64_t extent, struct index *a) {
    struct index *b = choose_plan(m);
    if (b == a || (!m->is_free && a->planned_high + b->planned_high - 1 > extent))
        return NULL;
    struct expression *e = binary(m, ADD, of_index(m, a), of_index(m, b));
    return m->is_free && chance(m, 50) ? binary(m, SUBTRACT, e, number(m, 1 + draw(m, 2))) : e;
}

static struct expression *make_fixed(struct maker *m, const struct symbol *array, int axis) {
    int64_t extent = array->shape[axis];
    struct symbol *scalar = choose_name(m, WHOLE, false);
    if (scalar && chance(m, m->is_plain ? 75 : 40))
        return chance(m, 50) ? new_of_symbol(m->source, SCALAR, scalar)
                             : wrapped(m, array, axis, new_of_symbol(m->source, SCALAR, scalar));
    return number(m, draw(m, m->is_free ? extent + 2 : extent));
}

struct expression *make_subscript(struct maker *m, const struct symbol *array, int axis, int depth) {
    int64_t extent = array->shape[axis], how = draw(m, 100);
    struct index *index = choose_plan(m), *bare = NULL;
    struct expression *e = NULL;
    if (extent <= 0)
        return index ? of_index(m, index) : number(m, 0);
    if (m->plan_count)
        bare = bare_index(m, extent, chance(m, 70) ? axis : (int)draw(m, m->plan_count));
    if (depth < -1)
        return bare ? of_index(m, bare) : number(m, draw(m, extent));
    if (how < m->habits.computed)
        return make_computed(m, array, axis, depth);
    how = draw(m, 100);
    if (m->is_plain && chance(m, 20))
        e = make_fixed(m, array, axis);
    else if (how < 12 && index)
        e = make_offset(m, extent, index);
    else if (how < 17 && index)
        e = make_stride(m, extent, index);
    else if (how < 23 && index)
        e = make_reversal(m, array, axis, index);
    else if (how < 32 && index)
        e = make_window(m, extent, index);
    else if (how < 37)
        e = make_fixed(m, array, axis);
    if (e)
        return e;
    return bare ? of_index(m, bare) : chance(m, 30) ? make_fixed(m, array, axis) : make_computed(m, array, axis, depth);
}

/* ---- reads */

static bool is_written(const struct maker *m, const struct symbol *array) {
    for (int k = 0; k < m->written_count; k++)
        if (m->written[k] == array)
            return true;
    return false;
}

static struct expression *make_read(struct maker *m, enum value_class value_class, int depth) {
    struct symbol *array = choose_name(m, value_class, true);
    if (!array || chance(m, 22))
        array = make_fitting_input(m, value_class);
    struct expression *read = new_of_symbol(m->source, READ, array);
    for (int d = 0; d < array->rank; d++) {
        int each = m->each_mark + d;
        bool is_own = is_written(m, array) && each < m->plan_count;
        read->x[read->count++] = is_own ? of_index(m, m->plans[each]) : make_subscript(m, array, d, depth - 1);
    }
    return read;
}

static struct expression *bounding_subscript(struct maker *m, struct index *index) {
    int64_t how = m->in_def || m->in_each ? 99 : draw(m, 100);
    struct expression *e = of_index(m, index);
    if (how < 8)
        return binary(m, SUBTRACT, number(m, index->planned_high - 1), e);
    if (how < 12)
        return binary(m, MULTIPLY, number(m, 2), e);
    if (how < 16)
        return binary(m, ADD, e, number(m, 1));
    return e;
}

struct expression *make_bounding_read(struct maker *m, enum value_class value_class, struct index *const *indices,
                                      int count) {
    int64_t shape[AXES_MAX];
    struct symbol *array = NULL;
    for (int d = 0; d < count; d++)
        shape[d] = indices[d]->planned_high;
    for (int k = 0; k < m->name_count && !array; k++) {
        struct symbol *symbol = m->names[k];
        if (symbol->is_array && is_of_class(symbol, value_class) && symbol->rank == count && !is_written(m, symbol) &&
            !memcmp(symbol->shape, shape, (size_t)count * sizeof *shape) && chance(m, 70))
            array = symbol;
    }
    if (!array)
        array = make_input(m, value_class, count, shape);
    struct expression *read = new_of_symbol(m->source, READ, array);
    for (int d = 0; d < count; d++)
        read->x[read->count++] = bounding_subscript(m, indices[d]);
    return read;
}

/* (0 <= s && s < n) ? x[s] : other and similar expressions, with any s */
static struct expression *make_guarded(struct maker *m, enum value_class value_class, int depth) {
    bool was_free = m->is_free;
    m->is_free = true;
    struct expression *read = make_read(m, value_class, depth), *guard = NULL;
    m->is_free = was_free;
    for (int d = 0; d < read->count; d++) {
        struct expression *s = read->x[d];
        if (s->kind == NUMBER || s->kind == INDEX || (s->kind == BINARY && s->op == MODULO))
            continue;
        struct expression *low = binary(m, GE, copy_expression(m->source, s), number(m, 0));
        struct expression *high = binary(m, LT, copy_expression(m->source, s), make_extent(m, read->symbol->shape[d]));
        struct expression *both = binary(m, AND, low, high);
        guard = guard ? binary(m, AND, guard, both) : both;
    }
    if (!guard)
        guard = make_value(m, TRUTH, depth - 2);
    if (value_class == TRUTH)
        return chance(m, 50) ? binary(m, AND, guard, read) : binary(m, OR, new_unary(m->source, NOT, guard), read);
    return new_choice(m->source, guard, read, make_value(m, value_class, depth - 2));
}

/* ---- calls */

static struct expression *make_call(struct maker *m, enum value_class value_class, int depth) {
    struct expression *arguments[PARAMETERS_MAX];
    if (m->source->def_count == 0 || m->in_def)
        return make_value(m, value_class, 0);
    const struct definition *def = m->source->defs[draw(m, m->source->def_count)];
    for (int k = 0; k < def->parameter_count; k++) {
        if (!def->parameters[k]->is_array) {
            arguments[k] = make_value(m, WHOLE, depth > 2 ? 1 : depth - 1);
            continue;
        }
        struct symbol *array = choose_name(m, WHOLE, true);
        if (!array || array->rank != 1 || array->shape[0] == 0 || is_written(m, array)) {
            int64_t shape = m->plan_count ? m->plans[0]->planned_high : draw_extent(m);
            array = make_input(m, WHOLE, 1, &shape);
        }
        arguments[k] = new_of_symbol(m->source, SCALAR, array);
    }
    struct expression *e = call_definition(m->source, def, arguments);
    if (value_class == TRUTH)
        return binary(m, GT, e, number(m, draw(m, 4)));
    return value_class == REAL ? new_cast(m->source, m->real_type, e) : e;
}

/* ---- values */

struct expression *make_leaf(struct maker *m, enum value_class value_class) {
    struct symbol *scalar = choose_name(m, value_class, false);
    int64_t how = draw(m, 100);
    if (scalar && how < (m->in_def ? 65 : 25))
        return new_of_symbol(m->source, SCALAR, scalar);
    if (how < 60 && !m->in_def && value_class != TRUTH)
        return make_read(m, value_class, 0);
    if (value_class == TRUTH)
        return binary(m, LT + (int)draw(m, 6), make_leaf(m, WHOLE), number(m, draw(m, 5)));
    struct index *index = choose_plan(m);
    if (value_class == WHOLE && index && chance(m, 70))
        return of_index(m, index);
    struct expression *e = number(m, draw(m, 5));
    if (value_class == REAL && e->kind == NUMBER && chance(m, 70)) {
        e->is_real = true;
        e->number += chance(m, 15) ? 0.5 : 0;
    }
    return e;
}

static struct expression *make_truth(struct maker *m, int depth) {
    int64_t how = draw(m, 100);
    if (how < 55) {
        enum value_class side = chance(m, 75) ? WHOLE : REAL;
        return binary(m, LT + (int)draw(m, 6), make_value(m, side, depth - 1), make_value(m, side, depth - 2));
    }
    if (how < 75)
        return binary(m, chance(m, 50) ? AND : OR, make_truth(m, depth - 2), make_truth(m, depth - 2));
    if (how < 82)
        return new_unary(m->source, NOT, make_truth(m, depth - 1));
    if (how < 90)
        return make_reduction(m, TRUTH, depth - 1);
    return make_read(m, TRUTH, depth - 1);
}

static struct expression *make_arithmetic(struct maker *m, enum value_class value_class, int depth) {
    static const int usual[] = {ADD, ADD, SUBTRACT, MULTIPLY, MULTIPLY};
    int64_t how = draw(m, 100);
    struct expression *a = make_value(m, value_class, depth - 1);
    if (how < 65)
        return binary(m, usual[draw(m, 5)], a, make_value(m, chance(m, 90) ? value_class : WHOLE, depth - 1));
    if (how < 78)
        return binary(m,
                      value_class == REAL && chance(m, 40) ? DIVIDE
                      : chance(m, 50)                      ? FLOOR_DIVIDE
                                                           : MODULO,
                      a, chance(m, 90) ? number(m, 2 + draw(m, 3)) : make_value(m, value_class, 0));
    if (how < 90)
        return new_function(m->source, chance(m, 50) ? MIN : MAX, a, make_value(m, value_class, depth - 1), NULL);
    if (how < 94 && value_class == WHOLE)
        return binary(m, BIT_AND + (int)draw(m, 3), a, make_value(m, value_class, depth - 2));
    if (how < 97)
        return new_unary(m->source, NEGATE, a);
    return new_function(m->source, ABS + (int)draw(m, 3), a, NULL, NULL);
}

static struct expression *make_conversion(struct maker *m, enum value_class value_class, int depth) {
    static const int wholes[] = {LEAT_I64, LEAT_I32, LEAT_U8, LEAT_I16};
    enum value_class from = (enum value_class)draw(m, 3);
    int type = value_class == REAL ? (chance(m, 50) ? LEAT_F32 : LEAT_F64) : wholes[draw(m, 4)];
    return new_cast(m->source, type, make_value(m, from, depth - 1));
}

struct expression *make_value(struct maker *m, enum value_class value_class, int depth) {
    if (depth <= 0 || --m->budget <= 0)
        return make_leaf(m, value_class);
    if (value_class == TRUTH)
        return make_truth(m, depth);
    int64_t how = draw(m, 100);
    if (how < m->habits.guarded)
        return make_guarded(m, value_class, depth);
    how = draw(m, 100);
    if (how < m->habits.reducing)
        return make_reduction(m, value_class, depth);
    how = draw(m, 100);
    if (how < m->habits.calling)
        return make_call(m, value_class, depth);
    how = draw(m, 100);
    if (how < 40)
        return make_arithmetic(m, value_class, depth);
    if (how < 70)
        return make_read(m, value_class, depth);
    if (how < 78)
        return make_conversion(m, value_class, depth);
    if (how < 86)
        return new_choice(m->source, make_truth(m, depth - 1), make_value(m, value_class, depth - 1),
                          make_value(m, value_class, depth - 1));
    return make_leaf(m, value_class);
}
