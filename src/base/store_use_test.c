/* The store under difficult conditions: folders that must not be used, full disks, out of memory, many threads and
 * processes at once. Also sealed files in memory. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/store_testing.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* ---- folders */

/* Expects that nothing is stored, one note says why, and stat and clear fail with LEAT_FILE. */
static void expect_refused(struct le_store *store, const char *why) {
    leat_cache_info info;
    put(store, "key", "value");
    assert_false(get(store, "key", "value"));
    const char *note = le_store_note(store);
    assert_non_null(note);
    if (!strstr(note, why))
        fail_msg("%s: lacks %s", note, why);
    put(store, "other", "value");
    assert_null(le_store_note(store));
    assert_int_equal(le_store_stat(store, &info), LEAT_FILE);
    assert_non_null(strstr(le_errors_text(), why));
    assert_int_equal(le_store_clear(store, &info), LEAT_FILE);
    le_store_close(store);
}

static void refuses_folders_of_others(void **state) {
    (void)state;
    struct scratch scratch;
    char path[128];
    scratch_make(&scratch);
    assert_int_equal(mkdir(scratch.folder, 0700), 0);
    for (mode_t bit = 01; bit <= 040; bit <<= 1) {
        assert_int_equal(chmod(scratch.folder, 0700 | bit), 0);
        expect_refused(open_store(scratch.folder, 0), "is open to other users (mode 07");
    }
    assert_int_equal(chmod(scratch.folder, 0700), 0);
    snprintf(path, sizeof path, "%s/link", scratch.top);
    assert_int_equal(symlink(scratch.folder, path), 0);
    expect_refused(open_store(path, 0), "symbolic link");
    strcat(path, "//");
    expect_refused(open_store(path, 0), "symbolic link");
    snprintf(path, sizeof path, "%s/nowhere", scratch.top);
    assert_int_equal(symlink("no-such-folder", path), 0);
    expect_refused(open_store(path, 0), "symbolic link");
    snprintf(path, sizeof path, "%s/file", scratch.top);
    write_file(path, (const unsigned char *)"", 0);
    expect_refused(open_store(path, 0), "Not a directory");
    strcat(path, "/below");
    expect_refused(open_store(path, 0), "Not a directory");
    if (geteuid() == 0)
        assert_int_equal(chown(scratch.folder, NOBODY, NOBODY), 0);
    const char *foreign = geteuid() == 0 ? scratch.folder : "/usr";
    expect_refused(open_store(foreign, 0), "belongs to user");
    assert_int_equal(count_files(scratch.folder), 0);
    scratch_remove(&scratch);
}

/* Runs in a child that is not root, so that permissions apply. Returns 0 if all went as expected. */
static int use_read_only_folder(void) {
    struct scratch scratch;
    bool right = geteuid() != 0 || (setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    if (!right)
        return 77;
    scratch_make(&scratch);
    put_anew(scratch.folder, "key", "value");
    right = chmod(scratch.folder, 0500) == 0;
    struct le_store *store = open_store(scratch.folder, 0);
    right = right && get(store, "key", "value"); /* existing entries can be read */
    right = right && le_store_note(store) == NULL;
    put(store, "new", "value");
    const char *note = le_store_note(store);
    right = right && note && strstr(note, "cannot be written: Permission denied");
    right = right && !get(store, "new", "value");
    le_store_close(store);
    char below[128];
    snprintf(below, sizeof below, "%s/below", scratch.folder);
    store = open_store(below, 0);
    put(store, "key", "value");
    note = le_store_note(store);
    right = right && note && strstr(note, "cannot be created: Permission denied");
    le_store_close(store);
    chmod(scratch.folder, 0700);
    scratch_remove(&scratch);
    return right ? 0 : 1;
}

static int exit_code_of(pid_t child) {
    int how;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 100 + WTERMSIG(how);
}

static void reads_where_it_cannot_write(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(use_read_only_folder());
    int code = exit_code_of(child);
    if (code == 77)
        skip();
    assert_int_equal(code, 0);
}

/* Files cannot grow beyond 1,000 bytes, as if the disk were full. */
static int write_on_full_disk(const char *folder) {
    const struct rlimit limit = {1000, 1000};
    char large[2000] = "";
    memset(large, 'l', sizeof large - 1);
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 77;
    struct le_store *store = open_store(folder, 0);
    put(store, "key", large);
    const char *note = le_store_note(store);
    bool right = note && strstr(note, "cannot be written: File too large") && get(store, "key", "before");
    put(store, "small", "value");
    le_store_close(store);
    return right ? 0 : 1;
}

static void full_disks_cost_an_entry(void **state) {
    (void)state;
    struct scratch scratch;
    scratch_make(&scratch);
    put_anew(scratch.folder, "key", "before");
    pid_t child = fork();
    if (child == 0)
        _exit(write_on_full_disk(scratch.folder));
    assert_int_equal(exit_code_of(child), 0);
    assert_true(get_anew(scratch.folder, "small", "value"));
    assert_true(get_anew(scratch.folder, "key", "before"));
    assert_int_equal(count_files(scratch.folder), 2); /* no temporary file */
    scratch_remove(&scratch);
}

static void folder_is_found_by_environment(void **state) {
    (void)state;
    static const char *const NAMES[] = {"LEAT_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
    static const char *const BELOW[] = {"", "/leat", "/.cache/leat"};
    struct scratch scratch;
    char value[128], expected[160];
    leat_cache_info info;
    scratch_make(&scratch);
    unsetenv("LEAT_CACHE_CAP_BYTES");
    for (int set = 2; set >= 0; set--) { /* each overrides those after it */
        snprintf(value, sizeof value, "%s/%d", scratch.top, set);
        snprintf(expected, sizeof expected, "%s%s", value, BELOW[set]);
        setenv(NAMES[set], value, 1);
        for (int k = 0; k < set; k++)
            setenv(NAMES[k], k == 1 ? "relative/path" : "", 1);
        struct le_store *store = open_store(NULL, 0);
        put(store, "key", "value");
        assert_null(le_store_note(store));
        assert_int_equal(le_store_stat(store, &info), LEAT_OK);
        assert_string_equal(info.folder, expected);
        assert_true(info.count == 1 && info.cap_bytes == 1 << 30);
        le_store_close(store);
        assert_int_equal(count_files(expected), 1);
    }
    for (int k = 0; k < 3; k++)
        unsetenv(NAMES[k]);
    expect_refused(open_store(NULL, 0), "neither LEAT_CACHE_DIR");
    char *path = calloc(1, 5001);
    memset(path, 'p', 5000);
    expect_refused(open_store(path, 0), "too long");
    free(path);
    scratch_remove(&scratch);
}

static void limit_is_found_by_environment(void **state) {
    (void)state;
    static const char *const WRONG[] = {"1G", "-1", "x", " 5", "99999999999999999999999"};
    struct scratch scratch;
    leat_cache_info info;
    scratch_make(&scratch);
    for (size_t k = 0; k < ARRAY_LEN(WRONG); k++) {
        setenv("LEAT_CACHE_CAP_BYTES", WRONG[k], 1);
        struct le_store *store = open_store(scratch.folder, 0);
        assert_non_null(strstr(le_store_note(store), WRONG[k]));
        assert_null(le_store_note(store));
        assert_int_equal(le_store_stat(store, &info), LEAT_OK);
        assert_int_equal(info.cap_bytes, 1 << 30);
        le_store_close(store);
    }
    setenv("LEAT_CACHE_CAP_BYTES", "0", 1);
    struct le_store *store = open_store(scratch.folder, 0);
    put(store, "key", "value");
    assert_false(get(store, "key", "value"));
    assert_null(le_store_note(store));
    assert_int_equal(count_files(scratch.folder), 0);
    le_store_close(store);
    setenv("LEAT_CACHE_CAP_BYTES", "12345", 1);
    store = open_store(scratch.folder, 0);
    assert_int_equal(le_store_stat(store, &info), LEAT_OK);
    assert_int_equal(info.cap_bytes, 12345);
    le_store_close(store);
    unsetenv("LEAT_CACHE_CAP_BYTES");
    scratch_remove(&scratch);
}

/* ---- many at once */

enum { COLD_KEYS = 50, KEYS = 24, PROCESSES = 4, TURNS = 120, THREADS = 4 };

/* The value of a key, always the same: one letter, repeated. */
static void value_of(unsigned key, char *value) {
    size_t length = 100 + 37 * key;
    memset(value, 'a' + (int)(key % 26), length);
    value[length] = 0;
}

/* Puts and gets at random, with a limit that holds half of the entries. Returns the number of entries found, or -1. */
static int put_and_get(struct le_store *shared, const char *folder, unsigned seed, int turns) {
    char key[16], value[2000];
    int found = 0;
    for (int turn = 0; turn < turns; turn++) {
        seed = seed * 1103515245u + 12345u;
        unsigned chosen = (seed >> 16) % KEYS;
        snprintf(key, sizeof key, "key %u", chosen);
        value_of(chosen, value);
        struct le_store *store = shared ? shared : open_store(folder, 8000);
        void *read;
        size_t read_bytes;
        bool damaged, is_there = le_store_get(store, key, strlen(key), &read, &read_bytes, &damaged);
        bool right = !is_there || (read_bytes == strlen(value) && memcmp(read, value, read_bytes) == 0);
        if (is_there)
            le_free(read);
        else
            put(store, key, value);
        right = right && !damaged && le_store_note(store) == NULL;
        if (!shared)
            le_store_close(store);
        if (!right)
            return -1;
        found += is_there;
    }
    return found;
}

static void processes_share_a_folder(void **state) {
    (void)state;
    struct scratch scratch;
    leat_cache_info info;
    pid_t children[PROCESSES];
    scratch_make(&scratch);
    for (unsigned k = 0; k < PROCESSES; k++) {
        children[k] = fork();
        if (children[k] == 0)
            _exit(put_and_get(NULL, scratch.folder, k, TURNS) > TURNS / 10 ? 0 : 1);
    }
    for (int k = 0; k < PROCESSES; k++)
        assert_int_equal(exit_code_of(children[k]), 0);
    struct le_store *store = open_store(scratch.folder, 8000);
    assert_int_equal(le_store_stat(store, &info), LEAT_OK);
    assert_true(info.count > 4 && info.size_bytes <= 8000 + PROCESSES * 1300);
    le_store_close(store);
    assert_int_equal(count_files(scratch.folder), info.count);
    scratch_remove(&scratch);
}

/* Every process gets and puts the same keys, initially missing, each in its own order. */
static int get_or_put_all(const char *folder, unsigned process) {
    char key[16], value[2000];
    for (unsigned k = 0; k < COLD_KEYS; k++) {
        unsigned chosen = (k * 7 + process * 13) % COLD_KEYS;
        snprintf(key, sizeof key, "cold %u", chosen);
        value_of(chosen % KEYS, value);
        struct le_store *store = open_store(folder, 0);
        if (!get(store, key, value))
            put(store, key, value);
        bool right = get(store, key, value) && le_store_note(store) == NULL;
        le_store_close(store);
        if (!right)
            return 1;
    }
    return 0;
}

/* LEAT_TEST_PROCESSES of them. */
static void cold_processes_leave_all_keys(void **state) {
    (void)state;
    enum { MOST = 256 };
    const char *text = getenv("LEAT_TEST_PROCESSES");
    const int processes = text ? atoi(text) : PROCESSES;
    struct scratch scratch;
    pid_t children[MOST];
    assert_true(processes > 0 && processes <= MOST);
    scratch_make(&scratch);
    for (int k = 0; k < processes; k++) {
        children[k] = fork();
        if (children[k] == 0)
            _exit(get_or_put_all(scratch.folder, (unsigned)k));
    }
    for (int k = 0; k < processes; k++)
        assert_int_equal(exit_code_of(children[k]), 0);
    for (unsigned k = 0; k < COLD_KEYS; k++) {
        char key[16], value[2000];
        snprintf(key, sizeof key, "cold %u", k);
        value_of(k % KEYS, value);
        assert_true(get_anew(scratch.folder, key, value));
    }
    assert_int_equal(count_files(scratch.folder), COLD_KEYS);
    scratch_remove(&scratch);
}

/* Kills a writer at any moment: entries are intact, and the files that it left are removed when they are old. */
static void killed_writers_leave_whole_entries(void **state) {
    (void)state;
    struct scratch scratch;
    leat_cache_info removed;
    scratch_make(&scratch);
    for (int round = 0; round < 20; round++) {
        pid_t child = fork();
        if (child == 0)
            for (unsigned k = 0;; k++)
                put_and_get(NULL, scratch.folder, k, TURNS);
        usleep((useconds_t)(1000 + 700 * round));
        kill(child, SIGKILL);
        assert_int_equal(exit_code_of(child), 100 + SIGKILL);
        assert_true(put_and_get(NULL, scratch.folder, (unsigned)round, 20) >= 0);
    }
    struct le_store *store = open_store(scratch.folder, 0);
    DIR *listing = opendir(scratch.folder);
    assert_non_null(listing);
    for (struct dirent *item; (item = readdir(listing));)
        if (item->d_name[0] == '.' && strstr(item->d_name, ".tmp"))
            assert_int_equal(utimensat(dirfd(listing), item->d_name, (struct timespec[2]){{1, 0}, {1, 0}}, 0), 0);
    closedir(listing);
    assert_int_equal(le_store_clear(store, &removed), LEAT_OK);
    assert_int_equal(count_files(scratch.folder), 0);
    le_store_close(store);
    scratch_remove(&scratch);
}

struct worker {
    struct le_store *store;
    unsigned seed;
    int found;
};

static void *work(void *data) {
    struct worker *worker = data;
    worker->found = put_and_get(worker->store, NULL, worker->seed, TURNS);
    return NULL;
}

static void threads_share_a_store(void **state) {
    (void)state;
    struct scratch scratch;
    leat_cache_entry gone;
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    scratch_make(&scratch);
    struct le_store *store = open_store(scratch.folder, 8000);
    for (unsigned k = 0; k < THREADS; k++) {
        workers[k] = (struct worker){.store = store, .seed = k};
        assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
        assert_true(workers[k].found > TURNS / 10);
    }
    assert_true(le_store_evicted(store, &gone));
    le_store_close(store);
    scratch_remove(&scratch);
}

/* ---- out of memory */

static struct {
    int until_failure; /* requests; -1: none fails */
    bool has_failed;
    int live;
} faults;

static bool fails(void) {
    bool now = faults.until_failure == 0;
    faults.until_failure -= faults.until_failure >= 0;
    faults.has_failed |= now;
    return now;
}

static void *allocate_some(size_t size_bytes, void *user) {
    (void)user;
    void *memory = fails() ? NULL : malloc(size_bytes);
    faults.live += memory != NULL;
    return memory;
}

static void *reallocate_some(void *memory, size_t size_bytes, void *user) {
    (void)user;
    return fails() ? NULL : realloc(memory, size_bytes);
}

static void release(void *memory, void *user) {
    (void)user;
    faults.live--;
    free(memory);
}

/* Uses all functions of a store. A failed request may have no effect, but must do no other harm. */
static void use_all(const char *folder) {
    struct le_store *store;
    const struct le_store_options options = {.folder = folder, .cap_bytes = 14000};
    leat_status status = le_store_open(&options, &store);
    if (status) {
        assert_int_equal(status, LEAT_OUT_OF_MEMORY);
        return;
    }
    char key[16];
    for (int k = 0; k < 3; k++) {
        snprintf(key, sizeof key, "%d", k);
        put(store, key, "value");
    }
    get(store, "2", "value");
    get(store, "no such key", "");
    leat_cache_entry *entries = NULL;
    leat_cache_info info = {0};
    size_t count = 0;
    status = le_store_stat(store, &info);
    assert_true(!status || (faults.has_failed && status == LEAT_OUT_OF_MEMORY));
    status = le_store_list(store, &entries, &count);
    assert_true(!status || (faults.has_failed && status == LEAT_OUT_OF_MEMORY));
    le_free(entries);
    le_store_close(store);
    if (le_store_open(&options, &store) == LEAT_OK) {
        get(store, "1", "value");
        le_store_close(store);
    }
}

static void takes_any_failure_of_memory(void **state) {
    (void)state;
    struct scratch scratch;
    scratch_make(&scratch);
    for (int k = 0; k < 70; k++) { /* enough that the listing of the folder grows */
        char key[16];
        snprintf(key, sizeof key, "old %d", k);
        put_anew(scratch.folder, key, "");
    }
    le_memory_set_allocator(&(struct le_allocator){allocate_some, reallocate_some, release, NULL});
    int tried = 0;
    for (faults.has_failed = true; faults.has_failed; tried++) {
        faults.has_failed = false;
        faults.until_failure = tried;
        faults.live = 0;
        use_all(scratch.folder);
        assert_int_equal(faults.live, 0);
    }
    assert_true(tried > 10);
    faults.until_failure = -1;
    struct le_store *store = open_store(scratch.folder, 0);
    leat_cache_info removed;
    faults.until_failure = 0;
    assert_int_equal(le_store_clear(store, &removed), LEAT_OUT_OF_MEMORY);
    assert_int_equal(le_store_clear(store, &removed), LEAT_OK);
    assert_true(removed.count > 60);
    le_store_close(store);
    le_memory_set_allocator(NULL);
    scratch_remove(&scratch);
}

/* ---- sealed files */

static void sealed_files_never_change(void **state) {
    (void)state;
    int fd = -1;
    char bytes[8] = "";
    assert_int_equal(le_store_memfd("compiled", 8, "of a very long name, which goes on and on and on", &fd), LEAT_OK);
    assert_int_equal(pread(fd, bytes, 8, 0), 8);
    assert_memory_equal(bytes, "compiled", 8);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    assert_int_equal(ftruncate(fd, 4), -1);
    assert_int_equal(ftruncate(fd, 16), -1);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, 0), -1);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(fd);
}

/* Loads the bytes of libm a second time. */
static void sealed_files_can_be_loaded(void **state) {
    (void)state;
    struct link_map *map = NULL;
    void *library = dlopen("libm.so.6", RTLD_NOW);
    if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        skip();
    unsigned char *bytes = malloc((size_t)64 << 20);
    size_t size_bytes = read_file(map->l_name, bytes, (size_t)64 << 20);
    int fd;
    char path[64];
    assert_int_equal(le_store_memfd(bytes, size_bytes, "libm", &fd), LEAT_OK);
    free(bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(loaded);
    assert_ptr_not_equal(dlsym(loaded, "floor"), dlsym(library, "floor"));
    double (*round_down)(double);
    *(void **)&round_down = dlsym(loaded, "floor");
    assert_true(round_down(2.5) == 2);
    dlclose(loaded);
    close(fd);
    dlclose(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_folders_of_others),     cmocka_unit_test(reads_where_it_cannot_write),
        cmocka_unit_test(full_disks_cost_an_entry),      cmocka_unit_test(folder_is_found_by_environment),
        cmocka_unit_test(limit_is_found_by_environment), cmocka_unit_test(processes_share_a_folder),
        cmocka_unit_test(cold_processes_leave_all_keys), cmocka_unit_test(killed_writers_leave_whole_entries),
        cmocka_unit_test(threads_share_a_store),         cmocka_unit_test(takes_any_failure_of_memory),
        cmocka_unit_test(sealed_files_never_change),     cmocka_unit_test(sealed_files_can_be_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
