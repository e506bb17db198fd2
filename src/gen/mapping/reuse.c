/* The `reuse` mapping: proposes it, and makes the kernel. */
#include "gen/mapping/reuse.h"
#include <math.h>

/* ---- the kernel */

struct reuse_kernel {
    struct reuse *r;
    struct reuse_tile tile;
    struct le_expression *row, *column; /* the first of the tile, INT */
    struct le_expression *rows, *columns, *terms;
    struct le_variable *totals;
};

static struct le_expression *extent(struct codegen *c, const char *what, int64_t value) {
    return le_to_int(c->tree, le_codegen_number(c, what, value));
}

/* Finds the tile of the thread block, and binds the batch's indices. */
static void emit_place(struct reuse_kernel *k) {
    struct codegen *c = &k->r->c;
    struct le_kernel_tree *t = c->tree;
    int rows = le_reuse_down(&k->tile) * k->tile.rows, columns = k->tile.across * k->tile.columns;
    struct le_expression *block = le_to_int(t, le_ktree_thread(t, LE_BLOCK_X));
    struct le_expression *down = extent(c, "row_tiles", le_reuse_tiles(&k->r->rows, rows));
    struct le_expression *across = extent(c, "column_tiles", le_reuse_tiles(&k->r->columns, columns));
    struct le_expression *rest = le_let(t, c->root, "rest", le_ktree_quotient(t, block, across));
    k->column =
        le_let(t, c->root, "first_column", le_times_int(t, le_minus(t, block, le_times(t, rest, across)), columns));
    k->row = le_let(t, c->root, "first_row", le_times_int(t, le_ktree_remainder(t, rest, down), rows));
    if (k->r->batch.count > 0)
        le_team_bind(c, c->root, k->r->batch.at, k->r->batch.count,
                     le_let(t, c->root, "batch", le_ktree_quotient(t, rest, down)), true);
    k->rows = extent(c, "rows", k->r->rows.lines.total);
    k->columns = extent(c, "columns", k->r->columns.lines.total);
    k->terms = extent(c, "terms", k->r->t.groups[0].terms);
}

/* The three functions of a leaf (reuse.cu). */
struct leaf_code {
    struct reuse_kernel *k;
    const struct reuse_side *side;
    struct le_node *leaf;
    bool left;
    struct reuse_place place;
    int type; /* of what says where a line or a term is */
};

/* types: of its parameters */
static struct le_block *open_leaf(const struct leaf_code *l, const char *wish, int type, const int *types, int count,
                                  struct le_variable **function, struct le_expression **x) {
    static const char *const at[] = {"at", "at_1", "at_2", "at_3"}, *const number[] = {"number", "part"};
    struct le_kernel_tree *t = l->k->r->c.tree;
    struct le_variable *parameters[PARTS_MAX];
    *function = le_ktree_variable(t, wish, type);
    for (int n = 0; n < count; n++) {
        parameters[n] = le_ktree_variable(t, count == PARTS_MAX ? at[n] : number[n], types[n]);
        x[n] = le_ktree_use(t, parameters[n]);
    }
    return le_ktree_open_function(t, l->k->r->c.root, *function, parameters, count);
}

static void bind_position(const struct leaf_code *l, struct le_block *block, struct le_expression *line,
                          struct le_expression *term) {
    struct codegen *c = &l->k->r->c;
    const struct group *g = &l->k->r->t.groups[0];
    le_team_bind(c, block, l->side->lines.at, l->side->lines.count, line, true);
    le_team_bind(c, block, g->indices, g->index_count, term, true);
}

/* The parts that say where the value of a line and a term is. Returns their number. */
static int emit_parts(const struct leaf_code *l, struct le_block *block, struct le_expression *line,
                      struct le_expression *term, struct le_expression **parts) {
    struct codegen *c = &l->k->r->c;
    int count = 0;
    if (!l->place.is_sum) {
        parts[0] = line;
        parts[1] = term;
        return 2;
    }
    bind_position(l, block, line, term);
    parts[count++] =
        le_ktree_cast(c->tree, l->type, le_codegen_offset(c, l->leaf, l->place.whole ? ~0u : l->place.axes, block));
    for (int k = 0; k < l->place.edge_count; k++)
        parts[count++] =
            le_ktree_cast(c->tree, l->type, le_codegen_node(c, l->leaf->operands[l->place.edges[k]], block, NULL));
    return count;
}

/* Puts a set of bits in place of the subscripts, from which it is made: of the line, or of the term. */
static int emit_mask(const struct leaf_code *l, bool of_line, struct le_expression **parts) {
    struct codegen *c = &l->k->r->c;
    struct le_kernel_tree *t = c->tree;
    const struct le_layout *layout = &c->layouts[l->leaf->value];
    struct le_expression *all = NULL;
    int64_t first = 0;
    for (int k = 0; k < l->place.edge_count; k++) {
        struct le_expression *bits, *from = le_to_int(t, parts[1 + k]);
        if (of_line) {
            struct le_expression *x[] = {from, extent(c, "extent", layout->shape[l->place.edges[k]]),
                                         extent(c, "least_added", l->place.least[k]),
                                         extent(c, "numbers_added", l->place.counts[k]), extent(c, "first_bit", first)};
            bits = le_ktree_call(t, LE_CALL_REUSE_OUTSIDE, LE_KTREE_INT, NULL, x);
        } else {
            struct le_expression *number = le_plus(t, from, extent(c, "bit", first - l->place.least[k]));
            bits = le_ktree_call(t, LE_CALL_REUSE_BIT, LE_KTREE_INT, NULL, &number);
        }
        all = all ? le_plus(t, all, bits) : bits;
        first += l->place.counts[k];
    }
    parts[1] = all;
    return 2;
}

/* Closes a function of a number and a part with the part that is asked for. */
static struct le_expression *close_parts(const struct leaf_code *l, struct le_block *block,
                                         struct le_variable *function, struct le_expression *part,
                                         struct le_expression *const *parts, int count) {
    struct le_kernel_tree *t = l->k->r->c.tree;
    struct le_expression *x = le_ktree_cast(t, l->type, parts[count - 1]);
    for (int p = count - 2; p >= 0; p--)
        x = le_ktree_select(t, le_ktree_binary(t, LE_OP_EQ, part, le_ktree_int(t, p)),
                            le_ktree_cast(t, l->type, parts[p]), x);
    le_ktree_close_with(t, block, x);
    return le_ktree_use(t, function);
}

/* line_at: beyond the last line, that is read instead. */
static struct le_expression *emit_line_at(const struct leaf_code *l) {
    struct le_kernel_tree *t = l->k->r->c.tree;
    struct le_variable *function;
    struct le_expression *x[2], *parts[PARTS_MAX], *lines = l->left ? l->k->rows : l->k->columns;
    const int types[] = {LE_KTREE_INT, LE_KTREE_INT};
    struct le_block *block = open_leaf(l, "line_at", l->type, types, 2, &function, x);
    struct le_expression *at = le_let(t, block, "at", le_plus(t, l->left ? l->k->row : l->k->column, x[0]));
    struct le_expression *last = le_minus(t, lines, le_ktree_int(t, 1));
    at = le_let(t, block, l->left ? "row" : "column", le_ktree_select(t, le_less(t, at, lines), at, last));
    int count = emit_parts(l, block, at, le_ktree_int(t, 0), parts);
    if (l->place.masked)
        count = emit_mask(l, true, parts);
    return close_parts(l, block, function, x[1], parts, count);
}

static struct le_expression *emit_term_at(const struct leaf_code *l) {
    struct le_kernel_tree *t = l->k->r->c.tree;
    struct le_variable *function;
    struct le_expression *x[2], *zero = le_ktree_int(t, 0), *from[PARTS_MAX], *parts[PARTS_MAX];
    const int types[] = {LE_KTREE_INT, LE_KTREE_INT};
    struct le_block *block = open_leaf(l, "term_at", l->type, types, 2, &function, x);
    struct le_block *first = le_ktree_open(t, block);
    int count = emit_parts(l, first, zero, zero, from);
    for (int p = 0; p < count; p++)
        from[p] = le_let(t, first, "from", from[p]);
    le_ktree_close(t, first);
    emit_parts(l, block, zero, x[0], parts);
    for (int p = 0; p < count; p++)
        parts[p] = le_minus(t, le_ktree_cast(t, l->type, parts[p]), le_ktree_cast(t, l->type, from[p]));
    if (l->place.masked)
        count = emit_mask(l, false, parts);
    return close_parts(l, block, function, x[1], parts, count);
}

static struct le_expression *emit_get(const struct leaf_code *l) {
    struct codegen *c = &l->k->r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_variable *function;
    struct le_expression *x[PARTS_MAX], *value;
    const int types[] = {l->type, l->type, l->type, l->type};
    struct le_block *block =
        open_leaf(l, l->left ? "left" : "right", (int)l->leaf->type, types, PARTS_MAX, &function, x);
    if (l->place.is_sum) {
        bind_position(l, block, le_ktree_int(t, 0), le_ktree_int(t, 0));
        struct le_load_place place = {.offset = x[0], .whole = l->place.whole};
        if (l->place.masked)
            place.inside = le_ktree_binary(t, LE_OP_EQ, x[1], le_ktree_int(t, 0));
        for (int k = 0; k < l->place.edge_count && !l->place.masked; k++)
            place.subscripts[l->place.edges[k]] = x[1 + k];
        value = le_codegen_load_from(c, l->leaf, &place, block);
    } else {
        bind_position(l, block, le_to_int(t, x[0]), le_to_int(t, x[1]));
        value = le_codegen_node(c, l->leaf, block, NULL);
    }
    le_ktree_close_with(t, block, le_codegen_wide(c, value));
    return le_ktree_use(t, function);
}

static struct le_expression *emit_leaf(struct reuse_kernel *k, const struct reuse_side *side, struct le_node *leaf) {
    const struct leaf_code l = {.k = k,
                                .side = side,
                                .leaf = leaf,
                                .left = side == &k->r->rows,
                                .place = le_reuse_place(k->r, side, leaf),
                                .type = k->r->wide ? LE_KTREE_LONG : LE_KTREE_INT};
    struct le_expression *x[] = {emit_get(&l), emit_line_at(&l), emit_term_at(&l)};
    return le_ktree_call(k->r->c.tree, LE_CALL_REUSE_LEAF, LE_KTREE_VOID, &LE_STATIC_NUMBER(l.place.masked), x);
}

/* Makes the function that adds a term to a total: its parameters are the leaves' values (those that a side lacks are
 * unused), the term's number and the total so far. */
static struct le_expression *emit_add(struct reuse_kernel *k) {
    struct codegen *c = &k->r->c;
    struct le_kernel_tree *t = c->tree;
    const struct group *g = &k->r->t.groups[0];
    const struct reuse_side *sides[] = {&k->r->rows, &k->r->columns};
    struct le_variable *parameters[2 * LEAVES_MAX + 2];
    for (int n = 0; n < 2 * LEAVES_MAX; n++)
        parameters[n] = le_ktree_variable(t, n < LEAVES_MAX ? "row_value" : "column_value",
                                          (int)sides[n / LEAVES_MAX]->leaves[0]->type);
    parameters[2 * LEAVES_MAX] = le_ktree_variable(t, "at", LE_KTREE_INT);
    parameters[2 * LEAVES_MAX + 1] = le_ktree_variable(t, "so_far", g->type);
    struct le_variable *function = le_ktree_variable(t, "add", g->type);
    struct le_block *block = le_ktree_open_function(t, c->root, function, parameters, ARRAY_LEN(parameters));
    struct le_expression *at = le_ktree_use(t, parameters[2 * LEAVES_MAX]),
                         *so_far = le_ktree_use(t, parameters[2 * LEAVES_MAX + 1]);
    le_team_bind(c, block, g->indices, g->index_count, at, true);
    for (int s = 0; s < 2; s++)
        for (int n = 0; n < sides[s]->leaf_count; n++)
            le_codegen_know(c, sides[s]->leaves[n], block, le_ktree_use(t, parameters[s * LEAVES_MAX + n]));
    struct le_expression *next;
    if (g->chain) {
        next = le_group_chained(c, g, block, at, so_far);
    } else {
        struct le_expression *x[] = {so_far, le_group_total(c, g, block, at)};
        next = le_ktree_call(t, LE_CALL_TOTAL_JOIN, g->type, NULL, x);
    }
    le_ktree_close_with(t, block, next);
    return le_ktree_use(t, function);
}

static void emit_totals(struct reuse_kernel *k) {
    struct reuse *r = k->r;
    struct codegen *c = &r->c;
    struct le_kernel_tree *t = c->tree;
    struct group *g = &r->t.groups[0];
    const struct reuse_tile *tile = &k->tile;
    const struct le_static left = LE_STATIC_TYPE((int)r->rows.leaves[0]->type),
                           right = LE_STATIC_TYPE((int)r->columns.leaves[0]->type);
    le_group_declare(c, g);
    const struct le_static offset = LE_STATIC_TYPE(r->wide ? LE_KTREE_LONG : LE_KTREE_INT),
                           table = LE_STATIC_NUMBER(r->table ? REUSE_TABLE : 0);
    const struct le_static of_room[] = {LE_STATIC_TYPE(g->type),
                                        LE_STATIC_NUMBER(REUSE_THREADS * tile->columns),
                                        left,
                                        right,
                                        offset,
                                        LE_STATIC_NUMBER(le_reuse_down(tile) * tile->rows),
                                        LE_STATIC_NUMBER(tile->across * tile->columns),
                                        LE_STATIC_NUMBER(tile->depth),
                                        LE_STATIC_NUMBER(r->rows.leaf_count),
                                        LE_STATIC_NUMBER(r->columns.leaf_count),
                                        LE_STATIC_NUMBER(r->rows.parts),
                                        LE_STATIC_NUMBER(r->columns.parts),
                                        table};
    struct le_variable *room = le_ktree_object(t, c->root, "room", LE_KTREE_SHARED, 0,
                                               le_ktree_call(t, LE_CALL_REUSE_ROOM, LE_KTREE_VOID, of_room, NULL));
    struct le_expression *x[2 * LEAVES_MAX + 4] = {k->terms, emit_add(k)};
    for (int n = 0; n < LEAVES_MAX; n++) {
        x[2 + n] = n < r->rows.leaf_count ? emit_leaf(k, &r->rows, r->rows.leaves[n]) : x[2];
        x[2 + LEAVES_MAX + n] =
            n < r->columns.leaf_count ? emit_leaf(k, &r->columns, r->columns.leaves[n]) : x[2 + LEAVES_MAX];
    }
    k->totals = le_ktree_array(t, c->root, "totals", g->type, LE_KTREE_LOCAL, tile->rows, tile->columns);
    x[2 + 2 * LEAVES_MAX] = le_ktree_use(t, room);
    x[3 + 2 * LEAVES_MAX] = le_ktree_use(t, k->totals);
    const struct le_static statics[] = {LE_STATIC_TYPE(g->type),
                                        left,
                                        right,
                                        offset,
                                        LE_STATIC_NUMBER(le_reuse_down(tile)),
                                        LE_STATIC_NUMBER(tile->across),
                                        LE_STATIC_NUMBER(tile->rows),
                                        LE_STATIC_NUMBER(tile->columns),
                                        LE_STATIC_NUMBER(tile->depth),
                                        LE_STATIC_NUMBER(r->rows.leaf_count),
                                        LE_STATIC_NUMBER(r->columns.leaf_count),
                                        LE_STATIC_NUMBER(r->rows.parts),
                                        LE_STATIC_NUMBER(r->columns.parts),
                                        LE_STATIC_NUMBER(r->rows.by_terms),
                                        LE_STATIC_NUMBER(r->columns.by_terms),
                                        table,
                                        LE_STATIC_NUMBER(le_reuse_levels(g))};
    le_do(t, c->root, LE_CALL_REUSE_TOTALS, statics, x);
}

/* Opens the branch of the points of column `part` of the thread, and binds the columns' indices. */
static struct le_block *open_column(struct reuse_kernel *k, struct le_block *block, struct le_expression *part) {
    struct codegen *c = &k->r->c;
    struct le_kernel_tree *t = c->tree;
    int columns = k->tile.across * k->tile.columns;
    struct le_expression *own = le_to_int(t, le_ktree_thread(t, LE_THREAD_X));
    own = columns < REUSE_THREADS ? le_ktree_remainder(t, own, le_ktree_int(t, columns))
                                  : le_plus(t, le_times_int(t, part, REUSE_THREADS), own);
    struct le_expression *column = le_let(t, block, "column", le_plus(t, k->column, own));
    block = le_codegen_open_branch(c, block, le_less(t, column, k->columns));
    le_team_bind(c, block, k->r->columns.lines.at, k->r->columns.lines.count, column, true);
    return block;
}

/* Computes and stores the stage's values for each of the thread's points that is inside. Neighbouring threads have
 * neighbouring columns, and a thread has points of one column, or of some where a row has more of them than threads. */
static void emit_values(struct reuse_kernel *k) {
    struct reuse *r = k->r;
    struct codegen *c = &r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *i, *j, *part;
    int columns = k->tile.across * k->tile.columns, parts = columns > REUSE_THREADS ? columns / REUSE_THREADS : 1;
    struct le_block *block = le_ktree_open_each(t, c->root, "part", parts, &part);
    block = open_column(k, block, part);
    block = le_ktree_open_each(t, block, "i", k->tile.rows, &i);
    block = le_ktree_open_each(t, block, "j", k->tile.columns / parts, &j);
    if (parts > 1)
        j = le_let(t, block, "of", le_plus(t, le_times_int(t, j, parts), part));
    const struct le_static statics[] = {LE_STATIC_TYPE((int)r->rows.leaves[0]->type),
                                        LE_STATIC_NUMBER(le_reuse_down(&k->tile)), LE_STATIC_NUMBER(k->tile.across),
                                        LE_STATIC_NUMBER(k->tile.rows), LE_STATIC_NUMBER(k->tile.columns)};
    struct le_expression *x[] = {i, j};
    struct le_expression *row = le_ktree_call(t, LE_CALL_REUSE_TURNED_ROW, LE_KTREE_INT, statics, x);
    row = le_let(t, block, "row", le_plus(t, k->row, row));
    block = le_codegen_open_branch(c, block, le_less(t, row, k->rows));
    le_team_bind(c, block, r->rows.lines.at, r->rows.lines.count, row, true);
    le_group_know(c, &r->t.groups[0], block, le_ktree_element2(t, k->totals, i, j));
    le_team_store(c, &r->t, block, TEAM_ALL);
    le_codegen_close_all(c, block);
}

static leat_status make_reuse(const struct le_mapping *mapping, void *found, struct le_generated_launches *out) {
    struct reuse_kernel k = {.r = found,
                             .tile = {.across = (int)le_mapping_get(mapping, "across"),
                                      .rows = (int)le_mapping_get(mapping, "rows"),
                                      .columns = (int)le_mapping_get(mapping, "columns"),
                                      .depth = (int)le_mapping_get(mapping, "depth")}};
    struct codegen *c = &k.r->c;
    c->tree->threads = REUSE_THREADS;
    c->tree->resident = le_reuse_resident(k.r, &k.tile);
    emit_place(&k);
    emit_totals(&k);
    emit_values(&k);
    const char *how = le_arena_format(c->arena, "a block for each %d x %d elements",
                                      le_reuse_down(&k.tile) * k.tile.rows, k.tile.across * k.tile.columns);
    le_codegen_launch(c, out, le_reuse_blocks(k.r, &k.tile), REUSE_THREADS, k.r->t.points * (k.r->t.sibling_count + 1),
                      how);
    return c->status;
}

/* ---- the proposal */

struct reuse_proposal {
    struct reuse *r;
    struct reuse_tile tile;
    struct reuse_work work;
    double seconds; /* INFINITY: it does not fit */
};

static struct reuse_proposal find_reuse(const struct le_device_kernel_job *job, const struct le_stage *stage) {
    struct reuse_proposal p = {.r = LE_NEW(job->kernel.arena, struct reuse), .seconds = INFINITY};
    struct reuse *r = p.r;
    le_codegen_begin(&r->c, job, stage, "");
    if (!le_team_spread(&r->c, stage, &r->t) && !le_team_find(&r->c, stage, 1, &r->t))
        return p;
    if (r->t.ragged || r->t.points == 0 || r->t.points > INT32_MAX || !le_reuse_find(r))
        return p;
    p.work = le_reuse_work(r);
    p.tile = le_reuse_best_tile(r, &p.work, &p.seconds);
    return p;
}

/* The same of the stage with its indices split, if that is faster. */
static struct reuse_proposal find_split(const struct le_device_kernel_job *job, const struct le_stage *stage) {
    struct reuse_proposal whole = find_reuse(job, stage), parts;
    struct le_device_kernel_job *own = LE_NEW(job->kernel.arena, struct le_device_kernel_job);
    struct le_space *space = LE_NEW(job->kernel.arena, struct le_space);
    const struct le_stage *split = le_split_indices(&whole.r->c, stage, space);
    if (!split)
        return whole;
    *own = *job;
    own->kernel.space = space;
    own->kernel.stage = split;
    parts = find_reuse(own, split);
    return parts.seconds < whole.seconds ? parts : whole;
}

/* Measured on an H100: threads of columns read the same again through the first-level cache, and products of small
 * matrices then take 1.4 to 1.9 times as long as is predicted. */
#define COLUMNS_LONGER 1.6

void le_propose_reuse(struct le_mapping_search *search) {
    if (!search->stage->node->reduces || !le_stage_in_any_order(search->stage))
        return;
    struct reuse_proposal p = find_split(search->job, search->stage);
    struct reuse *r = p.r;
    struct reuse_tile tile = p.tile;
    if (tile.across == 0)
        return;
    struct le_mapping *m = le_mapping_add(search, LE_MAPPING_REUSE, make_reuse, r);
    struct reuse_tile set = {.across = (int)le_mapping_set(m, "across", tile.across, 16, REUSE_THREADS, true),
                             .rows = (int)le_mapping_set(m, "rows", tile.rows, 1, 8, true),
                             .columns = (int)le_mapping_set(m, "columns", tile.columns, 1, 8, true),
                             .depth = (int)le_mapping_set(m, "depth", tile.depth, 4, 32, true)};
    if (!le_reuse_has_room(r, &set)) { /* what is forced does not fit together */
        m->count = 0;
        m->settings[m->count++] = (struct le_setting){"across", tile.across};
        m->settings[m->count++] = (struct le_setting){"rows", tile.rows};
        m->settings[m->count++] = (struct le_setting){"columns", tile.columns};
        m->settings[m->count++] = (struct le_setting){"depth", tile.depth};
        set = tile;
    }
    m->seconds = le_reuse_seconds(r, &set, &p.work) +
                 le_cost_target_bytes(r->c.job, r->c.stage, r->columns.lines.at[r->columns.lines.count - 1]) /
                     r->c.job->facts->bytes_per_second;
    m->seconds += 2e-6;
    for (int k = 0; k < search->count; k++)
        if (search->at[k].kind == LE_MAPPING_COLUMNS)
            search->at[k].seconds *= COLUMNS_LONGER;
}
