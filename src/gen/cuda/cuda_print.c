/* Prints a kernel tree as CUDA C: a walk over its statements and expressions. */
#include "gen/cuda/cuda_print.h"
#include "gen/cuda/spelling.h"
#include <string.h>

struct printer {
    const struct le_kernel_tree *t;
    struct le_arena *arena;
    struct words *out;
    int depth;
};

/* How tightly the operators of C bind. */
enum precedence {
    ANYTHING,
    CHOICE,
    OR,
    AND,
    BIT_OR,
    BIT_XOR,
    BIT_AND,
    EQUALITY,
    COMPARISON,
    SHIFT,
    SUM,
    PRODUCT,
    UNARY,
    PRIMARY
};

static const char *text_of(const struct printer *p, const struct le_expression *x, enum precedence least);

/* ---- types */

static const char *variable_type(const struct le_kernel_tree *t, int type) {
    return le_ktree_is_totals(type) ? t->totals.at[type - LE_KTREE_TOTALS].name : le_cuda_type(type);
}

static const char *stored_type(const struct printer *p, int type) {
    return le_ktree_is_totals(type) ? variable_type(p->t, type) : le_cuda_stored(type);
}

/* ---- expressions */

static const struct {
    const char *sign;
    enum precedence precedence;
} infix[LE_KTREE_OPS] = {[LE_OP_ADD] = {"+", SUM},
                         [LE_OP_SUB] = {"-", SUM},
                         [LE_OP_MUL] = {"*", PRODUCT},
                         [LE_KTREE_QUOTIENT] = {"/", PRODUCT},
                         [LE_KTREE_REMAINDER] = {"%", PRODUCT},
                         [LE_OP_SHL] = {"<<", SHIFT},
                         [LE_OP_SHR] = {">>", SHIFT},
                         [LE_OP_AND] = {"&", BIT_AND},
                         [LE_OP_XOR] = {"^", BIT_XOR},
                         [LE_OP_OR] = {"|", BIT_OR},
                         [LE_OP_EQ] = {"==", EQUALITY},
                         [LE_OP_NE] = {"!=", EQUALITY},
                         [LE_OP_LT] = {"<", COMPARISON},
                         [LE_OP_LE] = {"<=", COMPARISON},
                         [LE_OP_GT] = {">", COMPARISON},
                         [LE_OP_GE] = {">=", COMPARISON},
                         [LE_OP_LAND] = {"&&", AND},
                         [LE_OP_LOR] = {"||", OR}};

struct spelled {
    const char *text;
    enum precedence precedence;
};

static struct spelled infix_text(const struct printer *p, const struct le_expression *x) {
    enum precedence own = infix[x->code].precedence;
    bool logic = own == AND || own == OR; /* compilers warn of && in || */
    return (struct spelled){le_arena_format(p->arena, "%s %s %s", text_of(p, x->x[0], logic ? BIT_OR : own),
                                            infix[x->code].sign, text_of(p, x->x[1], logic ? BIT_OR : own + 1)),
                            own};
}

/* Operators with the meaning that C gives them: of positions, and && and || of bools. */
static bool is_infix(const struct le_expression *x) {
    bool positions = le_ktree_is_position(x->x[0]->type);
    bool logic = x->code == LE_OP_LAND || x->code == LE_OP_LOR;
    return infix[x->code].sign && (positions || (logic && x->x[0]->type == LE_BOOL) || x->code >= LE_CODES);
}

static struct spelled op_text(const struct printer *p, const struct le_expression *x) {
    const char *operands[3] = {NULL, NULL, NULL};
    if (is_infix(x))
        return infix_text(p, x);
    if (x->code == LE_OP_LNOT && x->x[0]->type == LE_BOOL)
        return (struct spelled){le_arena_format(p->arena, "!%s", text_of(p, x->x[0], UNARY)), UNARY};
    for (int k = 0; k < x->count; k++)
        operands[k] = text_of(p, x->x[k], PRIMARY);
    return (struct spelled){
        le_cuda_op(p->arena, x->code, x->x[0]->type, operands, x->way, x->variable ? x->variable->name : NULL),
        ANYTHING};
}

static const char *static_text(const struct printer *p, const struct le_static *s, bool in_memory) {
    if (in_memory)
        return stored_type(p, (int)s->value);
    return s->is_type ? variable_type(p->t, (int)s->value) : le_arena_format(p->arena, "%lld", (long long)s->value);
}

/* The library's text with statics and operands in place of $0, #0 and %0, or of $* and %*. */
static const char *call_text(const struct printer *p, const struct le_expression *x) {
    struct words w = {0};
    const char *at = le_calls[x->code].cuda;
    while (*at) {
        size_t plain = strcspn(at, "$#%");
        le_words_put(p->arena, &w, at, plain);
        at += plain;
        if (!*at)
            break;
        bool is_static = *at != '%', all = at[1] == '*';
        bool object = at[2] == '.' || at[2] == '[' || (plain > 0 && (at[-1] == '*' || at[-1] == ')'));
        int first = all ? 0 : at[1] - '0', last = !all ? first + 1 : is_static ? x->static_count : x->count;
        for (int k = first; k < last; k++)
            le_words_add(p->arena, &w, "%s%s", k > first ? ", " : "",
                         is_static ? static_text(p, &x->statics[k], *at == '#')
                                   : text_of(p, x->x[k], object ? PRIMARY : CHOICE));
        at += 2;
    }
    return w.length ? w.at : "";
}

/* The element itself; a bool is its byte. */
static const char *element_text(const struct printer *p, const struct le_expression *x) {
    struct words w = {0};
    le_words_add(p->arena, &w, "%s", x->variable->name);
    for (int k = 0; k < x->count; k++)
        le_words_add(p->arena, &w, "[%s]", text_of(p, x->x[k], ANYTHING));
    return w.at;
}

static const char *address_text(const struct printer *p, const struct le_expression *x) {
    const struct le_expression *element = x->x[0];
    bool row = element->kind == LE_EXPRESSION_ELEMENT && element->count < element->variable->axes;
    if (element->kind == LE_EXPRESSION_ELEMENT)
        return le_arena_format(p->arena, row ? "%s" : "&%s", element_text(p, element));
    return le_arena_format(p->arena, "&%s", text_of(p, element, PRIMARY));
}

/* "{le_sum<float>::of(x), {...}}" */
static const char *total_text(const struct printer *p, const struct le_expression *x) {
    const struct le_totals *totals = &p->t->totals.at[x->type - LE_KTREE_TOTALS];
    struct words w = {0};
    for (int k = 0; k < totals->count; k++) {
        enum le_reduction reduction = totals->part[k].reduction;
        bool arg = reduction == LE_RED_ARGMIN || reduction == LE_RED_ARGMAX;
        const char *of =
            le_cuda_total_class(p->arena, reduction, totals->part[k].type, totals->narrow ? "int" : "long long");
        le_words_add(p->arena, &w, "%s%s%s::of(%s", k ? ", " : "", k + 1 < totals->count ? "{" : "", of,
                     text_of(p, x->x[k], CHOICE));
        le_words_add(p->arena, &w, arg ? ", %s)" : ")", arg ? text_of(p, x->x[x->count - 1], CHOICE) : NULL);
    }
    for (int k = 1; k < totals->count; k++)
        le_words_add(p->arena, &w, "}");
    return w.at;
}

/* "all.b.a.value(n == 0)" */
static const char *part_text(const struct printer *p, const struct le_expression *x) {
    int count = p->t->totals.at[x->x[0]->type - LE_KTREE_TOTALS].count;
    struct words w = {0};
    le_words_add(p->arena, &w, "%s", text_of(p, x->x[0], PRIMARY));
    for (int k = 0; k < x->code; k++)
        le_words_add(p->arena, &w, ".b");
    le_words_add(p->arena, &w, "%s.value(%s)", x->code + 1 < count ? ".a" : "", text_of(p, x->x[1], CHOICE));
    return w.at;
}

/* An operand of a SELECT. A literal of a type narrower than int is cast, or the result would be an int. */
static const char *choice_text(const struct printer *p, const struct le_expression *x) {
    bool narrow = x->kind == LE_EXPRESSION_CONSTANT && !le_ktree_is_position(x->type) && x->type != LE_BOOL &&
                  le_type_size((enum le_type)x->type) < 4;
    const char *text = text_of(p, x, narrow ? UNARY : CHOICE);
    return narrow ? le_arena_format(p->arena, "(%s)%s", stored_type(p, x->type), text) : text;
}

static struct spelled select_text(const struct printer *p, const struct le_expression *x) {
    return (struct spelled){le_arena_format(p->arena, "%s ? %s : %s", text_of(p, x->x[0], OR), choice_text(p, x->x[1]),
                                            choice_text(p, x->x[2])),
                            CHOICE};
}

static struct spelled constant_text(const struct printer *p, const struct le_expression *x) {
    return (struct spelled){le_ktree_is_position(x->type) ? le_cuda_position(p->arena, x->type, (int64_t)x->bits)
                                                          : le_cuda_literal(p->arena, (enum le_type)x->type, x->bits),
                            PRIMARY};
}

/* A parameter of a function that is an array to read. Its bools are bools, not bytes. */
static bool is_given(const struct le_variable *v) {
    return v->memory == LE_KTREE_LOCAL && v->read_only;
}

static struct spelled spell(const struct printer *p, const struct le_expression *x) {
    static const char *const numbers[LE_THREAD_NUMBERS] = {"threadIdx.x", "blockIdx.x", "blockIdx.y",
                                                           "blockDim.x",  "gridDim.x",  "gridDim.y"};
    switch (x->kind) {
    case LE_EXPRESSION_CONSTANT:
        return constant_text(p, x);
    case LE_EXPRESSION_VARIABLE:
        return (struct spelled){x->variable->name, PRIMARY};
    case LE_EXPRESSION_OP:
        return op_text(p, x);
    case LE_EXPRESSION_CAST:
        return (struct spelled){le_cuda_cast(p->arena, text_of(p, x->x[0], UNARY), x->x[0]->type, x->type), UNARY};
    case LE_EXPRESSION_SELECT:
        return select_text(p, x);
    case LE_EXPRESSION_ELEMENT:
        if (x->type == LE_BOOL && !is_given(x->variable))
            return (struct spelled){le_arena_format(p->arena, "(%s != 0)", element_text(p, x)), PRIMARY};
        return (struct spelled){element_text(p, x), PRIMARY};
    case LE_EXPRESSION_ADDRESS:
        return (struct spelled){address_text(p, x), UNARY};
    case LE_EXPRESSION_THREAD:
        return (struct spelled){numbers[x->code], PRIMARY};
    case LE_EXPRESSION_CALL:
        return (struct spelled){call_text(p, x), PRIMARY};
    case LE_EXPRESSION_TOTAL:
        return (struct spelled){total_text(p, x), PRIMARY};
    case LE_EXPRESSION_PART:
        break;
    }
    return (struct spelled){part_text(p, x), PRIMARY};
}

static const char *text_of(const struct printer *p, const struct le_expression *x, enum precedence least) {
    struct spelled s = spell(p, x);
    return s.precedence < least ? le_arena_format(p->arena, "(%s)", s.text) : s.text;
}

/* ---- statements */

/* Each line of the text, indented; an empty line stays empty. */
static void put_lines(struct printer *p, const char *text) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        for (int k = 0; k < p->depth && length > 0; k++)
            le_words_put(p->arena, p->out, "    ", 4);
        le_words_put(p->arena, p->out, text, length);
        le_words_put(p->arena, p->out, "\n", 1);
        text += length + (text[length] == '\n');
    }
}

static void put(struct printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct printer *p, const char *format, ...) {
    struct words line = {0};
    va_list arguments;
    va_start(arguments, format);
    le_words_add_list(p->arena, &line, format, arguments);
    va_end(arguments);
    put_lines(p, line.at);
}

static void print_block(struct printer *p, const struct le_block *block);

static void print_body(struct printer *p, const char *head, const struct le_block *body, const char *tail) {
    put(p, "%s%s{", head, head[0] ? " " : "");
    p->depth++;
    print_block(p, body);
    p->depth--;
    put(p, "}%s", tail);
}

static const char *whole(const struct printer *p, const struct le_expression *x) {
    return text_of(p, x, ANYTHING);
}

static void print_let(struct printer *p, const struct le_statement *s) {
    const struct le_variable *v = s->variable;
    if (v->memory != LE_KTREE_NO_ARRAY)
        put(p, "%s%s *%s = %s;", v->read_only ? "const " : "", stored_type(p, v->type), v->name, whole(p, s->x));
    else
        put(p, "const %s %s = %s;", variable_type(p->t, v->type), v->name, whole(p, s->x));
}

static void print_variable(struct printer *p, const struct le_statement *s) {
    const struct le_variable *v = s->variable;
    if (v->object)
        put(p, s->x ? "%s %s(%s);" : "%s %s;", whole(p, v->object), v->name, s->x ? whole(p, s->x) : NULL);
    else
        put(p, s->x ? "%s %s = %s;" : "%s %s;", variable_type(p->t, v->type), v->name, s->x ? whole(p, s->x) : NULL);
}

static void print_array(struct printer *p, const struct le_statement *s) {
    const struct le_variable *v = s->variable;
    struct words w = {0};
    if (v->memory == LE_KTREE_DYNAMIC)
        le_words_add(p->arena, &w, "extern ");
    if (v->memory != LE_KTREE_LOCAL)
        le_words_add(p->arena, &w, "__shared__ ");
    if (s->aligned)
        le_words_add(p->arena, &w, "__align__(16) ");
    le_words_add(p->arena, &w, "%s %s", v->object ? whole(p, v->object) : stored_type(p, v->type), v->name);
    for (int k = 0; k < v->axes && v->memory != LE_KTREE_DYNAMIC; k++)
        le_words_add(p->arena, &w, "[%d]", v->extents[k]);
    put(p, "%s%s%s;", w.at, v->memory == LE_KTREE_DYNAMIC ? "[]" : "", s->zeroed ? " = {}" : "");
}

/* Copies a bool's byte without a conversion. */
static void print_set(struct printer *p, const struct le_statement *s) {
    bool element = s->to->kind == LE_EXPRESSION_ELEMENT;
    bool bytes = element && s->x->kind == LE_EXPRESSION_ELEMENT && s->x->type == LE_BOOL;
    put(p, "%s = %s;", element ? element_text(p, s->to) : whole(p, s->to),
        bytes ? element_text(p, s->x) : whole(p, s->x));
}

static void print_copy(struct printer *p, const struct le_statement *s) {
    static const char *const chunks[] = {
        [1] = "unsigned char", [2] = "unsigned short", [4] = "unsigned", [8] = "uint2"};
    int size_bytes = s->count * (int)le_type_size(le_cuda_language_type(s->x->type));
    const char *chunk = size_bytes > 8 ? "uint4" : chunks[size_bytes];
    for (int n = 0; n * 16 < size_bytes; n++)
        put(p, "((%s *)%s)[%d] = ((const %s *)%s)[%d];", chunk, text_of(p, s->to, UNARY), n, chunk,
            text_of(p, s->x, UNARY), n);
}

static const char *role_text(const struct printer *p, const struct le_statement *s) {
    if (s->role == LE_ROLE_UNROLLED)
        return le_arena_format(p->arena, s->count ? "#pragma unroll %d\n" : "#pragma unroll\n", s->count);
    return s->role == LE_ROLE_ROLLED ? "#pragma unroll 1\n" : "";
}

static void print_loop(struct printer *p, const struct le_statement *s) {
    const char *name = s->variable->name, *type = variable_type(p->t, s->variable->type);
    struct words head = {0};
    le_words_add(p->arena, &head, "%s", role_text(p, s));
    if (s->down)
        le_words_add(p->arena, &head, "for (%s %s = %s - 1; %s >= %s; %s--)", type, name, text_of(p, s->to, SUM), name,
                     text_of(p, s->x, SHIFT), name);
    else {
        const char *guard = s->guard ? le_arena_format(p->arena, "%s && ", text_of(p, s->guard, BIT_OR)) : "";
        const char *step = le_ktree_is_constant(s->step, 1)
                               ? le_arena_format(p->arena, "%s++", name)
                               : le_arena_format(p->arena, "%s += %s", name, whole(p, s->step));
        le_words_add(p->arena, &head, "for (%s %s = %s; %s%s < %s; %s)", type, name, whole(p, s->x), guard, name,
                     text_of(p, s->to, SHIFT), step);
    }
    print_body(p, head.at, s->body, "");
}

/* An `else` whose only statement is a branch is printed as `else if`. */
static void print_branch(struct printer *p, const struct le_statement *s, const char *before) {
    print_body(p, le_arena_format(p->arena, "%sif (%s)", before, whole(p, s->x)), s->body, "");
    const struct le_block *otherwise = s->otherwise;
    if (!otherwise || otherwise->list.count == 0)
        return;
    if (otherwise->list.count == 1 && otherwise->list.at[0]->kind == LE_STATEMENT_BRANCH)
        print_branch(p, otherwise->list.at[0], "else ");
    else
        print_body(p, "else", otherwise, "");
}

static const char *parameter_text(const struct printer *p, const struct le_variable *v) {
    if (v->memory == LE_KTREE_LOCAL)
        return le_arena_format(p->arena, "%s%s (&%s)[%d]", v->read_only ? "const " : "", variable_type(p->t, v->type),
                               v->name, v->extents[0]);
    return le_arena_format(p->arena, v->changes ? "%s &%s" : "%s %s", variable_type(p->t, v->type), v->name);
}

static void print_function(struct printer *p, const struct le_statement *s) {
    struct words head = {0};
    le_words_add(p->arena, &head, "const auto %s = [&](", s->variable->name);
    for (int k = 0; k < s->parameter_count; k++)
        le_words_add(p->arena, &head, "%s%s", k ? ", " : "", parameter_text(p, s->parameters[k]));
    le_words_add(p->arena, &head, ") -> %s", variable_type(p->t, s->variable->type));
    print_body(p, head.at, s->body, ";");
}

static void print_totals(struct printer *p, const struct le_statement *s) {
    const struct le_totals *totals = &p->t->totals.at[s->code];
    const char *class = NULL, *place = totals->narrow ? "int" : "long long";
    for (int k = totals->count - 1; k >= 0; k--) {
        const char *one = le_cuda_total_class(p->arena, totals->part[k].reduction, totals->part[k].type, place);
        class = class ? le_arena_format(p->arena, "le_both<%s, %s>", one, class) : one;
    }
    if (totals->several)
        class = le_arena_format(p->arena, "le_several<%s, %d>", variable_type(p->t, totals->of), totals->several);
    put(p, "typedef %s %s;", class, totals->name);
}

static void print_update(struct printer *p, const struct le_statement *s) {
    static const char *const names[] = {[LE_SCATTER_ADD] = "add",
                                        [LE_SCATTER_SUB] = "sub",
                                        [LE_SCATTER_MUL] = "mul",
                                        [LE_SCATTER_MIN] = "min",
                                        [LE_SCATTER_MAX] = "max"};
    bool raises = s->code == LE_SCATTER_ADD || s->code == LE_SCATTER_MAX;
    if (s->to->type == LE_BOOL) /* all threads that change it write the same value */
        put(p, "if (%s%s)\n    %s = %d;", raises ? "" : "!", text_of(p, s->x, UNARY), element_text(p, s->to), raises);
    else
        put(p, "le_atomic_%s<%s>(&%s, %s);", names[s->code], variable_type(p->t, s->to->type), element_text(p, s->to),
            text_of(p, s->x, CHOICE));
}

static void print_fault(struct printer *p, const struct le_statement *s) {
    put(p, "le_fault(%s, %s, %s, %d, %s);", p->t->fault->name, text_of(p, p->t->action, CHOICE),
        text_of(p, s->x, CHOICE), s->code, text_of(p, s->to, CHOICE));
    if (s->variable)
        put(p, "%s = true;", s->variable->name);
}

static void print_while(struct printer *p, const struct le_statement *s) {
    print_body(p, le_arena_format(p->arena, "%swhile (%s)", role_text(p, s), whole(p, s->x)), s->body, "");
}

static void print_scope(struct printer *p, const struct le_statement *s) {
    print_body(p, "", s->body, "");
    if (s->variable)
        put(p, "%s:;", s->variable->name);
}

static void print_if(struct printer *p, const struct le_statement *s) {
    print_branch(p, s, "");
}

/* Statements of one line. */
static void print_line(struct printer *p, const struct le_statement *s) {
    if (s->kind == LE_STATEMENT_BREAK)
        put(p, "break;");
    else if (s->kind == LE_STATEMENT_LEAVE)
        put(p, "goto %s;", s->variable->name);
    else if (s->kind == LE_STATEMENT_RETURN)
        put(p, s->x ? "return %s;" : "return;", s->x ? whole(p, s->x) : NULL);
    else if (s->kind == LE_STATEMENT_CALL)
        put(p, "%s;", whole(p, s->x));
    else if (s->kind == LE_STATEMENT_NOTE)
        put(p, "le_note(%s, %du);", p->t->fault->name, s->code);
    else if (s->kind == LE_STATEMENT_BARRIER)
        put(p, "__syncthreads();");
    else
        put(p, "// %s", s->text);
}

static void print_block(struct printer *p, const struct le_block *block) {
    static void (*const printers[])(struct printer * p, const struct le_statement *s) = {
        [LE_STATEMENT_LET] = print_let,           [LE_STATEMENT_VARIABLE] = print_variable,
        [LE_STATEMENT_ARRAY] = print_array,       [LE_STATEMENT_SET] = print_set,
        [LE_STATEMENT_COPY] = print_copy,         [LE_STATEMENT_LOOP] = print_loop,
        [LE_STATEMENT_WHILE] = print_while,       [LE_STATEMENT_BRANCH] = print_if,
        [LE_STATEMENT_SCOPE] = print_scope,       [LE_STATEMENT_BREAK] = print_line,
        [LE_STATEMENT_LEAVE] = print_line,        [LE_STATEMENT_RETURN] = print_line,
        [LE_STATEMENT_FUNCTION] = print_function, [LE_STATEMENT_TOTALS] = print_totals,
        [LE_STATEMENT_CALL] = print_line,         [LE_STATEMENT_UPDATE] = print_update,
        [LE_STATEMENT_FAULT] = print_fault,       [LE_STATEMENT_NOTE] = print_line,
        [LE_STATEMENT_BARRIER] = print_line,      [LE_STATEMENT_COMMENT] = print_line};
    for (int k = 0; k < block->list.count; k++)
        printers[block->list.at[k]->kind](p, block->list.at[k]);
}

/* ---- the kernel */

static void print_head(struct printer *p) {
    const struct le_kernel_tree *t = p->t;
    const char *bounds = t->resident  ? le_arena_format(p->arena, "__launch_bounds__(%d, %d) ", t->threads, t->resident)
                         : t->threads ? le_arena_format(p->arena, "__launch_bounds__(%d) ", t->threads)
                                      : "";
    const char *cluster = t->cluster > 1 ? le_arena_format(p->arena, "__cluster_dims__(%d, 1, 1) ", t->cluster) : "";
    le_words_add(p->arena, p->out, "extern \"C\" __global__ void %s%s%s(", cluster, bounds, t->name);
    size_t column = 0;
    for (int k = 0; k < t->parameters.count; k++) {
        const struct le_variable *v = t->parameters.at[k];
        bool buffer = v->memory == LE_KTREE_BUFFER;
        const char *type = v->object ? whole(p, v->object)
                           : buffer  ? stored_type(p, v->type)
                                     : variable_type(t, v->type);
        const char *text = le_arena_format(p->arena, "%s%s %s%s%s", buffer && v->read_only ? "const " : "", type,
                                           buffer ? "*" : "", v->name, k + 1 < t->parameters.count ? ", " : "");
        column += strlen(text);
        if (column > 80) {
            le_words_add(p->arena, p->out, "\n        ");
            column = strlen(text);
        }
        le_words_put(p->arena, p->out, text, strlen(text));
    }
    le_words_add(p->arena, p->out, ") ");
}

void le_cuda_print(const struct le_kernel_tree *t, struct words *out) {
    struct printer p = {.t = t, .arena = t->arena, .out = out};
    le_words_add(p.arena, out, "// %s\n", t->comment);
    print_head(&p);
    print_body(&p, "", t->root, "");
}
