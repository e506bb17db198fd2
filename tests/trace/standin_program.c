/* A program that uses the stand-in for CUDA. It executes its arguments in order:
 *
 *   init  launch:N  driver:N  ask:N  up:N  few:N  down:N  graph:N  everything  start  stop  sync:STREAM  threads:T:N
 *   capture:N      captures N launches into a graph
 *   sleep:MS  errno  load:LIBRARY  say:TEXT  abort  kill9  exit:N
 *   fork:WORD[:N]  a child executes WORD and exits with 0; waits for it
 *   exec           executes this program again with the remaining arguments
 *   fsize:BYTES    limits the size of files
 *   parts:FOLDER   sets the folder for the recorder's part
 *   user:ID        changes its user; root:FOLDER: changes its root folder
 *   close          closes all descriptors from 3 on, and opens a file that no other code may write to
 *   wait:FILE      creates the file; exits with 7 when a signal arrives
 *   kept:N         waits until this process's part exists and has N kernels
 *   bench:N        prints the CPU time per launch of this thread, in ns */
#include "standin.h"
#include "trace/format.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 5000, FEW_BYTES = 4000 };
static char host[BYTES];

static void launch(long count) {
    for (long k = 0; k < count; k++)
        cudaLaunchKernel("saxpy");
}

static void launch_by_driver(long count) {
    for (long k = 0; k < count; k++)
        cuLaunchKernel("saxpy");
}

static void ask(long count) {
    int device;
    for (long k = 0; k < count; k++)
        cudaGetDevice(&device);
}

static void copy_up(long count) {
    for (long k = 0; k < count; k++)
        cuMemcpyHtoD_v2(0x7000, host, BYTES);
}

static void copy_few_up(long count) {
    for (long k = 0; k < count; k++)
        cuMemcpyHtoD_v2(0x7000, host, FEW_BYTES);
}

static void copy_down(long count) {
    for (long k = 0; k < count; k++)
        cuMemcpyDtoH_v2(host, 0x7000, BYTES);
}

/* The host waits for a stream, which then waits for an event. */
static void synchronize(long stream) {
    cuStreamSynchronize((void *)stream); /* NOLINT: the number is the handle */
    cuStreamWaitEvent((void *)stream, NULL, 0);
}

/* Creates the graph if it does not exist. */
static void launch_graph(long count) {
    static bool is_made;
    if (!is_made)
        cuGraphCreate();
    is_made = true;
    for (long k = 0; k < count; k++)
        cuGraphLaunch();
}

static void capture(long count) {
    cuStreamBeginCapture_v2((void *)13, 0); /* NOLINT: the number is the handle */
    launch(count);
    cuStreamEndCapture((void *)13); /* NOLINT */
}

static void *launch_on_thread(void *count) {
    launch(*(long *)count);
    return NULL;
}

static void use_threads(const char *argument) {
    char *end;
    pthread_t threads[64];
    long count = strtol(argument, &end, 10), each = strtol(end + 1, NULL, 10);
    for (long k = 0; k < count; k++)
        if (pthread_create(&threads[k], NULL, launch_on_thread, &each) != 0)
            exit(90);
    for (long k = 0; k < count; k++)
        pthread_join(threads[k], NULL);
}

static void check_errno(void) {
    errno = 123;
    launch(1);
    copy_up(1);
    cuMemcpyHtoD_v2(0x7000, (void *)16, BYTES); /* not an address of this process */
    if (errno != 123)
        exit(91);
}

static void bench(long count) {
    struct timespec start, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    launch_by_driver(count);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    double ns = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
    printf("%.1f ns a launch\n", ns / (double)count);
}

static void on_signal(int number) {
    (void)number;
    _exit(7);
}

static void wait_for_signal(const char *path) {
    signal(SIGTERM, on_signal);
    FILE *file = fopen(path, "w");
    if (file)
        fclose(file);
    sleep(120);
    exit(92);
}

static void sleep_ms(long ms) {
    struct timespec span = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&span, NULL);
}

/* The number of kernels in whole blocks, which begin after the header; -1: there is no part yet. */
static long count_kernels(FILE *part) {
    struct le_trace_header header;
    struct le_trace_block block;
    struct le_trace_record record;
    long count = -1, size_bytes = fseek(part, 0, SEEK_END) == 0 ? ftell(part) : -1;
    rewind(part);
    if (fread(&header, sizeof header, 1, part) != 1 || fseek(part, header.header_bytes, SEEK_SET) != 0)
        return -1;
    while (fread(&block, sizeof block, 1, part) == 1 && ftell(part) + (long)block.bytes <= size_bytes) {
        count += count < 0;
        for (uint32_t at = 0; at < block.bytes && fread(&record, sizeof record, 1, part) == 1; at += record.bytes) {
            count += record.kind == LE_TRACE_KERNEL;
            fseek(part, (long)(record.bytes - sizeof record), SEEK_CUR);
        }
    }
    return count;
}

static long kernels_kept(void) {
    const char *folder = getenv("LEAT_TRACE_FOLDER");
    char path[4096], end[16];
    long count = -1;
    DIR *parts = folder ? opendir(folder) : NULL;
    snprintf(end, sizeof end, ".%d", (int)getpid());
    for (struct dirent *entry; parts && (entry = readdir(parts)) != NULL;) {
        const char *number = strrchr(entry->d_name, '.');
        FILE *part = NULL;
        if (number && strcmp(number, end) == 0 &&
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path)
            part = fopen(path, "rb");
        if (part) {
            count = count_kernels(part);
            fclose(part);
        }
    }
    if (parts)
        closedir(parts);
    return count;
}

static void wait_for_kernels(long wanted) {
    for (int k = 0; k < 12000 && kernels_kept() < wanted; k++)
        sleep_ms(10);
    if (kernels_kept() < wanted)
        exit(89);
}

static void limit_files(long size_bytes) {
    struct rlimit limit = {(rlim_t)size_bytes, (rlim_t)size_bytes};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        exit(93);
}

static int own_file;

/* Checks that no other code has written to the file. */
static void check_own(void) {
    if (lseek(own_file, 0, SEEK_END) != 0)
        _exit(99);
}

/* From now on, the program cannot write where it could before. */
static void become_user(long user) {
    if (setresuid((uid_t)user, (uid_t)user, (uid_t)user) != 0)
        exit(97);
}

static void change_root(const char *folder) {
    if (chroot(folder) != 0 || chdir("/") != 0)
        exit(97);
}

/* Closes all descriptors, like a server that keeps nothing of its parent. The next file that it opens gets the lowest
 * free number. Uses the system call directly: closing a descriptor while the recorder uses it is what is tested, and
 * sanitizers must not report it as a race. */
static void close_all(void) {
    for (int k = 3; k < 1024; k++)
        syscall(SYS_close, k);
    FILE *own = tmpfile();
    if (!own || atexit(check_own) != 0)
        exit(98);
    own_file = fileno(own);
}

static void load(const char *library) {
    if (!dlopen(library, RTLD_NOW))
        exit(96);
}

static void run(char **words);

static void use_fork(char *argument) {
    char *words[] = {argument, NULL};
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        run(words);
        exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        exit(94);
}

static const struct {
    const char *name;
    void (*plain)(void);
    void (*counted)(long count);
} words_known[] = {
    {"launch", NULL, launch},      {"driver", NULL, launch_by_driver},
    {"up", NULL, copy_up},         {"down", NULL, copy_down},
    {"errno", check_errno, NULL},  {"bench", NULL, bench},
    {"graph", NULL, launch_graph}, {"sync", NULL, synchronize},
    {"sleep", NULL, sleep_ms},     {"fsize", NULL, limit_files},
    {"abort", abort, NULL},        {"ask", NULL, ask},
    {"few", NULL, copy_few_up},    {"user", NULL, become_user},
    {"close", close_all, NULL},    {"kept", NULL, wait_for_kernels},
    {"capture", NULL, capture},
};

static int run_known(const char *word, size_t length, const char *argument) {
    for (size_t k = 0; k < sizeof words_known / sizeof *words_known; k++) {
        if (strlen(words_known[k].name) != length || strncmp(words_known[k].name, word, length) != 0)
            continue;
        if (words_known[k].plain)
            words_known[k].plain();
        else
            words_known[k].counted(strtol(argument, NULL, 10));
        return 1;
    }
    return 0;
}

static int is(const char *word, size_t length, const char *name) {
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

static void run(char **words) {
    for (; *words; words++) {
        size_t length = strcspn(*words, ":");
        char *argument = (*words)[length] ? *words + length + 1 : *words + length;
        if (is(*words, length, "init"))
            cuInit(0);
        else if (is(*words, length, "everything"))
            standin_everything();
        else if (is(*words, length, "start"))
            cuProfilerStart();
        else if (is(*words, length, "stop"))
            cuProfilerStop();
        else if (is(*words, length, "threads"))
            use_threads(argument);
        else if (is(*words, length, "fork"))
            use_fork(argument);
        else if (is(*words, length, "exec"))
            execv("/proc/self/exe", words);
        else if (is(*words, length, "wait"))
            wait_for_signal(argument);
        else if (is(*words, length, "root"))
            change_root(argument);
        else if (is(*words, length, "parts"))
            setenv("LEAT_TRACE_FOLDER", argument, 1);
        else if (is(*words, length, "load"))
            load(argument);
        else if (is(*words, length, "say"))
            puts(argument);
        else if (is(*words, length, "kill9"))
            kill(getpid(), SIGKILL);
        else if (is(*words, length, "exit"))
            exit(atoi(argument));
        else if (!run_known(*words, length, argument))
            exit(95);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    for (size_t k = 0; k < BYTES; k++)
        host[k] = (char)k;
    run(argv + 1);
    return 0;
}
