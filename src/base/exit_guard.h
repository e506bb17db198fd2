/* Work in a thread that must not be under way when the process ends, as that of a context's compiling thread: libraries
 * take down what they use for it as exit() goes on, and a thread that is in one of them ends the process badly. exit()
 * waits for such work, and none is begun any more; whoever does it looks now and then whether it is worth going on. Any
 * thread. */
#ifndef LE_EXIT_GUARD_H
#define LE_EXIT_GUARD_H
#include <stdbool.h>

/* exit() waits from now on: it does so before libraries that have registered their own part of it before this call take
 * anything down. So the work's libraries are to have been used once. */
void le_exit_guard_install(void);
bool le_exit_guard_begin(void); /* false: the process ends */
void le_exit_guard_end(void);
bool le_exit_guard_is_exiting(void);
#endif
