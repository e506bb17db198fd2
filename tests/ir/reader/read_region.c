/* Reads regions from their lines (print_region.c describes them). Each node that a step names becomes an operand. */
#include "tests/ir/reader/reader.h"
#include <limits.h>
#include <string.h>

struct region_reader {
    struct reader *r;
    struct {
        struct le_region_step *at;
        int count, capacity;
    } steps;
    struct {
        struct le_node **at;
        int count, capacity;
    } operands;
    struct {
        int *at;
        int count, capacity;
    } indices, open; /* open: steps that are not closed yet */
};

static struct word region_word(struct reader *r) {
    struct word w = le_read_look(&r->text);
    if (w.length > 6 && w.at[6] != '.')
        w.length = 0;
    return w;
}

bool le_read_is_region(struct reader *r) {
    struct word w = region_word(r);
    return w.length >= 6 && memcmp(w.at, "region", 6) == 0;
}

static int read_operand(struct region_reader *g) {
    struct le_node *n = le_read_node(g->r);
    *LE_PUSH(g->r->text.arena, &g->operands) = n;
    return g->operands.count - 1;
}

static void next_line(struct reader *r) {
    if (le_read_next(&r->text) != '\n' || r->text.at >= r->text.end)
        le_read_fail(&r->text,
                     r->text.at >= r->text.end ? "the region has no end" : "unexpected text at the end of the line");
    r->text.line_start = ++r->text.at;
    r->text.line++;
}

/* store add 0[i.0] own access 3 = node */
static void read_store(struct region_reader *g, struct le_region_step *s) {
    struct reader *r = g->r;
    s->scatter = le_read_scatter(r);
    s->target = le_read_number(r, 1 << 16);
    s->first_subscript = g->operands.count;
    le_read_expect(&r->text, '[');
    while (!le_read_accept(&r->text, ']')) {
        if (s->subscript_count > 0)
            le_read_expect(&r->text, ',');
        if (s->subscript_count++ == LEAT_RANK_MAX)
            le_read_fail(&r->text, "more than %d subscripts", LEAT_RANK_MAX);
        read_operand(g);
    }
    s->own = le_read_accept_word(&r->text, "own");
    if (le_read_accept_word(&r->text, "access"))
        s->access = le_read_access(r);
    le_read_expect(&r->text, '=');
    s->value = read_operand(g);
}

static void read_for(struct region_reader *g, struct le_region_step *s) {
    int index = le_read_find(g->r, &g->r->indices, "index");
    while (s->index < g->indices.count && g->indices.at[s->index] != index)
        s->index++;
    if (s->index == g->indices.count)
        *LE_PUSH(g->r->text.arena, &g->indices) = index;
}

static int innermost(struct region_reader *g, bool loop) {
    for (int k = g->open.count - 1; k >= 0; k--) {
        enum le_region_kind kind = g->steps.at[g->open.at[k]].kind;
        if (!loop || kind == LE_REGION_FOR || kind == LE_REGION_WHILE)
            return g->open.at[k];
    }
    le_read_fail(&g->r->text, "there is no open block to end");
}

/* Partners of the innermost open step and this one, number `at`. */
static void close_step(struct region_reader *g, struct le_region_step *s, int at) {
    s->partner = innermost(g, false);
    struct le_region_step *opener = &g->steps.at[s->partner];
    opener->partner = at;
    if (s->kind == LE_REGION_ELSE && opener->kind != LE_REGION_IF)
        le_read_fail(&g->r->text, "no `if` is open");
    g->open.count--;
}

/* 3:1 */
static struct le_location read_number_base(struct reader *r) {
    struct le_location location = {.line = le_read_number(r, INT_MAX)};
    le_read_expect(&r->text, ':');
    location.column = le_read_number(r, INT_MAX);
    return location;
}

static void read_step(struct region_reader *g, enum le_region_kind kind) {
    struct reader *r = g->r;
    struct le_region_step s = {.kind = kind, .access = -1};
    int at = g->steps.count;
    if (kind == LE_REGION_SET) {
        s.local = le_read_local(r);
        le_read_expect(&r->text, '=');
    }
    if (kind == LE_REGION_STORE)
        read_store(g, &s);
    else if (kind == LE_REGION_FOR)
        read_for(g, &s);
    else if (kind == LE_REGION_BREAK)
        s.partner = innermost(g, true);
    else if (kind == LE_REGION_FAIL)
        s.location = read_number_base(r);
    else if (kind != LE_REGION_ELSE && kind != LE_REGION_END)
        s.value = read_operand(g);
    if (kind == LE_REGION_RETURN && le_read_accept(&r->text, ','))
        s.second = read_operand(g);
    if (kind == LE_REGION_ELSE || kind == LE_REGION_END)
        close_step(g, &s, at);
    s.text = le_read_accept(&r->text, '#') ? le_read_rest(&r->text) : NULL;
    *LE_PUSH(r->text.arena, &g->steps) = s;
    if (kind == LE_REGION_FOR || kind == LE_REGION_WHILE || kind == LE_REGION_IF || kind == LE_REGION_ELSE)
        *LE_PUSH(r->text.arena, &g->open) = at;
}

/* Returns false at the region's own `end`. */
static bool read_line(struct region_reader *g) {
    static const char *const words[] = {
        [LE_REGION_STORE] = "store",   [LE_REGION_FOR] = "for",   [LE_REGION_WHILE] = "while",
        [LE_REGION_IF] = "if",         [LE_REGION_ELSE] = "else", [LE_REGION_BREAK] = "break",
        [LE_REGION_RETURN] = "return", [LE_REGION_FAIL] = "fail", [LE_REGION_END] = "end"};
    next_line(g->r);
    if (le_read_accept(&g->r->text, '$')) {
        read_step(g, LE_REGION_SET);
        return true;
    }
    enum le_region_kind kind =
        (enum le_region_kind)le_read_choose(&g->r->text, words, (int)ARRAY_LEN(words), "step of a region");
    if (kind == LE_REGION_END && g->open.count == 0)
        return false;
    read_step(g, kind);
    return true;
}

struct le_node *le_read_region(struct reader *r) {
    struct region_reader g = {.r = r};
    struct word w = le_read_take(&r->text, "region");
    struct le_node model = {.kind = LE_NODE_REGION};
    if (w.length > 7)
        model.type = le_type_parse(w.at + 7, (size_t)w.length - 7);
    if (w.length > 6 && model.type == LE_NONE)
        le_read_fail(&r->text, "invalid region type");
    while (read_line(&g))
        continue;
    struct le_region *region = LE_NEW(r->text.arena, struct le_region);
    *region = (struct le_region){.steps = g.steps.at, .step_count = g.steps.count};
    model.region = region;
    model.operands = g.operands.at;
    model.operand_count = g.operands.count;
    model.indices = g.indices.at;
    model.index_count = g.indices.count;
    return le_read_made(r, &model);
}
