#ifndef LE_HASH_H
#define LE_HASH_H
#include <stddef.h>
#include <stdint.h>
/* 64 bits of the bytes, chained through seed; the same on every machine; no defence against chosen collisions. */
uint64_t le_hash(const void *bytes, size_t length, uint64_t seed);

/* Names to indices, open addressing; the names are the caller's and stay valid. {0} is empty. Memory is an arena's. */
struct le_arena;
struct le_names {
    struct le_name_slot {
        const char *name;
        size_t length;
        int value;
    } * slots;
    int count, capacity;
};
int le_names_get(const struct le_names *names, const char *name, size_t length); /* -1: absent */
void le_names_put(struct le_arena *arena, struct le_names *names, const char *name, size_t length, int value);
#endif
