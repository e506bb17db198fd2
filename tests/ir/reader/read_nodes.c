/* Reads nodes exactly as written: nothing is folded, and only nodes that could not be walked or printed are rejected.
 */
#include "tests/ir/reader/reader.h"
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define NESTING_MAX 64 /* of parentheses in a line */

struct le_node *le_read_made(struct reader *r, const struct le_node *model) {
    struct le_node *n = le_node_make(r->ir, model);
    if (n->depth > READ_DEPTH_MAX)
        le_read_fail(&r->text, "the node is nested too deeply");
    return n;
}

/* Nodes up to `close`, separated by commas. */
static int node_list(struct reader *r, char close, struct le_node **out, int most) {
    int count = 0;
    while (!le_read_accept(&r->text, close)) {
        if (count > 0)
            le_read_expect(&r->text, ',');
        if (count == most)
            le_read_fail(&r->text, "more than %d entries", most);
        out[count++] = le_read_node(r);
    }
    return count;
}

struct le_node **le_read_nodes(struct reader *r, int *count) {
    struct le_node *few[LEAT_RANK_MAX];
    le_read_expect(&r->text, '[');
    *count = node_list(r, ']', few, LEAT_RANK_MAX);
    struct le_node **out = LE_NEW_ARRAY(r->text.arena, *count, struct le_node *);
    memcpy(out, few, (size_t)*count * sizeof *out);
    return out;
}

int *le_read_indices(struct reader *r, int *count) {
    struct {
        int *at;
        int count, capacity;
    } out = {.at = LE_NEW_ARRAY(r->text.arena, 1, int)};
    le_read_expect(&r->text, '{');
    while (!le_read_accept(&r->text, '}')) {
        if (out.count > 0)
            le_read_expect(&r->text, ',');
        int index = le_read_find(r, &r->indices, "index");
        *LE_PUSH(r->text.arena, &out) = index;
    }
    *count = out.count;
    return out.at;
}

/* Reads a real number, independent of the process's locale. */
static uint64_t real_bits(enum le_type type, const char *text, char **end) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0), old = uselocale(c_locale);
    uint64_t bits = 0;
    float single = strtof(text, end);
    double real = strtod(text, end);
    uselocale(old);
    if (c_locale)
        freelocale(c_locale);
    if (type == LE_F32)
        memcpy(&bits, &single, sizeof single);
    else
        memcpy(&bits, &real, sizeof real);
    return bits;
}

static bool whole_fits(enum le_type type, const char *text, char **end, uint64_t *bits) {
    int width = le_type_bits(type);
    errno = 0;
    if (le_type_is_unsigned(type)) {
        *bits = strtoull(text, end, 10);
        return *text != '-' && errno == 0 && (width == 64 || *bits >> width == 0);
    }
    int64_t value = strtoll(text, end, 10);
    *bits = (uint64_t)value;
    if (width < 64)
        *bits &= ((uint64_t)1 << width) - 1;
    return errno == 0 && (width == 64 || (value >= -((int64_t)1 << (width - 1)) && value < (int64_t)1 << (width - 1)));
}

/* A NaN is written as its bits. */
static bool constant_bits(enum le_type type, char *text, char **end, uint64_t *bits) {
    if (type == LE_BOOL) {
        *bits = strcmp(text, "true") == 0;
        *end = text + (*bits || strcmp(text, "false") == 0 ? strlen(text) : 0);
        return true;
    }
    if (le_type_is_int(type))
        return whole_fits(type, text, end, bits);
    if (type != LE_F32 && type != LE_F64)
        return false;
    if (text[0] == '0' && text[1] == 'x')
        *bits = strtoull(text, end, 16);
    else
        *bits = real_bits(type, text, end);
    return type == LE_F64 || *bits >> 32 == 0;
}

static struct le_node *constant(struct reader *r, struct word w) {
    enum le_type type = LE_I64;
    char text[64], *end = text;
    uint64_t bits = 0;
    if (w.length >= (int)sizeof text)
        le_read_fail(&r->text, "the number is too long");
    memcpy(text, w.at, (size_t)w.length);
    text[w.length] = 0;
    if (le_read_peek(&r->text) == ':') {
        r->text.at++;
        type = le_read_type(r);
    }
    if (!constant_bits(type, text, &end, &bits) || end == text || *end)
        le_read_fail(&r->text, "'%s' is not a valid %s", text, le_type_name(type));
    return le_node_const(r->ir, type, bits);
}

/* After a `;` in a load: an edge mode, possibly with a fill, or the number of axes that may broadcast. */
static void load_mode(struct reader *r, struct le_node *model) {
    static const char *const edges[LE_EDGES] = {[LE_EDGE_CLAMP] = "clamp",
                                                [LE_EDGE_WRAP] = "wrap",
                                                [LE_EDGE_MIRROR] = "mirror",
                                                [LE_EDGE_SYMMETRIC] = "symmetric",
                                                [LE_EDGE_FILL] = "fill"};
    if (le_read_accept_word(&r->text, "stretch")) {
        model->stretch = le_read_number(r, LEAT_RANK_MAX);
        return;
    }
    if (model->edge != LE_EDGE_NONE)
        le_read_fail(&r->text, "a second edge mode");
    model->edge = (enum le_edge)le_read_choose(&r->text, edges, LE_EDGES, "edge mode");
    if (model->edge == LE_EDGE_FILL)
        model->fill = le_read_node(r);
}

/* The rest of a load after the value's name: [subscripts; edge; stretch n]!?access */
static struct le_node *load(struct reader *r, int value) {
    struct le_node *x[LEAT_RANK_MAX];
    struct le_node model = {.kind = LE_NODE_LOAD, .value = value, .operands = x, .access = -1};
    model.type = le_type_compute(r->ir->values.at[value].type);
    le_read_expect(&r->text, '[');
    while (!le_read_accept(&r->text, ']')) {
        if (le_read_accept(&r->text, ';')) {
            load_mode(r, &model);
            continue;
        }
        if (model.operand_count > 0)
            le_read_expect(&r->text, ',');
        if (model.operand_count == LEAT_RANK_MAX)
            le_read_fail(&r->text, "more than %d subscripts", LEAT_RANK_MAX);
        x[model.operand_count++] = le_read_node(r);
    }
    model.live = le_read_accept(&r->text, '!');
    model.trusted = model.operand_count > 0 && !le_read_accept(&r->text, '?');
    if (model.operand_count > 0 && !model.trusted && le_is_digit(le_read_peek(&r->text)))
        model.access = le_read_access(r);
    return le_read_made(r, &model);
}

/* The access may be defined further down. */
int le_read_access(struct reader *r) {
    int access = le_read_number(r, 1 << 28);
    if (access > r->access_most)
        r->access_most = access;
    return access;
}

struct le_node *le_read_length(struct reader *r) {
    int symbol = le_read_find(r, &r->symbols, "symbol");
    int axis = le_read_number(r, LEAT_RANK_MAX - 1);
    le_read_expect(&r->text, ')');
    return le_node_len(r->ir, symbol, axis);
}

/* name or name.type; an operation without a type has type i64. */
struct head {
    struct word name;
    enum le_type type;
};

static struct head head_of(struct reader *r) {
    struct head h = {.name = {.at = r->text.at}, .type = LE_NONE};
    while (le_read_peek(&r->text) != '\n' && le_read_peek(&r->text) != ' ' && le_read_peek(&r->text) != ')' &&
           le_read_peek(&r->text) != '(')
        r->text.at++;
    h.name.length = (int)(r->text.at - h.name.at);
    for (int k = h.name.length - 1; k > 0 && h.type == LE_NONE; k--)
        if (h.name.at[k] == '.') {
            h.type = le_type_parse(h.name.at + k + 1, (size_t)(h.name.length - k - 1));
            h.name.length = k;
        }
    return h;
}

static int code_of(struct word name) {
    for (int k = 0; k < LE_OPS; k++)
        if (le_word_is(name, le_op_info((enum le_op)k)->name))
            return k;
    for (int k = LE_CODE_MULADD; k <= LE_CODE_NMULADD; k++)
        if (le_word_is(name, le_code_name(k)))
            return k;
    return -1;
}

static bool gives_bool(int code) {
    if (code >= LE_OPS)
        return false;
    enum le_rule rule = le_op_info((enum le_op)code)->rule;
    return rule == LE_RULE_COMPARE || rule == LE_RULE_LOGIC || rule == LE_RULE_CLASSIFY;
}

/* Sets kind, code and type from the head and the operands. Returns false if there is no such node. */
static bool name_reduction(struct head h, struct le_node *m) {
    int reduction = (int)le_reduction_parse(h.name.at, (size_t)h.name.length);
    bool arg = reduction == LE_RED_ARGMIN || reduction == LE_RED_ARGMAX, counts = le_word_is(h.name, "count");
    m->kind = counts ? LE_NODE_COUNT : LE_NODE_REDUCE;
    m->code = counts ? 0 : reduction;
    m->type = counts || arg || m->operand_count == 0 ? LE_I64 : m->operands[0]->type;
    return counts || (reduction < LE_REDUCTIONS && m->operand_count > 0);
}

static bool name_operation(struct reader *r, struct head h, struct le_node *m) {
    enum le_type type = h.type == LE_NONE ? LE_I64 : h.type;
    m->kind = LE_NODE_OP;
    m->code = code_of(h.name);
    m->type = type;
    if (m->code < 0 || m->operand_count == 0)
        return false;
    if (gives_bool(m->code) && type != m->operands[0]->type)
        le_read_fail(&r->text, "the operand is %s, not %s", le_type_name(m->operands[0]->type), le_type_name(type));
    if (gives_bool(m->code))
        m->type = LE_BOOL;
    return true;
}

static bool name_form(struct reader *r, struct head h, struct le_node *m) {
    enum le_type cast = le_type_parse(h.name.at, (size_t)h.name.length);
    if (m->index_count > 0)
        return name_reduction(h, m);
    if (le_word_is(h.name, "RAND") || le_word_is(h.name, "RANDN")) {
        m->kind = LE_NODE_RAND;
        m->code = le_word_is(h.name, "RAND") ? LE_CODE_RAND : LE_CODE_RANDN;
        m->type = LE_F64;
    } else if (le_word_is(h.name, "select") || le_word_is(h.name, "else")) {
        m->kind = le_word_is(h.name, "else") ? LE_NODE_ELSE : LE_NODE_SELECT;
        m->type = m->operand_count > 1 ? m->operands[1]->type : LE_NONE;
    } else if (le_word_is(h.name, "second")) {
        m->kind = LE_NODE_SECOND;
        m->type = m->operand_count > 0 ? m->operands[0]->type : LE_NONE;
    } else if (le_word_is(h.name, "round") && le_type_is_half(h.type)) {
        m->kind = LE_NODE_ROUND;
        m->rounded = h.type;
        m->type = m->operand_count > 0 ? LE_F32 : LE_NONE;
    } else if (cast != LE_NONE) {
        m->kind = LE_NODE_CAST;
        m->type = m->operand_count > 0 ? cast : LE_NONE;
    } else
        return name_operation(r, h, m);
    return m->type != LE_NONE;
}

static struct le_node *form(struct reader *r) {
    struct {
        struct le_node **at;
        int count, capacity;
    } x = {.at = NULL};
    struct le_node model = {.indices = NULL};
    struct head h = head_of(r);
    if (le_word_is(h.name, "len"))
        return le_read_length(r);
    if (++r->nesting > NESTING_MAX)
        le_read_fail(&r->text, "parentheses are nested too deeply");
    if (le_read_next(&r->text) == '{')
        model.indices = le_read_indices(r, &model.index_count);
    while (!le_read_accept(&r->text, ')')) {
        struct le_node *operand = le_read_node(r);
        *LE_PUSH(r->text.arena, &x) = operand;
    }
    r->nesting--;
    model.operands = x.at;
    model.operand_count = x.count;
    if (!name_form(r, h, &model))
        le_read_fail(&r->text, "'%.*s' is not a node with %d operands", h.name.length < 60 ? h.name.length : 60,
                     h.name.at, model.operand_count);
    return le_read_made(r, &model);
}

int le_read_local(struct reader *r) {
    return le_read_find(r, &r->locals, "variable");
}

struct le_node *le_read_node(struct reader *r) {
    if (le_read_accept(&r->text, '$')) {
        int local = le_read_local(r);
        enum le_type type = le_type_compute(r->ir->locals.at[local].type);
        return le_node_make(r->ir, &(struct le_node){.kind = LE_NODE_LOCAL, .type = type, .local = local});
    }
    if (le_read_accept(&r->text, '('))
        return form(r);
    if (le_read_accept(&r->text, '%')) {
        if (r->numbered.count == 0)
            le_read_fail(&r->text, "no node is numbered on this line");
        return r->numbered.at[le_read_number(r, r->numbered.count - 1)];
    }
    struct word w = le_read_take(&r->text, "a node");
    if (le_read_peek(&r->text) == '[') {
        int value = le_names_get(&r->values, w.at, (size_t)w.length);
        if (value < 0)
            le_read_fail_none(&r->text, "value", w);
        if (++r->nesting > NESTING_MAX)
            le_read_fail(&r->text, "brackets are nested too deeply");
        struct le_node *n = load(r, value);
        r->nesting--;
        return n;
    }
    if (le_read_peek(&r->text) == ':' || le_is_digit(*w.at) || *w.at == '-')
        return constant(r, w);
    int index = le_names_get(&r->indices, w.at, (size_t)w.length);
    if (index < 0)
        le_read_fail_none(&r->text, "index", w);
    return le_node_index(r->ir, index);
}
