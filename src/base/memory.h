/* The only interface to the heap: all memory that Leat keeps comes through here, so that the hooks of leat_options and
 * injected failures see every request. Any thread. */
#ifndef LE_MEMORY_H
#define LE_MEMORY_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

struct le_allocator {
    void *(*allocate)(size_t size_bytes, void *user);
    void *(*reallocate)(void *memory, size_t size_bytes, void *user);
    void (*release)(void *memory, void *user);
    void *user;
};
/* Sets the allocator. NULL or all NULL: malloc, realloc and free. */
void le_memory_set_allocator(const struct le_allocator *allocator);
/* Whether the machine has that much memory at all. A system that overcommits would map more, and kill the process that
 * touches it. */
bool le_memory_is_available(size_t size_bytes);
void *le_alloc(size_t size_bytes);                    /* NULL if memory ran out */
void *le_alloc_zero(size_t count, size_t size_bytes); /* checked for overflow */
void *le_realloc(void *memory, size_t size_bytes);    /* on failure the old memory stays valid */
char *le_strdup(const char *text);
void le_free(void *memory); /* NULL is fine */
/* Memory aligned to 64 bytes, for the elements of arrays. Free it only with le_free_aligned. */
void *le_alloc_aligned(size_t size_bytes);
void le_free_aligned(void *memory); /* NULL is fine */
/* false on overflow */
static inline bool le_mul_size(size_t a, size_t b, size_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}
static inline bool le_mul_i64(int64_t a, int64_t b, int64_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}
static inline bool le_add_i64(int64_t a, int64_t b, int64_t *sum) {
    return !__builtin_add_overflow(a, b, sum);
}
#endif
