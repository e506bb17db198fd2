/* Lets handles detect that they are used in a child of the process that made them. */
#ifndef LE_FORK_H
#define LE_FORK_H
/* A number that differs between a process and its child, once le_fork_watch was called. Any thread; only reads memory.
 */
unsigned le_fork_generation(void);
/* Starts counting forks and returns the current generation, which a new handle stores. */
unsigned le_fork_watch(void);
#endif
