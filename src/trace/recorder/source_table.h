/* What is known of places in code, for source.c: keys of 64 bits to numbers, and the log of records that tell them.
 *
 * Keys are hashes over all that makes two things one; equal keys are taken for equal things. Looking up takes no lock
 * and never waits. What adds takes the lock for some microseconds. All memory is one mapping, made at the start and
 * filled from its beginning; when a part of it is full nothing more is added, which a NOTE says. */
#ifndef LE_SOURCE_TABLE_H
#define LE_SOURCE_TABLE_H
#include "trace/format.h"
#include <stdbool.h>
#include <stdatomic.h>

enum { LE_SOURCE_FRAMES = 32, LE_SOURCE_TEXT_BYTES = 1000, LE_SOURCE_ADDRESSES = 6 };

/* Keys of different things differ in their kinds. */
enum le_source_key_kind {
    LE_KEY_TEXT = 1,
    LE_KEY_LOCATION,
    LE_KEY_NODE,
    LE_KEY_CHAIN,
    LE_KEY_STEP,
    LE_KEY_ADDRESS,
    LE_KEY_NOTE
};

struct le_source_text {
    uint32_t length; /* 0: not known */
    char bytes[LE_SOURCE_TEXT_BYTES];
};
struct le_source_location {
    struct le_source_text function, file;
    uint32_t line, language;
};

/* A source whose number is given and whose places somebody has to find out: return addresses, the innermost first. */
struct le_source_deferred {
    uint64_t key;
    uint32_t source, count;
    uintptr_t addresses[LE_SOURCE_ADDRESSES];
};

struct le_source_table;
struct le_source_table *le_source_table_new(_Atomic uint32_t *texts); /* NULL: no memory */
void le_source_table_free(struct le_source_table *table);

uint64_t le_source_key(enum le_source_key_kind kind, const void *bytes, size_t length);
/* The same of a few words, faster. */
uint64_t le_source_key_of_words(enum le_source_key_kind kind, const uint64_t *words, int count);
uint32_t le_source_table_find(const struct le_source_table *table, uint64_t key);      /* 0: not there */
void le_source_table_set(struct le_source_table *table, uint64_t key, uint32_t value); /* adds or changes */
bool le_source_table_is_full(const struct le_source_table *table);

/* The number of a place, which key finds from now on; 0: full. */
uint32_t le_source_table_locate(struct le_source_table *table, uint64_t key, const struct le_source_location *location);
/* The number of the source that is at places[0], called from places[1], ...; key finds it from now on. 0: full. */
uint32_t le_source_table_chain(struct le_source_table *table, uint64_t key, const uint32_t *locations, int count);
/* The same of addresses that the writer looks into later. */
uint32_t le_source_table_defer(struct le_source_table *table, uint64_t key, const uintptr_t *addresses, int count);
/* The next one that was deferred, if there is one; then le_source_table_define says what it is. By one thread. */
bool le_source_table_deferred(struct le_source_table *table, struct le_source_deferred *deferred);
void le_source_table_define(struct le_source_table *table, uint32_t source, const uint32_t *locations, int count);

void le_source_table_note(struct le_source_table *table, const char *text); /* a text only once */
size_t le_source_table_take(struct le_source_table *table, size_t most_bytes, const void **records);
#endif
