#ifndef LE_HASH_H
#define LE_HASH_H
#include <stddef.h>
#include <stdint.h>
/* A 64-bit hash of the bytes; seed chains several calls. The same on every machine. Not safe against chosen collisions.
 */
uint64_t le_hash(const void *bytes, size_t length, uint64_t seed);

/* A hash table from names to integers, with open addressing, in an arena. {0} is empty. The caller owns the names,
 * which must stay valid. */
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
