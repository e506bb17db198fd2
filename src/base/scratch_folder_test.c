/* Scratch folders: reading and writing files, names that lead outside, and folders left by killed processes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/scratch_folder.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void files_are_written_and_read(void **state) {
    (void)state;
    struct le_arena arena;
    struct le_text text = {0};
    struct stat about;
    char *folder = NULL;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    assert_int_equal(le_scratch_new(&arena, &folder), LEAT_OK);
    assert_int_equal(stat(folder, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);
    assert_int_equal(le_scratch_write(folder, "a/b..c/file", "some\0bytes", 10), LEAT_OK);
    assert_int_equal(le_scratch_read(folder, "a/b..c/file", &text), LEAT_OK);
    assert_int_equal(text.length, 10);
    assert_memory_equal(text.at, "some\0bytes", 10);
    le_text_finish(&text);
    static const char *const outside[] = {"", "/tmp/file", "..", "../file", "a/../../file", "a/.."};
    for (size_t k = 0; k < ARRAY_LEN(outside); k++)
        assert_int_equal(le_scratch_write(folder, outside[k], "x", 1), LEAT_INVALID);
    assert_int_equal(le_scratch_read(folder, "missing", &text), LEAT_FILE);
    le_scratch_remove(folder);
    assert_int_equal(stat(folder, &about), -1);
    le_scratch_remove(NULL);
    le_arena_finish(&arena);
}

static void fails_without_a_parent(void **state) {
    (void)state;
    struct le_arena arena;
    char *folder = NULL;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    setenv("TMPDIR", "/no/such/folder", 1);
    assert_int_equal(le_scratch_new(&arena, &folder), LEAT_FILE);
    assert_null(folder);
    assert_non_null(strstr(le_errors_text(), "/no/such/folder/leat-scratch-"));
    unsetenv("TMPDIR");
    le_arena_finish(&arena);
}

/* A killed process's folder is removed after an hour. A newer one, and folders with other names, stay. */
static void abandoned_folders_are_removed(void **state) {
    (void)state;
    static const char *const names[] = {"leat-scratch-killed", "leat-scratch-abcdef", "leat-scratch-abc",
                                        "leat-other-abcdef"};
    static const int ages_s[] = {4000, 600, 4000, 4000};
    char top[] = "/tmp/leat-test-XXXXXX", path[100];
    struct le_arena arena;
    char *made = NULL;
    assert_non_null(mkdtemp(top));
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        snprintf(path, sizeof path, "%s/%s", top, names[k]);
        assert_int_equal(mkdir(path, 0700), 0);
        assert_int_equal(le_scratch_write(path, "below/file", "x", 1), LEAT_OK);
        struct timespec then[2] = {{.tv_sec = time(NULL) - ages_s[k]}, {.tv_sec = time(NULL) - ages_s[k]}};
        assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
    }
    setenv("TMPDIR", top, 1);
    assert_int_equal(le_scratch_new(&arena, &made), LEAT_OK);
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        snprintf(path, sizeof path, "%s/%s", top, names[k]);
        assert_int_equal(access(path, F_OK), k == 0 ? -1 : 0);
    }
    unsetenv("TMPDIR");
    le_arena_finish(&arena);
    le_scratch_remove(top);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_written_and_read),
        cmocka_unit_test(fails_without_a_parent),
        cmocka_unit_test(abandoned_folders_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
