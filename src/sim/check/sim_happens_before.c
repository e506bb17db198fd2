/* Clocks, leaves, trees of leaves, and the knowledge published at addresses. Joining trees stops where both are the
 * same pointer, so the last of many blocks learns of all others in a few steps. */
#include "sim/check/sim_happens_before.h"
#include "base/memory.h"
#include <string.h>

enum { FAN_BITS = 4, FAN = 1 << FAN_BITS, CHUNK_BYTES = 1 << 16, CHUNKS_MAX = 1 << 15 };

struct sim_known_chunk {
    struct sim_known_chunk *next;
    char *at;
};
struct node {
    const void *child[FAN]; /* nodes; leaves at the lowest level */
};
struct sim_release {
    uintptr_t address;
    uint64_t owner;
    uint64_t block;         /* the block to which `within` applies */
    const void *everywhere; /* knowledge for readers in any block */
    const void *within;     /* knowledge for readers in `block` */
    bool used;
};

/* ---- memory */
static void *take_memory(struct sim_known *known, size_t size_bytes) {
    if (known->chunk_left < size_bytes) {
        struct sim_known_chunk *chunk = known->chunk_count < CHUNKS_MAX ? le_alloc(sizeof *chunk + CHUNK_BYTES) : NULL;
        if (!chunk) {
            known->failed = true;
            return NULL;
        }
        chunk->next = known->chunks;
        chunk->at = (char *)(chunk + 1);
        known->chunks = chunk;
        known->chunk_count++;
        known->chunk_left = CHUNK_BYTES;
    }
    void *at = known->chunks->at;
    known->chunks->at += size_bytes;
    known->chunk_left -= size_bytes;
    return at;
}

void le_sim_known_begin(struct sim_known *known, uint64_t blocks) {
    known->levels = 0;
    for (uint64_t k = blocks ? blocks - 1 : 0; k; k >>= FAN_BITS)
        known->levels++;
    known->failed = false;
}

void le_sim_known_end(struct sim_known *known) {
    while (known->chunks) {
        struct sim_known_chunk *next = known->chunks->next;
        le_free(known->chunks);
        known->chunks = next;
    }
    known->chunk_left = known->chunk_count = 0;
    le_free(known->releases);
    known->releases = NULL;
    known->release_count = known->release_capacity = 0;
}

/* ---- leaves */
static const struct sim_leaf *make_leaf(struct sim_known *known, uint32_t all, uint32_t count,
                                        const struct sim_time *times) {
    struct sim_leaf *leaf = take_memory(known, sizeof *leaf + count * sizeof *times);
    if (leaf) {
        leaf->all = all;
        leaf->count = count;
        memcpy(leaf->times, times, count * sizeof *times);
    }
    return leaf;
}

static bool leaf_is(const struct sim_leaf *leaf, uint32_t all, uint32_t count, const struct sim_time *times) {
    return leaf->all == all && leaf->count == count && memcmp(leaf->times, times, count * sizeof *times) == 0;
}

static const struct sim_leaf *join_leaves(struct sim_known *known, const struct sim_leaf *a, const struct sim_leaf *b) {
    if (!a || !b || a == b)
        return a ? a : b;
    uint32_t all = a->all > b->all ? a->all : b->all, count = 0, i = 0, j = 0;
    while (i < a->count || j < b->count) {
        struct sim_time time;
        if (j == b->count || (i < a->count && a->times[i].thread < b->times[j].thread))
            time = a->times[i++];
        else if (i == a->count || b->times[j].thread < a->times[i].thread)
            time = b->times[j++];
        else
            time = a->times[i].time > b->times[j].time ? a->times[i] : b->times[j], i++, j++;
        if (time.time > all)
            known->merged[count++] = time;
    }
    if (leaf_is(a, all, count, known->merged))
        return a;
    if (leaf_is(b, all, count, known->merged))
        return b;
    const struct sim_leaf *leaf = make_leaf(known, all, count, known->merged);
    return leaf ? leaf : a;
}

static bool leaf_knows(const struct sim_leaf *leaf, unsigned thread, uint32_t time) {
    if (time <= leaf->all)
        return true;
    uint32_t low = 0, high = leaf->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (leaf->times[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    return low < leaf->count && leaf->times[low].thread == thread && time <= leaf->times[low].time;
}

/* ---- trees */
static const void *join_trees(struct sim_known *known, const void *a, const void *b, int level) {
    if (!a || !b || a == b)
        return a ? a : b;
    if (level == 0)
        return join_leaves(known, a, b);
    const struct node *left = a, *right = b;
    struct node joined;
    bool is_left = true, is_right = true;
    for (int k = 0; k < FAN; k++) {
        joined.child[k] = join_trees(known, left->child[k], right->child[k], level - 1);
        is_left = is_left && joined.child[k] == left->child[k];
        is_right = is_right && joined.child[k] == right->child[k];
    }
    if (is_left || is_right)
        return is_left ? a : b;
    struct node *node = take_memory(known, sizeof *node);
    if (!node)
        return a;
    *node = joined;
    return node;
}

/* The tree with a leaf joined in for one block. */
static const void *put_leaf(struct sim_known *known, const void *tree, uint64_t block, const struct sim_leaf *leaf,
                            int level) {
    if (!leaf)
        return tree;
    if (level == 0)
        return join_leaves(known, tree, leaf);
    unsigned k = (unsigned)(block >> ((level - 1) * FAN_BITS)) % FAN;
    const struct node *old = tree;
    const void *child = put_leaf(known, old ? old->child[k] : NULL, block, leaf, level - 1);
    if (old && old->child[k] == child)
        return tree;
    struct node *node = take_memory(known, sizeof *node);
    if (!node)
        return tree;
    *node = old ? *old : (struct node){0};
    node->child[k] = child;
    return node;
}

static bool tree_knows(const struct sim_known *known, const void *tree, const struct sim_stamp *stamp) {
    for (int level = known->levels; tree && level > 0; level--)
        tree = ((const struct node *)tree)->child[(stamp->block >> ((level - 1) * FAN_BITS)) % FAN];
    return tree && leaf_knows(tree, stamp->who % SIM_THREADS_MAX, stamp->time);
}

/* ---- blocks */
void le_sim_resident_begin(struct sim_resident *resident, uint64_t number, unsigned threads) {
    resident->number = number;
    resident->clock = 1;
    resident->barrier = 0;
    resident->threads = threads;
    if (resident->learnt && resident->each)
        memset(resident->each, 0, SIM_THREADS_MAX * sizeof *resident->each);
    resident->all = (struct sim_learnt){0};
    resident->learnt = false;
    for (unsigned k = 0; k < SIM_THREADS_MAX / SIM_WARP; k++) {
        resident->warps[k].full = 0;
        resident->warps[k].partial = false;
    }
}

void le_sim_resident_finish(struct sim_resident *resident) {
    for (unsigned k = 0; k < SIM_THREADS_MAX / SIM_WARP; k++)
        le_free(resident->warps[k].lanes);
    le_free(resident->each);
    le_free(resident->written);
    le_sim_cells_free(resident->cells, resident->cell_count);
}

/* Allocates what a block can learn. false: out of memory. */
static bool ensure_learnt(struct sim_known *known, struct sim_resident *resident) {
    if (!resident->each)
        resident->each = le_alloc_zero(SIM_THREADS_MAX, sizeof *resident->each);
    if (!resident->each)
        known->failed = true;
    else
        resident->learnt = true;
    return resident->learnt;
}

bool le_sim_known_before(const struct sim_known *known, const struct sim_resident *resident, unsigned thread,
                         const struct sim_stamp *stamp) {
    unsigned other = stamp->who % SIM_THREADS_MAX;
    if (stamp->block == (uint32_t)resident->number) {
        if (other == thread || stamp->time <= resident->barrier)
            return true;
        if (other / SIM_WARP == thread / SIM_WARP) {
            const struct sim_warp_known *warp = &resident->warps[thread / SIM_WARP];
            if (stamp->time <= warp->full ||
                (warp->partial && stamp->time <= warp->lanes[thread % SIM_WARP][other % SIM_WARP]))
                return true;
        }
    }
    return resident->learnt && (tree_knows(known, resident->all.acquired, stamp) ||
                                tree_knows(known, resident->each[thread].acquired, stamp));
}

/* ---- barriers: everything that one participant knew or may publish, all do afterwards */
struct thread_group {
    unsigned first, count;
    uint32_t lanes; /* of each warp */
};
static bool in_group(const struct thread_group *group, unsigned thread) {
    return group->lanes >> (thread % SIM_WARP) & 1;
}

static const struct sim_leaf *gather_leaves(struct sim_known *known, const struct sim_resident *resident,
                                            const struct thread_group *group, int scope) {
    const struct sim_leaf *only = NULL;
    uint32_t all = 0;
    bool several = false;
    for (unsigned t = group->first; t < group->first + group->count; t++) {
        const struct sim_leaf *leaf = resident->each[t].fences[scope].own;
        if (!in_group(group, t) || !leaf || leaf == only)
            continue;
        several = several || only;
        only = leaf;
        all = leaf->all > all ? leaf->all : all;
        for (uint32_t k = 0; k < leaf->count; k++)
            if (leaf->times[k].time > known->dense[leaf->times[k].thread])
                known->dense[leaf->times[k].thread] = leaf->times[k].time;
    }
    uint32_t count = 0;
    for (unsigned t = 0; only && t < resident->threads; t++) {
        if (known->dense[t] > all)
            known->merged[count++] = (struct sim_time){.thread = t, .time = known->dense[t]};
        known->dense[t] = 0;
    }
    return several ? make_leaf(known, all, count, known->merged) : only;
}

static struct sim_learnt gather_learnt(struct sim_known *known, const struct sim_resident *resident,
                                       const struct thread_group *group) {
    struct sim_learnt sum = {0};
    for (unsigned t = group->first; t < group->first + group->count; t++) {
        const struct sim_learnt *one = &resident->each[t];
        if (!in_group(group, t))
            continue;
        sum.acquired = join_trees(known, sum.acquired, one->acquired, known->levels);
        for (int scope = 0; scope < 2; scope++)
            sum.fences[scope].others =
                join_trees(known, sum.fences[scope].others, one->fences[scope].others, known->levels);
    }
    for (int scope = 0; scope < 2; scope++)
        sum.fences[scope].own = gather_leaves(known, resident, group, scope);
    return sum;
}

void le_sim_known_barrier(struct sim_known *known, struct sim_resident *resident) {
    if (resident->learnt) {
        struct thread_group group = {.count = resident->threads, .lanes = ~UINT32_C(0)};
        struct sim_learnt sum = gather_learnt(known, resident, &group), *all = &resident->all;
        all->acquired = join_trees(known, all->acquired, sum.acquired, known->levels);
        for (int scope = 0; scope < 2; scope++) {
            struct sim_published *to = &all->fences[scope], *from = &sum.fences[scope];
            to->others = join_trees(known, to->others, from->others, known->levels);
            to->own = join_leaves(known, to->own, from->own);
        }
        memset(resident->each, 0, resident->threads * sizeof *resident->each);
    }
    resident->barrier = resident->clock++;
}

void le_sim_known_cluster_barrier(struct sim_known *known, struct sim_resident *const *residents, unsigned count) {
    struct sim_learnt sum = {0};
    for (unsigned k = 0; k < count; k++) {
        struct sim_resident *one = residents[k];
        le_sim_known_barrier(known, one);
        const struct sim_leaf *leaf = make_leaf(known, one->barrier, 0, known->merged);
        sum.acquired = join_trees(known, sum.acquired, one->all.acquired, known->levels);
        sum.acquired = put_leaf(known, sum.acquired, one->number, leaf, known->levels);
        for (int scope = 0; scope < 2; scope++) {
            const void **to = &sum.fences[scope].others;
            *to = join_trees(known, *to, one->all.fences[scope].others, known->levels);
            *to = put_leaf(known, *to, one->number, one->all.fences[scope].own, known->levels);
        }
    }
    for (unsigned k = 0; k < count; k++) {
        struct sim_learnt *all = &residents[k]->all;
        if (!ensure_learnt(known, residents[k]))
            continue;
        all->acquired = sum.acquired;
        for (int scope = 0; scope < 2; scope++)
            all->fences[scope].others = sum.fences[scope].others;
    }
}

static void meet_lanes(struct sim_known *known, struct sim_warp_known *warp, uint32_t mask, uint32_t time) {
    if (!warp->lanes)
        warp->lanes = le_alloc(sizeof(uint32_t[SIM_WARP][SIM_WARP]));
    if (!warp->lanes) {
        known->failed = true;
        return;
    }
    if (!warp->partial)
        memset(warp->lanes, 0, sizeof(uint32_t[SIM_WARP][SIM_WARP]));
    warp->partial = true;
    uint32_t most[SIM_WARP] = {0};
    for (unsigned a = 0; a < SIM_WARP; a++)
        for (unsigned b = 0; (mask >> a & 1) && b < SIM_WARP; b++)
            most[b] = warp->lanes[a][b] > most[b] ? warp->lanes[a][b] : most[b];
    for (unsigned a = 0; a < SIM_WARP; a++)
        if (mask >> a & 1)
            most[a] = time;
    for (unsigned a = 0; a < SIM_WARP; a++)
        if (mask >> a & 1)
            memcpy(warp->lanes[a], most, sizeof most);
}

void le_sim_known_warp_barrier(struct sim_known *known, struct sim_resident *resident, unsigned warp, uint32_t mask) {
    struct thread_group group = {.first = warp * SIM_WARP, .lanes = mask};
    if (group.first >= resident->threads)
        return;
    group.count = resident->threads - group.first < SIM_WARP ? resident->threads - group.first : SIM_WARP;
    uint32_t everyone = group.count == SIM_WARP ? ~UINT32_C(0) : (UINT32_C(1) << group.count) - 1;
    uint32_t time = resident->clock++;
    if ((mask & everyone) == everyone)
        resident->warps[warp].full = time;
    else
        meet_lanes(known, &resident->warps[warp], mask & everyone, time);
    if (resident->learnt) {
        struct sim_learnt sum = gather_learnt(known, resident, &group);
        for (unsigned t = group.first; t < group.first + group.count; t++)
            if (in_group(&group, t))
                resident->each[t] = sum;
    }
}

/* ---- fences, and what atomic and volatile accesses publish */
static const struct sim_leaf *leaf_of_thread(struct sim_known *known, const struct sim_resident *resident,
                                             unsigned thread) {
    const struct sim_warp_known *warp = &resident->warps[thread / SIM_WARP];
    struct sim_time times[SIM_WARP];
    uint32_t count = 0;
    unsigned first = thread - thread % SIM_WARP;
    for (unsigned lane = 0; lane < SIM_WARP; lane++) {
        uint32_t time = warp->full;
        if (warp->partial && warp->lanes[thread % SIM_WARP][lane] > time)
            time = warp->lanes[thread % SIM_WARP][lane];
        if (first + lane == thread)
            time = resident->clock;
        if (time > resident->barrier)
            times[count++] = (struct sim_time){.thread = first + lane, .time = time};
    }
    return make_leaf(known, resident->barrier, count, times);
}

void le_sim_known_fence(struct sim_known *known, struct sim_resident *resident, unsigned thread, enum sim_fence scope) {
    if (!ensure_learnt(known, resident))
        return;
    struct sim_learnt *mine = &resident->each[thread];
    struct sim_published published = {
        .own = leaf_of_thread(known, resident, thread),
        .others = join_trees(known, mine->acquired, resident->all.acquired, known->levels),
    };
    mine->fences[SIM_FENCE_BLOCK] = published;
    if (scope != SIM_FENCE_BLOCK)
        mine->fences[SIM_FENCE_DEVICE] = published;
    resident->clock++;
}

static size_t release_slot(const struct sim_release *at, size_t capacity, uintptr_t address, uint64_t owner) {
    size_t k = (size_t)(((uint64_t)address + owner * 40503) * UINT64_C(0x9e3779b97f4a7c15) >> 24) & (capacity - 1);
    while (at[k].used && (at[k].address != address || at[k].owner != owner))
        k = (k + 1) & (capacity - 1);
    return k;
}

static struct sim_release *find_release(struct sim_known *known, uintptr_t address, uint64_t owner) {
    if (!known->release_capacity)
        return NULL;
    struct sim_release *release =
        &known->releases[release_slot(known->releases, known->release_capacity, address, owner)];
    return release->used ? release : NULL;
}

static struct sim_release *get_release(struct sim_known *known, uintptr_t address, uint64_t owner) {
    if (2 * known->release_count >= known->release_capacity) {
        size_t capacity = known->release_capacity ? 2 * known->release_capacity : 64;
        struct sim_release *larger = le_alloc_zero(capacity, sizeof *larger);
        if (!larger) {
            known->failed = true;
            return NULL;
        }
        for (size_t k = 0; k < known->release_capacity; k++) {
            const struct sim_release *old = &known->releases[k];
            if (old->used)
                larger[release_slot(larger, capacity, old->address, old->owner)] = *old;
        }
        le_free(known->releases);
        known->releases = larger;
        known->release_capacity = capacity;
    }
    struct sim_release *release =
        &known->releases[release_slot(known->releases, known->release_capacity, address, owner)];
    known->release_count += !release->used;
    if (!release->used)
        *release = (struct sim_release){.address = address, .owner = owner, .used = true};
    return release;
}

static void acquire(struct sim_known *known, struct sim_resident *resident, unsigned thread,
                    const struct sim_release *release) {
    const void *within = release->block == resident->number ? release->within : NULL;
    if ((!release->everywhere && !within) || !ensure_learnt(known, resident))
        return;
    const void **to = &resident->each[thread].acquired;
    *to = join_trees(known, *to, release->everywhere, known->levels);
    *to = join_trees(known, *to, within, known->levels);
}

static const void *publish(struct sim_known *known, const struct sim_resident *resident, unsigned thread, int scope,
                           const void *tree) {
    const struct sim_published *parts[] = {&resident->each[thread].fences[scope], &resident->all.fences[scope]};
    for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
        tree = join_trees(known, tree, parts[k]->others, known->levels);
        tree = put_leaf(known, tree, resident->number, parts[k]->own, known->levels);
    }
    return tree;
}

void le_sim_known_strong_access(struct sim_known *known, struct sim_resident *resident, unsigned thread,
                                uintptr_t address, uint64_t owner, enum sim_strong strong) {
    struct sim_release *release = find_release(known, address, owner);
    if (release && strong != SIM_STRONG_STORE)
        acquire(known, resident, thread, release);
    if (strong == SIM_STRONG_READ)
        return;
    bool fenced = resident->learnt &&
                  (resident->each[thread].fences[SIM_FENCE_BLOCK].own || resident->all.fences[SIM_FENCE_BLOCK].own);
    if (fenced && !release)
        release = get_release(known, address, owner);
    if (release && strong == SIM_STRONG_STORE)
        release->everywhere = release->within = NULL;
    if (!fenced || !release)
        return;
    if (release->block != resident->number)
        release->within = NULL;
    release->block = resident->number;
    release->within = publish(known, resident, thread, SIM_FENCE_BLOCK, release->within);
    release->everywhere = publish(known, resident, thread, SIM_FENCE_DEVICE, release->everywhere);
}
