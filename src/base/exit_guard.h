/* Guards work in a thread that must not run while the process exits, such as that of a context's compiling thread:
 * during exit() libraries destroy their state, and a thread inside one of them may crash. exit() waits for guarded
 * work, and no new work begins. Long work should poll le_exit_guard_is_exiting. Any thread. */
#ifndef LE_EXIT_GUARD_H
#define LE_EXIT_GUARD_H
#include <stdbool.h>

/* From this call on, exit() waits. It waits before the exit handlers that were registered before this call, so use the
 * work's libraries once before calling this. */
void le_exit_guard_install(void);
bool le_exit_guard_begin(void); /* false: the process is exiting; do not start */
void le_exit_guard_end(void);
bool le_exit_guard_is_exiting(void);
#endif
