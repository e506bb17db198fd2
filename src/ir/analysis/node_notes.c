/* See node_notes.h. */
#include "ir/analysis/node_notes.h"
#include <string.h>

#define COUNT_MIN 64

struct le_node_note *le_note_grown(struct le_node_notes *notes, const struct le_node *node) {
    int count = notes->count ? notes->count : COUNT_MIN;
    while (count <= node->id)
        count *= 2;
    struct le_node_note *at = LE_NEW_ARRAY(notes->arena, count, struct le_node_note); /* zeros */
    if (notes->count)
        memcpy(at, notes->at, (size_t)notes->count * sizeof *at);
    notes->at = at;
    notes->count = count;
    return &at[node->id];
}
