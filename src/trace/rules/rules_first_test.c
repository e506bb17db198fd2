/* first-call: the time until the first kernel or graph has run, and the first launches of each. */
#include "trace/rules/index_testing.h"

static const char *const own = "/home/u/app";

static void play_busy(struct play *play, uint64_t time_ns) {
    play_launch(play, 1, "work", 10560, 256, time_ns);
    play_wait(play);
}

static void finds_first_calls(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play_call(play, "cuInit", LE_CALL_START, MS(300));
    for (int k = 0; k < 100; k++)
        play_busy(play, MS(1));
    play_end(play);
    assert_non_null(strstr(play_expect(play, "first-call", 0)->title,
                           "The first kernel ended after 301 ms; all CUDA work ended after 401 ms"));
    play_free(play);
    play = play_new(own);
    play_call(play, "cuInit", LE_CALL_START, MS(98));
    for (int k = 0; k < 300; k++)
        play_busy(play, MS(1));
    play_end(play);
    assert_null(play_found(play, "first-call")); /* 99 ms */
    play_free(play);
    for (int much = 0; much < 2; much++) {
        play = play_new(own);
        play_call(play, "cuInit", LE_CALL_START, MS(300));
        for (int k = 0; k < (much ? 1250 : 1180); k++)
            play_busy(play, MS(1));
        play_end(play);
        assert_true((play_found(play, "first-call") == NULL) == much); /* 301 of 1,550 or of 1,480 ms */
        play_free(play);
    }
}

/* A program that launches two graphs only. nodes: recorded one by one; 0: each launch as a whole. */
static struct play *graphs_only(int nodes) {
    struct play *play = play_new(own);
    play_call(play, "cuInit", LE_CALL_START, MS(300));
    for (int k = 0; k < 20; k++) {
        struct le_call *call = play_call(play, "cuGraphLaunch", LE_CALL_GRAPH_LAUNCH, k < 2 ? US(280) : US(50));
        for (int node = 0; node < (nodes ? nodes : 1); node++) {
            struct le_operation *operation = play_operation(play, call, 1, 0, play->host_ns, US(100));
            operation->kind = nodes ? LE_OPERATION_KERNEL : LE_OPERATION_GRAPH;
            operation->graph = 7 + (uint32_t)k % 2;
        }
        call->operation -= nodes ? nodes - 1 : 0; /* the first */
        play_wait(play);
    }
    play->index.processes.at[0].end_ns = play->host_ns;
    assert_int_equal(le_findings_find(&play->index, &play->arena, &play->findings), LEAT_OK);
    return play;
}

static void first_launches_of_graphs_count(void **state) {
    (void)state;
    for (int nodes = 0; nodes <= 3; nodes += 3) {
        struct play *play = graphs_only(nodes);
        const struct le_finding *finding = play_expect(play, "first-call", 0);
        assert_non_null(strstr(finding->title, "The first graph ended after 300 ms; all CUDA work ended after 30"));
        assert_non_null(strstr(finding->evidence, "first launches of 2 graphs took 460 us longer than later ones"));
        play_free(play);
    }
}

static void first_launches_name_kernels_and_graphs(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play_call(play, "cuInit", LE_CALL_START, MS(300));
    for (int k = 0; k < 2; k++) {
        play->launch_ns = k ? US(3) : US(103);
        play_busy(play, MS(1));
        struct le_call *call = play_call(play, "cuGraphLaunch", LE_CALL_GRAPH_LAUNCH, k ? US(5) : US(55));
        play_operation(play, call, 1, 0, play->host_ns, MS(1))->kind = LE_OPERATION_GRAPH;
        play_wait(play);
    }
    play_end(play);
    const char *evidence = play_expect(play, "first-call", 0)->evidence;
    assert_non_null(strstr(evidence, "first launches of 1 kernel and 1 graph took 150 us longer"));
    play_free(play);
    play = play_new(own); /* nothing is launched twice */
    play_call(play, "cuInit", LE_CALL_START, MS(300));
    play_busy(play, MS(1));
    play_end(play);
    assert_null(strstr(play_expect(play, "first-call", 0)->evidence, "first launches"));
    play_free(play);
}

/* A copy or a set is not a kernel. */
static void the_first_kernel_is_no_copy(void **state) {
    (void)state;
    struct play *play = play_new(own);
    play_call(play, "cuInit", LE_CALL_START, MS(120));
    play_copy(play, (struct played_copy){.up = true, .bytes = 4096, .stream = 1});
    play->host_ns += MS(800);
    play_busy(play, MS(100));
    play_end(play);
    assert_non_null(strstr(play_expect(play, "first-call", 0)->title,
                           "The first kernel ended after 1.02 s; all CUDA work ended after 1.02 s"));
    play_free(play);
    play = play_new(own);
    play_call(play, "cuInit", LE_CALL_START, MS(120));
    play_copy(play, (struct played_copy){.up = true, .bytes = 4096, .stream = 1});
    play_end(play);
    assert_null(play_found(play, "first-call")); /* there is none */
    play_free(play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_first_calls),
        cmocka_unit_test(first_launches_of_graphs_count),
        cmocka_unit_test(first_launches_name_kernels_and_graphs),
        cmocka_unit_test(the_first_kernel_is_no_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
