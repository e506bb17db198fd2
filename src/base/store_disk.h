/* The folder of a store: files, their headers, who goes first. Not a policy of when: store.c's. A reason is written
 * where something cannot be used, and failures of the system are none of the caller's. Any thread: a folder's fields do
 * not change after le_disk_open. */
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
    int64_t used_ns; /* since 1970 */
};
struct le_disk_files { /* an array from le_alloc */
    struct le_disk_file *at;
    size_t count, capacity;
    uint64_t size_bytes;
};
enum le_disk_open_result { LE_DISK_OPEN, LE_DISK_ABSENT, LE_DISK_REFUSED };
enum le_disk_read_result { LE_DISK_FOUND, LE_DISK_MISSED, LE_DISK_DAMAGED };

/* Opens the folder; with create, makes it and those above it. REFUSED: reason says why. */
enum le_disk_open_result le_disk_open(const char *path, bool create, int *folder, char *reason);
/* DAMAGED: it was removed. */
enum le_disk_read_result le_disk_read(int folder, struct le_disk_key key, void **value, size_t *value_bytes);
/* file: what it is called now, and how large it is. */
bool le_disk_write(int folder, const char *label, struct le_disk_key key, const void *value, size_t value_bytes,
                   struct le_disk_file *file, char *reason);
/* What a file of this key and value takes; false on overflow. */
bool le_disk_size(size_t key_bytes, size_t value_bytes, size_t *size_bytes);
/* All entries, the one that goes next first. Temporary files that nobody writes any more are removed. 0, or an errno
 * (ENOMEM: no memory). */
int le_disk_scan(int folder, struct le_disk_files *files);
bool le_disk_remove(int folder, const char *name);
/* What le_store_list tells of a file; false: it is gone. */
bool le_disk_describe(int folder, const struct le_disk_file *file, leat_cache_entry *entry);
#endif
