/* See environment.h. All copies live until the last context is closed, because other threads may still read them. A
 * copy that equals the latest one is not kept. */
#include "base/environment.h"
#include "base/fork.h"
#include "base/memory.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

extern char **environ;

struct environment_copy {
    struct environment_copy *older;
    size_t size_bytes; /* of the texts */
    char *texts;       /* one behind the other */
    char *variables[]; /* the last is NULL */
};

static struct {
    pthread_mutex_t lock;
    int holders;
    unsigned generation; /* in a forked child another thread of the parent may hold the lock for ever */
    _Atomic(struct environment_copy *) latest;
} held = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct environment_copy *copy_variables(const char *const *variables) {
    size_t count = 0, size_bytes = 0;
    for (; variables && variables[count]; count++)
        size_bytes += strlen(variables[count]) + 1;
    size_t header_bytes = sizeof(struct environment_copy) + (count + 1) * sizeof(char *);
    struct environment_copy *made = le_alloc(header_bytes + size_bytes);
    if (!made)
        return NULL;
    *made = (struct environment_copy){.size_bytes = size_bytes, .texts = (char *)made + header_bytes};
    char *at = made->texts;
    for (size_t k = 0; k < count; k++) {
        size_t length = strlen(variables[k]) + 1;
        made->variables[k] = memcpy(at, variables[k], length);
        at += length;
    }
    made->variables[count] = NULL;
    return made;
}

static void begin_in_child(void) {
    unsigned now = le_fork_watch();
    if (held.generation == now)
        return;
    pthread_mutex_init(&held.lock, NULL);
    held.generation = now;
    held.holders = 0;
    atomic_store(&held.latest, NULL);
}

bool le_environment_hold(const char *const *variables) {
    begin_in_child();
    pthread_mutex_lock(&held.lock);
    struct environment_copy *latest = atomic_load(&held.latest),
                            *made = copy_variables(variables ? variables : (const char *const *)environ);
    bool same = made && latest && latest->size_bytes == made->size_bytes &&
                memcmp(latest->texts, made->texts, made->size_bytes) == 0;
    if (same) {
        le_free(made);
    } else if (made) {
        made->older = latest;
        atomic_store_explicit(&held.latest, made, memory_order_release);
    }
    held.holders += made != NULL;
    pthread_mutex_unlock(&held.lock);
    return made != NULL;
}

void le_environment_release(void) {
    pthread_mutex_lock(&held.lock);
    struct environment_copy *copy = --held.holders == 0 ? atomic_exchange(&held.latest, NULL) : NULL;
    pthread_mutex_unlock(&held.lock);
    for (struct environment_copy *older; copy; copy = older) {
        older = copy->older;
        le_free(copy);
    }
}

char *const *le_environment_all(void) {
    static char *const nothing[] = {NULL};
    struct environment_copy *latest = atomic_load_explicit(&held.latest, memory_order_acquire);
    return latest ? latest->variables : environ ? environ : nothing;
}

const char *le_environment_get(const char *name) {
    size_t length = strlen(name);
    for (char *const *variable = le_environment_all(); *variable; variable++)
        if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=')
            return *variable + length + 1;
    return NULL;
}

const char *le_environment_get_secure(const char *name) {
    return getauxval(AT_SECURE) ? NULL : le_environment_get(name);
}
