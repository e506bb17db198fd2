/* Computes the values of rows that stay on chip, line by line. Values of long rows may read more than the row, such as
 * a layer norm's gain and bias. These reads come from L2, and two things matter. First, blocks that run side by side
 * would all read the same lines from one part of L2. In every second row each warp therefore begins in the middle of
 * its lines (line ^ turn). This only exchanges the two sides of joins, so the totals keep their bits. Second, a line's
 * reads must not wait for the line before it, so they are issued READ_AHEAD lines earlier, without branches.
 *
 * On an H200 a layer norm of rows of 65,536 thus takes 1.07 of the memory's time, and 1.00 without gain and bias. With
 * a different order for each row it takes 1.076, with one line read ahead 1.13, and with one line and one order for all
 * rows 1.42. Slower variants, written by hand: clusters that stay resident and keep gain and bias (1.11 to 2), two rows
 * at once (1.10), totals sent to the other block without a barrier (1.15), bulk copies (1.07 to 1.09). */
#include "gen/device_row.h"

enum { READ_AHEAD = 2 }; /* lines; with 4 there are too few registers */

static void store_line(struct row *r, struct le_block *block, const char *at, const char *out) {
    struct cuda *c = r->c;
    struct le_node target = le_cuda_target(c);
    struct le_block *first = le_cuda_open(c, block, NULL);
    le_team_bind_one_text(c, first, r->t->rest_at[0], at, 0);
    le_cuda_line(c, first, "le_write<%d>(&%s, %s);", r->all.width, le_cuda_trusted_place_text(c, &target, first), out);
    le_cuda_close(c, first);
}

static struct group pass_of_value(const struct row *r) {
    struct group pass = r->all;
    pass.bodies[0] = r->value;
    pass.node_count = 1;
    return pass;
}

static const char *value_of(struct row *r, struct le_block *block) {
    struct cuda *c = r->c;
    enum le_type stored = c->ir->values.at[le_cuda_target(c).value].type;
    const char *x = le_cuda_wide_text(c, r->value, block);
    return le_cuda_to_memory_text(c, x, le_type_compute(stored), stored);
}

static const char *declare_out(struct row *r, struct le_block *block) {
    const char *out = le_cuda_name(r->c, "out");
    enum le_type stored = r->c->ir->values.at[le_cuda_target(r->c).value].type;
    le_cuda_line(r->c, block, "%s %s[%d];", le_cuda_stored(stored), out, r->all.width);
    return out;
}

/* The elements of a line in `out`, without a branch. The answer is the bool that says whether they count; NULL: they
 * do. */
static const char *make_line(struct row *r, struct le_block *block, const char *at, const char *const names[LOADS_MAX],
                             const char *out) {
    struct cuda *c = r->c;
    const char *e, *usual = NULL;
    if (r->quick) {
        usual = le_cuda_name(c, "usual");
        le_cuda_line(c, block, "bool %s = true;", usual);
    }
    struct le_block *each = le_row_open_elements(r, block, at, &e);
    c->quick = usual ? each : NULL;
    c->usual = le_cuda_named(c, usual);
    le_row_know(r, r->t->group_count, each, names, e);
    le_cuda_line(c, each, "%s[%s] = %s;", out, e, value_of(r, each));
    c->quick = NULL;
    le_cuda_close(c, each);
    return usual;
}

/* The same one at a time, in a few lines of text; unless `usual` (NULL: always). */
static void make_apart(struct row *r, struct le_block *block, const char *at, const char *const names[LOADS_MAX],
                       const char *out, const char *usual) {
    struct cuda *c = r->c;
    const char *turn = le_cuda_name(c, "turn"), *unless = usual ? le_arena_format(c->arena, "!%s && ", usual) : "";
    struct le_block *each =
        le_cuda_open(c, block,
                     le_arena_format(c->arena, "#pragma unroll 1\nfor (int %s = 0; %s%s < %d; %s++)", turn, unless,
                                     turn, r->all.width, turn));
    le_team_bind_one_text(c, each, r->all.indices[0], le_arena_format(c->arena, "%s + %s", at, turn), 0);
    c->rare = each;
    le_row_know(r, r->t->group_count, each, names, "0");
    le_cuda_line(c, each, "%s[0] = %s;\nle_turn(%s);", out, value_of(r, each), out);
    c->rare = NULL;
    for (int k = 0; k < r->load_count; k++)
        if (names[k])
            le_cuda_line(c, each, "le_turn(%s);", names[k]);
    le_cuda_close(c, each);
}

static void emit_unrolled(struct row *r) {
    struct cuda *c = r->c;
    struct group pass = pass_of_value(r);
    const char *names[LOADS_MAX], *line, *e;
    struct le_block *lines = le_row_open_lines(r, &line);
    const char *at = le_row_bind(r, lines, line);
    struct le_block *inside = le_row_inside(r, lines, line);
    if (r->wide) {
        const char *out = declare_out(r, inside);
        le_row_get_all(r, &pass, inside, "get", line, at, names);
        const char *usual = make_line(r, inside, at, names, out);
        if (usual)
            make_apart(r, inside, at, names, out, usual);
        store_line(r, inside, at, out);
    } else {
        le_row_get_all(r, &pass, inside, "get", line, at, names);
        struct le_block *each = le_row_open_elements(r, inside, at, &e);
        le_row_know(r, r->t->group_count, each, names, e);
        le_team_bind_one_text(c, each, r->t->rest_at[0], le_arena_format(c->arena, "%s + %s", at, e), 0);
        le_cuda_store(c, le_cuda_node(c, r->value, each, NULL), each);
        le_cuda_close(c, each);
    }
    le_cuda_close(c, inside);
    le_cuda_close(c, lines);
}

/* ---- values of lines that are in shared memory, too: READ_AHEAD at a time while there are as many, then the lines in
 * registers, and last those that are left, or not usual, one element at a time */

/* What the values read of a line apart from the row. */
static void read_ahead(struct row *r, struct le_block *block, const char *slot, const char *line) {
    const char *at = le_row_bind(r, block, line);
    for (int k = 0; k < r->load_count; k++)
        if (r->ahead[k])
            le_row_read(r, k, block, at, le_arena_format(r->c->arena, "%s[%s]", r->ahead[k], slot));
}

void le_row_start_reading(struct row *r) {
    struct cuda *c = r->c;
    struct group pass = pass_of_value(r);
    bool read[LOADS_MAX];
    const char *slot = le_cuda_name(c, "slot");
    le_row_find_read(r, &pass, read);
    for (int k = 0; k < r->load_count; k++) {
        if (!read[k] || r->kept[k])
            continue;
        r->ahead[k] = le_cuda_name(c, le_arena_format(c->arena, "%s_ahead", le_cuda_value_name(c, r->loads[k]->value)));
        le_cuda_line(c, c->root, "%s %s[%d][%d];", le_row_stored(r, k), r->ahead[k], READ_AHEAD, r->all.width);
    }
    struct le_block *some =
        le_cuda_open(c, c->root, le_arena_format(c->arena, "if (%s - %d >= %d)", r->lines, r->shape.near, READ_AHEAD));
    struct le_block *slots = le_cuda_unrolled(c, some, slot, READ_AHEAD);
    read_ahead(r, slots, slot, le_arena_format(c->arena, "(%d + %s)", r->shape.near, slot));
    le_cuda_close(c, slots);
    le_cuda_close(c, some);
}

/* Whether what is read of arrays may be what the row's values are stored into: none that all rows read. */
static bool may_read_target(const struct row *r, const bool *read) {
    for (int k = 0; k < r->load_count; k++) {
        bool moves = r->t->points == 1;
        for (int p = 0; p < r->t->points_count; p++)
            moves |= le_node_depends(r->loads[k], r->t->points_at[p]);
        if (read[k] && !r->kept[k] && moves)
            return true;
    }
    return false;
}

static void make_rolled_line(struct row *r, struct le_block *block, const char *get, const char *line, const char *slot,
                             const char *again) {
    struct cuda *c = r->c;
    struct group pass = pass_of_value(r);
    bool read[LOADS_MAX];
    const char *names[LOADS_MAX], *at = le_row_bind(r, block, line), *out = declare_out(r, block);
    le_row_find_read(r, &pass, read);
    for (int k = 0; k < r->load_count; k++)
        names[k] = !read[k]      ? NULL
                   : r->ahead[k] ? le_arena_format(c->arena, "%s[%s]", r->ahead[k], slot)
                                 : le_row_get(r, k, block, get, line, at);
    const char *usual = make_line(r, block, at, names, out);
    if (usual)
        le_cuda_line(c, block, "%s |= %s ? 0u : 1u << %s;", again, usual, line);
    if (!usual || !may_read_target(r, read)) {
        store_line(r, block, at, out);
        return;
    }
    struct le_block *counts = le_cuda_open(c, block, le_arena_format(c->arena, "if (%s)", usual));
    store_line(r, counts, at, out); /* else what is made again would read what stands there */
    le_cuda_close(c, counts);
}

/* Lines in shared memory up to `end`. What is read ahead behind them is of the lines in registers. */
static void make_far_lines(struct row *r, struct le_block *block, const char *end, const char *again) {
    struct cuda *c = r->c;
    const char *first = le_cuda_name(c, "first"), *slot = le_cuda_name(c, "slot"), *line = le_cuda_name(c, "line"),
               *next = le_cuda_name(c, "next");
    struct le_block *loop =
        le_cuda_open(c, block,
                     le_arena_format(c->arena, "#pragma unroll 1\nfor (int %s = %d; %s < %s; %s += %d)", first,
                                     r->shape.near, first, end, first, READ_AHEAD));
    struct le_block *slots = le_cuda_unrolled(c, loop, slot, READ_AHEAD);
    le_cuda_line(c, slots, "const int %s = %s + %s;", line, first, slot);
    make_rolled_line(r, slots, "get_far", line, slot, again);
    if (r->reads) {
        le_cuda_line(c, slots, "const int %s = %s + %d < %s ? %s + %d : %s %% %d;", next, line, READ_AHEAD, end, line,
                     READ_AHEAD, slot, r->shape.near);
        read_ahead(r, slots, slot, next);
    }
    le_cuda_close(c, slots);
    le_cuda_close(c, loop);
}

static void make_near_lines(struct row *r, struct le_block *block, const char *again) {
    struct cuda *c = r->c;
    const char *line = le_cuda_name(c, "line"), *slot = le_cuda_name(c, "slot");
    struct le_block *lines = le_cuda_unrolled(c, block, line, r->shape.near);
    le_cuda_line(c, lines, "const int %s = %s %% %d;", slot, line, READ_AHEAD);
    make_rolled_line(r, lines, "get", line, slot, again);
    if (r->reads && r->shape.near > READ_AHEAD) {
        struct le_block *more =
            le_cuda_open(c, lines, le_arena_format(c->arena, "if (%s < %d)", line, r->shape.near - READ_AHEAD));
        read_ahead(r, more, slot, le_arena_format(c->arena, "(%s + %d)", line, READ_AHEAD));
        le_cuda_close(c, more);
    }
    le_cuda_close(c, lines);
}

static void make_lines_again(struct row *r, const char *again) {
    struct cuda *c = r->c;
    struct group pass = pass_of_value(r);
    const char *names[LOADS_MAX], *line = le_cuda_name(c, "line");
    struct le_block *loop = le_cuda_open(
        c, c->root, le_arena_format(c->arena, "#pragma unroll 1\nfor (; %s != 0; %s &= %s - 1)", again, again, again));
    le_cuda_line(c, loop, "const int %s = __ffs((int)%s) - 1;", line, again);
    const char *at = le_row_bind(r, loop, line), *out = declare_out(r, loop);
    le_row_get_all(r, &pass, loop, "get_any", line, at, names);
    make_apart(r, loop, at, names, out, NULL);
    store_line(r, loop, at, out);
    le_cuda_close(c, loop);
}

static void emit_rolled(struct row *r) {
    struct cuda *c = r->c;
    const char *again = le_cuda_name(c, "again"), *end = le_cuda_name(c, "end"), *line = le_cuda_name(c, "line");
    int near = r->shape.near;
    le_cuda_line(c, c->root, "const int %s = %s - %d < %d ? 0 : %s - (%s - %d) %% %d;", end, r->lines, near, READ_AHEAD,
                 r->lines, r->lines, near, READ_AHEAD);
    le_cuda_line(c, c->root,
                 "unsigned %s = 0;\n#pragma unroll 1\nfor (int %s = %s; %s < %s; %s++)\n    %s |= 1u << %s;", again,
                 line, end, line, r->lines, line, again, line);
    struct le_block *most = le_cuda_open(c, c->root, le_arena_format(c->arena, "if (%s > 0)", end));
    make_far_lines(r, most, end, again);
    make_near_lines(r, most, again);
    le_cuda_close(c, most);
    make_lines_again(r, again);
}

void le_row_values(struct row *r) {
    if (r->rolled)
        emit_rolled(r);
    else
        emit_unrolled(r);
}
