/* Files that get their name when they are complete: what others see meanwhile, what a killed or stopped process leaves,
 * and errors, after which the older file is unchanged. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/file_out.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };
#define assert_ok(expression) assert_int_equal(expression, LEAT_OK)

static char folder[64], path[128];
static char content[BYTES];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/leat-out-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/y.npy", folder);
    return 0;
}

static int count_files(void) {
    int count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *item; (item = readdir(listing));)
        count += strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0;
    closedir(listing);
    return count;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left */
    return 0;
}

static leat_status save(char byte, const leat_save_options *options) {
    struct le_file_out out;
    leat_status status = le_file_out_open(path, options, &out);
    if (status)
        return status;
    memset(content, byte, sizeof content);
    return le_file_out_close(&out, le_file_out_write(&out, content, sizeof content));
}

/* Asserts that all bytes of the file are `byte`; 0: that there is no file. */
static void assert_file(char byte) {
    struct stat about;
    if (!byte) {
        assert_int_equal(access(path, F_OK), -1);
        return;
    }
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(content, 1, sizeof content, file), BYTES);
    assert_int_equal(fstat(fileno(file), &about), 0);
    assert_int_equal(about.st_size, BYTES);
    fclose(file);
    for (int k = 0; k < BYTES; k++)
        assert_int_equal(content[k], byte);
}

static void test_replaced_at_once(void **state) {
    (void)state;
    const leat_save_options synced = {.sync = true};
    struct le_file_out out;
    assert_ok(save('a', NULL));
    assert_file('a');
    assert_int_equal(chmod(path, 0640), 0);
    assert_ok(le_file_out_open(path, NULL, &out));
    memset(content, 'b', sizeof content);
    assert_ok(le_file_out_write(&out, content, sizeof content));
    assert_file('a'); /* while the new file is written */
    assert_ok(le_file_out_close(&out, LEAT_OK));
    assert_int_equal(count_files(), 1);
    assert_file('b');
    assert_ok(save('c', &synced));
    assert_file('c');
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0640);
    assert_int_equal(count_files(), 1);
}

static bool stop_at_zero(void *user) {
    int *left = user;
    return (*left)-- > 0;
}

static void test_stopped(void **state) {
    (void)state;
    for (int turns = 0, stopped = 1; stopped; turns++) {
        int left = turns;
        const leat_save_options options = {.proceed = stop_at_zero, .user = &left};
        stopped = save('b', &options) == LEAT_FILE;
        assert_file(stopped ? 0 : 'b');
    }
    int none = 0;
    const leat_save_options options = {.proceed = stop_at_zero, .user = &none};
    assert_int_equal(save('c', &options), LEAT_FILE);
    assert_file('b');
    assert_int_equal(count_files(), 1);
}

/* Reaching the limit on file size is handled like a full disk. */
static void test_full(void **state) {
    (void)state;
    struct rlimit limit, before;
    signal(SIGXFSZ, SIG_IGN);
    assert_ok(save('a', NULL));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = BYTES / 2;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    leat_status status = save('b', NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, LEAT_FILE);
    assert_non_null(strstr(le_error_at(0)->message, "/y.npy: File too large"));
    assert_file('a');
    assert_int_equal(count_files(), 1);
}

static void test_directly(void **state) {
    (void)state;
    struct le_file_out out;
    const leat_save_options synced = {.sync = true};
    assert_ok(le_file_out_open("/dev/full", &synced, &out));
    assert_int_equal(le_file_out_close(&out, le_file_out_write(&out, "x", 1)), LEAT_FILE);
    assert_ok(le_file_out_open("/dev/null", &synced, &out));
    assert_ok(le_file_out_close(&out, le_file_out_write(&out, "x", 1)));
    assert_int_equal(le_file_out_open(folder, NULL, &out), LEAT_FILE);
    snprintf(path, sizeof path, "%s/none/y.npy", folder);
    assert_int_equal(le_file_out_open(path, NULL, &out), LEAT_FILE);
}

/* Writes to the current folder, and through a link whose target does not exist yet. */
static void test_paths(void **state) {
    (void)state;
    struct le_file_out out;
    char link[160], here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    assert_ok(le_file_out_open("y.npy", NULL, &out));
    assert_int_equal(chdir(here), 0);
    memset(content, 'a', sizeof content);
    assert_ok(le_file_out_close(&out, le_file_out_write(&out, content, sizeof content)));
    assert_file('a');
    assert_int_equal(unlink(path), 0);
    snprintf(link, sizeof link, "%s/link.npy", folder);
    assert_int_equal(symlink("y.npy", link), 0);
    for (char byte = 'a'; byte <= 'b'; byte++) {
        assert_ok(le_file_out_open(link, NULL, &out));
        memset(content, byte, sizeof content);
        assert_ok(le_file_out_close(&out, le_file_out_write(&out, content, sizeof content)));
        assert_file(byte);
    }
    assert_int_equal(unlink(link), 0);
}

static bool has_unnamed_files(void) {
    int fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* A process that is killed leaves one of the two files, complete, and nothing else. */
static void test_killed(void **state) {
    (void)state;
    if (!has_unnamed_files())
        skip();
    int left_between = 0;
    assert_ok(save('a', NULL));
    for (int round = 0; round < 40; round++) {
        pid_t child = fork();
        if (child == 0)
            for (char byte = 'a';; byte = byte == 'a' ? 'b' : 'a')
                if (save(byte, NULL))
                    _exit(1);
        usleep((useconds_t)(500 + 211 * round));
        kill(child, SIGKILL);
        int code = 0;
        assert_int_equal(waitpid(child, &code, 0), child);
        assert_true(WIFSIGNALED(code));
        FILE *file = fopen(path, "rb");
        int byte = fgetc(file);
        fclose(file);
        assert_file((char)byte);
        left_between += count_files() - 1;
        DIR *listing = opendir(folder); /* a temporary link remains if the kill came between link and rename */
        for (struct dirent *item; (item = readdir(listing));)
            if (le_new_file_is_temporary(item->d_name))
                assert_int_equal(unlinkat(dirfd(listing), item->d_name, 0), 0);
        closedir(listing);
        assert_int_equal(count_files(), 1);
    }
    assert_in_range(left_between, 0, 10);
}

int main(void) {
#define TEST(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {TEST(test_replaced_at_once), TEST(test_stopped), TEST(test_full),
                                       TEST(test_directly),         TEST(test_paths),   TEST(test_killed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
