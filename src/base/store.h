/* Compiled code in a private folder of the user, shared by all of the user's processes. An entry is a key, a label and
 * a value.
 *
 * The key holds everything that the value depends on. It is stored and compared whole. An entry's file is named by the
 * key's hash; of two keys with the same hash, the later one replaces the earlier one. The store is only a cache: if
 * anything fails (no folder, another user's folder, a full disk, no memory), get misses or put stores nothing, and the
 * store gives one note.
 *
 * Each entry is one file with a header, the key and the value. Checksums detect damage. Ownership protects against
 * other users: the folder must belong to the effective user, have mode 0700 and not be a symbolic link; each file
 * likewise, with mode 0600. A file is synced before it gets its name (new_file.h). When the folder exceeds a limit of
 * bytes, the entries used longest ago are evicted. An entry that is damaged, or not a file of the user's, is removed
 * when it is looked up.
 *
 * Several threads may use a store at once. Whoever opened it closes it after the last use. */
#ifndef LE_STORE_H
#define LE_STORE_H
#include "base/status.h"

enum { LE_STORE_LABEL_BYTES = sizeof((leat_cache_entry *)0)->label, LE_STORE_FOLDER_BYTES = 4096 };

struct le_store_options { /* {0} is a valid default */
    const char *folder;   /* NULL: LEAT_CACHE_DIR, else $XDG_CACHE_HOME/leat, else $HOME/.cache/leat */
    size_t cap_bytes;     /* limit; 0: LEAT_CACHE_CAP_BYTES (0 in it disables the store), else 1 GiB */
};
struct le_store;
/* options may be NULL. The folder is created by the first put. Fails with LEAT_OUT_OF_MEMORY only. */
leat_status le_store_open(const struct le_store_options *options, struct le_store **store);
void le_store_close(struct le_store *store); /* NULL is fine */

/* The value of the key, in memory that the caller frees with le_free; false if there is none. *damaged (may be NULL):
 * there was an entry, but it was damaged. */
bool le_store_get(struct le_store *store, const void *key, size_t key_bytes, void **value, size_t *value_bytes,
                  bool *damaged);
/* Stores a value, replacing an earlier one. label: what the entry is for, shown to people; cut at
 * LE_STORE_LABEL_BYTES. */
void le_store_put(struct le_store *store, const char *label, const void *key, size_t key_bytes, const void *value,
                  size_t value_bytes);
/* An entry that was evicted because of the limit. Each is reported once; false: no more. */
bool le_store_evicted(struct le_store *store, leat_cache_entry *entry);
/* Why entries are not stored: one line, returned once per store, which owns it; else NULL. */
const char *le_store_note(struct le_store *store);

/* All entries, the next to be evicted first; freed with le_free. A missing folder has none; LEAT_FILE if the folder
 * cannot be used. */
leat_status le_store_list(struct le_store *store, leat_cache_entry **entries, size_t *count);
leat_status le_store_stat(struct le_store *store, leat_cache_info *info);
/* Removes all entries and leaves other files alone. removed: what was removed. */
leat_status le_store_clear(struct le_store *store, leat_cache_info *removed);

/* A sealed file in memory with these bytes, closed on exec: for code that was checked and is loaded as /proc/self/fd/N.
 * The loader identifies a library by that name: keep fd open as long as the library is loaded, or the loader takes the
 * next file with the same number for it. LEAT_UNSUPPORTED if the system has no such files. */
leat_status le_store_memfd(const void *bytes, size_t size_bytes, const char *name, int *fd);
#endif
