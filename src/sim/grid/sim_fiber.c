/* Switches in assembly for x86-64 and aarch64, with ucontext elsewhere. */
#include "sim/grid/sim_fiber.h"
#include "base/memory.h"
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBERS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBERS_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FIBERS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FIBERS_TSAN 1
#endif
#endif
#ifdef FIBERS_ASAN
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBERS_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__x86_64__)
void le_sim_fiber_jump(void **point, void *to);
void le_sim_fiber_first(void);
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden le_sim_fiber_jump\n"
        ".globl le_sim_fiber_jump\n"
        ".type le_sim_fiber_jump, @function\n"
        "le_sim_fiber_jump:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size le_sim_fiber_jump, .-le_sim_fiber_jump\n"
        ".hidden le_sim_fiber_first\n"
        ".globl le_sim_fiber_first\n"
        ".type le_sim_fiber_first, @function\n"
        "le_sim_fiber_first:\n"
        "    movq %r13, %rdi\n"
        "    xorl %ebp, %ebp\n"
        "    callq *%r12\n"
        "    ud2\n"
        ".size le_sim_fiber_first, .-le_sim_fiber_first\n");
enum { FRAME_WORDS = 9, FRAME_ENTRY = 3, FRAME_ARGUMENT = 2, FRAME_RETURN = 6 };
#elif defined(__aarch64__)
void le_sim_fiber_jump(void **point, void *to);
void le_sim_fiber_first(void);
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden le_sim_fiber_jump\n"
        ".globl le_sim_fiber_jump\n"
        ".type le_sim_fiber_jump, %function\n"
        "le_sim_fiber_jump:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size le_sim_fiber_jump, .-le_sim_fiber_jump\n"
        ".hidden le_sim_fiber_first\n"
        ".globl le_sim_fiber_first\n"
        ".type le_sim_fiber_first, %function\n"
        "le_sim_fiber_first:\n"
        "    mov x0, x20\n"
        "    mov x29, xzr\n"
        "    blr x19\n"
        "    brk #1\n"
        ".size le_sim_fiber_first, .-le_sim_fiber_first\n");
enum { FRAME_WORDS = 20, FRAME_ENTRY = 0, FRAME_ARGUMENT = 1, FRAME_RETURN = 11 };
#else
#include <ucontext.h>
#define FIBERS_UCONTEXT 1
struct first {
    ucontext_t context;
    void (*entry)(void *);
    void *argument;
};
#endif

#ifdef FIBERS_UCONTEXT
static void run_first(unsigned high, unsigned low) {
    struct first *first = (struct first *)(((uintptr_t)high << 16 << 16) | low);
    first->entry(first->argument);
}

static void prepare_stack(struct sim_fiber *fiber, void (*entry)(void *), void *argument) {
    struct first *first = fiber->stack;
    *first = (struct first){.entry = entry, .argument = argument};
    getcontext(&first->context);
    first->context.uc_stack.ss_sp = (char *)fiber->stack + sizeof *first;
    first->context.uc_stack.ss_size = fiber->stack_bytes - sizeof *first;
    uintptr_t word = (uintptr_t)first;
    makecontext(&first->context, (void (*)(void))run_first, 2, (unsigned)((uint64_t)word >> 32), (unsigned)word);
    fiber->point = &first->context;
}

static void jump(struct sim_fiber *from, struct sim_fiber *to) {
    ucontext_t here;
    from->point = &here;
    swapcontext(&here, to->point);
}
#else
static void prepare_stack(struct sim_fiber *fiber, void (*entry)(void *), void *argument) {
    uintptr_t top = ((uintptr_t)fiber->stack + fiber->stack_bytes) & ~(uintptr_t)15;
    void **frame = (void **)top - FRAME_WORDS;
    memset(frame, 0, FRAME_WORDS * sizeof *frame);
    memcpy(&frame[FRAME_ENTRY], &entry, sizeof entry);
    frame[FRAME_ARGUMENT] = argument;
    void (*first)(void) = le_sim_fiber_first;
    memcpy(&frame[FRAME_RETURN], &first, sizeof first);
    fiber->point = frame;
}

static inline void jump(struct sim_fiber *from, struct sim_fiber *to) {
    le_sim_fiber_jump(&from->point, to->point);
}
#endif

/* The frames of a fiber that does not continue left poisoned memory above the point of its last switch. */
static void unpoison(const struct sim_fiber *fiber) {
#ifdef FIBERS_ASAN
    char *low = fiber->stack, *point = fiber->point;
    size_t below = point >= low && point < low + fiber->stack_bytes ? (size_t)(point - low) : 0;
    if (low)
        __asan_unpoison_memory_region(low + below, fiber->stack_bytes - below);
#else
    (void)fiber;
#endif
}

void le_sim_fiber_start(struct sim_fiber *fiber, void *stack, size_t stack_bytes, void (*entry)(void *),
                        void *argument) {
    unpoison(fiber);
    fiber->stack = stack;
    fiber->stack_bytes = stack_bytes;
    fiber->fake = NULL;
#ifdef FIBERS_TSAN
    if (!fiber->tsan)
        fiber->tsan = __tsan_create_fiber(0);
#endif
    prepare_stack(fiber, entry, argument);
}

void le_sim_fiber_finish(struct sim_fiber *fiber) {
    unpoison(fiber);
#ifdef FIBERS_TSAN
    if (fiber->tsan && fiber->stack)
        __tsan_destroy_fiber(fiber->tsan);
#endif
    fiber->tsan = NULL;
}

#if defined(FIBERS_ASAN)
static void home_stack(struct sim_fiber *home) { /* finds the bounds of the thread's own stack */
    pthread_attr_t attributes;
    if (home->stack_bytes || pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    void *low = NULL;
    pthread_attr_getstack(&attributes, &low, &home->stack_bytes);
    home->tsan = low;
    pthread_attr_destroy(&attributes);
}
#endif

void le_sim_fiber_switch(struct sim_fiber *from, struct sim_fiber *to, bool last) {
#if defined(FIBERS_ASAN)
    if (!from->stack)
        home_stack(from);
    __sanitizer_start_switch_fiber(last ? NULL : &from->fake, to->stack ? to->stack : to->tsan, to->stack_bytes);
    jump(from, to);
    __sanitizer_finish_switch_fiber(from->fake, NULL, NULL);
#elif defined(FIBERS_TSAN)
    if (!from->stack)
        from->tsan = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to->tsan, 0);
    jump(from, to);
    (void)last;
#else
    (void)last;
    jump(from, to);
#endif
}

void le_sim_fiber_arrived(struct sim_fiber *fiber, struct sim_fiber *home) {
    (void)home;
#if defined(FIBERS_ASAN)
    __sanitizer_finish_switch_fiber(fiber->fake, NULL, NULL);
#else
    (void)fiber;
#endif
}

struct sim_stacks {
    char *base;
    size_t count, stack_bytes, stride, guard_bytes;
    size_t guarded; /* stack k has a guard if k % guarded == 0; 0: none has */
};
/* GUARD_PAGES: more than any frame of the services that kernels call. Kernels are compiled to touch each page of a
 * large frame in turn. */
enum { GUARD_PAGES = 4, SPARSE_GUARDS = 64 };

struct sim_stacks *le_sim_stacks_new(size_t count, size_t stack_bytes, bool guarded) {
    struct sim_stacks *stacks = le_alloc_zero(1, sizeof *stacks);
    if (!stacks)
        return NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;
    stacks->guard_bytes = GUARD_PAGES * page;
    stacks->count = count;
    stacks->stack_bytes =
        (stack_bytes + page - 1) / page * page + page; /* one more page, because the ends are staggered */
    stacks->stride = stacks->stack_bytes + stacks->guard_bytes;
    stacks->guarded = guarded ? 1 : SPARSE_GUARDS;
    stacks->base = MAP_FAILED;
    if (le_mul_size(stacks->stride, count, &bytes))
        stacks->base =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stacks->base == MAP_FAILED) {
        le_free(stacks);
        return NULL;
    }
    for (size_t k = 0; stacks->guarded && k < count; k += stacks->guarded)
        if (mprotect(stacks->base + k * stacks->stride, stacks->guard_bytes, PROT_NONE) != 0)
            stacks->guarded = 0;
    return stacks;
}

void le_sim_stacks_free(struct sim_stacks *stacks) {
    if (!stacks)
        return;
#ifdef FIBERS_ASAN
    __asan_unpoison_memory_region(stacks->base, stacks->stride * stacks->count);
#endif
    munmap(stacks->base, stacks->stride * stacks->count);
    le_free(stacks);
}

size_t le_sim_stacks_count(const struct sim_stacks *stacks) {
    return stacks ? stacks->count : 0;
}

void *le_sim_stacks_at(const struct sim_stacks *stacks, size_t k, size_t *size_bytes) {
    size_t stagger = k * 5 % 62 * 64; /* less than a page */
    *size_bytes = stacks->stack_bytes - stagger;
    return stacks->base + k * stacks->stride + stacks->guard_bytes;
}

bool le_sim_stacks_has(const struct sim_stacks *stacks, const void *address) {
    uintptr_t at = (uintptr_t)address, base = (uintptr_t)stacks->base;
    return at >= base && at < base + stacks->stride * stacks->count;
}

bool le_sim_stacks_guard(const struct sim_stacks *stacks, const void *address) {
    size_t offset = (uintptr_t)address - (uintptr_t)stacks->base;
    return stacks->guarded && le_sim_stacks_has(stacks, address) && offset / stacks->stride % stacks->guarded == 0 &&
           offset % stacks->stride < stacks->guard_bytes;
}
