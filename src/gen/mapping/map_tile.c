/* Finds the maps that are computed in tiles: those with an array that is contiguous along another axis, the *row* axis,
 * than the target. A thread block reads the array's part of a tile along rows, transposes it in shared memory, and
 * computes elements along columns. */
#include "gen/mapping/map.h"
#include <stdlib.h>

#define SIDE          32
#define WIDE_SIDE     64 /* side of tiles in which threads read and write vectors of 16 bytes */
#define WIDE_BYTES    4  /* greatest element in wide tiles */
#define WIDE_ELEMENTS (WIDE_SIDE * WIDE_SIDE / MAP_THREADS)
#define WIDE_STREAMS  2 /* most streams read ahead in wide tiles: registers limit them */
#define WIDE_BLOCKS   2 /* fewest thread blocks per multiprocessor in wide tiles */
#define TILES_MAX     4
#define FEW_ROWS      8

int le_map_pitch(const struct map *m) {
    return m->tile_rows | 1;
}

int le_map_across(const struct map *m) {
    return m->tile_columns / m->width;
}

static int row_of_tile(const struct map *m, const struct map_stream *s) {
    int inner = m->axis_count - 1;
    if (llabs(s->place.strides[inner]) <= 1)
        return -1;
    for (int a = 0; a < inner; a++)
        if (s->place.strides[a] == 1)
            return a;
    return -1;
}

/* The row axis of a stream with the real parts of complex numbers; -1: it has none. *other: the one with their
 * imaginary parts. */
static int row_of_pair(const struct map *m, int real, int *other) {
    const struct le_device_facts *facts = m->c.job->facts;
    const struct map_stream *s = &m->streams[real];
    int inner = m->axis_count - 1, value = s->loads[0]->value;
    for (int k = 0; k < m->stream_count; k++) {
        const struct map_stream *q = &m->streams[k];
        if (!facts->imaginary_of || facts->imaginary_of(facts->user, value) != q->loads[0]->value ||
            q->place.start != s->place.start || !le_map_same_strides(m, &s->place, &q->place) || s->load_count > 1 ||
            q->load_count > 1 || llabs(s->place.strides[inner]) <= 2)
            continue;
        *other = k;
        for (int a = 0; a < inner; a++)
            if (le_map_to_vector(m, value, &s->place, a, 2, 2) == 0)
                return a;
    }
    return -1;
}

/* Marks the streams that can be read through tiles, and sets the row axis. Returns the bytes of one element of each; 0:
 * there are none. */
static int choose_streams(struct map *m) {
    int tiles = 0, bytes = 0, other = -1;
    for (int k = 0; k < m->stream_count; k++) {
        int row = row_of_tile(m, &m->streams[k]), pair = row < 0 ? row_of_pair(m, k, &other) : -1;
        bool pairs = pair >= 0;
        row = pairs ? pair : row;
        if (row < 0 || m->streams[k].tile || (m->row >= 0 && m->row != row) || tiles + pairs >= TILES_MAX)
            continue;
        m->row = row;
        m->streams[k].tile = true;
        bytes += le_map_size(m, m->streams[k].loads[0]->value) * (pairs ? 2 : 1);
        tiles += pairs ? 2 : 1;
        if (pairs) {
            m->streams[other].tile = m->paired = true;
            m->streams[k].pair = (struct map_pair){.other = other};
            m->streams[other].pair = (struct map_pair){.other = k, .imaginary = true};
        }
    }
    return bytes;
}

static void set_tile(struct map *m, int rows, int columns, int width) {
    m->way = MAP_TILE;
    m->tile_rows = rows;
    m->tile_columns = columns;
    m->width = width;
    m->unroll = rows * columns / (MAP_THREADS * width);
}

static bool tile_fits(const struct map *m, int bytes) {
    return (size_t)bytes * (size_t)(m->tile_columns * le_map_pitch(m)) <= 3 * m->c.job->facts->shared_bytes / 4;
}

/* ---- wide tiles */

static bool has_blocks(struct map *m, int64_t least) {
    return !le_map_count_items(m) || m->items >= least;
}

/* Whether all vectors are whole and aligned, except at the end of the columns. */
static bool has_vectors(struct map *m, int width) {
    m->width = width;
    le_map_align(m);
    bool all = m->width == width && m->phase == 0 && m->axes[m->row].count % width == 0;
    for (int k = 0; k < m->stream_count; k++) {
        const struct map_stream *s = &m->streams[k];
        all = all && (!s->tile || le_map_to_vector(m, s->loads[0]->value, &s->place, m->row, width, 1) == 0);
    }
    return all;
}

/* Of 2^28 elements of a sum of two f32 arrays, on an H200, 0.99 of the time that copies of as many bytes take; tiles of
 * 32 x 32 take 1.04. Sides of 128 and blocks of 512 threads are as fast. */
static bool find_wide(struct map *m, int tile_bytes) {
    int bytes = 0, ahead = m->result_count - 1;
    for (int k = 0; k < m->result_count; k++) {
        int size = le_map_size(m, m->results[k].stage->target);
        bytes = size > bytes ? size : bytes;
    }
    for (int k = 0; k < m->stream_count; k++) {
        int size = le_map_size(m, m->streams[k].loads[0]->value);
        bytes = size > bytes ? size : bytes;
        ahead += m->streams[k].along && !m->streams[k].tile;
    }
    if (bytes > WIDE_BYTES || m->paired || ahead > WIDE_STREAMS || !m->safe || m->loose || m->asks ||
        le_map_cost(m) * WIDE_ELEMENTS > MAP_DEAR_COST || m->axes[m->row].count < WIDE_SIDE ||
        le_map_inner(m)->count < WIDE_SIDE || !has_vectors(m, 16 / bytes))
        return false;
    set_tile(m, WIDE_SIDE, WIDE_SIDE, 16 / bytes);
    return tile_fits(m, tile_bytes) && has_blocks(m, (int64_t)WIDE_BLOCKS * m->c.job->facts->multiprocessors);
}

/* ---- */

bool le_map_find_tiles(struct map *m) {
    int bytes = choose_streams(m);
    if (bytes == 0)
        return false;
    if (find_wide(m, bytes))
        return true;
    m->phase = 0;
    int64_t rows = m->axes[m->row].count;
    bool few = rows <= FEW_ROWS;
    set_tile(m, few ? (int)rows : SIDE, few ? MAP_THREADS : SIDE, 1);
    if (m->paired)
        le_map_align(m);
    if (le_map_inner(m)->count >= (few ? SIDE : FEW_ROWS) && tile_fits(m, bytes))
        return true;
    for (int k = 0; k < m->stream_count; k++) {
        if (m->streams[k].tile)
            m->streams[k].pair = (struct map_pair){.other = -1};
        m->streams[k].tile = false;
    }
    m->way = MAP_FLAT;
    m->row = -1;
    return false;
}
