/* Reads the IR from its text (print.c describes it). Whatever the text says, the result can be walked, printed and
 * verified: every number is valid in its list, no list is longer than its destination, and nothing is deeper than
 * READ_DEPTH_MAX. The verifier checks whether it makes sense. */
#include "tests/ir/reader/reader.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- words */

static bool is_part(char c) {
    return le_is_letter(c) || le_is_digit(c) || c == '_' || c == '.' || c == '-';
}

/* Letters, digits, points and minus signs; in a number a plus sign after an exponent's e. */
static int word_length(const char *at, const char *end) {
    const char *stop = at;
    bool number = at < end && (le_is_digit(*at) || (*at == '-' && at + 1 < end && le_is_digit(at[1])));
    while (stop < end && (is_part(*stop) || (*stop == '+' && number && stop > at && stop[-1] == 'e')))
        stop++;
    return (int)(stop - at);
}

int le_read_number(struct reader *r, int most) {
    return (int)le_read_whole(&r->text, 0, most);
}

int le_read_find(struct reader *r, const struct le_names *names, const char *what) {
    struct word w = le_read_look(&r->text);
    int found = le_names_get(names, w.at, (size_t)w.length);
    if (found < 0)
        le_read_fail_none(&r->text, what, w);
    r->text.at += w.length;
    return found;
}

enum le_type le_read_type(struct reader *r) {
    struct word w = le_read_look(&r->text);
    enum le_type type = le_type_parse(w.at, (size_t)w.length);
    if (type == LE_NONE)
        le_read_fail_not(&r->text, w, "a type");
    r->text.at += w.length;
    return type;
}

void le_read_end_line(struct reader *r) {
    if (le_read_next(&r->text) != '\n')
        le_read_fail(&r->text, "unexpected text at the end of the line");
    r->numbered.count = 0;
}

static int new_name(struct reader *r, struct le_names *names, int value, const char **name) {
    struct word w = le_read_take(&r->text, "a name");
    if (le_names_get(names, w.at, (size_t)w.length) >= 0)
        le_read_fail(&r->text, "duplicate name '%.*s'", w.length < 60 ? w.length : 60, w.at);
    *name = le_arena_copy(r->text.arena, w.at, (size_t)w.length);
    le_names_put(r->text.arena, names, *name, (size_t)w.length, value);
    return value;
}

/* ---- symbols and values */

static struct le_location read_location(struct reader *r) {
    struct le_location p = {0};
    if (!le_read_accept_word(&r->text, "at"))
        return p;
    p.line = le_read_number(r, 1 << 30);
    le_read_expect(&r->text, ':');
    p.column = le_read_number(r, 1 << 30);
    le_read_expect(&r->text, '+');
    p.span = le_read_number(r, 1 << 30);
    return p;
}

/* [n, _]: returns the number of axes; -1 if there are no brackets. */
static int read_shape(struct reader *r) {
    int rank = 0;
    if (!le_read_accept(&r->text, '['))
        return -1;
    while (!le_read_accept(&r->text, ']')) {
        if (rank > 0)
            le_read_expect(&r->text, ',');
        le_read_take(&r->text, "an extent's name");
        if (++rank > LEAT_RANK_MAX)
            le_read_fail(&r->text, "more than %d axes", LEAT_RANK_MAX);
    }
    return rank;
}

static void symbol_line(struct reader *r) {
    struct le_symbol *s = LE_NEW(r->text.arena, struct le_symbol);
    s->id = new_name(r, &r->symbols, r->all_symbols.count, &s->name);
    le_read_expect(&r->text, ':');
    s->type = le_read_accept(&r->text, '?') ? LE_NONE : le_read_type(r);
    int rank = read_shape(r);
    s->is_array = rank >= 0;
    s->rank = rank > 0 ? rank : 0;
    *LE_PUSH(r->text.arena, &r->all_symbols) = s;
    *LE_PUSH(r->text.arena, &r->sizes) = NULL;
    if (le_read_accept(&r->text, '=')) {
        le_read_expect(&r->text, '(');
        le_read_expect_word(&r->text, "len");
        struct le_node *size = le_read_length(r);
        r->sizes.at[s->id] = size;
    }
    le_read_end_line(r);
}

static void value_line(struct reader *r, bool is_input) {
    struct le_value v = {.id = r->ir->values.count, .symbol = -1, .stage = is_input ? -1 : INT_MAX};
    new_name(r, &r->values, v.id, &v.name);
    le_read_expect(&r->text, ':');
    v.type = le_read_type(r);
    int rank = read_shape(r);
    v.rank = rank > 0 ? rank : 0;
    if (!le_read_accept_word(&r->text, "temporary")) {
        le_read_expect_word(&r->text, "of");
        v.symbol = le_read_find(r, &r->symbols, "symbol");
    }
    v.wanted = le_read_accept_word(&r->text, "wanted");
    v.moved = le_read_accept_word(&r->text, "moved");
    if (v.moved && !is_input)
        v.stage = 0; /* its MOVEs may have been removed */
    if (le_read_accept_word(&r->text, "used"))
        v.uses = le_read_number(r, 1 << 30);
    *LE_PUSH(r->text.arena, &r->ir->values) = v;
    le_read_end_line(r);
}

static void local_line(struct reader *r) {
    const char *name;
    le_read_expect(&r->text, '$');
    struct word w = le_read_look(&r->text);
    int number = new_name(r, &r->locals, r->ir->locals.count, &name), dot = w.length;
    while (dot > 0 && w.at[dot - 1] != '.')
        dot--;
    char expected[16];
    int length = snprintf(expected, sizeof expected, "%d", number);
    if (dot < 2 || w.length - dot != length || memcmp(w.at + dot, expected, (size_t)length) != 0)
        le_read_fail(&r->text, "expected a variable NAME.%d", number);
    le_read_expect(&r->text, ':');
    enum le_type type = le_read_type(r);
    *LE_PUSH(r->text.arena, &r->ir->locals) =
        (struct le_local){.name = le_arena_copy(r->text.arena, name, (size_t)dot - 1), .type = type};
    le_read_end_line(r);
}

static void note_line(struct reader *r) {
    int line = le_read_number(r, 1 << 30);
    struct le_ir_note *note = LE_PUSH(r->text.arena, &r->ir->notes);
    note->line = line;
    note->text = le_read_rest(&r->text);
}

/* ---- indices */

/* name.number */
static int index_number(struct reader *r, struct word w, const char **name) {
    int64_t number = 0;
    int dot = w.length - 1;
    while (dot >= 0 && w.at[dot] != '.')
        dot--;
    if (dot <= 0 || dot == w.length - 1 || le_names_get(&r->indices, w.at, (size_t)w.length) >= 0)
        le_read_fail(&r->text, "'%.*s' is not a new index: expected NAME.NUMBER", w.length < 60 ? w.length : 60, w.at);
    for (int k = dot + 1; k < w.length && (size_t)number < r->index_limit; k++) {
        if (!le_is_digit(w.at[k]))
            le_read_fail(&r->text, "expected an index NAME.NUMBER");
        number = 10 * number + (w.at[k] - '0');
    }
    if ((size_t)number >= r->index_limit)
        le_read_fail(&r->text, "the index's number is too large");
    *name = le_arena_copy(r->text.arena, w.at, (size_t)dot);
    return (int)number;
}

static void make_room(struct reader *r, int index) {
    while (r->ir->indices.count <= index)
        *LE_PUSH(r->text.arena, &r->ir->indices) = (struct le_ir_index){0};
    if (r->ir->indices.at[index].name)
        le_read_fail(&r->text, "duplicate index %d", index);
}

static int depth_of(const struct reader *r, const struct le_node *bound) {
    int depth = 0;
    for (int k = 0; bound && k < bound->free_count; k++)
        if (r->depths[bound->free[k]] >= depth)
            depth = r->depths[bound->free[k]] + 1;
    return depth;
}

static void index_line(struct reader *r) {
    struct le_ir_index ix = {0};
    struct word w = le_read_take(&r->text, "an index");
    int index = index_number(r, w, &ix.name), depth = 0;
    make_room(r, index);
    ix.explicit_range = le_read_accept_word(&r->text, "in");
    if (ix.explicit_range) {
        ix.range.low = le_read_node(r);
        le_read_expect_word(&r->text, "..");
        ix.range.high = le_read_node(r);
        if (le_read_accept_word(&r->text, "by"))
            ix.range.by = le_read_node(r);
    }
    ix.depends = le_read_accept_word(&r->text, "depends");
    ix.from_dots = le_read_accept_word(&r->text, "dots");
    ix.stepped = le_read_accept_word(&r->text, "stepped");
    ix.host = le_read_accept_word(&r->text, "host");
    if (ix.host)
        ix.host_value = le_read_find(r, &r->values, "value");
    ix.location = read_location(r);
    const struct le_node *bounds[] = {ix.range.low, ix.range.high, ix.range.by};
    for (int k = 0; k < 3; k++) {
        int below = depth_of(r, bounds[k]);
        depth = below > depth ? below : depth;
        if (bounds[k] && bounds[k]->type != LE_I64)
            le_read_fail(&r->text, "a bound is not i64");
    }
    if (depth > READ_DEPTH_MAX)
        le_read_fail(&r->text, "index bounds are nested too deeply");
    r->depths[index] = depth;
    r->ir->indices.at[index] = ix;
    le_names_put(r->text.arena, &r->indices, le_arena_copy(r->text.arena, w.at, (size_t)w.length), (size_t)w.length,
                 index);
    le_read_end_line(r);
}

/* ---- statements */

/* Checks what the range rules rely on. */
static void check_statement(struct reader *r, const struct le_ir_statement *st) {
    bool sized = st->kind == LE_STEP_BIND || st->kind == LE_STEP_AGREE;
    if (st->kind <= LE_STEP_ASSIGN && st->kind != LE_STEP_AGREE && st->symbol < 0)
        le_read_fail(&r->text, "the statement's symbol is missing");
    if (sized && st->array < 0)
        le_read_fail(&r->text, "the statement's array is missing");
    for (int k = 0; st->is_new && k < st->left_count; k++)
        if (st->left[k]->kind != LE_NODE_INDEX)
            le_read_fail(&r->text, "a new array needs bare indices on the left");
}

static void statement_line(struct reader *r) {
    static const char *const kinds[] = {
        [LE_STEP_DEFAULT] = "default", [LE_STEP_BIND] = "bind",     [LE_STEP_AGREE] = "agree", [LE_STEP_NEW] = "new",
        [LE_STEP_FILL] = "fill",       [LE_STEP_ASSIGN] = "assign", [LE_STEP_EACH] = "each",   [LE_STEP_FOR] = "for",
        [LE_STEP_WHILE] = "while",     [LE_STEP_IF] = "if"};
    struct le_ir_statement st = {.symbol = -1, .array = -1, .first_access = r->ir->accesses.count, .loop = -1};
    int loop_count = 0;
    st.kind = (enum le_step_kind)le_read_choose(&r->text, kinds, (int)ARRAY_LEN(kinds), "kind of statement");
    struct word w = le_read_look(&r->text);
    if (st.kind <= LE_STEP_ASSIGN)
        st.symbol = le_names_get(&r->symbols, w.at, (size_t)w.length);
    if (st.symbol >= 0)
        r->text.at += w.length;
    if (le_read_accept_word(&r->text, "array")) {
        st.array = le_read_find(r, &r->symbols, "symbol");
        le_read_expect_word(&r->text, "axis");
        st.axis = le_read_number(r, LEAT_RANK_MAX - 1);
    }
    st.is_new = le_read_accept_word(&r->text, "makes");
    st.has_else = le_read_accept_word(&r->text, "else");
    st.conditional = le_read_accept_word(&r->text, "conditional");
    st.unchecked = le_read_accept_word(&r->text, "unchecked");
    if (le_read_accept_word(&r->text, "left"))
        st.left = le_read_nodes(r, &st.left_count);
    if (le_read_accept_word(&r->text, "sizes"))
        st.sizes = le_read_nodes(r, &st.size_count);
    if (le_read_accept_word(&r->text, "value")) {
        le_read_expect(&r->text, '[');
        st.value = le_read_node(r);
        le_read_expect(&r->text, ']');
    }
    if (le_read_accept_word(&r->text, "free"))
        st.free = le_read_indices(r, &st.free_count);
    if (le_read_accept_word(&r->text, "all"))
        st.all = le_read_indices(r, &st.all_count);
    const int *loop = le_read_accept_word(&r->text, "within") ? le_read_indices(r, &loop_count) : NULL;
    if (loop_count == 1)
        st.loop = loop[0];
    st.location = read_location(r);
    st.text = r->comment;
    check_statement(r, &st);
    *LE_PUSH(r->text.arena, &r->ir->statements) = st;
    le_read_end_line(r);
}

static void access_line(struct reader *r, bool left) {
    struct le_ir_access a = {.left = left, .statement = r->ir->statements.count - 1};
    if (a.statement < 0)
        le_read_fail(&r->text, "an access must follow its statement");
    a.symbol = le_read_find(r, &r->symbols, "symbol");
    a.subscripts = le_read_nodes(r, &a.rank);
    for (int d = 0; d < a.rank; d++)
        a.bare |= (unsigned)(a.subscripts[d]->kind == LE_NODE_INDEX) << d;
    a.under_condition = le_read_accept_word(&r->text, "conditional");
    a.guarded = a.under_condition || le_read_accept_word(&r->text, "guarded");
    a.has_edge = le_read_accept_word(&r->text, "edge");
    if (le_read_accept_word(&r->text, "stretch"))
        a.stretch = le_read_number(r, LEAT_RANK_MAX);
    if (le_read_accept_word(&r->text, "around"))
        a.around = le_read_indices(r, &a.around_count);
    a.location = read_location(r);
    *LE_PUSH(r->text.arena, &r->ir->accesses) = a;
    r->ir->statements.at[a.statement].access_count++;
    le_read_end_line(r);
}

/* ---- lines */

static void numbered_line(struct reader *r) {
    if (le_read_number(r, 1 << 30) != r->numbered.count)
        le_read_fail(&r->text, "expected number %%%d", r->numbered.count);
    le_read_expect(&r->text, '=');
    struct le_node *n = le_read_is_region(r) ? le_read_region(r) : le_read_node(r);
    *LE_PUSH(r->text.arena, &r->numbered) = n;
    if (le_read_next(&r->text) != '\n')
        le_read_fail(&r->text, "unexpected text at the end of the line");
}

static void input_line(struct reader *r) {
    value_line(r, true);
}
static void made_line(struct reader *r) {
    value_line(r, false);
}
static void read_line(struct reader *r) {
    access_line(r, false);
}
static void write_line(struct reader *r) {
    access_line(r, true);
}

static void read_one_line(struct reader *r) {
    static const struct {
        const char *word;
        void (*read)(struct reader *r);
    } kinds[] = {{"symbol", symbol_line},       {"input", input_line}, {"value", made_line}, {"local", local_line},
                 {"note", note_line},           {"index", index_line}, {"read", read_line},  {"write", write_line},
                 {"statement", statement_line}, {NULL, NULL}};
    if (le_read_accept(&r->text, '%')) {
        numbered_line(r);
        return;
    }
    for (int k = 0; kinds[k].word; k++)
        if (le_read_accept_word(&r->text, kinds[k].word)) {
            kinds[k].read(r);
            return;
        }
    le_read_stage(r);
    le_read_end_line(r);
}

static void lines(struct reader *r) {
    for (; r->text.at < r->text.end; r->text.line++) {
        r->text.line_start = r->text.at;
        if (le_read_accept(&r->text, '#'))
            r->comment = le_read_rest(&r->text);
        else if (le_read_peek(&r->text) != '\n')
            read_one_line(r);
        if (r->text.at < r->text.end)
            r->text.at++;
    }
    if (r->numbered.count > 0)
        le_read_fail(&r->text, "%%%d is not followed by a line", r->numbered.count - 1);
}

/* Fills in what follows from the order of the text, and checks references. */
static void finish(struct reader *r) {
    struct le_ir *ir = r->ir;
    int count = r->all_symbols.count;
    r->tree->symbols = r->all_symbols.at;
    r->tree->symbol_count = count;
    ir->fixed = r->sizes.at;
    ir->first = LE_NEW_ARRAY(r->text.arena, count, int);
    ir->last = LE_NEW_ARRAY(r->text.arena, count, int);
    memset(ir->first, -1, (size_t)count * sizeof *ir->first);
    memset(ir->last, -1, (size_t)count * sizeof *ir->last);
    for (int k = 0; k < ir->values.count; k++) {
        const struct le_value *v = &ir->values.at[k];
        if (v->stage == INT_MAX)
            le_read_fail(&r->text, "no stage makes '%.60s'", v->name);
        if (v->symbol < 0)
            continue;
        if (v->stage < 0)
            ir->first[v->symbol] = k;
        ir->last[v->symbol] = k;
    }
    r->tree->index_count = ir->indices.count;
    if (r->open.count > 0)
        le_read_fail(&r->text, "a block has no end");
    if (r->access_most >= ir->accesses.count)
        le_read_fail(&r->text, "there is no access %d", r->access_most);
}

leat_status le_ir_read(struct le_arena *arena, const char *text, size_t size_bytes, struct le_ir **ir) {
    struct reader *r = LE_NEW(arena, struct reader);
    *ir = NULL;
    if (size_bytes > LE_TEXT_MAX)
        return le_fail(LEAT_PROGRAM, "the IR's text has more than %d bytes", LE_TEXT_MAX);
    le_reader_init(&r->text, arena, "ir", text, size_bytes, word_length);
    r->tree = LE_NEW(arena, struct le_tree);
    r->ir = le_ir_new(arena, r->tree);
    r->tree->text = "";
    r->comment = "";
    r->access_most = -1;
    r->index_limit = size_bytes + 1024;
    r->depths = LE_NEW_ARRAY(arena, r->index_limit, int);
    if (setjmp(r->text.failure))
        return r->text.status;
    lines(r);
    finish(r);
    *ir = r->ir;
    return LEAT_OK;
}
