/* A compiler's log as errors of the thread's record: NVRTC's "k.cu(8): error: ...", with the line and a caret below,
 * and the form of gcc and clang, "k.cu:8:3: error: ...". Any thread. */
#ifndef LE_COMPILE_LOG_H
#define LE_COMPILE_LOG_H
#include "base/status.h"

/* Replaces the thread's errors by those of the log; an error in `name`, whose text is `source`, has a place in it, one
 * of another file says where it is. Gives LEAT_PROGRAM. */
leat_status le_compile_log_fail(const char *log, const char *name, const char *source);
#endif
