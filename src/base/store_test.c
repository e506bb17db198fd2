/* The store: stored and missing entries, collisions, damage, the limit. Every test has its own folder. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/store_testing.h"

/* ---- stored entries */

static void keeps_across_stores(void **state) {
    (void)state;
    struct scratch scratch;
    struct stat about;
    scratch_make(&scratch);
    struct le_store *store = open_store(scratch.folder, 0);
    assert_false(get(store, "key", "value"));
    assert_int_equal(stat(scratch.folder, &about), -1); /* reading does not create the folder */
    put(store, "key", "value");
    put(store, "", "of the empty key");
    put(store, "empty", "");
    assert_null(le_store_note(store));
    le_store_close(store);
    assert_int_equal(stat(scratch.folder, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);
    assert_true(get_anew(scratch.folder, "key", "value"));
    assert_true(get_anew(scratch.folder, "", "of the empty key"));
    assert_true(get_anew(scratch.folder, "empty", ""));
    assert_false(get_anew(scratch.folder, "ke", "value"));
    put_anew(scratch.folder, "key", "another value");
    assert_true(get_anew(scratch.folder, "key", "another value"));
    char path[128];
    path_of(scratch.folder, "key", 3, path);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    assert_int_equal(about.st_size, HEADER_BYTES + 3 + 13);
    assert_int_equal(count_files(scratch.folder), 3);
    scratch_remove(&scratch);
}

static void keeps_large_values(void **state) {
    (void)state;
    struct scratch scratch;
    scratch_make(&scratch);
    size_t size_bytes = (size_t)3 << 20;
    char *value = malloc(size_bytes);
    for (size_t k = 0; k < size_bytes; k++)
        value[k] = (char)(k * k >> 7);
    struct le_store *store = open_store(scratch.folder, 0);
    le_store_put(store, "large", value, size_bytes, value + 1, size_bytes - 1);
    le_store_close(store);
    store = open_store(scratch.folder, 0);
    void *read;
    size_t read_bytes;
    assert_true(le_store_get(store, value, size_bytes, &read, &read_bytes, NULL));
    assert_int_equal(read_bytes, size_bytes - 1);
    assert_memory_equal(read, value + 1, read_bytes);
    le_free(read);
    le_store_close(store);
    free(value);
    scratch_remove(&scratch);
}

/* ---- keys */

static uint64_t mixed(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static void put_word(unsigned char *bytes, uint64_t word) {
    for (int k = 0; k < 8; k++)
        bytes[k] = (unsigned char)(word >> 8 * k);
}

/* Makes two keys of 16 bytes with the same hash: the second word undoes the change of the first one. */
static void make_collision(unsigned char one[16], unsigned char other[16]) {
    uint64_t start = 16 * 0x9e3779b97f4a7c15u;
    for (int k = 0; k < 2; k++)
        start = (start ^ start >> 32) * 0xd6e8feb86659fd93u;
    start ^= start >> 32;
    put_word(one, 1);
    put_word(one + 8, 77);
    put_word(other, 2);
    put_word(other + 8, 77 ^ mixed(start, 1) ^ mixed(start, 2));
}

static void compares_whole_keys(void **state) {
    (void)state;
    struct scratch scratch;
    unsigned char one[16], other[16];
    void *value;
    size_t value_bytes;
    scratch_make(&scratch);
    make_collision(one, other);
    assert_memory_not_equal(one, other, 16);
    assert_true(le_hash(one, 16, 0) == le_hash(other, 16, 0));
    struct le_store *store = open_store(scratch.folder, 0);
    le_store_put(store, "one", one, 16, "1", 1);
    assert_false(le_store_get(store, other, 16, &value, &value_bytes, NULL));
    assert_true(le_store_get(store, one, 16, &value, &value_bytes, NULL));
    le_free(value);
    le_store_put(store, "other", other, 16, "other", 5);
    assert_true(le_store_get(store, other, 16, &value, &value_bytes, NULL));
    assert_int_equal(value_bytes, 5);
    le_free(value);
    assert_false(le_store_get(store, one, 16, &value, &value_bytes, NULL)); /* the later key replaced it */
    le_store_close(store);
    scratch_remove(&scratch);
}

/* An intact entry under another key's file name misses, and is not damage. */
static void believes_no_file_name(void **state) {
    (void)state;
    struct scratch scratch;
    char from[128], to[128];
    bool damaged;
    scratch_make(&scratch);
    put_anew(scratch.folder, "first", "1");
    path_of(scratch.folder, "first", 5, from);
    path_of(scratch.folder, "second", 6, to);
    assert_int_equal(rename(from, to), 0);
    struct le_store *store = open_store(scratch.folder, 0);
    assert_false(get_or_damaged(store, "second", "2", &damaged));
    assert_false(damaged);
    le_store_close(store);
    put_anew(scratch.folder, "second", "2");
    assert_true(get_anew(scratch.folder, "second", "2"));
    scratch_remove(&scratch);
}

/* ---- damage */

static void expect_repair(const char *folder, const char *path, bool is_damage) {
    struct le_store *store = open_store(folder, 0);
    bool damaged;
    assert_int_equal(get_or_damaged(store, "the key", "the value", &damaged), !is_damage);
    assert_int_equal(damaged, is_damage);
    assert_null(le_store_note(store));
    le_store_close(store);
    assert_int_equal(access(path, F_OK), is_damage ? -1 : 0);
    put_anew(folder, "the key", "the value");
    assert_true(get_anew(folder, "the key", "the value"));
}

static void finds_any_damage(void **state) {
    (void)state;
    struct scratch scratch;
    unsigned char sound[256], bytes[256];
    char path[128];
    scratch_make(&scratch);
    put_anew(scratch.folder, "the key", "the value");
    path_of(scratch.folder, "the key", 7, path);
    size_t size_bytes = read_file(path, sound, sizeof sound);
    assert_int_equal(size_bytes, HEADER_BYTES + 7 + 9);
    for (size_t k = 0; k < size_bytes; k++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(bytes, sound, size_bytes);
            bytes[k] ^= (unsigned char)(1 << bit);
            write_file(path, bytes, size_bytes);
            if (bit == (int)k % 8)
                expect_repair(scratch.folder, path, true);
            else
                assert_false(get_anew(scratch.folder, "the key", "the value"));
        }
    for (size_t length = 0; length <= size_bytes + 1; length++) {
        memcpy(bytes, sound, size_bytes);
        bytes[size_bytes] = 0;
        write_file(path, bytes, length);
        expect_repair(scratch.folder, path, length != size_bytes);
    }
    assert_int_equal(count_files(scratch.folder), 1);
    scratch_remove(&scratch);
}

enum planted { PLANTED_LINK, PLANTED_PIPE, PLANTED_OPEN_FILE, PLANTED_FOREIGN, PLANTED_KINDS };

/* Replaces the intact entry at path by another kind of file; false if that is not possible on this machine. */
static bool plant(enum planted kind, const struct scratch *scratch, const char *path) {
    char aside[128];
    snprintf(aside, sizeof aside, "%s/aside", scratch->top);
    switch (kind) {
    case PLANTED_LINK: /* a link to a file with the same bytes */
        return rename(path, aside) == 0 && symlink(aside, path) == 0;
    case PLANTED_PIPE:
        return unlink(path) == 0 && mkfifo(path, 0600) == 0;
    case PLANTED_OPEN_FILE:
        return chmod(path, 0620) == 0;
    case PLANTED_FOREIGN:
        return geteuid() == 0 && chown(path, NOBODY, NOBODY) == 0;
    case PLANTED_KINDS:
        break;
    }
    return false;
}

static void takes_no_file_but_its_own(void **state) {
    (void)state;
    int planted = 0;
    for (enum planted kind = 0; kind < PLANTED_KINDS; kind++) {
        struct scratch scratch;
        char path[128];
        scratch_make(&scratch);
        put_anew(scratch.folder, "the key", "the value");
        path_of(scratch.folder, "the key", 7, path);
        if (plant(kind, &scratch, path)) {
            planted++;
            expect_repair(scratch.folder, path, true);
        }
        scratch_remove(&scratch);
    }
    assert_true(planted >= PLANTED_FOREIGN);
}

/* A folder with an entry's name cannot be replaced: a note says so, and nothing else happens. */
static void survives_a_folder_for_a_file(void **state) {
    (void)state;
    struct scratch scratch;
    leat_cache_info removed;
    char path[128];
    scratch_make(&scratch);
    put_anew(scratch.folder, "other", "value");
    path_of(scratch.folder, "key", 3, path);
    assert_int_equal(mkdir(path, 0700), 0);
    struct le_store *store = open_store(scratch.folder, 0);
    assert_false(get(store, "key", ""));
    put(store, "key", "value");
    assert_non_null(strstr(le_store_note(store), "cannot be written"));
    assert_false(get(store, "key", "value"));
    assert_int_equal(le_store_clear(store, &removed), LEAT_OK);
    assert_int_equal(removed.count, 1);
    le_store_close(store);
    assert_int_equal(count_files(scratch.folder), 1);
    scratch_remove(&scratch);
}

/* ---- the limit */

static void age_file(const char *folder, const char *key, long age_s) {
    char path[128];
    struct timespec times[2];
    path_of(folder, key, strlen(key), path);
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age_s;
    times[1] = times[0];
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void what_was_used_longest_ago_goes_first(void **state) {
    (void)state;
    struct scratch scratch;
    leat_cache_entry *entries, gone;
    leat_cache_info info;
    size_t count;
    char value[1000] = "";
    memset(value, 'v', 1000 - HEADER_BYTES - 1); /* makes files of 1,000 bytes with a key of one byte */
    scratch_make(&scratch);
    struct le_store *store = open_store(scratch.folder, 4000);
    for (int k = 0; k < 4; k++) {
        put(store, (char[2]){(char)('a' + k), 0}, value);
        age_file(scratch.folder, (char[2]){(char)('a' + k), 0}, 1000 - 100 * k);
    }
    assert_false(le_store_evicted(store, &gone));
    assert_true(get_anew(scratch.folder, "a", value)); /* used: now the last to be evicted */
    assert_int_equal(le_store_stat(store, &info), LEAT_OK);
    assert_true(info.count == 4 && info.size_bytes == 4000 && info.cap_bytes == 4000);
    assert_string_equal(info.folder, scratch.folder);
    assert_int_equal(le_store_list(store, &entries, &count), LEAT_OK);
    assert_int_equal(count, 4);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(entries[k].label[0], "bcda"[k]);
        assert_int_equal(entries[k].size_bytes, 1000);
        assert_int_equal(entries[k].uses, k == 3);
        assert_true(entries[k].made_s >= entries[k].used_s - 5);
    }
    le_free(entries);
    put(store, "e", value); /* 5,000 bytes exceed the limit: entries are evicted down to 15/16 of it */
    for (int k = 0; k < 2; k++) {
        assert_true(le_store_evicted(store, &gone));
        assert_int_equal(gone.label[0], "cb"[k]);
        assert_int_equal(gone.size_bytes, 1000);
    }
    assert_false(le_store_evicted(store, &gone));
    assert_false(get_anew(scratch.folder, "b", value));
    assert_false(get_anew(scratch.folder, "c", value));
    for (int k = 0; k < 3; k++)
        assert_true(get_anew(scratch.folder, (char[2]){"ade"[k], 0}, value));
    le_store_close(store);
    scratch_remove(&scratch);
}

/* Entries of other processes are counted at times. An entry that is too large gives a note. */
static void the_limit_is_the_folders(void **state) {
    (void)state;
    struct scratch scratch;
    leat_cache_info info;
    char key[16];
    scratch_make(&scratch);
    struct le_store *one = open_store(scratch.folder, 20000), *other = open_store(scratch.folder, 20000);
    for (int k = 0; k < 400; k++) {
        snprintf(key, sizeof key, "key %d", k);
        put(k % 2 ? one : other, key, "value");
        assert_int_equal(le_store_stat(one, &info), LEAT_OK);
        assert_true(info.size_bytes <= 20000 + 40 * 210);
    }
    char large[20001];
    memset(large, 'l', sizeof large - 1);
    large[20000] = 0;
    assert_null(le_store_note(one));
    put(one, "large", large);
    assert_non_null(strstr(le_store_note(one), "larger than"));
    assert_false(get_anew(scratch.folder, "large", large));
    le_store_close(one);
    le_store_close(other);
    scratch_remove(&scratch);
}

static void clears_its_own_files_alone(void **state) {
    (void)state;
    struct scratch scratch;
    leat_cache_info removed;
    char path[160];
    const char *const kept[] = {"README", "0123456789abcdef.txt", "0123456789abcde.leat", ".0123456789abcdef.tmpx"};
    scratch_make(&scratch);
    struct le_store *store = open_store(scratch.folder, 0);
    assert_int_equal(le_store_clear(store, &removed), LEAT_OK);
    assert_int_equal(removed.count, 0);
    put(store, "a", "1");
    put(store, "b", "2");
    for (int k = 0; k < 4; k++) {
        snprintf(path, sizeof path, "%s/%s", scratch.folder, kept[k]);
        write_file(path, (const unsigned char *)"x", 1);
    }
    const char *const left[] = {".0123456789abcdef.tmp", ".fedcba9876543210.tmp"}; /* one abandoned, one recent */
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%s", scratch.folder, left[k]);
        write_file(path, (const unsigned char *)"x", 1);
        struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
        assert_int_equal(k ? 0 : utimensat(AT_FDCWD, path, old, 0), 0);
    }
    assert_int_equal(le_store_clear(store, &removed), LEAT_OK);
    assert_true(removed.count == 2 && removed.size_bytes == 2 * (HEADER_BYTES + 2));
    assert_false(get(store, "a", "1"));
    assert_int_equal(count_files(scratch.folder), 4 + 1);
    put(store, "a", "3");
    assert_true(get_anew(scratch.folder, "a", "3"));
    le_store_close(store);
    scratch_remove(&scratch);
}

static void lists_labels_fit_to_print(void **state) {
    (void)state;
    struct scratch scratch;
    leat_cache_entry *entries;
    size_t count;
    char label[300], path[128];
    scratch_make(&scratch);
    struct le_store *store = open_store(scratch.folder, 0);
    memset(label, 'x', 126);
    strcpy(label + 126, "\xc3\xa4 and so on");
    le_store_put(store, label, "a", 1, "1", 1);
    age_file(scratch.folder, "a", 100);
    le_store_put(store, "tab\t, bell\a, new\nline, \x7f", "b", 1, "2", 1);
    age_file(scratch.folder, "b", 50);
    put(store, "c", "damaged");
    path_of(scratch.folder, "c", 1, path);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(le_store_list(store, &entries, &count), LEAT_OK);
    assert_int_equal(count, 3);
    assert_int_equal(strlen(entries[0].label), 126);
    assert_string_equal(entries[1].label, "tab?, bell?, new?line, ?");
    assert_string_equal(entries[2].label, "(damaged)");
    le_free(entries);
    le_store_close(store);
    scratch_remove(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_across_stores),
        cmocka_unit_test(keeps_large_values),
        cmocka_unit_test(compares_whole_keys),
        cmocka_unit_test(believes_no_file_name),
        cmocka_unit_test(finds_any_damage),
        cmocka_unit_test(takes_no_file_but_its_own),
        cmocka_unit_test(survives_a_folder_for_a_file),
        cmocka_unit_test(what_was_used_longest_ago_goes_first),
        cmocka_unit_test(the_limit_is_the_folders),
        cmocka_unit_test(clears_its_own_files_alone),
        cmocka_unit_test(lists_labels_fit_to_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
