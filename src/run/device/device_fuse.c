/* See device_run.h: actions that need no kernel of their own. An action is *made in its reader* if the only action that
 * reads it computes it where it reads it (gen/mapping/make_there.c). An action is *joined* to an earlier one, whose
 * kernel then stores both values, if both have the same points, or one has those of the other and more: what both read
 * is read once, and what one reads of the other at its point is not read at all (gen/mapping/join_stages.c).
 *
 * A joined action runs when the earlier one does. So everything that it reads must have been computed before that, by
 * actions that are not between the two or by the same kernel at the same point. Values never change, and a value that
 * the later action reads lives at least until then, so that its memory still holds it when the earlier one runs. Both
 * actions can neither fault nor record notes, so no one sees that the order changed. Actions in blocks are not joined,
 * because their groups are planned while the plan runs. */
#include "base/text.h"
#include "run/device/device_run.h"
#include <string.h>

#define LEADERS_SEEN 24 /* earlier actions that an action is compared with */
#define TRIALS       3  /* of those, kernels that are designed for both */
#define MEMORY_SHARE 16 /* 1/16 of the device's memory is for targets that are allocated earlier than they would be */

/* ---- into the reader */

/* The first action of the group behind `after` that reads this one's value; NULL: none. */
static struct le_action *reader_of(struct leat_call *call, const struct le_plan_step *g, const struct le_action *action,
                                   const struct le_action *after) {
    struct le_plan *plan = call->specialised->plan;
    struct le_action *a = &plan->actions[after - plan->actions];
    for (a++; a < plan->actions + g->first_action + g->action_count; a++)
        if (le_device_reads(call->specialised->ir, a->generated, action->generated))
            return a;
    return NULL;
}

static void replace_node(struct leat_call *call, struct le_plan_step *g, struct le_action *reader,
                         struct le_node *node) {
    struct le_stage *made = LE_NEW(g->arena, struct le_stage);
    *made = *reader->generated;
    made->node = le_node_adopt(call->specialised->ir, node);
    reader->generated = made;
}

static bool is_made_there(struct leat_call *call, struct le_plan_step *g, const struct le_action *action) {
    const struct le_device_facts facts = le_device_facts_of(call);
    struct le_action *reader = reader_of(call, g, action, action);
    if (!reader || !le_device_computes(call, reader->stage))
        return false;
    const struct le_device_kernel_job job = le_device_job(call, g, reader, &facts);
    struct le_node *node = le_device_make_there(&job, action->generated);
    if (node)
        replace_node(call, g, reader, node);
    return node;
}

#define READERS_MOST 4

/* The same for totals that all readers compute again, because columns that they keep on chip are read once then. */
static bool is_kept_there(struct leat_call *call, struct le_plan_step *g, const struct le_action *action) {
    const struct le_device_facts facts = le_device_facts_of(call);
    struct le_action *readers[READERS_MOST], *reader = reader_of(call, g, action, action);
    struct le_node *nodes[READERS_MOST];
    int count = 0, uses = call->specialised->ir->values.at[action->stage->target].uses;
    if (action->generated->kind != LE_STAGE_MAP || !action->generated->node->reduces || uses > READERS_MOST)
        return false;
    const struct le_device_kernel_job own = le_device_job(call, g, action, &facts);
    if (!reader || le_kernel_is_empty(&own.kernel))
        return false;
    double gain_seconds = le_device_seconds(&own);
    for (; reader; reader = reader_of(call, g, action, reader)) {
        const struct le_device_kernel_job job = le_device_job(call, g, reader, &facts);
        if (count == uses || !le_device_computes(call, reader->stage))
            return false;
        nodes[count] = le_device_keep_there(&job, action->generated, &gain_seconds);
        readers[count] = reader;
        if (!nodes[count++])
            return false;
    }
    if (count < uses || count == 0 || gain_seconds <= 0)
        return false;
    for (int k = 0; k < count; k++)
        replace_node(call, g, readers[k], nodes[k]);
    return true;
}

bool le_device_make_in_reader(struct leat_call *call, struct le_plan_step *g, const struct le_action *action) {
    return is_made_there(call, g, action) || is_kept_there(call, g, action);
}

/* ---- which actions may be joined */

static bool is_plain_map(const struct le_ir *ir, const struct le_action *a) {
    const struct le_stage *stage = a->generated;
    return stage->kind == LE_STAGE_MAP && stage->pair_count == 0 && stage->sibling < 0 && stage->leader < 0 &&
           stage->index_count > 0 && stage->index_count <= LEAT_RANK_MAX && ir->values.at[stage->target].rank > 0 &&
           !a->writes_nothing;
}

static bool may_lead(const struct le_ir *ir, const struct le_action *a) {
    const struct le_device_work *w = a->device;
    return w && w->step_count == 1 && w->launches.count == 1 && !w->contract && !w->by_leader && !w->zero &&
           !w->may_report && !a->joined_to && w->also_count < LE_ALSO_MAX && a->storage != LE_STORAGE_PART &&
           a->storage != LE_STORAGE_NONE && is_plain_map(ir, a);
}

/* ---- the stage over the leader's indices */

#define NODES_MAX 64
struct nodes {
    struct le_node *at[NODES_MAX];
    int count;
    bool is_full;
};

struct member {
    struct leat_call *call;
    const struct le_action *leader, *action;
    struct le_stage *stage;                    /* the action's, over the leader's indices */
    struct nodes loads, loops;                 /* of the leader's kernel: loads of arrays; reductions */
    bool takes;                                /* it reads what the leader's kernel computes */
    struct le_action *unread[LE_ALSO_MAX + 2]; /* actions whose values only the kernel reads */
    int unread_count;
};

static void add_node(struct nodes *nodes, struct le_node *node) {
    nodes->is_full |= nodes->count == NODES_MAX;
    if (nodes->count < NODES_MAX)
        nodes->at[nodes->count++] = node;
}

static void list_leader(struct le_node *node, void *user) {
    struct member *m = user;
    if (node->kind == LE_NODE_LOAD && node->operand_count > 0)
        add_node(&m->loads, node);
    if (node->kind == LE_NODE_REDUCE)
        add_node(&m->loops, node);
}

static void look_at_leader(struct member *m, const struct le_action *leader) {
    const struct le_ir *ir = m->call->specialised->ir;
    const struct le_stage *stage = leader->generated;
    m->leader = leader;
    m->loads.count = m->loops.count = 0;
    le_node_walk(ir, stage->node, list_leader, m);
    for (int k = 0; k < stage->also_count; k++)
        le_node_walk(ir, stage->also[k]->node, list_leader, m);
}

static bool is_same_range(const struct le_space *space, int a, int b) {
    const struct le_range *x = &space->ranges[a], *y = &space->ranges[b];
    const struct le_ir_index *indices = space->ir->indices.at;
    return !x->dynamic && !y->dynamic && !indices[a].host && !indices[b].host && x->low == y->low &&
           x->high == y->high && x->by == y->by;
}

/* Pairs the action's indices with the leader's, by name, or else by their order. If there are more or fewer, all of the
 * smaller number have to be paired; `to` is the index itself where it is not. */
static bool pair_indices(const struct member *m, bool by_name, int *to) {
    const struct le_stage *a = m->leader->generated, *b = m->action->generated;
    const struct le_space *space = &m->call->specialised->plan->space;
    unsigned taken = 0;
    int paired = 0;
    for (int k = 0; k < b->index_count; k++) {
        int q = by_name ? 0 : k;
        while (by_name && q < a->index_count &&
               strcmp(space->ir->indices.at[a->indices[q]].name, space->ir->indices.at[b->indices[k]].name) != 0)
            q++;
        bool pairs = q < a->index_count && !(taken >> q & 1) && is_same_range(space, a->indices[q], b->indices[k]);
        to[k] = pairs ? a->indices[q] : b->indices[k];
        taken |= pairs ? 1u << q : 0;
        paired += pairs;
    }
    for (int k = 0; k < b->index_count; k++) /* its own indices are not the leader's already */
        for (int q = 0; q < k; q++)
            if (to[q] == to[k])
                return false;
    return paired == (a->index_count < b->index_count ? a->index_count : b->index_count);
}

static void find_regions(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_REGION || node->kind == LE_NODE_LOCAL || node->live)
        *(bool *)user = true;
}

static bool has_regions(const struct le_ir *ir, const struct le_stage *stage) {
    bool found = false;
    le_node_walk(ir, stage->node, find_regions, &found);
    for (int d = 0; d < stage->left_count; d++)
        le_node_walk(ir, stage->left[d], find_regions, &found);
    return found;
}

/* The stage of the leader's kernel that computes the value; NULL: none. */
static const struct le_stage *maker_in_kernel(const struct le_action *leader, int value) {
    const struct le_stage *stage = leader->generated;
    for (int k = 0; k < stage->also_count; k++)
        if (stage->also[k]->target == value)
            return stage->also[k];
    return stage->target == value ? stage : NULL;
}

/* A 16-bit float is rounded when it is assigned: is the node's value that which a load gives back? */
static bool is_stored_exactly(const struct le_ir *ir, const struct le_stage *maker, const struct le_node *load) {
    bool half = le_type_is_half(ir->values.at[maker->target].type);
    return maker->node->type == load->type && (!half || maker->node->kind == LE_NODE_ROUND);
}

/* What the leader's kernel computes at the same point, in place of a load of it. */
static struct le_node *take_made(struct le_node *node, void *user) {
    struct member *m = user;
    const struct le_stage *maker =
        node->kind == LE_NODE_LOAD && node->operand_count > 0 ? maker_in_kernel(m->leader, node->value) : NULL;
    bool same = maker && node->stretch == 0 && node->operand_count == maker->left_count;
    for (int d = 0; same && d < node->operand_count; d++)
        same = node->operands[d] == maker->left[d];
    if (!same || !is_stored_exactly(m->call->specialised->ir, maker, node))
        return NULL;
    m->takes = true;
    return maker->node;
}

static void find_inner_loop(struct le_node *node, void *user) {
    const struct le_node **of = user;
    if (*of && node->index_count > 0 && le_node_depends_on_any(node, (*of)->indices, (*of)->index_count))
        *of = NULL;
}

/* Whether loops inside of the reduction's term depend on its indices: they have ranges of their own for those. */
static bool has_inner_loop(const struct le_ir *ir, const struct le_node *reduction) {
    const struct le_node *of = reduction;
    le_node_walk(ir, reduction->operands[0], find_inner_loop, &of);
    return !of;
}

static bool runs_over(const struct le_space *space, const struct le_node *a, const struct le_node *b) {
    bool same = a->index_count == b->index_count;
    for (int k = 0; same && k < a->index_count; k++)
        same = is_same_range(space, a->indices[k], b->indices[k]);
    return same;
}

/* The reduction over the indices of one in the leader's kernel, so that equal loads are equal nodes. The first that is
 * not over its indices already. */
static struct le_node *find_renamed(const struct member *m, struct le_node *node) {
    struct le_ir *ir = m->call->specialised->ir;
    struct le_node *to[LEAT_RANK_MAX];
    for (int k = 0; k < m->loops.count && node->index_count <= LEAT_RANK_MAX; k++) {
        const struct le_node *model = m->loops.at[k];
        if (!runs_over(&m->call->specialised->plan->space, model, node) || has_inner_loop(ir, node))
            continue;
        for (int q = 0; q < node->index_count; q++)
            to[q] = le_node_index(ir, model->indices[q]);
        struct le_node *term = le_node_substitute(ir, node->operands[0], node->indices, to, node->index_count);
        return le_node_reduce(ir, (enum le_reduction)node->code, node->type, term, model->indices, model->index_count);
    }
    return node;
}

struct renaming {
    struct le_node *from, *to;
};

static struct le_node *take_renamed(struct le_node *node, void *user) {
    const struct renaming *r = user;
    return node == r->from ? r->to : NULL;
}

static void list_loop(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_REDUCE)
        add_node(user, node);
}

/* Operands come first in the list, so that what is inside of a reduction is renamed before it. */
static struct le_node *rename_loops(const struct member *m, struct le_node *node) {
    struct le_ir *ir = m->call->specialised->ir;
    for (int k = 0; node->reduces; k++) {
        struct nodes own = {.count = 0};
        le_node_walk(ir, node, list_loop, &own);
        if (k >= own.count)
            return node;
        struct renaming r = {.from = own.at[k]};
        r.to = find_renamed(m, r.from);
        node = r.to == r.from ? node : le_node_replace(ir, node, take_renamed, &r);
    }
    return node;
}

/* false: loops of the stage depend on its indices, and would need new ones. */
static bool substitute(struct member *m, const int *to) {
    struct le_ir *ir = m->call->specialised->ir;
    struct le_arena *arena = &m->call->specialised->plan->arena;
    const struct le_stage *from = m->action->generated;
    const int known = ir->indices.count;
    struct le_node *nodes[LEAT_RANK_MAX];
    m->stage = LE_NEW(arena, struct le_stage);
    *m->stage = *from;
    m->stage->indices = LE_NEW_ARRAY(arena, from->index_count, int);
    m->stage->left = LE_NEW_ARRAY(arena, from->left_count, struct le_node *);
    for (int k = 0; k < from->index_count; k++) {
        m->stage->indices[k] = to[k];
        nodes[k] = le_node_index(ir, to[k]);
    }
    for (int d = 0; d < from->left_count; d++)
        m->stage->left[d] = le_node_substitute(ir, from->left[d], from->indices, nodes, from->index_count);
    m->stage->node = le_node_substitute(ir, from->node, from->indices, nodes, from->index_count);
    m->takes = false;
    m->stage->node = le_node_replace(ir, m->stage->node, take_made, m);
    m->stage->node = rename_loops(m, m->stage->node);
    return ir->indices.count == known;
}

/* ---- what the action reads */

static void list_load(struct le_node *node, void *user) {
    if (node->kind == LE_NODE_LOAD)
        add_node(user, node);
}

static bool kernel_loads(const struct member *m, const struct le_node *load) {
    bool is_imaginary;
    int other = le_device_other_part(m->call, load->value, &is_imaginary);
    for (int k = 0; k < m->loads.count; k++) {
        const struct le_node *known = m->loads.at[k];
        bool same = other >= 0 && known->value == other && known->operand_count == load->operand_count;
        for (int d = 0; same && d < load->operand_count; d++)
            same = known->operands[d] == load->operands[d];
        if (known == load || same)
            return true;
    }
    return false;
}

/* Whether the leader's kernel computes the other part of the complex numbers that the action computes. */
static bool is_part(const struct member *m) {
    bool is_imaginary;
    int other = le_device_other_part(m->call, m->action->stage->target, &is_imaginary);
    return other >= 0 && maker_in_kernel(m->leader, other);
}

/* Whether the value was there before the leader runs, and is still there while its kernel runs. */
static bool is_before(const struct member *m, int value) {
    const struct le_specialised *s = m->call->specialised;
    const struct le_value *v = &s->ir->values.at[value];
    const struct le_action *leader = m->leader;
    if (v->stage >= 0 && s->ir->stages.at[v->stage].kind == LE_STAGE_SCAN && s->ir->stages.at[v->stage].guarded)
        return false;
    if (leader->storage == LE_STORAGE_BASE && leader->stage->base == value)
        return false;
    return s->plan->maker[value] < (int)(leader - s->plan->actions);
}

/* Whether the stage can be computed when the leader runs, and shares something with its kernel. */
static bool can_run_early(const struct member *m) {
    const struct le_ir *ir = m->call->specialised->ir;
    struct nodes own = {.count = 0};
    bool shares = m->takes || is_part(m);
    le_node_walk(ir, m->stage->node, list_load, &own);
    for (int d = 0; d < m->stage->left_count; d++)
        le_node_walk(ir, m->stage->left[d], list_load, &own);
    for (int k = 0; k < own.count; k++) {
        if (!is_before(m, own.at[k]->value))
            return false;
        shares |= kernel_loads(m, own.at[k]);
    }
    return shares && !own.is_full;
}

/* ---- values that only the kernel reads */

struct value_search {
    int value;
    bool found;
};

static void find_value(struct le_node *node, void *user) {
    struct value_search *v = user;
    v->found |= node->kind == LE_NODE_LOAD && node->value == v->value;
}

static bool reads(const struct le_ir *ir, const struct le_stage *stage, int value) {
    struct value_search v = {.value = value, .found = stage->base == value};
    if (stage->node)
        le_node_walk_through(ir, stage->node, find_value, &v);
    if (stage->product)
        le_node_walk(ir, stage->product, find_value, &v);
    for (int d = 0; d < stage->left_count; d++)
        le_node_walk(ir, stage->left[d], find_value, &v);
    for (int k = 0; k < stage->index_count; k++) {
        const struct le_range_nodes *r = &ir->indices.at[stage->indices[k]].range;
        struct le_node *bounds[] = {r->low, r->high, r->by};
        for (size_t b = 0; b < ARRAY_LEN(bounds); b++)
            if (bounds[b])
                le_node_walk(ir, bounds[b], find_value, &v);
    }
    for (int k = 0; k < stage->pair_count; k++)
        v.found |= stage->pairs[k].source == value;
    return v.found;
}

static bool is_in_kernel(const struct member *m, const struct le_action *a) {
    return a == m->leader || a == m->action || a->joined_to == m->leader;
}

/* Whether the value that the action computes dies in an action of the kernel, and no other action reads it until then.
 */
static bool is_read_here_alone(const struct member *m, const struct le_action *maker) {
    const struct le_specialised *s = m->call->specialised;
    const struct le_plan *plan = s->plan;
    const int value = maker->stage->target;
    const struct le_value *v = &s->ir->values.at[value];
    const struct le_action *a = maker + 1, *end = plan->actions + plan->action_count;
    if (v->wanted || v->moved || maker->storage != LE_STORAGE_NEW || maker->stage->pair_count > 0)
        return false;
    for (; a < end && !le_value_dies(plan, a->dying, value); a++)
        if (!is_in_kernel(m, a) && (!le_stage_computes(a->stage) || reads(s->ir, a->stage, value)))
            return false;
    return a < end && is_in_kernel(m, a);
}

/* The stage without those whose values nothing else reads: the others contain what they compute. Lists their actions in
 * `unread`. */
static const struct le_stage *without_unread(struct member *m, struct le_action *leader, struct le_action *action,
                                             const struct le_stage *joined) {
    struct le_arena *arena = &m->call->specialised->plan->arena;
    struct le_action *of_kernel[1 + LE_ALSO_MAX + 1] = {leader, action};
    const struct le_stage *kept[1 + LE_ALSO_MAX], *first = NULL;
    int count = 0;
    m->unread_count = 0;
    memcpy(of_kernel + 2, leader->device->also, (size_t)leader->device->also_count * sizeof *of_kernel);
    for (int k = 0; k < leader->device->also_count + 2; k++)
        if (of_kernel[k]->is_unstored || is_read_here_alone(m, of_kernel[k]))
            m->unread[m->unread_count++] = of_kernel[k];
    for (int k = -1; k < joined->also_count; k++) {
        const struct le_stage *stage = k < 0 ? joined : joined->also[k];
        bool unstored = false;
        for (int q = 0; q < m->unread_count; q++)
            unstored |= m->unread[q]->stage->target == stage->target;
        if (unstored)
            continue;
        kept[count++] = stage;
        first = !first || stage->index_count > first->index_count ? stage : first;
    }
    if (count == joined->also_count + 1)
        return joined;
    struct le_stage *made = LE_NEW(arena, struct le_stage);
    const struct le_stage **also = LE_NEW_ARRAY(arena, count, const struct le_stage *);
    *made = *first;
    made->also = also;
    made->also_count = 0;
    for (int k = 0; k < count; k++)
        if (kept[k] != first)
            also[made->also_count++] = kept[k];
    return made;
}

/* ---- memory */

static double target_bytes(const struct le_specialised *s, const struct le_action *a) {
    const struct le_value *v = &s->ir->values.at[a->stage->target];
    return a->is_unstored
               ? 0
               : (double)le_layout_elements(&s->plan->layouts[v->id], v->rank) * (double)le_type_size(v->type);
}

/* A joined action's target exists from when the leader runs. That matters if other actions run in between. */
static bool has_memory(const struct member *m) {
    const struct le_specialised *s = m->call->specialised;
    const struct le_device_work *w = m->leader->device;
    double bytes = target_bytes(s, m->action);
    bool adjoins = true;
    for (const struct le_action *a = m->leader + 1; a < m->action; a++)
        adjoins &= is_in_kernel(m, a);
    for (int k = 0; k < w->also_count; k++)
        bytes += target_bytes(s, w->also[k]);
    return adjoins || bytes <= (double)le_device_limits_of(m->call->home.device)->memory_bytes / MEMORY_SHARE;
}

/* ---- joining */

/* "a[i] = ...; also b, c" */
static const char *name_with(struct le_arena *arena, const struct le_ir *ir, const struct le_action *leader,
                             const struct le_stage *stage) {
    const char *name = ir->values.at[stage->target].name;
    bool imaginary = strcmp(leader->stage->name, stage->name) == 0; /* the other part of what the statement computes */
    for (int k = 0; k < leader->device->also_count; k++)
        imaginary |= strcmp(leader->device->also[k]->stage->name, stage->name) == 0;
    if (imaginary)
        return leader->name;
    return le_arena_format(arena, "%s%s %.*s", leader->name, strstr(leader->name, "; also ") ? "," : "; also",
                           (int)strcspn(name, "."), name);
}

/* Makes the leader's kernel anew. false: it cannot be, or making it has run actions (their values were asked for). */
static bool make_kernel(struct member *m, struct le_action *leader, const struct le_stage *joined,
                        leat_status *status) {
    struct leat_call *call = m->call;
    struct le_plan *plan = call->specialised->plan;
    struct le_plan_step *g = &plan->groups[leader->group];
    const struct le_device_facts facts = le_device_facts_of(call);
    struct le_device_kernel_job job = le_device_job(call, g, leader, &facts);
    struct le_generated_launches launches = {.at = NULL};
    job.kernel.stage = joined;
    *status = le_device_generate(&job, &launches);
    if (*status != LEAT_OK || launches.count != 1 || launches.at[0].may_fault || launches.at[0].may_note ||
        plan->done > leader - plan->actions)
        return false;
    leader->name = name_with(&plan->arena, call->specialised->ir, leader, m->stage);
    leader->device->alone = leader->device->alone ? leader->device->alone : leader->generated;
    leader->generated = joined;
    leader->operations = 0;
    leader->device->launches = launches;
    leader->device->step_count = 0;
    le_device_make_steps(g, leader);
    leader->bytes = le_stage_bytes(call->specialised, joined);
    return true;
}

static bool join(struct member *m, struct le_action *leader, struct le_action *action, leat_status *status) {
    struct leat_call *call = m->call;
    const struct le_device_facts facts = le_device_facts_of(call);
    const struct le_device_kernel_job job =
        le_device_job(call, &call->specialised->plan->groups[leader->group], leader, &facts);
    const struct le_stage *joined = le_device_join(&job, action->generated, m->stage);
    if (!joined || !make_kernel(m, leader, without_unread(m, leader, action, joined), status))
        return false;
    for (int k = 0; k < m->unread_count; k++)
        m->unread[k]->is_unstored = true;
    leader->device->also[leader->device->also_count++] = action;
    action->joined_to = leader;
    return true;
}

static bool may_be_member(struct member *m, bool by_name) {
    int to[LEAT_RANK_MAX];
    return pair_indices(m, by_name, to) && substitute(m, to) && can_run_early(m);
}

static bool is_joinable(const struct leat_call *call, const struct le_plan_step *g, const struct le_action *action) {
    const struct le_ir *ir = call->specialised->ir;
    return !g->inside && g->arena == &call->specialised->plan->arena && is_plain_map(ir, action) &&
           action->storage == LE_STORAGE_NEW && !has_regions(ir, action->generated);
}

bool le_device_join_earlier(struct leat_call *call, struct le_plan_step *g, struct le_action *action,
                            leat_status *status) {
    struct le_specialised *s = call->specialised;
    struct le_plan *plan = s->plan;
    struct member m = {.call = call, .action = action};
    int trials = 0, last = (int)(action - plan->actions) - LEADERS_SEEN;
    last = last > plan->done ? last : plan->done;
    if (!is_joinable(call, g, action))
        return false;
    for (int k = (int)(action - plan->actions) - 1; k >= last && trials < TRIALS; k--) {
        struct le_action *leader = &plan->actions[k];
        if (!le_stage_computes(leader->stage))
            return false; /* a block begins or ends there, or values are passed on */
        if (!may_lead(s->ir, leader))
            continue;
        look_at_leader(&m, leader);
        if (!has_memory(&m) || (!may_be_member(&m, true) && !may_be_member(&m, false)))
            continue;
        if (join(&m, leader, action, status))
            return true;
        if (*status != LEAT_OK || plan->done > k)
            return false;
        trials++;
    }
    return false;
}
