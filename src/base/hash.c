/* A hash of bytes that multiplies and mixes 8-byte words, and a hash table of names. Pure functions; while a table
 * grows, only one thread may use it. */
#include "base/hash.h"
#include "base/arena.h"
#include <string.h>

#define MULTIPLIER_A 0x9e3779b97f4a7c15u
#define MULTIPLIER_B 0xd6e8feb86659fd93u

/* 8 bytes as a little-endian word. */
static uint64_t word_at(const unsigned char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The last all % 8 of the `all` bytes before `end`, as a little-endian word. */
static uint64_t rest_before(const unsigned char *end, size_t all) {
    uint64_t word = 0;
    if (all >= 8)
        return word_at(end - 8) >> (64 - 8 * (all % 8));
    for (const unsigned char *at = end; at > end - all;)
        word = word << 8 | *--at;
    return word;
}

/* A one-to-one function in which every bit of value affects every bit of the result. */
static uint64_t scramble(uint64_t value) {
    value = (value ^ (value >> 32)) * MULTIPLIER_B;
    value = (value ^ (value >> 32)) * MULTIPLIER_B;
    return value ^ (value >> 32);
}

uint64_t le_hash(const void *bytes, size_t length, uint64_t seed) {
    const unsigned char *at = bytes;
    uint64_t hash = scramble(seed ^ (length * MULTIPLIER_A));
    for (size_t left = length; left >= 8; at += 8, left -= 8) {
        hash = (hash ^ word_at(at)) * MULTIPLIER_A;
        hash ^= hash >> 29;
    }
    if (length % 8)
        hash = (hash ^ rest_before(at + length % 8, length)) * MULTIPLIER_A;
    return scramble(hash);
}

/* The slot with the name, or the empty slot where it belongs. The capacity is a power of two, and the table is never
 * full. */
static struct le_name_slot *find_slot(const struct le_names *names, const char *name, size_t length) {
    size_t mask = (size_t)names->capacity - 1;
    for (size_t k = (size_t)le_hash(name, length, 0) & mask;; k = (k + 1) & mask) {
        struct le_name_slot *slot = &names->slots[k];
        if (!slot->name)
            return slot;
        if (slot->length == length && (length == 0 || memcmp(slot->name, name, length) == 0))
            return slot;
    }
}

int le_names_get(const struct le_names *names, const char *name, size_t length) {
    if (names->capacity == 0)
        return -1;
    const struct le_name_slot *slot = find_slot(names, name, length);
    return slot->name ? slot->value : -1;
}

static void grow_table(struct le_arena *arena, struct le_names *names) {
    int capacity = names->capacity ? 2 * names->capacity : 16;
    struct le_names larger = {.slots = LE_NEW_ARRAY(arena, capacity, struct le_name_slot), .capacity = capacity};
    for (int k = 0; k < names->capacity; k++) {
        const struct le_name_slot *slot = &names->slots[k];
        if (slot->name)
            *find_slot(&larger, slot->name, slot->length) = *slot;
    }
    larger.count = names->count;
    *names = larger;
}

void le_names_put(struct le_arena *arena, struct le_names *names, const char *name, size_t length, int value) {
    if (names->count >= names->capacity / 2)
        grow_table(arena, names);
    struct le_name_slot *slot = find_slot(names, name, length);
    if (!slot->name)
        names->count++;
    *slot = (struct le_name_slot){.name = name, .length = length, .value = value};
}
