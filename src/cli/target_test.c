/* Output files: which can be written, and which paths mean the same file. */
#include "cli/target.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void touch(const char *path, mode_t mode) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
}

/* Makes and enters a new folder that everybody may write to. */
static void enter(char folder[64]) {
    strcpy(folder, "/tmp/leat_test_XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(chdir(folder), 0);
}

/* If the test runs as root, switches to an unprivileged user for the check, because root may write any file. */
static bool can(const char *path) {
    bool is_root = geteuid() == 0;
    if (is_root)
        assert_int_equal(seteuid(65534), 0);
    bool result = le_cli_target_can_be_written(path);
    int number = errno;
    if (is_root)
        assert_int_equal(seteuid(0), 0);
    errno = number;
    return result;
}

static void test_can_be_written(void **state) {
    (void)state;
    char folder[64];
    enter(folder);
    touch("open", 0666);
    touch("protected", 0444);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(chmod("pipe", 0666), 0);
    assert_int_equal(mkdir("closed", 0755), 0);
    touch("closed/open", 0666);
    assert_int_equal(symlink("../open", "closed/link"), 0);
    assert_int_equal(symlink("../pipe", "closed/to_pipe"), 0);
    assert_int_equal(symlink("../new", "closed/to_new"), 0);
    assert_int_equal(chmod("closed", 0555), 0);
    assert_true(can("open"));
    assert_true(can("./new"));
    assert_true(can("pipe"));
    assert_true(can("closed/link"));
    assert_true(can("closed/to_pipe"));
    assert_true(can("closed/to_new"));
    assert_false(can("protected"));
    assert_int_equal(errno, EACCES);
    assert_false(can("closed/new"));
    assert_false(can("closed/open"));
    assert_int_equal(errno, EACCES);
    assert_false(can("none/new"));
    assert_int_equal(errno, ENOENT);
    assert_int_equal(chmod("closed", 0755), 0);
    static const char *const NAMES[] = {"closed/open", "closed/link", "closed/to_pipe", "closed/to_new", "open",
                                        "protected",   "pipe"};
    for (size_t k = 0; k < sizeof NAMES / sizeof NAMES[0]; k++)
        assert_int_equal(unlink(NAMES[k]), 0);
    assert_int_equal(rmdir("closed"), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void test_is_same(void **state) {
    (void)state;
    char folder[64];
    enter(folder);
    touch("a", 0600);
    assert_int_equal(symlink("a", "link"), 0);
    assert_int_equal(link("a", "hard"), 0);
    assert_true(le_cli_target_is_same("a", "./a"));
    assert_true(le_cli_target_is_same("link", "a"));
    assert_true(le_cli_target_is_same("new", ".//new"));
    assert_int_equal(symlink("new", "to_new") | symlink("./to_new", "to_link"), 0);
    assert_true(le_cli_target_is_same("to_new", "new"));
    assert_true(le_cli_target_is_same("to_link", "new"));
    assert_false(le_cli_target_is_same("hard", "a")); /* hard links are replaced separately */
    assert_false(le_cli_target_is_same("new", "a"));
    assert_false(le_cli_target_is_same("none/new", "none/new"));
    assert_int_equal(unlink("a") | unlink("link") | unlink("hard") | unlink("to_new") | unlink("to_link"), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_can_be_written),
        cmocka_unit_test(test_is_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
