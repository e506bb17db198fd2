/* Proposes the mappings of stages with reductions in which threads share the terms: a warp, a thread block or the whole
 * grid for each point, threads side by side for columns, and rows that stay on chip. */
#include "gen/mapping/row.h"
#include <math.h>

#define GRID_POINTS  65535 /* a grid's second axis */
#define WARP_TERMS   1024  /* most terms of a warp, for a width of 1 */
#define GRID_SECONDS 2e-6  /* in which the last block begins to join the others' totals */
#define PART_SECONDS 54e-9 /* time in which one thread joins one total */
#define JOIN_SECONDS 1e-6  /* in which threads of a block that share a column join their totals */
#define PARTS_GAIN   0.95  /* of the time with fewer threads for a column: what more of them have to gain */
/* The least time of a warp for a ragged row, measured on an H100 with sparse matrices of 1 to 20 million elements.
 * Reads wait for the bounds and for each other, and the registers of the code limit the number of warps. */
#define RAGGED_SECONDS 10e-6
#define WHOLE_GAIN     1.02 /* a block takes a whole column unless several blocks are faster by more than this */
#define ARG_JOINS      6
#define VECTOR_BYTES   4    /* that a thread of columns reads at once, if its columns lie side by side */
#define VECTOR_GAIN    0.98 /* of the time with fewer columns of a thread: what more of them have to gain */
/* Instructions that bring a chain's term to shared memory and back, and its share of joining the chunks. */
#define STAGE_COST   10
#define KEPT_COST    20     /* instructions that bring a vector of a row to shared memory and cut it out there */
#define KEPT_SECONDS 0.1e-6 /* in which a thread adds up a vector of a kept row */
#define KEPT_ROWS    2      /* for each multiprocessor: with fewer, keeping them does not pay */
#define RESIDENT     1.5    /* thread blocks that a multiprocessor has for each one that is sure to fit */
#define SPLIT_COST   20     /* instructions that find the values of another index of a term */
#define CHUNK_COST   4      /* that bring a chunk's total to the thread that adds it to its unit */
#define FEW_RATE     0.8    /* of a multiprocessor's instructions, that 512 threads keep busy; 768 do all */

/* Faults are ordered by point * (RAGGED_TERMS + 1) + term. That fits in 64 bits: there are fewer than 2^31 points. */
#define RAGGED_TERMS ((int64_t)UINT32_MAX - 1)

/* What all proposals have in common. */
struct shared_terms {
    struct le_mapping_search *search;
    struct reduction *r;
    double terms, points, operations;
};

/* Of all passes over the terms. */
static double bytes_of(const struct shared_terms *s, int index) {
    const struct team_stage *t = &s->r->t;
    double bytes = 0;
    for (int g = 0; g < t->group_count; g++)
        bytes += le_cost_bytes(s->search->job, t->groups[g].bodies, t->groups[g].node_count, index);
    return bytes;
}

/* shared: the threads of a warp share the terms of a point, and read several at once. Of a chain, each of them takes 32
 * terms in a row; what lies side by side then goes through shared memory, and passes the first-level cache three times.
 */
static double requests_of(const struct shared_terms *s, int index, bool shared) {
    struct team_stage *t = &s->r->t;
    double requests = 0;
    for (int g = 0; g < t->group_count; g++) {
        struct group *group = &t->groups[g];
        bool staged = group->chain && shared && le_group_can_stage(&s->r->c, group);
        bool apart = group->chain && shared && !staged;
        double own = le_cost_requests(s->search->job, group->bodies, group->node_count, apart ? -1 : index,
                                      group->indices, group->index_count);
        requests += own * (apart ? WARP : staged ? 3 : 1) / (shared && !apart ? group->width : 1);
    }
    return requests * s->terms * s->points / WARP;
}

static int term_index(const struct team_stage *t) {
    const struct group *g = &t->groups[0];
    return g->indices[g->axes[g->axis_count - 1].position];
}

/* Whether a thread's terms lie side by side: sectors that a warp reads for one of them serve the following ones. */
static bool are_terms_dense(const struct shared_terms *s) {
    return bytes_of(s, term_index(&s->r->t)) <= bytes_of(s, -1);
}

/* Totals that are joined, an arg's counting as several: its position goes along. */
static double joins_of(const struct team_stage *t) {
    double joins = 0;
    for (int g = 0; g < t->group_count; g++)
        joins += le_node_is_arg(t->groups[g].nodes[0]) ? ARG_JOINS : 1;
    return joins;
}

/* Additions of all points, if the threads of warps share the terms of a point. Of a chain a warp takes whole units:
 * lanes without a chunk wait, each term goes through shared memory, and the chunks' totals are added one after the
 * other. */
static double shared_operations(const struct shared_terms *s) {
    const struct team_stage *t = &s->r->t;
    double operations = s->operations;
    for (int g = 0; g < t->group_count; g++) {
        double unit = LE_CHAIN_TERMS * LE_CHAIN_CHUNKS, units = ceil((double)t->groups[g].terms / unit);
        if (t->groups[g].chain)
            operations += s->points * units * unit * (STAGE_COST + SPLIT_COST * (t->groups[g].axis_count - 1)) +
                          s->operations * (units * unit / (double)t->groups[g].terms - 1);
    }
    return operations;
}

/* The common settings, and what a team of `threads` threads does for a point. */
static struct le_cost cost_of(const struct shared_terms *s, struct le_mapping *m, int index, double threads) {
    const struct group *g = &s->r->t.groups[0];
    int64_t unrolled = le_mapping_set(m, "unrolled", g->unroll, 1, g->unroll, true);
    double bytes = bytes_of(s, index), own = fmax(1, s->terms / threads), ahead = (double)unrolled * g->width;
    return (struct le_cost){.bytes = bytes,
                            .operations = threads > 1 ? shared_operations(s) : s->operations,
                            .requests = requests_of(s, index, threads > 1),
                            .threads = s->points * threads,
                            .bytes_in_flight = fmin(own, ahead) * bytes / (s->terms * s->points),
                            .team_seconds = ceil(own / ahead) * LE_READ_SECONDS * s->r->t.group_count,
                            .launches = 1};
}

/* The index of neighbouring threads when a team stores its values; -1: there is none. */
static int last_kept(const struct team_stage *t) {
    if (t->rest_count > 0)
        return t->rest_at[t->rest_count - 1];
    return t->points_count ? t->points_at[t->points_count - 1] : -1;
}

/* side: the index of neighbouring threads when values are stored */
static void finish_kept(const struct shared_terms *s, struct le_mapping *m, struct le_cost cost, int side) {
    for (int k = -1; k < s->search->stage->also_count; k++)
        cost.bytes += le_cost_target_bytes(s->search->job, k < 0 ? s->search->stage : s->search->stage->also[k], side);
    m->seconds = le_cost_seconds(s->search->job->facts, &cost);
}

/* The same, where what the values read has not been counted. */
static void finish(const struct shared_terms *s, struct le_mapping *m, struct le_cost cost) {
    int last = last_kept(&s->r->t);
    for (int k = -1; k < s->search->stage->also_count; k++)
        cost.bytes +=
            le_cost_bytes_outside(s->search->job, (k < 0 ? s->search->stage : s->search->stage->also[k])->node, last);
    finish_kept(s, m, cost, last);
}

/* Threads of all points' thread blocks, if a multiprocessor has room for `resident` of these: each counts as its share
 * of the room. */
static double threads_of_blocks(const struct shared_terms *s, double resident) {
    double most = s->search->job->facts->multiprocessor_threads;
    return s->points * most / fmin(fmax(1, resident), most / 64);
}

/* As many rows at once as are the fastest. */
static void propose_lanes(const struct shared_terms *s) {
    struct team_stage *t = &s->r->t;
    struct lanes l;
    if (!le_lanes_find(t, &l))
        return;
    struct le_mapping *m = le_mapping_add(s->search, LE_MAPPING_LANES, le_reduce_lanes, s->r);
    double bytes = bytes_of(s, term_index(t)), element = bytes / (s->terms * s->points), best = INFINITY;
    struct le_cost found = {0};
    int chosen = 1;
    for (int rows = 1; rows <= l.rows; rows *= 2) {
        struct le_cost cost = {.bytes = bytes,
                               .operations = s->operations,
                               .requests = requests_of(s, term_index(t), true),
                               .threads = s->points / rows * l.lanes,
                               .bytes_in_flight = rows * element * s->terms / l.lanes,
                               .team_seconds = LE_READ_SECONDS + LE_WARP_SECONDS * joins_of(t),
                               .launches = 1};
        double seconds = le_cost_seconds(s->search->job->facts, &cost);
        if (seconds >= best)
            continue;
        best = seconds;
        found = cost;
        chosen = rows;
    }
    le_mapping_set(m, "rows", chosen, 1, l.rows, true);
    finish(s, m, found);
}

static void propose_warp(const struct shared_terms *s) {
    const struct team_stage *t = &s->r->t;
    for (int g = 0; g < t->group_count; g++)
        if (!t->groups[g].ragged && t->groups[g].terms > WARP_TERMS * t->groups[g].width)
            return;
    struct le_mapping *m = le_mapping_add(s->search, LE_MAPPING_WARP, le_reduce_warp, s->r);
    int64_t lanes = t->ragged ? WARP : le_lanes_of_row(t);
    if (lanes < WARP) /* of short rows, several share a warp */
        lanes = le_mapping_set(m, "lanes", lanes, lanes, WARP, true);
    struct le_cost cost = cost_of(s, m, term_index(t), (double)lanes);
    cost.team_seconds += LE_WARP_SECONDS * joins_of(t) + (t->ragged ? RAGGED_SECONDS : 0);
    finish(s, m, cost);
}

/* The cost if each thread block of `threads` threads brings its rows to shared memory first. */
static struct le_cost cost_of_kept(const struct shared_terms *s, const struct kept_rows *kept, int64_t threads) {
    struct team_stage *t = &s->r->t;
    const struct le_device_facts *facts = s->search->job->facts;
    double room = (double)kept->bytes, reads = 0, seconds = LE_READ_SECONDS;
    for (int g = 0; g < t->group_count; g++) {
        double width = le_kept_width(&s->r->c, &t->groups[g], kept);
        room = fmax(room, (double)(kept->bytes + le_group_room_bytes(&t->groups[g], true)));
        reads += (double)t->groups[g].terms / width * kept->count;
        seconds += KEPT_SECONDS * ceil((double)t->groups[g].terms / (width * (double)threads));
    }
    seconds += LE_WARP_SECONDS * joins_of(t);
    double resident =
        fmin(RESIDENT * le_reduce_resident(t, (int)threads, true), floor((double)facts->shared_most_bytes / room));
    double all = threads_of_blocks(s, resident);
    double bytes = le_cost_bytes(s->search->job, (struct le_node *const *)kept->loads, kept->count, term_index(t));
    return (struct le_cost){.bytes = bytes,
                            .operations = s->operations + KEPT_COST * reads * s->points,
                            .threads = all,
                            .bytes_in_flight = bytes / all,
                            .team_seconds = seconds,
                            .launches = 1};
}

/* Whether keeping rows pays: their elements would be read one at a time, and there are enough rows that some are
 * brought while others are added up. Measured on an H100: rows of f64, and fewer rows, take longer than without. */
static bool pays_to_keep(const struct shared_terms *s, const struct kept_rows *kept) {
    const struct team_stage *t = &s->r->t;
    bool pays = kept->largest <= 4 && s->points > KEPT_ROWS * s->search->job->facts->multiprocessors;
    for (int g = 0; g < t->group_count; g++)
        pays &= t->groups[g].width == 1;
    return pays;
}

/* The best number of threads of a thread block that keeps its rows. */
static int64_t best_kept(const struct shared_terms *s, const struct kept_rows *kept) {
    double best = INFINITY;
    int64_t found = 0;
    for (int64_t threads = 512; threads >= 64; threads /= 2) {
        struct le_mapping with = {0};
        finish(s, &with, cost_of_kept(s, kept, threads));
        if (with.seconds < best) {
            best = with.seconds;
            found = threads;
        }
    }
    return found;
}

static void propose_block(const struct shared_terms *s) {
    struct le_mapping *m = le_mapping_add(s->search, LE_MAPPING_BLOCK, le_reduce_block, s->r);
    struct kept_rows kept;
    bool fits = !s->r->t.ragged && le_kept_find(&s->r->c, &s->r->t, &kept), keeps = fits && pays_to_keep(s, &kept);
    int64_t threads = keeps ? best_kept(s, &kept) : le_reduce_threads(&s->r->t);
    threads = le_mapping_set(m, "threads", threads, 64, 512, true);
    struct le_cost cost = cost_of(s, m, term_index(&s->r->t), (double)threads);
    cost.team_seconds += LE_BLOCK_SECONDS * joins_of(&s->r->t) + (s->r->t.ragged ? RAGGED_SECONDS : 0);
    finish(s, m, le_mapping_set(m, "kept", keeps, 0, fits, false) ? cost_of_kept(s, &kept, threads) : cost);
}

static void propose_grid(const struct shared_terms *s) {
    struct team_stage *t = &s->r->t;
    const struct le_device_facts *facts = s->search->job->facts;
    if (le_reduce_terms(t) == 0 || t->rest_count > 0 || t->points > GRID_POINTS || !le_reduce_stands_alone(t))
        return;
    struct le_mapping *m = le_mapping_add(s->search, LE_MAPPING_GRID, le_reduce_grid, s->r);
    double room = (double)facts->multiprocessors * facts->multiprocessor_threads / s->points;
    struct le_cost cost = cost_of(s, m, term_index(t), fmax(256, fmin(room, s->terms / t->groups[0].width)));
    cost.team_seconds = LE_READ_SECONDS + LE_BLOCK_SECONDS;
    cost.tail_seconds = GRID_SECONDS + LE_BLOCK_SECONDS;
    finish(s, m, cost);
}

struct columns_shape {
    int64_t chunk; /* terms of a thread */
    int parts;     /* threads of a block for a column */
};

/* Most terms of a thread. Those of a chain take turns at its chunks of 32. */
static double terms_of_thread(const struct shared_terms *s, struct columns_shape shape) {
    const double unit = LE_CHAIN_TERMS * LE_CHAIN_CHUNKS;
    double all = fmin(s->terms, (double)shape.chunk * shape.parts), rest = fmod(all, unit);
    if (shape.parts == 1 || !le_reduce_has_chain(&s->r->t))
        return fmin(s->terms, (double)shape.chunk);
    return (all - rest) / shape.parts + fmin(rest, ceil(rest / (LE_CHAIN_TERMS * shape.parts)) * LE_CHAIN_TERMS);
}

/* Of a chain: threads wait for the one that has the most terms, and then for the one that adds up the chunks' totals.
 * Fewer than 32 columns are side by side. */
static void share_chain(const struct shared_terms *s, struct le_cost *cost, struct columns_shape shape, double own) {
    const struct team_stage *t = &s->r->t;
    double steps = ceil(s->terms / ((double)shape.chunk * shape.parts));
    cost->threads = s->points / t->side.width * fmin(steps * shape.parts, ceil(s->terms / LE_CHAIN_TERMS));
    cost->operations *= own * shape.parts * steps / s->terms;
    cost->operations += s->points * ceil(s->terms / LE_CHAIN_TERMS) * CHUNK_COST * t->group_count;
    cost->requests *= fmax(1, (double)(WARP * shape.parts) / le_columns_threads(t, shape.parts));
}

/* What multiprocessors lose while they have few threads, and at the end, when some have no block left. */
static double busy_share(const struct shared_terms *s, const struct le_cost *cost, struct columns_shape shape) {
    const struct team_stage *t = &s->r->t;
    double units = s->search->job->facts->multiprocessors, each = cost->blocks / units;
    double room = le_reduce_room(t), threads = fmin(room, cost->threads / units);
    double busy = FEW_RATE + (1 - FEW_RATE) * fmax(0, fmin(1, (threads - 512) / 256));
    return each * le_columns_threads(t, shape.parts) > room ? busy * each / (each + 0.25) : busy;
}

/* The cost of columns that are shared so. */
static struct le_cost cost_of_columns(const struct shared_terms *s, struct le_cost cost, struct columns_shape shape) {
    const struct team_stage *t = &s->r->t;
    double steps = ceil(s->terms / ((double)shape.chunk * shape.parts)), own = terms_of_thread(s, shape);
    double join = shape.parts > 1 ? JOIN_SECONDS : 0;
    bool chain = le_reduce_has_chain(t);
    double fresh = chain ? fmin(1, cost.bytes / (s->terms * s->points)) : 1; /* reads that caches do not serve */
    double round = LE_CACHE_SECONDS + (LE_READ_SECONDS - LE_CACHE_SECONDS) * fresh;
    if (fresh > 0)
        cost.bytes_in_flight /= fresh;
    cost.blocks = steps * ceil(s->points / t->side.width * shape.parts / le_columns_threads(t, shape.parts));
    cost.threads = s->points / t->side.width * fmin(ceil(s->terms / (double)shape.chunk), steps * shape.parts);
    if (shape.parts > 1 && chain)
        share_chain(s, &cost, shape, own);
    if (chain)
        cost.operations /= busy_share(s, &cost, shape);
    cost.team_seconds = (ceil(own / (2 * t->groups[0].unroll)) * round + join) * t->group_count;
    cost.tail_seconds = steps > 1 ? GRID_SECONDS + ceil(steps / shape.parts) * PART_SECONDS + join : 0;
    for (int g = 0; g < t->group_count && steps > 1; g++) /* totals in memory, which are read again */
        cost.bytes += 2 * steps * s->points * le_group_bytes(&t->groups[g]);
    if (steps > 1 && !le_reduce_stands_alone(t)) {
        cost.tail_seconds *= t->group_count;
        cost.launches = t->group_count;
    }
    return cost;
}

/* All terms, if one block has to have them. */
static int64_t least_chunk(const struct shared_terms *s, int parts) {
    const struct team_stage *t = &s->r->t;
    return le_columns_can_cut(&s->r->c, t) ? le_columns_least_chunk(t, parts) : le_columns_whole(t, parts);
}

/* Powers of two, so that each thread's and each block's terms are a whole part of the sum's tree. */
static struct columns_shape best_columns(const struct shared_terms *s, struct le_cost cost) {
    double best = INFINITY;
    struct columns_shape found = {least_chunk(s, 1), 1}, shape = {0};
    for (shape.parts = 1; shape.parts <= le_columns_parts(&s->r->t); shape.parts *= 2)
        for (shape.chunk = least_chunk(s, shape.parts);; shape.chunk *= 2) {
            struct le_cost now = cost_of_columns(s, cost, shape);
            double seconds = le_cost_seconds(s->search->job->facts, &now);
            bool whole = (double)shape.chunk * shape.parts >= s->terms; /* takes no memory for totals */
            if (seconds < best * (shape.parts > found.parts ? PARTS_GAIN : whole ? WHOLE_GAIN : 1)) {
                best = seconds;
                found = shape;
            }
            if (whole)
                break;
        }
    return found;
}

/* How many columns each thread can have. narrow: to read elements of few bytes together, whatever it costs. */
static int most_vector(const struct shared_terms *s, bool narrow) {
    struct team_stage *t = &s->r->t;
    int width = VECTOR_BYTES;
    for (int g = 0; g < t->group_count; g++) {
        int own = !narrow         ? le_side_most(&s->r->c, &t->groups[g], t->side.index)
                  : t->spread > 1 ? 1
                                  : le_side_width(&s->r->c, &t->groups[g], t->side.index, VECTOR_BYTES);
        width = own < width ? own : width;
    }
    return width;
}

/* The cost if each thread computes `width` columns. Nodes that are the same for all columns are computed once. */
static struct le_cost with_vector(const struct shared_terms *s, struct le_cost cost, int width) {
    struct team_stage *t = &s->r->t;
    double shared = 0;
    for (int g = 0; g < t->group_count; g++)
        shared += (double)t->groups[g].terms * (double)le_side_shared_cost(&s->r->c, &t->groups[g], t->side.index);
    t->side.width = width;
    cost.operations -= fmin(shared * s->points, cost.operations / 2) * (1 - 1.0 / width);
    cost.bytes_in_flight *= width;
    cost.requests /= width;
    return cost;
}

static int best_vector(const struct shared_terms *s, struct le_cost cost, int most) {
    double best = INFINITY;
    int found = 1;
    for (int width = 1; width <= most; width *= 2) {
        struct le_cost wide = with_vector(s, cost, width);
        struct le_cost now = cost_of_columns(s, wide, best_columns(s, wide));
        double seconds = le_cost_seconds(s->search->job->facts, &now);
        if (seconds < VECTOR_GAIN * best) {
            best = seconds;
            found = width;
        }
    }
    return found;
}

static void propose_columns(const struct shared_terms *s) {
    struct team_stage *t = &s->r->t;
    if (t->rest_count > 0 || t->points_count == 0)
        return;
    struct le_mapping *m = le_mapping_add(s->search, LE_MAPPING_COLUMNS, le_reduce_columns, s->r);
    t->side.index = t->points_at[t->points_count - 1];
    struct le_cost cost = cost_of(s, m, t->side.index, 1);
    if (are_terms_dense(s))
        cost.bytes = fmin(cost.bytes, LE_WASTE_SEVERAL_READS * bytes_of(s, -1));
    int narrow = most_vector(s, true), most = narrow > 1 ? narrow : most_vector(s, false);
    int width = narrow > 1 ? narrow : best_vector(s, cost, most);
    cost = with_vector(s, cost, (int)le_mapping_set(m, "vector", width, 1, most, true));
    struct columns_shape shape = best_columns(s, cost);
    shape.parts = (int)le_mapping_set(m, "parts", shape.parts, 1, le_columns_parts(t), true);
    int64_t least = least_chunk(s, shape.parts);
    shape.chunk = shape.chunk > least ? shape.chunk : least;
    shape.chunk = le_mapping_set(m, "chunk", shape.chunk, least, (int64_t)1 << 40, true);
    finish(s, m, cost_of_columns(s, cost, shape));
    t->side.width = 1;
}

static leat_status make_rows(const struct le_mapping *m, void *found, struct le_generated_launches *out) {
    struct reduction *r = found;
    struct strip_wish wish = {.strip = le_mapping_get(m, "strip"),
                              .cluster = le_mapping_get(m, "cluster"),
                              .vector = le_mapping_get(m, "vector"),
                              .threads = le_mapping_get(m, "threads")};
    le_team_rows(&r->c, &r->t, wish, out);
    return r->c.status;
}

static int64_t forced_number(const char *forced, const char *name) {
    int64_t number;
    return le_mapping_forced_number(forced, name, &number) ? number : -1;
}

/* With what is forced, if all of it fits, else with what is chosen; strip 0: rows. */
static bool find_rows(const struct shared_terms *s, struct row *row) {
    const char *forced = le_mapping_forced(s->search->job->facts->mapping, LE_MAPPING_ROWS);
    row->wish = (struct strip_wish){forced_number(forced, "strip"), forced_number(forced, "cluster"),
                                    forced_number(forced, "vector"), forced_number(forced, "threads")};
    if (s->r->t.spread > 1)
        return false;
    if (le_row_find(row) && (row->wish.strip <= 0 || row->shape.strip))
        return true;
    *row = (struct row){.c = row->c, .t = row->t, .wish = {-1, -1, -1, -1}};
    return le_row_find(row);
}

/* How many bytes of whole sectors move for each byte of a strip. */
static double waste_of_strip(const struct shared_terms *s, const struct row *row) {
    int last = row->points_at[s->r->t.points_count - 1];
    double side = fmin(row->shape.strip, le_cost_extent(s->search->job, last)) * row->kept_bytes;
    return ceil(side / 32) * 32 / side;
}

static void propose_rows(const struct shared_terms *s) {
    struct row row = {.c = &s->r->c, .t = &s->r->t};
    if (!find_rows(s, &row))
        return;
    struct le_mapping *m = le_mapping_add(s->search, LE_MAPPING_ROWS, make_rows, s->r);
    const struct row_shape *shape = &row.shape;
    double threads = (double)shape->cluster * shape->threads / (shape->strip ? shape->strip : 1);
    int side = shape->strip ? row.points_at[s->r->t.points_count - 1] : term_index(&s->r->t);
    double bytes = le_cost_bytes(s->search->job, row.loads, row.load_count, side);
    double join =
        shape->rows > 1 || (shape->strip == shape->threads && shape->cluster == 1) ? LE_WARP_SECONDS : LE_BLOCK_SECONDS;
    if (shape->strip) {
        le_mapping_set(m, "strip", shape->strip, shape->strip, shape->strip, false);
        le_mapping_set(m, "cluster", shape->cluster, shape->cluster, shape->cluster, false);
        le_mapping_set(m, "vector", shape->vector, shape->vector, shape->vector, false);
        le_mapping_set(m, "threads", shape->threads, shape->threads, shape->threads, false);
        bytes *= waste_of_strip(s, &row);
    }
    struct le_cost cost = {.bytes = bytes,
                           .operations = s->operations,
                           .threads = s->points * threads,
                           .bytes_in_flight = bytes / (s->points * threads),
                           .team_seconds = 2 * LE_READ_SECONDS + join * s->r->t.group_count,
                           .launches = 1};
    finish_kept(s, m, cost, shape->strip ? side : last_kept(&s->r->t));
}

/* Loops inside of the terms are not counted by a node's cost. */
static double operations_of(const struct le_device_kernel_job *job, const struct team_stage *t) {
    struct le_node_notes *notes = &job->kernel.work->notes;
    double operations = 0;
    int epoch = ++notes->epoch;
    for (int g = 0; g < t->group_count; g++)
        for (int k = 0; k < t->groups[g].node_count; k++)
            operations += (double)t->groups[g].terms * ((double)le_new_cost(notes, t->groups[g].bodies[k], epoch) + 1);
    for (int g = 0; g < t->group_count; g++)
        operations += (double)t->groups[g].terms * SPLIT_COST * (t->groups[g].axis_count - 1);
    bool loops = false;
    for (int g = 0; g < t->group_count; g++)
        for (int k = 0; k < t->groups[g].node_count; k++)
            loops |= t->groups[g].bodies[k]->reduces;
    return fmax(operations * (double)t->points, loops ? (double)le_kernel_operations(&job->kernel) : 0);
}

void le_propose_reductions(struct le_mapping_search *search) {
    const struct le_stage *stage = search->stage;
    struct reduction *r = LE_NEW(search->job->kernel.arena, struct reduction);
    if (!stage->node->reduces || !le_stage_in_any_order(stage))
        return;
    le_codegen_begin(&r->c, search->job, stage, "");
    if ((stage->also_count > 0 || !le_team_spread(&r->c, stage, &r->t)) && !le_team_find(&r->c, stage, 1, &r->t))
        return;
    if (r->t.points > INT32_MAX || r->t.points == 0)
        return;
    if (!le_node_is_safe(&r->c.safety, stage->node))
        r->c.terms = le_codegen_number(&r->c, "terms", r->t.ragged ? RAGGED_TERMS : le_reduce_terms(&r->t));
    struct shared_terms s = {.search = search,
                             .r = r,
                             .terms = fmax(1, (double)le_reduce_terms(&r->t)),
                             .points = (double)r->t.points,
                             .operations = operations_of(search->job, &r->t)};
    if (!r->t.ragged) {
        propose_columns(&s);
        propose_rows(&s);
        propose_lanes(&s);
    }
    propose_warp(&s);
    propose_block(&s);
    if (!r->t.ragged)
        propose_grid(&s);
}
