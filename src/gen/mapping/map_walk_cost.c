/* Predicts what a walk through windows takes: registers of a thread, and clocks of a multiprocessor. The slower of two
 * counts: the instructions that are issued, and the lines that loads take from the first-level cache. */
#include "gen/mapping/map_window.h"
#include <math.h>

#define REGISTERS      65536 /* of a multiprocessor */
#define REGISTERS_MAX  200   /* of a thread */
#define REGISTERS_USED 36    /* by positions, addresses and what is computed */
#define ROWS_AHEAD     2     /* that are read while the terms of another are added */
#define CODE_MAX       2560  /* operations of a thread */
#define THREAD_ISSUED  60    /* of a thread: where it is, and what it ends with */
#define ROW_ISSUED     3     /* of a row that is read: its address */
#define LINE_BYTES     128
#define SCHEDULERS     4  /* of a multiprocessor, each of which issues an instruction in a clock */
#define IN_FLIGHT      16 /* instructions that keep a scheduler busy */
#define ALIKE_MAX      8  /* most instructions of a warp that do not wait for each other: one for each element */

static int words_of(int size) {
    return (size + 3) / 4;
}

static int type_words(enum le_type type) {
    return words_of((int)le_type_size(type));
}

double le_map_slowness(const struct le_node *reduction) {
    bool extreme = reduction->code == LE_RED_MIN || reduction->code == LE_RED_MAX;
    return extreme || reduction->operands[0]->type != LE_F32 ? 2 : 1;
}

double le_map_split_cost(const struct map *m, int value) {
    return le_map_size(m, value) < 4 ? 2 : 0;
}

/* Work of a thread for all of its elements. */
struct walk_work {
    double issued, loads,
        lines; /* instructions but for loads and stores; these; lines of memory that a warp's ask for */
};

struct load_count {
    const struct map *m;
    const struct map_walk *w;
    double lines, loads; /* of one term: those that are no slides */
};

/* Lines of memory that a warp asks for in one load of `vector` elements. */
static double lines_of(const struct map *m, const struct le_node *load, int vector) {
    double size = le_map_size(m, load->value);
    double apart = fabs((double)le_slide_stride(m, load, le_map_inner(m)->index)) * m->width * size * WARP / LINE_BYTES;
    return fmax(vector * size / 4, fmin(WARP, fmax(1, apart)));
}

static void count_load(struct load_count *l, const struct le_node *node) {
    const struct map *m = l->m;
    for (int k = 0; k < l->w->slide_count; k++)
        if (l->w->slides[k].load == node)
            return;
    double times = le_node_depends(node, le_map_inner(m)->index)                 ? m->width * m->unroll
                   : m->row >= 0 && le_node_depends(node, m->axes[m->row].index) ? m->unroll
                                                                                 : 1;
    l->loads += times;
    l->lines += times * lines_of(m, node, 1);
}

static void count_loads(struct load_count *l, const struct le_node *node, int epoch) {
    if (!node->loads || node->kind == LE_NODE_REDUCE || le_note_met(l->m->c.notes, node, epoch))
        return;
    if (node->kind == LE_NODE_LOAD && node->operand_count > 0)
        count_load(l, node);
    for (int k = 0; k < node->operand_count; k++)
        count_loads(l, node->operands[k], epoch);
}

/* Rows that are in registers at one time. Where terms read nothing else, the compiler adds all terms of a row at once.
 */
static int rows_kept(const struct map *m, const struct map_walk *w, const struct map_slide *s) {
    struct load_count other = {.m = m, .w = w};
    for (int q = 0; q < w->node_count; q++)
        count_loads(&other, w->nodes[q]->operands[0], ++m->c.notes->epoch);
    int rows = le_slide_rows_at_once(m, s);
    return other.loads > 0 || rows < ROWS_AHEAD ? rows : ROWS_AHEAD;
}

/* Registers of a thread. */
static int registers_of(const struct map *m) {
    int totals = 0, most = 0, elements = m->width * m->unroll;
    for (int k = 0; k < m->walk_count; k++) {
        const struct map_walk *w = &m->walks[k];
        int near = 0, chunks = le_walk_terms(m, w) > LE_CHAIN_TERMS;
        for (int q = 0; q < w->slide_count; q++)
            near += rows_kept(m, w, &w->slides[q]) * le_slide_columns(m, &w->slides[q]) *
                    words_of(le_map_size(m, w->slides[q].load->value));
        for (int q = 0; q < w->node_count; q++) {
            int own = elements * type_words(w->nodes[q]->operands[0]->type);
            totals += own;
            near += le_node_is_chain(w->nodes[q]) && chunks ? own : 0;
        }
        for (int q = 0; q < w->fixed_count; q++)
            near += elements * type_words(w->fixed[q]->type);
        most = totals + near > most ? totals + near : most;
    }
    return REGISTERS_USED + most;
}

static void count_slide(const struct map *m, const struct map_walk *w, const struct map_slide *s,
                        struct walk_work *all) {
    int first, vector = le_slide_vector(m, w, s, &first), columns = le_slide_columns(m, s);
    double rounds = (double)le_walk_terms(m, w) / le_walk_count(m, s->across);
    double rows = s->down < 0 ? rounds * m->unroll : rounds / le_walk_count(m, s->down) * le_slide_rows(m, s);
    all->issued += rows * (ROW_ISSUED + (vector > 1 ? columns * le_map_split_cost(m, s->load->value) : 0));
    for (int at = 0, width; at < columns; at += width) {
        width = le_slide_read_width(at, columns, vector, first);
        all->loads += rows;
        all->lines += rows * lines_of(m, s->load, width);
    }
}

static void count_stores(const struct map *m, struct walk_work *work) {
    for (int k = 0; k < m->result_count; k++) {
        double size = le_map_size(m, m->results[k].stage->target), stores = (double)m->unroll * m->width / m->piece;
        work->loads += stores;
        work->lines += stores * fmax(1, m->width * size * WARP / LINE_BYTES);
    }
}

static struct walk_work work_of(const struct map *m) {
    const int elements = m->width * m->unroll;
    struct walk_work work = {.issued = THREAD_ISSUED + (double)(le_map_arithmetic(m) + 2) * elements};
    count_stores(m, &work);
    for (int k = 0; k < m->walk_count; k++) {
        const struct map_walk *w = &m->walks[k];
        struct load_count term = {.m = m, .w = w};
        double terms = (double)le_walk_terms(m, w);
        for (int q = 0; q < w->node_count; q++) {
            double own = terms * (double)le_walk_term_cost(m, w->nodes[q]) * elements;
            work.issued += own * le_map_slowness(w->nodes[q]);
            count_loads(&term, w->nodes[q]->operands[0], ++m->c.notes->epoch);
        }
        work.loads += terms * term.loads;
        work.lines += terms * term.lines;
        for (int q = 0; q < w->slide_count; q++)
            count_slide(m, w, &w->slides[q], &work);
    }
    return work;
}

/* Threads of a multiprocessor for which there are registers. */
static double resident_of(const struct map *m) {
    const int registers = (registers_of(m) + 7) / 8 * 8;
    return MAP_THREADS * fmax(1, floor((double)REGISTERS / (MAP_THREADS * registers)));
}

double le_map_walk_share(const struct map *m) {
    return fmin(1, resident_of(m) / m->c.job->facts->multiprocessor_threads);
}

/* Clocks of a multiprocessor for an element of each thread of a warp. */
static double clocks_of(const struct map *m) {
    const int elements = m->width * m->unroll;
    const struct walk_work work = work_of(m);
    double warps = resident_of(m) / WARP / SCHEDULERS;
    double busy = fmin(1, warps * fmin(ALIKE_MAX, elements) / IN_FLIGHT);
    return fmax((work.issued + work.loads) / SCHEDULERS / busy, work.lines) / elements;
}

bool le_map_walk_fits(const struct map *m) {
    const struct walk_work work = work_of(m);
    return (m->width == 1 && m->unroll == 1) ||
           (registers_of(m) <= REGISTERS_MAX && work.issued + work.loads <= CODE_MAX);
}

double le_map_walk_operations(const struct map *m) {
    return clocks_of(m) / WARP * SCHEDULERS * WARP;
}
