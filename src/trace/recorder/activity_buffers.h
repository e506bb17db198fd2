/* Memory that CUPTI writes activity records into: a fixed number of buffers, mapped at once and touched when used, so
 * that to ask for one, to hand a full one over and to give it back never allocates and never waits. One thread takes
 * full ones; any thread does the rest. */
#ifndef LE_ACTIVITY_BUFFERS_H
#define LE_ACTIVITY_BUFFERS_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a process that is killed loses is what lies in buffers that are not full: some 400 launches in each. A bigger
 * one would lose more, a smaller one wakes the writer and CUPTI's thread more often. */
enum { LE_ACTIVITY_BUFFER_BYTES = 1 << 17, LE_ACTIVITY_BUFFERS = 2048 };

struct le_activity_buffers {
    uint8_t *memory;
    _Atomic uint64_t used[LE_ACTIVITY_BUFFERS / 64]; /* a bit a buffer */
    _Atomic uint32_t full;                           /* the one that was handed over last, plus 1; 0: none */
    uint32_t next[LE_ACTIVITY_BUFFERS];              /* of a full one: the one before it, plus 1 */
    uint32_t valid_bytes[LE_ACTIVITY_BUFFERS];
    uint32_t warm; /* so many have the system's memory */
    bool clears;   /* buffers are zeros when they are asked for */
};

bool le_activity_buffers_init(struct le_activity_buffers *buffers);
void le_activity_buffers_finish(struct le_activity_buffers *buffers);
uint8_t *le_activity_buffer_get(struct le_activity_buffers *buffers); /* NULL: all are in use */
/* The system's memory for the next few that will be asked for, so that CUPTI, which fills a new one with zeros in the
 * program's thread, finds it there. By the writer, now and then. */
void le_activity_buffers_warm(struct le_activity_buffers *buffers);
void le_activity_buffer_full(struct le_activity_buffers *buffers, const uint8_t *buffer, size_t valid_bytes);
/* Hands over the full ones, in the order in which they came, and takes them back. */
typedef void le_activity_take(void *user, uint8_t *buffer, size_t valid_bytes);
void le_activity_buffers_take(struct le_activity_buffers *buffers, le_activity_take *take, void *user);
#endif
