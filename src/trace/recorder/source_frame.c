/* See source_frame.h. Interprets the instructions of .eh_frame and keeps only their effect on two registers: the
 * frame's base (DWARF's CFA) and the frame pointer. Of expressions, only the one that compilers emit for a realigned
 * stack is supported. Anything else that is not supported ends the chain. The information belongs to a loaded module
 * and is trusted, as the unwinder trusts it. */
#include "trace/recorder/source_frame.h"
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)

enum { FRAME_POINTER = 6, STACK_POINTER = 7, RETURN_ADDRESS = 16, MOST_REMEMBERED = 8 };
enum { OP_DEREF = 0x06, OP_FRAME_OFFSET = 0x70 + FRAME_POINTER };

/* From libgcc or libunwind; no header declares it. */
struct unwind_bases {
    void *text, *data, *function;
};
const void *_Unwind_Find_FDE(void *address, struct unwind_bases *bases);

struct reader {
    const unsigned char *at, *end;
};

/* The rules that hold from some instruction of the function on. */
struct unwind_row {
    unsigned base_register;
    int64_t offset;
    bool is_expression; /* the base is the value stored at frame pointer + offset */
    bool is_last;
    enum le_frame_saved saved;
    int64_t saved_offset;
};

struct unwind_rows {
    struct unwind_row now, initial, remembered[MOST_REMEMBERED];
    unsigned remembered_count;
    uint64_t code_factor;
    int64_t data_factor;
    uintptr_t location, until;
    bool is_unknown;
};

static uint64_t read_bytes(struct reader *reader, size_t bytes) {
    uint64_t value = 0;
    if ((size_t)(reader->end - reader->at) < bytes) {
        reader->at = reader->end;
        return 0;
    }
    memcpy(&value, reader->at, bytes);
    reader->at += bytes;
    return value;
}

static uint64_t read_unsigned(struct reader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0; reader->at < reader->end; shift += 7) {
        unsigned char byte = *reader->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128))
            break;
    }
    return value;
}

static int64_t read_signed(struct reader *reader) {
    uint64_t value = 0;
    unsigned shift = 0;
    while (reader->at < reader->end) {
        unsigned char byte = *reader->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 127) << shift;
        shift += 7;
        if (byte & 128)
            continue;
        if (byte & 64 && shift < 64)
            value |= ~(uint64_t)0 << shift;
        break;
    }
    return (int64_t)value;
}

static struct reader read_block(struct reader *reader) {
    uint64_t length = read_unsigned(reader);
    if (length > (uint64_t)(reader->end - reader->at))
        length = (uint64_t)(reader->end - reader->at);
    struct reader block = {.at = reader->at, .end = reader->at + length};
    reader->at = block.end;
    return block;
}

/* The size of an address in this encoding; 0: not supported. */
static size_t encoded_bytes(unsigned encoding) {
    static const unsigned char bytes[16] = {8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8, 0, 0, 0};
    return encoding == 0xff || encoding == 0x50 ? 0 : bytes[encoding & 15];
}

/* Reads an expression "frame pointer + n"; with is_deref, "the value at frame pointer + n". */
static bool read_expression(struct reader block, bool is_deref, int64_t *offset) {
    if (read_bytes(&block, 1) != OP_FRAME_OFFSET)
        return false;
    *offset = read_signed(&block);
    if (is_deref && read_bytes(&block, 1) != OP_DEREF)
        return false;
    return block.at == block.end;
}

static void save_at(struct unwind_rows *rows, uint64_t which, int64_t offset) {
    if (which == FRAME_POINTER) {
        rows->now.saved = LE_SAVED_IN_CALLER;
        rows->now.saved_offset = offset;
    } else if (which == RETURN_ADDRESS && offset != -8)
        rows->is_unknown = true;
}

/* The register's value is undefined, or saved in an unsupported way. */
static void lose_register(struct unwind_rows *rows, uint64_t which, bool is_undefined) {
    if (which == FRAME_POINTER)
        rows->now.saved = LE_SAVED_UNKNOWN;
    if (which == RETURN_ADDRESS)
        *(is_undefined ? &rows->now.is_last : &rows->is_unknown) = true;
}

static void save_by_expression(struct unwind_rows *rows, uint64_t which, struct reader block) {
    int64_t offset = 0;
    if (which == FRAME_POINTER && read_expression(block, false, &offset)) {
        rows->now.saved = LE_SAVED_IN_FRAME;
        rows->now.saved_offset = offset;
    } else
        lose_register(rows, which, false);
}

static void restore_register(struct unwind_rows *rows, uint64_t which) {
    if (which == FRAME_POINTER) {
        rows->now.saved = rows->initial.saved;
        rows->now.saved_offset = rows->initial.saved_offset;
    }
}

static void set_base(struct unwind_rows *rows, uint64_t which, int64_t offset) {
    rows->now.base_register = (unsigned)which;
    rows->now.offset = offset;
    rows->now.is_expression = false;
}

static void remember_or_restore(struct unwind_rows *rows, bool is_back) {
    if (!is_back && rows->remembered_count < MOST_REMEMBERED)
        rows->remembered[rows->remembered_count++] = rows->now;
    else if (is_back && rows->remembered_count > 0)
        rows->now = rows->remembered[--rows->remembered_count];
    else
        rows->is_unknown = true;
}

/* Runs an instruction that defines the base; false: it is another instruction. */
static bool run_base(struct unwind_rows *rows, unsigned code, struct reader *reader) {
    uint64_t which = rows->now.base_register;
    switch (code) {
    case 0x0c: /* def_cfa */
        which = read_unsigned(reader);
        set_base(rows, which, (int64_t)read_unsigned(reader));
        return true;
    case 0x12: /* def_cfa_sf */
        which = read_unsigned(reader);
        set_base(rows, which, read_signed(reader) * rows->data_factor);
        return true;
    case 0x0d: /* def_cfa_register */
        set_base(rows, read_unsigned(reader), rows->now.offset);
        return true;
    case 0x0e: /* def_cfa_offset */
        set_base(rows, which, (int64_t)read_unsigned(reader));
        return true;
    case 0x13: /* def_cfa_offset_sf */
        set_base(rows, which, read_signed(reader) * rows->data_factor);
        return true;
    case 0x0f: /* def_cfa_expression */
        rows->now.is_expression = read_expression(read_block(reader), true, &rows->now.offset);
        rows->now.base_register = RETURN_ADDRESS; /* a register that cannot be a base */
        return true;
    default:
        return false;
    }
}

/* Runs an instruction about where registers are saved. */
static void run_saved(struct unwind_rows *rows, unsigned code, struct reader *reader) {
    uint64_t which = code < 0x40 ? code == 0 || code == 0x0a || code == 0x0b ? 0 : read_unsigned(reader) : code & 63;
    switch (code < 0x40 ? code : code & 0xc0) {
    case 0x00:
        break;
    case 0x80: /* offset */
    case 0x05:
        save_at(rows, which, (int64_t)read_unsigned(reader) * rows->data_factor);
        break;
    case 0x11:
        save_at(rows, which, read_signed(reader) * rows->data_factor);
        break;
    case 0xc0: /* restore */
    case 0x06:
        restore_register(rows, which);
        break;
    case 0x07:
        lose_register(rows, which, true);
        break;
    case 0x08: /* same_value */
        if (which == FRAME_POINTER)
            rows->now.saved = LE_SAVED_SAME;
        break;
    case 0x0a:
        remember_or_restore(rows, false);
        break;
    case 0x0b:
        remember_or_restore(rows, true);
        break;
    case 0x10: /* expression */
        save_by_expression(rows, which, read_block(reader));
        break;
    case 0x2e:
        break; /* GNU_args_size */
    default:
        rows->is_unknown = true;
    }
}

static void run_instructions(struct unwind_rows *rows, struct reader *reader) {
    while (reader->at < reader->end && !rows->is_unknown && rows->location < rows->until) {
        unsigned code = *reader->at++;
        if ((code & 0xc0) == 0x40)
            rows->location += (code & 63) * rows->code_factor;
        else if (code >= 0x02 && code <= 0x04)
            rows->location += read_bytes(reader, (size_t)1 << (code - 2)) * rows->code_factor;
        else if (!run_base(rows, code, reader))
            run_saved(rows, code, reader);
    }
}

/* The bytes of an entry after its length. False: the end of the table, or the 64-bit form, which no linker emits. */
static bool open_entry(const unsigned char *at, struct reader *entry) {
    uint32_t length;
    memcpy(&length, at, sizeof length);
    *entry = (struct reader){.at = at + sizeof length, .end = at + sizeof length + length};
    return length > 0 && length < 0xfffffff0;
}

/* Runs the common entry (CIE): sets the factors and the initial row. has_data, encoding: the form of the function's own
 * entry (FDE). */
static void run_common(struct unwind_rows *rows, const unsigned char *at, bool *has_data, unsigned *encoding) {
    struct reader entry;
    rows->is_unknown = !open_entry(at, &entry);
    if (rows->is_unknown)
        return;
    read_bytes(&entry, 4);
    unsigned version = (unsigned)read_bytes(&entry, 1);
    const char *letters = (const char *)entry.at;
    entry.at += strnlen(letters, (size_t)(entry.end - entry.at)) + 1;
    rows->code_factor = read_unsigned(&entry);
    rows->data_factor = read_signed(&entry);
    uint64_t return_register = version == 1 ? read_bytes(&entry, 1) : read_unsigned(&entry);
    rows->is_unknown = return_register != RETURN_ADDRESS || (letters[0] && letters[0] != 'z');
    *encoding = 0;
    *has_data = letters[0] == 'z';
    struct reader data = *has_data ? read_block(&entry) : (struct reader){0};
    for (const char *letter = letters; *letter && !rows->is_unknown; letter++) {
        if (*letter == 'R')
            *encoding = (unsigned)read_bytes(&data, 1);
        else if (*letter == 'L')
            read_bytes(&data, 1);
        else if (*letter == 'P')
            read_bytes(&data, encoded_bytes((unsigned)read_bytes(&data, 1)));
        else if (*letter != 'z')
            rows->is_unknown = true; /* such as 'S', a signal frame */
    }
    run_instructions(rows, &entry);
    rows->initial = rows->now;
}

static bool is_offset_within(int64_t offset, int64_t most) {
    return offset % 8 == 0 && offset > -most && offset < most;
}

static struct le_frame_step step_of(const struct unwind_row *row) {
    struct le_frame_step step = {.saved = (uint8_t)row->saved, .offset = (int32_t)row->offset};
    if (row->is_last || !is_offset_within(row->offset, 1 << 17))
        return step;
    step.base = row->is_expression                    ? LE_FRAME_DEREF
                : row->base_register == STACK_POINTER ? LE_FRAME_STACK
                : row->base_register == FRAME_POINTER ? LE_FRAME_FRAME
                                                      : LE_FRAME_END;
    if (!is_offset_within(row->saved_offset, 1 << 9))
        step.saved = LE_SAVED_UNKNOWN;
    else
        step.saved_offset = (int32_t)row->saved_offset;
    return step;
}

bool le_frame_is_readable(void) {
    return true;
}

struct le_frame_step le_frame_step_find(uintptr_t return_address) {
    struct le_frame_step end = {.base = LE_FRAME_END};
    struct unwind_bases bases = {0};
    const unsigned char *own = _Unwind_Find_FDE((void *)(return_address - 1), &bases);
    struct reader entry;
    if (!own || !open_entry(own, &entry))
        return end;
    struct unwind_rows rows = {.until = 1};
    const unsigned char *back = entry.at;
    bool has_data = false;
    unsigned encoding = 0;
    run_common(&rows, back - (uint32_t)read_bytes(&entry, 4), &has_data, &encoding);
    size_t address_bytes = encoded_bytes(encoding);
    if (rows.is_unknown || !address_bytes)
        return end;
    read_bytes(&entry, 2 * address_bytes);
    if (has_data)
        read_block(&entry);
    rows.location = (uintptr_t)bases.function;
    rows.until = return_address;
    run_instructions(&rows, &entry);
    return rows.is_unknown ? end : step_of(&rows.now);
}

#else

bool le_frame_is_readable(void) {
    return false;
}

struct le_frame_step le_frame_step_find(uintptr_t return_address) {
    (void)return_address;
    return (struct le_frame_step){.base = LE_FRAME_END};
}

#endif
