/* Where CPython keeps what tells a thread's frames and their lines, by version: offsets in bytes.
 *
 * 3.13 and later describe themselves at _PyRuntime; where that description has each number is our table. 3.9 to 3.12
 * are in a table. Free-threaded builds are not read. */
#ifndef LE_SOURCE_PYTHON_LAYOUT_H
#define LE_SOURCE_PYTHON_LAYOUT_H
#include <stdbool.h>
#include <stdint.h>

enum { LE_PYTHON_NONE = 0xffff }; /* an offset: there is no such thing */

enum le_python_position {                    /* what a frame has of the instruction that it is at */
                          LE_PYTHON_BYTES,   /* int: offset in bytes */
                          LE_PYTHON_UNITS,   /* int: offset in units of 2 bytes */
                          LE_PYTHON_POINTER, /* its address, or that of its last unit */
};

enum le_python_lines { LE_PYTHON_LNOTAB, LE_PYTHON_RANGES, LE_PYTHON_LOCATIONS };

struct le_python_layout {
    uint16_t minor;
    uint16_t thread_frame; /* in the thread's state: the innermost frame, */
    uint16_t cframe_frame; /* or a structure that has it there */
    uint16_t frame_previous, frame_code, frame_instruction;
    uint16_t frame_owner, owner_least; /* a byte; from this value on: not a frame of Python code */
    uint16_t code_file, code_name, code_first_line, code_lines, code_start;
    uint16_t object_type;
    uint16_t bytes_size, bytes_data;
    uint16_t string_length, string_state, ascii_data, compact_data;
    uint8_t position; /* enum le_python_position */
    uint8_t lines;    /* enum le_python_lines */
};

/* Fills the layout of Python 3.minor; runtime: the address of its _PyRuntime. False: not known, or free-threaded. */
bool le_python_layout_find(unsigned minor, const void *runtime, struct le_python_layout *layout);
#endif
