/* Finds which source lines of the program made a call: maps the calling thread's frames to the number of a SOURCE
 * record.
 *
 * Python frames are read from the thread's own state, without the GIL. A thread without Python frames is described by
 * its return addresses, as module and symbol. A known location costs no lock, allocation or system call. A new one
 * takes a lock for some microseconds and a few bytes of a bounded log; when the log is full, sources are 0. Frames that
 * cannot be read are left out, and a NOTE says so once.
 *
 * Any thread may call le_sources_capture; one thread at a time (the writer) calls le_sources_take. A child of fork does
 * not use its parent's sources. */
#ifndef LE_SOURCE_H
#define LE_SOURCE_H
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum le_source_kinds { LE_SOURCE_PYTHON = 1, LE_SOURCE_NATIVE = 2 };

struct le_sources;
/* kinds: which frames to look for (enum le_source_kinds). texts: the last number given to a STRING of the part; sources
 * take new numbers from it by atomic addition. NULL: no memory. */
struct le_sources *le_sources_new(unsigned kinds, _Atomic uint32_t *texts);
void le_sources_free(struct le_sources *sources); /* no capture may be in progress */

/* "Python 3.11.7"; NULL: no Python in this process. Independent of the kinds. */
const char *le_sources_language(const struct le_sources *sources);

/* The source of the calling thread's caller; 0: unknown. Preserves errno. */
uint32_t le_sources_capture(struct le_sources *sources);

/* Returns STRING, SOURCE and NOTE records that were not taken before, whole and in the order in which they must be in
 * the file: at most most_bytes bytes (at least 2048), 0 when there are no more. The records stay valid until
 * le_sources_free. To write each SOURCE before the ORIGIN that refers to it, first find out which ORIGINs are complete,
 * then take and write these records until there are none, then write those ORIGINs. */
size_t le_sources_take(struct le_sources *sources, size_t most_bytes, const void **records);
#endif
