/* Compiled code that is kept, in memory and in a folder of the user's own: entries of a key, a label and a value.
 *
 * A key is everything that changes the value. It is stored and compared whole; an entry's file name is only a hash of
 * it, and one of two keys with the same hash takes the other's place. What is kept is never needed: whatever goes wrong
 * (no folder, another user's, a full disk, no memory) is a miss or an entry that is not kept, and one note a store.
 *
 * On disk each entry is one file of a header, the key and the value under checksums, which find damage; against other
 * users it is ownership that protects: the folder is the effective user's, 0700 and no symbolic link, and so is each
 * file, 0600. A file is synced before it gets its name (new_file.h). Above a limit of bytes the
 * entries that were used longest ago go first. An entry that is damaged, or no file of the user's, is removed when
 * it is asked for. Any number of processes share a folder.
 *
 * A store may be used by several threads at once; whoever opened it closes it, after the last use. */
#ifndef LE_STORE_H
#define LE_STORE_H
#include "base/status.h"

enum { LE_STORE_LABEL_BYTES = sizeof((leat_cache_entry *)0)->label, LE_STORE_FOLDER_BYTES = 4096 };

struct le_store_options { /* {0} is a good default */
    const char *folder;   /* NULL: LEAT_CACHE_DIR, else $XDG_CACHE_HOME/leat, else $HOME/.cache/leat */
    size_t cap_bytes;     /* on disk; 0: LEAT_CACHE_CAP_BYTES (0 there: nothing on disk), else 1 GiB */
    size_t memory_bytes;  /* of this process that hold entries; 0: 64 MiB */
};
struct le_store;
/* options may be NULL. The folder is made when the first entry is put. LEAT_OUT_OF_MEMORY is the only failure. */
leat_status le_store_open(const struct le_store_options *options, struct le_store **store);
void le_store_close(struct le_store *store); /* NULL is fine */

/* The value kept under the key, a copy that the caller frees with le_free; false on a miss.
 * damaged, which may be NULL: whether it was one because the entry on disk was damaged. */
bool le_store_get(struct le_store *store, const void *key, size_t key_bytes, void **value, size_t *value_bytes,
                  bool *damaged);
/* Keeps a copy, in the place of what was there. label: what it is for, for people; cut at LE_STORE_LABEL_BYTES. */
void le_store_put(struct le_store *store, const char *label, const void *key, size_t key_bytes, const void *value,
                  size_t value_bytes);
/* An entry that went for the limit of bytes on disk, each told once; false: no more. */
bool le_store_evicted(struct le_store *store, leat_cache_entry *entry);
/* Why nothing, or not all, is kept: one line, given out once a store, which owns it; else NULL. */
const char *le_store_note(struct le_store *store);

/* The entries on disk, the next to go first; freed with le_free. A folder that is not there is empty; LEAT_FILE where
 * it cannot be used. */
leat_status le_store_list(struct le_store *store, leat_cache_entry **entries, size_t *count);
leat_status le_store_stat(struct le_store *store, leat_cache_info *info);
/* Removes all entries, in memory, too; what is no entry stays. info: what was removed. */
leat_status le_store_clear(struct le_store *store, leat_cache_info *removed);

/* What this store has done so far. */
struct le_store_counts {
    uint64_t memory_hits, disk_hits, misses, damaged; /* damaged: entries that were removed for it; also misses */
    uint64_t evicted;                                 /* from disk */
    size_t memory_bytes;
};
void le_store_counts(struct le_store *store, struct le_store_counts *counts);

/* A file in memory that holds the bytes and that nobody can change any more, closed on exec: for code that was checked
 * and is loaded as /proc/self/fd/N. The loader knows a library by that name: keep fd open as long as the library is
 * loaded, or the next one at the same number is taken for it. LEAT_UNSUPPORTED where the system has no such files. */
leat_status le_store_memfd(const void *bytes, size_t size_bytes, const char *name, int *fd);
#endif
