/* The memory into which CUPTI writes activity records: a fixed number of buffers, mapped at once and touched on first
 * use. Getting a buffer, handing over a full one and releasing it never allocate and never wait. One thread takes full
 * buffers; any thread may do the rest. */
#ifndef LE_ACTIVITY_BUFFERS_H
#define LE_ACTIVITY_BUFFERS_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process that is killed loses the records in buffers that are not full, some 400 launches in each. Larger buffers
 * would lose more; smaller ones would wake the writer and CUPTI's thread more often. */
enum { LE_ACTIVITY_BUFFER_BYTES = 1 << 17, LE_ACTIVITY_BUFFERS = 2048 };

struct le_activity_buffers {
    uint8_t *memory;
    _Atomic uint64_t used[LE_ACTIVITY_BUFFERS / 64]; /* one bit per buffer */
    _Atomic uint32_t full;                           /* the last buffer that was handed over, plus 1; 0: none */
    uint32_t next[LE_ACTIVITY_BUFFERS];              /* by full buffer: the one handed over before it, plus 1 */
    uint32_t valid_bytes[LE_ACTIVITY_BUFFERS];
    uint32_t warm; /* how many buffers have physical memory */
    bool clears;   /* buffers are cleared when they are released */
};

bool le_activity_buffers_init(struct le_activity_buffers *buffers);
void le_activity_buffers_finish(struct le_activity_buffers *buffers);
uint8_t *le_activity_buffer_get(struct le_activity_buffers *buffers); /* NULL: all buffers are in use */
/* Allocates physical memory for the next few buffers. Otherwise CUPTI, which fills a new buffer with zeros, would do so
 * in the program's thread. Called by the writer from time to time. */
void le_activity_buffers_warm(struct le_activity_buffers *buffers);
void le_activity_buffer_full(struct le_activity_buffers *buffers, const uint8_t *buffer, size_t valid_bytes);
/* Passes the full buffers to `take`, in the order in which they were handed over, and releases them. */
typedef void le_activity_take(void *user, uint8_t *buffer, size_t valid_bytes);
void le_activity_buffers_take(struct le_activity_buffers *buffers, le_activity_take *take, void *user);
#endif
