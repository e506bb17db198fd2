/* Copies between pageable host memory and a device, through pinned staging buffers, by a few threads of the device. A
 * job is one copy, cut into chunks. Its creator (copy.c) defines what a chunk is and how its bytes move. This code
 * knows nothing of shapes, and of tickets only their numbers.
 *
 * Upload: a thread copies a chunk from the user's memory into one of its slots, then enqueues the transfer in its own
 * native stream. Download: it enqueues the transfer into a slot and, when the transfer is done, copies the slot to the
 * user's memory. A thread has several slots, so that copying and transfers overlap. Jobs take turns, chunk by chunk.
 *
 * Order: a chunk is taken only when the earlier work of the user's stream is done on the device. Once the last chunk is
 * enqueued, the user's stream is made to wait for the threads' streams. So a job is *settled* when all of it is
 * enqueued, and *done* when the bytes have arrived. Until a job is settled, nothing more may be enqueued in its native
 * stream; callers wait on the host (le_staging_settle). A wait in the device's stream for a flag that a thread sets
 * would avoid that. But two streams may share a hardware queue, and then the transfers could be stuck behind the wait
 * for their own flag.
 *
 * Threads: any; the calls for one job come from one thread. Do not hold a lock of the device in settle and wait. Owner:
 * the device. */
#ifndef LE_STAGING_H
#define LE_STAGING_H
#include "device/front/device.h"

struct le_staging;
struct le_staging_job;

enum { LE_STAGE_PLAN_BYTES = 640 };
#define LE_STAGE_CHUNK_BYTES                                                                                           \
    ((size_t)2 << 20) /* size of a slot; 8 threads reach 46 GB/s with it, and 20 GB/s with 256 KiB */
#define LE_STAGE_SMALL_BYTES                                                                                           \
    ((size_t)256 << 10) /* jobs up to this size run in the user's stream, without the threads */

struct le_staging_buffer {
    char *host;
    uint64_t address; /* as the device sees it */
};
/* plan: the creator's description of the copy; copied, and passed to its functions. They may run on any thread, several
 * at once. */
struct le_staging_work {
    bool up;
    int64_t chunks; /* each of at most LE_STAGE_CHUNK_BYTES; small: one, of at most LE_STAGE_SMALL_BYTES */
    bool small;
    void (*move)(const void *plan, int64_t chunk,
                 char *slot); /* up: from the user's memory into the slot; down: the reverse */
    leat_status (*transfer)(const void *plan, int64_t chunk, void *native_stream, const struct le_staging_buffer *slot);
    const void *plan;
    size_t plan_bytes;
};

/* threads: the maximum; they are started when there is work for them. */
leat_status le_staging_new(const struct le_device_ops *ops, void *native, int threads, struct le_staging **stager);
void le_staging_free(struct le_staging *stager); /* finishes its jobs first; stager may be NULL */

/* A job. new allocates all that it needs. enqueue marks the place of the copy in the user's native stream; a small copy
 * is enqueued as a whole. start gives the job to the threads, under the copy's ticket. Call it when the ticket is
 * issued, under the device's lock, so that no thread sees the ticket before the job exists. Call drop instead, or after
 * an enqueue that failed. */
leat_status le_staging_job_new(struct le_staging *stager, const struct le_staging_work *work,
                               struct le_staging_job **job);
leat_status le_staging_enqueue(struct le_staging_job *job, void *native_stream);
void le_staging_start(struct le_staging_job *job, uint64_t stream_id, uint64_t number);
void le_staging_drop(struct le_staging_job *job);

/* Waits until all jobs of the stream are settled. Costs one load if there are no jobs at all. */
void le_staging_settle(struct le_staging *stager, uint64_t stream_id);
/* Whether all jobs of the stream are settled. Never waits; may be called under the device's lock, as may
 * le_staging_is_done. */
bool le_staging_is_settled(struct le_staging *stager, uint64_t stream_id);
/* Whether the stream's jobs up to this number are done. Released host memory may be reused only then. Never waits. */
bool le_staging_is_done(struct le_staging *stager, uint64_t stream_id, uint64_t number);
/* Waits until the stream's jobs up to this number are done. Returns the error of the first one that failed; each error
 * is returned once. */
leat_status le_staging_wait(struct le_staging *stager, uint64_t stream_id, uint64_t number);
/* The same for all streams. Discards the other errors. */
leat_status le_staging_wait_all(struct le_staging *stager);
#endif
