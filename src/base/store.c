/* See store.h. This file decides when the folder is opened and when entries are evicted; store_disk.c reads and writes
 * the files. The folder stays open after its first use. The lock guards all fields except the options, and is never
 * held while a file is read or written. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/memory.h"
#include "base/environment.h"
#include "base/store.h"
#include "base/store_disk.h"
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_CAP_BYTES ((size_t)1 << 30)

/* Other processes add entries too, so the whole folder is scanned once in PUTS_BETWEEN_SCANS puts. When the limit is
 * exceeded, 1 / FREED_PART of it is freed in addition, so that the next puts need no scan. */
enum { PUTS_BETWEEN_SCANS = 32, FREED_PART = 16 };

/* An entry that was removed because of the limit, until le_store_evicted reports it. */
struct evicted {
    struct evicted *next;
    leat_cache_entry entry;
};

struct le_store {
    char path[LE_STORE_FOLDER_BYTES]; /* "": none */
    bool path_is_long;                /* path is "" because it was too long */
    size_t cap_bytes;
    pthread_mutex_t lock;
    int folder; /* -1: not open */
    bool refused;
    char note[LE_DISK_REASON_BYTES + 64];
    enum { NOTE_NONE, NOTE_WAITING, NOTE_TOLD } note_state;
    struct evicted *evicted;
    uint64_t folder_bytes; /* as far as known */
    int puts_until_scan;
};

/* ---- opening */

static const char *nonempty_variable(const char *name) {
    const char *value = le_environment_get_secure(name);
    return value && *value ? value : NULL;
}

/* Finds the folder's path, without trailing slashes; "" if none is known or it is too long. */
static void find_path(struct le_store *store, const char *folder) {
    const char *base, *below = "";
    if ((base = folder) || (base = nonempty_variable("LEAT_CACHE_DIR")))
        below = "";
    else if ((base = nonempty_variable("XDG_CACHE_HOME")) && *base == '/')
        below = "/leat";
    else if ((base = nonempty_variable("HOME")) && *base == '/')
        below = "/.cache/leat";
    else
        base = "";
    int length = snprintf(store->path, sizeof store->path, "%s%s", base, below);
    store->path_is_long = length >= (int)sizeof store->path;
    if (length < 0 || store->path_is_long)
        length = 0;
    while (length > 1 && store->path[length - 1] == '/')
        length--;
    store->path[length] = 0;
}

static void set_note(struct le_store *store, const char *reason) {
    if (store->note_state != NOTE_NONE)
        return;
    snprintf(store->note, sizeof store->note, "compiled code is not cached: %s", reason);
    store->note_state = NOTE_WAITING;
}

static size_t find_cap(struct le_store *store, size_t asked) {
    const char *text = nonempty_variable("LEAT_CACHE_CAP_BYTES");
    if (asked || !text)
        return asked ? asked : DEFAULT_CAP_BYTES;
    char *end;
    errno = 0;
    unsigned long long bytes = strtoull(text, &end, 10);
    if (isdigit((unsigned char)*text) && !*end && !errno && bytes <= SIZE_MAX)
        return (size_t)bytes;
    snprintf(store->note, sizeof store->note, "LEAT_CACHE_CAP_BYTES=%.60s is not a byte count; using %zu", text,
             DEFAULT_CAP_BYTES);
    store->note_state = NOTE_WAITING;
    return DEFAULT_CAP_BYTES;
}

leat_status le_store_open(const struct le_store_options *options, struct le_store **store) {
    struct le_store_options asked = options ? *options : (struct le_store_options){0};
    struct le_store *made = le_alloc_zero(1, sizeof *made);
    if (!made)
        return le_fail_out_of_memory(sizeof *made);
    pthread_mutex_init(&made->lock, NULL);
    made->folder = -1;
    made->cap_bytes = find_cap(made, asked.cap_bytes);
    find_path(made, asked.folder);
    *store = made;
    return LEAT_OK;
}

void le_store_close(struct le_store *store) {
    if (!store)
        return;
    for (leat_cache_entry entry; le_store_evicted(store, &entry);)
        ;
    if (store->folder >= 0)
        close(store->folder);
    pthread_mutex_destroy(&store->lock);
    le_free(store);
}

/* Returns the folder, which is opened on first use; for REFUSED, reason is written. A folder that cannot be used is not
 * tried again. */
static enum le_disk_open_result open_folder(struct le_store *store, bool create, int *folder, char *reason) {
    enum le_disk_open_result result = LE_DISK_OPEN;
    pthread_mutex_lock(&store->lock);
    if (store->folder < 0) {
        result = store->path[0] ? le_disk_open(store->path, create, &store->folder, reason) : LE_DISK_REFUSED;
        if (!store->path[0])
            snprintf(reason, LE_DISK_REASON_BYTES, "%s",
                     store->path_is_long ? "the name of its folder is too long"
                                         : "neither LEAT_CACHE_DIR, XDG_CACHE_HOME nor HOME names a folder");
    }
    *folder = store->folder;
    pthread_mutex_unlock(&store->lock);
    return result;
}

/* The folder for get and put; -1 if it does not exist or cannot be used. */
static int usable_folder(struct le_store *store, bool create) {
    char reason[LE_DISK_REASON_BYTES];
    int folder = -1;
    pthread_mutex_lock(&store->lock);
    bool skip = store->refused || store->cap_bytes == 0;
    pthread_mutex_unlock(&store->lock);
    if (skip || open_folder(store, create, &folder, reason) != LE_DISK_REFUSED)
        return folder;
    pthread_mutex_lock(&store->lock);
    store->refused = true;
    set_note(store, reason);
    pthread_mutex_unlock(&store->lock);
    return -1;
}

const char *le_store_note(struct le_store *store) {
    pthread_mutex_lock(&store->lock);
    bool waiting = store->note_state == NOTE_WAITING;
    if (waiting)
        store->note_state = NOTE_TOLD;
    pthread_mutex_unlock(&store->lock);
    return waiting ? store->note : NULL;
}

/* ---- get and put */

bool le_store_get(struct le_store *store, const void *key, size_t key_bytes, void **value, size_t *value_bytes,
                  bool *damaged) {
    enum le_disk_read_result result = LE_DISK_MISSED;
    int folder = usable_folder(store, false);
    if (folder >= 0)
        result = le_disk_read(folder, (struct le_disk_key){key, key_bytes}, value, value_bytes);
    if (damaged)
        *damaged = result == LE_DISK_DAMAGED;
    return result == LE_DISK_FOUND;
}

static void note_evicted(struct le_store *store, const leat_cache_entry *entry) {
    struct evicted *evicted = le_alloc(sizeof *evicted);
    if (!evicted)
        return;
    evicted->entry = *entry;
    pthread_mutex_lock(&store->lock);
    evicted->next = store->evicted;
    store->evicted = evicted;
    pthread_mutex_unlock(&store->lock);
}

bool le_store_evicted(struct le_store *store, leat_cache_entry *entry) {
    pthread_mutex_lock(&store->lock);
    struct evicted *first = store->evicted;
    store->evicted = first ? first->next : NULL;
    pthread_mutex_unlock(&store->lock);
    if (first)
        *entry = first->entry;
    le_free(first);
    return first != NULL;
}

/* If the folder exceeds the limit, removes entries, the least recently used first, until 1 / FREED_PART of the limit is
 * free. The entry named keep stays. Returns the bytes that are left. */
static uint64_t evict_entries(struct le_store *store, int folder, const char *keep) {
    struct le_disk_files files;
    if (le_disk_scan(folder, &files))
        return store->cap_bytes; /* the next put scans again */
    uint64_t left = files.size_bytes, most_bytes = store->cap_bytes;
    if (left > most_bytes)
        most_bytes -= most_bytes / FREED_PART;
    for (size_t k = 0; k < files.count && left > most_bytes; k++) {
        const struct le_disk_file *file = &files.at[k];
        if (strcmp(file->name, keep) == 0)
            continue;
        leat_cache_entry entry = {.label = "(damaged)", .size_bytes = file->size_bytes};
        le_disk_describe(folder, file, &entry);
        if (le_disk_remove(folder, file->name))
            note_evicted(store, &entry);
        left -= file->size_bytes;
    }
    le_free(files.at);
    return left;
}

/* After an entry was written: scans the whole folder if the limit may be exceeded. */
static void enforce_limit(struct le_store *store, int folder, const struct le_disk_file *written) {
    pthread_mutex_lock(&store->lock);
    store->folder_bytes += written->size_bytes;
    bool due = store->puts_until_scan-- <= 0 || store->folder_bytes > store->cap_bytes;
    pthread_mutex_unlock(&store->lock);
    if (!due)
        return;
    uint64_t left = evict_entries(store, folder, written->name);
    pthread_mutex_lock(&store->lock);
    store->folder_bytes = left;
    store->puts_until_scan = PUTS_BETWEEN_SCANS;
    pthread_mutex_unlock(&store->lock);
}

void le_store_put(struct le_store *store, const char *label, const void *key, size_t key_bytes, const void *value,
                  size_t value_bytes) {
    int folder = usable_folder(store, true);
    if (folder < 0)
        return;
    char reason[LE_DISK_REASON_BYTES];
    struct le_disk_file written;
    size_t size_bytes;
    bool fits = le_disk_size(key_bytes, value_bytes, &size_bytes) && size_bytes <= store->cap_bytes;
    if (!fits)
        snprintf(reason, sizeof reason, "an entry is larger than the limit of %zu bytes", store->cap_bytes);
    if (fits &&
        le_disk_write(folder, label, (struct le_disk_key){key, key_bytes}, value, value_bytes, &written, reason))
        enforce_limit(store, folder, &written);
    else {
        pthread_mutex_lock(&store->lock);
        set_note(store, reason);
        pthread_mutex_unlock(&store->lock);
    }
}

/* ---- list and clear */

/* Lists the files of all entries. If there is no folder, there are none, and *folder is -1. */
static leat_status list_files(struct le_store *store, int *folder, struct le_disk_files *files) {
    char reason[LE_DISK_REASON_BYTES];
    *files = (struct le_disk_files){0};
    enum le_disk_open_result result = open_folder(store, false, folder, reason);
    if (result == LE_DISK_REFUSED)
        return le_fail(LEAT_FILE, "the code cache cannot be used: %s", reason);
    int error = result == LE_DISK_OPEN ? le_disk_scan(*folder, files) : 0;
    if (error)
        return le_fail(error == ENOMEM ? LEAT_OUT_OF_MEMORY : LEAT_FILE, "the code cache %s cannot be read: %s",
                       store->path, strerror(error));
    return LEAT_OK;
}

leat_status le_store_list(struct le_store *store, leat_cache_entry **entries, size_t *count) {
    struct le_disk_files files;
    int folder;
    size_t size_bytes = 0, found = 0;
    leat_status status = list_files(store, &folder, &files);
    if (status)
        return status;
    leat_cache_entry *all = le_mul_size(files.count, sizeof *all, &size_bytes) ? le_alloc(size_bytes) : NULL;
    if (!all) {
        status = le_fail_out_of_memory(size_bytes);
        goto cleanup;
    }
    for (size_t k = 0; k < files.count; k++)
        found += le_disk_describe(folder, &files.at[k], &all[found]);
    *entries = all;
    *count = found;
cleanup:
    le_free(files.at);
    return status;
}

static void describe_folder(const struct le_store *store, leat_cache_info *info) {
    *info = (leat_cache_info){.cap_bytes = store->cap_bytes};
    memcpy(info->folder, store->path, sizeof store->path);
}

leat_status le_store_stat(struct le_store *store, leat_cache_info *info) {
    struct le_disk_files files;
    int folder;
    leat_status status = list_files(store, &folder, &files);
    if (status)
        return status;
    describe_folder(store, info);
    info->count = files.count;
    info->size_bytes = files.size_bytes;
    le_free(files.at);
    return LEAT_OK;
}

leat_status le_store_clear(struct le_store *store, leat_cache_info *removed) {
    struct le_disk_files files;
    int folder;
    leat_status status = list_files(store, &folder, &files);
    if (status)
        return status;
    leat_cache_info info;
    describe_folder(store, &info);
    for (size_t k = 0; k < files.count; k++) {
        if (!le_disk_remove(folder, files.at[k].name) && errno != ENOENT) {
            status = le_fail(LEAT_FILE, "%s/%s cannot be removed: %s", store->path, files.at[k].name, strerror(errno));
            break;
        }
        info.count++;
        info.size_bytes += files.at[k].size_bytes;
    }
    if (!status)
        *removed = info;
    le_free(files.at);
    return status;
}
