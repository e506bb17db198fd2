/* Chooses how a row that stays on chip between several passes is shared by threads, warps, thread blocks and clusters.
 *
 * While a row's threads compute, they transfer nothing from or to memory. Other rows on the same multiprocessor, each
 * at a different point of its work, hide this. If one block would keep a row only by having the multiprocessor to
 * itself, the row is therefore shared by a cluster of blocks, each small enough that blocks of other rows fit beside
 * it:
 *
 *     threads  words in registers  in shared memory  blocks resident  kept by a multiprocessor
 *         512        16 of 64         48:  96 KB       2              256 KB, of 2 rows
 *        1024        16 of 64         48: 192 KB       1              256 KB, of 1 row
 *
 * The first line that is large enough is used, with the fewest blocks that suffice: 2 blocks of the first line for
 * 65,536 f32. Data for shared memory does not pass through registers (le_fetch), so all that a thread keeps is in
 * flight at once: 128 KB per block, while 40 KB per multiprocessor suffice to keep the 4.8 TB/s of an H200 busy.
 * Measured there, softmax and layer norm of such rows take 1.01 and 1.07 of the memory's time. Smaller variants of the
 * layer norm, written by hand, were slower (1.14 to 1.24): four blocks of 256 threads, blocks of 128 threads, and two
 * rows at once, which read gain and bias once for both. */
#include "gen/mapping/row.h"

enum {
    CLUSTER_MOST = 8,        /* the size that every GPU with clusters supports */
    NEAR_WORDS = 32,         /* registers of 64 that a thread uses for kept elements */
    CAPABILITY_CLUSTER = 90, /* compute capability * 10 of the first GPUs with clusters */
    ROOM_BYTES = 8192        /* shared memory that is not for rows */
};

static int power_below(int n) {
    int power = 1;
    while (power <= n / 2)
        power *= 2;
    return n > 0 ? power : 0;
}

static int power_from(int n) {
    int power = 1;
    while (power < n)
        power *= 2;
    return power;
}

/* The fewest threads that keep a row in registers; else the largest block, which keeps the rest in shared memory. */
static bool find_block(const struct le_device_facts *facts, const struct row_need *need, struct row_shape *s) {
    int most = power_below(NEAR_WORDS / need->words);
    int most_threads = need->is_wide ? 512 : 1024; /* beyond half of them each has 64 registers at most */
    for (s->threads = WARP; s->threads < most_threads && need->reads > (int64_t)s->threads * most; s->threads *= 2)
        ;
    for (s->lines = 1; s->lines < WARP && need->reads > (int64_t)s->threads * s->lines; s->lines *= 2)
        ;
    if (most == 0 || need->reads > (int64_t)s->threads * s->lines)
        return false;
    s->near = s->lines < most ? s->lines : most;
    s->cluster = 1;
    s->threads = (int)((need->reads + s->lines - 1) / s->lines + WARP - 1) / WARP * WARP;
    s->rows = s->threads == WARP ? 8 : 1;
    s->most_threads = power_from(s->threads * s->rows < 64 ? 64 : s->threads * s->rows);
    s->resident = (need->are_totals_big ? 768 : 1024) / s->most_threads;
    s->resident = s->resident > 0 ? s->resident : 1;
    s->far_bytes = (size_t)((s->lines - s->near) * need->words * 4) * (size_t)s->threads;
    return s->far_bytes + ROOM_BYTES <= facts->shared_most_bytes && s->threads * s->rows <= facts->block_threads;
}

/* A line of the table in the header comment. */
struct shape_choice {
    int threads, resident, words, near;
};

/* Finds how many lines fit into a thread block's share of shared memory. false: none does. */
static bool find_lines(const struct le_device_facts *facts, const struct row_need *need,
                       const struct shape_choice *part, struct row_shape *s) {
    size_t share = (facts->shared_most_bytes + 1024) / (size_t)part->resident, line = (size_t)need->words * 4;
    s->near = part->near < need->words ? 1 : part->near / need->words;
    s->lines = power_below(part->words / need->words < WARP ? part->words / need->words : WARP);
    if (s->lines == 0 || need->words > NEAR_WORDS / 2 || share <= ROOM_BYTES || part->threads > facts->block_threads)
        return false;
    while (s->lines > s->near && (size_t)(s->lines - s->near) * line * (size_t)part->threads > share - ROOM_BYTES)
        s->lines /= 2;
    s->near = s->near < s->lines ? s->near : s->lines;
    return true;
}

static bool find_cluster(const struct le_device_facts *facts, const struct row_need *need,
                         const struct shape_choice *part, struct row_shape *s) {
    if (!find_lines(facts, need, part, s))
        return false;
    int64_t warps = (need->reads + WARP * s->lines - 1) / (WARP * s->lines);
    for (s->cluster = 1; s->cluster < CLUSTER_MOST && warps > (int64_t)s->cluster * part->threads / WARP;)
        s->cluster *= 2;
    if (warps > (int64_t)s->cluster * part->threads / WARP)
        return false;
    s->rows = 1;
    s->threads = (int)((warps + s->cluster - 1) / s->cluster) * WARP;
    s->most_threads = power_from(s->threads);
    s->resident = part->threads * part->resident / s->most_threads;
    s->far_bytes = (size_t)((s->lines - s->near) * need->words * 4) * (size_t)s->threads;
    return true;
}

bool le_row_shape(const struct le_device_facts *facts, const struct row_need *need, struct row_shape *shape) {
    static const struct shape_choice parts[] = {{512, 2, 64, 16}, {1024, 1, 64, 16}};
    struct row_shape s = {0};
    bool keeps = find_block(facts, need, shape);
    if (facts->capability < CAPABILITY_CLUSTER || (keeps && shape->near == shape->lines && shape->resident > 1))
        return keeps;
    for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
        struct shape_choice part = parts[k];
        if (need->are_totals_big) /* a thread needs more registers for its arithmetic, too */
            part = (struct shape_choice){part.threads / 2, part.resident, 2 * part.words, 2 * part.near};
        if (find_cluster(facts, need, &part, &s)) {
            *shape = s;
            return true;
        }
    }
    return keeps;
}
