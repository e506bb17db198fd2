/* How handles know that they are in a child of the process that made them. */
#ifndef LE_FORK_H
#define LE_FORK_H
/* Differs in a child from what it was in its parent, where it was asked before the fork. Any thread. */
unsigned le_fork_generation(void);
#endif
