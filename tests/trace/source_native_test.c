/* Return addresses as sources. Random calls of functions with all kinds of frames keep a list of their names, which is
 * compared with what the recorder finds. The recorder's code is in a library whose frames do not count. */
#include "trace/recorder/source.h"
#include "trace/format.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <alloca.h>
#include <cmocka.h>
#include <pthread.h>
#include <sys/resource.h>

#define ALONE __attribute__((noinline))

struct probe;
struct probe *probe_new(unsigned kinds);
void probe_free(struct probe *probe);
uint32_t probe_capture(struct probe *probe);
double probe_capture_ns(struct probe *probe, int count);
size_t probe_take(struct probe *probe, void *to, size_t most_bytes);

enum { KINDS = 5, MOST_DEPTH = 40, TOLD = 6, MOST_NUMBERS = 1 << 16 };

struct source {
    uint32_t parent, function, file, line, language;
};

/* One thread's walk through the functions. */
struct walk {
    struct probe *probe;
    uint64_t random;
    const char *names[MOST_DEPTH];
    int depth;
    int captures;
    struct capture {
        uint32_t source;
        int count;
        const char *names[TOLD];
    } made[1 << 14];
};

static uint64_t next(struct walk *walk) {
    walk->random = walk->random * 6364136223846793005u + 1442695040888963407u;
    return walk->random >> 33;
}

static ALONE void capture(struct walk *walk) {
    struct capture *made = &walk->made[walk->captures++];
    walk->names[walk->depth] = "capture";
    made->source = probe_capture(walk->probe);
    for (int k = walk->depth; k >= 0 && made->count < TOLD; k--)
        made->names[made->count++] = walk->names[k];
}

typedef int function(struct walk *walk);
static function small, large, growing, aligned, busy;
static function *const functions[KINDS] = {small, large, growing, aligned, busy};
static const char *const function_names[KINDS] = {"small", "large", "growing", "aligned", "busy"};

/* Calls some of the functions, or none. The caller is on the list already. */
static ALONE int branch(struct walk *walk) {
    int sum = 0;
    walk->names[walk->depth++] = "branch";
    if (walk->captures < (int)(sizeof walk->made / sizeof *walk->made) - 1)
        capture(walk);
    uint64_t calls = next(walk) % 3;
    for (uint64_t k = 0; k < calls && walk->depth + 3 < MOST_DEPTH; k++) {
        size_t which = next(walk) % KINDS;
        walk->names[walk->depth++] = function_names[which];
        sum += functions[which](walk);
        walk->depth--;
    }
    walk->depth--;
    return sum + 1;
}

static ALONE int small(struct walk *walk) {
    return branch(walk) + 1;
}

static ALONE int large(struct walk *walk) {
    volatile char room[9000];
    room[next(walk) % sizeof room] = 1;
    return branch(walk) + room[0];
}

/* A frame with a different size each time. */
static ALONE int growing(struct walk *walk) {
    size_t size = next(walk) % 3000 + 1;
    volatile char *room = alloca(size);
    room[size - 1] = 1;
    return branch(walk) + room[size - 1];
}

/* A frame that realigns the stack. */
static ALONE int aligned(struct walk *walk) {
    _Alignas(64) volatile char room[64];
    room[next(walk) % sizeof room] = 1;
    return branch(walk) + room[0] + (int)((uintptr_t)room % 64);
}

/* A frame that uses all callee-saved registers. */
static ALONE int busy(struct walk *walk) {
    uint64_t a = next(walk), b = next(walk), c = next(walk), d = next(walk), e = next(walk), f = next(walk);
    int sum = branch(walk);
    a ^= b + (uint64_t)sum;
    sum += branch(walk);
    return sum + (int)((a ^ b ^ c ^ d ^ e ^ f) & 1);
}

static ALONE void *walk_all(void *data) {
    struct walk *walk = data;
    walk->names[walk->depth++] = "walk_all";
    for (int k = 0; k < 300; k++)
        branch(walk);
    return NULL;
}

struct read_back {
    char *texts[MOST_NUMBERS];
    struct source sources[MOST_NUMBERS];
};

static void read_record(struct read_back *read_back, const char *record) {
    struct le_trace_record head;
    memcpy(&head, record, sizeof head);
    record += sizeof head;
    if (head.kind == LE_TRACE_STRING) {
        struct le_trace_string string;
        memcpy(&string, record, sizeof string);
        assert_true(string.id > 0 && string.id < MOST_NUMBERS && !read_back->texts[string.id]);
        read_back->texts[string.id] = strndup(record + sizeof string, string.length);
    } else if (head.kind == LE_TRACE_SOURCE) {
        struct le_trace_source source;
        memcpy(&source, record, sizeof source);
        assert_true(source.id > 0 && source.id < MOST_NUMBERS && !read_back->sources[source.id].function);
        assert_true(!source.parent || read_back->sources[source.parent].function);
        assert_non_null(read_back->texts[source.function]);
        read_back->sources[source.id] = (struct source){.parent = source.parent,
                                                        .function = source.function,
                                                        .file = source.file,
                                                        .line = source.line,
                                                        .language = source.language};
    } else
        fail_msg("a record of kind %d", head.kind);
}

static void take_all(struct probe *probe, struct read_back *read_back) {
    static char records[1 << 16];
    size_t bytes;
    while ((bytes = probe_take(probe, records, sizeof records)))
        for (size_t at = 0; at < bytes;) {
            struct le_trace_record head;
            memcpy(&head, records + at, sizeof head);
            read_record(read_back, records + at);
            at += head.bytes;
        }
}

static void free_read_back(struct read_back *read_back) {
    for (int k = 0; k < MOST_NUMBERS; k++)
        free(read_back->texts[k]);
    free(read_back);
}

static void check(const struct read_back *read_back, const struct capture *capture) {
    uint32_t source = capture->source;
    assert_int_not_equal(source, 0);
    for (int k = 0; k < capture->count; k++) {
        const struct source *at = &read_back->sources[source];
        assert_int_not_equal(at->function, 0);
        assert_int_equal(at->language, LE_TRACE_NATIVE);
        assert_non_null(strstr(read_back->texts[at->file], "source_native_test"));
        assert_string_equal(read_back->texts[at->function], capture->names[k]);
        source = at->parent;
    }
}

static void all_kinds_of_frames_are_found(void **state) {
    (void)state;
    enum { THREADS = 3 };
    struct probe *probe = probe_new(LE_SOURCE_NATIVE);
    struct read_back *read_back = calloc(1, sizeof *read_back);
    struct walk *walks = calloc(THREADS, sizeof *walks);
    pthread_t threads[THREADS];
    for (int k = 0; k < THREADS; k++) {
        walks[k].probe = probe;
        walks[k].random = (uint64_t)k + 1;
        assert_int_equal(pthread_create(&threads[k], NULL, walk_all, &walks[k]), 0);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    take_all(probe, read_back);
    for (int k = 0; k < THREADS; k++) {
        assert_true(walks[k].captures > 1000);
        for (int i = 0; i < walks[k].captures; i++)
            check(read_back, &walks[k].made[i]);
    }
    free(walks);
    free_read_back(read_back);
    probe_free(probe);
}

/* Functions of CUDA's runtime that are linked into the program, and the stub of a kernel. */
static ALONE uint32_t cudaLaunchNothing(struct probe *probe) {
    uint32_t source = probe_capture(probe);
    return source + (source == UINT32_MAX);
}
static ALONE uint32_t __device_stub__nothing(struct probe *probe) {
    uint32_t source = cudaLaunchNothing(probe);
    return source + (source == UINT32_MAX);
}
static ALONE uint32_t caller_of_kernel(struct probe *probe) {
    uint32_t source = __device_stub__nothing(probe);
    return source + (source == UINT32_MAX);
}

static void the_runtime_in_the_program_is_skipped(void **state) {
    (void)state;
    struct probe *probe = probe_new(LE_SOURCE_NATIVE);
    struct read_back *read_back = calloc(1, sizeof *read_back);
    uint32_t source = caller_of_kernel(probe);
    take_all(probe, read_back);
    assert_int_not_equal(source, 0);
    assert_string_equal(read_back->texts[read_back->sources[source].function], "caller_of_kernel");
    free_read_back(read_back);
    probe_free(probe);
}

/* Without any kinds, there are no sources. */
static void no_kinds_no_sources(void **state) {
    (void)state;
    struct probe *probe = probe_new(0);
    char records[4096];
    assert_int_equal(probe_capture(probe), 0);
    assert_int_equal(probe_take(probe, records, sizeof records), 0);
    probe_free(probe);
}

static ALONE double measure(struct probe *probe, int depth) {
    double ns = depth ? measure(probe, depth - 1) : probe_capture_ns(probe, 1000000);
    return ns + (ns < 0);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_of_frames_are_found),
        cmocka_unit_test(the_runtime_in_the_program_is_skipped),
        cmocka_unit_test(no_kinds_no_sources),
    };
    if (count > 1 && strcmp(arguments[1], "--measure") == 0) {
        struct probe *probe = probe_new(LE_SOURCE_NATIVE);
        printf("%.0f ns a capture, %d frames read_back\n", measure(probe, 10), TOLD);
        probe_free(probe);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
