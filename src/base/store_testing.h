/* Shared by the tests of the store: scratch folders, entries of text, and direct access to the files. */
#ifndef LE_STORE_TESTING_H
#define LE_STORE_TESTING_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/hash.h"
#include "base/memory.h"
#include "base/store.h"
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEADER_BYTES = 192, NOBODY = 65534 };

struct scratch {
    char top[64], folder[80];
};

static inline void scratch_make(struct scratch *scratch) {
    strcpy(scratch->top, "/tmp/leat-store-XXXXXX");
    assert_non_null(mkdtemp(scratch->top));
    snprintf(scratch->folder, sizeof scratch->folder, "%s/kept", scratch->top);
}

static inline int remove_one(const char *path, const struct stat *about, int flag, struct FTW *walk) {
    (void)about, (void)flag, (void)walk;
    return remove(path);
}

static inline void scratch_remove(struct scratch *scratch) {
    assert_int_equal(nftw(scratch->top, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline struct le_store *open_store(const char *folder, size_t cap_bytes) {
    struct le_store *store;
    const struct le_store_options options = {.folder = folder, .cap_bytes = cap_bytes};
    assert_int_equal(le_store_open(&options, &store), LEAT_OK);
    return store;
}

static inline void put(struct le_store *store, const char *key, const char *value) {
    le_store_put(store, key, key, strlen(key), value, strlen(value));
}

static inline bool get_or_damaged(struct le_store *store, const char *key, const char *expected, bool *damaged) {
    void *value;
    size_t value_bytes;
    if (!le_store_get(store, key, strlen(key), &value, &value_bytes, damaged))
        return false;
    assert_int_equal(value_bytes, strlen(expected));
    assert_memory_equal(value, expected, value_bytes);
    le_free(value);
    return true;
}

static inline bool get(struct le_store *store, const char *key, const char *expected) {
    return get_or_damaged(store, key, expected, NULL);
}

/* The same through a new store. */
static inline bool get_anew(const char *folder, const char *key, const char *expected) {
    struct le_store *store = open_store(folder, 0);
    bool found = get(store, key, expected);
    assert_null(le_store_note(store));
    le_store_close(store);
    return found;
}

static inline void put_anew(const char *folder, const char *key, const char *value) {
    struct le_store *store = open_store(folder, 0);
    put(store, key, value);
    assert_null(le_store_note(store));
    le_store_close(store);
}

static inline size_t count_files(const char *folder) {
    DIR *listing = opendir(folder);
    size_t count = 0;
    for (struct dirent *item; listing && (item = readdir(listing));)
        count += strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0;
    if (listing)
        closedir(listing);
    return count;
}

static inline void path_of(const char *folder, const void *key, size_t key_bytes, char path[128]) {
    snprintf(path, 128, "%s/%016llx.leat", folder, (unsigned long long)le_hash(key, key_bytes, 0));
}

static inline size_t read_file(const char *path, unsigned char *bytes, size_t most_bytes) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size_bytes = fread(bytes, 1, most_bytes, file);
    fclose(file);
    return size_bytes;
}

static inline void write_file(const char *path, const unsigned char *bytes, size_t size_bytes) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size_bytes), size_bytes);
    close(fd);
}
#endif
