/* A simulated program for tests of the rules: a host, and a device with one engine for kernels and one for each
 * direction of copies, with a simulated clock. The simulation produces the index that the reader would make from a
 * trace of the program. Rates are those of an H200. */
#ifndef LE_INDEX_TESTING_H
#define LE_INDEX_TESTING_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "trace/rules/finding.h"
#include "trace/rules/rule_input.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAY_MOST = 40000, PLAY_STREAMS = 12, PLAY_TEXTS = 512 };
#define US(n) ((uint64_t)((n)*1e3))
#define MS(n) ((uint64_t)((n)*1e6))

struct play {
    struct le_trace_index index;
    uint64_t host_ns, stream_ns[PLAY_STREAMS],
        engine_ns[3];       /* engines: kernels, copies to the device, copies to the host */
    uint64_t launch_ns;     /* how long a launch takes the host */
    int32_t source, thread; /* of the following calls; thread is 0 or 1 */
    bool shared;            /* kernels in different streams run at the same time */
    struct le_arena arena;
    struct le_findings findings;
};

static inline int32_t play_text(struct play *play, const char *text) {
    for (int32_t k = 0; k < play->index.texts.count; k++)
        if (strcmp(play->index.texts.at[k], text) == 0)
            return k;
    assert_true(play->index.texts.count < PLAY_TEXTS);
    play->index.texts.at[play->index.texts.count] = le_arena_copy(&play->arena, text, strlen(text));
    return play->index.texts.count++;
}

#define PLAY_ROOM(table, most)                                                                                         \
    ((table).at = calloc((most), sizeof *(table).at), (table).capacity = (most), assert_non_null((table).at))

static inline struct play *play_new(const char *command) {
    struct play *play = calloc(1, sizeof *play);
    assert_non_null(play);
    le_arena_init(&play->arena);
    assert_int_equal(setjmp(play->arena.failure), 0);
    struct le_trace_index *index = &play->index;
    PLAY_ROOM(index->texts, PLAY_TEXTS);
    PLAY_ROOM(index->processes, 1);
    PLAY_ROOM(index->devices, 2);
    PLAY_ROOM(index->streams, PLAY_STREAMS);
    PLAY_ROOM(index->threads, 2);
    PLAY_ROOM(index->shapes, PLAY_MOST);
    PLAY_ROOM(index->sources, PLAY_TEXTS);
    PLAY_ROOM(index->operations, PLAY_MOST);
    PLAY_ROOM(index->calls, PLAY_MOST);
    PLAY_ROOM(index->transfers, PLAY_MOST);
    PLAY_ROOM(index->overheads, PLAY_TEXTS);
    PLAY_ROOM(index->jits, PLAY_TEXTS);
    PLAY_ROOM(index->memory, PLAY_TEXTS);
    play_text(play, "");
    index->processes.at[0] = (struct le_process){.id = 1, .command = play_text(play, command), .start_ns = 1000000000};
    index->processes.count = index->devices.count = 1;
    index->threads.count = 2;
    index->devices.at[0] = (struct le_trace_device){.capability_major = 9,
                                                    .multiprocessors = 132,
                                                    .warp_threads = 32,
                                                    .multiprocessor_threads = 2048,
                                                    .multiprocessor_blocks = 32,
                                                    .multiprocessor_registers = 65536,
                                                    .multiprocessor_shared_bytes = 233472};
    for (int32_t k = 0; k < PLAY_STREAMS; k++)
        index->streams.at[k] = (struct le_stream){.id = (uint32_t)k, .is_null = k == 0};
    index->streams.count = PLAY_STREAMS;
    play->host_ns = 1000000000;
    play->launch_ns = US(3);
    play->source = LE_NONE;
    return play;
}

static inline void play_free(struct play *play) {
    struct le_trace_index *index = &play->index;
    void *tables[] = {index->texts.at,   index->processes.at, index->devices.at,   index->streams.at,
                      index->threads.at, index->shapes.at,    index->sources.at,   index->operations.at,
                      index->calls.at,   index->memory.at,    index->transfers.at, index->overheads.at,
                      index->jits.at};
    for (size_t k = 0; k < ARRAY_LEN(tables); k++)
        free(tables[k]);
    le_arena_finish(&play->arena);
    free(play);
}

/* Adds a second device like the first one. Streams from `first` on belong to it, and `first` is its null stream. */
static inline void play_second_device(struct play *play, int first) {
    struct le_trace_index *index = &play->index;
    index->devices.at[1] = index->devices.at[0];
    index->devices.at[1].id = 1;
    index->devices.count = 2;
    for (int k = first; k < PLAY_STREAMS; k++) {
        index->streams.at[k].device = 1;
        index->streams.at[k].is_null = k == first;
    }
    play->shared = true;
}

/* Adds a source line of the program that is called from `parent`. */
static inline int32_t play_source(struct play *play, const char *file, int32_t line, int32_t parent) {
    play->index.sources.at[play->index.sources.count] =
        (struct le_source){.parent = parent, .file = play_text(play, file), .line = line};
    return play->index.sources.count++;
}

static inline struct le_call *play_call(struct play *play, const char *function, enum le_call_kind kind,
                                        uint64_t time_ns) {
    assert_true(play->index.calls.count < PLAY_MOST);
    struct le_call *call = &play->index.calls.at[play->index.calls.count++];
    *call = (struct le_call){.start_ns = play->host_ns,
                             .end_ns = play->host_ns + time_ns,
                             .function = play_text(play, function),
                             .thread = play->thread,
                             .source = play->source,
                             .operation = LE_NONE,
                             .transfer = LE_NONE,
                             .kind = (uint8_t)kind};
    play->host_ns += time_ns;
    return call;
}

static inline struct le_operation *play_operation(struct play *play, struct le_call *call, int stream, int engine,
                                                  uint64_t earliest_ns, uint64_t time_ns) {
    assert_true(play->index.operations.count < PLAY_MOST);
    uint64_t start_ns = earliest_ns > play->stream_ns[stream] ? earliest_ns : play->stream_ns[stream];
    if (!play->shared && play->engine_ns[engine] > start_ns)
        start_ns = play->engine_ns[engine];
    play->stream_ns[stream] = play->engine_ns[engine] = start_ns + time_ns;
    call->operation = play->index.operations.count;
    struct le_operation *operation = &play->index.operations.at[play->index.operations.count++];
    *operation = (struct le_operation){.start_ns = start_ns,
                                       .end_ns = start_ns + time_ns,
                                       .stream = stream,
                                       .call = (int32_t)(call - play->index.calls.at),
                                       .shape = play->index.shapes.count++};
    return operation;
}

/* Equal shapes share one position, as in the reader's index. */
static inline void play_shape(struct play *play, struct le_operation *operation, struct le_shape shape) {
    for (int32_t k = 0; k < operation->shape; k++)
        if (memcmp(&play->index.shapes.at[k], &shape, sizeof shape) == 0) {
            operation->shape = k;
            play->index.shapes.count--;
            return;
        }
    play->index.shapes.at[operation->shape] = shape;
}

static inline void play_launch(struct play *play, int stream, const char *name, uint32_t blocks, uint32_t threads,
                               uint64_t time_ns) {
    struct le_call *call = play_call(play, "cuLaunchKernel", LE_CALL_LAUNCH, play->launch_ns);
    struct le_operation *operation = play_operation(play, call, stream, 0, play->host_ns + 1000, time_ns);
    operation->name = play_text(play, name);
    operation->kind = LE_OPERATION_KERNEL;
    play_shape(play, operation, (struct le_shape){.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .registers = 32});
}

struct played_copy {
    uint64_t bytes, host, sample; /* host: an address; 0: unknown */
    double rate;                  /* bytes per nanosecond; 0: the usual one */
    int stream;
    bool up, pinned, async;
};

static inline void play_copy(struct play *play, struct played_copy copy) {
    double rate = copy.rate > 0 ? copy.rate : copy.pinned ? 55 : copy.up ? 9 : 17;
    struct le_call *call = play_call(play, copy.async ? "cuMemcpyAsync" : "cuMemcpy",
                                     copy.async ? LE_CALL_COPY_ASYNC : LE_CALL_COPY, US(6));
    uint64_t time_ns = (uint64_t)((double)copy.bytes / rate) + 1500;
    struct le_operation *operation = play_operation(play, call, copy.stream, copy.up ? 1 : 2, play->host_ns, time_ns);
    operation->bytes = copy.bytes;
    operation->kind = LE_OPERATION_COPY;
    operation->name = play_text(play, copy.up ? "[copy host to device]" : "[copy device to host]");
    uint8_t memory = copy.pinned ? LE_TRACE_PINNED : LE_TRACE_PAGEABLE;
    play_shape(play, operation,
               (struct le_shape){.direction = copy.up ? LE_TRACE_HTOD : LE_TRACE_DTOH,
                                 .from = copy.up ? memory : LE_TRACE_ON_DEVICE,
                                 .to = copy.up ? LE_TRACE_ON_DEVICE : memory,
                                 .is_async = copy.async});
    if (!copy.pinned || !copy.async)
        play->host_ns = call->end_ns = operation->end_ns + 1000;
    call->transfer = play->index.transfers.count;
    play->index.transfers.at[play->index.transfers.count++] =
        (struct le_transfer){.host = copy.host, .bytes = copy.bytes, .sample = copy.sample};
}

static inline void play_wait(struct play *play) {
    struct le_call *call = play_call(play, "cuStreamSynchronize", LE_CALL_WAIT, US(2));
    for (int k = 0; k < PLAY_STREAMS; k++)
        if (play->stream_ns[k] + 2000 > play->host_ns)
            play->host_ns = call->end_ns = play->stream_ns[k] + 2000;
}

static inline int play_compare(const void *a_, const void *b_) {
    const struct le_operation *a = a_, *b = b_;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* Ends the program and runs the rules. */
static inline void play_end(struct play *play) {
    struct le_trace_index *index = &play->index;
    index->processes.at[0].end_ns = play->host_ns;
    qsort(index->operations.at, (size_t)index->operations.count, sizeof *index->operations.at, play_compare);
    for (int32_t k = 0; k < index->operations.count; k++)
        index->calls.at[index->operations.at[k].call].operation = k;
    assert_int_equal(le_findings_find(index, &play->arena, &play->findings), LEAT_OK);
}

static inline const struct le_finding *play_found(const struct play *play, const char *rule) {
    for (int k = 0; k < play->findings.count; k++)
        if (strcmp(play->findings.at[k].rule, rule) == 0)
            return &play->findings.at[k];
    return NULL;
}

static inline void play_expect_none(const struct play *play) {
    for (int k = 0; k < play->findings.count; k++)
        print_error("found: %s: %s\n", play->findings.at[k].rule, play->findings.at[k].title);
    assert_int_equal(play->findings.count, 0);
}

/* Checks whether the rule finds anything, and frees the simulation. */
static inline void play_expect_when(struct play *play, const char *rule, bool is_there) {
    if ((play_found(play, rule) != NULL) != is_there)
        print_error("%s: a finding was %sexpected\n", rule, is_there ? "" : "not ");
    assert_true((play_found(play, rule) != NULL) == is_there);
    play_free(play);
}

/* Checks that the rule finds something with about the expected gain (5 % off at most). */
static inline const struct le_finding *play_expect(const struct play *play, const char *rule, double gain_ns) {
    const struct le_finding *finding = play_found(play, rule);
    if (!finding)
        print_error("%s: not found among %d\n", rule, play->findings.count);
    assert_non_null(finding);
    if ((double)finding->gain_ns < 0.95 * gain_ns || (double)finding->gain_ns > 1.05 * gain_ns + 1)
        print_error("%s: gain %llu ns, should be %.0f: %s\n%s\n", rule, (unsigned long long)finding->gain_ns, gain_ns,
                    finding->title, finding->evidence);
    assert_true((double)finding->gain_ns >= 0.95 * gain_ns && (double)finding->gain_ns <= 1.05 * gain_ns + 1);
    assert_true(strlen(finding->title) > 0 && strlen(finding->evidence) > 0 && strlen(finding->advice) > 0);
    return finding;
}
#endif
