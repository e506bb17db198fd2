/* See arena.h. An arena is a list of zeroed chunks, the newest first; allocations come from the newest only. */
#include "base/arena.h"
#include "base/memory.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define CHUNK_BYTES_MIN ((size_t)4096)
#define CHUNK_BYTES_MAX ((size_t)1 << 20)
#define ALIGNMENT       ((size_t)16)

struct le_arena_chunk {
    struct le_arena_chunk *next;
    size_t size_bytes;
};
#define HEADER_BYTES ((sizeof(struct le_arena_chunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

void le_arena_init(struct le_arena *arena) {
    arena->chunks = NULL;
    arena->next = arena->end = NULL;
    arena->size_bytes = 0;
}

void le_arena_finish(struct le_arena *arena) {
    for (struct le_arena_chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        le_free(chunk);
    }
    le_arena_init(arena);
}

static _Noreturn void fail_out_of_memory(struct le_arena *arena) {
    longjmp(arena->failure, 1);
}

/* Adds a chunk with room for at least size_bytes. Each chunk is as large as all before it, so that there are few. */
static void add_chunk(struct le_arena *arena, size_t size_bytes) {
    size_t chunk_bytes = arena->size_bytes < CHUNK_BYTES_MIN ? CHUNK_BYTES_MIN : arena->size_bytes;
    if (chunk_bytes > CHUNK_BYTES_MAX)
        chunk_bytes = CHUNK_BYTES_MAX;
    if (chunk_bytes < size_bytes + HEADER_BYTES)
        chunk_bytes = size_bytes + HEADER_BYTES;
    struct le_arena_chunk *chunk = le_alloc_zero(1, chunk_bytes);
    if (!chunk)
        fail_out_of_memory(arena);
    chunk->next = arena->chunks;
    chunk->size_bytes = chunk_bytes;
    arena->chunks = chunk;
    arena->size_bytes += chunk_bytes;
    arena->next = (char *)chunk + HEADER_BYTES;
    arena->end = (char *)chunk + chunk_bytes;
}

void *le_arena_alloc(struct le_arena *arena, size_t size_bytes) {
    if (size_bytes > SIZE_MAX / 4)
        fail_out_of_memory(arena);
    size_bytes = (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size_bytes == 0)
        size_bytes = ALIGNMENT;
    if ((size_t)(arena->end - arena->next) < size_bytes)
        add_chunk(arena, size_bytes);
    void *memory = arena->next;
    arena->next += size_bytes;
    return memory;
}

void *le_arena_array(struct le_arena *arena, size_t count, size_t size_bytes) {
    size_t total_bytes;
    if (!le_mul_size(count, size_bytes, &total_bytes))
        fail_out_of_memory(arena);
    return le_arena_alloc(arena, total_bytes);
}

char *le_arena_copy(struct le_arena *arena, const char *text, size_t length) {
    if (length == SIZE_MAX)
        fail_out_of_memory(arena);
    char *copy = le_arena_alloc(arena, length + 1);
    if (length)
        memcpy(copy, text, length);
    return copy;
}

char *le_arena_format(struct le_arena *arena, const char *format, ...) {
    char start[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(start, sizeof start, format, arguments);
    va_end(arguments);
    if (length < 0)
        fail_out_of_memory(arena);
    if ((size_t)length < sizeof start)
        return le_arena_copy(arena, start, (size_t)length);
    size_t size_bytes = (size_t)length + 1;
    char *text = le_arena_alloc(arena, size_bytes);
    va_start(arguments, format);
    vsnprintf(text, size_bytes, format, arguments);
    va_end(arguments);
    return text;
}

void *le_arena_grow(struct le_arena *arena, void *at, int count, int *capacity, size_t size_bytes) {
    if (count < *capacity)
        return at;
    if (count > INT_MAX / 2)
        fail_out_of_memory(arena);
    int larger = count < 4 ? 8 : 2 * count;
    void *grown = le_arena_array(arena, (size_t)larger, size_bytes);
    if (count > 0)
        memcpy(grown, at, (size_t)count * size_bytes);
    *capacity = larger;
    return grown;
}
