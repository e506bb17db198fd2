/* See exit_guard.h. A child of fork() has none of its parent's threads, so it does not wait. A thread that calls exit()
 * during its own guarded work does not wait for itself. */
#include "base/exit_guard.h"
#include "base/fork.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t lock; /* guards count */
    pthread_cond_t idle;
    int count; /* of guarded sections in progress */
    atomic_bool is_ending;
    unsigned generation; /* fork generation of the process that registered the handler */
} ending = {.lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER};
static _Thread_local bool is_at_work;

static void wait_for_all(void) {
    if (le_fork_generation() != ending.generation)
        return;
    atomic_store(&ending.is_ending, true);
    pthread_mutex_lock(&ending.lock);
    while (ending.count > is_at_work)
        pthread_cond_wait(&ending.idle, &ending.lock);
    pthread_mutex_unlock(&ending.lock);
}

static void register_wait(void) {
    ending.generation = le_fork_watch();
    atexit(wait_for_all);
}

void le_exit_guard_install(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_wait);
}

bool le_exit_guard_begin(void) {
    pthread_mutex_lock(&ending.lock);
    bool begins = !atomic_load(&ending.is_ending);
    ending.count += begins;
    pthread_mutex_unlock(&ending.lock);
    is_at_work = begins;
    return begins;
}

void le_exit_guard_end(void) {
    is_at_work = false;
    pthread_mutex_lock(&ending.lock);
    ending.count--;
    pthread_cond_broadcast(&ending.idle);
    pthread_mutex_unlock(&ending.lock);
}

bool le_exit_guard_is_exiting(void) {
    return atomic_load(&ending.is_ending);
}
