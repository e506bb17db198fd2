/* Where CPython stores a thread's frames and their lines, by version. Offsets are in bytes.
 *
 * Versions 3.13 and later have a description of themselves at _PyRuntime; a table says where each number is in it. The
 * layouts of 3.9 to 3.12 are in another table. Free-threaded builds are not supported. */
#ifndef LE_SOURCE_PYTHON_LAYOUT_H
#define LE_SOURCE_PYTHON_LAYOUT_H
#include <stdbool.h>
#include <stdint.h>

enum { LE_PYTHON_NONE = 0xffff }; /* an offset: the field does not exist */

enum le_python_position {                    /* how a frame stores its current instruction */
                          LE_PYTHON_BYTES,   /* int: offset in bytes */
                          LE_PYTHON_UNITS,   /* int: offset in units of 2 bytes */
                          LE_PYTHON_POINTER, /* the address of the instruction, or of its last unit */
};

enum le_python_lines { LE_PYTHON_LNOTAB, LE_PYTHON_RANGES, LE_PYTHON_LOCATIONS };

struct le_python_layout {
    uint16_t minor;
    uint16_t thread_frame; /* in the thread's state: the innermost frame, or a structure that refers to it */
    uint16_t cframe_frame; /* in that structure: the innermost frame */
    uint16_t frame_previous, frame_code, frame_instruction;
    uint16_t frame_owner, owner_least; /* frame_owner: a byte; from owner_least on, the frame is not of Python code */
    uint16_t code_file, code_name, code_first_line, code_lines, code_start;
    uint16_t object_type;
    uint16_t bytes_size, bytes_data;
    uint16_t string_length, string_state, ascii_data, compact_data;
    uint8_t position; /* enum le_python_position */
    uint8_t lines;    /* enum le_python_lines */
};

/* Fills the layout of Python 3.minor. runtime: the address of its _PyRuntime. False: unknown or free-threaded. */
bool le_python_layout_find(unsigned minor, const void *runtime, struct le_python_layout *layout);
#endif
