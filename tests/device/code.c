/* Compiled kernels of programs, kept between processes: the second process compiles nothing and does not even load
 * NVRTC. A problem with the folder, or with a process that writes there, costs a compilation and a note, never a
 * result. Each process is this program again: `code DEVICE child` runs the programs with LEAT_CACHE_DIR and prints its
 * counts. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "support.h"
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 1000, KERNELS = 2, FAULTY_FILES = 8, TOGETHER = 6, NOBODY = 65534, PATH_BYTES = 400 };
static const char *program_path;

/* ---- the child */

struct counts {
    int compiled, found, loaded, notes, libraries, mapped;
};

static void count_note(leat_log_level level, const char *text, void *user) {
    (void)level;
    (void)text;
    ++*(int *)user;
}

/* Whether this process has loaded a real NVRTC. */
static int maps_nvrtc(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    int found = 0;
    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, "libnvrtc") != NULL;
    if (maps)
        fclose(maps);
    return found;
}

/* Records of compiling a program have no bytes. */
static void count_costs(leat_context *ctx, struct counts *counts) {
    size_t count = 0;
    leat_cost cost;
    assert_ok(leat_ledger_count(ctx, &count));
    for (size_t k = 0; k < count && leat_ledger_get(ctx, k, &cost) == LEAT_OK; k++) {
        counts->compiled += cost.kind == LEAT_COST_COMPILE && cost.bytes ? (int)cost.count : 0;
        counts->found += cost.kind == LEAT_COST_ON_DISK ? (int)cost.count : 0;
        counts->loaded += cost.kind == LEAT_COST_MODULE ? (int)cost.count : 0;
        counts->libraries += cost.kind == LEAT_COST_LIBRARY && strcmp(cost.what, "NVRTC") == 0;
    }
}

static int run_child(void) {
    struct counts counts = {0};
    float x[N], y[N], expected[N];
    const leat_options options = {
        .device = device_name, .keep_code = true, .log = count_note, .log_user = &counts.notes};
    leat_context *ctx = NULL;
    if (leat_open(&options, &ctx))
        return 1;
    for (int k = 0; k < N; k++) {
        x[k] = (float)(k % 17);
        expected[k] = x[k] * 3.0f + 1.0f;
    }
    const leat_description description = {
        .dtype = LEAT_F32, .rank = 1, .shape = {N}, .strides = {1}, .data = x, .memory = LEAT_MEMORY_HOST};
    leat_array *array = NULL;
    leat_binding inputs[] = {{.name = "x"}, {.name = NULL}}, results[] = {{.name = "y"}, {.name = "m"}, {.name = NULL}};
    float largest = 0;
    leat_status status = leat_array_wrap(ctx, &description, NULL, NULL, &array);
    inputs[0].array = array;
    if (!status)
        status = leat_eval(ctx, "y[i] = x[i] * 3 + 1\nm = max(i: y[i])", inputs, results);
    if (!status)
        status = leat_array_read(results[0].array, y, sizeof y, NULL, NULL);
    if (!status)
        status = leat_array_read(results[1].array, &largest, sizeof largest, NULL, NULL);
    if (status || memcmp(y, expected, sizeof y) != 0 || largest != 49) {
        fprintf(stderr, "wrong: %s\n", status ? leat_error_text(ctx) : "other values");
        return 2;
    }
    count_costs(ctx, &counts);
    counts.mapped = maps_nvrtc();
    printf("%d %d %d %d %d %d\n", counts.compiled, counts.found, counts.loaded, counts.notes, counts.libraries,
           counts.mapped);
    for (int k = 0; k < 2; k++)
        leat_array_free(results[k].array);
    leat_array_free(array);
    leat_close(ctx);
    return 0;
}

/* ---- starting the child */

struct child {
    pid_t process;
    int output;
};

/* prepare: called in the child before it starts; may be NULL. */
static struct child start_child(void (*prepare)(void)) {
    int ends[2];
    fflush(stdout);
    assert_int_equal(pipe(ends), 0);
    struct child child = {.process = fork(), .output = ends[0]};
    if (child.process == 0) {
        dup2(ends[1], 1);
        if (prepare)
            prepare();
        execl(program_path, program_path, device_name, "child", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return child;
}

/* Returns the exit code, or 128 + the signal; *counts: what the child printed. */
static int end_child(struct child child, struct counts *counts) {
    char text[256] = "";
    int status = 0;
    ssize_t got, length = 0;
    while ((got = read(child.output, text + length, sizeof text - 1 - (size_t)length)) > 0)
        length += got;
    close(child.output);
    assert_int_equal(waitpid(child.process, &status, 0), child.process);
    *counts = (struct counts){0};
    sscanf(text, "%d %d %d %d %d %d", &counts->compiled, &counts->found, &counts->loaded, &counts->notes,
           &counts->libraries, &counts->mapped);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static struct counts run(void (*prepare)(void)) {
    struct counts counts;
    assert_int_equal(end_child(start_child(prepare), &counts), 0);
    return counts;
}

/* ---- folders */

static char top[64], folder[80];

static int remove_one(const char *path, const struct stat *about, int flag, struct FTW *walk) {
    (void)about, (void)flag, (void)walk;
    return remove(path);
}

static int begin(void **state) {
    (void)state;
    strcpy(top, "/tmp/leat-code-XXXXXX");
    assert_non_null(mkdtemp(top));
    snprintf(folder, sizeof folder, "%s/kept", top);
    return setenv("LEAT_CACHE_DIR", folder, 1);
}

static int end(void **state) {
    (void)state;
    return nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The path of entry k; false if there are fewer. strays: files that are not entries. */
static bool entry_path(int k, char path[PATH_BYTES], int *strays) {
    DIR *listing = opendir(folder);
    bool found = false;
    *strays = 0;
    for (struct dirent *item; listing && (item = readdir(listing));) {
        bool is_entry = strlen(item->d_name) == 21 && strcmp(item->d_name + 16, ".leat") == 0;
        *strays += !is_entry && strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0;
        if (is_entry && k-- == 0) {
            snprintf(path, PATH_BYTES, "%s/%s", folder, item->d_name);
            found = true;
        }
    }
    if (listing)
        closedir(listing);
    return found;
}

static bool is_real(void) {
    return strcmp(device_name, "cuda") == 0;
}

/* ---- tests */

static void test_second_process(void **state) {
    (void)state;
    struct counts cold = run(NULL), warm = run(NULL);
    assert_int_equal(cold.compiled, KERNELS);
    assert_int_equal(cold.loaded, KERNELS);
    assert_int_equal(cold.mapped, is_real());
    assert_int_equal(warm.compiled, 0);
    assert_int_equal(warm.found, KERNELS);
    assert_int_equal(warm.loaded, KERNELS);
    assert_int_equal(warm.libraries + warm.mapped, 0);
    assert_int_equal(cold.notes + warm.notes, 0);
}

/* A folder that must not be read or written: each kernel is compiled, and there is one note. */
static void check_unused(void (*prepare)(void)) {
    struct counts counts = run(prepare);
    assert_int_equal(counts.compiled, KERNELS);
    assert_int_equal(counts.found, 0);
    assert_int_equal(counts.notes, 1);
}

static void forget_home(void) {
    unsetenv("LEAT_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
}

static void allow_no_writing(void) {
    const struct rlimit none = {0, 0};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
}

static void test_refused(void **state) {
    (void)state;
    char moved[100];
    run(NULL);
    check_unused(forget_home);
    assert_int_equal(chmod(folder, 0777), 0);
    check_unused(NULL);
    assert_int_equal(chmod(folder, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(folder, NOBODY, NOBODY), 0);
        check_unused(NULL);
        assert_int_equal(chown(folder, 0, 0), 0);
    }
    snprintf(moved, sizeof moved, "%s/moved", top);
    assert_int_equal(rename(folder, moved), 0);
    assert_int_equal(symlink(moved, folder), 0);
    check_unused(NULL);
    assert_int_equal(unlink(folder), 0);
    assert_int_equal(mkfifo(folder, 0600), 0);
    check_unused(NULL);
    assert_int_equal(unlink(folder), 0);
    if (is_real()) /* sim's compiler writes files, too */
        check_unused(allow_no_writing);
    assert_int_equal(rename(moved, folder), 0);
    assert_int_equal(run(NULL).found, KERNELS);
}

/* Links and pipes in place of an entry: they are not read, and are replaced by an entry. */
static void test_no_file(void **state) {
    (void)state;
    char path[PATH_BYTES];
    int strays;
    run(NULL);
    for (int k = 0; k < 2; k++) {
        assert_true(entry_path(k, path, &strays));
        assert_int_equal(unlink(path), 0);
        assert_int_equal(k ? mkfifo(path, 0600) : symlink("/etc/passwd", path), 0);
    }
    struct counts counts = run(NULL);
    assert_true(counts.compiled > 0 && counts.compiled + counts.found == KERNELS);
    assert_int_equal(counts.notes, 0);
    assert_int_equal(run(NULL).found, KERNELS);
}

/* One byte of an entry is changed, or the entry is cut there. */
static void damage(const char *path, int step) {
    struct stat about;
    unsigned char byte;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &about), 0);
    off_t at = step / 2 * (about.st_size - 1) / (FAULTY_FILES / 2 - 1);
    if (step % 2) {
        assert_int_equal(ftruncate(fd, at), 0);
    } else {
        at += at >= 184 && at < 192 ? 8 : 0; /* any count of uses is valid */
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= (unsigned char)(1 << step % 8);
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    close(fd);
}

static void test_damage(void **state) {
    (void)state;
    char path[PATH_BYTES];
    int strays;
    run(NULL);
    for (int step = 0; step < FAULTY_FILES; step++) {
        for (int k = 0; entry_path(k, path, &strays); k++)
            damage(path, step);
        struct counts counts = run(NULL);
        assert_int_equal(counts.compiled, KERNELS);
        assert_int_equal(counts.notes, 0);
    }
    assert_int_equal(run(NULL).found, KERNELS);
}

static void test_together(void **state) {
    (void)state;
    struct child children[TOGETHER];
    struct counts counts;
    for (int k = 0; k < TOGETHER; k++)
        children[k] = start_child(NULL);
    for (int k = 0; k < TOGETHER; k++) {
        assert_int_equal(end_child(children[k], &counts), 0);
        assert_int_equal(counts.compiled + counts.found, KERNELS);
        assert_int_equal(counts.notes, 0);
    }
    assert_int_equal(run(NULL).found, KERNELS);
}

/* On file systems without unnamed files, a process that is killed while it writes leaves a file, which is removed when
 * it is old. */
static bool has_files_without_names(void) {
    int file = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
    return file >= 0;
}

/* Kills the child LEAT_TEST_KILLS times, at moments from its start to its end. */
static void test_killed(void **state) {
    (void)state;
    const char *text = getenv("LEAT_TEST_KILLS");
    const int kills = text ? atoi(text) : 6;
    char path[PATH_BYTES];
    int strays;
    struct counts counts;
    for (int k = 0; k < kills; k++) {
        struct child child = start_child(NULL);
        const struct timespec delay = {.tv_nsec = 1000000L * (5 + k * 37 % 400)};
        nanosleep(&delay, NULL);
        kill(child.process, SIGKILL);
        int code = end_child(child, &counts);
        assert_true(code == 0 || code == 128 + SIGKILL);
    }
    counts = run(NULL);
    assert_int_equal(counts.compiled + counts.found, KERNELS);
    assert_int_equal(run(NULL).found, KERNELS);
    assert_false(entry_path(1000, path, &strays));
    assert_true(strays == 0 || (strays <= kills && !has_files_without_names()));
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_second_process, begin, end),
        cmocka_unit_test_setup_teardown(test_refused, begin, end),
        cmocka_unit_test_setup_teardown(test_no_file, begin, end),
        cmocka_unit_test_setup_teardown(test_damage, begin, end),
        cmocka_unit_test_setup_teardown(test_together, begin, end),
        cmocka_unit_test_setup_teardown(test_killed, begin, end),
    };
    program_path = arguments[0];
    if (count > 2) {
        device_name = arguments[1];
        return run_child();
    }
    if (!start(count, arguments) || on_cpu())
        return SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
