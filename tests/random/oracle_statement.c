/* Runs statements one after the other. */
#include "oracle.h"
#include "random_bits.h"
#include <stddef.h>
#include <string.h>

/* ---- the host's expressions */

static void infer_host_ranges(struct oracle *oracle, struct statement *st) {
    struct range_question q = {st->ranges, st->ranges->index_count, false, st->is_inside, NULL, 0};
    if (q.count)
        infer_ranges(oracle, &q);
}

static union value host_value(struct oracle *oracle, struct statement *st, struct expression *e, int type) {
    infer_host_ranges(oracle, st);
    return evaluate_as(oracle, e, type);
}

static bool holds(struct oracle *oracle, struct statement *st) {
    return is_true(host_value(oracle, st, st->value, st->value->type), st->value->type) && oracle->verdict == RUNS;
}

/* ---- assignments */

static union value update(struct oracle *oracle, const struct statement *st, union value old, union value v) {
    static const int operations[] = {0, ADD, SUBTRACT, MULTIPLY};
    int to = st->symbol->type, type = promote(to, st->type);
    if (st->update == SET)
        return convert(oracle, v, st->type, to);
    if (type == LEAT_BOOL && st->update == SET_SUBTRACT)
        fail(oracle, UNSUITABLE, "a difference of bools");
    union value a = convert(oracle, old, to, type), b = convert(oracle, v, st->type, type), out;
    if (st->update < SET_MIN)
        return convert(oracle, operate(oracle, operations[st->update], a, b, type), type, to);
    out = least_or_greatest(a, b, type, st->update == SET_MIN);
    if (!is_real_type(to) && convert(oracle, b, type, to).whole != b.whole)
        fail(oracle, UNSUITABLE, "the least or greatest of numbers that wrap");
    return convert(oracle, out, type, to);
}

/* The right side, or the value of `else` if a read of the right side falls outside. */
static union value term(struct oracle *oracle, struct statement *st) {
    union value v = evaluate_as(oracle, st->value, st->type);
    if (oracle->verdict != FAILS_LATE || !st->otherwise)
        return v;
    oracle->verdict = RUNS;
    return evaluate_as(oracle, st->otherwise, st->type);
}

static void keep_point(struct oracle *oracle, struct statement *st) {
    bool is_filled = false;
    union value v = term(oracle, st);
    int64_t element = st->symbol->is_array ? find_element(oracle, st->symbol, st->x, NULL, &is_filled) : 0;
    if (oracle->point_count == POINTS_MAX)
        fail(oracle, UNSUITABLE, "too many points");
    if (oracle->verdict != RUNS)
        return;
    oracle->point_elements[oracle->point_count] = element;
    oracle->point_values[oracle->point_count++] = v;
}

static void walk_points(struct oracle *oracle, struct statement *st, int depth) {
    if (depth == st->order_count) {
        keep_point(oracle, st);
        return;
    }
    struct index *index = st->order[depth];
    for (bool more = first_point(oracle, index); more && oracle->verdict == RUNS; more = next_point(index))
        walk_points(oracle, st, depth + 1);
    index->is_active = false;
}

static void new_array(struct oracle *oracle, struct symbol *array, const union value *initial) {
    int64_t count = element_count(array);
    if (count > POINTS_MAX) {
        fail(oracle, UNSUITABLE, "too large an array");
        return;
    }
    array->data = oracle_new(oracle, (size_t)(count + 1) * sizeof *array->data);
    for (int64_t k = 0; array->data && k < count; k++)
        array->data[k] = *initial;
}

/* The indices of a new array start at 0, with step 1, and give its extents. */
static void shape_new_array(struct oracle *oracle, struct statement *st) {
    static const union value zero = {.whole = 0};
    st->symbol->rank = st->count;
    for (int d = 0; d < st->count; d++) {
        const struct index *index = st->x[d]->index;
        if (index->is_dynamic || index->first != 0 || index->step != 1)
            fail(oracle, FAILS_EARLY, "%s is new, and index %s does not run from 0 by 1", st->symbol->name,
                 index->name);
        st->symbol->shape[d] = index->end < 0 ? 0 : index->end;
    }
    if (oracle->verdict == RUNS)
        new_array(oracle, st->symbol, &zero);
}

static void run_assignment(struct oracle *oracle, struct statement *st) {
    if (!st->is_inside || st->ranges->index_count) {
        struct range_question q = {st->ranges, st->ranges->index_count, st->otherwise != NULL, st->is_inside,
                                   st->order,  st->order_count};
        infer_ranges(oracle, &q);
    }
    if (oracle->verdict == RUNS && st->is_new && st->symbol->is_array)
        shape_new_array(oracle, st);
    int64_t first = oracle->point_count; /* a def's statements run while others collect their points */
    if (oracle->verdict == RUNS)
        walk_points(oracle, st, 0);
    union value *data = st->symbol->is_array ? st->symbol->data : &st->symbol->value;
    for (int64_t k = first; k < oracle->point_count && oracle->verdict == RUNS; k++) {
        union value *at = &data[oracle->point_elements[k]];
        *at = update(oracle, st, *at, oracle->point_values[k]);
    }
    oracle->point_count = first;
}

static void run_declaration(struct oracle *oracle, struct statement *st) {
    struct symbol *symbol = st->symbol;
    union value initial = {.whole = 0};
    symbol->rank = st->count;
    for (int d = 0; d < st->count && oracle->verdict == RUNS; d++) {
        symbol->shape[d] = host_value(oracle, st, st->x[d], LEAT_I64).whole;
        if (symbol->shape[d] < 0)
            fail(oracle, FAILS_EARLY, "%s: a size is negative", symbol->name);
        if (symbol->shape[d] > POINTS_MAX)
            fail(oracle, UNSUITABLE, "too large an array");
    }
    if (oracle->verdict == RUNS && st->value)
        initial = host_value(oracle, st, st->value, symbol->type);
    symbol->value = initial;
    if (symbol->is_array && oracle->verdict == RUNS)
        new_array(oracle, symbol, &initial);
}

/* ---- control */

static void run_for(struct oracle *oracle, struct statement *st) {
    struct index *index = st->indices[0];
    infer_host_ranges(oracle, st);
    index->is_dynamic = true; /* its bounds are evaluated now */
    for (bool more = first_point(oracle, index); more && oracle->verdict == RUNS; more = next_point(index)) {
        run_body(oracle, st->body);
        if (oracle->breaks || oracle->returns)
            break;
        oracle->statement = st->is_inside ? oracle->statement : st;
    }
    oracle->breaks = false;
    index->is_active = false;
}

static void run_while(struct oracle *oracle, struct statement *st) {
    while (holds(oracle, st)) {
        run_body(oracle, st->body);
        if (oracle->breaks || oracle->returns || oracle->verdict != RUNS)
            break;
        oracle->statement = st->is_inside ? oracle->statement : st;
    }
    oracle->breaks = false;
}

static void walk_elements(struct oracle *oracle, struct statement *st, int depth) {
    if (depth == st->index_count) {
        run_body(oracle, st->body);
        return;
    }
    struct index *index = st->indices[depth];
    for (bool more = first_point(oracle, index); more && oracle->verdict == RUNS; more = next_point(index))
        walk_elements(oracle, st, depth + 1);
    index->is_active = false;
}

static void run_each(struct oracle *oracle, struct statement *st) {
    struct range_question q = {st->ranges, st->index_count, false, true, st->indices, st->index_count};
    infer_ranges(oracle, &q);
    if (oracle->verdict == RUNS)
        walk_elements(oracle, st, 0);
}

static void run_return(struct oracle *oracle, struct statement *st) {
    oracle->returned = host_value(oracle, st, st->value, st->value->type);
    oracle->returned_type = st->value->type;
    oracle->returns = true;
}

static void run_statement(struct oracle *oracle, struct statement *st) {
    switch (st->kind) {
    case ASSIGN:
        run_assignment(oracle, st);
        break;
    case DECLARE:
        run_declaration(oracle, st);
        break;
    case EDGE:
        if (st->mode == EDGE_FILL)
            st->fill = host_value(oracle, st, st->value, st->symbol->type);
        break;
    case IF:
        run_body(oracle, holds(oracle, st) ? st->body : st->other);
        break;
    case WHILE:
        run_while(oracle, st);
        break;
    case FOR:
        run_for(oracle, st);
        break;
    case EACH:
        run_each(oracle, st);
        break;
    case BREAK:
        oracle->breaks = true;
        break;
    case RETURN:
        run_return(oracle, st);
        break;
    }
}

/* All bare subscripts of an index must have one extent, also inside an `each` or a def, and in statements that are not
 * reached. The rules do not define which error Leat reports for these. */
static void compare_extents(struct oracle *oracle, const struct range_context *ranges) {
    for (; ranges; ranges = ranges->next)
        for (int k = 0; k < ranges->index_count; k++) {
            int64_t extent = -1;
            for (int q = 0; q < ranges->access_count && !ranges->indices[k]->low; q++) {
                const struct access *a = &ranges->accesses[q];
                for (int d = 0; d < a->symbol->rank; d++) {
                    if (a->x[d]->kind != INDEX || a->x[d]->index != ranges->indices[k])
                        continue;
                    if (extent >= 0 && extent != a->symbol->shape[d])
                        fail(oracle, UNSUITABLE, "extents that differ");
                    extent = a->symbol->shape[d];
                }
            }
        }
}

void run_body(struct oracle *oracle, struct statement *st) {
    for (; st && oracle->verdict == RUNS && !oracle->breaks && !oracle->returns; st = st->next) {
        if (!st->is_inside) {
            oracle->statement = st;
            compare_extents(oracle, st->inner);
        }
        run_statement(oracle, st);
    }
}

/* ---- inputs */

int64_t input_halves(const struct source *source, const struct symbol *input, int64_t k, bool is_decoy) {
    if (!input->is_array)
        return 2 * (input->number + is_decoy);
    int64_t count = element_count(input);
    if (input->layout == LAYOUT_BROADCAST && input->rank > 0 && input->shape[0] > 0)
        k %= count / input->shape[0];
    uint64_t bits = random_bits(source->seed + (is_decoy ? 78 : 77), (uint64_t)k * 1024 + (uint64_t)input->name[1] * 8);
    int64_t whole = input->least + (int64_t)(bits % (uint64_t)(input->greatest - input->least + 1));
    return 2 * whole + (is_real_type(input->dtype) && bits >> 60 == 0);
}

static union value from_halves(struct oracle *oracle, int64_t halves, int from, int type) {
    union value v = {.whole = halves / 2};
    if (is_real_type(from))
        v.real = (double)halves / 2;
    return convert(oracle, v, from, type);
}

static void load_inputs(struct oracle *oracle, bool is_decoy) {
    static const union value zero = {.whole = 0};
    for (int k = 0; k < oracle->source->symbol_count; k++) {
        struct symbol *input = oracle->source->symbols[k];
        int from = input->is_number ? WEAK_WHOLE : input->dtype;
        if (input->size_of)
            input->value.whole = input->size_of->shape[input->axis];
        if (input->is_input && !input->is_array)
            input->value = from_halves(oracle, input_halves(oracle->source, input, 0, is_decoy), from, input->type);
        if (!input->is_input || !input->is_array)
            continue;
        new_array(oracle, input, &zero);
        for (int64_t q = 0; input->data && q < element_count(input); q++)
            input->data[q] = from_halves(oracle, input_halves(oracle->source, input, q, is_decoy), from, from);
    }
}

enum verdict oracle_run(struct oracle *oracle, struct source *source, bool is_decoy) {
    memset(oracle, 0, offsetof(struct oracle, point_elements));
    oracle->point_count = 0;
    oracle->used_bytes = 0;
    oracle->source = source;
    check_program(oracle);
    if (oracle->verdict == RUNS)
        type_program(oracle);
    load_inputs(oracle, is_decoy);
    if (oracle->verdict == RUNS)
        run_body(oracle, source->body);
    return oracle->verdict;
}
