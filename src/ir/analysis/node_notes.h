/* What the generators remember of nodes, by the nodes' numbers. The table is a thread's work space and serves one
 * kernel after another. Whatever is remembered has an epoch, and counts only in the walk or kernel of that epoch, so
 * nothing needs to be cleared, though the nodes of different kernels have the same numbers. */
#ifndef LE_NODE_NOTES_H
#define LE_NODE_NOTES_H
#include "base/arena.h"
#include "ir/ir.h"

struct le_node_note {
    int walk_epoch, code_epoch, read_epoch;
    void *code; /* the values that a kernel has computed; with code_epoch */
    int safe_epoch[2];
    bool safe[2];                   /* le_node_is_safe outside and inside of subscripts; with safe_epoch */
    bool reads_first, reads_second; /* of a REGION: which of its two values the kernel reads; with read_epoch */
};
struct le_node_notes {
    struct le_arena *arena;
    struct le_node_note *at;
    int count, epoch; /* epoch: the last one that was begun */
};

struct le_node_note *le_note_grown(struct le_node_notes *notes, const struct le_node *node);
/* Valid until the next call, because generators make nodes. */
static inline struct le_node_note *le_note_of(struct le_node_notes *notes, const struct le_node *node) {
    return node->id < notes->count ? &notes->at[node->id] : le_note_grown(notes, node);
}
/* Whether the walk of that epoch, `++notes->epoch` at its start, has met the node before. */
static inline bool le_note_met(struct le_node_notes *notes, const struct le_node *node, int epoch) {
    struct le_node_note *note = le_note_of(notes, node);
    bool met = note->walk_epoch == epoch;
    note->walk_epoch = epoch;
    return met;
}
#endif
