/* Random programs with two threads: no finding promises more than the time that its rule looks at, with each moment
 * counted once. These times are computed here from the index alone. */
#include "trace/rules/index_testing.h"

struct interval {
    uint64_t start_ns, end_ns;
};
struct intervals {
    struct interval at[2 * PLAY_MOST];
    size_t count;
};

static void add(struct intervals *intervals, uint64_t start_ns, uint64_t end_ns) {
    assert_true(intervals->count < ARRAY_LEN(intervals->at));
    intervals->at[intervals->count++] = (struct interval){start_ns, end_ns};
}

static int by_start(const void *a_, const void *b_) {
    const struct interval *a = a_, *b = b_;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static uint64_t union_ns(struct intervals *intervals) {
    uint64_t total_ns = 0, until_ns = 0;
    qsort(intervals->at, intervals->count, sizeof *intervals->at, by_start);
    for (size_t k = 0; k < intervals->count; k++) {
        struct interval one = intervals->at[k];
        uint64_t from_ns = one.start_ns > until_ns ? one.start_ns : until_ns;
        total_ns += one.end_ns > from_ns ? one.end_ns - from_ns : 0;
        until_ns = one.end_ns > until_ns ? one.end_ns : until_ns;
    }
    return total_ns;
}

/* Calls and operations of these kinds: bit sets. */
static uint64_t time_of(const struct play *play, uint32_t calls, uint32_t operations) {
    static struct intervals intervals;
    intervals.count = 0;
    for (int32_t k = 0; k < play->index.calls.count; k++)
        if (calls >> play->index.calls.at[k].kind & 1)
            add(&intervals, play->index.calls.at[k].start_ns, play->index.calls.at[k].end_ns);
    for (int32_t k = 0; k < play->index.operations.count; k++)
        if (operations >> play->index.operations.at[k].kind & 1)
            add(&intervals, play->index.operations.at[k].start_ns, play->index.operations.at[k].end_ns);
    return union_ns(&intervals);
}

enum {
    KERNELS = 1 << LE_OPERATION_KERNEL | 1 << LE_OPERATION_GRAPH,
    COPIES = 1 << LE_OPERATION_COPY,
    ALL = KERNELS | COPIES | 1 << LE_OPERATION_SET,
    COPY_CALLS = 1 << LE_CALL_COPY | 1 << LE_CALL_COPY_ASYNC,
    ALLOCATIONS = 1 << LE_CALL_ALLOCATE | 1 << LE_CALL_RELEASE | 1 << LE_CALL_PIN,
};

/* The largest gain that the rule may promise. */
static uint64_t most_ns(const struct play *play, const char *rule) {
    static const struct {
        const char *rule;
        uint32_t calls, operations;
    } of[] = {
        {"small-grid", 0, KERNELS},
        {"tail-wave", 0, KERNELS},
        {"kernels-apart", 0, KERNELS},
        {"pageable-copy", 0, COPIES},
        {"transfer-bound", 0, COPIES},
        {"blocked-async", 1 << LE_CALL_COPY_ASYNC, 0},
        {"round-trip", COPY_CALLS, COPIES},
        {"graph-rebuilt", 1 << LE_CALL_GRAPH_BUILD | 1 << LE_CALL_GRAPH_LAUNCH | 1 << LE_CALL_LAUNCH, 0},
    };
    const struct le_process *process = &play->index.processes.at[0];
    uint64_t whole_ns = process->end_ns - process->start_ns, idle_ns = whole_ns - time_of(play, 0, ALL);
    if (strcmp(rule, "launch-bound") == 0 || strcmp(rule, "needless-wait") == 0)
        return idle_ns;
    if (strcmp(rule, "repeating-pattern") == 0) /* plus the half microsecond of each node that a graph hides */
        return idle_ns + 500 * (uint64_t)play->index.operations.count;
    if (strcmp(rule, "allocation-churn") == 0) /* only while the device is idle */
        return time_of(play, ALLOCATIONS, ALL) - time_of(play, 0, ALL);
    for (size_t k = 0; k < ARRAY_LEN(of); k++)
        if (strcmp(rule, of[k].rule) == 0)
            return time_of(play, of[k].calls, of[k].operations);
    return whole_ns;
}

/* ---- programs */

static uint32_t dice(uint32_t *random, uint32_t sides) {
    *random = *random * 1664525 + 1013904223;
    return (*random >> 8) % sides;
}

static void build_graph(struct play *play, uint32_t nodes) {
    play_call(play, "cuStreamBeginCapture", LE_CALL_GRAPH_BUILD, US(5));
    for (uint32_t k = 0; k < nodes; k++)
        play_call(play, "cuLaunchKernel", LE_CALL_LAUNCH, US(4));
    play_call(play, "cuGraphInstantiate", LE_CALL_GRAPH_BUILD, US(200));
}

/* One random step of a program, in a stream of its thread. */
static void step(struct play *play, uint32_t kind, uint32_t size, int stream) {
    static const char *const names[] = {"a", "b", "c", "d"};
    struct played_copy copy = {.bytes = 1000 << size, .host = 64 + size, .sample = 7, .stream = stream};
    switch (kind) {
    case 0: /* launches */
        for (uint32_t k = 0; k < 10; k++)
            play_launch(play, stream, names[k % 4], 1u << size, 64, US(2 << size));
        break;
    case 1:
        play_launch(play, stream, "tail", 1057, 256, US(20 << size % 6));
        break;
    case 2:
    case 3:
        copy.up = kind == 2;
        copy.async = size & 1;
        copy.pinned = size & 2;
        play_copy(play, copy);
        break;
    case 4:
        play_call(play, "cudaMalloc", LE_CALL_ALLOCATE, US(10 << size % 4));
        break;
    case 5:
        build_graph(play, size);
        break;
    case 6:
        play->host_ns += US(5 << size);
        play_call(play, "cuModuleLoadData", LE_CALL_LOAD, US(100));
        play_launch(play, stream, "loaded", 5000, 256, US(20));
        break;
    default:
        play_wait(play);
    }
}

/* Several phases, each of which repeats a few steps. */
static void play_thread(struct play *play, uint32_t *random) {
    enum { STEPS = 4 };
    for (uint32_t phase = 0; phase < 3; phase++) {
        uint32_t kinds[STEPS], sizes[STEPS], count = 1 + dice(random, STEPS), streams = 1 + dice(random, 4);
        for (uint32_t k = 0; k < count; k++) {
            kinds[k] = dice(random, 9);
            sizes[k] = dice(random, 14);
        }
        for (uint32_t turn = 0, turns = 12 + dice(random, 40); turn < turns; turn++)
            for (uint32_t k = 0; k < count; k++)
                step(play, kinds[k], sizes[k], 1 + 5 * play->thread + (int)(turn % streams));
    }
}

struct call_start {
    uint64_t start_ns;
    int32_t call;
};

static int by_call_start(const void *a_, const void *b_) {
    const struct call_start *a = a_, *b = b_;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->call < b->call ? -1 : a->call > b->call;
}

/* Sorts the calls of both threads by start, as the reader does. */
static void sort_calls(struct play *play) {
    static struct call_start starts[PLAY_MOST];
    static struct le_call calls[PLAY_MOST];
    static int32_t to[PLAY_MOST];
    int32_t count = play->index.calls.count;
    for (int32_t k = 0; k < count; k++)
        starts[k] = (struct call_start){play->index.calls.at[k].start_ns, k};
    qsort(starts, (size_t)count, sizeof *starts, by_call_start);
    for (int32_t k = 0; k < count; k++) {
        calls[k] = play->index.calls.at[starts[k].call];
        to[starts[k].call] = k;
    }
    memcpy(play->index.calls.at, calls, (size_t)count * sizeof *calls);
    for (int32_t k = 0; k < play->index.operations.count; k++)
        play->index.operations.at[k].call = to[play->index.operations.at[k].call];
}

static struct play *random_program(uint32_t seed) {
    struct play *play = play_new("/home/u/app");
    uint32_t random = seed;
    play->shared = true;
    uint64_t start_ns = play->host_ns;
    play_thread(play, &random);
    uint64_t end_ns = play->host_ns;
    for (int k = 0; k < PLAY_STREAMS; k++) { /* streams that the other thread does not wait for */
        end_ns = play->stream_ns[k] > end_ns ? play->stream_ns[k] : end_ns;
        play->stream_ns[k] = 0;
    }
    play->host_ns = start_ns + US(dice(&random, 50));
    play->thread = 1;
    play_thread(play, &random);
    play_wait(play);
    play->host_ns = play->host_ns > end_ns ? play->host_ns : end_ns;
    sort_calls(play);
    play_end(play);
    return play;
}

static void gains_are_within_their_time(void **state) {
    (void)state;
    int found = 0;
    for (uint32_t seed = 1; seed <= 300; seed++) {
        struct play *play = random_program(seed * 7919);
        for (int k = 0; k < play->findings.count; k++, found++) {
            const struct le_finding *finding = &play->findings.at[k];
            uint64_t most = most_ns(play, finding->rule);
            if (finding->gain_ns > most + most / 1000)
                print_error("seed %u: %s: gain %llu ns of %llu at most: %s\n", seed, finding->rule,
                            (unsigned long long)finding->gain_ns, (unsigned long long)most, finding->title);
            assert_true(finding->gain_ns <= most + most / 1000);
        }
        play_free(play);
    }
    assert_true(found > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gains_are_within_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
