/* See source_python_layout.h. Tables of CPython's layouts, and the code that reads CPython's description of itself.
 * Offsets are those of 64-bit builds. */
#include "trace/recorder/source_python_layout.h"
#include <stddef.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* clang-format off */
static const struct le_python_layout layouts[] = {
    {.minor = 9, .thread_frame = 24, .cframe_frame = LE_PYTHON_NONE, .frame_previous = 24, .frame_code = 32, .frame_instruction = 104,
     .frame_owner = LE_PYTHON_NONE, .code_file = 104, .code_name = 112, .code_first_line = 40, .code_lines = 120, .code_start = LE_PYTHON_NONE,
     .object_type = 8, .bytes_size = 16, .bytes_data = 32, .string_length = 16, .string_state = 32, .ascii_data = 48, .compact_data = 72,
     .position = LE_PYTHON_BYTES, .lines = LE_PYTHON_LNOTAB},
    {.minor = 10, .thread_frame = 24, .cframe_frame = LE_PYTHON_NONE, .frame_previous = 24, .frame_code = 32, .frame_instruction = 96,
     .frame_owner = LE_PYTHON_NONE, .code_file = 104, .code_name = 112, .code_first_line = 40, .code_lines = 120, .code_start = LE_PYTHON_NONE,
     .object_type = 8, .bytes_size = 16, .bytes_data = 32, .string_length = 16, .string_state = 32, .ascii_data = 48, .compact_data = 72,
     .position = LE_PYTHON_UNITS, .lines = LE_PYTHON_RANGES},
    {.minor = 11, .thread_frame = 56, .cframe_frame = 8, .frame_previous = 48, .frame_code = 32, .frame_instruction = 56,
     .frame_owner = 69, .owner_least = 3, .code_file = 112, .code_name = 128, .code_first_line = 72, .code_lines = 136, .code_start = 184,
     .object_type = 8, .bytes_size = 16, .bytes_data = 32, .string_length = 16, .string_state = 32, .ascii_data = 48, .compact_data = 72,
     .position = LE_PYTHON_POINTER, .lines = LE_PYTHON_LOCATIONS},
    {.minor = 12, .thread_frame = 56, .cframe_frame = 0, .frame_previous = 8, .frame_code = 0, .frame_instruction = 56,
     .frame_owner = 70, .owner_least = 3, .code_file = 112, .code_name = 128, .code_first_line = 68, .code_lines = 136, .code_start = 192,
     .object_type = 8, .bytes_size = 16, .bytes_data = 32, .string_length = 16, .string_state = 32, .ascii_data = 40, .compact_data = 56,
     .position = LE_PYTHON_POINTER, .lines = LE_PYTHON_LOCATIONS},
};

/* The offset of each number, a uint64_t, in a version's description of itself. */
struct description {
    uint16_t minor;
    uint16_t thread_frame, frame_previous, frame_code, frame_instruction, frame_owner;
    uint16_t code_file, code_name, code_lines, code_first_line, code_start;
    uint16_t object_type, bytes_size, bytes_data, string_state, string_length, ascii_data;
};
static const struct description descriptions[] = {
    {.minor = 13, .thread_frame = 184, .frame_previous = 232, .frame_code = 240, .frame_instruction = 248, .frame_owner = 264,
     .code_file = 280, .code_name = 296, .code_lines = 304, .code_first_line = 312, .code_start = 344,
     .object_type = 360, .bytes_size = 520, .bytes_data = 528, .string_state = 544, .string_length = 552, .ascii_data = 560},
    {.minor = 14, .thread_frame = 208, .frame_previous = 256, .frame_code = 264, .frame_instruction = 272, .frame_owner = 288,
     .code_file = 320, .code_name = 336, .code_lines = 344, .code_first_line = 352, .code_start = 384,
     .object_type = 408, .bytes_size = 600, .bytes_data = 608, .string_state = 624, .string_length = 632, .ascii_data = 640},
    {.minor = 15, .thread_frame = 208, .frame_previous = 320, .frame_code = 328, .frame_instruction = 336, .frame_owner = 352,
     .code_file = 384, .code_name = 400, .code_lines = 408, .code_first_line = 416, .code_start = 448,
     .object_type = 472, .bytes_size = 696, .bytes_data = 704, .string_state = 720, .string_length = 728, .ascii_data = 736},
};
/* clang-format on */

enum { VERSION_AT = 8, FREE_THREADED_AT = 16 };

static uint64_t number_at(const void *runtime, uint16_t at) {
    uint64_t number;
    memcpy(&number, (const char *)runtime + at, sizeof number);
    return number;
}

/* False: the number is too large to be an offset in a structure. */
static bool read_offset(const void *runtime, uint16_t at, uint16_t *offset) {
    uint64_t number = number_at(runtime, at);
    *offset = (uint16_t)number;
    return number < 4096;
}

static bool read_description(const struct description *is, const void *runtime, struct le_python_layout *layout) {
    *layout = (struct le_python_layout){.minor = is->minor,
                                        .cframe_frame = LE_PYTHON_NONE,
                                        .owner_least = 3,
                                        .position = LE_PYTHON_POINTER,
                                        .lines = LE_PYTHON_LOCATIONS};
    const struct {
        uint16_t at, *offset;
    } fields[] = {
        {is->thread_frame, &layout->thread_frame},
        {is->frame_previous, &layout->frame_previous},
        {is->frame_code, &layout->frame_code},
        {is->frame_instruction, &layout->frame_instruction},
        {is->frame_owner, &layout->frame_owner},
        {is->code_file, &layout->code_file},
        {is->code_name, &layout->code_name},
        {is->code_lines, &layout->code_lines},
        {is->code_first_line, &layout->code_first_line},
        {is->code_start, &layout->code_start},
        {is->object_type, &layout->object_type},
        {is->bytes_size, &layout->bytes_size},
        {is->bytes_data, &layout->bytes_data},
        {is->string_state, &layout->string_state},
        {is->string_length, &layout->string_length},
        {is->ascii_data, &layout->ascii_data},
    };
    for (size_t k = 0; k < LENGTH(fields); k++)
        if (!read_offset(runtime, fields[k].at, fields[k].offset))
            return false;
    layout->compact_data =
        (uint16_t)(layout->ascii_data + 16); /* after the length and address of the string's UTF-8 form */
    return true;
}

static bool describes_itself(unsigned minor, const void *runtime) {
    if (!runtime || memcmp(runtime, "xdebugpy", 8) != 0)
        return false;
    return number_at(runtime, VERSION_AT) >> 16 == (0x300 | minor) && !number_at(runtime, FREE_THREADED_AT);
}

bool le_python_layout_find(unsigned minor, const void *runtime, struct le_python_layout *layout) {
    if (sizeof(void *) != 8)
        return false;
    for (size_t k = 0; k < LENGTH(layouts); k++)
        if (layouts[k].minor == minor) {
            *layout = layouts[k];
            return true;
        }
    for (size_t k = 0; k < LENGTH(descriptions); k++)
        if (descriptions[k].minor == minor)
            return describes_itself(minor, runtime) && read_description(&descriptions[k], runtime, layout);
    return false;
}
