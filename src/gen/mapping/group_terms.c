/* The functions of a group's terms, which compute the total of one term or of several adjacent terms. */
#include "gen/mapping/group_reduce.h"

#define QUICK_COST 16 /* additions of a term whose quick way is worth a text of its own */

/* ---- totals */

void le_group_declare(struct codegen *c, struct group *g) {
    struct le_totals totals = {.count = g->node_count, .narrow = g->narrow};
    for (int k = 0; k < g->node_count; k++) {
        totals.part[k].reduction = (enum le_reduction)g->nodes[k]->code;
        totals.part[k].type = g->nodes[k]->operands[0]->type;
    }
    g->type = g->one = le_ktree_totals(c->tree, c->root, &totals);
    if (g->side)
        g->type = le_ktree_totals(c->tree, c->root, &(struct le_totals){.several = g->side->width, .of = g->one});
}

size_t le_group_total_bytes(const struct group *g) {
    return 16 * (size_t)g->node_count;
}

size_t le_room_bytes(const struct le_node *node) {
    size_t of_term = le_type_size(node->operands[0]->type), of_total = le_type_size(node->type);
    size_t larger = of_term > of_total ? of_term : of_total;
    return 2 * ROOM_TOTALS * ((larger + 7) / 8 * 8 + (le_node_is_arg(node) ? 8 : 0));
}

size_t le_group_room_bytes(const struct group *g, bool few) {
    size_t bytes = 0;
    for (int k = 0; k < g->node_count; k++)
        bytes += le_room_bytes(g->nodes[k]);
    return few ? bytes / (2 * ROOM_TOTALS) * ROOM_FEW : bytes;
}

int le_group_counting(const struct group *g) {
    return g->narrow ? LE_KTREE_INT : LE_KTREE_LONG;
}

struct le_expression *le_group_count(struct codegen *c, const struct group *g) {
    if (g->ragged)
        return g->count;
    return le_codegen_index_number(c, g->indices[0], "terms", g->terms, le_group_counting(g));
}

/* Of the group's only index. */
static struct le_expression *value_at(struct codegen *c, const struct group *g, struct le_expression *at) {
    struct le_kernel_tree *t = c->tree;
    const struct le_range *r = le_range_of(c->space, g->indices[0]);
    if (g->ragged)
        return le_plus(t, le_to_long(t, g->low), at);
    return le_plus(t, le_codegen_index_number(c, g->indices[0], "low", r->low, LE_KTREE_LONG),
                   le_times(t, at, le_codegen_index_number(c, g->indices[0], "by", r->by, LE_KTREE_LONG)));
}

void le_group_know_one(struct codegen *c, const struct group *g, struct le_block *block, struct le_expression *total) {
    struct le_kernel_tree *t = c->tree;
    struct le_expression *empty = le_ktree_binary(t, LE_OP_EQ, le_group_count(c, g), le_ktree_int(t, 0));
    total = le_let(t, block, "all", total);
    for (int k = 0; k < g->node_count; k++) {
        struct le_node *node = g->nodes[k];
        const struct le_range *r = le_range_of(c->space, g->indices[0]);
        const char *name = le_arena_format(c->arena, "%s_%s", le_reduction_name((enum le_reduction)node->code),
                                           c->ir->indices.at[node->indices[0]].name);
        struct le_expression *x = le_let(t, block, name, le_ktree_part(t, (int)node->type, total, k, empty));
        if (le_node_is_arg(node) && (g->ragged || r->low != 0 || r->by != 1)) {
            struct le_expression *at = le_to_long(t, x);
            struct le_expression *value = value_at(c, g, at);
            struct le_expression *none = le_less(t, at, le_ktree_int(t, 0));
            x = le_let(t, block, name, le_codegen_wide(c, le_ktree_select(t, none, le_ktree_int(t, -1), value)));
        }
        le_codegen_know(c, node, block, x);
        for (int q = 0; q < g->same_count; q++)
            if (g->same_as[q] == k)
                le_codegen_know(c, g->same[q], block, x);
    }
}

void le_group_know(struct codegen *c, struct group *g, struct le_block *block, struct le_expression *total) {
    struct side *side = g->side;
    if (!side) {
        le_group_know_one(c, g, block, total);
        return;
    }
    side->groups[side->group_count] = g;
    side->totals[side->group_count++] = le_let(c->tree, block, "all", total);
}

/* ---- indices */

void le_team_bind_one(struct codegen *c, struct le_block *block, int index, struct le_expression *place, int64_t past) {
    int type = le_codegen_index_type(c, index, past);
    le_codegen_bind_value(c, block, index,
                          place ? le_codegen_index_value(c, index, type, place)
                                : le_codegen_index_number(c, index, "low", le_range_of(c->space, index)->low, type));
}

void le_team_bind(struct codegen *c, struct le_block *block, const int *indices, int count, struct le_expression *place,
                  bool narrow) {
    struct le_expression *extents[POINTS_MAX] = {NULL}, *places[POINTS_MAX] = {NULL};
    for (int k = 1; k < count; k++)
        extents[k] = le_codegen_index_number(c, indices[k], "count", le_range_count(le_range_of(c->space, indices[k])),
                                             LE_KTREE_LONG);
    le_codegen_split(c, block, place, narrow ? LE_KTREE_UINT : LE_KTREE_ULONG, extents, count, places);
    for (int k = 0; k < count; k++)
        le_team_bind_one(c, block, indices[k], places[k], 0);
}

/* ---- the functions */

/* Binds all indices of the group's terms but those of the last axis; gives the place along that. */
static struct le_expression *bind_outer(struct codegen *c, const struct group *g, struct le_block *block,
                                        struct le_expression *at) {
    struct le_expression *extents[AXES_MAX] = {NULL}, *places[AXES_MAX] = {NULL};
    for (int a = 1; a < g->axis_count; a++)
        extents[a] =
            le_codegen_index_number(c, g->indices[g->axes[a].position], "along", g->axes[a].count, LE_KTREE_LONG);
    le_codegen_split(c, block, at, g->narrow ? LE_KTREE_UINT : LE_KTREE_ULONG, extents, g->axis_count, places);
    for (int p = 0; p < g->index_count; p++) {
        struct le_expression *place = NULL;
        int64_t past = 0;
        if (p == g->axes[g->axis_count - 1].position)
            continue;
        for (int a = 0; a + 1 < g->axis_count; a++)
            if (g->axes[a].position == p) {
                place = places[a];
                past = g->axes[a].count;
            }
        le_team_bind_one(c, block, g->indices[p], place, past);
    }
    return places[g->axis_count - 1];
}

static void bind_last(struct codegen *c, const struct group *g, struct le_block *block, struct le_expression *place) {
    const struct term_axis *last = &g->axes[g->axis_count - 1];
    if (g->ragged)
        le_codegen_bind_value(c, block, g->indices[0],
                              le_plus(c->tree, g->low, le_ktree_cast(c->tree, g->low->type, place)));
    else
        le_team_bind_one(c, block, g->indices[last->position], place, last->count);
}

void le_group_find_bounds(struct codegen *c, struct group *g, struct le_block *block) {
    struct le_kernel_tree *t = c->tree;
    if (!g->ragged)
        return;
    const struct le_range_nodes *range = &c->ir->indices.at[g->indices[0]].range;
    const char *name = le_codegen_index_name(c, g->indices[0]);
    struct le_expression *low = le_to_long(t, le_codegen_node(c, range->low, block, NULL));
    struct le_expression *high = le_to_long(t, le_codegen_node(c, range->high, block, NULL));
    struct le_expression *zero = le_ktree_long(t, 0), *most = le_ktree_long(t, INT64_MAX);
    low = le_let(t, block, le_arena_format(c->arena, "%s_low", name), low);
    high = le_let(t, block, le_arena_format(c->arena, "%s_high", name), high);
    struct le_expression *count =
        le_let(t, block, "terms", le_minus(t, high, low)); /* wraps around if there are more */
    count = le_ktree_select(t, le_greater(t, count, zero), count, most);
    count = le_ktree_select(t, le_greater(t, high, low), count, zero);
    g->low = le_let(t, block, le_arena_format(c->arena, "%s_first", name), le_ktree_cast(t, le_group_counting(g), low));
    g->count =
        le_let(t, block, le_arena_format(c->arena, "%s_terms", name), le_ktree_cast(t, le_group_counting(g), count));
}

void le_group_bind_first(struct codegen *c, const struct group *g, struct le_block *block) {
    struct le_expression *zero = le_ktree_constant(c->tree, le_group_counting(g), 0);
    bind_last(c, g, block, bind_outer(c, g, block, zero));
}

struct le_expression *le_group_total(struct codegen *c, const struct group *g, struct le_block *block,
                                     struct le_expression *at) {
    struct le_expression *x[GROUP_NODES + 1];
    bool args = false;
    c->term = at;
    for (int k = 0; k < g->node_count; k++) {
        x[k] = le_codegen_wide(c, le_codegen_node(c, g->bodies[k], block, NULL));
        args |= le_node_is_arg(g->nodes[k]);
    }
    c->term = NULL;
    x[g->node_count] = at;
    return le_ktree_total(c->tree, g->one, x, g->node_count + args);
}

/* The chunks with the term of number `at` added to them. */
struct le_expression *le_group_chained(struct codegen *c, const struct group *g, struct le_block *block,
                                       struct le_expression *at, struct le_expression *chunk) {
    struct le_expression *x[GROUP_NODES];
    c->term = at;
    for (int k = 0; k < g->node_count; k++) {
        struct le_expression *never = le_ktree_constant(c->tree, LE_BOOL, 0);
        x[k] = le_codegen_chained(c, (enum le_reduction)g->nodes[k]->code, g->bodies[k], block, NULL,
                                  le_ktree_part(c->tree, (int)g->bodies[k]->type, chunk, k, never));
    }
    c->term = NULL;
    return le_ktree_total(c->tree, g->one, x, g->node_count);
}

/* The parameters of a function of a term: its number; of a chain its slot in shared memory and the chunk so far;
 * whether the quick way is usual. */
struct term_function {
    struct le_variable *function;
    struct le_block *block;
    struct le_expression *at, *slot, *chunk;
};
static struct term_function open_term(struct codegen *c, const struct group *g, struct le_block *block,
                                      const char *wish, struct le_variable *usual) {
    struct le_variable *parameters[4] = {le_ktree_variable(c->tree, "at", le_group_counting(g))};
    struct term_function f = {.function = le_ktree_variable(c->tree, wish, g->type),
                              .at = le_ktree_use(c->tree, parameters[0])};
    int count = 1;
    if (g->chain) {
        parameters[count++] = le_ktree_variable(c->tree, "slot", LE_KTREE_INT);
        parameters[count++] = le_ktree_variable(c->tree, "chunk", g->type);
        f.slot = le_ktree_use(c->tree, parameters[1]);
        f.chunk = le_ktree_use(c->tree, parameters[2]);
    }
    if (usual)
        parameters[count++] = usual;
    f.block = le_ktree_open_function(c->tree, block, f.function, parameters, count);
    return f;
}

static struct le_expression *slot_of(struct codegen *c, const struct group *g, int load, struct le_expression *at) {
    struct le_kernel_tree *t = c->tree;
    struct le_expression *thread = le_to_int(t, le_ktree_thread(t, LE_THREAD_X));
    return le_ktree_element2(t, g->slots[load], le_ktree_quotient(t, thread, le_ktree_int(t, WARP)), at);
}

static void know_staged(struct codegen *c, const struct group *g, const struct term_function *f) {
    for (int k = 0; k < g->staged_count; k++)
        le_group_know_read(c, g->staged[k], f->block, slot_of(c, g, k, f->slot));
}

/* Binds the last axis. Of a chain's chunk that is whole, loads read vectors that begin at multiples of their width: the
 * terms of one of them are written side by side, and compilers read it once. */
static void bind_wide(struct codegen *c, const struct group *g, struct le_block *block, struct le_expression *place) {
    struct le_kernel_tree *t = c->tree;
    struct le_node *loads[LOADS_MAX];
    struct le_variable *some[LOADS_MAX];
    struct le_expression *within = NULL;
    int count = le_chain_wide_loads(c, g, loads);
    if (count > 0) {
        within = le_let(t, block, "within", le_ktree_binary(t, LE_OP_AND, place, le_ktree_int(t, CHAIN_WIDTH - 1)));
        struct le_block *base = le_ktree_open(t, block);
        bind_last(c, g, base, le_minus(t, place, within));
        for (int k = 0; k < count; k++) {
            some[k] = le_group_array(c, base, loads[k], "some", CHAIN_WIDTH);
            struct le_expression *from = le_ktree_address(t, le_codegen_trusted_place(c, loads[k], base));
            struct le_expression *x[] = {le_ktree_use(t, some[k]), from};
            le_do(t, base, LE_CALL_READ_WHOLE, &LE_STATIC_NUMBER(CHAIN_WIDTH), x);
        }
        le_ktree_close(t, base);
    }
    bind_last(c, g, block, place);
    for (int k = 0; k < count; k++)
        le_group_know_element(c, loads[k], block, some[k], le_to_int(t, within));
}

static void fill_term(struct codegen *c, const struct group *g, const struct term_function *f, bool wide) {
    struct le_expression *place = bind_outer(c, g, f->block, f->at);
    if (wide)
        bind_wide(c, g, f->block, place);
    else
        bind_last(c, g, f->block, place);
    know_staged(c, g, f);
    if (g->kept)
        le_kept_know(c, g, f->block, f->at);
    if (g->side) {
        le_side_fill_term(c, g, f->block, f->at, f->chunk);
        return;
    }
    le_ktree_close_with(c->tree, f->block,
                        g->chain ? le_group_chained(c, g, f->block, f->at, f->chunk)
                                 : le_group_total(c, g, f->block, f->at));
}

static void emit_term(struct codegen *c, struct group *g, struct le_block *block) {
    struct term_function f = open_term(c, g, block, "term", NULL);
    g->term = f.function;
    fill_term(c, g, &f, false);
}

struct le_variable *le_group_quick_term(struct codegen *c, const struct group *g, struct le_block *block) {
    bool quick = false, safe = true;
    for (int k = 0; k < g->node_count; k++) {
        quick |= le_codegen_has_quick_ways(c, g->bodies[k]);
        safe &= le_node_is_safe(&c->safety, g->bodies[k]) && !g->bodies[k]->reduces && !g->bodies[k]->changes;
    }
    struct le_node *loads[LOADS_MAX];
    quick = quick && (g->width == 1 || g->side) && le_group_cost(c, g) >= QUICK_COST;
    if (!safe || (!quick && le_chain_wide_loads(c, g, loads) == 0))
        return NULL;
    c->usual = le_ktree_variable(c->tree, "usual", LE_BOOL);
    c->usual->changes = true;
    struct term_function f = open_term(c, g, block, "quick_term", c->usual);
    c->quick = quick ? f.block : NULL;
    fill_term(c, g, &f, true);
    c->quick = NULL;
    return f.function;
}

struct le_variable *le_group_array(struct codegen *c, struct le_block *block, const struct le_node *load,
                                   const char *what, int width) {
    const struct le_value *v = &c->ir->values.at[load->value];
    const char *name = le_arena_format(c->arena, "%s_%s", v->name, what);
    return le_ktree_array(c->tree, block, name, (int)v->type, LE_KTREE_LOCAL, width, 0);
}

void le_group_read(struct codegen *c, struct le_block *block, const struct le_node *load, int width,
                   struct le_expression *to) {
    struct le_expression *x[] = {to, le_ktree_address(c->tree, le_codegen_trusted_place(c, load, block))};
    le_do(c->tree, block, LE_CALL_READ, &LE_STATIC_NUMBER(width), x);
}

int le_group_open_wide(struct codegen *c, const struct group *g, struct le_block *base, struct le_node **loads,
                       struct le_variable **some) {
    int count = le_group_loads(c, g, loads);
    for (int k = 0; k < count; k++) {
        some[k] = le_group_array(c, base, loads[k], "some", g->width);
        le_group_read(c, base, loads[k], g->width, le_ktree_use(c->tree, some[k]));
    }
    le_ktree_close(c->tree, base);
    return count;
}

void le_group_know_read(struct codegen *c, struct le_node *load, struct le_block *each, struct le_expression *element) {
    struct le_expression *x = le_codegen_from_memory(c, element, load->type);
    le_codegen_know(c, load, each, le_let(c->tree, each, c->ir->values.at[load->value].name, x));
}

void le_group_know_element(struct codegen *c, struct le_node *load, struct le_block *each, struct le_variable *some,
                           struct le_expression *e) {
    le_group_know_read(c, load, each, le_ktree_element(c->tree, some, e));
}

void le_group_return_joined(struct codegen *c, const struct group *g, struct le_block *function,
                            struct le_variable *some) {
    const struct le_static statics[] = {LE_STATIC_TYPE(g->type), LE_STATIC_NUMBER(some->extents[0])};
    struct le_expression *all = le_ktree_use(c->tree, some);
    le_ktree_close_with(c->tree, function, le_ktree_call(c->tree, LE_CALL_JOINED, g->type, statics, &all));
}

/* Makes the total of the term of number `at` none if it lies behind the last term. */
static void set_none(struct codegen *c, const struct group *g, struct le_block *each, struct le_expression *total,
                     struct le_expression *at) {
    struct le_kernel_tree *t = c->tree;
    struct le_block *behind = le_ktree_open_if(t, each, le_at_least(t, at, le_group_count(c, g)));
    le_ktree_set(t, behind, total, le_ktree_call(t, LE_CALL_NONE, g->type, &LE_STATIC_TYPE(g->type), NULL));
    le_ktree_close(t, behind);
}

/* Makes a function of `width` terms. ends: of those that are there */
static struct le_variable *emit_terms(struct codegen *c, struct group *g, struct le_block *block, bool ends) {
    struct le_kernel_tree *t = c->tree;
    struct le_node *loads[LOADS_MAX];
    struct le_variable *names[LOADS_MAX];
    struct term_function f = open_term(c, g, block, ends ? "ends" : "terms", NULL);
    struct le_block *inner = f.block;
    struct le_expression *at = f.at;
    struct le_expression *last = bind_outer(c, g, inner, at);
    struct le_block *base = le_ktree_open(t, inner);
    bind_last(c, g, base, last);
    int count = g->kept ? le_kept_read(c, g, base, at, loads, names) : le_group_open_wide(c, g, base, loads, names);
    struct le_variable *some = le_ktree_array(t, inner, "some", g->type, LE_KTREE_LOCAL, g->width, 0);
    struct le_expression *e;
    struct le_block *each = le_ktree_open_each(t, inner, "e", g->width, &e);
    struct le_expression *number = le_plus(t, at, e), *total = le_ktree_element(t, some, e);
    bind_last(c, g, each, le_plus(t, last, e));
    for (int k = 0; k < count; k++)
        le_group_know_element(c, loads[k], each, names[k], e);
    le_ktree_set(t, each, total, le_group_total(c, g, each, number));
    if (ends)
        set_none(c, g, each, total, number);
    le_ktree_close(t, each);
    le_group_return_joined(c, g, inner, some);
    return f.function;
}

/* ---- chains whose loads go through shared memory */

#define STAGED_BYTES (36 << 10) /* of a thread block, at most */

void le_group_stage(struct codegen *c, struct group *g, int warps) {
    struct le_node *loads[LOADS_MAX];
    int count = g->chain ? le_group_loads(c, g, loads) : 0;
    size_t bytes = 0;
    g->staged_count = 0;
    g->staged_width = count > 0 ? le_group_width(c, g) : 1;
    if (g->terms % g->staged_width != 0)
        g->staged_width = 1;
    const int slots = LE_CHAIN_CHUNKS * (LE_CHAIN_TERMS + g->staged_width);
    for (int k = 0; k < count; k++) {
        enum le_type type = c->ir->values.at[loads[k]->value].type;
        size_t more = (size_t)warps * (size_t)slots * le_type_size(type);
        if (!le_group_is_dense(c, g, loads[k]) || bytes + more > STAGED_BYTES)
            continue;
        bytes += more;
        const char *name = le_arena_format(c->arena, "%s_slots", c->ir->values.at[loads[k]->value].name);
        g->slots[g->staged_count] = le_ktree_array(c->tree, c->root, name, (int)type, LE_KTREE_SHARED, warps, slots);
        c->root->list.at[c->root->list.count - 1]->aligned = g->staged_width > 1;
        g->staged[g->staged_count++] = loads[k];
    }
}

/* Whether each point of the stage reads elements of its own: they would only displace in the first-level cache what
 * several points read. */
static bool is_of_one_point(const struct codegen *c, const struct le_node *load) {
    bool found = true;
    for (int k = 0; k < c->stage->index_count; k++)
        found &= le_node_depends(load, c->stage->indices[k]);
    return found;
}

static void emit_fetch(struct codegen *c, struct group *g, struct le_block *block) {
    struct le_kernel_tree *t = c->tree;
    struct le_variable *parameters[] = {le_ktree_variable(t, "at", le_group_counting(g)),
                                        le_ktree_variable(t, "slot", LE_KTREE_INT)};
    g->fetch = le_ktree_variable(t, "fetch", g->type);
    struct le_block *inner = le_ktree_open_function(t, block, g->fetch, parameters, 2);
    bind_last(c, g, inner, bind_outer(c, g, inner, le_ktree_use(t, parameters[0])));
    for (int k = 0; k < g->staged_count; k++) {
        struct le_expression *from = le_codegen_trusted_place(c, g->staged[k], inner);
        struct le_expression *x[] = {le_ktree_address(t, slot_of(c, g, k, le_ktree_use(t, parameters[1]))),
                                     le_ktree_address(t, from)};
        enum le_library_call call = is_of_one_point(c, g->staged[k]) ? LE_CALL_FETCH : LE_CALL_FETCH_NEAR;
        le_do(t, inner, call, &LE_STATIC_NUMBER(g->staged_width), x);
    }
    le_ktree_close_with(t, inner, le_ktree_call(t, LE_CALL_NONE, g->type, &LE_STATIC_TYPE(g->type), NULL));
}

void le_group_functions(struct codegen *c, struct group *g, struct le_block *block) {
    if (g->staged_count)
        emit_fetch(c, g, block);
    if (g->side)
        le_side_hold(c, g, block, g->bodies, g->node_count);
    bool wide = g->width > 1 && !g->side;
    if (wide && g->kept)
        g->term = emit_terms(c, g, block, true);
    else
        emit_term(c, g, block);
    g->many = wide ? emit_terms(c, g, block, false) : g->term;
}

void le_group_emit(struct codegen *c, struct group *g, struct le_block *block) {
    le_group_declare(c, g);
    le_group_functions(c, g, block);
}
