/* Locations in code that are known, for source.c: a map from 64-bit keys to numbers, and the log of records that
 * describe them.
 *
 * Keys are hashes of everything that identifies a thing, and things with equal keys are assumed to be equal. Lookups
 * take no lock and never wait. Additions take the lock for some microseconds. All memory is one mapping, made at the
 * start. When a part of it is full, nothing more is added, and a NOTE says so. */
#ifndef LE_SOURCE_TABLE_H
#define LE_SOURCE_TABLE_H
#include "trace/format.h"
#include <stdbool.h>
#include <stdatomic.h>

enum { LE_SOURCE_FRAMES = 32, LE_SOURCE_TEXT_BYTES = 1000, LE_SOURCE_ADDRESSES = 6 };

/* Each kind of thing has its own kind of key. */
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
    uint32_t length; /* 0: unknown */
    char bytes[LE_SOURCE_TEXT_BYTES];
};
struct le_source_location {
    struct le_source_text function, file;
    uint32_t line, language;
};

/* A source that has a number, and whose locations the writer must still find from its return addresses, innermost
 * first. */
struct le_source_deferred {
    uint64_t key;
    uint32_t source, count;
    uintptr_t addresses[LE_SOURCE_ADDRESSES];
};

struct le_source_table;
struct le_source_table *le_source_table_new(_Atomic uint32_t *texts); /* NULL: no memory */
void le_source_table_free(struct le_source_table *table);

uint64_t le_source_key(enum le_source_key_kind kind, const void *bytes, size_t length);
/* The same for a few words, faster. */
uint64_t le_source_key_of_words(enum le_source_key_kind kind, const uint64_t *words, int count);
uint32_t le_source_table_find(const struct le_source_table *table, uint64_t key);      /* 0: not found */
void le_source_table_set(struct le_source_table *table, uint64_t key, uint32_t value); /* adds or changes */
bool le_source_table_is_full(const struct le_source_table *table);

/* Adds a location under a key and returns its number; 0: the table is full. */
uint32_t le_source_table_locate(struct le_source_table *table, uint64_t key, const struct le_source_location *location);
/* Adds the source at locations[0], called from locations[1], ..., under a key and returns its number; 0: the table is
 * full. */
uint32_t le_source_table_chain(struct le_source_table *table, uint64_t key, const uint32_t *locations, int count);
/* The same for return addresses, which the writer resolves later. */
uint32_t le_source_table_defer(struct le_source_table *table, uint64_t key, const uintptr_t *addresses, int count);
/* Returns the next deferred source, if there is one; le_source_table_define then defines it. For one thread. */
bool le_source_table_deferred(struct le_source_table *table, struct le_source_deferred *deferred);
void le_source_table_define(struct le_source_table *table, uint32_t source, const uint32_t *locations, int count);

void le_source_table_note(struct le_source_table *table, const char *text); /* each text only once */
size_t le_source_table_take(struct le_source_table *table, size_t most_bytes, const void **records);
#endif
