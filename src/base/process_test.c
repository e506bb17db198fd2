/* Running processes to their end: output, input, folder, environment, exit status, blocked signals. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/process.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct le_text output, errors;

/* Runs a shell command; returns its exit status. */
static int run(const char *line, const char *folder, int input) {
    struct le_arena arena;
    struct le_argv argv = {0};
    int exit_status = -1;
    le_text_finish(&output);
    le_text_finish(&errors);
    output = errors = (struct le_text){0};
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    le_argv_add(&arena, &argv, le_executable_find(&arena, "sh"));
    le_argv_add(&arena, &argv, "-c");
    le_argv_add(&arena, &argv, line);
    assert_int_equal(le_process_run(&arena, &argv, folder, input, &output, &errors, &exit_status), LEAT_OK);
    le_arena_finish(&arena);
    return exit_status;
}

static void output_and_errors_are_read(void **state) {
    (void)state;
    assert_int_equal(run("echo out; echo err >&2; exit 3", NULL, -1), 3);
    assert_string_equal(output.at, "out\n");
    assert_string_equal(errors.at, "err\n");
    /* alternately writes more than both pipes hold */
    assert_int_equal(run("for k in 1 2 3 4; do yes | head -c 200000; yes n | head -c 200000 >&2; done", NULL, -1), 0);
    assert_int_equal(output.length, 800000);
    assert_int_equal(errors.length, 800000);
    assert_int_equal(run("kill -TERM $$", NULL, -1), 128 + SIGTERM);
}

static void input_folder_and_language_are_set(void **state) {
    (void)state;
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    setenv("LANGUAGE", "de", 1);
    assert_int_equal(run("cat; pwd; echo $LC_ALL ${LANGUAGE-unset} $TMPDIR", "/", -1), 0);
    assert_string_equal(output.at, "/\nC unset /\n");
    unsetenv("LC_ALL");
    unsetenv("LANGUAGE");
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    assert_int_equal(write(pipe_ends[1], "given", 5), 5);
    close(pipe_ends[1]);
    assert_int_equal(run("cat", NULL, pipe_ends[0]), 0);
    assert_string_equal(output.at, "given");
    close(pipe_ends[0]);
}

static void signals_wait_here_and_not_there(void **state) {
    (void)state;
    sigset_t before, pending;
    le_signals_hold(&before);
    raise(SIGTERM);
    assert_int_equal(run("kill -INT $$; sleep 10", NULL, -1), 128 + SIGINT);
    sigpending(&pending);
    assert_true(sigismember(&pending, SIGTERM));
    signal(SIGTERM, SIG_IGN); /* drops the pending signal */
    le_signals_release(&before);
    signal(SIGTERM, SIG_DFL);
}

static void executables_are_found(void **state) {
    (void)state;
    struct le_arena arena;
    struct le_argv argv = {0};
    int exit_status;
    char *kept = strdup(getenv("PATH"));
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    assert_string_equal(le_executable_find(&arena, "/bin/sh"), "/bin/sh");
    assert_null(le_executable_find(&arena, "/bin/no-such-program"));
    assert_null(le_executable_find(&arena, "no-such-program"));
    setenv("PATH", ":relative:/no/such/folder:/bin:", 1);
    assert_string_equal(le_executable_find(&arena, "sh"), "/bin/sh");
    unsetenv("PATH");
    assert_null(le_executable_find(&arena, "sh"));
    setenv("PATH", kept, 1);
    free(kept);
    le_argv_add(&arena, &argv, "/bin/no-such-program");
    assert_int_equal(le_process_run(&arena, &argv, NULL, -1, NULL, NULL, &exit_status), LEAT_UNSUPPORTED);
    assert_non_null(strstr(le_errors_text(), "/bin/no-such-program cannot be started: No such file"));
    le_arena_finish(&arena);
}

static int free_texts(void **state) {
    (void)state;
    le_text_finish(&output);
    le_text_finish(&errors);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_errors_are_read),
        cmocka_unit_test(input_folder_and_language_are_set),
        cmocka_unit_test(signals_wait_here_and_not_there),
        cmocka_unit_test(executables_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, free_texts);
}
