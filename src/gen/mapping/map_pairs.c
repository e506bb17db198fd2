/* Finds the pairs of a map: streams or results with the real and the imaginary parts of the same complex numbers, which
 * lie side by side in memory. A vector of both is read or written at once. */
#include "gen/mapping/map.h"

static bool are_parts(const struct map *m, int real, int imaginary, const struct map_place *a,
                      const struct map_place *b) {
    const struct le_device_facts *facts = m->c.job->facts;
    return facts->imaginary_of && a->strides[m->axis_count - 1] == 2 && a->start == b->start &&
           le_map_same_strides(m, a, b) && facts->imaginary_of(facts->user, real) == imaginary;
}

void le_map_find_pairs(struct map *m) {
    for (int a = 0; a < m->stream_count; a++)
        for (int b = 0; b < m->stream_count && m->way == MAP_FLAT && !m->scatters; b++) {
            struct map_stream *s = &m->streams[a], *q = &m->streams[b];
            if (s->load_count > 1 || q->load_count > 1 || !s->along || s->pair.other >= 0 || q->pair.other >= 0 ||
                !are_parts(m, s->loads[0]->value, q->loads[0]->value, &s->place, &q->place))
                continue;
            s->pair = (struct map_pair){.other = b};
            q->pair = (struct map_pair){.other = a, .imaginary = true};
            m->paired = true;
        }
    for (int a = 0; a < m->result_count; a++)
        for (int b = 0; b < m->result_count && m->way == MAP_FLAT && !m->scatters; b++) {
            struct map_result *r = &m->results[a], *q = &m->results[b];
            if (!are_parts(m, r->stage->target, q->stage->target, &r->place, &q->place))
                continue;
            r->pair = (struct map_pair){.other = b};
            q->pair = (struct map_pair){.other = a, .imaginary = true};
            m->paired = true;
        }
}
