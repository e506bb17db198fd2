/* Evaluates expressions. The type checker has set every type. After an error, values are undefined and loops end. */
#include "oracle.h"
#include <math.h>

static const union value nothing = {.whole = 0};

union value evaluate_as(struct oracle *oracle, struct expression *e, int type) {
    union value v = evaluate(oracle, e);
    return oracle->verdict == RUNS ? convert(oracle, v, e->type, type) : nothing;
}

/* ---- arrays */

int64_t element_count(const struct symbol *array) {
    int64_t count = 1;
    for (int d = 0; d < array->rank; d++)
        count *= array->shape[d];
    return count;
}

static int64_t modulo(int64_t a, int64_t b) {
    return a % b + (a % b < 0 ? b : 0);
}

static int64_t moved_in(enum edge_mode mode, int64_t at, int64_t extent) {
    int64_t period = extent > 1 ? 2 * (extent - 1) : 1;
    switch (mode) {
    case EDGE_CLAMP:
        return at < 0 ? 0 : extent - 1;
    case EDGE_WRAP:
        return modulo(at, extent);
    case EDGE_MIRROR:
        at = modulo(at, period);
        return at < extent ? at : period - at;
    default:
        at = modulo(at, 2 * extent);
        return at < extent ? at : 2 * extent - 1 - at;
    }
}

int64_t find_element(struct oracle *oracle, const struct symbol *array, struct expression *const *x,
                     const struct statement *edge, bool *is_filled) {
    int64_t element = 0;
    for (int d = 0; d < array->rank; d++) {
        int64_t at = evaluate(oracle, x[d]).whole, extent = array->shape[d];
        if (oracle->verdict != RUNS)
            return -1;
        bool is_outside = at < 0 || at >= extent;
        if (is_outside && edge && edge->mode == EDGE_FILL) {
            *is_filled = true;
            at = 0;
        } else if (is_outside && edge) {
            at = extent > 0 ? moved_in(edge->mode, at, extent) : 0;
            if (extent == 0)
                fail(oracle, UNSUITABLE, "an edge mode on an axis without elements");
        } else if (is_outside) {
            fail(oracle, FAILS_LATE, "%s axis %d: subscript is %lld", array->name, d, (long long)at);
            return -1;
        }
        element = element * extent + at;
    }
    return element;
}

static union value evaluate_read(struct oracle *oracle, struct expression *e) {
    bool is_filled = false;
    int64_t element = find_element(oracle, e->symbol, e->x, e->edge, &is_filled);
    if (element < 0)
        return nothing;
    return is_filled ? e->edge->fill : e->symbol->data[element];
}

/* ---- loops */

bool first_point(struct oracle *oracle, struct index *index) {
    if (index->is_dynamic) {
        index->first = evaluate(oracle, index->low).whole;
        index->end = evaluate(oracle, index->high).whole;
        index->step = index->by;
    }
    index->at = index->first;
    index->is_active = oracle->verdict == RUNS && (index->step > 0 ? index->at < index->end : index->at > index->end);
    return index->is_active;
}

bool next_point(struct index *index) {
    index->at += index->step;
    index->is_active = index->step > 0 ? index->at < index->end : index->at > index->end;
    return index->is_active;
}

/* The total of a reduction so far; spread: the largest magnitude that partial sums could have. */
struct total {
    union value value;
    int64_t count, where;
    double spread;
};

static union value start_of(const struct expression *e) {
    if (e->op == PROD || e->op == ALL)
        return is_real_type(e->type) ? (union value){.real = 1} : (union value){.whole = 1};
    if (e->op == ARGMIN || e->op == ARGMAX)
        return (union value){.whole = -1};
    return e->op == LEAST || e->op == GREATEST ? type_end(e->type, e->op == LEAST) : nothing;
}

static bool is_better(const struct expression *e, union value a, union value b, int type) {
    bool is_least = e->op == ARGMIN;
    if (is_real_type(type))
        return is_least ? a.real < b.real : a.real > b.real;
    return is_least ? a.whole < b.whole : a.whole > b.whole;
}

static void add_term(struct oracle *oracle, struct expression *e, struct total *total, union value *best) {
    bool is_position = e->op == ARGMIN || e->op == ARGMAX;
    union value v = evaluate(oracle, e->x[0]);
    if (oracle->verdict != RUNS)
        return;
    if (is_position) {
        if (total->count++ == 0 || is_better(e, v, *best, e->x[0]->type)) {
            *best = v;
            total->value.whole = e->binders[0]->at;
        }
        return;
    }
    if (e->op == ANY || e->op == ALL) {
        bool holds = is_true(v, e->x[0]->type);
        total->value.whole = e->op == ANY ? total->value.whole | holds : total->value.whole & holds;
        return;
    }
    v = convert(oracle, v, e->x[0]->type, e->type);
    total->count++;
    if (e->op == LEAST || e->op == GREATEST)
        total->value = least_or_greatest(v, total->value, e->type, e->op == LEAST);
    else
        total->value = operate(oracle, e->op == PROD ? MULTIPLY : ADD, total->value, v, e->type);
    if (is_real_type(e->type) && e->op == PROD) {
        total->spread *= fabs(v.real) > 1 ? fabs(v.real) : 1;
        if (v.real != floor(v.real))
            fail(oracle, UNSUITABLE, "a product of fractions");
    } else if (is_real_type(e->type)) {
        total->spread += fabs(v.real);
    }
}

static void reduce(struct oracle *oracle, struct expression *e, int binder, struct total *total, union value *best) {
    if (binder == e->binder_count) {
        add_term(oracle, e, total, best);
        return;
    }
    struct index *index = e->binders[binder];
    for (bool more = first_point(oracle, index); more && oracle->verdict == RUNS; more = next_point(index))
        reduce(oracle, e, binder + 1, total, best);
    index->is_active = false;
}

static union value evaluate_reduction(struct oracle *oracle, struct expression *e) {
    union value best = nothing;
    struct total total = {.value = start_of(e), .spread = e->op == PROD ? 1 : 0};
    reduce(oracle, e, 0, &total, &best);
    if (oracle->verdict != RUNS)
        return nothing;
    if (is_real_type(e->type) && (e->op == SUM || e->op == PROD || e->op == MEAN) && !isinf(total.spread))
        exactly(oracle, floor(total.spread), e->type);
    if (e->type == LEAT_U64 && e->op == LEAST && total.count == 0)
        fail(oracle, UNSUITABLE, "a number past 2**63");
    if (e->op == MEAN)
        return exactly(oracle, total.count ? total.value.real / (double)total.count : NAN, e->type);
    return total.value;
}

/* ---- operators and functions */

static bool compare(int op, double a, double b) {
    switch (op) {
    case LT:
        return a < b;
    case LE:
        return a <= b;
    case GT:
        return a > b;
    case GE:
        return a >= b;
    case EQ:
        return a == b;
    default:
        return a != b;
    }
}

static union value evaluate_comparison(struct oracle *oracle, struct expression *e) {
    int type = promote(e->x[0]->type, e->x[1]->type);
    if (!is_real_type(type))
        type = LEAT_I64; /* integers are compared by value */
    union value a = evaluate_as(oracle, e->x[0], type), b = evaluate_as(oracle, e->x[1], type);
    if (is_real_type(type))
        return (union value){.whole = compare(e->op, a.real, b.real)};
    int order = (a.whole > b.whole) - (a.whole < b.whole);
    return (union value){.whole = compare(e->op, order, 0)};
}

static union value evaluate_binary(struct oracle *oracle, struct expression *e) {
    if (e->op == AND || e->op == OR) {
        bool a = is_true(evaluate(oracle, e->x[0]), e->x[0]->type);
        if (a == (e->op == OR) || oracle->verdict != RUNS)
            return (union value){.whole = a};
        return (union value){.whole = is_true(evaluate(oracle, e->x[1]), e->x[1]->type)};
    }
    if (e->op >= LT)
        return evaluate_comparison(oracle, e);
    union value a = evaluate_as(oracle, e->x[0], e->type), b = evaluate_as(oracle, e->x[1], e->type);
    return operate(oracle, e->op, a, b, e->type);
}

static union value evaluate_unary(struct oracle *oracle, struct expression *e) {
    if (e->op == NOT)
        return (union value){.whole = !is_true(evaluate(oracle, e->x[0]), e->x[0]->type)};
    union value v = evaluate_as(oracle, e->x[0], e->type);
    if (e->op == NEGATE && is_real_type(e->type))
        return (union value){.real = -v.real};
    if (e->type == LEAT_BOOL)
        return (union value){.whole = !v.whole};
    return e->op == NEGATE ? operate(oracle, SUBTRACT, nothing, v, e->type)
                           : operate(oracle, BIT_XOR, v, (union value){.whole = -1}, e->type);
}

static union value sign_of(union value v, int type) {
    if (is_real_type(type))
        return (union value){.real = (v.real > 0) - (v.real < 0)};
    return (union value){.whole = (v.whole > 0) - (v.whole < 0)};
}

static union value evaluate_function(struct oracle *oracle, struct expression *e) {
    union value v[OPERANDS_MAX];
    for (int k = 0; k < e->count; k++)
        v[k] = evaluate_as(oracle, e->x[k], e->type);
    bool is_real = is_real_type(e->type);
    switch (e->op) {
    case MIN:
    case MAX:
        return least_or_greatest(v[0], v[1], e->type, e->op == MIN);
    case CLAMP:
        return least_or_greatest(least_or_greatest(v[0], v[1], e->type, false), v[2], e->type, true);
    case SIGN:
        return sign_of(v[0], e->type);
    case FLOOR:
        return is_real ? (union value){.real = floor(v[0].real)} : v[0];
    default:
        if (is_real)
            return (union value){.real = fabs(v[0].real)};
        return v[0].whole < 0 ? operate(oracle, SUBTRACT, nothing, v[0], e->type) : v[0];
    }
}

static union value evaluate_call(struct oracle *oracle, struct expression *e) {
    union value arguments[PARAMETERS_MAX];
    for (int k = 0; k < e->count; k++)
        arguments[k] = evaluate_as(oracle, e->x[k], e->parameters[k]->type);
    if (oracle->verdict != RUNS)
        return nothing;
    for (int k = 0; k < e->count; k++)
        e->parameters[k]->value = arguments[k];
    const struct statement *statement = oracle->statement;
    run_body(oracle, e->body);
    oracle->statement = statement;
    if (!oracle->returns && oracle->verdict == RUNS)
        fail(oracle, UNSUITABLE, "a def that ends without a return");
    oracle->returns = false;
    return convert(oracle, oracle->returned, oracle->returned_type, e->type);
}

union value evaluate(struct oracle *oracle, struct expression *e) {
    if (++oracle->steps > oracle->source->steps_max)
        fail(oracle, UNSUITABLE, "too many steps");
    if (oracle->verdict != RUNS)
        return nothing;
    switch (e->kind) {
    case NUMBER:
        return e->is_real ? (union value){.real = e->number} : (union value){.whole = (int64_t)e->number};
    case INDEX:
        return (union value){.whole = e->index->at};
    case SCALAR:
        return e->symbol->value;
    case READ:
        return evaluate_read(oracle, e);
    case LENGTH:
        return (union value){.whole = e->symbol->shape[e->op]};
    case UNARY:
        return evaluate_unary(oracle, e);
    case BINARY:
        return evaluate_binary(oracle, e);
    case CHOICE:
        return evaluate_as(oracle, is_true(evaluate(oracle, e->x[0]), e->x[0]->type) ? e->x[1] : e->x[2], e->type);
    case FUNCTION:
        return evaluate_function(oracle, e);
    case CAST:
        return evaluate_as(oracle, e->x[0], e->op);
    case REDUCTION:
        return evaluate_reduction(oracle, e);
    case CALL:
        return evaluate_call(oracle, e);
    }
    return nothing;
}
