/* The folder of a store: its files, their headers, and the order of eviction. store.c decides when to evict. If
 * something cannot be used, the functions write a reason; they set no error record. Stateless: any thread. */
#ifndef LE_STORE_DISK_H
#define LE_STORE_DISK_H
#include "base/store.h"

enum { LE_DISK_NAME_BYTES = 24, LE_DISK_REASON_BYTES = 512 };
struct le_disk_key {
    const void *bytes;
    size_t size_bytes;
};
struct le_disk_file {
    char name[LE_DISK_NAME_BYTES];
    uint64_t size_bytes;
    int64_t used_ns; /* Unix time in ns */
};
struct le_disk_files { /* at: allocated with le_alloc */
    struct le_disk_file *at;
    size_t count, capacity;
    uint64_t size_bytes;
};
enum le_disk_open_result { LE_DISK_OPEN, LE_DISK_ABSENT, LE_DISK_REFUSED };
enum le_disk_read_result { LE_DISK_FOUND, LE_DISK_MISSED, LE_DISK_DAMAGED };

/* Opens the folder. create: creates it and its parents first. REFUSED: reason says why. */
enum le_disk_open_result le_disk_open(const char *path, bool create, int *folder, char *reason);
/* Reads the value of a key. DAMAGED: the entry was damaged and has been removed. */
enum le_disk_read_result le_disk_read(int folder, struct le_disk_key key, void **value, size_t *value_bytes);
/* Writes an entry. *file receives its name and size. */
bool le_disk_write(int folder, const char *label, struct le_disk_key key, const void *value, size_t value_bytes,
                   struct le_disk_file *file, char *reason);
/* The size of the file for this key and value; false on overflow. */
bool le_disk_size(size_t key_bytes, size_t value_bytes, size_t *size_bytes);
/* Lists all entries, the next to be evicted first, and removes abandoned temporary files. Returns 0 or an errno. */
int le_disk_scan(int folder, struct le_disk_files *files);
bool le_disk_remove(int folder, const char *name);
/* Reads the entry's description for le_store_list from a file; false if the file is gone. */
bool le_disk_describe(int folder, const struct le_disk_file *file, leat_cache_entry *entry);
#endif
