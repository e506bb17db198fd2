/* Copies between pageable host memory and a device, through pinned slots, by a few threads of the device's. A job is
 * one copy, cut into chunks; what a chunk is, and how its bytes move, is the maker's (copy.c). Nothing is known here of
 * shapes, nor of tickets but their numbers.
 *
 * A chunk's way up: a thread moves it from the user's memory into a slot of its own and enqueues its transfer in a
 * native stream of its own. Down: it enqueues the transfer into a slot, and moves that into the user's memory when the
 * transfer has passed. A thread has several slots, so that moving and transfers overlap; jobs take turns, chunk by
 * chunk.
 *
 * Order: a chunk is taken only when the work that was in the user's stream before the job has passed on the device, and
 * once the last chunk is under way the user's stream is made to wait for the threads' own. So a job is *settled* when
 * all of it is under way, and *done* when the bytes are where they shall be. Until a job is settled nothing more may be
 * given to its native stream: whoever wants to, waits for it on the host (le_staging_settle). A wait in the device's
 * stream for a word that a thread sets would spare that, but two streams may share a hardware queue, and then the
 * transfers that the word stands for can be stuck behind the wait for it.
 *
 * Threads: any; a job's calls come from one. No lock of the device's may be held in settle and
 * wait. Owner: the device. */
#ifndef LE_STAGING_H
#define LE_STAGING_H
#include "device/front/device.h"

struct le_staging;
struct le_staging_job;

enum { LE_STAGE_PLAN_BYTES = 640 };
#define LE_STAGE_CHUNK_BYTES ((size_t)2 << 20)   /* of a slot; 8 threads reach 46 GB/s with it, 20 with 256 KiB */
#define LE_STAGE_SMALL_BYTES ((size_t)256 << 10) /* up to here a job runs in the user's stream, without the threads */

struct le_staging_buffer {
    char *host;
    uint64_t address; /* as the device sees it */
};
/* plan: the maker's own description of the copy, passed on to its functions; copied. Any thread, several at once. */
struct le_staging_work {
    bool up;
    int64_t chunks; /* each at most LE_STAGE_CHUNK_BYTES; small: 1, at most LE_STAGE_SMALL_BYTES */
    bool small;
    void (*move)(const void *plan, int64_t chunk, char *slot); /* up: user's memory into the slot; down: out of it */
    leat_status (*transfer)(const void *plan, int64_t chunk, void *native_stream, const struct le_staging_buffer *slot);
    const void *plan;
    size_t plan_bytes;
};

/* threads: at most so many, started when there is work for them. */
leat_status le_staging_new(const struct le_device_ops *ops, void *native, int threads, struct le_staging **stager);
void le_staging_free(struct le_staging *stager); /* ends its jobs first; NULL is fine */

/* A job: new gets all that it needs; start gives it to the user's native stream, when that is in order for it, with the
 * ticket that it is about to get: between le_order_begin and le_order_end, so that nobody sees the ticket before the
 * job. drop instead of start, or after one that failed. */
leat_status le_staging_job_new(struct le_staging *stager, const struct le_staging_work *work,
                               struct le_staging_job **job);
leat_status le_staging_start(struct le_staging_job *job, void *native_stream, uint64_t stream_id, uint64_t number);
void le_staging_drop(struct le_staging_job *job);

/* Waits until all jobs of the stream are settled. Costs one load where there are no jobs at all. */
void le_staging_settle(struct le_staging *stager, uint64_t stream_id);
/* Are all jobs of the stream settled? Never waits: the one call of these that may be made under the device's lock. */
bool le_staging_is_settled(struct le_staging *stager, uint64_t stream_id);
/* Likewise: are the stream's jobs up to this number done? Released host memory is used again only then. */
bool le_staging_is_done(struct le_staging *stager, uint64_t stream_id, uint64_t number);
/* Waits until the stream's jobs up to this number are done; the error of the first one that failed, told once. */
leat_status le_staging_wait(struct le_staging *stager, uint64_t stream_id, uint64_t number);
/* The same for all streams' jobs; no error is left to be told. */
leat_status le_staging_wait_all(struct le_staging *stager);
#endif
