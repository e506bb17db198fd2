/* Reads the calling thread's Python frames from memory. Never takes the GIL, changes nothing, and calls only two
 * functions of the interpreter, each of which reads a variable. The frames cannot disappear, because the thread is
 * inside a call that they made. */
#ifndef LE_SOURCE_PYTHON_H
#define LE_SOURCE_PYTHON_H
#include "trace/recorder/source_python_layout.h"
#include "trace/recorder/source_table.h"

struct le_python {
    bool is_readable;
    char language[32]; /* "Python 3.11.7"; empty: no Python in this process */
    struct le_python_layout layout;
    void *(*this_thread)(void);
    int (*is_finalizing)(void);
    const void *code_type;
};

struct le_python_frame {
    uint64_t key; /* identifies the code and the position in it, even if other code has the same address later */
    const char *code;
    int64_t offset; /* of the instruction in the code, in bytes */
};

void le_python_find(struct le_python *python); /* looks for Python in this process */
/* Returns how many frames it stored, innermost first, at most LE_SOURCE_FRAMES. 0: the thread is not running Python
 * code. */
int le_python_frames(const struct le_python *python, struct le_python_frame *frames);
void le_python_describe(const struct le_python *python, const struct le_python_frame *frame,
                        struct le_source_location *location);
#endif
