/* See format_figures.h. Numbers have three significant digits and the unit that fits. */
#include "trace/format_figures.h"
#include "base/status.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *scaled(struct le_arena *arena, double value, const char *const *units, int count) {
    int unit = 0;
    while (value >= 999.5 && unit + 1 < count) {
        value /= 1000;
        unit++;
    }
    int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return le_arena_format(arena, "%.*f %s", digits, value, units[unit]);
}

const char *le_format_time(struct le_arena *arena, uint64_t time_ns) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    return scaled(arena, (double)time_ns, units, ARRAY_LEN(units));
}

const char *le_format_bytes(struct le_arena *arena, uint64_t bytes) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    return scaled(arena, (double)bytes, units, ARRAY_LEN(units));
}

const char *le_format_rate(struct le_arena *arena, uint64_t bytes, uint64_t time_ns) {
    double rate = time_ns == 0 ? 0 : (double)bytes / (double)time_ns;
    return le_arena_format(arena, "%.*f GB/s", rate < 10 ? 1 : 0, rate);
}

const char *le_format_count(struct le_arena *arena, uint64_t count) {
    char digits[24], *text = le_arena_alloc(arena, 32);
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count), to = 0;
    for (int from = 0; from < length; from++) {
        if (from > 0 && (length - from) % 3 == 0)
            text[to++] = ',';
        text[to++] = digits[from];
    }
    return text;
}

const char *le_format_counted(struct le_arena *arena, uint64_t count, const char *one, const char *many) {
    return le_arena_format(arena, "%s %s", le_format_count(arena, count), count == 1 ? one : many);
}

const char *le_format_percent(struct le_arena *arena, uint64_t part, uint64_t whole) {
    double percent = whole == 0 ? 0 : 100 * (double)part / (double)whole;
    bool is_near_end = percent < 1 || (percent > 99 && percent < 99.95);
    return le_arena_format(arena, "%.*f %%", is_near_end ? 1 : 0, percent);
}
