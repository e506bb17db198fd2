/* Makes programs by a random walk through the grammar. Every read is inside its array (or has an edge mode or an
 * `else`), every index has a range, and kinds fit, so almost all programs run. The few that do not are refused in every
 * way of running them. */
#include "generator.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ELEMENTS_MAX = 1 << 17, POINTS_MAX = 1 << 22 };

struct loop_index {
    const char *name;
    int64_t extent;
};

struct generator {
    struct program *program;
    struct piece *piece;
    uint64_t seed, drawn;
    int64_t dims[3];
    struct loop_index indices[6]; /* indices that an expression may use */
    int index_count;
    const char *locals[6]; /* private scalars that have a value */
    int local_count;
    int names, defs, next_bound;
    bool sealed; /* no new inputs, because the text is inside a block */
};

static int64_t below(struct generator *g, int64_t n) {
    return (int64_t)(random_bits(g->seed, ++g->drawn) % (uint64_t)n);
}

static bool chance(struct generator *g, int percent) {
    return below(g, 100) < percent;
}

static const char *pick(struct generator *g, const char *const *words, int count) {
    return words[below(g, count)];
}
#define PICK(g, ...)                                                                                                   \
    pick(g, (const char *const[]){__VA_ARGS__}, (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

__attribute__((format(printf, 2, 3))) static void add(struct generator *g, const char *format, ...) {
    size_t used = strlen(g->piece->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(g->piece->text + used, TEXT_MAX_BYTES - used, format, arguments);
    va_end(arguments);
}

/* ---- variables and pieces */

static struct variable *add_variable(struct generator *g, char letter) {
    struct variable *v = &g->program->variables[g->program->variable_count++];
    *v = (struct variable){0};
    snprintf(v->name, sizeof v->name, "%c%d", letter, ++g->names);
    return v;
}

static bool has_room(const struct generator *g) {
    return g->program->variable_count < VARIABLES_MAX - 8 && g->program->piece_count < PIECES_MAX - 4;
}

static struct piece *begin_piece(struct generator *g) {
    g->piece = &g->program->pieces[g->program->piece_count++];
    *g->piece = (struct piece){0};
    return g->piece;
}

static void writes(struct generator *g, struct variable *v) {
    int number = (int)(v - g->program->variables);
    for (int k = 0; k < g->piece->write_count; k++)
        if (g->piece->writes[k] == number)
            return;
    g->piece->writes[g->piece->write_count++] = number;
}

static void set_shape(struct variable *v, int rank, const int64_t *shape) {
    v->rank = rank;
    for (int d = 0; d < rank; d++)
        v->shape[d] = shape[d];
}

static struct variable *new_input(struct generator *g, int rank, const int64_t *shape) {
    static const leat_dtype dtypes[] = {LEAT_F64, LEAT_F64, LEAT_F32, LEAT_F32, LEAT_F16, LEAT_BF16, LEAT_I64,
                                        LEAT_I32, LEAT_I16, LEAT_I8,  LEAT_U8,  LEAT_U16, LEAT_U32,  LEAT_BOOL};
    struct variable *v = add_variable(g, 'a');
    set_shape(v, rank, shape);
    v->dtype = dtypes[below(g, (int64_t)(sizeof dtypes / sizeof *dtypes))];
    v->is_input = v->is_set = true;
    v->is_float = v->dtype == LEAT_F64 || v->dtype == LEAT_F32 || v->dtype == LEAT_F16 || v->dtype == LEAT_BF16;
    return v;
}

static struct variable *new_subscripts(struct generator *g, int64_t extent) {
    struct variable *v = add_variable(g, 'p');
    set_shape(v, 1, &extent);
    v->dtype = chance(g, 50) ? LEAT_I64 : LEAT_U8;
    v->is_input = v->is_set = v->is_small = true;
    return v;
}

/* ---- expressions; each returns whether it may be a fraction, and clears *weak if it contains more than numbers */

static bool expression(struct generator *g, int depth, bool *weak);

static int index_of_extent(struct generator *g, int64_t extent) {
    int found[6], count = 0;
    for (int k = 0; k < g->index_count; k++)
        if (g->indices[k].extent == extent)
            found[count++] = k;
    return count ? found[below(g, count)] : -1;
}

static bool readable(struct generator *g, const struct variable *v) {
    if (!v->is_set || v->rank == 0)
        return false;
    for (int d = 0; d < v->rank; d++)
        if (index_of_extent(g, v->shape[d]) < 0 && v->shape[d] == 0)
            return false;
    return true;
}

static void subscript(struct generator *g, const struct variable *v, int d) {
    int k = index_of_extent(g, v->shape[d]);
    if (k < 0 || (v->shape[d] > 0 && chance(g, 4)))
        add(g, "%lld", (long long)below(g, v->shape[d]));
    else if (chance(g, 6))
        add(g, "len(%s,%d)-1-%s", v->name, d, g->indices[k].name);
    else
        add(g, "%s", g->indices[k].name);
}

static void read(struct generator *g, const struct variable *v) {
    for (int d = 0; d < v->rank; d++) {
        add(g, d ? "," : "%s[", v->name);
        subscript(g, v, d);
    }
    add(g, "]");
}

/* An array that the available indices can subscript, or NULL. */
static struct variable *some_array(struct generator *g) {
    struct variable *found[VARIABLES_MAX];
    int count = 0;
    for (int k = 0; k < g->program->variable_count; k++)
        if (readable(g, &g->program->variables[k]))
            found[count++] = &g->program->variables[k];
    if (count && (g->sealed || chance(g, 80) || !has_room(g)))
        return found[below(g, count)];
    if (g->sealed || !has_room(g) || g->index_count == 0)
        return NULL;
    int64_t shape[3];
    int rank = 1 + (int)below(g, g->index_count < 2 ? g->index_count : 2);
    for (int d = 0; d < rank; d++)
        shape[d] = g->indices[below(g, g->index_count)].extent;
    return new_input(g, rank == 2 && shape[0] * shape[1] > ELEMENTS_MAX ? 1 : rank, shape);
}

static bool leaf(struct generator *g, bool *weak) {
    struct variable *v = chance(g, 65) ? some_array(g) : NULL;
    if (v) {
        read(g, v);
        *weak = false;
        return v->is_float;
    }
    if (g->local_count && chance(g, 50)) {
        add(g, "%s", g->locals[below(g, g->local_count)]);
        *weak = false;
        return true;
    }
    if (chance(g, 35)) {
        int start = (int)below(g, g->program->variable_count + 1);
        for (int k = start; k < g->program->variable_count; k++) {
            v = &g->program->variables[k];
            if (v->rank || !v->is_set)
                continue;
            add(g, "%s", v->name);
            *weak &= v->is_weak;
            return v->is_float;
        }
    }
    if (g->index_count && chance(g, 30)) {
        add(g, "%s", g->indices[below(g, g->index_count)].name);
        *weak = false;
        return false;
    }
    if (chance(g, 50)) {
        add(g, "%d", (int)below(g, 7));
        return false;
    }
    add(g, "%s", PICK(g, "0.5", "1.5", "2.0", ".25", "3.0"));
    return true;
}

static bool binary(struct generator *g, int depth, bool *weak) {
    const char *op = PICK(g, "+", "+", "-", "*", "*", "/", "//", "%", "**");
    add(g, "(");
    if (op[1] == '*') {
        bool base = expression(g, depth - 1, weak);
        add(g, " ** ");
        bool exponent = leaf(g, weak);
        add(g, ")");
        return base || exponent;
    }
    bool a = expression(g, depth - 1, weak);
    add(g, " %s ", op);
    bool b = expression(g, depth - 1, weak);
    add(g, ")");
    return a || b || *op == '/';
}

static void condition(struct generator *g, int depth) {
    bool weak = true;
    add(g, "(");
    expression(g, depth - 1, &weak);
    add(g, " %s ", PICK(g, "<", "<=", ">", ">=", "==", "!="));
    expression(g, depth - 1, &weak);
    add(g, ")");
}

static bool choose(struct generator *g, int depth, bool *weak) {
    add(g, "(");
    condition(g, depth - 1);
    if (chance(g, 30)) {
        add(g, " %s ", PICK(g, "&&", "||"));
        condition(g, depth - 1);
    }
    add(g, " ? ");
    bool a = expression(g, depth - 1, weak);
    add(g, " : ");
    bool b = expression(g, depth - 1, weak);
    add(g, ")");
    return a || b;
}

/* A reduction over a new index, or over a prefix: a scan. */
static bool reduction(struct generator *g, int depth, bool *weak) {
    char name[16];
    const char *op = PICK(g, "sum", "sum", "max", "min", "mean", "prod", "any", "all");
    if (g->index_count >= 5)
        return leaf(g, weak);
    snprintf(name, sizeof name, "k%d", g->next_bound++);
    int64_t extent = g->dims[below(g, 3)], points = 1;
    for (int k = 0; k < g->index_count; k++)
        points *= g->indices[k].extent ? g->indices[k].extent : 1;
    if (points * (extent > points ? extent : points) > POINTS_MAX)
        return leaf(g, weak);
    *weak = false;
    if (g->index_count && chance(g, 25)) {
        const struct loop_index *outer = &g->indices[below(g, g->index_count)];
        add(g, "%s(%s in 0..%s%s: ", op, name, outer->name, chance(g, 70) ? "+1" : "");
        extent = outer->extent;
    } else {
        add(g, "%s(%s in 0..%lld: ", op, name, (long long)extent);
    }
    struct loop_index saved[6];
    int count = g->index_count;
    memcpy(saved, g->indices, sizeof saved);
    g->indices[g->index_count++] = (struct loop_index){name, extent};
    bool inner = true, is_float = expression(g, depth > 2 ? 2 : depth - 1, &inner);
    memcpy(g->indices, saved, sizeof saved);
    g->index_count = count;
    add(g, ")");
    return *op == 'm' && op[1] == 'e' ? true : *op == 'a' ? false : is_float;
}

static bool function(struct generator *g, int depth, bool *weak) {
    const char *name = PICK(g, "abs", "floor", "-", "!", "sqrt(abs", "f32", "f64", "i64", "i32", "f16");
    add(g, "%s(", name);
    bool is_float = expression(g, depth - 1, weak);
    add(g, strchr(name, '(') ? "))" : ")");
    if (*name == 'i' || *name == '!') {
        *weak = false;
        return false;
    }
    if (*name == 'f' && name[1] != 'l')
        *weak = false;
    return is_float || *name == 's' || (*name == 'f' && name[1] != 'l');
}

static bool call(struct generator *g, int depth, bool *weak) {
    if (g->defs == 0)
        return leaf(g, weak);
    add(g, "d%d(f64(", (int)below(g, g->defs));
    expression(g, depth - 1, weak);
    add(g, "), ");
    expression(g, depth - 1, weak);
    add(g, ")");
    *weak = false;
    return true;
}

static bool gather(struct generator *g, bool *weak) {
    struct variable *p = NULL, *v = NULL;
    for (int k = 0; k < g->program->variable_count; k++) {
        struct variable *x = &g->program->variables[k];
        if (x->is_small && index_of_extent(g, x->shape[0]) >= 0)
            p = x;
        else if (x->is_set && x->rank == 1 && x->shape[0] >= 5)
            v = x;
    }
    if (!p || !v)
        return leaf(g, weak);
    add(g, "%s[", v->name);
    read(g, p);
    add(g, "]");
    *weak = false;
    return v->is_float;
}

static bool expression(struct generator *g, int depth, bool *weak) {
    if (depth <= 0 || strlen(g->piece->text) > TEXT_MAX_BYTES / 2)
        return leaf(g, weak);
    int64_t what = below(g, 100);
    if (what < 48)
        return binary(g, depth, weak);
    if (what < 58)
        return choose(g, depth, weak);
    if (what < 68)
        return reduction(g, depth, weak);
    if (what < 80)
        return function(g, depth, weak);
    if (what < 86)
        return call(g, depth, weak);
    if (what < 90)
        return gather(g, weak);
    return leaf(g, weak);
}

/* ---- statements */

static void open_indices(struct generator *g, int rank, const int64_t *shape) {
    static const char *const names[] = {"i", "j", "l"};
    g->index_count = 0;
    for (int d = 0; d < rank; d++)
        g->indices[g->index_count++] = (struct loop_index){names[d], shape[d]};
}

static void left(struct generator *g, const struct variable *v) {
    for (int d = 0; d < v->rank; d++)
        add(g, "%s%s", d ? "," : "[", g->indices[d].name);
    add(g, "]");
}

static void ranges(struct generator *g, const char *word) {
    for (int k = 0; k < g->index_count; k++)
        add(g, "%s %s in 0..%lld", k ? "," : word, g->indices[k].name, (long long)g->indices[k].extent);
}

static void new_array(struct generator *g) {
    int64_t shape[3] = {0};
    int rank = 1 + (int)below(g, 2) + (chance(g, 10) ? 1 : 0);
    for (int d = 0; d < rank; d++)
        shape[d] = g->dims[d ? 1 + below(g, 2) : below(g, 3)];
    begin_piece(g);
    open_indices(g, rank, shape);
    char name[NAME_MAX_BYTES];
    snprintf(name, sizeof name, "y%d", ++g->names);
    add(g, "%s[", name);
    for (int d = 0; d < rank; d++)
        add(g, "%s%s", d ? "," : "", g->indices[d].name);
    add(g, "] = ");
    bool weak = true, is_float = expression(g, 4, &weak);
    ranges(g, " where");
    struct variable *v = add_variable(g, 'y');
    memcpy(v->name, name, sizeof name);
    set_shape(v, rank, shape);
    v->is_float = is_float;
    v->is_set = true;
    writes(g, v);
}

static void scalar(struct generator *g) {
    begin_piece(g);
    g->index_count = 0;
    char name[NAME_MAX_BYTES];
    snprintf(name, sizeof name, "s%d", ++g->names);
    add(g, "%s = ", name);
    bool weak = true, is_float = chance(g, 70) ? reduction(g, 3, &weak) : expression(g, 2, &weak);
    struct variable *v = add_variable(g, 's');
    memcpy(v->name, name, sizeof name);
    v->is_float = is_float;
    v->is_weak = weak;
    v->is_set = true;
    writes(g, v);
}

static struct variable *written_array(struct generator *g) {
    struct variable *found[VARIABLES_MAX];
    int count = 0;
    for (int k = 0; k < g->program->variable_count; k++)
        if (g->program->variables[k].is_set && g->program->variables[k].rank && !g->program->variables[k].is_small)
            found[count++] = &g->program->variables[k];
    return count ? found[below(g, count)] : NULL;
}

/* A right side for v: a fraction only if v can hold fractions. */
static void fitting(struct generator *g, const struct variable *v, int depth) {
    bool weak = true;
    if (v->is_float) {
        expression(g, depth, &weak);
        return;
    }
    add(g, "i64(");
    expression(g, depth, &weak);
    add(g, ")");
}

static void update(struct generator *g) {
    struct variable *v = written_array(g);
    if (!v)
        return;
    begin_piece(g);
    open_indices(g, v->rank, v->shape);
    add(g, "%s", v->name);
    left(g, v);
    add(g, " %s ", PICK(g, "=", "+=", "-=", "*=", "max=", "min="));
    fitting(g, v, 3);
    writes(g, v);
}

static void partial(struct generator *g) {
    struct variable *v = written_array(g);
    if (!v || v->shape[0] < 2)
        return;
    begin_piece(g);
    open_indices(g, v->rank, v->shape);
    add(g, "%s", v->name);
    left(g, v);
    add(g, " = ");
    fitting(g, v, 2);
    g->indices[0].extent -= 1;
    ranges(g, " where");
    if (chance(g, 40) && v->rank == 1)
        add(g, " by 2");
    writes(g, v);
}

/* An array that is declared, then updated at subscripts from data. */
static void scatter(struct generator *g) {
    int64_t extent = g->dims[below(g, 3)], five = 5 + below(g, 3);
    struct variable *p = new_subscripts(g, extent), *v = add_variable(g, 'h');
    set_shape(v, 1, &five);
    v->is_float = chance(g, 60);
    v->is_set = true;
    begin_piece(g);
    add(g, "out %s: %s[%lld]", v->name, v->is_float ? PICK(g, "f64", "f32") : "i64", (long long)five);
    writes(g, v);
    begin_piece(g);
    g->index_count = 0;
    g->indices[g->index_count++] = (struct loop_index){"i", extent};
    add(g, "%s[%s[i]] %s ", v->name, p->name, PICK(g, "=", "+=", "+=", "-=", "max=", "min="));
    fitting(g, v, 2);
    writes(g, v);
}

static void stencil(struct generator *g) {
    struct variable *x = written_array(g);
    if (!x || x->rank > 2)
        return;
    bool edge = chance(g, 40) && x->shape[0] > 0 && x->shape[x->rank - 1] > 0;
    if (edge) {
        begin_piece(g)->is_prefix = true;
        add(g, "edge %s %s", x->name, PICK(g, "clamp", "wrap", "mirror", "symmetric", "none", "fill(2)"));
        edge = !strstr(g->piece->text, "none");
        memcpy(g->piece->about, x->name, sizeof x->name);
    }
    begin_piece(g);
    struct variable *v = add_variable(g, 'y');
    open_indices(g, x->rank, x->shape);
    set_shape(v, x->rank, x->shape);
    add(g, "%s", v->name);
    left(g, v);
    add(g, " = %s[i-1%s] + 2 * %s[i+%d%s]", x->name, x->rank == 2 ? ",j" : "", x->name, (int)below(g, 3),
        x->rank == 2 ? ",j+1" : "");
    if (!edge || chance(g, 30))
        add(g, " else %s", PICK(g, "0", "7", "i"));
    ranges(g, " where");
    v->is_float = x->is_float;
    v->is_set = true;
    writes(g, v);
}

/* ---- blocks */

/* Time steps over one array, with a temporary in each step. */
static void steps(struct generator *g) {
    struct variable *v = written_array(g);
    if (!v || !v->is_float)
        return;
    begin_piece(g);
    g->sealed = true;
    open_indices(g, v->rank, v->shape);
    add(g, "for t in %s { ", PICK(g, "0..3", "0..1", "0..0", "4..0 by -2", "1..6 by 2"));
    if (chance(g, 50)) {
        add(g, "w");
        left(g, v);
        add(g, " = %s", v->name);
        left(g, v);
        add(g, " * 0.5 + t; ");
        if (chance(g, 40))
            add(g, "if t > 1 { break }; ");
        add(g, "%s", v->name);
        left(g, v);
        add(g, " = w");
        left(g, v);
        if (chance(g, 50)) {
            add(g, " + ");
            fitting(g, v, 2);
        }
    } else {
        add(g, "%s", v->name);
        left(g, v);
        add(g, " %s ", PICK(g, "=", "+=", "*="));
        fitting(g, v, 3);
    }
    if (chance(g, 30)) {
        add(g, "; if t == 1 { %s", v->name);
        left(g, v);
        add(g, " *= 0.25 } else { %s", v->name);
        left(g, v);
        add(g, " += 1 }");
    }
    add(g, " }");
    g->sealed = false;
    writes(g, v);
}

static void until(struct generator *g) {
    struct variable *v = written_array(g);
    if (!v || !v->is_float)
        return;
    begin_piece(g);
    struct variable *s = add_variable(g, 's');
    s->is_set = true;
    open_indices(g, v->rank, v->shape);
    add(g, "var %s = 0\nwhile %s < %d { %s += 1; %s", s->name, s->name, 1 + (int)below(g, 5), s->name, v->name);
    left(g, v);
    add(g, " = %s", v->name);
    left(g, v);
    add(g, " * 0.5 + %s }", s->name);
    s->is_weak = true;
    writes(g, s);
    writes(g, v);
}

static void each(struct generator *g) {
    static const char *const locals[] = {"q"};
    int64_t shape[3] = {g->dims[below(g, 3)], g->dims[1 + below(g, 2)]};
    int rank = 1 + (int)below(g, 2);
    begin_piece(g);
    struct variable *v = add_variable(g, 'y');
    set_shape(v, rank, shape);
    open_indices(g, rank, shape);
    g->sealed = true;
    add(g, "out %s: f64[%lld", v->name, (long long)shape[0]);
    add(g, rank == 2 ? ",%lld]\n" : "]\n", (long long)shape[1]);
    ranges(g, "each");
    add(g, " { q = ");
    bool weak = true;
    add(g, "f64(");
    expression(g, 2, &weak);
    add(g, "); ");
    memcpy(g->locals, locals, sizeof locals);
    g->local_count = 1;
    switch (below(g, 3)) {
    case 0:
        add(g, "for t in 0..%d { q = q * 0.5 + ", 1 + (int)below(g, 6));
        expression(g, 2, &weak);
        add(g, chance(g, 40) ? "; if q > 9 { break } }; " : " }; ");
        break;
    case 1:
        add(g, "c = 0; while q > 1 && c < 9 { q = q / 2 - 0.25; c += 1 }; ");
        break;
    default:
        add(g, "if ");
        condition(g, 2);
        add(g, " { q += 1 } else { q = q * 2 }; ");
        break;
    }
    add(g, "%s", v->name);
    left(g, v);
    add(g, " = ");
    expression(g, 2, &weak);
    add(g, " }");
    g->local_count = 0;
    g->sealed = false;
    v->is_set = v->is_float = true;
    writes(g, v);
}

static void definition(struct generator *g) {
    begin_piece(g)->is_prefix = true;
    snprintf(g->piece->about, sizeof g->piece->about, "d%d", g->defs);
    add(g, "def d%d(a, b)", g->defs++);
    switch (below(g, 4)) {
    case 0:
        add(g, " = a * 0.5 + b");
        break;
    case 1:
        add(g, " { m = a; for t in 0..3 { m = m * 0.5 + b; if m > 9 { return m } }; return m + a }");
        break;
    case 2:
        add(g, " { n = 0; z = f64(a); while z > 1 && n < 20 { z = z / 2; n += 1 }; return n + 0.5 * b }");
        break;
    default:
        add(g, " { if a < b { return a } else { return b * 2.0 } }");
        break;
    }
}

/* Products of matrices: plain, a batch in another order, with a divided index, and of three. */
static void product(struct generator *g) {
    int64_t m = g->dims[below(g, 3)], n = g->dims[1 + below(g, 2)], k = g->dims[1 + below(g, 2)];
    const int64_t kind = below(g, 5), q = 2 + below(g, 3);
    const int64_t batched[] = {k, q, m}, left[] = {m, k}, last[] = {n, q};
    struct variable *a = kind == 1 ? new_input(g, 3, batched) : new_input(g, 2, left);
    struct variable *b = new_input(g, 2, (int64_t[]){k, n}), *c = kind == 3 ? new_input(g, 2, last) : NULL;
    begin_piece(g);
    struct variable *v = add_variable(g, 'y');
    set_shape(v, 2, (int64_t[]){kind == 2 ? m * q : m, kind == 3 ? q : n});
    if (kind == 1)
        set_shape(v, 3, (int64_t[]){m, q, n});
    if (kind == 1)
        add(g, "%s[i,h,j] = sum(k: %s[k,h,i] * %s[k,j])", v->name, a->name, b->name);
    else if (kind == 2)
        add(g, "%s[i,j] = sum(k: %s[i // %d,k] * %s[k,j]) where i in 0..%d", v->name, a->name, (int)q, b->name,
            (int)(m * q));
    else if (kind == 3)
        add(g, "%s[i,j] = sum(k, l: %s[i,k] * %s[k,l] * %s[l,j])", v->name, a->name, b->name, c->name);
    else
        add(g, "%s[i,j] = sum(k: %s[i,k] * %s[k,j])", v->name, a->name, b->name);
    if (kind != 2 && chance(g, 40))
        add(g, " * 0.5 + 1");
    v->is_float = a->is_float || b->is_float || (c && c->is_float) || strstr(g->piece->text, "0.5");
    v->is_set = true;
    writes(g, v);
}

/* A reduction whose reads serve several results. */
static void reused(struct generator *g) {
    int64_t m = g->dims[1 + below(g, 2)], n = g->dims[1 + below(g, 2)], k = g->dims[below(g, 3)];
    struct variable *a = new_input(g, 2, (int64_t[]){m, k}), *b = new_input(g, 2, (int64_t[]){n, k});
    struct variable *w = new_input(g, 1, &k), *x = new_input(g, 1, (int64_t[]){m + k});
    const char *name = PICK(g, "sum", "sum", "sum", "mean", "max");
    char left[64], right[64];
    begin_piece(g);
    struct variable *v = add_variable(g, 'y');
    bool is_window = chance(g, 30), is_vector = !is_window && chance(g, 30);
    set_shape(v, is_window || is_vector ? 1 : 2, (int64_t[]){m, n});
    snprintf(left, sizeof left, is_window ? "%s[i+k]" : "%s[i,k]", is_window ? x->name : a->name);
    snprintf(right, sizeof right, is_window || is_vector ? "%s[k]" : "%s[j,k]",
             is_window || is_vector ? w->name : b->name);
    add(g, "%s[i%s] = %s(k in 0..%lld: ", v->name, v->rank == 2 ? ",j" : "", name, (long long)k);
    add(g,
        PICK(g, "f32(%s) * %s", "f64(%s) / 3 * %s", "abs(f64(%s) - %s)", "(f32(%s) / 7 - %s)**2", "min(f64(%s), %s)"),
        left, right);
    add(g, ") where i in 0..%lld", (long long)m);
    if (v->rank == 2)
        add(g, ", j in 0..%lld", (long long)n);
    v->is_float = v->is_set = true;
    writes(g, v);
}

static void choose_dims(struct generator *g) {
    static const int64_t extents[] = {0, 1, 1, 2, 3, 4, 5, 5, 7, 8, 16, 33};
    for (int d = 0; d < 3; d++)
        g->dims[d] = extents[below(g, (int64_t)(sizeof extents / sizeof *extents))];
    if (chance(g, 10))
        g->dims[0] = (int64_t[]){129, 1025, 1024, 2049}[below(g, 4)];
    if (chance(g, 1))
        g->dims[0] = 70001;
    if (g->dims[0] > 100)
        g->dims[1] = g->dims[2] = 1 + below(g, 3);
}

void generate(struct program *program, uint64_t seed) {
    static void (*const kinds[])(struct generator *) = {new_array, new_array,  new_array, scalar, update,
                                                        partial,   scatter,    stencil,   steps,  until,
                                                        each,      definition, product,   reused};
    struct generator g = {.program = program, .seed = seed};
    program->variable_count = program->piece_count = 0;
    choose_dims(&g);
    for (int k = 0; k < 2; k++) {
        struct variable *n = add_variable(&g, 'n');
        n->is_input = n->is_set = n->is_number = n->is_weak = true;
        n->is_float = chance(&g, 50);
        n->number = n->is_float ? (double)below(&g, 16) / 4 - 2 : (double)below(&g, 9) - 3;
    }
    for (int64_t count = 2 + below(&g, 6); count > 0 && has_room(&g); count--)
        kinds[below(&g, (int64_t)(sizeof kinds / sizeof *kinds))](&g);
}
