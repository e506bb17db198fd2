/* Turns a compiler's log into the thread's errors. Reads NVRTC's form, "k.cu(8): error: ...", with the line and a caret
 * below, and the form of gcc and clang, "k.cu:8:3: error: ...". Any thread. */
#ifndef LE_COMPILE_LOG_H
#define LE_COMPILE_LOG_H
#include "base/status.h"

/* Replaces the thread's errors with those of the log. An error in `name`, whose text is `source`, gets a location in
 * it; an error in another file names the file and line in its message. Returns LEAT_PROGRAM. */
leat_status le_compile_log_fail(const char *log, const char *name, const char *source);
#endif
