/* Maps frames to sources. A known chain of frames is found by a single hash over the chain. A new chain is described in
 * the calling thread (Python, whose frames live only as long as the call) or later by the writer (native symbols). */
#include "trace/recorder/source.h"
#include "trace/recorder/source_frame.h"
#include "trace/recorder/source_native.h"
#include "trace/recorder/source_python.h"
#include "trace/recorder/source_symbols.h"
#include <errno.h>
#include <sys/mman.h>

struct le_sources {
    unsigned kinds;
    struct le_source_table *table;
    struct le_python python;
};

static const char unreadable_note[] =
    "The frames of this Python version cannot be read: its source lines are not recorded.";
static const char no_native_note[] = "Callers in C and C++ are recorded on x86-64 only.";

/* Memory comes from mmap, like the table's. */
struct le_sources *le_sources_new(unsigned kinds, _Atomic uint32_t *texts) {
    struct le_sources *sources =
        mmap(NULL, sizeof *sources, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sources == MAP_FAILED)
        return NULL;
    sources->kinds = kinds;
    sources->table = le_source_table_new(texts);
    if (!sources->table) {
        munmap(sources, sizeof *sources);
        return NULL;
    }
    le_python_find(&sources->python);
    if (kinds & LE_SOURCE_PYTHON && sources->python.language[0] && !sources->python.is_readable)
        le_source_table_note(sources->table, unreadable_note);
    if (kinds & LE_SOURCE_NATIVE && !le_frame_is_readable())
        le_source_table_note(sources->table, no_native_note);
    return sources;
}

void le_sources_free(struct le_sources *sources) {
    if (!sources)
        return;
    le_source_table_free(sources->table);
    munmap(sources, sizeof *sources);
}

const char *le_sources_language(const struct le_sources *sources) {
    return sources->python.language[0] ? sources->python.language : NULL;
}

static uint32_t python_location(struct le_sources *sources, const struct le_python_frame *frame) {
    uint32_t number = le_source_table_find(sources->table, frame->key);
    if (number)
        return number;
    struct le_source_location location;
    le_python_describe(&sources->python, frame, &location);
    return le_source_table_locate(sources->table, frame->key, &location);
}

/* False: the thread is not running Python code. */
static bool capture_python(struct le_sources *sources, uint32_t *source) {
    struct le_python_frame frames[LE_SOURCE_FRAMES];
    uint64_t keys[LE_SOURCE_FRAMES];
    uint32_t locations[LE_SOURCE_FRAMES];
    int count = le_python_frames(&sources->python, frames);
    if (!count)
        return false;
    for (int k = 0; k < count; k++)
        keys[k] = frames[k].key;
    uint64_t key = le_source_key_of_words(LE_KEY_CHAIN, keys, count);
    *source = le_source_table_find(sources->table, key);
    if (*source || le_source_table_is_full(sources->table))
        return true;
    for (int k = 0; k < count; k++)
        if (!(locations[k] = python_location(sources, &frames[k])))
            return true;
    *source = le_source_table_chain(sources->table, key, locations, count);
    return true;
}

static uint32_t capture_native(struct le_sources *sources, struct le_native_frame at) {
    uintptr_t addresses[LE_SOURCE_ADDRESSES];
    int count = le_native_addresses(sources->table, at, addresses);
    if (!count)
        return 0;
    uint64_t key = le_source_key(LE_KEY_CHAIN, addresses, (size_t)count * sizeof *addresses);
    uint32_t source = le_source_table_find(sources->table, key);
    return source || le_source_table_is_full(sources->table)
               ? source
               : le_source_table_defer(sources->table, key, addresses, count);
}

/* noinline gives this function its own frame, with a frame pointer: it points at the caller's frame pointer, which the
 * return address follows. */
__attribute__((noinline)) uint32_t le_sources_capture(struct le_sources *sources) {
    int error = errno;
    uint32_t source = 0;
    bool is_python =
        sources->kinds & LE_SOURCE_PYTHON && sources->python.is_readable && capture_python(sources, &source);
    if (!is_python && sources->kinds & LE_SOURCE_NATIVE && le_frame_is_readable()) {
        const uintptr_t *frame = __builtin_frame_address(0);
        struct le_native_frame at = {
            .address = (uintptr_t)__builtin_return_address(0), .stack = (uintptr_t)(frame + 2), .frame = frame[0]};
        source = capture_native(sources, at);
    }
    errno = error;
    return source;
}

/* The location of an address. is_runtime: it is in CUDA's runtime and says nothing about the program. */
static uint32_t native_location(struct le_source_table *table, uintptr_t address, bool *is_runtime) {
    uint64_t key = le_source_key(LE_KEY_ADDRESS, &address, sizeof address);
    uint32_t known = le_source_table_find(table, key);
    if (!known) {
        struct le_source_location location;
        le_symbol_find(address, &location);
        uint32_t number =
            le_source_table_locate(table, le_source_key(LE_KEY_LOCATION, &address, sizeof address), &location);
        known = number << 1 | le_symbol_is_runtime(&location.function);
        le_source_table_set(table, key, known);
    }
    *is_runtime = known & 1;
    return known >> 1;
}

static void define_source(struct le_source_table *table, const struct le_source_deferred *deferred) {
    uint32_t locations[LE_SOURCE_ADDRESSES];
    int count = 0;
    for (uint32_t k = 0; k < deferred->count; k++) {
        bool is_runtime = false;
        uint32_t number = native_location(table, deferred->addresses[k], &is_runtime);
        if (!is_runtime || count || k + 1 == deferred->count)
            locations[count++] = number;
    }
    le_source_table_define(table, deferred->source, locations, count);
}

size_t le_sources_take(struct le_sources *sources, size_t most_bytes, const void **records) {
    struct le_source_deferred deferred;
    while (le_source_table_deferred(sources->table, &deferred))
        define_source(sources->table, &deferred);
    return le_source_table_take(sources->table, most_bytes, records);
}
