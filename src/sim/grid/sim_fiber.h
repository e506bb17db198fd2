/* Fibers: stacks that take turns on one thread. A switch saves what a call keeps and changes stacks; nothing else: no
 * signal mask, no floating-point mode. Known to the address and thread sanitizers. A fiber whose turn never comes again
 * is dropped by starting another on its stack. */
#ifndef LE_SIM_FIBER_H
#define LE_SIM_FIBER_H
#include <stdbool.h>
#include <stddef.h>

struct sim_fiber {
    void *point; /* where it goes on */
    void *stack; /* its low end; NULL: the thread's own stack, that the others are started from */
    size_t stack_bytes;
    void *fake, *tsan; /* of the sanitizers */
};
/* entry must never return. argument is what it gets. */
void le_sim_fiber_start(struct sim_fiber *fiber, void *stack, size_t stack_bytes, void (*entry)(void *),
                        void *argument);
/* `to` goes on; returns when somebody switches to `from`. Where a switch lands in entry, it must begin with
 * le_sim_fiber_arrived. last: `from` never goes on. */
void le_sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to, bool last);
void le_sim_fiber_arrived(struct sim_fiber *fiber, struct sim_fiber *home);
void le_sim_fiber_finish(struct sim_fiber *fiber);

/* Stacks of one size; guarded: with a page below each that faults (two mappings each, of the 65,530 that a process
 * may have). NULL: no memory. */
struct sim_stacks;
struct sim_stacks *le_sim_stacks_new(size_t count, size_t stack_bytes, bool guarded);
void le_sim_stacks_free(struct sim_stacks *stacks);
size_t le_sim_stacks_count(const struct sim_stacks *stacks);
/* The usable part of stack k: low end and size. Ends are staggered, so that they do not share cache sets. */
void *le_sim_stacks_at(const struct sim_stacks *stacks, size_t k, size_t *size_bytes);
/* Whether the address is in one of them, guard pages included. */
bool le_sim_stacks_has(const struct sim_stacks *stacks, const void *address);
/* Whether it is in a guard page: a stack ran over. */
bool le_sim_stacks_guard(const struct sim_stacks *stacks, const void *address);
#endif
