/* Fibers: stacks that take turns on one thread. A switch saves the callee-saved registers and changes stacks. It does
 * not save the signal mask or the floating-point mode. The address and thread sanitizers are informed of switches. A
 * fiber that will not run again is dropped by starting another on its stack. */
#ifndef LE_SIM_FIBER_H
#define LE_SIM_FIBER_H
#include <stdbool.h>
#include <stddef.h>

struct sim_fiber {
    void *point; /* where it continues */
    void *stack; /* its low end; NULL: the thread's own stack, from which other fibers are started */
    size_t stack_bytes;
    void *fake, *tsan; /* state of the sanitizers */
};
/* Prepares a fiber that calls entry(argument) when it is first switched to. entry must never return. */
void le_sim_fiber_start(struct sim_fiber *fiber, void *stack, size_t stack_bytes, void (*entry)(void *),
                        void *argument);
/* Continues `to`; returns when a fiber switches to `from`. entry must begin by calling le_sim_fiber_arrived. last:
 * `from` will not continue. */
void le_sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to, bool last);
void le_sim_fiber_arrived(struct sim_fiber *fiber, struct sim_fiber *home);
void le_sim_fiber_finish(struct sim_fiber *fiber);

/* Allocates stacks of one size, with guard pages below them. The guard of a stack takes two of the 65,530 mappings that
 * a process may have. guarded: each stack has one; otherwise one in 64 has, so that endless recursion meets one in the
 * end. NULL: out of memory. */
struct sim_stacks;
struct sim_stacks *le_sim_stacks_new(size_t count, size_t stack_bytes, bool guarded);
void le_sim_stacks_free(struct sim_stacks *stacks);
size_t le_sim_stacks_count(const struct sim_stacks *stacks);
/* The usable part of stack k: low end and size. High ends are staggered, so that they do not share cache sets. */
void *le_sim_stacks_at(const struct sim_stacks *stacks, size_t k, size_t *size_bytes);
/* Whether the address is in one of the stacks or guard pages. */
bool le_sim_stacks_has(const struct sim_stacks *stacks, const void *address);
/* Whether the address is in guard pages, which means a stack overflow. */
bool le_sim_stacks_guard(const struct sim_stacks *stacks, const void *address);
#endif
