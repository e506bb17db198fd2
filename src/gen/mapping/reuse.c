/* The `reuse` mapping: makes the kernel, and chooses how large a tile is and how its threads share it. */
#include "gen/mapping/reuse.h"
#include <math.h>

#define ROOM_BYTES    (46 << 10) /* of the 48 KB of static shared memory */
#define REGISTERS     256        /* of a thread, if one thread block fits on a multiprocessor */
#define OTHER_WORDS   24         /* registers for addresses and the like */
#define PENDING_BYTES 1024       /* most bytes of a thread's tree of units, in local memory */
#define SUM_COST      5          /* instructions that bring a value to shared memory, if its place is a sum */
#define EDGE_COST     3          /* besides: of each subscript that an edge mode applies to */
#define INDEX_COST    15         /* else: of each index */
#define L2_RATE       2.5        /* bytes that L2 moves while memory moves one */
#define START_SECONDS 2e-6       /* until the first terms have come */
#define STEP_SECONDS  0.3e-6     /* in which threads meet between steps */
#define STORE_COST    12         /* instructions that store a point's value */

/* ---- the tile */

/* Levels of the tree of units; -1: no sum with reuse. */
static int levels_of(const struct group *g) {
    int64_t unit = LE_CHAIN_TERMS * LE_CHAIN_CHUNKS, units = (g->terms + unit - 1) / unit; /* the last may be shorter */
    if (!g->chain)
        return -1;
    return g->terms <= unit ? 0 : units < 8 ? 3 : units < 256 ? 8 : 20;
}

static int down_of(const struct reuse_tile *tile) {
    return REUSE_THREADS / tile->across;
}

static int64_t pitch_of(int lines) {
    return (lines + 3) / 4 * 4 + 4;
}

static size_t side_bytes(const struct reuse_side *side, int lines, int depth) {
    return (size_t)(2 * side->leaf_count * depth * pitch_of(lines)) * le_type_size(side->leaves[0]->type);
}

/* In numbers, for each term. */
static size_t table_numbers(const struct reuse_side *side) {
    return (size_t)(side->leaf_count * (side->parts < 3 ? side->parts : 4));
}

static size_t room_bytes(const struct reuse *r, const struct reuse_tile *tile) {
    return side_bytes(&r->rows, down_of(tile) * tile->rows, tile->depth) +
           side_bytes(&r->columns, tile->across * tile->columns, tile->depth) + 32 +
           (table_numbers(&r->rows) + table_numbers(&r->columns)) * (r->table ? REUSE_TABLE : 1) * (r->wide ? 8 : 4);
}

/* Registers of a thread: totals, values of a term, what is on its way to shared memory, and the rest. */
static int words_of(const struct reuse *r, const struct reuse_tile *tile) {
    const struct group *g = &r->t.groups[0];
    const struct reuse_side *sides[] = {&r->rows, &r->columns};
    const int lines[] = {down_of(tile) * tile->rows, tile->across * tile->columns}, own[] = {tile->rows, tile->columns};
    int words = OTHER_WORDS + le_group_bytes(g) / 4 * tile->rows * tile->columns * (g->chain ? 2 : 1);
    for (int s = 0; s < 2; s++) {
        int each = (lines[s] * tile->depth + REUSE_THREADS - 1) / REUSE_THREADS;
        int size = (int)(le_type_size(sides[s]->leaves[0]->type) + 3) / 4;
        int places = sides[s]->by_terms ? each : (lines[s] + REUSE_THREADS - 1) / REUSE_THREADS; /* of its lines */
        words += sides[s]->leaf_count * (own[s] * size + each * size + places * sides[s]->parts * (r->wide ? 2 : 1));
    }
    return words;
}

/* Thread blocks that are to fit on a multiprocessor. */
static int resident_of(const struct reuse *r, const struct reuse_tile *tile) {
    return words_of(r, tile) > REGISTERS / 2 ? 1 : 2;
}

/* Whether registers and shared memory hold what the tile needs. */
static bool has_room(const struct reuse *r, const struct reuse_tile *tile) {
    const struct group *g = &r->t.groups[0];
    int levels = levels_of(g);
    return room_bytes(r, tile) <= ROOM_BYTES && words_of(r, tile) <= REGISTERS &&
           (levels <= 0 || le_group_bytes(g) * tile->rows * tile->columns * levels <= PENDING_BYTES);
}

static int64_t tiles_along(const struct reuse_side *side, int lines) {
    return (side->lines.total + lines - 1) / lines;
}

static int64_t blocks_of(const struct reuse *r, const struct reuse_tile *tile) {
    return tiles_along(&r->rows, down_of(tile) * tile->rows) * tiles_along(&r->columns, tile->across * tile->columns) *
           r->batch.total;
}

/* ---- the cost */

/* Additions of a term, without what is computed when it is put into shared memory. */
static double operations_of(struct reuse *r) {
    const struct group *g = &r->t.groups[0];
    struct le_node_notes *notes = r->c.notes;
    int epoch = ++notes->epoch;
    double operations = 0;
    for (int k = 0; k < r->rows.leaf_count; k++)
        le_new_cost(notes, r->rows.leaves[k], epoch);
    for (int k = 0; k < r->columns.leaf_count; k++)
        le_new_cost(notes, r->columns.leaves[k], epoch);
    for (int k = 0; k < g->node_count; k++)
        operations += (double)le_new_cost(notes, g->bodies[k], epoch) +
                      (le_chain_adds_products((enum le_reduction)g->nodes[k]->code, g->bodies[k]) ? 0 : 1);
    return operations;
}

/* Additions of a point, besides its terms. */
static double outside_of(struct reuse *r) {
    const struct group *g = &r->t.groups[0];
    struct le_node_notes *notes = r->c.notes;
    int epoch = ++notes->epoch;
    for (int k = 0; k < g->node_count; k++)
        le_new_cost(notes, g->nodes[k], epoch);
    return (double)le_new_cost(notes, r->c.stage->node, epoch) * (r->t.sibling_count + 1);
}

/* Instructions that put one term of one line of the side into shared memory. */
static double staging_of(const struct reuse *r, const struct reuse_side *side) {
    double cost = 0;
    for (int k = 0; k < side->leaf_count; k++) {
        const struct reuse_place place = le_reuse_place(r, side, side->leaves[k]);
        cost += place.is_sum
                    ? SUM_COST + EDGE_COST * place.edge_count
                    : INDEX_COST * (side->lines.count + r->t.groups[0].index_count) + (double)side->leaves[k]->cost;
    }
    return cost;
}

/* outside: additions of a point, besides its terms */
static double seconds_of(const struct reuse *r, const struct reuse_tile *tile, double operations, double outside,
                         double bytes) {
    const struct le_device_facts *facts = r->c.job->facts;
    const struct group *g = &r->t.groups[0];
    double rows = down_of(tile) * tile->rows, columns = tile->across * tile->columns, terms = (double)g->terms;
    double blocks = (double)blocks_of(r, tile), warps = REUSE_THREADS / WARP;
    double row_size = (double)le_type_size(r->rows.leaves[0]->type) / 4,
           column_size = (double)le_type_size(r->columns.leaves[0]->type) / 4;
    double clock = facts->operations_per_second / (128.0 * facts->multiprocessors);
    /* instructions of a warp for a term, at four a clock; wavefronts of shared memory, at one a clock */
    double reads = r->rows.leaf_count * ceil(tile->rows / 4.0) * row_size +
                   r->columns.leaf_count * ceil(tile->columns / 4.0) * column_size;
    double issued = tile->rows * tile->columns * operations + reads +
                    (rows * staging_of(r, &r->rows) + columns * staging_of(r, &r->columns)) / REUSE_THREADS;
    double lanes = tile->across < WARP ? tile->across : WARP;
    double wavefronts = r->rows.leaf_count * ceil(tile->rows / 4.0) * row_size +
                        r->columns.leaf_count * fmax(1, tile->columns * column_size * lanes / WARP);
    double end = rows * columns * (outside + STORE_COST) / WARP / 4;
    double block_seconds = (terms * warps * fmax(issued / 4, wavefronts) + end) / clock;
    double waits = START_SECONDS + ceil(terms / tile->depth) * STEP_SECONDS;
    double rounds = ceil(blocks / facts->multiprocessors);
    double traffic =
        blocks * terms * 4 * (rows * r->rows.leaf_count * row_size + columns * r->columns.leaf_count * column_size);
    double memory = fmax(bytes, traffic / L2_RATE) / facts->bytes_per_second;
    /* what one thread block waits for, another one on the same multiprocessor hides */
    double seconds = resident_of(r, tile) == 1 || rounds == 1
                         ? rounds * (block_seconds + waits)
                         : rounds / 2 * fmax(2 * block_seconds, block_seconds + waits);
    return fmax(seconds, memory);
}

static struct reuse_tile best_tile(struct reuse *r, double operations, double outside, double bytes, double *seconds) {
    static const int depths[] = {16, 8, 4};
    struct reuse_tile best = {0};
    *seconds = INFINITY;
    for (int across = 16; across <= REUSE_THREADS; across *= 2)
        for (int rows = 1; rows <= 8; rows *= 2)
            for (int columns = 1; columns <= 8; columns *= 2)
                for (size_t d = 0; d < ARRAY_LEN(depths); d++) {
                    struct reuse_tile tile = {across, rows, columns, depths[d]};
                    if (!has_room(r, &tile) || blocks_of(r, &tile) > INT32_MAX)
                        continue;
                    double now = seconds_of(r, &tile, operations, outside, bytes);
                    if (now < *seconds) {
                        *seconds = now;
                        best = tile;
                    }
                }
    return best;
}

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
    int rows = down_of(&k->tile) * k->tile.rows, columns = k->tile.across * k->tile.columns;
    struct le_expression *block = le_to_int(t, le_ktree_thread(t, LE_BLOCK_X));
    struct le_expression *down = extent(c, "row_tiles", tiles_along(&k->r->rows, rows));
    struct le_expression *across = extent(c, "column_tiles", tiles_along(&k->r->columns, columns));
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
    return close_parts(l, block, function, x[1], parts, count);
}

static struct le_expression *emit_get(const struct leaf_code *l) {
    struct codegen *c = &l->k->r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_variable *function;
    struct le_expression *x[PARTS_MAX], *value, *subscripts[LEAT_RANK_MAX] = {NULL};
    const int types[] = {l->type, l->type, l->type, l->type};
    struct le_block *block =
        open_leaf(l, l->left ? "left" : "right", (int)l->leaf->type, types, PARTS_MAX, &function, x);
    if (l->place.is_sum) {
        bind_position(l, block, le_ktree_int(t, 0), le_ktree_int(t, 0));
        for (int k = 0; k < l->place.edge_count; k++)
            subscripts[l->place.edges[k]] = x[1 + k];
        value = le_codegen_load_from(c, l->leaf, x[0], l->place.whole, subscripts, block);
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
    return le_ktree_call(k->r->c.tree, LE_CALL_REUSE_LEAF, LE_KTREE_VOID, NULL, x);
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
    const struct le_static of_room[] = {left,
                                        right,
                                        offset,
                                        LE_STATIC_NUMBER(down_of(tile) * tile->rows),
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
                                        LE_STATIC_NUMBER(down_of(tile)),
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
                                        LE_STATIC_NUMBER(levels_of(g))};
    le_do(t, c->root, LE_CALL_REUSE_TOTALS, statics, x);
}

static struct le_expression *line_of(struct le_kernel_tree *t, int threads, int lines, struct le_expression *thread,
                                     struct le_expression *m) {
    const struct le_static statics[] = {LE_STATIC_NUMBER(threads), LE_STATIC_NUMBER(lines)};
    struct le_expression *x[] = {thread, m};
    return le_ktree_call(t, LE_CALL_REUSE_LINE, LE_KTREE_INT, statics, x);
}

/* Computes and stores the stage's values for each of the thread's points that is inside. */
static void emit_values(struct reuse_kernel *k) {
    struct reuse *r = k->r;
    struct codegen *c = &r->c;
    struct le_kernel_tree *t = c->tree;
    struct le_expression *i, *j, *thread = le_to_int(t, le_ktree_thread(t, LE_THREAD_X));
    struct le_expression *across = le_ktree_int(t, k->tile.across);
    struct le_block *outer = le_ktree_open_each(t, c->root, "i", k->tile.rows, &i);
    struct le_expression *row = line_of(t, down_of(&k->tile), k->tile.rows, le_ktree_quotient(t, thread, across), i);
    row = le_let(t, outer, "row", le_plus(t, k->row, row));
    struct le_block *inner = le_ktree_open_each(t, outer, "j", k->tile.columns, &j);
    struct le_expression *column =
        line_of(t, k->tile.across, k->tile.columns, le_ktree_remainder(t, thread, across), j);
    column = le_let(t, inner, "column", le_plus(t, k->column, column));
    struct le_block *block =
        le_codegen_open_branch(c, inner, le_both(t, le_less(t, row, k->rows), le_less(t, column, k->columns)));
    le_team_bind(c, block, r->rows.lines.at, r->rows.lines.count, row, true);
    le_team_bind(c, block, r->columns.lines.at, r->columns.lines.count, column, true);
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
    c->tree->resident = resident_of(k.r, &k.tile);
    emit_place(&k);
    emit_totals(&k);
    emit_values(&k);
    const char *how = le_arena_format(c->arena, "a block for each %d x %d elements", down_of(&k.tile) * k.tile.rows,
                                      k.tile.across * k.tile.columns);
    le_codegen_launch(c, out, blocks_of(k.r, &k.tile), REUSE_THREADS, k.r->t.points * (k.r->t.sibling_count + 1), how);
    return c->status;
}

/* ---- the proposal */

struct reuse_proposal {
    struct reuse *r;
    struct reuse_tile tile;
    double operations, outside, bytes, seconds; /* seconds: INFINITY if it does not fit */
};

static struct reuse_proposal find_reuse(const struct le_device_kernel_job *job, const struct le_stage *stage) {
    struct reuse_proposal p = {.r = LE_NEW(job->kernel.arena, struct reuse), .seconds = INFINITY};
    struct reuse *r = p.r;
    le_codegen_begin(&r->c, job, stage, "");
    if (!le_team_spread(&r->c, stage, &r->t) && !le_team_find(&r->c, stage, 1, &r->t))
        return p;
    if (r->t.points == 0 || r->t.points > INT32_MAX || !le_reuse_find(r))
        return p;
    p.operations = operations_of(r);
    p.outside = outside_of(r);
    p.bytes = le_cost_bytes(job, (struct le_node *const[]){stage->node}, 1, r->columns.lines.at[0]);
    p.tile = best_tile(r, p.operations, p.outside, p.bytes, &p.seconds);
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
                             .depth = (int)le_mapping_set(m, "depth", tile.depth, 4, 16, true)};
    if (!has_room(r, &set)) { /* what is forced does not fit together */
        m->count = 0;
        m->settings[m->count++] = (struct le_setting){"across", tile.across};
        m->settings[m->count++] = (struct le_setting){"rows", tile.rows};
        m->settings[m->count++] = (struct le_setting){"columns", tile.columns};
        m->settings[m->count++] = (struct le_setting){"depth", tile.depth};
        set = tile;
    }
    m->seconds = seconds_of(r, &set, p.operations, p.outside, p.bytes) +
                 le_cost_target_bytes(r->c.job, r->c.stage, r->columns.lines.at[r->columns.lines.count - 1]) /
                     r->c.job->facts->bytes_per_second;
    m->seconds += 2e-6;
}
