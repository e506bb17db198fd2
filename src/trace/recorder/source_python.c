/* See source_python.h. Reads CPython's frames, code objects and strings by a layout. Pointers are checked before they
 * are followed, and a code object must have the interpreter's type for code. Anything that does not look right is left
 * out. */
#include "trace/recorder/source_python.h"
#include "trace/recorder/source_lines.h"
#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const char *pointer_at(const char *base, uint16_t offset) {
    uintptr_t pointer;
    memcpy(&pointer, base + offset, sizeof pointer);
    return (const char *)(pointer & ~(uintptr_t)3); /* the low bits may be a tag */
}

static int64_t word_at(const char *base, uint16_t offset) {
    int64_t word;
    memcpy(&word, base + offset, sizeof word);
    return word;
}

static int32_t int_at(const char *base, uint16_t offset) {
    int32_t number;
    memcpy(&number, base + offset, sizeof number);
    return number;
}

static bool is_address(const char *pointer) {
    return (uintptr_t)pointer > 65535 && (uintptr_t)pointer % sizeof(void *) == 0;
}

/* From "3.11.7 (main, ...", makes "Python 3.11.7" and returns 11; 0: not Python 3. */
static unsigned read_version(const char *version, char *language, size_t size_bytes) {
    size_t length = strcspn(version, " ");
    if (length + sizeof "Python " > size_bytes)
        return 0;
    memcpy(language, "Python ", 7);
    memcpy(language + 7, version, length);
    language[7 + length] = 0;
    if (version[0] != '3' || version[1] != '.' || !isdigit((unsigned char)version[2]))
        return 0;
    return (unsigned)strtoul(version + 2, NULL, 10);
}

static void *find_symbol(const char *name) {
    return dlsym(RTLD_DEFAULT, name);
}

void le_python_find(struct le_python *python) {
    *python = (struct le_python){0};
    const char *(*version)(void) = NULL;
    *(void **)&version = find_symbol("Py_GetVersion");
    if (!version)
        return;
    unsigned minor = read_version(version(), python->language, sizeof python->language);
    *(void **)&python->this_thread = find_symbol("PyGILState_GetThisThreadState");
    *(void **)&python->is_finalizing = find_symbol(minor >= 13 ? "Py_IsFinalizing" : "_Py_IsFinalizing");
    python->code_type = find_symbol("PyCode_Type");
    python->is_readable = python->this_thread && python->is_finalizing && python->code_type &&
                          le_python_layout_find(minor, find_symbol("_PyRuntime"), &python->layout);
}

/* Negative: the frame has not started running. */
static int64_t instruction_offset(const struct le_python_layout *layout, const char *frame, const char *code) {
    if (layout->position == LE_PYTHON_BYTES)
        return int_at(frame, layout->frame_instruction);
    if (layout->position == LE_PYTHON_UNITS)
        return 2 * (int64_t)int_at(frame, layout->frame_instruction);
    return word_at(frame, layout->frame_instruction) - (int64_t)(uintptr_t)(code + layout->code_start);
}

/* Other code may have the same address later, so the code's strings and lines are part of the key. */
static uint64_t frame_key(const struct le_python_layout *layout, const char *code, int64_t offset) {
    const char *lines = pointer_at(code, layout->code_lines);
    uint64_t words[8] = {
        (uintptr_t)code,
        (uint64_t)offset,
        (uint64_t)word_at(code, layout->code_file),
        (uint64_t)word_at(code, layout->code_name),
        (uintptr_t)lines,
        (uint64_t)int_at(code, layout->code_first_line),
    };
    if (is_address(lines)) {
        words[6] = (uint64_t)word_at(lines, layout->bytes_size);
        words[7] = words[6] >= sizeof words[7] ? (uint64_t)word_at(lines, layout->bytes_data) : 0;
    }
    return le_source_key_of_words(LE_KEY_LOCATION, words, 8);
}

/* The code object of the frame; NULL: not a frame of Python code. */
static const char *frame_code(const struct le_python *python, const char *frame) {
    const struct le_python_layout *layout = &python->layout;
    if (layout->frame_owner != LE_PYTHON_NONE && (unsigned char)frame[layout->frame_owner] >= layout->owner_least)
        return NULL;
    const char *code = pointer_at(frame, layout->frame_code);
    return is_address(code) && pointer_at(code, layout->object_type) == python->code_type ? code : NULL;
}

static const char *innermost_frame(const struct le_python *python) {
    const char *thread = python->this_thread();
    if (!is_address(thread) || python->is_finalizing())
        return NULL;
    const char *frame = pointer_at(thread, python->layout.thread_frame);
    if (python->layout.cframe_frame != LE_PYTHON_NONE && is_address(frame))
        frame = pointer_at(frame, python->layout.cframe_frame);
    return frame;
}

int le_python_frames(const struct le_python *python, struct le_python_frame *frames) {
    const char *frame = innermost_frame(python);
    int count = 0;
    for (int k = 0; k < 2 * LE_SOURCE_FRAMES && count < LE_SOURCE_FRAMES && is_address(frame); k++) {
        const char *code = frame_code(python, frame);
        int64_t offset = code ? instruction_offset(&python->layout, frame, code) : -1;
        if (offset >= 0)
            frames[count++] = (struct le_python_frame){
                .key = frame_key(&python->layout, code, offset), .code = code, .offset = offset};
        frame = pointer_at(frame, python->layout.frame_previous);
    }
    return count;
}

static void put_utf8(struct le_source_text *text, uint32_t point) {
    char *to = text->bytes + text->length;
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        point = 0xfffd;
    int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const unsigned char heads[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(heads[more] | (point >> (6 * more)));
    for (int k = 1; k <= more; k++)
        to[k] = (char)(0x80 | ((point >> (6 * (more - k))) & 0x3f));
    text->length += (uint32_t)more + 1;
}

static uint32_t code_point(const char *data, unsigned kind, int64_t k) {
    uint32_t point = 0;
    memcpy(&point, data + (size_t)k * kind, kind); /* kind: bytes per character */
    return point;
}

/* Copies a string as UTF-8, as far as there is room. Bits of its state: 2 of interning, 3 of kind, 1 compact, 1 ASCII.
 */
static void read_string(const struct le_python_layout *layout, const char *string, struct le_source_text *text) {
    text->length = 0;
    if (!is_address(string))
        return;
    unsigned state = (unsigned)int_at(string, layout->string_state), kind = state >> 2 & 7;
    int64_t length = word_at(string, layout->string_length);
    if (!(state >> 5 & 1) || (kind != 1 && kind != 2 && kind != 4))
        return;
    const char *data = string + (state >> 6 & 1 ? layout->ascii_data : layout->compact_data);
    for (int64_t k = 0; k < length && text->length + 4 <= LE_SOURCE_TEXT_BYTES; k++)
        put_utf8(text, code_point(data, kind, k));
}

void le_python_describe(const struct le_python *python, const struct le_python_frame *frame,
                        struct le_source_location *location) {
    const struct le_python_layout *layout = &python->layout;
    const char *lines = pointer_at(frame->code, layout->code_lines);
    read_string(layout, pointer_at(frame->code, layout->code_name), &location->function);
    read_string(layout, pointer_at(frame->code, layout->code_file), &location->file);
    location->language = LE_TRACE_PYTHON;
    location->line = 0;
    if (is_address(lines) && word_at(lines, layout->bytes_size) >= 0) {
        struct le_line_table table = {.bytes = (const unsigned char *)lines + layout->bytes_data,
                                      .length = (size_t)word_at(lines, layout->bytes_size),
                                      .first_line = int_at(frame->code, layout->code_first_line)};
        location->line = le_line_at(&table, layout->lines, frame->offset);
    }
}
