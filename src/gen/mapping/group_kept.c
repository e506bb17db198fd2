/* Rows that a thread block brings to shared memory before it adds up their terms. Aligned vectors bring them there
 * wherever they begin, all of a row is on its way at once, and several reductions read it once. A thread then reads
 * vectors of the terms that the order of sums gives to it. */
#include "gen/mapping/group_reduce.h"

enum {
    VECTOR_BYTES = 16,
    KEPT_UNROLL = 2, /* vectors that a thread reads from shared memory before it uses them */
    BLOCKS_LEAST = 2 /* thread blocks of a multiprocessor: while one waits for its row, another one adds */
};

static size_t bytes_of(const struct codegen *c, const struct group *g, const struct le_node *load) {
    size_t width = VECTOR_BYTES / le_type_size(c->ir->values.at[load->value].type);
    return ((size_t)g->terms / width + 3) * VECTOR_BYTES; /* what le_read_row may read on both sides is there */
}

static bool is_kept(const struct kept_rows *kept, const struct le_node *load) {
    for (int k = 0; k < kept->count; k++)
        if (kept->loads[k] == load)
            return true;
    return false;
}

/* The terms behind the last one are computed, too, from zeros. */
static bool are_safe(struct codegen *c, const struct group *g) {
    for (int k = 0; k < g->node_count; k++)
        if (!le_node_is_safe(&c->safety, g->bodies[k]) || g->bodies[k]->changes)
            return false;
    return true;
}

static bool add_group(struct codegen *c, const struct group *g, struct kept_rows *kept) {
    struct le_node *loads[LOADS_MAX];
    int largest, count;
    if (g->chain || g->axis_count != 1 || g->terms == 0 || !g->narrow || !are_safe(c, g))
        return false;
    count = le_group_dense_loads(c, g, loads, &largest);
    kept->largest = largest > kept->largest ? largest : kept->largest;
    for (int k = 0; k < count; k++) {
        if (is_kept(kept, loads[k]))
            continue;
        if (kept->count == LOADS_MAX)
            return false;
        kept->loads[kept->count++] = loads[k];
        kept->bytes += bytes_of(c, g, loads[k]);
    }
    return count > 0;
}

bool le_kept_find(struct codegen *c, const struct team_stage *t, struct kept_rows *kept) {
    *kept = (struct kept_rows){0};
    for (int g = 0; g < t->group_count; g++)
        if (t->spread > 1 || !add_group(c, &t->groups[g], kept))
            return false;
    return kept->largest <= 8 && (kept->bytes + ROOM_MOST / 2) * BLOCKS_LEAST <= c->job->facts->shared_most_bytes;
}

int le_kept_width(struct codegen *c, const struct group *g, const struct kept_rows *kept) {
    return le_group_is_dear(c, g) ? 1 : VECTOR_BYTES / kept->largest;
}

static void bring(struct codegen *c, const struct group *g, struct kept_rows *kept, struct le_variable *room) {
    struct le_kernel_tree *t = c->tree;
    struct le_node *loads[LOADS_MAX];
    int largest, count = le_group_dense_loads(c, g, loads, &largest);
    for (int k = 0; k < count; k++) {
        if (is_kept(kept, loads[k]))
            continue;
        const struct le_value *v = &c->ir->values.at[loads[k]->value];
        struct le_block *first = le_ktree_open(t, c->root);
        le_group_bind_first(c, g, first);
        const char *name = le_arena_format(c->arena, "%s_row", v->name);
        struct le_expression *at = le_ktree_long(t, 0);
        if (kept->count > 0)
            at = le_codegen_number(c, le_arena_format(c->arena, "%s_at", name), (int64_t)kept->bytes / VECTOR_BYTES);
        struct le_expression *x[] = {le_ktree_use(t, room), at,
                                     le_ktree_address(t, le_codegen_trusted_place(c, loads[k], first)),
                                     le_group_count(c, g)};
        kept->loads[kept->count] = loads[k];
        kept->rows[kept->count++] =
            le_ktree_pointer(t, first, name, (int)v->type, LE_KTREE_SHARED,
                             le_ktree_call(t, LE_CALL_KEEP_ROW, (int)v->type, &LE_STATIC_TYPE((int)v->type), x));
        kept->bytes += bytes_of(c, g, loads[k]);
        le_ktree_close(t, first);
    }
}

void le_kept_bring(struct codegen *c, struct team_stage *t, struct kept_rows *kept) {
    struct le_kernel_tree *tree = c->tree;
    struct le_variable *room = le_ktree_array(tree, c->root, "rows", LE_KTREE_VOID, LE_KTREE_DYNAMIC, 0, 0);
    room->object = le_ktree_call(tree, LE_CALL_CHUNK, LE_KTREE_VOID, NULL, NULL);
    kept->count = 0;
    kept->bytes = 0;
    for (int k = 0; k < t->group_count; k++) {
        struct group *g = &t->groups[k];
        bring(c, g, kept, room);
        g->kept = kept;
        g->width = le_kept_width(c, g, kept);
        g->unroll = g->unroll < KEPT_UNROLL ? g->unroll : KEPT_UNROLL;
    }
    le_do(tree, c->root, LE_CALL_FETCHED, NULL, NULL);
    le_ktree_barrier(tree, c->root);
}

static struct le_expression *kept_element(struct codegen *c, const struct group *g, const struct le_node *load,
                                          struct le_expression *at) {
    int k = 0;
    while (g->kept->loads[k] != load)
        k++;
    return le_ktree_element(c->tree, g->kept->rows[k], at);
}

int le_kept_read(struct codegen *c, const struct group *g, struct le_block *base, struct le_expression *at,
                 struct le_node **loads, struct le_variable **some) {
    struct le_kernel_tree *t = c->tree;
    int count = le_group_loads(c, g, loads);
    for (int k = 0; k < count; k++) {
        some[k] = le_group_array(c, base, loads[k], "some", g->width);
        struct le_expression *x[] = {le_ktree_use(t, some[k]), le_ktree_address(t, kept_element(c, g, loads[k], at))};
        le_do(t, base, LE_CALL_READ_ROW, &LE_STATIC_NUMBER(g->width), x);
    }
    le_ktree_close(t, base);
    return count;
}

void le_kept_know(struct codegen *c, const struct group *g, struct le_block *block, struct le_expression *at) {
    struct le_node *loads[LOADS_MAX];
    int count = le_group_loads(c, g, loads);
    for (int k = 0; k < count; k++)
        le_group_know_read(c, loads[k], block, kept_element(c, g, loads[k], at));
}
