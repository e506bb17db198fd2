/* For faults_test.py: a library for LD_PRELOAD whose malloc, calloc and realloc fail once, at an allocation with a
 * given number after fail_after(number), on any thread. Only allocations from the code of the extension, which contains
 * the library, are counted: Python and NumPy have their own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

void *__libc_malloc(size_t size_bytes);
void *__libc_calloc(size_t count, size_t size_bytes);
void *__libc_realloc(void *memory, size_t size_bytes);

static uintptr_t code_begin, code_end;
static atomic_long left; /* allocations until the failing one; 0: none fails */
static atomic_long count;

void fail_in(uintptr_t begin, uintptr_t end) {
    code_begin = begin;
    code_end = end;
}

void fail_after(long number) {
    atomic_store(&count, 0);
    atomic_store(&left, number);
}

/* How many allocations were made since fail_after. */
long fail_count(void) {
    return atomic_load(&count);
}

static int fails(void *caller) {
    if ((uintptr_t)caller < code_begin || (uintptr_t)caller >= code_end)
        return 0;
    atomic_fetch_add(&count, 1);
    if (atomic_load(&left) == 0 || atomic_fetch_sub(&left, 1) != 1)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size_bytes) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size_bytes);
}

void *calloc(size_t number, size_t size_bytes) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size_bytes);
}

void *realloc(void *memory, size_t size_bytes) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size_bytes);
}
