/* Reads stages from their lines, and opens and closes blocks. */
#include "ir/lower/lower.h"
#include "tests/ir/reader/reader.h"
#include <string.h>

static const char *const scatters[] = {[LE_SCATTER_ADD] = "add", [LE_SCATTER_SUB] = "sub", [LE_SCATTER_MUL] = "mul",
                                       [LE_SCATTER_DIV] = "div", [LE_SCATTER_MIN] = "min", [LE_SCATTER_MAX] = "max"};

enum le_scatter le_read_scatter(struct reader *r) {
    for (int k = LE_SCATTER_ADD; k <= LE_SCATTER_MAX; k++) {
        struct word w = le_read_look(&r->text);
        if (le_word_is(w, scatters[k]) && r->text.at[w.length] == ' ') {
            r->text.at += w.length;
            return (enum le_scatter)k;
        }
    }
    return LE_SCATTER_SET;
}

/* ---- blocks */

static int block_at(const struct reader *r) {
    return r->open.count ? r->open.at[r->open.count - 1].block : 0;
}

static void open_block(struct reader *r, enum le_stage_kind kind) {
    struct open_block *b = LE_PUSH(r->text.arena, &r->open);
    *b = (struct open_block){.kind = kind, .block = ++r->ir->block_count};
}

static void close_block(struct reader *r, bool by_else) {
    if (r->open.count == 0 || (by_else && r->open.at[r->open.count - 1].kind != LE_STAGE_IF))
        le_read_fail(&r->text, "there is no open block to end");
    r->open.count--;
}

/* ---- stages */

static void makes(struct reader *r, int value, int stage) {
    struct le_value *v = &r->ir->values.at[value];
    if (!v->moved || v->stage == 0)
        v->stage = stage;
}

/* The node may be on the next line. */
static struct le_node *node_below(struct reader *r) {
    if (le_read_next(&r->text) == '\n' && r->text.at < r->text.end) {
        r->text.line_start = ++r->text.at;
        r->text.line++;
    }
    return le_read_node(r);
}

static void add_stage(struct reader *r, struct le_stage s) {
    if (le_read_accept_word(&r->text, "statement"))
        s.statement = le_read_number(r, r->ir->statements.count - 1);
    s.name = le_lower_stage_name(r->ir, s.statement);
    s.block = block_at(r);
    if (s.kind < LE_STAGE_MOVE && !s.dead) {
        le_read_expect(&r->text, '=');
        s.node = node_below(r);
        if (s.kind == LE_STAGE_CONTRACT)
            s.product = le_read_accept_word(&r->text, "as") ? node_below(r) : s.node;
    }
    for (int k = 0; k < s.pair_count; k++)
        makes(r, s.pairs[k].target, r->ir->stages.count);
    if (s.target >= 0)
        makes(r, s.target, r->ir->stages.count);
    *LE_PUSH(r->text.arena, &r->ir->stages) = s;
}

/* Appends the stage after the leader's last sibling so far. */
static void join(struct reader *r, struct le_stage *s) {
    s->leader = r->ir->values.at[le_read_find(r, &r->values, "value")].stage;
    if (s->leader < 0 || s->leader >= r->ir->stages.count || r->ir->stages.at[s->leader].leader >= 0)
        le_read_fail(&r->text, "there is no leader before this stage");
    int last = s->leader;
    while (r->ir->stages.at[last].sibling >= 0)
        last = r->ir->stages.at[last].sibling;
    r->ir->stages.at[last].sibling = r->ir->stages.count;
}

static struct le_stage blank(const struct reader *r, enum le_stage_kind kind, bool dead) {
    return (struct le_stage){.kind = kind,
                             .dead = dead,
                             .target = -1,
                             .base = -1,
                             .access = -1,
                             .leader = -1,
                             .sibling = -1,
                             .index = -1,
                             .statement = r->ir->statements.count - 1};
}

static void element_stage(struct reader *r, enum le_stage_kind kind) {
    struct le_stage s = blank(r, kind, false);
    s.scatter = kind == LE_STAGE_SCATTER ? le_read_scatter(r) : LE_SCATTER_SET;
    s.target = le_read_find(r, &r->values, "value");
    if (le_read_next(&r->text) == '[')
        s.left = le_read_nodes(r, &s.left_count);
    if (le_read_next(&r->text) == '{')
        s.indices = le_read_indices(r, &s.index_count);
    if (le_read_accept_word(&r->text, "over"))
        s.base = le_read_find(r, &r->values, "value");
    if (le_read_accept_word(&r->text, "access"))
        s.access = le_read_access(r);
    s.guarded = kind == LE_STAGE_SCAN && le_read_accept_word(&r->text, "guarded");
    if (le_read_accept_word(&r->text, "with"))
        join(r, &s);
    add_stage(r, s);
}

/* u.4 over u.2, v.5 over v.3 */
static void read_pairs(struct reader *r, struct le_stage *s, bool moves) {
    struct {
        struct le_pair *at;
        int count, capacity;
    } out = {.at = NULL};
    do {
        struct le_pair pair = {.target = le_read_find(r, &r->values, "value")};
        if (moves) {
            le_read_expect(&r->text, '<');
            le_read_expect_word(&r->text, "-");
        } else
            le_read_expect_word(&r->text, "over");
        pair.source = le_read_find(r, &r->values, "value");
        *LE_PUSH(r->text.arena, &out) = pair;
    } while (le_read_accept(&r->text, ','));
    s->pairs = out.at;
    s->pair_count = out.count;
    s->target = out.at[0].target;
    s->base = moves ? -1 : out.at[0].source;
}

static void each_stage(struct reader *r) {
    struct le_stage s = blank(r, LE_STAGE_EACH, false);
    if (le_read_next(&r->text) == '{')
        s.indices = le_read_indices(r, &s.index_count);
    read_pairs(r, &s, false);
    add_stage(r, s);
}

static void for_head(struct reader *r, struct le_stage *s) {
    s->index = le_read_find(r, &r->indices, "index");
    if (!r->ir->indices.at[s->index].host)
        le_read_fail(&r->text, "the index is not the host's");
    s->target = r->ir->indices.at[s->index].host_value;
}

static void control_stage(struct reader *r, enum le_stage_kind kind, bool dead) {
    struct le_stage s = blank(r, kind, dead);
    if (kind == LE_STAGE_ELSE || kind == LE_STAGE_END)
        close_block(r, kind == LE_STAGE_ELSE);
    if (kind == LE_STAGE_MOVE)
        read_pairs(r, &s, true);
    if (kind == LE_STAGE_FOR)
        for_head(r, &s);
    if (kind == LE_STAGE_TEST || kind == LE_STAGE_IF)
        s.node = le_read_node(r);
    add_stage(r, s);
    if (kind == LE_STAGE_FOR || kind == LE_STAGE_LOOP || kind == LE_STAGE_IF || kind == LE_STAGE_ELSE)
        open_block(r, kind);
}

/* The targets of a dead stage, whose kind no longer matters. */
static void dead_stage(struct reader *r) {
    struct le_stage s = blank(r, LE_STAGE_MAP, true);
    struct {
        struct le_pair *at;
        int count, capacity;
    } out = {.at = NULL};
    do {
        int target = le_read_find(r, &r->values, "value");
        *LE_PUSH(r->text.arena, &out) = (struct le_pair){.target = target, .source = -1};
    } while (le_read_accept(&r->text, ','));
    s.target = out.at[0].target;
    if (out.count > 1) {
        s.pairs = out.at;
        s.pair_count = out.count;
    }
    add_stage(r, s);
}

void le_read_stage(struct reader *r) {
    static const char *const words[] = {
        [LE_STAGE_MAP] = "map",     [LE_STAGE_SCATTER] = "scatter", [LE_STAGE_FILL] = "fill",
        [LE_STAGE_EACH] = "each",   [LE_STAGE_SCAN] = "scan",       [LE_STAGE_CONTRACT] = "contract",
        [LE_STAGE_MOVE] = "move",   [LE_STAGE_FOR] = "for",         [LE_STAGE_LOOP] = "loop",
        [LE_STAGE_TEST] = "test",   [LE_STAGE_IF] = "if",           [LE_STAGE_ELSE] = "else",
        [LE_STAGE_BREAK] = "break", [LE_STAGE_END] = "end"};
    bool dead = le_read_accept_word(&r->text, "dead");
    struct word w = le_read_look(&r->text);
    if (dead && le_names_get(&r->values, w.at, (size_t)w.length) >= 0) {
        dead_stage(r);
        return;
    }
    enum le_stage_kind kind =
        (enum le_stage_kind)le_read_choose(&r->text, words, (int)ARRAY_LEN(words), "line of the IR");
    if (kind >= LE_STAGE_MOVE)
        control_stage(r, kind, dead);
    else if (kind == LE_STAGE_EACH)
        each_stage(r);
    else
        element_stage(r, kind);
}
