/* Python's frames of the calling thread, read from its memory. Never takes the GIL, never calls into the interpreter
 * but for two functions that read a variable each; changes nothing. What it reads is alive: the thread is inside of a
 * call that its frames made. */
#ifndef LE_SOURCE_PYTHON_H
#define LE_SOURCE_PYTHON_H
#include "trace/recorder/source_python_layout.h"
#include "trace/recorder/source_table.h"

struct le_python {
    bool is_readable;
    char language[32]; /* "Python 3.11.7"; empty: there is none */
    struct le_python_layout layout;
    void *(*this_thread)(void);
    int (*is_finalizing)(void);
    const void *code_type;
};

struct le_python_frame {
    uint64_t key; /* of the code and the place in it, whatever comes to lie at its address later */
    const char *code;
    int64_t offset; /* of the instruction, in bytes */
};

void le_python_find(struct le_python *python); /* in this process */
/* The innermost frames first, at most LE_SOURCE_FRAMES. 0: this thread runs no Python. */
int le_python_frames(const struct le_python *python, struct le_python_frame *frames);
void le_python_describe(const struct le_python *python, const struct le_python_frame *frame,
                        struct le_source_location *location);
#endif
