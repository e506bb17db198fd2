/* See source_lines.h. The three forms: pairs of steps (3.9), pairs of a range's length and its line (3.10), and entries
 * of several shapes that also have columns (3.11 and later). */
#include "trace/recorder/source_lines.h"

/* Pairs of a step of the offset and a step of the line that starts there. */
static int64_t line_by_steps(const struct le_line_table *table, int64_t offset) {
    int64_t line = table->first_line, at = 0;
    for (size_t k = 0; k + 1 < table->length; k += 2) {
        at += table->bytes[k];
        if (at > offset)
            break;
        line += (signed char)table->bytes[k + 1];
    }
    return line;
}

/* Consecutive ranges: a length, and the step to the line of the range; -128: the range has no line. */
static int64_t line_by_ranges(const struct le_line_table *table, int64_t offset) {
    int64_t line = table->first_line, end = 0;
    for (size_t k = 0; k + 1 < table->length; k += 2) {
        int step = (signed char)table->bytes[k + 1];
        end += table->bytes[k];
        if (step != -128)
            line += step;
        if (offset < end)
            return step == -128 ? 0 : line;
    }
    return 0;
}

/* Six bits per byte, lowest first; bit 6: more bytes follow. */
static uint64_t read_varint(const struct le_line_table *table, size_t at) {
    uint64_t value = 0;
    for (unsigned shift = 0; at < table->length && shift < 36; shift += 6, at++) {
        value |= (uint64_t)(table->bytes[at] & 63) << shift;
        if (!(table->bytes[at] & 64))
            break;
    }
    return value;
}

/* The step of the line in the entry at `at`. */
static int64_t entry_step(const struct le_line_table *table, size_t at) {
    unsigned shape = table->bytes[at] >> 3 & 15;
    if (shape >= 10 && shape <= 12)
        return shape - 10;
    if (shape != 13 && shape != 14)
        return 0;
    uint64_t value = read_varint(table, at + 1);
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* The first byte of an entry has bit 7 set. It has the entry's shape, and the number of 2-byte code units that the
 * entry covers. */
static int64_t line_by_locations(const struct le_line_table *table, int64_t offset) {
    int64_t line = table->first_line, end = 0;
    for (size_t k = 0; k < table->length; k++) {
        if (!(table->bytes[k] & 128))
            continue;
        end += 2 * ((table->bytes[k] & 7) + 1);
        line += entry_step(table, k);
        if (offset < end)
            return (table->bytes[k] >> 3 & 15) == 15 ? 0 : line;
    }
    return 0;
}

uint32_t le_line_at(const struct le_line_table *table, enum le_python_lines form, int64_t offset) {
    int64_t line = form == LE_PYTHON_LNOTAB   ? line_by_steps(table, offset)
                   : form == LE_PYTHON_RANGES ? line_by_ranges(table, offset)
                                              : line_by_locations(table, offset);
    return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}
