/* Windows in a map (map_window.c), for those who make the code (map_walk.c) and predict its time (map_walk_cost.c). */
#ifndef LE_MAP_WINDOW_H
#define LE_MAP_WINDOW_H
#include "gen/mapping/map.h"

enum { WALK_TERMS = 128 }; /* of a reduction, at most */

int64_t le_walk_terms(const struct map *m, const struct map_walk *w);
int64_t le_walk_term_cost(const struct map *m, const struct le_node *reduction); /* additions, with that to the total */
int le_walk_count(const struct map *m, int index);                               /* values; of none, -1: 1 */
/* Elements from one value of the index to the next; 0: the load does not depend on it, or the index is -1. */
int64_t le_slide_stride(const struct map *m, const struct le_node *load, int index);
int le_slide_rows_at_once(const struct map *m,
                          const struct map_slide *s);              /* that a thread's elements need at one term */
int le_slide_rows(const struct map *m, const struct map_slide *s); /* that they need at all terms */
int le_slide_columns(const struct map *m, const struct map_slide *s);
/* The lowest row or column, where that of the first term is 0, if the index moves it by `step`. */
int le_slide_lowest(const struct map *m, int index, int step);
/* Elements of the widest vectors, and in *first the first column where one begins. 1: they are not aligned. */
int le_slide_vector(const struct map *m, const struct map_walk *w, const struct map_slide *s, int *first);
int le_slide_read_width(int at, int columns, int vector, int first); /* elements of the read at a column */
#endif
