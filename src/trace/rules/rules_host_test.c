/* Rules about what the host does other than launches and copies: known answers, and thresholds from both sides. */
#include "trace/rules/index_testing.h"

static const char *const own = "/home/u/app";

static void play_busy(struct play *play, uint64_t time_ns) {
    play_launch(play, 1, "work", 10560, 256, time_ns);
    play_wait(play);
}

/* Waits after every kernel, without copying results to the host. */
static struct play *waits(int count, uint64_t host_ns, bool down, bool managed) {
    struct play *play = play_new(own);
    if (managed)
        play->index.memory.at[play->index.memory.count++] = (struct le_memory_event){.where = LE_TRACE_MANAGED};
    for (int k = 0; k < count; k++) {
        play_launch(play, 1, "work", 10560, 256, US(100));
        play_wait(play);
        play->host_ns += host_ns;
        if (down)
            play_copy(play, (struct played_copy){.pinned = true, .bytes = 4, .stream = 1});
    }
    play_end(play);
    return play;
}

static void finds_needless_waits(void **state) {
    (void)state;
    struct play *play =
        waits(200, US(10), false, false); /* 2 us to return from the wait, 10 us of host work, 4 us to start a kernel */
    const struct le_finding *finding = play_expect(play, "needless-wait", 199 * (16e3 - 1.34e3));
    /* 1.34 us are CUPTI's, for a launch and a wait; plus or minus 0.3 us */
    assert_non_null(strstr(finding->evidence, "between 2.86 ms and 2.98 ms"));
    play_free(play);
    play = waits(21, US(10), false, false); /* the last wait is at the end of the program */
    assert_non_null(play_found(play, "needless-wait"));
    play_free(play);
    play = waits(20, US(10), false, false);
    assert_null(play_found(play, "needless-wait"));
    play_free(play);
    play = waits(200, US(10), true, false);
    assert_null(play_found(play, "needless-wait"));
    play_free(play);
    play = waits(200, US(10), false, true); /* the host may read managed memory directly */
    assert_null(play_found(play, "needless-wait"));
    play_free(play);
}

/* The host does not read managed memory of another process. */
static void another_process_has_its_own_memory(void **state) {
    (void)state;
    for (int process = 0; process < 2; process++) {
        struct play *play = waits(200, US(10), false, true);
        play->index.memory.at[0].call = play->index.calls.count;
        play->index.threads.at[1].process = process;
        play->thread = 1;
        play_call(play, "cudaMallocManaged", LE_CALL_ALLOCATE, US(1));
        play_end(play);
        assert_true((play_found(play, "needless-wait") == NULL) == (process == 0));
        play_free(play);
    }
}

static void unrecorded_time_is_not_compiling(void **state) {
    (void)state;
    for (int paused = 0; paused < 2; paused++) {
        struct play *play = play_new("python3 app.py");
        struct le_pause pauses[20];
        play->index.pauses.at = pauses;
        for (int k = 0; k < 20; k++) {
            pauses[k] = (struct le_pause){.start_ns = play->host_ns + MS(10), .end_ns = play->host_ns + MS(90)};
            play->host_ns += MS(100);
            play_call(play, "cuModuleLoadData", LE_CALL_LOAD, US(100));
            play_launch(play, 1, "kernel", 10560, 256, MS(1));
            play_wait(play);
        }
        play->index.pauses.count = paused ? 20 : 0;
        play_end(play);
        assert_true((play_found(play, "compiling") == NULL) == paused);
        play_free(play);
    }
}

/* Several modules for one kernel, each compiled for `compile_ns`. The name may contain a number. */
static struct play *compiled(int count, uint64_t compile_ns, const char *format) {
    struct play *play = play_new("python3 app.py");
    play_busy(play, MS(1));
    for (int k = 0; k < count; k++) {
        char name[32];
        snprintf(name, sizeof name, format, k);
        play->host_ns += compile_ns;
        play_call(play, "cudaGetDevice", LE_CALL_OTHER, 300);
        play_call(play, "cuModuleLoadData", LE_CALL_LOAD, US(100));
        play_call(play, "cuModuleGetFunction", LE_CALL_LOAD, US(2));
        play_launch(play, 1, name, 10560, 256, US(500));
        play_wait(play);
    }
    play_end(play);
    return play;
}

static void finds_compiling(void **state) {
    (void)state;
    struct play *play = compiled(20, MS(100), "scale_%d");
    const struct le_finding *finding = play_expect(play, "compiling", 19 * 100.1e6);
    assert_non_null(strstr(finding->title, "The same kernels were compiled again 19 times"));
    play_free(play);
    play = compiled(4, MS(100), "scale");
    play_expect(play, "compiling", 3 * 100.1e6);
    play_free(play);
    play = compiled(3, MS(100), "scale"); /* three types */
    assert_null(play_found(play, "compiling"));
    play_free(play);
    play = compiled(20, MS(20), "triton_poi_fused_add_%d"); /* different kernels */
    assert_null(play_found(play, "compiling"));
    play_free(play);
    play = compiled(20, MS(20), "triton_poi_fused_add_0");
    assert_non_null(play_found(play, "compiling"));
    play_free(play);
    play = compiled(20, US(850), "scale"); /* loaded, not compiled */
    assert_null(play_found(play, "compiling"));
    play_free(play);
}

/* A load that takes a millisecond compiled something. Before a shorter one, the host may have done something else. */
static void short_loads_are_no_proof_of_compiling(void **state) {
    (void)state;
    for (int is_long = 0; is_long < 2; is_long++) {
        struct play *play = play_new(own);
        for (int k = 0; k < 10; k++) {
            play->host_ns += MS(10);
            play_call(play, "cuModuleLoadData", LE_CALL_LOAD, US(is_long ? 1000 : 999));
            play_busy(play, MS(1));
        }
        play_end(play);
        const struct le_finding *finding = play_found(play, "compiling");
        assert_int_equal(finding->confidence, is_long ? LE_LIKELY : LE_PLAUSIBLE);
        assert_true((strstr(finding->evidence, "assumed: the host compiled in that time") == NULL) == is_long);
        play_free(play);
    }
}

static void names_of_their_own_are_no_recompilation(void **state) {
    (void)state;
    struct play *play = play_new("python3 app.py");
    for (char k = 'a'; k < 'u'; k++) {
        play->host_ns += MS(100);
        play_call(play, "cuModuleLoadData", LE_CALL_LOAD, US(100));
        play_launch(play, 1, (char[]){k, 0}, 10560, 256, MS(5));
        play_wait(play);
    }
    play_end(play);
    assert_null(play_found(play, "compiling"));
    play_free(play);
}

static struct play *loaded(uint64_t load_ns, uint64_t jit_ns, bool before) {
    struct play *play = play_new(own);
    play_busy(play, MS(50));
    uint64_t start_ns = before ? play->host_ns - MS(60) : play->host_ns;
    play->index.overheads.at[play->index.overheads.count++] = (struct le_host_span){
        .start_ns = start_ns, .end_ns = start_ns + load_ns, .kind = LE_TRACE_OVERHEAD_LAZY_LOADING};
    if (jit_ns)
        play->index.jits.at[play->index.jits.count++] =
            (struct le_host_span){.start_ns = start_ns, .end_ns = start_ns + jit_ns, .kind = 3};
    play->host_ns += load_ns + jit_ns;
    play_busy(play, MS(50));
    play_end(play);
    return play;
}

static void finds_loading(void **state) {
    (void)state;
    struct play *play = loaded(US(5000), 0, false);
    play_expect(play, "lazy-loading", 0);
    play_free(play);
    play = loaded(US(4990), 0, false);
    assert_null(play_found(play, "lazy-loading"));
    play_free(play);
    play = loaded(MS(1), MS(30), false);
    play_expect(play, "lazy-loading", 30e6);
    play_free(play);
    play = loaded(MS(30), MS(28), false); /* compiled within the load */
    const struct le_finding *finding = play_expect(play, "lazy-loading", 28e6);
    assert_non_null(strstr(finding->title, "Code was loaded after the first kernel: 30.0 ms"));
    assert_non_null(
        strstr(finding->evidence, "1 module loaded at first use in 2.00 ms; 1 compiled by the driver in 28.0 ms"));
    assert_non_null(strstr(finding->advice, "CUDA_CACHE_PATH"));
    play_free(play);
    play = loaded(MS(5), 0, true); /* before the first kernel */
    assert_null(play_found(play, "lazy-loading"));
    play_free(play);
}

/* Kernel launches; those beyond `depth` hold the host. */
static struct play *queued(int count, int depth) {
    struct play *play = play_new(own);
    for (int k = 0; k < count; k++) {
        play->launch_ns = k < depth ? US(3) : US(63);
        play_launch(play, 1, "work", 10560, 256, US(63));
    }
    play_wait(play);
    play_end(play);
    return play;
}

static void finds_full_queues(void **state) {
    (void)state;
    struct play *play = queued(3000, 1070); /* 51 kernels have finished by then */
    const struct le_finding *finding = play_expect(play, "queue-full", 0);
    assert_non_null(strstr(finding->title, "1,930 launches held the host for 122 ms"));
    play_free(play);
    play = queued(3000, 1040); /* 990 launches in the queue: not full, so these are slow for another reason */
    assert_null(play_found(play, "queue-full"));
    play_free(play);
    play = queued(1000, 1000);
    assert_null(play_found(play, "queue-full"));
    play_free(play);
}

static struct play *allocating_by(const char *take, const char *give, int count, uint64_t malloc_ns, uint64_t free_ns) {
    struct play *play = play_new(own);
    play_busy(play, MS(1));
    for (int k = 0; k < count; k++) {
        play_call(play, take, LE_CALL_ALLOCATE, malloc_ns);
        play_busy(play, MS(1));
        play_call(play, give, LE_CALL_RELEASE, free_ns);
    }
    play_end(play);
    return play;
}

static struct play *allocating(int count, uint64_t malloc_ns, uint64_t free_ns) {
    return allocating_by("cudaMalloc", "cudaFree", count, malloc_ns, free_ns);
}

static void finds_allocation_churn(void **state) {
    (void)state;
    struct play *play = allocating(100, US(80), US(50));
    play_expect(play, "allocation-churn", 100 * 128e3);
    play_free(play);
    play = allocating(20, US(80), US(50));
    assert_non_null(play_found(play, "allocation-churn"));
    play_free(play);
    play = allocating(19, US(80), US(50));
    assert_null(play_found(play, "allocation-churn"));
    play_free(play);
    play = allocating(100, US(2), US(2)); /* from a pool */
    assert_null(play_found(play, "allocation-churn"));
    play_free(play);
    static const char *const pooled[] = {"cudaMallocAsync", "cuMemAllocFromPoolAsync_ptsz", "cudaMallocFromPoolAsync"};
    for (size_t k = 0; k < ARRAY_LEN(pooled); k++) {
        play = allocating_by(pooled[k], "cudaFreeAsync", 100, US(80), US(50));
        assert_null(play_found(play, "allocation-churn"));
        play_free(play);
    }
}

static struct play *graphs_of(int builds, int launches, uint64_t launch_ns, uint64_t destroy_ns) {
    struct play *play = play_new(own);
    for (int k = 0; k < builds; k++) {
        play_call(play, "cuStreamBeginCapture", LE_CALL_GRAPH_BUILD, US(5));
        for (int launch = 0; launch < 40; launch++) /* 4 us each, of which 0.22 us are CUPTI's, as in every call */
            play_call(play, "cuLaunchKernel", LE_CALL_LAUNCH, US(4));
        play_call(play, "cuStreamEndCapture", LE_CALL_GRAPH_BUILD, US(5));
        play_call(play, "cuGraphInstantiate", LE_CALL_GRAPH_BUILD, US(274));
        for (int launch = 0; launch < launches; launch++) {
            struct le_call *call = play_call(play, "cuGraphLaunch", LE_CALL_GRAPH_LAUNCH, launch_ns);
            struct le_operation *operation = play_operation(play, call, 1, 0, play->host_ns, MS(1));
            operation->kind = LE_OPERATION_GRAPH;
            play_wait(play);
        }
        if (destroy_ns)
            play_call(play, "cuGraphExecDestroy", LE_CALL_GRAPH_BUILD, destroy_ns);
    }
    play_end(play);
    return play;
}

/* Launches that CuPy captures are short calls. If the program switches recording on, they take twice their own time
 * more. */
static void recording_takes_more_of_what_is_captured(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play->index.processes.at[0].is_switched = true;
    play_launch(play, 1, "cupy_work", 10560, 256, US(100));
    play_wait(play);
    for (int k = 0; k < 50; k++) {
        play_call(play, "cuStreamBeginCapture", LE_CALL_GRAPH_BUILD, US(5));
        for (int launch = 0; launch < 40; launch++, play->host_ns += US(5))
            play_call(play, "cuLaunchKernel", LE_CALL_LAUNCH, 1200);
        play_call(play, "cuGraphInstantiate", LE_CALL_GRAPH_BUILD, US(200));
        struct le_call *call = play_call(play, "cuGraphLaunch", LE_CALL_GRAPH_LAUNCH, US(5));
        play_operation(play, call, 1, 0, play->host_ns, MS(1))->kind = LE_OPERATION_GRAPH;
        play_wait(play);
    }
    play_end(play);
    play_expect(play, "graph-rebuilt", 49 * (205e3 + 40 * 6.2e3 - 42 * 0.22e3 - 40 * 2.15e3));
    play_free(play);
}

static struct play *graphs(int builds, int launches) {
    return graphs_of(builds, launches, US(5), 0);
}

static void finds_rebuilt_graphs(void **state) {
    (void)state;
    struct play *play = graphs(50, 1);
    const struct le_finding *finding =
        play_expect(play, "graph-rebuilt", 49 * (284e3 + 160e3 - 43 * 0.22e3 - 40 * 0.9e3));
    assert_non_null(strstr(finding->evidence, "between 18.9 ms and 20.1 ms"));
    play_free(play);
    play = graphs_of(50, 1, US(100),
                     US(60)); /* of the first launch's 100 us, a later launch would take 5 us and 40 times 0.23 us */
    play_expect(play, "graph-rebuilt",
                49 * (284e3 + 160e3 - 43 * 0.22e3 - 40 * 0.9e3 + 100e3 - 0.22e3 - 5e3 - 40 * 0.23e3 + 60e3 - 0.22e3));
    play_free(play);
    play = graphs(10, 1);
    assert_non_null(play_found(play, "graph-rebuilt"));
    play_free(play);
    play = graphs(9, 1);
    assert_null(play_found(play, "graph-rebuilt"));
    play_free(play);
    play = graphs(50, 3);
    assert_non_null(play_found(play, "graph-rebuilt"));
    play_free(play);
    play = graphs(50, 4);
    assert_null(play_found(play, "graph-rebuilt"));
    play_free(play);
}

static struct play *started(uint64_t start_ns, uint64_t work_ns) {
    struct play *play = play_new(own);
    play_call(play, "cuInit", LE_CALL_START, start_ns);
    play_busy(play, work_ns);
    play_end(play);
    return play;
}

static struct play *between_host_time(const char *kernel, bool loads) {
    struct play *play = play_new(own);
    for (int k = 0; k < 11; k++) {
        play_launch(play, 1, kernel, 10560, 256, US(500));
        play_wait(play);
        play->host_ns += MS(100);
        if (loads)
            play_call(play, "cuModuleLoadData", LE_CALL_LOAD, US(100));
    }
    play_end(play);
    return play;
}

/* The host's own work stays on the host. What it does before a module is loaded is for the device, except with Numba,
 * which compiles for the CPU, too. */
static void the_host_keeps_its_own_time(void **state) {
    (void)state;
    play_expect_when(between_host_time("kernel", false), "host-would-win", false);
    play_expect_when(between_host_time("_ZN6cudapy8__main__1fE", true), "host-would-win", false);
    struct play *play = between_host_time("kernel", true);
    play_expect(play, "host-would-win", 10 * 100.6e6 - 50 * 11 * 500e3);
    play_free(play);
}

static void finds_work_for_the_cpu(void **state) {
    (void)state;
    struct play *play = started(MS(300), MS(1));
    play_expect(play, "host-would-win", 300e6 + 1e6 - 50e6);
    play_free(play);
    play = started(MS(300), MS(3)); /* 150 ms, twice, of 303 */
    assert_non_null(play_found(play, "host-would-win"));
    play_free(play);
    play = started(MS(300), US(3100));
    assert_null(play_found(play, "host-would-win"));
    play_free(play);
}

static struct play *recorded(int launches, uint64_t recorder_ns, const struct le_host_span *pause) {
    struct play *play = play_new(own);
    if (pause)
        play->index.overheads.at[play->index.overheads.count++] = *pause;
    play->index.processes.at[0].recorder_ns = recorder_ns;
    for (int k = 0; k < launches; k++)
        play_launch(play, 1, "work", 10560, 256, US(100));
    play_wait(play);
    play_end(play);
    return play;
}

static void finds_distortion(void **state) {
    (void)state;
    struct play *play = recorded(1000, 1001 * 4000, NULL); /* 5.1 us of 100 */
    const struct le_finding *finding = play_expect(play, "distortion", 0);
    assert_non_null(strstr(finding->title, "5.12 ms"));
    assert_non_null(strstr(finding->evidence, "1,001 calls were recorded, among them 1,000 launches at "));
    assert_null(strstr(finding->evidence, "--graphs only"));
    play_free(play);
    play = recorded(1000, 1001 * 3800, NULL);
    assert_null(play_found(play, "distortion"));
    play_free(play);
}

static void captured_launches_have_an_option(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play_busy(play, US(100));
    play_call(play, "cuStreamBeginCapture", LE_CALL_GRAPH_BUILD, US(5));
    for (int k = 0; k < 2000; k++)
        play_call(play, "cuLaunchKernel", LE_CALL_LAUNCH, US(1));
    play_call(play, "cuStreamEndCapture", LE_CALL_GRAPH_BUILD, US(5));
    play_end(play);
    const char *evidence = play_expect(play, "distortion", 0)->evidence;
    assert_non_null(strstr(evidence, "2,000 launches were captured into graphs: `leat trace --graphs only`"));
    play_free(play);
}

/* CUPTI's pauses count as recording if they held a thread of the program. The second thread makes no calls. */
static void pauses_are_distortion(void **state) {
    static const uint32_t kinds[] = {LE_TRACE_OVERHEAD_FLUSH, LE_TRACE_OVERHEAD_RESOURCE,
                                     LE_TRACE_OVERHEAD_LAZY_LOADING};
    (void)state;
    for (int k = 0; k < 6; k++) {
        struct le_host_span pause = {
            .start_ns = 1000000000, .end_ns = 1000000000 + MS(1), .thread = k / 3, .kind = kinds[k % 3]};
        struct play *play = recorded(1000, 1001 * 3800, &pause);
        assert_true((play_found(play, "distortion") != NULL) == (k < 2));
        play_free(play);
    }
}

static struct play *waits_after(int count, uint64_t kernel_ns, uint64_t host_ns) {
    struct play *play = play_new(own);
    for (int k = 0; k < count; k++, play->host_ns += host_ns)
        play_busy(play, kernel_ns);
    play_end(play);
    return play;
}

static void needless_waits_have_limits(void **state) {
    (void)state;
    play_expect_when(waits_after(200, US(600), US(10)), "needless-wait", true); /* 14.7 us of 617: 2.4 % */
    play_expect_when(waits_after(200, US(900), US(10)), "needless-wait", false);
    struct play *play = waits_after(200, US(20), US(100)); /* waits of 23 us, and 10 us to start again */
    play_expect(play, "needless-wait", 199 * 33e3);
    play_free(play);
}

static void pools_take_their_time_too(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play_busy(play, MS(1));
    for (int k = 0; k < 1000; k++)
        play_call(play, "cudaMalloc", LE_CALL_ALLOCATE, US(5));
    play_busy(play, MS(1));
    play_end(play);
    play_expect(play, "allocation-churn", 1000 * 4e3);
    play_free(play);
    play_expect_when(allocating(100, US(12), US(12)), "allocation-churn", true); /* 22 us of 1.03 ms */
    play_expect_when(allocating(100, US(10), US(10)), "allocation-churn", false);
}

static void loading_has_to_be_a_part_of_the_whole(void **state) {
    (void)state;
    for (int much = 0; much < 2; much++) {
        struct play *play = loaded(US(5200), 0, false);
        play_busy(play, much ? MS(100) : MS(200)); /* 2.5 or 1.7 % */
        play_end(play);
        play_expect_when(play, "lazy-loading", much);
    }
    play_expect_when(compiled(20, US(1500), "scale"), "compiling", true);
}

/* After 1,100 launches, `count` launches of this length. */
static struct play *full_queue(int count, uint64_t launch_ns) {
    struct play *play = play_new(own);
    for (int k = 0; k < 1100 + count; k++) {
        play->launch_ns = k < 1100 ? US(3) : launch_ns;
        play_launch(play, 1, "work", 10560, 256, US(63));
    }
    play_wait(play);
    play_end(play);
    return play;
}

static void full_queues_have_limits(void **state) {
    (void)state;
    play_expect_when(full_queue(10, US(200)), "queue-full", true);
    play_expect_when(full_queue(9, US(200)), "queue-full", false);
    play_expect_when(full_queue(500, US(21)), "queue-full", true);
    play_expect_when(full_queue(500, US(19)), "queue-full", false);
}

/* Graphs with `nodes` nodes, whose first launch takes 100 us. */
static struct play *added(int nodes) {
    struct play *play = play_new(own);
    for (int build = 0; build < 50; build++) {
        play_call(play, "cuGraphCreate", LE_CALL_GRAPH_BUILD, US(1));
        for (int k = 0; k < nodes; k++)
            play_call(play, "cuGraphAddKernelNode", LE_CALL_GRAPH_BUILD, 300);
        play_call(play, "cuGraphInstantiate", LE_CALL_GRAPH_BUILD, US(10));
        struct le_call *call = play_call(play, "cuGraphLaunch", LE_CALL_GRAPH_LAUNCH, US(nodes ? 100 : 50));
        struct le_operation *operation = play_operation(play, call, 1, 0, play->host_ns, US(100));
        operation->kind = LE_OPERATION_GRAPH;
        play_wait(play);
    }
    play_end(play);
    return play;
}

/* Launches after the first one take 5 us, and 0.23 us per node. */
static void later_launches_cost_too(void **state) {
    (void)state;
    struct play *play = added(0);
    play_expect(play, "graph-rebuilt", 49 * (1e3 + 10e3 - 440 + 50e3 - 1120 - 5e3));
    play_free(play);
    play = added(100);
    play_expect(play, "graph-rebuilt", 49 * (1e3 + 10e3 - 440 + 100 * 80 + 100e3 - 1120 - 5e3 - 23e3));
    play_free(play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_needless_waits),
        cmocka_unit_test(finds_compiling),
        cmocka_unit_test(unrecorded_time_is_not_compiling),
        cmocka_unit_test(names_of_their_own_are_no_recompilation),
        cmocka_unit_test(finds_loading),
        cmocka_unit_test(finds_full_queues),
        cmocka_unit_test(finds_allocation_churn),
        cmocka_unit_test(finds_rebuilt_graphs),
        cmocka_unit_test(recording_takes_more_of_what_is_captured),
        cmocka_unit_test(the_host_keeps_its_own_time),
        cmocka_unit_test(another_process_has_its_own_memory),
        cmocka_unit_test(short_loads_are_no_proof_of_compiling),
        cmocka_unit_test(finds_work_for_the_cpu),
        cmocka_unit_test(finds_distortion),
        cmocka_unit_test(captured_launches_have_an_option),
        cmocka_unit_test(pauses_are_distortion),
        cmocka_unit_test(needless_waits_have_limits),
        cmocka_unit_test(pools_take_their_time_too),
        cmocka_unit_test(loading_has_to_be_a_part_of_the_whole),
        cmocka_unit_test(full_queues_have_limits),
        cmocka_unit_test(later_launches_cost_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
