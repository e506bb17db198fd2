/* Plans a fast kernel that computes one value for each point: its axes, the reads that it makes ahead, and how many
 * elements a thread computes. Generates no text. */
#include "gen/mapping/map.h"
#include <stdlib.h>

#define PLACES_MAX          ((int64_t)1 << 30) /* of a merged axis whose indices are ints */
#define DEAREST_COST        1024               /* the same where one loop makes the elements that end a row */
#define WALK_COLUMNS        8  /* at most; vectors of more elements need more registers than they save reads */
#define AHEAD_BYTES         16 /* that a thread reads before it computes: 2,048 threads are enough */
#define SCATTER_AHEAD_BYTES 64 /* the same where a block's threads go on and on */

static const struct le_range *range_of(const struct map *m, int index) {
    return le_range_of(m->c.space, index);
}

int le_map_size(const struct map *m, int value) {
    return (int)le_type_size(m->c.ir->values.at[value].type);
}

const struct map_axis *le_map_inner(const struct map *m) {
    return &m->axes[m->axis_count - 1];
}

/* ---- places of loads and stores */

static void add_index(const struct map *m, struct map_place *p, int index, int64_t elements) {
    for (int a = 0; a < m->axis_count; a++)
        if (m->axes[a].index == index) {
            p->start += le_wrapping_product(elements, range_of(m, index)->low);
            p->strides[a] += le_wrapping_product(elements, range_of(m, index)->by);
            return;
        }
    for (int k = 0; k < m->covered_count; k++)
        if (m->covered[k] == index) {
            p->start += le_wrapping_product(elements, range_of(m, index)->low);
            return;
        }
    p->known = false;
}

/* false: not affine. */
static bool find_place(const struct map *m, const struct le_address *address, struct map_place *p) {
    *p = (struct map_place){.start = address->layout->offset, .known = true};
    for (int d = 0; d < address->rank; d++) {
        struct le_affine f;
        if (!le_axis_elements(m->c.space, address, d, &f))
            return false;
        p->start += f.constant;
        for (int k = 0; k < f.count; k++)
            add_index(m, p, f.index[k], f.factor[k]);
    }
    return true;
}

static bool find_load(const struct map *m, const struct le_node *load, struct map_place *p) {
    const struct le_address address = le_load_address(m->c.layouts, load);
    return find_place(m, &address, p);
}

/* Whether all its places can be counted and are inside. */
static bool is_plain_place(const struct map *m, const struct le_address *address, bool trusted, bool live,
                           struct map_place *p) {
    return !live && address->rank > 0 && (trusted || le_address_is_safe(m->c.safety.space, address)) &&
           find_place(m, address, p);
}

bool le_map_is_plain(const struct map *m, const struct le_node *load, struct map_place *p) {
    const struct le_address address = le_load_address(m->c.layouts, load);
    return is_plain_place(m, &address, load->trusted, load->live, p);
}

static bool is_counted(const void *user, const struct le_address *address, bool trusted, bool live) {
    struct map_place p;
    return is_plain_place(user, address, trusted, live, &p);
}

/* ---- axes */

static bool find_axes(struct map *m) {
    const struct le_stage *stage = m->stage;
    if (stage->index_count == 0 || stage->index_count > MAP_AXES_MAX)
        return false;
    for (int k = 0; k < stage->index_count; k++) {
        const struct le_range *r = range_of(m, stage->indices[k]);
        if (r->dynamic || m->c.ir->indices.at[stage->indices[k]].host)
            return false;
        if (le_range_count(r) == 1)
            m->covered[m->covered_count++] = stage->indices[k];
        else
            m->axes[m->axis_count++] = (struct map_axis){.index = stage->indices[k], .count = le_range_count(r)};
    }
    return m->axis_count > 0;
}

static bool find_target(const struct map *m, struct map_result *r) {
    const struct le_value *target = &m->c.ir->values.at[r->stage->target];
    const struct le_address address = {&m->c.layouts[target->id], r->stage->left, r->stage->left_count, 0};
    return target->rank > 0 && (target->symbol < 0 || le_address_is_safe(m->c.safety.space, &address)) &&
           find_place(m, &address, &r->place) && r->place.known;
}

/* Where the targets are along the axes as these now are. */
static bool find_targets(struct map *m) {
    bool found = true;
    for (int k = 0; k < m->result_count && !m->scatters; k++)
        found = find_target(m, &m->results[k]) && found;
    return found;
}

/* By how far apart neighbours lie in the target, the farthest first. What may fault stays in order. */
static void sort_axes(struct map *m) {
    int64_t *strides = m->results[0].place.strides;
    for (int k = 1; k < m->axis_count && m->safe; k++)
        for (int q = k; q > 0 && llabs(strides[q - 1]) < llabs(strides[q]); q--) {
            struct map_axis axis = m->axes[q];
            int64_t stride = strides[q];
            m->axes[q] = m->axes[q - 1];
            strides[q] = strides[q - 1];
            m->axes[q - 1] = axis;
            strides[q - 1] = stride;
        }
    find_targets(m);
}

/* Visits all that is computed for a point. */
static void walk_point(const struct map *m, void (*visit)(struct le_node *node, void *user), void *user) {
    for (int k = 0; k < m->result_count; k++)
        le_node_walk(m->c.ir, m->nodes[k], visit, user);
    for (int d = 0; m->scatters && d < m->stage->left_count; d++)
        le_node_walk(m->c.ir, m->stage->left[d], visit, user);
}

static bool all_merge(struct map *m, int outer) {
    struct le_merging merging = {.code = &m->c.safety,
                                 .stage = m->stage,
                                 .outer = m->axes[outer].index,
                                 .inner = m->axes[outer + 1].index,
                                 .inner_count = m->axes[outer + 1].count,
                                 .gathers = true,
                                 .loops = m->windows == MAP_WALKED,
                                 .is_counted = is_counted,
                                 .user = m};
    return le_loops_merge(&merging, m->nodes, m->result_count) &&
           (!m->scatters || le_loops_merge(&merging, m->stage->left, m->stage->left_count));
}

static bool targets_merge(const struct map *m, int outer) {
    for (int k = 0; k < m->result_count && !m->scatters; k++) {
        const int64_t *strides = m->results[k].place.strides;
        if (strides[outer] != le_wrapping_product(strides[outer + 1], m->axes[outer + 1].count))
            return false;
    }
    return true;
}

static void merge_with_next(struct map *m, int outer) {
    struct map_axis *a = &m->axes[outer], *b = a + 1;
    int64_t count;
    if (!le_mul_i64(a->count, b->count, &count) || !targets_merge(m, outer) || !all_merge(m, outer))
        return;
    m->covered[m->covered_count++] = a->index;
    b->count = count;
    b->merged = true;
    m->axis_count--;
    for (int k = outer; k < m->axis_count; k++)
        m->axes[k] = m->axes[k + 1];
    find_targets(m);
}

static void merge_axes(struct map *m) {
    sort_axes(m);
    for (int k = m->axis_count - 2; k >= 0; k--)
        if (m->windows != MAP_WALKED || !le_map_slides_along(m, k))
            merge_with_next(m, k);
    for (int k = 0; k < m->axis_count; k++) {
        struct map_axis *a = &m->axes[k];
        const struct le_range *r = range_of(m, a->index);
        bool fits = a->merged ? le_codegen_fits_int(r->low - PLACES_MAX, r->low + PLACES_MAX)
                              : le_codegen_fits_int(r->low - PLACES_MAX / 2, r->high + PLACES_MAX / 2) &&
                                    r->by < PLACES_MAX / 8192;
        a->narrow = fits && a->count <= (a->merged ? PLACES_MAX : INT32_MAX);
    }
}

/* ---- rows and interior */

bool le_map_depends(const struct map *m, const struct le_node *load) {
    for (int a = 0; a < m->axis_count; a++)
        if (le_node_depends(load, m->axes[a].index))
            return true;
    return false;
}

bool le_map_same_strides(const struct map *m, const struct map_place *a, const struct map_place *b) {
    bool same = a->known && b->known;
    for (int k = 0; k < m->axis_count; k++)
        same &= a->strides[k] == b->strides[k];
    return same;
}

#define SEEN_MAX 8 /* places that others are compared with */
struct neighbours {
    struct map *m;
    struct map_place at[SEEN_MAX];
    const struct le_node *load[SEEN_MAX];
    int count;
};

/* Whether two reads are rows apart along the axis, and a few columns, so that neighbouring rows of the target share
 * what they read. */
static bool is_rows_apart(const struct map *m, const struct le_node *load, const struct le_node *other, int axis,
                          const struct map_place *p, int64_t apart) {
    int64_t factor = 0, step, pitch = llabs(p->strides[axis]), rows;
    int d = le_map_dimension(m, load, axis, &factor);
    if (d < 0 || d == le_map_dimension(m, load, m->axis_count - 1, &step)) {
        if (pitch <= 2 * MAP_SHIFT_MAX || llabs(apart) <= MAP_SHIFT_MAX || llabs(apart) > MAP_SHIFT_MAX * pitch)
            return false;
        rows = (llabs(apart) + pitch / 2) / pitch;
        return llabs(llabs(apart) - rows * pitch) <= MAP_SHIFT_MAX;
    }
    rows = le_map_subscripts_apart(m, load, other, d);
    apart -= rows * m->c.layouts[load->value].strides[d];
    return rows != 0 && factor != 0 && rows % factor == 0 && llabs(rows / factor) <= MAP_SHIFT_MAX &&
           llabs(apart) <= MAP_SHIFT_MAX;
}

/* Looks for reads of one array that are some rows apart, and for those that may fall outside. */
static void find_neighbour(struct le_node *node, void *user) {
    struct neighbours *n = user;
    struct map *m = n->m;
    struct map_place p, unused;
    if (node->kind != LE_NODE_LOAD || node->live || node->operand_count == 0 || !le_map_depends(m, node) ||
        !find_load(m, node, &p))
        return;
    m->asks |= !le_map_is_plain(m, node, &unused);
    for (int k = 0; k < n->count; k++)
        for (int a = 0; a < m->axis_count - 1 && !m->scatters; a++)
            if (n->load[k]->value == node->value && le_map_same_strides(m, &n->at[k], &p) &&
                is_rows_apart(m, n->load[k], node, a, &p, p.start - n->at[k].start))
                m->row = a;
    if (n->count < SEEN_MAX) {
        n->at[n->count] = p;
        n->load[n->count++] = node;
    }
}

/* Whether all that a read needs along a short axis lies between the elements of neighbouring positions of the inner
 * one. */
static void find_between(struct le_node *node, void *user) {
    struct map *m = user;
    int64_t step, size;
    struct map_place p;
    if (node->kind != LE_NODE_LOAD || node->operand_count == 0 || !le_map_is_plain(m, node, &p))
        return;
    step = p.strides[m->axis_count - 1];
    size = le_map_size(m, node->value);
    for (int a = 0; a < m->axis_count - 1; a++)
        if (m->row < 0 && le_map_is_step(step, size) && p.strides[a] > 0 && p.strides[a] * m->axes[a].count <= step)
            m->row = a;
}

static void find_rows(struct map *m) {
    struct neighbours n = {.m = m};
    walk_point(m, find_neighbour, &n);
    if (m->row < 0 && !m->scatters && !m->asks) {
        walk_point(m, find_between, m);
        m->between = m->row >= 0;
    }
    if (m->row >= 0)
        m->way = MAP_ROWS;
}

static void find_asking(struct le_node *node, void *user) {
    struct map *m = user;
    struct map_place p;
    m->asks |= node->kind == LE_NODE_LOAD && !node->live && node->operand_count > 0 && le_map_depends(m, node) &&
               !le_map_is_plain(m, node, &p) && find_load(m, node, &p);
}

/* The axes' places where the box of indices is; false: one that covers others would be cut. */
static bool find_box(struct map *m, const int64_t *low, const int64_t *high) {
    for (int a = 0; a < m->axis_count; a++) {
        m->inside_low[a] = 0;
        m->inside_high[a] = m->axes[a].count;
    }
    for (int k = 0; k < m->stage->index_count; k++) {
        const struct le_range *r = range_of(m, m->stage->indices[k]);
        int a = 0;
        while (a < m->axis_count && m->axes[a].index != m->stage->indices[k])
            a++;
        if (low[k] == r->low && high[k] == r->high)
            continue;
        if (a == m->axis_count || m->axes[a].merged || r->by != 1)
            return false;
        m->inside_low[a] = low[k] - r->low;
        m->inside_high[a] = high[k] - r->low;
    }
    return true;
}

static void forget_interior(struct map *m) {
    m->inside = NULL;
    m->splits = false;
    m->asks = true;
    m->c.safety.space = m->c.space;
}

/* Whether most of the elements are inside. */
static bool is_worth_splitting(const struct map *m) {
    double share = 1;
    for (int a = 0; a < m->axis_count; a++)
        share *= (double)(m->inside_high[a] - m->inside_low[a]) / (double)m->axes[a].count;
    return share >= 0.5;
}

/* Where some reads may fall outside: whether there is an interior, in which none does. */
static void find_interior(struct map *m) {
    struct le_box whole, box;
    if (!m->asks || m->scatters || !le_kernel_interior(&m->c.job->kernel, &whole, &box) ||
        !find_box(m, box.low, box.high))
        return;
    struct le_space *inside = LE_NEW(m->c.arena, struct le_space);
    *inside = *m->c.space;
    le_space_narrow_to(inside, &m->c.job->kernel, &box);
    m->c.safety.space = inside;
    m->asks = false;
    walk_point(m, find_asking, m);
    m->splits = !m->asks;
    m->inside = m->splits ? inside : NULL;
    m->c.safety.space = m->splits ? inside : m->c.space;
}

/* ---- vectors */

int le_map_to_vector(const struct map *m, int value, const struct map_place *p, int axis, int elements, int stride) {
    const struct le_device_facts *facts = m->c.job->facts;
    int row =
        m->between && p->strides[m->row] < stride ? m->row : -1; /* of which threads begin at the first position */
    if (!p->known || p->strides[axis] != stride || !facts->is_aligned(facts->user, value))
        return -1;
    for (int a = 0; a < m->axis_count; a++)
        if (a != axis && a != row && p->strides[a] % elements != 0)
            return -1;
    return (int)(((-p->start) % elements + elements) % elements);
}

/* 0: nothing lies side by side. */
static int widest(const struct map *m, int *least) {
    int most = 0;
    *least = 16;
    for (int k = 0; k < m->result_count && !m->scatters; k++) {
        int size = le_map_size(m, m->results[k].stage->target) * le_map_unit(&m->results[k].pair);
        most = size > most ? size : most;
        *least = size < *least ? size : *least;
    }
    for (int k = 0; k < m->stream_count; k++) {
        int unit = le_map_unit(&m->streams[k].pair), size = le_map_size(m, m->streams[k].loads[0]->value) * unit;
        if (m->streams[k].place.strides[m->axis_count - 1] != unit)
            continue;
        most = size > most ? size : most;
        *least = size < *least ? size : *least;
    }
    return most;
}

/* Where the targets' vectors begin, or those of a scatter's first stream; -1: not all at the same element. */
static int first_vector(const struct map *m) {
    int inner = m->axis_count - 1, first = -1;
    for (int k = 0; m->scatters && k < m->stream_count; k++)
        if (m->streams[k].place.strides[inner] == 1)
            return le_map_to_vector(m, m->streams[k].loads[0]->value, &m->streams[k].place, inner, m->width, 1);
    for (int k = 0; k < m->result_count; k++) {
        const struct map_result *r = &m->results[k];
        if (r->pair.imaginary)
            continue;
        int unit = le_map_unit(&r->pair);
        int begin = le_map_to_vector(m, r->stage->target, &r->place, inner, m->width * unit, unit);
        if (begin < 0 || begin % unit != 0 || (first >= 0 && begin / unit != first))
            return -1;
        first = begin / unit;
    }
    return first;
}

static void align_streams(struct map *m) {
    int inner = m->axis_count - 1;
    for (int k = 0; k < m->stream_count; k++) {
        struct map_stream *s = &m->streams[k];
        int elements = m->width * le_map_unit(&s->pair), step = s->pair.other >= 0 ? 2 : s->step;
        s->align = -1;
        if (elements > 1 && step > 0)
            s->align = le_map_to_vector(m, s->loads[0]->value, &s->place, inner, elements, step);
        if (s->align >= 0)
            s->align = (s->align + m->phase * step) % elements;
    }
}

void le_map_align(struct map *m) {
    int first;
    while ((first = first_vector(m)) < 0 && m->width > 1)
        m->width /= 2;
    for (int k = 0; k < m->result_count && first < 0; k++)
        m->results[k].pair = (struct map_pair){.other = -1};
    m->phase = first > 0 ? m->width - first : 0;
    m->piece = m->width;
    align_streams(m);
}

int64_t le_map_cost(const struct map *m) {
    int64_t cost = m->stage->node->cost + 1;
    int epoch = ++m->c.notes->epoch;
    for (int k = 0; k < m->result_count && m->result_count > 1; k++) /* the results share nodes */
        cost = (k ? cost : 0) + le_new_cost(m->c.notes, m->nodes[k], epoch) + 1;
    for (int d = 0; m->scatters && d < m->stage->left_count; d++)
        cost += m->stage->left[d]->cost;
    return cost;
}

/* Only the last threads have elements that do not count: a loop for those takes a compiler less than to ask at each. */
static bool ends_once(const struct map *m) {
    bool plain = m->safe && !m->loose && !m->asks;
    return plain && m->way == MAP_FLAT && m->axis_count == 1 && m->phase == 0 && m->width > 1;
}

static void find_width_within(struct map *m, int64_t most) {
    int least, bytes = widest(m, &least);
    int64_t cost = le_map_cost(m);
    m->width = m->asks || bytes == 0 ? 1 : 16 / bytes;
    if (!m->asks && m->width * least < 4)
        m->width = 4 / least;
    while (m->width > 1 && m->width * cost > most)
        m->width /= 2;
    le_map_align(m);
}

static void find_width(struct map *m) {
    if (m->windows) {
        find_width_within(m, MAP_WINDOW_COST);
        return;
    }
    find_width_within(m, DEAREST_COST);
    m->dear = m->width * le_map_cost(m) > MAP_DEAR_COST && ends_once(m);
    if (!m->dear)
        find_width_within(m, MAP_DEAR_COST);
}

static void find_unroll(struct map *m) {
    int ahead = !m->scatters, least, bytes = widest(m, &least);
    int64_t cost = le_map_cost(m), most = m->scatters ? SCATTER_AHEAD_BYTES : AHEAD_BYTES;
    for (int k = 0; k < m->stream_count; k++)
        ahead += m->streams[k].along;
    if (ahead > 1 && !m->scatters)
        ahead--;
    m->unroll = m->way == MAP_ROWS ? 4 : 8;
    if (m->between) {
        m->unroll = (int)m->axes[m->row].count;
        return;
    }
    while (m->unroll > 1 && (m->unroll * m->width * cost > (m->windows ? MAP_WINDOW_COST : MAP_DEAR_COST) ||
                             (m->way == MAP_FLAT && m->unroll * m->width * bytes * ahead > most)))
        m->unroll /= 2;
}

/* ---- */

struct other_search {
    bool reductions, found; /* reductions: these are others, too */
};

/* What is not made of reads and operations alone, or hangs on an order. */
static void find_other(struct le_node *node, void *user) {
    struct other_search *s = user;
    s->found |= node->kind == LE_NODE_REGION || node->kind == LE_NODE_LOCAL || node->changes ||
                (node->kind == LE_NODE_REDUCE && s->reductions);
}

/* false: there are too many. */
static bool set_results(struct map *m) {
    const struct le_stage *stage = m->stage;
    for (int k = 0; k <= stage->also_count && k < MAP_RESULTS_MAX; k++) {
        const struct le_stage *s = k ? stage->also[k - 1] : stage;
        m->results[k] = (struct map_result){.stage = s, .pair.other = -1};
        m->nodes[k] = s->node;
    }
    m->result_count = 1 + stage->also_count;
    return m->result_count <= MAP_RESULTS_MAX;
}

static bool is_safe(const struct map *m) {
    bool safe = !m->scatters;
    for (int k = 0; k < m->result_count && safe; k++)
        safe = le_node_is_safe(&m->c.safety, m->nodes[k]);
    return safe;
}

/* Whether it reads an element that it writes at that point, which may be in the same memory (ir/alias.h). */
static void find_own(struct le_node *node, void *user) {
    struct map *m = user;
    for (int k = 0; k < m->result_count && node->kind == LE_NODE_LOAD && node->operand_count > 0; k++) {
        const struct le_stage *stage = m->results[k].stage;
        bool own = node->operand_count == stage->left_count;
        for (int d = 0; own && d < node->operand_count; d++)
            own = node->operands[d] == stage->left[d];
        m->reads_own |= own;
    }
}

bool le_map_set_walk(struct map *m, int width, int unroll) {
    m->width = width;
    le_map_align(m);
    if (m->width < width && !m->paired) {
        m->piece = m->phase > 0 ? 1 : m->width;
        m->width = width;
        m->phase = 0;
        align_streams(m);
    }
    m->unroll = unroll;
    const int64_t rows = m->row >= 0 ? m->axes[m->row].count : 0, columns = le_map_inner(m)->count;
    m->shifts_rows = rows >= unroll && !m->reads_own;
    m->shifts_columns = m->shifts_rows && m->phase == 0 && columns >= m->width &&
                        (columns % m->width == 0 || !le_map_walk_reads_vectors(m));
    return le_map_count_items(m);
}

/* Threads whose elements all exist, with all reads in range, walk; others compute one element at a time. */
static bool find_walking(struct map *m) {
    if (!m->safe || m->scatters || !le_map_find_walks(m))
        return false;
    m->asks = false;
    walk_point(m, find_asking, m);
    find_interior(m);
    m->width = m->unroll = 1;
    if (m->asks || !le_map_find_slides(m))
        return false;
    walk_point(m, find_own, m);
    le_map_find_streams(m);
    le_map_find_pairs(m);
    m->splits = true;
    int least, bytes = widest(m, &least);
    m->widest = bytes > 0 && bytes <= 16 ? 16 / bytes : 1;
    m->widest = m->widest < WALK_COLUMNS ? m->widest : WALK_COLUMNS;
    return le_map_set_walk(m, 1, 1);
}

static void find_kernel(struct map *m, bool tiles) {
    le_map_find_streams(m);
    le_map_find_pairs(m);
    if (m->way != MAP_FLAT || m->splits || !tiles || !le_map_find_tiles(m)) {
        find_width(m);
        find_unroll(m);
        m->splits |= ends_once(m);
    }
}

bool le_map_find(struct map *m, const struct le_device_kernel_job *job, const struct le_stage *stage, bool tiles,
                 enum map_windows windows) {
    struct other_search other = {.reductions = windows != MAP_WALKED};
    *m = (struct map){.stage = stage,
                      .row = -1,
                      .threads = MAP_THREADS,
                      .scatters = stage->kind == LE_STAGE_SCATTER,
                      .windows = windows};
    le_codegen_begin(&m->c, job, stage, "");
    m->splits = m->scatters;
    m->body = m->c.root;
    m->c.unrolls = windows != MAP_NO_WINDOWS;
    if (!set_results(m))
        return false;
    walk_point(m, find_other, &other);
    if (other.found || !find_axes(m) || !find_targets(m))
        return false;
    m->safe = is_safe(m);
    merge_axes(m);
    if (windows == MAP_WALKED)
        return find_walking(m);
    find_rows(m);
    find_interior(m);
    find_kernel(m, tiles);
    if (m->inside && !le_map_can_guard(m) && !is_worth_splitting(m)) {
        forget_interior(m);
        find_kernel(m, tiles);
    }
    return le_map_count_items(m);
}

bool le_map_set(struct map *m, int width, int unroll) {
    if (width < m->width) {
        m->width = width;
        le_map_align(m);
        m->splits = m->splits && (m->inside || ends_once(m));
    }
    if (!m->between)
        m->unroll = unroll;
    return le_map_count_items(m);
}
