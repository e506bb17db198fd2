/* The list of findings as a whole: its order, source lines, the framework of the advice, programs without findings, and
 * memory that runs out. */
#include "trace/rules/index_testing.h"
#include "base/memory.h"

/* Steps without findings: the device is full, results are copied to pinned memory, the host waits once per step. */
static struct play *clean(const char *command, const char *kernel, int32_t (*make_source)(struct play *)) {
    struct play *play = play_new(command);
    play->source = make_source ? make_source(play) : LE_NONE;
    play_call(play, "cuInit", LE_CALL_START, MS(300));
    play_call(play, "cuModuleLoadData", LE_CALL_LOAD, MS(2));
    for (int k = 0; k < 8; k++)
        play_call(play, "cuMemAlloc", LE_CALL_ALLOCATE, US(100));
    struct played_copy up = {
        .up = true, .pinned = true, .async = true, .bytes = 100000000, .stream = 1, .host = 0x10000};
    play_copy(play, up);
    for (int step = 0; step < 900; step++) {
        for (int k = 0; k < 8; k++)
            play_launch(play, 1, k % 2 ? kernel : "volta_sgemm", 2112, 256, US(250));
        play_copy(play,
                  (struct played_copy){.pinned = true, .async = true, .bytes = 4096, .stream = 1, .host = 0x20000});
        play_wait(play);
    }
    play_end(play);
    return play;
}

static int32_t in_library(struct play *play, const char *file) {
    return play_source(play, file, 10, play_source(play, "/home/u/app.py", 7, LE_NONE));
}

static int32_t in_cupy(struct play *play) {
    return in_library(play, "/usr/lib/python3/dist-packages/cupy/_core/core.pyx");
}

static int32_t in_numba(struct play *play) {
    return in_library(play, "/v/lib/python3.12/site-packages/numba_cuda/numba/cuda/cudadrv/driver.py");
}

static int32_t in_torch(struct play *play) {
    return in_library(play, "/v/lib/python3.12/site-packages/torch/nn/modules/module.py");
}

static int32_t in_jax(struct play *play) {
    return in_library(play, "/opt/torch/lib/python3.12/site-packages/jax/_src/pjit.py");
}

static void clean_programs_have_no_findings(void **state) {
    (void)state;
    struct play *plays[] = {
        clean("./app", "_Z5scalePf", NULL),
        clean("python3 app.py", "cupy_add__float32_float32_float32", in_cupy),
        clean("python3 app.py", "_ZN6cudapy8__main__5scaleE5ArrayIfLi1E1C7mutable7alignedE", in_numba),
        clean("python3 app.py", "_ZN2at6native29vectorized_elementwise_kernelILi4EEE", in_torch),
        clean("python3 app.py", "loop_add_fusion", in_jax),
    };
    for (size_t k = 0; k < ARRAY_LEN(plays); k++) {
        play_expect_none(plays[k]);
        play_free(plays[k]);
    }
}

/* Pageable copies, made by the framework that the source or the kernel's name shows. */
static struct play *copying(const char *command, const char *kernel, int32_t (*make_source)(struct play *)) {
    struct play *play = play_new(command);
    play->source = make_source ? make_source(play) : LE_NONE;
    for (int k = 0; k < 10; k++) {
        play_copy(play, (struct played_copy){.up = true, .bytes = 40000000, .stream = 1, .host = 8});
        play_launch(play, 1, kernel, 2112, 256, MS(20));
        play_wait(play);
    }
    play_end(play);
    return play;
}

static void expect_advice(const char *command, const char *kernel, int32_t (*make_source)(struct play *),
                          const char *words) {
    struct play *play = copying(command, kernel, make_source);
    const struct le_finding *finding = play_found(play, "pageable-copy");
    assert_non_null(finding);
    if (!strstr(finding->advice, words))
        print_error("%s: %s\n", words, finding->advice);
    assert_non_null(strstr(finding->advice, words));
    play_free(play);
}

static void advice_is_in_the_frameworks_words(void **state) {
    (void)state;
    expect_advice("./app", "_Z5scalePf", NULL, "cudaMallocHost");
    expect_advice("python3 app.py", "kernel", in_cupy, "cupyx.empty_pinned");
    expect_advice("python3 app.py", "kernel", in_numba, "cuda.pinned_array");
    expect_advice("python3 app.py", "kernel", in_torch, "pin_memory");
    expect_advice("python3 app.py", "kernel", in_jax, "jax.device_put");
    expect_advice("python3 app.py", "cupy_add__float32", NULL, "cupyx.empty_pinned");
    expect_advice("python3 app.py", "_ZN6cudapy8__main__1fE", NULL, "cuda.pinned_array");
    expect_advice("python3 app.py", "_ZN2at6native1fE", NULL, "pin_memory");
    expect_advice("python3 app.py", "loop_multiply_fusion", NULL, "jax.device_put");
    expect_advice("python3 train_torch.py", "gemm", NULL, "pin_memory");
    for (int advice = 0; advice < LE_ADVICES; advice++)
        for (int user = 0; user < LE_FRAMEWORKS; user++)
            assert_true(strlen(le_advice_text((enum le_advice)advice, (enum le_framework)user)) > 0);
}

static void frameworks_are_recognized_by_names(void **state) {
    (void)state;
    assert_int_equal(le_framework_of_kernel("_Z17inner_loop_kernelPf"), LE_FRAMEWORKS);
    assert_int_equal(le_framework_of_kernel("my_cupy_like"), LE_FRAMEWORKS);
    assert_int_equal(le_framework_of_kernel("loop_kernel"), LE_FRAMEWORKS);
    assert_int_equal(le_framework_of_kernel("_Z12sensor_fusionPf"), LE_FRAMEWORKS);
    assert_int_equal(le_framework_of_kernel("confusion"), LE_FRAMEWORKS);
    assert_int_equal(le_framework_of_kernel("fusion_kernel"), LE_FRAMEWORKS);
    assert_int_equal(le_framework_of_kernel("loop_add_fusion"), LE_FRAMEWORK_JAX);
    assert_int_equal(le_framework_of_kernel("input_reduce_fusion_12"), LE_FRAMEWORK_JAX);
    assert_int_equal(le_framework_of_kernel("fusion"), LE_FRAMEWORK_JAX);
    assert_int_equal(le_framework_of_kernel("wrapped_add"), LE_FRAMEWORK_JAX);
    assert_int_equal(le_framework_of_kernel("triton_per_fused_sum_0"), LE_FRAMEWORK_TORCH);
    assert_int_equal(le_framework_of_command("/home/me/blowtorch/solver --steps 5"), LE_FRAMEWORKS);
    assert_int_equal(le_framework_of_command("/opt/torch/bin/python3 app.py"), LE_FRAMEWORKS);
    assert_int_equal(le_framework_of_command("python3 /home/me/blowtorch/app.py"), LE_FRAMEWORKS);
    assert_int_equal(le_framework_of_command("./train_torch"), LE_FRAMEWORKS);
    assert_int_equal(le_framework_of_command("/usr/bin/python3.12 pytorch_train.py"), LE_FRAMEWORK_TORCH);
    assert_int_equal(le_framework_of_command("python -m jax.tools"), LE_FRAMEWORK_JAX);
    assert_int_equal(le_framework_of_command(""), LE_FRAMEWORKS);
}

static void sources_are_outside_libraries(void **state) {
    (void)state;
    struct play *play = play_new("python3 app.py");
    int32_t outer = play_source(play, "/home/u/app.py", 3, LE_NONE);
    int32_t cheap = play_source(play, "/v/site-packages/cupy/a.py", 1, play_source(play, "/home/u/app.py", 4, outer));
    int32_t dear = play_source(play, "/v/site-packages/cupy/b.py", 2, play_source(play, "/home/u/app.py", 5, outer));
    for (int k = 0; k < 40; k++) {
        play->source = k % 4 ? dear : cheap;
        play_copy(play, (struct played_copy){.up = true, .bytes = 40000000, .stream = 1, .host = 8});
        play_launch(play, 1, "kernel", 2112, 256, MS(20));
        play_wait(play);
    }
    play_end(play);
    const struct le_finding *finding = play_found(play, "pageable-copy");
    assert_non_null(finding);
    const struct le_source *sources = play->index.sources.at;
    assert_int_equal(sources[finding->sources[0]].line, 5);
    assert_int_equal(sources[finding->sources[1]].line, 4);
    assert_int_equal(finding->sources[2], LE_NONE);
    play_free(play);
}

static struct play *much(void) {
    struct play *play = play_new("./app");
    for (uint64_t k = 0; k < 60; k++) {
        play_copy(play, (struct played_copy){.up = true, .async = true, .bytes = 4000000, .stream = 1, .host = 8 + k});
        play_launch(play, 1, "kernel", 20, 64, US(100));
        play_wait(play);
        play_copy(play, (struct played_copy){.bytes = 4000000, .stream = 1, .host = 8 + k});
    }
    play_end(play);
    return play;
}

static void findings_are_in_order_and_repeat(void **state) {
    (void)state;
    struct play *play = much(), *again = much();
    assert_true(play->findings.count >= 4);
    assert_int_equal(play->findings.count, again->findings.count);
    for (int k = 0; k < play->findings.count; k++) {
        const struct le_finding *finding = &play->findings.at[k];
        assert_string_equal(finding->title, again->findings.at[k].title);
        assert_string_equal(finding->evidence, again->findings.at[k].evidence);
        if (k > 0)
            assert_true(finding->gain_ns <= finding[-1].gain_ns);
        assert_true(finding->gain_ns <= play->host_ns - 1000000000); /* at most the whole run */
        assert_true(finding->end_ns > finding->start_ns);
    }
    play_free(play);
    play_free(again);
}

static void kernels_have_names_that_people_read(void **state) {
    (void)state;
    struct play *play = play_new("./app");
    struct le_rule_input input = {.index = &play->index, .arena = &play->arena};
    assert_string_equal(le_kernel_name(&input, play_text(play, "plain")), "plain");
    assert_string_equal(le_kernel_name(&input, play_text(play, "_Z5saxpyfPfS_")), "saxpy");
    char name[200] = "";
    memset(name, 'n', 60);
    strcpy(name + 60, "\xc3\xa4rest of it");
    const char *shown = le_kernel_name(&input, play_text(play, name));
    assert_int_equal(strlen(shown), 63); /* 60 bytes, because the next character would be cut in half, and "..." */
    assert_string_equal(shown + 60, "...");
    play_free(play);
}

static void empty_traces_are_fine(void **state) {
    (void)state;
    struct play *play = play_new("./app");
    play_call(play, "cuInit", LE_CALL_START, MS(300));
    play_end(play);
    play_expect_none(play);
    play_free(play);
    struct le_trace_index none = {0};
    struct le_findings findings;
    struct le_arena arena;
    le_arena_init(&arena);
    assert_int_equal(le_findings_find(&none, &arena, &findings), LEAT_OK);
    assert_int_equal(findings.count, 0);
    le_arena_finish(&arena);
}

/* Operations whose call, device and shape are unknown. */
static void missing_links_are_fine(void **state) {
    (void)state;
    struct play *play = much();
    for (int32_t k = 0; k < play->index.operations.count; k++) {
        struct le_operation *operation = &play->index.operations.at[k];
        operation->shape = k % 3 ? operation->shape : LE_NONE;
        operation->call = k % 2 ? operation->call : LE_NONE;
        operation->name = k % 5 ? operation->name : 0;
        operation->stream = k % 7 ? operation->stream : LE_NONE;
    }
    for (int k = 0; k < PLAY_STREAMS; k++)
        play->index.streams.at[k].device = LE_NONE;
    for (int32_t k = 0; k < play->index.calls.count; k++)
        play->index.calls.at[k].operation = k % 2 ? LE_NONE : play->index.calls.at[k].operation;
    for (int32_t k = 0; k < play->index.shapes.count; k++) /* as in a damaged file */
        for (int axis = 0; axis < 3; axis++)
            play->index.shapes.at[k].grid[axis] = play->index.shapes.at[k].block[axis] = UINT32_MAX - (uint32_t)k;
    assert_int_equal(le_findings_find(&play->index, &play->arena, &play->findings), LEAT_OK);
    for (int k = 0; k < PLAY_STREAMS; k++)
        play->index.streams.at[k].device = 0;
    assert_int_equal(le_findings_find(&play->index, &play->arena, &play->findings), LEAT_OK);
    play_free(play);
}

struct budget {
    int left;
};

static void *allocate(size_t size_bytes, void *user) {
    struct budget *budget = user;
    return budget->left-- > 0 ? malloc(size_bytes) : NULL;
}

static void *reallocate(void *memory, size_t size_bytes, void *user) {
    struct budget *budget = user;
    return budget->left-- > 0 ? realloc(memory, size_bytes) : NULL;
}

static void release(void *memory, void *user) {
    (void)user;
    free(memory);
}

static void memory_may_run_out(void **state) {
    (void)state;
    struct play *play = much();
    leat_status status = LEAT_OUT_OF_MEMORY;
    struct budget budget;
    for (int most = 0; status != LEAT_OK; most++) {
        assert_true(most < 1000);
        budget.left = most;
        le_memory_set_allocator(&(struct le_allocator){allocate, reallocate, release, &budget});
        struct le_arena arena;
        struct le_findings findings;
        le_arena_init(&arena);
        status = le_findings_find(&play->index, &arena, &findings);
        assert_true(status == LEAT_OK || status == LEAT_OUT_OF_MEMORY);
        le_arena_finish(&arena);
        le_memory_set_allocator(NULL);
    }
    assert_true(budget.left <= 0);
    play_free(play);
}

static void expect_figure(const char *figure, const char *text) {
    assert_string_equal(figure, text);
}

/* docs/FINDINGS.md describes every rule. */
static void every_rule_is_explained(void **state) {
    (void)state;
    static const char *const rules[] = {
#define LE_RULE(name, scope, function) name,
#include "trace/rules/rules.def"
#undef LE_RULE
    };
    static char text[1 << 16];
    FILE *file = fopen("docs/FINDINGS.md", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    for (size_t k = 0; k < ARRAY_LEN(rules); k++) {
        char heading[64];
        snprintf(heading, sizeof heading, "**%s** `", rules[k]);
        if (!strstr(text, heading))
            print_error("missing in docs/FINDINGS.md: %s\n", rules[k]);
        assert_non_null(strstr(text, heading));
    }
}

static void figures_are_short(void **state) {
    (void)state;
    struct le_arena arena;
    le_arena_init(&arena);
    assert_int_equal(setjmp(arena.failure), 0);
    expect_figure(le_format_time(&arena, 0), "0 ns");
    expect_figure(le_format_time(&arena, 999), "999 ns");
    expect_figure(le_format_time(&arena, 1000), "1.00 us");
    expect_figure(le_format_time(&arena, 12345), "12.3 us");
    expect_figure(le_format_time(&arena, 999999), "1.00 ms");
    expect_figure(le_format_time(&arena, 123456789), "123 ms");
    expect_figure(le_format_time(&arena, 5000000000000), "5000 s");
    expect_figure(le_format_bytes(&arena, 40000000), "40.0 MB");
    expect_figure(le_format_rate(&arena, 9000, 1000), "9.0 GB/s");
    expect_figure(le_format_rate(&arena, 1, 0), "0.0 GB/s");
    expect_figure(le_format_count(&arena, 0), "0");
    expect_figure(le_format_count(&arena, 999), "999");
    expect_figure(le_format_count(&arena, 1000), "1,000");
    expect_figure(le_format_count(&arena, 18446744073709551615u), "18,446,744,073,709,551,615");
    expect_figure(le_format_counted(&arena, 1, "copy", "copies"), "1 copy");
    expect_figure(le_format_counted(&arena, 1000, "copy", "copies"), "1,000 copies");
    expect_figure(le_format_percent(&arena, 1, 4), "25 %");
    expect_figure(le_format_percent(&arena, 1, 400), "0.2 %");
    expect_figure(le_format_percent(&arena, 1, 0), "0.0 %");
    expect_figure(le_format_percent(&arena, 399, 400), "99.8 %");
    expect_figure(le_format_percent(&arena, 99999, 100000), "100 %");
    le_arena_finish(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_programs_have_no_findings),
        cmocka_unit_test(advice_is_in_the_frameworks_words),
        cmocka_unit_test(frameworks_are_recognized_by_names),
        cmocka_unit_test(sources_are_outside_libraries),
        cmocka_unit_test(findings_are_in_order_and_repeat),
        cmocka_unit_test(empty_traces_are_fine),
        cmocka_unit_test(missing_links_are_fine),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(figures_are_short),
        cmocka_unit_test(every_rule_is_explained),
        cmocka_unit_test(kernels_have_names_that_people_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
