/* See blas_room.h. The state is global to the process, like the library. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "device/cpu/blas_room.h"
#include "base/environment.h"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFER_BYTES  ((size_t)128 << 20) /* of one thread, on x86-64 and Arm */
#define LIBRARY_BYTES ((size_t)64 << 20)  /* including the libraries that it loads */
#define CALLERS_MAX   256

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *(*take)(int purpose);
    void (*give)(void *buffer);
    int limit;    /* concurrent callers allowed; if it has buffers, at most that many are mapped */
    int buffers;  /* mapped buffers: callers that need not wait */
    int expected; /* callers announced by the products in progress */
    int active;   /* callers inside the library now */
    bool growing; /* buffers are being mapped: no calls allowed */
} room = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- before loading */

static void *map_bytes(size_t size_bytes) {
    void *at = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* The number of threads that OpenBLAS has while it loads, including the loading thread. */
static int library_threads(void) {
    cpu_set_t cores;
    const char *asked = le_environment_get("OPENBLAS_NUM_THREADS");
    int wanted = asked ? atoi(asked) : 0;
    long count = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : sysconf(_SC_NPROCESSORS_CONF);
    if (wanted > 0 && wanted < count)
        count = wanted;
    return count < 1 ? 1 : count < CALLERS_MAX ? (int)count : CALLERS_MAX;
}

struct trial {
    pthread_mutex_t end; /* held until all threads are started */
    pthread_t threads[CALLERS_MAX];
    void *buffers[CALLERS_MAX];
    void *library;
};

static void *wait_for_end(void *user) {
    struct trial *trial = user;
    pthread_mutex_lock(&trial->end);
    pthread_mutex_unlock(&trial->end);
    return NULL;
}

/* Allocates everything that the library will need, all at once, and releases it. */
static bool try_resources(struct trial *trial, int threads) {
    int buffers = 0, started = 0;
    pthread_mutex_init(&trial->end, NULL);
    pthread_mutex_lock(&trial->end);
    trial->library = map_bytes(LIBRARY_BYTES);
    while (buffers < threads && (trial->buffers[buffers] = map_bytes(BUFFER_BYTES)))
        buffers++;
    while (started < threads - 1 && pthread_create(&trial->threads[started], NULL, wait_for_end, trial) == 0)
        started++;
    pthread_mutex_unlock(&trial->end);
    for (int k = 0; k < started; k++)
        pthread_join(trial->threads[k], NULL);
    for (int k = 0; k < buffers; k++)
        munmap(trial->buffers[k], BUFFER_BYTES);
    if (trial->library)
        munmap(trial->library, LIBRARY_BYTES);
    pthread_mutex_destroy(&trial->end);
    return trial->library && buffers == threads && started == threads - 1;
}

bool le_blas_room_to_load(char *why, size_t why_bytes) {
    struct trial trial;
    int threads = library_threads();
    if (try_resources(&trial, threads))
        return true;
    snprintf(why, why_bytes, "OpenBLAS needs %zu MiB of address space and %d threads, which this process cannot get",
             (LIBRARY_BYTES + (size_t)threads * BUFFER_BYTES) >> 20, threads);
    return false;
}

/* ---- callers */

void le_blas_room_init(int callers_max, bool has_buffers, void *(*take)(int purpose), void (*give)(void *buffer)) {
    room.limit = callers_max < 1 ? 1 : callers_max < CALLERS_MAX ? callers_max : CALLERS_MAX;
    room.buffers = has_buffers ? 0 : room.limit;
    room.take = take && give ? take : NULL;
    room.give = give;
}

/* Makes the library map one more buffer, after checking that it can. held: the buffers taken so far, which are all that
 * are mapped. */
static bool add_buffer(void **held, int count) {
    void *space = count < room.buffers ? NULL : map_bytes(BUFFER_BYTES);
    if (count >= room.buffers && !space)
        return false;
    if (space)
        munmap(space, BUFFER_BYTES);
    held[count] = room.take ? room.take(0) : NULL;
    return !room.take || held[count];
}

/* No thread calls the library meanwhile, so the buffers taken here are all that exist. */
static void map_buffers(int target) {
    void *held[CALLERS_MAX];
    int count = 0;
    while (count < target && add_buffer(held, count))
        count++;
    for (int k = 0; k < count && room.take; k++)
        room.give(held[k]);
    if (count > room.buffers)
        room.buffers = count;
}

leat_status le_blas_enter(int callers) {
    pthread_mutex_lock(&room.lock);
    room.expected += callers;
    while (room.growing)
        pthread_cond_wait(&room.changed, &room.lock);
    int target = room.expected < room.limit ? room.expected : room.limit;
    if (room.buffers < target) {
        room.growing = true;
        while (room.active > 0)
            pthread_cond_wait(&room.changed, &room.lock);
        map_buffers(target);
        room.growing = false;
        pthread_cond_broadcast(&room.changed);
    }
    bool some = room.buffers > 0;
    if (!some)
        room.expected -= callers;
    pthread_mutex_unlock(&room.lock);
    if (some)
        return LEAT_OK;
    return le_fail(LEAT_OUT_OF_MEMORY, "out of memory: OpenBLAS needs %zu bytes for a matrix product", BUFFER_BYTES);
}

void le_blas_leave(int callers) {
    pthread_mutex_lock(&room.lock);
    room.expected -= callers;
    pthread_mutex_unlock(&room.lock);
}

void le_blas_begin(void) {
    pthread_mutex_lock(&room.lock);
    while (room.growing || room.active >= room.buffers)
        pthread_cond_wait(&room.changed, &room.lock);
    room.active++;
    pthread_mutex_unlock(&room.lock);
}

void le_blas_end(void) {
    pthread_mutex_lock(&room.lock);
    room.active--;
    pthread_cond_broadcast(&room.changed);
    pthread_mutex_unlock(&room.lock);
}
