/* Counts forks: calling getpid() on every call would cost more than most calls themselves. Any thread. */
#include "base/fork.h"
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint fork_count;

static void count_fork(void) {
    atomic_fetch_add_explicit(&fork_count, 1, memory_order_relaxed);
}

static void watch_forks(void) {
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned le_fork_generation(void) {
    return atomic_load_explicit(&fork_count, memory_order_relaxed);
}

unsigned le_fork_watch(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    return le_fork_generation();
}
