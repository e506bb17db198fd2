/* The log of a search, tables of symbols, and the guard against the working directory.
 * device/cuda/cuda_libraries_test.c tests the places. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/library_search.h"
#include "base/status.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void lines_run_out(void **state) {
    (void)state;
    static struct le_search_line lines[8];
    struct le_search search = {.lines = lines, .line_capacity = 8}, silent = {0};
    char path[600];
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = 0;
    for (int k = 0; k < 100; k++)
        le_search_log(&search, "name", path, "line %d", k);
    assert_int_equal(search.line_count, 8);
    assert_string_equal(lines[0].outcome, "line 0");
    assert_int_equal(strlen(lines[0].path), sizeof lines[0].path - 1);
    assert_string_equal(lines[7].outcome, "and more");
    le_search_log(&silent, "name", NULL, "no log");
    assert_int_equal(silent.line_count, 0);
}

static void symbols_are_filled_in(void **state) {
    (void)state;
    struct table {
        double (*cosine)(double), (*sine)(double);
        void (*missing)(void);
    } table;
    const struct le_library_symbol symbols[] = {{"cos", offsetof(struct table, cosine), REQUIRED, 0},
                                                {"no_such_symbol", offsetof(struct table, missing), OPTIONAL, 0},
                                                {"sin", offsetof(struct table, sine), REQUIRED, 0},
                                                {"no_such_symbol", offsetof(struct table, missing), REQUIRED, 0}};
    char why[160];
    void *library = le_library_load("libm.so.6", RTLD_LAZY, why, sizeof why);
    if (!library)
        skip();
    memset(&table, 0xff, sizeof table);
    assert_null(le_library_fill(symbols, 3, le_library_dlsym, library, &table));
    assert_true(table.cosine(0) == 1 && table.sine(0) == 0 && !table.missing);
    assert_ptr_equal(le_library_fill(symbols, 4, le_library_dlsym, library, &table), &symbols[3]);
}

static void loading_says_why(void **state) {
    (void)state;
    char why[160];
    assert_null(le_library_load("libno-such-library.so.1", RTLD_LAZY, why, sizeof why));
    assert_string_equal(why, "not found by the dynamic loader");
    assert_null(le_library_load("/no/such/library.so", RTLD_LAZY, why, sizeof why));
    assert_string_equal(why, "cannot open shared object file: No such file or directory");
}

/* The loader read LD_LIBRARY_PATH when the process started, so changing it now affects only our check. */
static void working_directory_is_refused(void **state) {
    (void)state;
    char why[160], folder[] = "/tmp/leat-test-XXXXXX";
    char *before = getcwd(NULL, 0);
    assert_true(before && mkdtemp(folder) && chdir(folder) == 0 && mkdir("below", 0700) == 0);
    fclose(fopen("below/libwhich.so", "w"));
    setenv("LD_LIBRARY_PATH", "/nowhere:below", 1);
    assert_null(le_library_load("libwhich.so", RTLD_LAZY, why, sizeof why));
    assert_non_null(strstr(why, "not loaded from the working directory"));
    setenv("LD_LIBRARY_PATH", "/nowhere:", 1); /* the working directory, which does not have the file */
    assert_null(le_library_load("libwhich.so", RTLD_LAZY, why, sizeof why));
    assert_string_equal(why, "not found by the dynamic loader");
    unsetenv("LD_LIBRARY_PATH");
    assert_int_equal(unlink("below/libwhich.so") | rmdir("below") | chdir(before) | rmdir(folder), 0);
    free(before);
}

/* ---- places */

static char top[] = "/tmp/leat-test-XXXXXX";

static void shell(const char *line) {
    char command[4 * PATH_MAX];
    snprintf(command, sizeof command, "cd '%s' && %s", top, line);
    if (system(command) != 0)
        fail_msg("failed: %s", command);
}

struct taken {
    char text[1024]; /* "LEAT_CUDA_PATH one/lib/libthing.so.2; " for each candidate, below top */
};

/* Refuses every candidate. */
static bool take(void *user, struct le_search *search, const char *name, const char *path, void *library) {
    struct taken *taken = user;
    size_t length = strlen(taken->text);
    (void)library;
    bool is_ours = strncmp(path, top, strlen(top)) == 0;
    snprintf(taken->text + length, sizeof taken->text - length, "%s %s; ", name,
             is_ours ? path + strlen(top) + 1 : path);
    snprintf(search->reason, sizeof search->reason, "%s", path);
    return false;
}

static const char *const names[] = {"libthing.so.3", "libthing.so.2", "libthing.so.1", NULL};
static const char *const below[] = {"lib64", "lib", "thing/lib", NULL};

static void set_below_top(const char *variable, const char *folder) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", top, folder);
    setenv(variable, path, 1);
}

/* libthing.so.1 in `one` is a link into `two`, lib64 is a link to lib, and a third version is too new. */
static void places_come_in_order(void **state) {
    (void)state;
    static const enum le_search_place places[] = {LE_SEARCH_CUDA_PATH, LE_SEARCH_LEAT_CUDA_PATH, LE_SEARCH_VIRTUAL_ENV,
                                                  LE_SEARCH_CONDA_PREFIX, LE_SEARCH_END};
    static struct le_search_line lines[16];
    struct taken taken = {0};
    struct le_search search = {.lines = lines, .line_capacity = 16};
    const struct le_search_request request = {
        .what = "libthing", .names = names, .below = below, .major_max = 2, .take = take, .user = &taken};
    shell("mkdir -p one/lib two/lib env/lib/python3.9/site-packages/nvidia/thing/lib conda/lib && "
          "touch one/lib/libthing.so.2 one/lib/libthing.so.3 two/lib/libthing.so.1 conda/lib/libthing.so.1 "
          "env/lib/python3.9/site-packages/nvidia/thing/lib/libthing.so.2 && "
          "ln -s lib one/lib64 && ln -s ../../two/lib/libthing.so.1 one/lib");
    set_below_top("CUDA_PATH", "one");
    set_below_top("LEAT_CUDA_PATH", "two");
    set_below_top("VIRTUAL_ENV", "env");
    set_below_top("CONDA_PREFIX", "conda");
    assert_false(le_search_run(&search, &request, places));
    assert_string_equal(taken.text, "CUDA_PATH one/lib64/libthing.so.2; CUDA_PATH one/lib64/libthing.so.1; "
                                    "VIRTUAL_ENV env/lib/python3.9/site-packages/nvidia/thing/lib/libthing.so.2; "
                                    "CONDA_PREFIX conda/lib/libthing.so.1; ");
    assert_int_equal(search.line_count, 2);
    assert_string_equal(lines[0].outcome, "for CUDA 3, newer than the driver's 2");
    assert_string_equal(lines[1].outcome, "no libthing found"); /* VIRTUAL_ENV itself */
    assert_string_equal(search.reason + strlen(top), "/conda/lib/libthing.so.1");
    unsetenv("VIRTUAL_ENV");
    setenv("CUDA_PATH", "", 1);
    setenv("LEAT_CUDA_PATH", "two", 1);
    setenv("CONDA_PREFIX", "/no/such/folder", 1);
    search.line_count = 0;
    assert_false(le_search_run(&search, &request, places));
    static const char *const outcomes[] = {"ignored: it is empty", "ignored: it is not an absolute path", "not set",
                                           "no libthing found"};
    assert_int_equal(search.line_count, ARRAY_LEN(outcomes));
    for (size_t k = 0; k < ARRAY_LEN(outcomes); k++)
        assert_string_equal(lines[k].outcome, outcomes[k]);
}

/* Copies of libm act as NVIDIA's libraries. */
static void loaded_wheels_are_looked_beside(void **state) {
    (void)state;
    static const enum le_search_place places[] = {LE_SEARCH_LOADED, LE_SEARCH_BESIDE_LOADED, LE_SEARCH_END};
    struct taken taken = {0};
    struct le_search search = {0};
    const struct le_search_request request = {
        .what = "libthing", .names = names, .below = below, .load = true, .take = take, .user = &taken};
    char why[160], path[PATH_MAX];
    void *library = le_library_load("libm.so.6", RTLD_LAZY, why, sizeof why);
    if (!library || !le_library_path(library, path))
        skip();
    shell("mkdir -p site-packages/nvidia/other/lib site-packages/nvidia/thing/lib");
    char line[3 * PATH_MAX];
    snprintf(line, sizeof line,
             "cp '%s' site-packages/nvidia/other/lib/libother.so.1 && cp '%s' site-packages/nvidia/thing/lib/"
             "libthing.so.1 && echo no library >site-packages/nvidia/thing/lib/libthing.so.2",
             path, path);
    shell(line);
    assert_false(le_search_run(&search, &request, places));
    assert_string_equal(taken.text, "");
    snprintf(path, sizeof path, "%s/site-packages/nvidia/other/lib/libother.so.1", top);
    assert_non_null(le_library_load(path, RTLD_LAZY, why, sizeof why));
    assert_false(le_search_run(&search, &request, places));
    assert_string_equal(taken.text, "beside loaded wheels site-packages/nvidia/thing/lib/libthing.so.1; ");
}

static const enum le_search_place own_places[] = {LE_SEARCH_OWN, LE_SEARCH_END};

/* In the copy of this program that is in a virtual environment's bin: prints what it finds. */
static int print_own(const char *folder) {
    struct taken taken = {0};
    struct le_search search = {0};
    const struct le_search_request request = {
        .what = "libthing", .names = names, .below = below, .take = take, .user = &taken};
    snprintf(top, sizeof top, "%s", folder);
    le_search_run(&search, &request, own_places);
    puts(taken.text);
    return 0;
}

static void own_environment_is_looked_in(void **state) {
    (void)state;
#ifndef __x86_64__
    skip(); /* this program may run under an emulator, and then its copy does not start by itself */
#endif
    char line[2 * PATH_MAX], self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = 0;
    snprintf(line, sizeof line,
             "mkdir -p venv/bin venv/lib/python3.12/site-packages/nvidia/thing/lib && "
             "touch venv/lib/python3.12/site-packages/nvidia/thing/lib/libthing.so.2 && cp '%s' venv/bin/command && "
             "venv/bin/command own '%s' >said",
             self, top);
    shell(line);
    shell("test \"$(cat said)\" = "
          "\"Leat's environment venv/lib/python3.12/site-packages/nvidia/thing/lib/libthing.so.2; \"");
}

static int make_top(void **state) {
    (void)state;
    return mkdtemp(top) ? 0 : 1;
}

static int remove_top(void **state) {
    (void)state;
    shell("rm -rf ./* && rmdir \"$PWD\"");
    return 0;
}

int main(int argument_count, char **arguments) {
    if (argument_count == 3 && strcmp(arguments[1], "own") == 0)
        return print_own(arguments[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_run_out),
        cmocka_unit_test(symbols_are_filled_in),
        cmocka_unit_test(loading_says_why),
        cmocka_unit_test(working_directory_is_refused),
        cmocka_unit_test(places_come_in_order),
        cmocka_unit_test(loaded_wheels_are_looked_beside),
        cmocka_unit_test(own_environment_is_looked_in),
    };
    return cmocka_run_group_tests(tests, make_top, remove_top);
}
