/* What exit() waits for. Each case runs in its own process, which exits. */
#include "base/exit_guard.h"
#include "base/status.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static int words[2]; /* a pipe, on which children report events */

static void say(char word) {
    if (write(words[1], &word, 1) != 1)
        abort();
}

static void sleep_ms(int ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l}, NULL);
}

static void start(void *(*work)(void *)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL))
        abort();
    sleep_ms(50); /* now it is running */
}

/* Runs a child; returns its exit code and the events that it reported. */
static int outcome_of(void (*child)(void), char said[8]) {
    int status = 0;
    size_t count = 0;
    assert_int_equal(pipe(words), 0);
    pid_t pid = fork();
    if (pid == 0) {
        le_exit_guard_install();
        child();
        exit(0);
    }
    close(words[1]);
    for (char word; count < 7 && read(words[0], &word, 1) == 1;)
        said[count++] = word;
    said[count] = '\0';
    close(words[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void *work_a_while(void *user) {
    if (le_exit_guard_begin()) {
        sleep_ms(300);
        say(le_exit_guard_is_exiting() ? 'e' : 'n');
        le_exit_guard_end();
    }
    if (!le_exit_guard_begin())
        return user;
    say('b');
    le_exit_guard_end();
    return user;
}

static void leave_while_it_works(void) {
    start(work_a_while);
}

static void leave_after_it(void) {
    start(work_a_while);
    sleep_ms(600);
}

static void *exit_itself(void *user) {
    le_exit_guard_begin();
    exit(3);
    return user;
}

static void exit_in_the_work(void) {
    start(exit_itself);
    sleep_ms(3000);
}

/* A child of fork() does not have the thread that its parent waits for. */
static void fork_and_leave(void) {
    int status = 0;
    start(work_a_while);
    pid_t pid = fork();
    if (pid == 0)
        exit(5);
    waitpid(pid, &status, 0);
    say(WIFEXITED(status) && WEXITSTATUS(status) == 5 ? 'c' : 'x');
}

static void test_exit(void **state) {
    static const struct {
        void (*child)(void);
        int code;
        const char *first; /* the expected first events */
    } cases[] = {{leave_while_it_works, 0, "e"},
                 {leave_after_it, 0, "nb"},
                 {exit_in_the_work, 3, ""},
                 {fork_and_leave, 0, "ce"}};
    char said[8];
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        assert_int_equal(outcome_of(cases[k].child, said), cases[k].code);
        assert_memory_equal(said, cases[k].first, strlen(cases[k].first));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
