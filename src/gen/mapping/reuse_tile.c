/* See reuse.h: how large a tile is and how its threads share it: what has room, and how long it takes. */
#include "gen/mapping/reuse.h"
#include <math.h>

#define ROOM_BYTES    (46 << 10) /* of the 48 KB of static shared memory */
#define REGISTERS     256        /* of a thread, if one thread block fits on a multiprocessor */
#define OTHER_WORDS   26         /* registers for addresses and the like */
#define PENDING_BYTES 1024       /* most bytes of a thread's tree of units, in local memory */
#define SUM_COST      7          /* instructions that bring a value to shared memory, if its place is a sum */
#define EDGE_COST     3          /* besides: of each subscript that an edge mode applies to */
#define INDEX_COST    15         /* else: of each index */
#define L2_RATE       2.5        /* bytes that L2 moves while memory moves one */
#define START_SECONDS 0.5e-6     /* until the first terms have come */
#define READ_SECONDS  0.3e-6     /* from asking for the next terms until they have come */
#define MEET_SECONDS  0.15e-6    /* in which threads meet between steps */
#define STORE_COST    14         /* instructions that store a point's value */
#define STEP_COST     25         /* of a thread for each step, besides its terms */
#define BLOCK_COST    500        /* of a thread before the first step */
#define REST_SECONDS  10e-9      /* of each term of the last step that is not whole */
#define CODE_TERMS    1024       /* most terms of a step that are written out, for all points of a thread */
#define BUSY          0.9        /* share of the clocks in which instructions are issued */

/* ---- the tile */

/* Levels of the tree of units; -1: no sum with reuse. */
int le_reuse_levels(const struct group *g) {
    int64_t unit = LE_CHAIN_TERMS * LE_CHAIN_CHUNKS, units = (g->terms + unit - 1) / unit; /* the last may be shorter */
    if (!g->chain)
        return -1;
    return g->terms <= unit ? 0 : units < 8 ? 3 : units < 256 ? 8 : 20;
}

int le_reuse_down(const struct reuse_tile *tile) {
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

/* Of the totals that threads exchange at a time, with what alignment may add. */
static size_t turned_bytes(const struct reuse *r, const struct reuse_tile *tile) {
    const struct group *g = &r->t.groups[0];
    int bytes = le_group_bytes(g);
    return (size_t)REUSE_THREADS * (size_t)tile->columns *
           (size_t)(bytes <= 8 && g->node_count == 1 ? bytes : (bytes + 8 * g->node_count + 7) / 8 * 8);
}

static size_t terms_bytes(const struct reuse *r, const struct reuse_tile *tile) {
    return side_bytes(&r->rows, le_reuse_down(tile) * tile->rows, tile->depth) +
           side_bytes(&r->columns, tile->across * tile->columns, tile->depth) + 32 +
           (table_numbers(&r->rows) + table_numbers(&r->columns)) * (r->table ? REUSE_TABLE : 1) * (r->wide ? 8 : 4);
}

static size_t room_bytes(const struct reuse *r, const struct reuse_tile *tile) {
    size_t terms = terms_bytes(r, tile), turned = turned_bytes(r, tile);
    return terms > turned ? terms : turned;
}

/* Registers of a thread: totals, values of a term, what is on its way to shared memory, and the rest. */
static int words_of(const struct reuse *r, const struct reuse_tile *tile) {
    const struct group *g = &r->t.groups[0];
    const struct reuse_side *sides[] = {&r->rows, &r->columns};
    const int lines[] = {le_reuse_down(tile) * tile->rows, tile->across * tile->columns},
              own[] = {tile->rows, tile->columns};
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
int le_reuse_resident(const struct reuse *r, const struct reuse_tile *tile) {
    return words_of(r, tile) > REGISTERS / 2 ? 1 : 2;
}

/* Whether registers and shared memory hold what the tile needs. */
bool le_reuse_has_room(const struct reuse *r, const struct reuse_tile *tile) {
    const struct group *g = &r->t.groups[0];
    int levels = le_reuse_levels(g);
    return room_bytes(r, tile) <= ROOM_BYTES && words_of(r, tile) <= REGISTERS &&
           (levels <= 0 || le_group_bytes(g) * tile->rows * tile->columns * levels <= PENDING_BYTES);
}

int64_t le_reuse_tiles(const struct reuse_side *side, int lines) {
    return (side->lines.total + lines - 1) / lines;
}

int64_t le_reuse_blocks(const struct reuse *r, const struct reuse_tile *tile) {
    return le_reuse_tiles(&r->rows, le_reuse_down(tile) * tile->rows) *
           le_reuse_tiles(&r->columns, tile->across * tile->columns) * r->batch.total;
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
                    ? SUM_COST + (place.masked ? 1 : EDGE_COST * place.edge_count)
                    : INDEX_COST * (side->lines.count + r->t.groups[0].index_count) + (double)side->leaves[k]->cost;
    }
    return cost;
}

/* Words of a side's values that a thread reads for a term. */
static double words_read(const struct reuse_side *side, int own) {
    return side->leaf_count * own * (double)le_type_size(side->leaves[0]->type) / 4;
}

/* Wavefronts of shared memory in which a warp reads that; alone: a row has all threads of the warp. */
static double wavefronts_of(double words, bool alone) {
    return words <= 2 ? 1 : words / 4 * (alone ? 4 : 2);
}

/* Clocks that a thread block takes for a term: instructions are issued at four a clock, and shared memory takes a
 * wavefront a clock. Each value that is brought takes three: to find, to ask for and to put it. */
static double term_clocks(const struct reuse *r, const struct reuse_tile *tile, double operations) {
    double rows = le_reuse_down(tile) * tile->rows, columns = tile->across * tile->columns,
           points = tile->rows * tile->columns;
    double of_rows = words_read(&r->rows, tile->rows), of_columns = words_read(&r->columns, tile->columns);
    double brought = (rows * r->rows.leaf_count + columns * r->columns.leaf_count) / REUSE_THREADS;
    double issued = points * (operations + (r->t.groups[0].chain ? 1.0 / LE_CHAIN_TERMS : 0)) + ceil(of_rows / 4) +
                    ceil(of_columns / 4) + STEP_COST / (double)tile->depth +
                    (rows * staging_of(r, &r->rows) + columns * staging_of(r, &r->columns)) / REUSE_THREADS;
    double wavefronts =
        wavefronts_of(of_rows, false) + wavefronts_of(of_columns, tile->across == REUSE_THREADS) + 3 * brought;
    return REUSE_THREADS / WARP * fmax(issued / 4, wavefronts) / BUSY;
}

double le_reuse_seconds(const struct reuse *r, const struct reuse_tile *tile, const struct reuse_work *work) {
    const struct le_device_facts *facts = r->c.job->facts;
    double rows = le_reuse_down(tile) * tile->rows, columns = tile->across * tile->columns;
    double terms = (double)r->t.groups[0].terms, steps = ceil(terms / tile->depth),
           blocks = (double)le_reuse_blocks(r, tile);
    double clock = facts->operations_per_second / (128.0 * facts->multiprocessors);
    double apart = (rows * columns * (work->outside + STORE_COST) + REUSE_THREADS * BLOCK_COST) / (4 * WARP) / clock;
    double busy = terms * term_clocks(r, tile, work->operations) / clock;
    double rounds = ceil(blocks / facts->multiprocessors);
    double traffic = blocks * terms * 4 * (rows * words_read(&r->rows, 1) + columns * words_read(&r->columns, 1));
    double memory = fmax(work->bytes, traffic / L2_RATE) / facts->bytes_per_second;
    /* what one thread block waits for, another one on the same multiprocessor hides */
    double alone = START_SECONDS + apart + fmod(terms, tile->depth) * REST_SECONDS +
                   fmax(busy + steps * MEET_SECONDS, steps * READ_SECONDS);
    double seconds =
        le_reuse_resident(r, tile) == 1 || rounds == 1 ? rounds * alone : rounds / 2 * fmax(2 * (busy + apart), alone);
    return fmax(seconds, memory);
}

/* Threads that bring operands to shared memory use all of what lies side by side, so each byte counts once. */
struct reuse_work le_reuse_work(struct reuse *r) {
    return (struct reuse_work){.operations = operations_of(r),
                               .outside = outside_of(r),
                               .bytes = le_cost_bytes(r->c.job, (struct le_node *const[]){r->c.stage->node}, 1, -1)};
}

struct reuse_tile le_reuse_best_tile(const struct reuse *r, const struct reuse_work *work, double *seconds) {
    static const int depths[] = {32, 16, 8, 4};
    struct reuse_tile best = {0};
    *seconds = INFINITY;
    for (int across = 16; across <= REUSE_THREADS; across *= 2)
        for (int rows = 1; rows <= 8; rows *= 2)
            for (int columns = 1; columns <= 8; columns *= 2)
                for (size_t d = 0; d < ARRAY_LEN(depths); d++) {
                    struct reuse_tile tile = {across, rows, columns, depths[d]};
                    if (!le_reuse_has_room(r, &tile) || le_reuse_blocks(r, &tile) > INT32_MAX ||
                        rows * columns * tile.depth > CODE_TERMS)
                        continue;
                    double now = le_reuse_seconds(r, &tile, work);
                    if (now < *seconds) {
                        *seconds = now;
                        best = tile;
                    }
                }
    return best;
}
