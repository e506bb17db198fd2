/* Formats numbers for people: "1.25 ms", "40.0 MB", "3,000", "12 %". Texts are allocated from the arena. */
#ifndef LE_FORMAT_FIGURES_H
#define LE_FORMAT_FIGURES_H
#include "base/arena.h"
#include <stdint.h>

const char *le_format_time(struct le_arena *arena, uint64_t time_ns);
const char *le_format_bytes(struct le_arena *arena, uint64_t bytes);
const char *le_format_rate(struct le_arena *arena, uint64_t bytes, uint64_t time_ns); /* GB/s */
const char *le_format_count(struct le_arena *arena, uint64_t count);
const char *le_format_counted(struct le_arena *arena, uint64_t count, const char *one, const char *many); /* "1 copy" */
const char *le_format_percent(struct le_arena *arena, uint64_t part, uint64_t whole);
#endif
