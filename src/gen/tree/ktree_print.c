/* Prints a kernel tree as text. tests/ktree/reader reads it back.
 *
 *     # y[i] = x[i] + 1                             a comment is a statement, too
 *     kernel y_map(x: buffer f32 read, y: buffer f32, points: long, fault: buffer void as fault.record(),
 *                  action: long) threads 256 resident 4 cluster 2 reports fault, action {
 *       let first: uint = block.x * 256 + thread.x
 *       var so_far: f32 as tree<f32, 0>()           `var` may be SET; `as` an object of the printers' library
 *       array place: int[2, 4] aligned zeroed       before the type: buffer, shared, dynamic; else the thread's own
 *       let row: shared f32 = &tile[2, 0]           a pointer, here into shared memory
 *       totals total = sum f32, argmax f32 narrow
 *       function term(at: int, so_far: f32 changes): total { return total{x[at], at} }
 *       loop k: int in 0..n step 2 while go down unrolled 4 { set place[k, 0] = k; copy 4 &place[k] = &x[k] }
 *       while !done { break }
 *       scope out { if a < b { leave out } else { barrier } }
 *       update add y[k], 1:f32
 *       fault 8, value at point sets failed
 *       note 1
 *       call read<4>(&place[0], &x[k])
 *     }
 *
 * It prints one statement on each line. Constants have their type behind them (3:u8, nan:f32, 0x8000:f16), but for
 * bools and INTs, and so do calls whose type is neither always the same nor their first static (tree.total:f32(terms)).
 * quick<usual>(a / b) and short(a / b) are the ways of operations. There is no space before the < of statics, before
 * the { of a total, and before and after the : of a type, but in definitions. */
#include "base/status.h"
#include "base/text.h"
#include "gen/tree/ktree_text.h"
#include <inttypes.h>
#include <string.h>

struct printer {
    const struct le_kernel_tree *t;
    struct le_text *out;
    int depth;
};

/* ---- words */

const char *le_ktree_op_name(int code) {
    static const char *const others[LE_KTREE_OPS] = {[LE_CODE_MULADD] = "muladd",
                                                     [LE_CODE_MULSUB] = "mulsub",
                                                     [LE_CODE_NMULADD] = "nmuladd",
                                                     [LE_KTREE_QUOTIENT] = "quotient",
                                                     [LE_KTREE_REMAINDER] = "remainder"};
    if (code >= 0 && code < LE_OPS)
        return le_op_info((enum le_op)code)->name;
    return code >= 0 && code < LE_KTREE_OPS ? others[code] : NULL;
}

int le_ktree_op_arity(int code) {
    if (code < LE_OPS)
        return le_op_info((enum le_op)code)->arity;
    return code < LE_CODES ? 3 : 2;
}

int le_ktree_op_binding(int code) {
    static const int bindings[LE_OPS] = {
        [LE_OP_LOR] = 2,  [LE_OP_LAND] = 3, [LE_OP_EQ] = 4,        [LE_OP_NE] = 4,   [LE_OP_LT] = 4,
        [LE_OP_LE] = 4,   [LE_OP_GT] = 4,   [LE_OP_GE] = 4,        [LE_OP_OR] = 5,   [LE_OP_XOR] = 6,
        [LE_OP_AND] = 7,  [LE_OP_SHL] = 8,  [LE_OP_SHR] = 8,       [LE_OP_ADD] = 9,  [LE_OP_SUB] = 9,
        [LE_OP_MUL] = 10, [LE_OP_DIV] = 10, [LE_OP_FLOORDIV] = 10, [LE_OP_MOD] = 10, [LE_OP_POW] = 10};
    return code >= 0 && code < LE_OPS ? bindings[code] : 0;
}

const char *const le_thread_number_names[LE_THREAD_NUMBERS] = {
    [LE_THREAD_X] = "thread.x",   [LE_BLOCK_X] = "block.x",   [LE_BLOCK_Y] = "block.y",
    [LE_THREADS_X] = "threads.x", [LE_BLOCKS_X] = "blocks.x", [LE_BLOCKS_Y] = "blocks.y"};

const char *const le_ktree_updates[] = {
    [LE_SCATTER_SET] = "set", [LE_SCATTER_ADD] = "add", [LE_SCATTER_SUB] = "sub", [LE_SCATTER_MUL] = "mul",
    [LE_SCATTER_DIV] = "div", [LE_SCATTER_MIN] = "min", [LE_SCATTER_MAX] = "max"};

const char *const le_ktree_words[] = {
    [LE_STATEMENT_LET] = "let",           [LE_STATEMENT_VARIABLE] = "var",  [LE_STATEMENT_ARRAY] = "array",
    [LE_STATEMENT_SET] = "set",           [LE_STATEMENT_COPY] = "copy",     [LE_STATEMENT_LOOP] = "loop",
    [LE_STATEMENT_WHILE] = "while",       [LE_STATEMENT_BRANCH] = "if",     [LE_STATEMENT_SCOPE] = "scope",
    [LE_STATEMENT_BREAK] = "break",       [LE_STATEMENT_LEAVE] = "leave",   [LE_STATEMENT_RETURN] = "return",
    [LE_STATEMENT_FUNCTION] = "function", [LE_STATEMENT_TOTALS] = "totals", [LE_STATEMENT_CALL] = "call",
    [LE_STATEMENT_UPDATE] = "update",     [LE_STATEMENT_FAULT] = "fault",   [LE_STATEMENT_NOTE] = "note",
    [LE_STATEMENT_BARRIER] = "barrier",   [LE_STATEMENT_COMMENT] = "#"};

const char *le_ktree_type_name(const struct le_kernel_tree *t, int type) {
    static const char *const positions[] = {"int", "uint", "long", "ulong"};
    if (type == LE_KTREE_VOID)
        return "void";
    if (le_ktree_is_position(type))
        return positions[type - LE_KTREE_INT];
    if (le_ktree_is_totals(type))
        return type - LE_KTREE_TOTALS < t->totals.count ? t->totals.at[type - LE_KTREE_TOTALS].name : "?";
    return le_type_name((enum le_type)type);
}

static void put_type(const struct printer *p, int type) {
    le_text_add(p->out, "%s", le_ktree_type_name(p->t, type));
}

/* ---- expressions */

static void put(const struct printer *p, const struct le_expression *x, int least);

/* Values without a decimal form are printed as hexadecimal bits: 16-bit floats, and NaNs except the usual one. */
static bool put_real(const struct printer *p, enum le_type type, uint64_t bits) {
    float single;
    double wide;
    uint32_t low = (uint32_t)bits;
    memcpy(&single, &low, sizeof single);
    memcpy(&wide, &bits, sizeof wide);
    if (type == LE_F32 && (single == single || low == 0x7fc00000u))
        le_text_add_f32(p->out, single);
    else if (type == LE_F64 && (wide == wide || bits == (uint64_t)0x7ff8 << 48))
        le_text_add_f64(p->out, wide);
    else
        return false;
    return true;
}

static void put_constant(const struct printer *p, const struct le_expression *x) {
    enum le_type type = (enum le_type)x->type;
    if (le_ktree_is_position(x->type)) {
        le_text_add(p->out, "%" PRId64, (int64_t)x->bits);
        if (x->type == LE_KTREE_INT)
            return;
    } else if (type == LE_BOOL) {
        le_text_add(p->out, x->bits & 1 ? "true" : "false");
        return;
    } else if (le_type_is_int(type)) {
        int unused = 64 - le_type_bits(type);
        uint64_t bits = x->bits << unused;
        if (le_type_is_unsigned(type))
            le_text_add(p->out, "%" PRIu64, bits >> unused);
        else
            le_text_add(p->out, "%" PRId64, (int64_t)bits >> unused);
    } else if (!put_real(p, type, x->bits)) {
        le_text_add(p->out, "0x%" PRIx64, x->bits);
    }
    le_text_add(p->out, ":");
    put_type(p, x->type);
}

/* A word and its operands in brackets. */
static void put_applied(const struct printer *p, const char *word, char open, const struct le_expression *x,
                        char close) {
    le_text_add(p->out, "%s%c", word, open);
    for (int k = 0; k < x->count; k++) {
        le_text_add(p->out, k ? ", " : "");
        put(p, x->x[k], 0);
    }
    le_text_add(p->out, "%c", close);
}

static void put_op(const struct printer *p, const struct le_expression *x) {
    const char *name = le_ktree_op_name(x->code);
    int binding = le_ktree_op_binding(x->code);
    if (binding) {
        put(p, x->x[0], binding == LE_BINDING_COMPARISON ? binding + 1 : binding);
        le_text_add(p->out, " %s ", name);
        put(p, x->x[1], binding + 1);
    } else if (x->code == LE_OP_NOT || x->code == LE_OP_LNOT) {
        le_text_add(p->out, "%s", name);
        put(p, x->x[0], LE_BINDING_PREFIX);
    } else {
        put_applied(p, name ? name : "?", '(', x, ')');
    }
}

static void put_way(const struct printer *p, const struct le_expression *x) {
    if (x->way == LE_WAY_QUICK)
        le_text_add(p->out, "quick<%s>(", x->variable ? x->variable->name : "?");
    else
        le_text_add(p->out, "short(");
    put_op(p, x);
    le_text_add(p->out, ")");
}

static void put_call(const struct printer *p, const struct le_expression *x) {
    const struct le_call_properties *call = &le_calls[x->code];
    le_text_add(p->out, "%s", call->name);
    for (int k = 0; k < x->static_count; k++) {
        le_text_add(p->out, k ? ", " : "<");
        if (x->statics[k].is_type)
            put_type(p, (int)x->statics[k].value);
        else
            le_text_add(p->out, "%" PRId64, x->statics[k].value);
    }
    if (x->static_count > 0)
        le_text_add(p->out, ">");
    if (call->type < 0 && !(x->static_count > 0 && x->statics[0].is_type && x->statics[0].value == x->type)) {
        le_text_add(p->out, ":");
        put_type(p, x->type);
    }
    put_applied(p, "", '(', x, ')');
}

static void put_select(const struct printer *p, const struct le_expression *x) {
    put(p, x->x[0], LE_BINDING_SELECT + 1);
    le_text_add(p->out, " ? ");
    put(p, x->x[1], LE_BINDING_SELECT);
    le_text_add(p->out, " : ");
    put(p, x->x[2], LE_BINDING_SELECT);
}

static void put_bare(const struct printer *p, const struct le_expression *x) {
    switch (x->kind) {
    case LE_EXPRESSION_CONSTANT:
        put_constant(p, x);
        break;
    case LE_EXPRESSION_VARIABLE:
        le_text_add(p->out, "%s", x->variable->name);
        break;
    case LE_EXPRESSION_OP:
        if (x->way == LE_WAY_EXACT)
            put_op(p, x);
        else
            put_way(p, x);
        break;
    case LE_EXPRESSION_CAST:
        put_applied(p, le_ktree_type_name(p->t, x->type), '(', x, ')');
        break;
    case LE_EXPRESSION_SELECT:
        put_select(p, x);
        break;
    case LE_EXPRESSION_ELEMENT:
        put_applied(p, x->variable->name, '[', x, ']');
        break;
    case LE_EXPRESSION_ADDRESS:
        le_text_add(p->out, "&");
        put(p, x->x[0], LE_BINDING_PREFIX);
        break;
    case LE_EXPRESSION_THREAD:
        le_text_add(p->out, "%s", le_thread_number_names[x->code]);
        break;
    case LE_EXPRESSION_CALL:
        put_call(p, x);
        break;
    case LE_EXPRESSION_TOTAL:
        put_applied(p, le_ktree_type_name(p->t, x->type), '{', x, '}');
        break;
    case LE_EXPRESSION_PART:
        le_text_add(p->out, "part<%d>:", x->code);
        put_applied(p, le_ktree_type_name(p->t, x->type), '(', x, ')');
        break;
    }
}

static int binding_of(const struct le_expression *x) {
    if (x->kind == LE_EXPRESSION_SELECT)
        return LE_BINDING_SELECT;
    int binding = x->kind == LE_EXPRESSION_OP && x->way == LE_WAY_EXACT ? le_ktree_op_binding(x->code) : 0;
    return binding ? binding : LE_BINDING_PREFIX;
}

static void put(const struct printer *p, const struct le_expression *x, int least) {
    bool loose = binding_of(x) < least;
    le_text_add(p->out, loose ? "(" : "");
    put_bare(p, x);
    le_text_add(p->out, loose ? ")" : "");
}

/* ---- variables */

/* "x: buffer f32 read". A pointer into local or shared memory has no extents. */
static void put_declared(const struct printer *p, const struct le_variable *v) {
    static const char *const memories[] = {[LE_KTREE_NO_ARRAY] = "",
                                           [LE_KTREE_BUFFER] = "buffer ",
                                           [LE_KTREE_LOCAL] = "local ",
                                           [LE_KTREE_SHARED] = "shared ",
                                           [LE_KTREE_DYNAMIC] = "dynamic "};
    bool local = v->memory == LE_KTREE_LOCAL, extents = (local || v->memory == LE_KTREE_SHARED) && v->extents[0] > 0;
    le_text_add(p->out, "%s: %s", v->name, local && extents ? "" : memories[v->memory]);
    put_type(p, v->type);
    for (int k = 0; extents && k < v->axes; k++)
        le_text_add(p->out, "%s%d", k ? ", " : "[", v->extents[k]);
    le_text_add(p->out, "%s%s", extents && v->axes > 0 ? "]" : "", v->read_only ? " read" : "");
    if (!v->object)
        return;
    le_text_add(p->out, " as ");
    put(p, v->object, LE_BINDING_PREFIX);
}

static void put_parameters(const struct printer *p, struct le_variable *const *parameters, int count) {
    le_text_add(p->out, "(");
    for (int k = 0; k < count; k++) {
        le_text_add(p->out, k ? ", " : "");
        put_declared(p, parameters[k]);
        le_text_add(p->out, parameters[k]->changes ? " changes" : "");
    }
    le_text_add(p->out, ")");
}

/* ---- statements */

static void put_value(const struct printer *p, const char *before, const struct le_expression *x) {
    if (!x)
        return;
    le_text_add(p->out, "%s", before);
    put(p, x, 0);
}

static void put_role(const struct printer *p, const struct le_statement *s) {
    static const char *const roles[LE_ROLES] = {
        [LE_ROLE_SERIAL] = "", [LE_ROLE_ROLLED] = " rolled", [LE_ROLE_UNROLLED] = " unrolled"};
    le_text_add(p->out, "%s", roles[s->role]);
    if (s->role == LE_ROLE_UNROLLED && s->count)
        le_text_add(p->out, " %d", s->count);
}

static void put_loop(const struct printer *p, const struct le_statement *s) {
    le_text_add(p->out, " %s: ", s->variable->name);
    put_type(p, s->variable->type);
    put_value(p, " in ", s->x);
    put_value(p, "..", s->to);
    if (!le_ktree_is_constant(s->step, 1))
        put_value(p, " step ", s->step);
    put_value(p, " while ", s->guard);
    le_text_add(p->out, s->down ? " down" : "");
    put_role(p, s);
}

static void put_totals(const struct printer *p, const struct le_totals *totals) {
    le_text_add(p->out, " %s =", totals->name);
    if (totals->several) {
        le_text_add(p->out, " several %d ", totals->several);
        put_type(p, totals->of);
    }
    for (int k = 0; k < totals->count; k++) {
        le_text_add(p->out, "%s %s ", k ? "," : "", le_reduction_name(totals->part[k].reduction));
        put_type(p, (int)totals->part[k].type);
    }
    le_text_add(p->out, totals->narrow ? " narrow" : "");
}

static void put_function(const struct printer *p, const struct le_statement *s) {
    le_text_add(p->out, " %s", s->variable->name);
    put_parameters(p, s->parameters, s->parameter_count);
    le_text_add(p->out, ": ");
    put_type(p, s->variable->type);
}

static void put_definition(const struct printer *p, const struct le_statement *s) {
    le_text_add(p->out, " ");
    put_declared(p, s->variable);
    le_text_add(p->out, "%s%s", s->aligned ? " aligned" : "", s->zeroed ? " zeroed" : "");
    put_value(p, " = ", s->x);
}

static void put_fault(const struct printer *p, const struct le_statement *s) {
    le_text_add(p->out, " %d", s->code);
    put_value(p, ", ", s->to);
    put_value(p, " at ", s->x);
    if (s->variable)
        le_text_add(p->out, " sets %s", s->variable->name);
}

/* Two operands: the place first. */
static void put_change(const struct printer *p, const struct le_statement *s, const char *between) {
    put_value(p, " ", s->to);
    put_value(p, between, s->x);
}

/* Word, and what follows it up to the block. */
static void put_line(const struct printer *p, const struct le_statement *s) {
    le_text_add(p->out, "%s", le_ktree_words[s->kind]);
    switch (s->kind) {
    case LE_STATEMENT_LET:
    case LE_STATEMENT_VARIABLE:
    case LE_STATEMENT_ARRAY:
        put_definition(p, s);
        break;
    case LE_STATEMENT_COPY:
        le_text_add(p->out, " %d", s->count);
        put_change(p, s, " = ");
        break;
    case LE_STATEMENT_SET:
        put_change(p, s, " = ");
        break;
    case LE_STATEMENT_UPDATE:
        le_text_add(p->out, " %s", le_ktree_updates[s->code]);
        put_change(p, s, ", ");
        break;
    case LE_STATEMENT_LOOP:
        put_loop(p, s);
        break;
    case LE_STATEMENT_FUNCTION:
        put_function(p, s);
        break;
    case LE_STATEMENT_TOTALS:
        put_totals(p, &p->t->totals.at[s->code]);
        break;
    case LE_STATEMENT_FAULT:
        put_fault(p, s);
        break;
    case LE_STATEMENT_NOTE:
        le_text_add(p->out, " %d", s->code);
        break;
    case LE_STATEMENT_SCOPE:
    case LE_STATEMENT_LEAVE:
        if (s->variable)
            le_text_add(p->out, " %s", s->variable->name);
        break;
    case LE_STATEMENT_COMMENT:
        le_text_add(p->out, " %s", s->text);
        break;
    default:
        put_value(p, " ", s->x);
        put_role(p, s);
        break;
    }
}

void le_ktree_print_line(const struct le_kernel_tree *t, const struct le_statement *s, struct le_text *out) {
    put_line(&(struct printer){.t = t, .out = out}, s);
}

/* ---- blocks */

static void indent(const struct printer *p) {
    le_text_add(p->out, "%*s", 2 * p->depth, "");
}

static void print_statement(struct printer *p, const struct le_statement *s);

static void print_body(struct printer *p, const struct le_block *block) {
    le_text_add(p->out, " {\n");
    p->depth++;
    for (int k = 0; k < block->list.count; k++) {
        indent(p);
        print_statement(p, block->list.at[k]);
    }
    p->depth--;
    indent(p);
    le_text_add(p->out, "}");
}

/* An `else` of one branch goes on with its `if`. */
static void print_otherwise(struct printer *p, const struct le_block *block) {
    le_text_add(p->out, " else");
    if (block->list.count == 1 && block->list.at[0]->kind == LE_STATEMENT_BRANCH) {
        le_text_add(p->out, " ");
        print_statement(p, block->list.at[0]);
        return;
    }
    print_body(p, block);
    le_text_add(p->out, "\n");
}

static void print_statement(struct printer *p, const struct le_statement *s) {
    put_line(p, s);
    if (s->body)
        print_body(p, s->body);
    if (s->otherwise && s->otherwise->list.count > 0)
        print_otherwise(p, s->otherwise);
    else
        le_text_add(p->out, "\n");
}

void le_ktree_print(const struct le_kernel_tree *t, struct le_text *out) {
    struct printer p = {.t = t, .out = out};
    le_text_add(out, "# %s\nkernel %s", t->comment ? t->comment : "", t->name);
    put_parameters(&p, t->parameters.at, t->parameters.count);
    const int numbers[] = {t->threads, t->resident, t->cluster};
    static const char *const words[] = {"threads", "resident", "cluster"};
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (numbers[k])
            le_text_add(out, " %s %d", words[k], numbers[k]);
    if (t->fault) {
        le_text_add(out, " reports %s", t->fault->name);
        put_value(&p, ", ", t->action);
    }
    print_body(&p, t->root);
    le_text_add(out, "\n");
}
