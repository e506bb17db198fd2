/* How handles know that they are in a child of the process that made them. */
#ifndef LE_FORK_H
#define LE_FORK_H
/* Differs in a child from what it was in its parent, where forks were watched before. Any thread; a plain read. */
unsigned le_fork_generation(void);
/* Watches from now on, and gives the present one: for whoever makes a handle. */
unsigned le_fork_watch(void);
#endif
