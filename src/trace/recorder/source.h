/* Which lines of the program made a call: the calling thread's frames become the number of a SOURCE record.
 *
 * Python's frames are read from the thread's own state, without the GIL; a thread with none is told by its return
 * addresses, as module and symbol. A place that was seen before costs no lock, no allocation and no system call. What
 * is new takes a lock for some microseconds and a few bytes of a bounded log; when that is full, sources are 0.
 * Whatever cannot be read is left out, and a NOTE says so once.
 *
 * le_sources_capture is for any thread, le_sources_take for one at a time (the writer). A child of fork has no use for
 * its parent's. */
#ifndef LE_SOURCE_H
#define LE_SOURCE_H
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum le_source_kinds { LE_SOURCE_PYTHON = 1, LE_SOURCE_NATIVE = 2 };

struct le_sources;
/* kinds: which to look for, of enum le_source_kinds. texts: the last number given to a STRING of the part; sources take
 * theirs from it, too, by atomic addition. NULL: no memory. */
struct le_sources *le_sources_new(unsigned kinds, _Atomic uint32_t *texts);
void le_sources_free(struct le_sources *sources); /* no capture may be under way */

/* "Python 3.11.7"; NULL: no Python in this process. Whatever the kinds. */
const char *le_sources_language(const struct le_sources *sources);

/* The place from which the calling thread came here; 0: not known. Keeps errno. */
uint32_t le_sources_capture(struct le_sources *sources);

/* Records STRING, SOURCE and NOTE that were not taken before, whole and ready for the file, in the order in which they
 * must stand there: returns how many bytes, at most most_bytes (at least 2048), 0 when there are no more. They stay
 * until le_sources_free. To have each SOURCE before the ORIGIN that names it: first take ORIGINs off their buffers,
 * then take these until 0, then write these before those. */
size_t le_sources_take(struct le_sources *sources, size_t most_bytes, const void **records);
#endif
