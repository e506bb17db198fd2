/* Reads types and expressions of a kernel's text. */
#include "base/text.h"
#include "tests/ktree/reader/kernel_reader.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static struct le_expression *expression(struct kernel_reader *r, int least);

/* ---- types and constants */

/* -1: the word is not a type. */
static int type_of(const struct kernel_reader *r, struct word w) {
    static const char *const positions[] = {"int", "uint", "long", "ulong"};
    for (int k = 0; k < 4; k++)
        if (le_word_is(w, positions[k]))
            return LE_KTREE_INT + k;
    for (int k = 0; k < r->tree->totals.count; k++)
        if (le_word_is(w, r->tree->totals.at[k].name))
            return LE_KTREE_TOTALS + k;
    enum le_type type = le_type_parse(w.at, (size_t)w.length);
    return type != LE_NONE ? (int)type : le_word_is(w, "void") ? LE_KTREE_VOID : -1;
}

int le_kernel_type(struct kernel_reader *r) {
    struct word w = le_read_look(&r->text);
    int type = type_of(r, w);
    if (type < 0)
        le_read_fail_not(&r->text, w, "a type");
    r->text.at += w.length;
    return type;
}

static bool is_in(char c, const char *set) {
    return c && strchr(set, c);
}

/* "-0x1f", "-1.5e-07", "inf": from the reader's place up to *end. */
static bool find_number(const struct kernel_reader *r, const char **end) {
    const char *at = r->text.at, *stop = r->text.end;
    at += at < stop && *at == '-';
    if (stop - at > 4 && (memcmp(at, "inf:", 4) == 0 || memcmp(at, "nan:", 4) == 0)) {
        *end = at + 3;
        return true;
    }
    if (at == stop || !le_is_digit(*at))
        return false;
    bool hex = stop - at > 2 && at[0] == '0' && at[1] == 'x';
    for (at += hex ? 2 : 0; at < stop; at++) {
        bool point = !hex && *at == '.' && at + 1 < stop && le_is_digit(at[1]);
        bool sign = !hex && is_in(*at, "+-") && at[-1] == 'e';
        if (!le_is_digit(*at) && !is_in(*at, hex ? "abcdef" : "e") && !point && !sign)
            break;
    }
    *end = at;
    return true;
}

static bool bits_of(int type, const char *text, uint64_t *bits) {
    char *end = NULL;
    float single;
    double wide;
    errno = 0;
    if (strncmp(text, "0x", 2) == 0) {
        *bits = strtoull(text, &end, 16);
    } else if (type == LE_F32) {
        single = strtof(text, &end);
        *bits = 0;
        memcpy(bits, &single, sizeof single);
        errno = 0;
    } else if (type == LE_F64) {
        wide = strtod(text, &end);
        memcpy(bits, &wide, sizeof wide);
        errno = 0;
    } else if (le_ktree_is_position(type) || le_type_is_int((enum le_type)type)) {
        *bits = text[0] == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
    }
    return end && end != text && !*end && !errno;
}

static struct le_expression *constant(struct kernel_reader *r, const char *end) {
    char text[64];
    size_t length = (size_t)(end - r->text.at);
    int type = LE_KTREE_INT;
    uint64_t bits = 0;
    if (length >= sizeof text)
        le_read_fail(&r->text, "the number is too long");
    memcpy(text, r->text.at, length);
    text[length] = 0;
    r->text.at = end;
    if (le_read_peek(&r->text) == ':') {
        r->text.at++;
        type = le_kernel_type(r);
    }
    if (type == LE_KTREE_VOID || le_ktree_is_totals(type) || !bits_of(type, text, &bits))
        le_read_fail(&r->text, "'%s' is not a valid %s", text, le_ktree_type_name(r->tree, type));
    return le_ktree_constant(r->tree, type, bits);
}

/* ---- operations */

struct operands {
    struct le_expression **at;
    int count, capacity;
};

static struct operands list(struct kernel_reader *r, char open, char close) {
    struct operands x = {0};
    le_read_expect(&r->text, open);
    while (!le_read_accept(&r->text, close)) {
        if (x.count > 0)
            le_read_expect(&r->text, ',');
        struct le_expression *one = expression(r, 0);
        *LE_PUSH(r->text.arena, &x) = one;
    }
    return x;
}

static struct le_expression *operation(struct kernel_reader *r, int code, struct le_expression *const *x, int count) {
    if (count != le_ktree_op_arity(code))
        le_read_fail(&r->text, "%s has %d operands, not %d", le_ktree_op_name(code), le_ktree_op_arity(code), count);
    int type = x[0]->type;
    for (int k = 1; k < count && le_ktree_is_position(type); k++)
        if (le_ktree_is_position(x[k]->type))
            type = le_ktree_wider(type, x[k]->type);
    if (le_ktree_gives_bool(code))
        type = LE_BOOL;
    return le_ktree_op(r->tree, code, type, x, count);
}

static int function_of(struct word w) {
    for (int code = 0; code < LE_KTREE_OPS; code++) {
        const char *name = le_ktree_op_name(code);
        if (name && le_ktree_op_binding(code) == 0 && le_word_is(w, name))
            return code;
    }
    return -1;
}

/* The longest operator that is there; -1: none. */
static int infix_at(const struct kernel_reader *r) {
    int found = -1;
    size_t most = 0;
    for (int code = 0; code < LE_OPS; code++) {
        const char *name = le_ktree_op_name(code);
        size_t length = strlen(name);
        if (le_ktree_op_binding(code) && length > most && (size_t)(r->text.end - r->text.at) >= length &&
            memcmp(r->text.at, name, length) == 0) {
            found = code;
            most = length;
        }
    }
    return found;
}

/* quick<usual>(a / b), short(a / b) */
static struct le_expression *way(struct kernel_reader *r, enum le_way way) {
    struct le_variable *usual = NULL;
    if (way == LE_WAY_QUICK) {
        le_read_expect(&r->text, '<');
        usual = le_kernel_find(r, le_read_take(&r->text, "a variable"));
        le_read_expect(&r->text, '>');
    }
    le_read_expect(&r->text, '(');
    struct le_expression *x = expression(r, 0);
    le_read_expect(&r->text, ')');
    if (x->kind != LE_EXPRESSION_OP || x->way != LE_WAY_EXACT)
        le_read_fail(&r->text, "only an operation has ways");
    x->way = way;
    x->variable = usual;
    return x;
}

/* ---- calls */

static int call_of(struct word w) {
    for (int k = 0; k < LE_CALLS; k++)
        if (le_word_is(w, le_calls[k].name))
            return k;
    return -1;
}

static struct le_static read_static(struct kernel_reader *r) {
    if (le_read_look(&r->text).length > 0)
        return LE_STATIC_TYPE(le_kernel_type(r));
    return LE_STATIC_NUMBER(le_read_whole(&r->text, -INT64_MAX, INT64_MAX));
}

static struct le_expression *call(struct kernel_reader *r, int code) {
    const struct le_call_properties *p = &le_calls[code];
    struct le_static statics[32];
    int count = 0, type = p->type;
    if (le_read_peek(&r->text) == '<')
        do {
            r->text.at++;
            if (count == (int)ARRAY_LEN(statics))
                le_read_fail(&r->text, "too many statics");
            statics[count++] = read_static(r);
        } while (le_read_next(&r->text) == ',');
    if (count > 0)
        le_read_expect(&r->text, '>');
    if (count != p->statics)
        le_read_fail(&r->text, "%s takes %d statics, not %d", p->name, p->statics, count);
    if (type < 0 && count > 0 && statics[0].is_type)
        type = (int)statics[0].value;
    if (p->type < 0 && le_read_accept(&r->text, ':'))
        type = le_kernel_type(r);
    if (type < 0)
        le_read_fail(&r->text, "the type of %s is missing", p->name);
    struct operands x = list(r, '(', ')');
    if (x.count != p->operands)
        le_read_fail(&r->text, "%s takes %d operands, not %d", p->name, p->operands, x.count);
    return le_ktree_call(r->tree, (enum le_library_call)code, type, statics, x.at);
}

/* part<1>:f32(totals, empty) */
static struct le_expression *part(struct kernel_reader *r) {
    le_read_expect(&r->text, '<');
    int number = (int)le_read_whole(&r->text, 0, INT_MAX);
    le_read_expect(&r->text, '>');
    le_read_expect(&r->text, ':');
    int type = le_kernel_type(r);
    struct operands x = list(r, '(', ')');
    if (x.count != 2)
        le_read_fail(&r->text, "a part has 2 operands, not %d", x.count);
    return le_ktree_part(r->tree, type, x.at[0], number, x.at[1]);
}

/* ---- what begins with a word */

/* f(x), by its name. */
static struct le_expression *applied(struct kernel_reader *r, struct word w) {
    int code = function_of(w), type = type_of(r, w), library = call_of(w);
    if (le_word_is(w, "short"))
        return way(r, LE_WAY_SHORT);
    if (code < 0 && type < 0 && library < 0)
        le_read_fail_none(&r->text, "function", w);
    if (code < 0 && type < 0)
        return call(r, library);
    struct operands x = list(r, '(', ')');
    if (code >= 0)
        return operation(r, code, x.at, x.count);
    if (x.count != 1)
        le_read_fail(&r->text, "a cast of %d values", x.count);
    return le_ktree_cast(r->tree, type, x.at[0]);
}

/* f<...>(...) */
static struct le_expression *applied_with_statics(struct kernel_reader *r, struct word w) {
    if (le_word_is(w, "quick"))
        return way(r, LE_WAY_QUICK);
    if (le_word_is(w, "part"))
        return part(r);
    if (call_of(w) < 0)
        le_read_fail_none(&r->text, "function", w);
    return call(r, call_of(w));
}

static struct le_expression *element(struct kernel_reader *r, struct word w) {
    struct le_variable *array = le_kernel_find(r, w);
    struct operands x = list(r, '[', ']');
    if (x.count < 1 || x.count > LE_KTREE_AXES)
        le_read_fail(&r->text, "%d subscripts", x.count);
    struct le_expression *e = le_ktree_element(r->tree, array, x.at[0]);
    e->x = x.at;
    e->count = x.count;
    return e;
}

static struct le_expression *total(struct kernel_reader *r, struct word w) {
    int type = type_of(r, w);
    if (!le_ktree_is_totals(type))
        le_read_fail_none(&r->text, "totals", w);
    struct operands x = list(r, '{', '}');
    return le_ktree_total(r->tree, type, x.at, x.count);
}

static struct le_expression *named(struct kernel_reader *r) {
    struct word w = le_read_take(&r->text, "an expression");
    switch (le_read_peek(&r->text)) {
    case '(':
        return applied(r, w);
    case '<':
        return applied_with_statics(r, w);
    case '[':
        return element(r, w);
    case '{':
        return total(r, w);
    case ':':
        if (call_of(w) >= 0)
            return call(r, call_of(w));
        break;
    default:
        break;
    }
    for (int k = 0; k < LE_THREAD_NUMBERS; k++)
        if (le_word_is(w, le_thread_number_names[k]))
            return le_ktree_thread(r->tree, (enum le_thread_number)k);
    if (le_word_is(w, "true") || le_word_is(w, "false"))
        return le_ktree_constant(r->tree, LE_BOOL, le_word_is(w, "true"));
    return le_ktree_use(r->tree, le_kernel_find(r, w));
}

/* ---- operators */

static struct le_expression *prefixed(struct kernel_reader *r) {
    struct le_expression *x;
    const char *end;
    le_kernel_enter(r);
    le_read_next(&r->text);
    if (find_number(r, &end)) {
        x = constant(r, end);
    } else if (le_read_accept(&r->text, '(')) {
        x = expression(r, 0);
        le_read_expect(&r->text, ')');
    } else if (le_read_accept(&r->text, '&')) {
        x = le_ktree_address(r->tree, prefixed(r));
    } else if (le_read_accept(&r->text, '!')) {
        x = prefixed(r);
        x = operation(r, LE_OP_LNOT, &x, 1);
    } else if (le_read_accept(&r->text, '~')) {
        x = prefixed(r);
        x = operation(r, LE_OP_NOT, &x, 1);
    } else {
        x = named(r);
    }
    r->depth--;
    return x;
}

static struct le_expression *expression(struct kernel_reader *r, int least) {
    struct le_expression *x = prefixed(r);
    le_kernel_enter(r);
    for (;;) {
        le_read_next(&r->text);
        int code = infix_at(r), binding = code >= 0 ? le_ktree_op_binding(code) : 0;
        if (code < 0 || binding < least)
            break;
        r->text.at += strlen(le_ktree_op_name(code));
        struct le_expression *both[] = {x, expression(r, binding + 1)};
        x = operation(r, code, both, 2);
    }
    if (least <= LE_BINDING_SELECT && le_read_accept(&r->text, '?')) {
        struct le_expression *a = expression(r, LE_BINDING_SELECT);
        le_read_expect(&r->text, ':');
        x = le_ktree_select(r->tree, x, a, expression(r, LE_BINDING_SELECT));
    }
    r->depth--;
    return x;
}

struct le_expression *le_kernel_expression(struct kernel_reader *r) {
    return expression(r, 0);
}
