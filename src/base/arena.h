/* Memory that is freed all at once. Everything that the compiler makes is in an arena. When memory runs out, allocation
 * calls longjmp to `failure`: a function that opens an arena sets it with setjmp, and between the two owns nothing but
 * the arena. While an arena grows, only one thread may use it. */
#ifndef LE_ARENA_H
#define LE_ARENA_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

struct le_arena_chunk;
struct le_arena {
    struct le_arena_chunk *chunks;
    char *next, *end;
    size_t size_bytes; /* of all chunks */
    jmp_buf failure;
};
void le_arena_init(struct le_arena *arena); /* allocates nothing */
void le_arena_finish(struct le_arena *arena);
void *le_arena_alloc(struct le_arena *arena, size_t size_bytes);               /* zeroed, aligned to 16 */
void *le_arena_array(struct le_arena *arena, size_t count, size_t size_bytes); /* checked for overflow */
char *le_arena_copy(struct le_arena *arena, const char *text, size_t length);  /* NUL-terminated */
char *le_arena_format(struct le_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define LE_NEW(arena, type)              ((type *)le_arena_alloc((arena), sizeof(type)))
#define LE_NEW_ARRAY(arena, count, type) ((type *)le_arena_array((arena), (size_t)(count), sizeof(type)))

/* A vector in an arena: struct { T *at; int count, capacity; }. LE_PUSH adds an element and returns its address. */
void *le_arena_grow(struct le_arena *arena, void *at, int count, int *capacity, size_t size_bytes);
#define LE_PUSH(arena, v)                                                                                              \
    ((v)->at = le_arena_grow((arena), (v)->at, (v)->count, &(v)->capacity, sizeof *(v)->at), &(v)->at[(v)->count++])
#endif
