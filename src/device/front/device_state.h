/* The state of a device and of its streams, shared by the files of the front door: device.c, stream.c, order.c,
 * consumer.c, device_pool.c, caller_memory.c, event.c, copy.c, staging.c, module.c and launch.c. Backends see native
 * handles, and the device itself only to latch a fatal error.
 *
 * Locks: `lock` guards the fields below it, as marked. No backend call that may wait is made under it. `notes_lock` is
 * a leaf: it may be taken under `lock`, and no lock is taken under it. Fields not listed under a lock never change
 * after opening. */
#ifndef LE_DEVICE_STATE_H
#define LE_DEVICE_STATE_H
#include "device/front/device.h"
#include <pthread.h>

struct le_copy_kernels; /* copy_kernel.c: compiled for the first copy that needs them */
struct le_pools;        /* device_pool.c: one pool of memory for each kind */
struct le_staging;      /* staging.c: staging buffers and the threads that copy through them */
struct le_timing;       /* timing.c: events around the device's work, at ledger level 2 */

/* An event recorded in a stream after ticket `number`. A host thread that waits for it holds it, and a held event is
 * not recorded again. */
struct le_mark {
    void *event; /* the backend's */
    uint64_t number;
    int holders; /* the stream that owns the mark, and the waiting threads */
    struct le_mark *next;
};

/* The point of another stream that this stream has waited for. */
struct le_stream_wait {
    uint64_t stream_id, number;
};

struct le_device_stream {
    struct le_device *device;      /* retained until the stream is freed */
    void *native;                  /* NULL on the cpu */
    uint64_t id;                   /* from 1; the device's default stream is 1 */
    bool foreign;                  /* belongs to another library; never destroyed here */
    struct le_cancel_token *token; /* of its kernels */
    /* under device->lock */
    uint64_t number;                         /* the last ticket */
    uint64_t staged_upload, staged_download; /* tickets of the last copies from and to pageable memory; 0: none */
    uint64_t passed;                         /* work up to this ticket is known to be done */
    struct le_mark *mark;
    struct le_stream_wait *seen;
    int seen_count, seen_capacity;
    int pins;      /* threads that wait for the stream without holding the lock */
    bool freed;    /* freed by its user; stays in the list until its work is done */
    bool finished; /* freed, and its native stream too; its mark covers all unfinished work */
};

/* A launch that is not known to be done, for the message of a fatal error. */
enum { LE_NOTES = 8, LE_NOTE_NAME = 64 };
struct le_launch_note {
    uint64_t stream_id, number; /* 0: none */
    unsigned grid[3], block[3];
    char kernel[LE_NOTE_NAME];
};

struct le_pinned { /* page-locked by le_host_pin */
    uintptr_t start;
    size_t size_bytes;
};

struct le_device {
    atomic_int refcount;
    unsigned generation; /* fork generation of the process that opened the device */
    const struct le_device_ops *ops;
    void *native;
    struct le_device_limits limits; /* if host_is_device, work is done when the call returns */
    struct le_device_options options;
    _Atomic(struct le_ledger *) ledger; /* NULL: none, or the device is closed */
    atomic_bool closed;
    atomic_int replay_count;
    _Atomic(struct le_copy_kernels *) copy_kernels; /* created once; NULL after le_copy_kernels_close */
    _Atomic(struct le_staging *) stager;            /* copy.c creates it for the first pageable copy, under the lock */

    pthread_mutex_t lock; /* guards streams, the order of allocations, pools and marks */
    struct le_device_stream **streams;
    int stream_count, stream_capacity; /* sorted by id */
    uint64_t last_stream_id;
    struct le_device_stream *own;
    uint64_t run_stream_id, run_length; /* the stream of the latest tickets, and how many consecutive ones it has */
    struct le_mark *marks;              /* free marks */
    struct le_pools *pools;
    struct le_pinned *pins;
    int pin_count, pin_capacity;

    pthread_mutex_t notes_lock; /* guards the fields below */
    struct le_timing *timing;   /* the pointer only: the timing has its own lock. Freed before the backend is closed */
    struct le_launch_note notes[LE_NOTES];
    int next_note;
    atomic_bool failed; /* set once, after the two fields below */
    leat_status failure;
    char failure_text[1024];
};

/* ---- order.c; the caller holds the lock unless stated otherwise */

struct le_device_stream *le_stream_find(struct le_device *device, uint64_t id); /* NULL: freed, and its work is done */
/* Whether the point is known to have passed, without asking the driver. stream: the stream whose next work must come
 * after the point, where an existing wait suffices; NULL: as the host sees it. */
bool le_point_passed(struct le_device *device, struct le_point point, const struct le_device_stream *stream);
/* Asks the driver whether the point has passed. Records an event if none covers the point. *passed stays false until
 * all pageable copies of that stream are enqueued. */
leat_status le_point_query(struct le_device *device, struct le_point point, bool *passed);
/* Makes the stream's next work wait for the point. *unsettled: 0, or the id of a stream whose pageable copies must be
 * settled first (without the lock); then call again. */
leat_status le_point_need(struct le_device_stream *stream, struct le_point point, uint64_t *unsettled);
void le_stream_remember(struct le_device_stream *stream, uint64_t id,
                        uint64_t number); /* remembers that the stream has waited for the point */
/* Records that all work up to number is done, and forgets its launches. */
void le_stream_passed(struct le_device_stream *stream, uint64_t number);
/* le_order_end under the lock: issues the ticket. */
uint64_t le_order_issue(struct le_device_stream *stream, const struct le_allocation_use *uses, int count);
/* Wait on the host. Call without the lock. */
leat_status le_point_wait(struct le_device *device, struct le_point point);
leat_status le_point_wait_for(struct le_device *device, struct le_point point, const char *what, const char *cause);
/* Copies the points of an allocation that may not have passed yet; at most 1 + LE_ORDER_READS. */
int le_order_points(const struct le_order *order, struct le_point *points);
/* Frees the native handles of freed streams, and forgets streams whose work is done (ask: asks the driver). */
void le_streams_sweep(struct le_device *device, bool ask);
/* The stream that received all recent work, if no other stream is known to be busy; else NULL. */
struct le_device_stream *le_stream_recent(struct le_device *device);
/* Ensures that the stream's mark covers all work given to it so far. unsettled: as in le_point_need. */
leat_status le_stream_mark(struct le_device_stream *stream, uint64_t *unsettled);
void le_mark_drop(struct le_device *device, struct le_mark *mark); /* releases one hold; mark may be NULL */
void le_marks_free(struct le_device *device);

/* ---- stream.c */

/* Returns when all pageable copies given to the stream are enqueued. Call without the lock. */
void le_stream_settle(struct le_device *device, uint64_t stream_id);
bool le_stream_is_settled(struct le_device *device, uint64_t stream_id); /* never waits; may be called under any lock */
void le_stream_free(struct le_device_stream *stream); /* only the struct, which is in no list any more */
leat_status le_stream_make(struct le_device *device, void *native, bool foreign, struct le_device_stream **stream);

/* ---- device.c: the two halves of opening; between them, a backend fills ops, native and limits */

struct le_device *le_device_allocate(const struct le_device_options *options); /* NULL: out of memory */
leat_status le_device_start(struct le_device *device);
void le_device_destroy(struct le_device *device); /* ops may be NULL: no backend */

/* Remembers a launch, whose ticket is number, for the message of a fatal error. Call without the lock. */
void le_device_note_launch(struct le_device_stream *stream, uint64_t number, const char *kernel, const unsigned grid[3],
                           const unsigned block[3]);
void le_device_notes_passed(struct le_device *device, uint64_t stream_id, uint64_t number);
/* A span in the device's ledger; does nothing if there is none. */
struct le_device_span {
    struct le_span span;
    bool open;
};
void le_device_span_begin(struct le_device *device, struct le_device_span *span, leat_cost_kind kind, const char *what,
                          const char *cause);
void le_device_span_end(struct le_device_span *span, uint64_t bytes);
/* The cache of compiled code; NULL: none, or the device is closed. */
struct le_store *le_device_store(struct le_device *device);
/* Call after using the store: logs its note, if any, and records evictions in the ledger. */
void le_device_store_used(struct le_device *device);

/* ---- copy_kernel.c: frees its modules, which retain the device. le_device_close calls it before it releases the
 * owner's reference. */
void le_copy_kernels_close(struct le_device *device);

/* ---- device_pool.c */

leat_status le_pools_new(struct le_device *device);
void le_pools_free(struct le_device *device); /* call when all work is done */
/* Frees cached memory whose work is done: the part above the cap, or everything (all). Call without the lock. */
void le_pools_trim(struct le_device *device, bool all);
#endif
