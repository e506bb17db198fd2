/* inline: computes a new array where it is read, without storing it, if only one stage reads it, if it is cheap, or if
 * it is larger than everything around it. The rules are few and need no search (docs/INTERNALS.md). Roundings are
 * preserved: a value keeps its own node.
 *
 * A consumer is treated as a list of pieces: its own node, and the node of each stage to be put in, unchanged, with a
 * map of indices. Its node is rebuilt only once all pieces are chosen, so the cost grows linearly with the program. */
#include "ir/path.h"

#define CHEAP_COST         3    /* additions; cheaper to compute twice than to store */
#define KERNEL_COST_MAX    256  /* limit for a kernel; beyond it, memory traffic no longer matters */
#define LARGER_COST_MAX    4000 /* limit for a temporary that is larger than everything around it */
#define SUBSCRIPT_COST_MAX 64   /* subscripts that cost more are not analysed */

/* Facts about a stage's node. */
struct facts {
    bool known;
    bool untrusted, condition, has_else, gathers,
        bounds_read; /* bounds_read: the bounds of a reduction read an array */
    int widest;      /* greatest rank of a load */
};

struct piece {
    const struct le_stage *stage;
    const int *from; /* the stage's indices, replaced by `to` */
    int to[LEAT_RANK_MAX], count;
    int regions; /* number of regions around the place where it is put in */
    const struct path *path;
};

/* A load of a computed value, in a piece. */
struct read {
    const struct le_node *load;
    const struct path *path;
    int piece, regions, next; /* next: the next read of the same value; -1: none */
};

struct inliner {
    struct le_ir *ir;
    struct facts *facts; /* by stage */
    /* of the current consumer */
    struct le_stage *consumer;
    int look;
    int64_t cost;
    bool conditions, has_else, bounds_read;
    struct {
        struct piece *at;
        int count, capacity;
    } pieces;
    struct {
        struct read *at;
        int count, capacity;
    } reads;
    struct {
        int *at;
        int count, capacity;
    } candidates; /* values, as a heap: the value made last comes first, when all its reads are known */
    struct {
        struct le_node **at;
        int count, capacity;
    } holders; /* of the current piece: nodes with indices or a fill */
    /* by value. A field equal to `look` is valid for the current consumer: */
    struct seen {
        int read;   /* it is read */
        int pinned; /* read where nothing can be put in: a subscript of the left side, bounds, a fill, the base */
        int put_in; /* its stage's node replaces its reads */
        int first, newest; /* first: number of its latest read; valid if newest is `look` */
        int queued;        /* it is a candidate */
        int counted;       /* by remove_producer */
    } * seen;
    int count_look;
};

/* ---- facts */

/* A subscript that the range rules can analyse, so that it is known to be in range. */
static bool is_plain(const struct le_node *x) {
    if (x->kind == LE_NODE_INDEX || (x->free_count == 0 && !x->loads && !x->reduces && !x->changes))
        return true;
    if (x->cost > SUBSCRIPT_COST_MAX || x->kind != LE_NODE_OP ||
        (x->code == LE_OP_MUL && x->operands[0]->free_count && x->operands[1]->free_count))
        return false;
    bool plain = x->code == LE_OP_ADD || x->code == LE_OP_SUB || x->code == LE_OP_MUL || x->code == LE_OP_NEG;
    for (int k = 0; k < x->operand_count; k++)
        plain = plain && is_plain(x->operands[k]);
    return plain;
}

struct fact_finder {
    const struct le_ir *ir;
    struct facts *facts;
};

static void find_facts(struct le_node *node, void *user) {
    const struct fact_finder *f = user;
    f->facts->has_else |= node->kind == LE_NODE_ELSE;
    f->facts->condition |= le_node_chooses(node) || node->kind == LE_NODE_REGION;
    for (int k = 0; k < node->index_count; k++) {
        const struct le_range_nodes *r = &f->ir->indices.at[node->indices[k]].range;
        f->facts->bounds_read |= (r->low && r->low->loads) || (r->high && r->high->loads);
    }
    f->facts->untrusted |= le_node_is_untrusted(node) || le_region_fails(node);
    if (node->kind != LE_NODE_LOAD || node->operand_count == 0)
        return;
    if (node->operand_count > f->facts->widest)
        f->facts->widest = node->operand_count;
    for (int k = 0; node->edge == LE_EDGE_NONE && k < node->operand_count; k++)
        f->facts->gathers |= !is_plain(node->operands[k]);
}

static const struct facts *facts_of(struct inliner *in, const struct le_stage *stage) {
    struct facts *facts = &in->facts[stage - in->ir->stages.at];
    struct fact_finder finder = {in->ir, facts};
    if (!facts->known)
        le_node_walk(in->ir, stage->node, find_facts, &finder);
    facts->known = true;
    return facts;
}

/* ---- the reads of a piece */

static int mapped_index(const struct piece *piece, int index) {
    for (int k = 0; k < piece->count; k++)
        if (piece->from[k] == index)
            return piece->to[k];
    return index;
}

static bool is_made(const struct inliner *in, int value) {
    return in->ir->values.at[value].stage >= 0;
}

/* The consumer reads the value. A value that it did not read before gets one use more. */
static void mark_read(struct inliner *in, int value, bool is_new) {
    if (in->seen[value].read == in->look)
        return;
    in->seen[value].read = in->look;
    in->ir->values.at[value].uses += is_new;
}

/* ---- candidates */

static bool is_later(const struct inliner *in, int a, int b) {
    return in->ir->values.at[a].stage > in->ir->values.at[b].stage;
}

static void queue_candidate(struct inliner *in, int value) {
    if (in->seen[value].queued == in->look)
        return;
    in->seen[value].queued = in->look;
    *LE_PUSH(in->ir->arena, &in->candidates) = value;
    int *heap = in->candidates.at, at = in->candidates.count - 1;
    for (; at > 0 && is_later(in, value, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = value;
}

static int take_last(struct inliner *in) {
    int *heap = in->candidates.at, count = --in->candidates.count, at = 0, last = heap[count], first = heap[0];
    for (int child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_later(in, heap[child + 1], heap[child]))
            child++;
        if (!is_later(in, heap[child], last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

static void add_read(struct inliner *in, int piece, const struct le_node *load, const struct path *path, int regions) {
    struct seen *seen = &in->seen[load->value];
    mark_read(in, load->value, piece > 0);
    if (!is_made(in, load->value))
        return;
    *LE_PUSH(in->ir->arena, &in->reads) =
        (struct read){load, path, piece, regions, seen->newest == in->look ? seen->first : -1};
    seen->first = in->reads.count - 1;
    seen->newest = in->look;
    queue_candidate(in, load->value);
}

struct pinning {
    struct inliner *in;
    bool is_new;
};

static void pin_load(struct le_node *node, void *user) {
    const struct pinning *p = user;
    if (node->kind != LE_NODE_LOAD)
        return;
    mark_read(p->in, node->value, p->is_new);
    p->in->seen[node->value].pinned = p->in->look;
}

static void pin_loads(struct inliner *in, struct le_node *node, bool is_new) {
    struct pinning p = {in, is_new};
    if (node)
        le_node_walk(in->ir, node, pin_load, &p);
}

static void pin_range(struct inliner *in, int index, bool is_new) {
    struct le_range_nodes r = in->ir->indices.at[index].range;
    pin_loads(in, r.low, is_new);
    pin_loads(in, r.high, is_new);
    pin_loads(in, r.by, is_new);
}

static const struct path *inner_path(struct inliner *in, const struct piece *piece, const struct le_node *reduction,
                                     const struct path *path) {
    struct path *inner = LE_NEW(in->ir->arena, struct path), own = le_path_of(in->ir, reduction);
    int *at = LE_NEW_ARRAY(in->ir->arena, own.count, int);
    for (int k = 0; k < own.count; k++)
        at[k] = mapped_index(piece, own.at[k]);
    own.at = at;
    *inner = le_path_enter_reduction(in->ir->arena, *path, own, reduction);
    return inner;
}

static void find_reads(struct inliner *in, int piece, struct le_node *node, const struct path *path, int epoch,
                       int regions) {
    if (le_walk_met(in->ir, node, epoch))
        return;
    if (node->kind == LE_NODE_LOAD)
        add_read(in, piece, node, path, regions);
    if (node->index_count > 0 || node->fill)
        *LE_PUSH(in->ir->arena, &in->holders) = node;
    if (node->kind == LE_NODE_REDUCE) {
        path = inner_path(in, &in->pieces.at[piece], node, path);
        epoch = le_walk_begin(in->ir);
    }
    for (int k = 0; k < node->operand_count; k++)
        find_reads(in, piece, node->operands[k], path, epoch, regions + (node->kind == LE_NODE_REGION));
}

/* Adds the stage's node to the consumer. Values read by fills and bounds are pinned: they stay stored. */
static void add_piece(struct inliner *in, struct piece piece) {
    const struct facts *facts = facts_of(in, piece.stage);
    int number = in->pieces.count;
    *LE_PUSH(in->ir->arena, &in->pieces) = piece;
    in->conditions |= facts->condition;
    in->has_else |= facts->has_else;
    in->bounds_read |= facts->bounds_read;
    in->holders.count = 0;
    find_reads(in, number, piece.stage->node, piece.path, le_walk_begin(in->ir), piece.regions);
    for (int k = 0; k < in->holders.count; k++) {
        const struct le_node *holder = in->holders.at[k];
        pin_loads(in, holder->fill, number > 0);
        for (int q = 0; q < holder->index_count; q++)
            pin_range(in, holder->indices[q], number > 0);
    }
}

static void begin_consumer(struct inliner *in, struct le_stage *consumer) {
    in->consumer = consumer;
    in->look++;
    in->cost = consumer->node->cost;
    in->conditions = in->has_else = in->bounds_read = false;
    in->pieces.count = in->reads.count = in->candidates.count = 0;
    for (int d = 0; d < consumer->left_count; d++)
        pin_loads(in, consumer->left[d], false);
    for (int k = 0; k < consumer->index_count; k++)
        pin_range(in, consumer->indices[k], false);
    if (consumer->base >= 0) {
        mark_read(in, consumer->base, false);
        in->seen[consumer->base].pinned = in->look;
    }
    struct path *path = LE_NEW(in->ir->arena, struct path);
    *path = le_path_enter(in->ir->arena, *path, consumer->indices, consumer->index_count);
    add_piece(in, (struct piece){.stage = consumer, .path = path});
}

/* ---- whether to put a stage in */

static bool may_inline(struct inliner *in, const struct le_stage *producer) {
    const struct le_ir *ir = in->ir;
    const struct le_value *value = &ir->values.at[producer->target];
    const struct facts *facts = facts_of(in, producer);
    bool reduces = producer->node->reduces;
    for (int k = 0; k < producer->left_count; k++)
        if (producer->left[k]->kind != LE_NODE_INDEX || ir->indices.at[producer->left[k]->index].depends)
            return false;
    if (producer->node->kind == LE_NODE_ELSE && facts->untrusted && producer->node->cost > CHEAP_COST)
        return false; /* a stencil stays a stage of its own: its interior needs no checks */
    if (in->has_else && facts->gathers)
        return false; /* the consumer's `else` would hide its error */
    int64_t cost = in->cost + producer->node->cost;
    if (cost <= KERNEL_COST_MAX && (value->uses == 1 || (!reduces && producer->node->cost <= CHEAP_COST)))
        return true;
    bool larger = value->rank > facts->widest && value->rank > ir->values.at[in->consumer->target].rank;
    return cost <= LARGER_COST_MAX && !reduces && larger;
}

struct common_read {
    const struct inliner *in;
    bool found;
};

static void find_common(struct le_node *node, void *user) {
    struct common_read *c = user;
    c->found |= node->kind == LE_NODE_LOAD && node->operand_count > 0 && c->in->seen[node->value].read == c->in->look;
}

struct total_search {
    int index;
    bool found;
};

static void find_total(struct le_node *node, void *user) {
    struct total_search *t = user;
    t->found |= node->kind == LE_NODE_REDUCE && le_node_depends(node, t->index);
}

/* Whether the consumer reads the value's totals with the same indices everywhere. */
static bool is_read_alike(const struct inliner *in, const struct le_stage *producer) {
    const struct read *first = &in->reads.at[in->seen[producer->target].first];
    for (int d = 0; d < producer->left_count; d++) {
        struct total_search total = {.index = producer->left[d]->index};
        le_node_walk(in->ir, producer->node, find_total, &total);
        for (int k = total.found ? first->next : -1; k >= 0; k = in->reads.at[k].next) {
            const struct read *read = &in->reads.at[k];
            const struct le_node *a = first->load->operands[d], *b = read->load->operands[d];
            if (a->kind != LE_NODE_INDEX || b->kind != LE_NODE_INDEX ||
                mapped_index(&in->pieces.at[first->piece], a->index) !=
                    mapped_index(&in->pieces.at[read->piece], b->index))
                return false;
        }
    }
    return true;
}

/* Totals of what the consumer reads, too, though not for its outermost loops, or what it reads several times and is
 * made with totals: a GPU may keep what both read, such as columns, on chip. If it does not, each total is computed
 * once nevertheless (hoist.c). With different indices, it would be computed once for each. */
static bool is_link(const struct inliner *in, const struct le_stage *producer, const int *set, int count) {
    struct common_read c = {.in = in, .found = in->reads.at[in->seen[producer->target].first].next >= 0};
    bool kept = false;
    if (!is_read_alike(in, producer))
        return false;
    for (int k = 0; k < count; k++)
        kept |= le_has_index(in->consumer->indices, in->consumer->index_count, set[k]);
    if (!kept || !in->ir->for_device || in->consumer->kind != LE_STAGE_MAP || in->conditions ||
        producer->node->untrusted || producer->node->changes)
        return false;
    le_node_walk(in->ir, producer->node, find_common, &c);
    return c.found;
}

static bool read_fits(const struct inliner *in, const struct le_stage *producer, const struct read *read) {
    const struct le_ir *ir = in->ir;
    const struct le_node *load = read->load;
    int set[LEAT_RANK_MAX], count = 0;
    bool trusted = load->trusted;
    if (load->edge != LE_EDGE_NONE || load->operand_count != producer->left_count)
        return false;
    for (int k = 0; k < load->operand_count; k++) {
        if (load->operands[k]->kind != LE_NODE_INDEX)
            return false;
        int index = mapped_index(&in->pieces.at[read->piece], load->operands[k]->index);
        trusted &= !ir->indices.at[index].explicit_range;
        if (ir->indices.at[index].depends)
            return false;
        if (k < load->stretch && !ir->indices.at[producer->left[k]->index].from_dots)
            return false; /* an extent of 1 may broadcast: only an index of `...` in the producer does as well */
        if (!le_has_index(set, count, index))
            set[count++] = index;
    }
    if (!trusted && load->operand_count > 0 && in->conditions)
        return false;
    if (read->regions > 0 && (producer->node->reduces || producer->node->cost > CHEAP_COST))
        return false; /* it may be read in a loop */
    if (!producer->node->reduces)
        return true;
    return ((count > 0 || read->path->count == 0) && le_path_begins(read->path, set, count)) ||
           is_link(in, producer, set, count);
}

static bool may_put_in(struct inliner *in, int value) {
    const struct seen *seen = &in->seen[value];
    const struct le_stage *producer = &in->ir->stages.at[in->ir->values.at[value].stage];
    if (seen->pinned == in->look || in->bounds_read || producer->dead || producer->kind != LE_STAGE_MAP ||
        producer->base >= 0 || in->ir->values.at[value].wanted || producer->block != in->consumer->block ||
        !may_inline(in, producer))
        return false;
    for (int k = seen->first; k >= 0; k = in->reads.at[k].next)
        if (!read_fits(in, producer, &in->reads.at[k]))
            return false;
    return true;
}

/* ---- putting a stage in */

static void drop_load(struct le_node *node, void *user) {
    struct inliner *in = user;
    if (node->kind != LE_NODE_LOAD || in->seen[node->value].counted == in->count_look)
        return;
    in->seen[node->value].counted = in->count_look;
    in->ir->values.at[node->value].uses--;
}

/* Marks a producer dead that is no longer read, and removes its own reads. */
static void remove_producer(struct inliner *in, struct le_stage *producer) {
    producer->dead = true;
    in->count_look++;
    le_node_walk(in->ir, producer->node, drop_load, in);
    for (int k = 0; k < producer->index_count; k++) {
        struct le_range_nodes r = in->ir->indices.at[producer->indices[k]].range;
        struct le_node *bounds[] = {r.low, r.high, r.by};
        for (int q = 0; q < 3; q++)
            if (bounds[q])
                le_node_walk(in->ir, bounds[q], drop_load, in);
    }
}

static bool same_piece(const struct piece *a, const struct piece *b) {
    for (int k = 0; k < a->count; k++)
        if (a->to[k] != b->to[k])
            return false;
    return a->path == b->path && (a->regions > 0) == (b->regions > 0);
}

static void put_in(struct inliner *in, int value) {
    struct le_ir *ir = in->ir;
    struct le_stage *producer = &ir->stages.at[ir->values.at[value].stage];
    int *from = LE_NEW_ARRAY(ir->arena, producer->left_count, int), first = in->pieces.count;
    in->seen[value].put_in = in->look;
    for (int d = 0; d < producer->left_count; d++)
        from[d] = producer->left[d]->index;
    for (int k = in->seen[value].first; k >= 0; k = in->reads.at[k].next) {
        struct read read = in->reads.at[k];
        struct piece piece = {
            .stage = producer, .from = from, .count = producer->left_count, .regions = read.regions, .path = read.path};
        for (int d = 0; d < producer->left_count; d++)
            piece.to[d] = mapped_index(&in->pieces.at[read.piece], read.load->operands[d]->index);
        bool is_new = true;
        for (int q = first; q < in->pieces.count && is_new; q++)
            is_new = !same_piece(&in->pieces.at[q], &piece);
        if (!is_new)
            continue;
        in->cost += producer->node->cost;
        add_piece(in, piece);
    }
    if (--ir->values.at[value].uses == 0)
        remove_producer(in, producer);
}

static struct le_node *inline_loads(struct inliner *in, struct le_node *node, int epoch) {
    struct le_ir *ir = in->ir;
    struct le_node *made = node, *known = le_walk_memo(ir, node, epoch);
    if (known)
        return known;
    if (node->kind == LE_NODE_LOAD && in->seen[node->value].put_in == in->look) {
        const struct le_stage *producer = &ir->stages.at[ir->values.at[node->value].stage];
        int from[LEAT_RANK_MAX];
        for (int k = 0; k < producer->left_count; k++)
            from[k] = producer->left[k]->index;
        made = le_node_substitute(ir, producer->node, from, node->operands, producer->left_count);
        made = inline_loads(in, made, epoch);
    } else if (node->operand_count > 0) {
        struct le_node copy = *node, *few[8];
        copy.operands = node->operand_count <= 8 ? few : LE_NEW_ARRAY(ir->arena, node->operand_count, struct le_node *);
        bool changed = false;
        for (int k = 0; k < node->operand_count; k++) {
            copy.operands[k] = inline_loads(in, node->operands[k], epoch);
            changed |= copy.operands[k] != node->operands[k];
        }
        if (changed)
            made = le_node_make(ir, &copy);
    }
    return le_walk_remember(ir, node, epoch, made);
}

static void inline_into(struct inliner *in, struct le_stage *consumer) {
    bool changed = false;
    begin_consumer(in, consumer);
    while (in->candidates.count > 0) {
        int value = take_last(in);
        if (!may_put_in(in, value))
            continue;
        put_in(in, value);
        changed = true;
    }
    if (!changed)
        return;
    int indices = in->ir->indices.count;
    consumer->node = inline_loads(in, consumer->node, le_walk_begin(in->ir));
    le_ir_adopt_indices(in->ir, consumer->statement, indices);
}

void le_pass_inline(struct le_ir *ir) {
    struct inliner in = {.ir = ir};
    in.facts = LE_NEW_ARRAY(ir->arena, ir->stages.count, struct facts);
    in.seen = LE_NEW_ARRAY(ir->arena, ir->values.count, struct seen);
    for (int k = ir->stages.count - 1; k >= 0; k--) {
        struct le_stage *stage = &ir->stages.at[k];
        if (!stage->dead && (stage->kind == LE_STAGE_MAP || stage->kind == LE_STAGE_SCATTER))
            inline_into(&in, stage);
    }
}
