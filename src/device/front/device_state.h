/* What the files of the front door (device.c, stream.c, order.c, device_pool.c, caller_memory.c, event.c; copy.c,
 * staging.c; module.c, launch.c) share of a device and a stream. Backends see native handles and, to latch a fatal
 * error, the device itself.
 *
 * Locks: `lock` guards what it is said to; no backend call that may wait is made under it. `notes_lock` is a leaf: it
 * may be taken under `lock`, and nothing is taken under it. Fields without a word about it never change after opening.
 */
#ifndef LE_DEVICE_STATE_H
#define LE_DEVICE_STATE_H
#include "device/front/device.h"
#include <pthread.h>

struct le_copy_kernels; /* copy_kernel.c: compiled at the first copy that needs them */
struct le_pools;        /* device_pool.c: pools of blocks, one for each kind */
struct le_staging;      /* staging.c: pinned rings and the threads that copy */
struct le_timing;       /* timing.c: events around the device's work, at the ledger's level 2 */

/* An event recorded in a stream after ticket `number`. Somebody who waits for it on the host holds it: then it is not
 * recorded again until he is done. */
struct le_mark {
    void *event; /* the backend's */
    uint64_t number;
    int holders; /* the stream whose mark it is, and those who wait */
    struct le_mark *next;
};

/* What this stream has waited for of another one. */
struct le_stream_wait {
    uint64_t stream_id, number;
};

struct le_device_stream {
    struct le_device *device; /* retained until it is freed */
    void *native;             /* NULL on the cpu */
    uint64_t id;              /* from 1; the device's own is 1 */
    bool foreign;             /* another library's: never destroyed here */
    /* under device->lock */
    uint64_t number; /* of the last ticket */
    uint64_t passed; /* all up to it is known to be done */
    struct le_mark *mark;
    struct le_stream_wait *seen;
    int seen_count, seen_capacity;
    int pins;      /* threads that wait for it without the lock */
    bool gone;     /* freed; it stays in the list until its work is done */
    bool finished; /* gone, and its native stream with it; its mark covers all that is not passed */
};

/* A kernel that was launched and is not known to be done: for the message of a fatal error. */
enum { LE_NOTES = 8, LE_NOTE_NAME = 64 };
struct le_launch_note {
    uint64_t stream_id, number; /* 0: none */
    unsigned grid[3], block[3];
    char kernel[LE_NOTE_NAME];
};

struct le_pinned { /* by le_host_pin */
    uintptr_t start;
    size_t size_bytes;
};

struct le_device {
    atomic_int refcount;
    unsigned generation; /* of processes */
    const struct le_device_ops *ops;
    void *native;
    struct le_device_limits limits; /* limits.host_is_device: work is done when the call returns */
    struct le_device_options options;
    _Atomic(struct le_ledger *) ledger; /* NULL once closed, or where there is none */
    atomic_bool closed;
    atomic_int replay_count;
    _Atomic(struct le_copy_kernels *) copy_kernels; /* made once; NULL again from le_copy_kernels_close on */
    _Atomic(struct le_staging *) stager; /* copy.c makes it at the first pageable copy, under the lock; else NULL */

    pthread_mutex_t lock; /* guards streams, orders of blocks, pools, marks */
    struct le_device_stream **streams;
    int stream_count, stream_capacity; /* ids ascend */
    uint64_t last_stream_id;
    struct le_device_stream *own;
    uint64_t run_stream_id, run_length; /* the stream of the latest tickets, and how many came one after the other */
    struct le_mark *marks;              /* for reuse */
    struct le_pools *pools;
    struct le_pinned *pins;
    int pin_count, pin_capacity;

    pthread_mutex_t notes_lock; /* guards what follows */
    struct le_timing *timing;   /* its making; it has a lock of its own. Freed before the backend is closed */
    struct le_launch_note notes[LE_NOTES];
    int next_note;
    atomic_bool failed; /* set once, after the two below */
    leat_status failure;
    char failure_text[512];
};

/* ---- order.c, with the lock held unless it says otherwise */

struct le_device_stream *le_stream_find(struct le_device *device, uint64_t id); /* NULL: its work is done */
/* Is the point known to have been passed, without asking the driver? stream: whose next work is to come after it, which
 * may be enough; NULL: as the host sees it. */
bool le_point_passed(struct le_device *device, struct le_point point, const struct le_device_stream *stream);
/* Asks the driver; records an event where none covers the point. *passed stays false while pageable copies of that
 * stream are not all under way. */
leat_status le_point_query(struct le_device *device, struct le_point point, bool *passed);
/* The stream's next work comes after the point. *unsettled: that stream's pageable copies must be settled first
 * (without the lock), and then this be called again; 0: done. */
leat_status le_point_need(struct le_device_stream *stream, struct le_point point, uint64_t *unsettled);
void le_stream_remember(struct le_device_stream *stream, uint64_t id, uint64_t number); /* that it has waited */
/* Everything up to number is done: remembered, and its launches forgotten. */
void le_stream_passed(struct le_device_stream *stream, uint64_t number);
/* Waits on the host. Without the lock. */
leat_status le_point_wait(struct le_device *device, struct le_point point);
leat_status le_point_wait_for(struct le_device *device, struct le_point point, const char *what, const char *cause);
/* The points of a block, of which none may be passed yet; at most 1 + LE_ORDER_READS. */
int le_order_points(const struct le_order *order, struct le_point *points);
/* Finishes streams that were freed, and forgets those whose work is done (ask: asks the driver). */
void le_streams_sweep(struct le_device *device, bool ask);
/* The stream that all work of late was given to, while no other one is known to be at work; NULL: there is none. */
struct le_device_stream *le_stream_of_late(struct le_device *device);
/* A recorded event that covers what was given to the stream so far; unsettled as in le_point_need. */
leat_status le_stream_mark(struct le_device_stream *stream, uint64_t *unsettled);
void le_mark_drop(struct le_device *device, struct le_mark *mark); /* one holder less; NULL is fine */
void le_marks_free(struct le_device *device);

/* ---- stream.c */

/* Returns when the pageable copies given to the stream are all under way; without the lock. */
void le_stream_settle(struct le_device *device, uint64_t stream_id);
bool le_stream_is_settled(struct le_device *device, uint64_t stream_id); /* never waits; any lock */
leat_status le_stream_make(struct le_device *device, void *native, bool foreign, struct le_device_stream **stream);

/* ---- device.c: the two halves of opening, between which a backend fills ops, native and limits */

struct le_device *le_device_allocate(const struct le_device_options *options); /* NULL: out of memory */
leat_status le_device_start(struct le_device *device);
void le_device_destroy(struct le_device *device); /* ops NULL: without a backend */

/* After le_order_end of a launch: what to name if the device fails. */
void le_device_note_launch(struct le_device_stream *stream, const char *kernel, const unsigned grid[3],
                           const unsigned block[3]);
void le_device_notes_passed(struct le_device *device, uint64_t stream_id, uint64_t number);
/* A span in the device's ledger, if it has one still. */
struct le_device_span {
    struct le_span span;
    bool open;
};
void le_device_span_begin(struct le_device *device, struct le_device_span *span, leat_cost_kind kind, const char *what,
                          const char *cause);
void le_device_span_end(struct le_device_span *span, uint64_t bytes);
/* Where compiled code is kept; NULL: nowhere, or the device is closed. */
struct le_store *le_device_store(struct le_device *device);
/* After the store was used: its note, if it has one, goes to the log; what it evicted, to the ledger. */
void le_device_store_used(struct le_device *device);

/* ---- copy_kernel.c: drops its modules, which retain the device: in le_device_close, before the owner's reference. */
void le_copy_kernels_close(struct le_device *device);

/* ---- device_pool.c */

leat_status le_pools_new(struct le_device *device);
void le_pools_free(struct le_device *device); /* all work is done */
/* Gives back what is kept above the cap (all: whatever is kept) and whose work is done. Without the lock. */
void le_pools_trim(struct le_device *device, bool all);
#endif
