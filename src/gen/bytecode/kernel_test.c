/* Launches of stages: boxes, merged loops, lanes, tasks, slots. A stage is given as IR, with the extents of its arrays.
 * Each of its launches is described in one line: points, tasks if there are several, and loops from the outside in. */
#include "gen/kernel_testing.h"

#define SLOTS_MAX 14 /* of any kernel here: values share them */

static void tell_launch(const struct le_launch *l, struct le_text *out) {
    int slots = 0;
    for (int k = 0; k < l->unit->reg_count; k++)
        slots += l->unit->regs[k].kind == LE_REG_SLOT;
    le_text_add(out, "%lld", (long long)l->elements);
    if (l->tasks > 1)
        le_text_add(out, " in %lld tasks", (long long)l->tasks);
    le_text_add(out, "%s%s:", l->parts ? " in parts" : "", l->copies ? " into copies" : "");
    for (int k = 0; k < l->unit->instr_count; k++)
        if (l->unit->instrs[k].code == LE_CODE_LOOP) {
            const struct le_loop *loop = &l->unit->loops[l->unit->instrs[k].imm];
            le_text_add(out, " %s %s", loop->lane ? "lanes" : "each", loop->name);
            if (loop->clip >= 0 && l->clip_count[loop->clip])
                le_text_add(out, "/%lld", (long long)l->clip_size[loop->clip]);
        }
    if (slots > SLOTS_MAX)
        fail_msg("%d slots", slots);
    le_text_add(out, "\n");
}

static void generates(const char *text, const char *arrays, int threads, const char *expected) {
    struct le_arena arena;
    struct le_space space;
    struct le_kernel kernel;
    struct le_text found = {0};
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    set_up(&kernel, &space, &arena, text, arrays, threads);
    const struct le_ir *ir = kernel.ir;
    for (int k = 0; k < ir->stages.count; k++) {
        struct le_launches launches = {.at = NULL};
        kernel.stage = &ir->stages.at[k];
        if (kernel.stage->kind == LE_STAGE_FILL)
            continue;
        if (le_kernel_generate(&kernel, &launches) != LEAT_OK)
            fail_msg("%s", le_errors_text());
        for (int q = 0; q < launches.count; q++)
            tell_launch(&launches.at[q], &found);
    }
    for (int k = 0; k < kernel.work->merged_size; k++) /* left as it was found */
        assert_true(kernel.work->merged_into[k] == k && kernel.work->merged_count[k] == 0);
    le_text_add(&found, "%s", "");
    assert_string_equal(found.at, expected);
    le_text_finish(&found);
    le_arena_finish(&arena);
}

#define TWO_AXES                                                                                                       \
    "symbol a: f32[n, m]\nsymbol b: f32[n, m]\nsymbol y: f32[i, j]\n"                                                  \
    "input a: f32[n, m] of a\ninput b: f32[n, m] of b\nvalue y.2: f32[i, j] of y wanted\n"                             \
    "index i.0\nindex j.1\nindex k.2\n"

static const char map[] = TWO_AXES
    "statement assign y makes left [i.0, j.1] free {i.0, j.1} all {i.0, j.1}\n  read a[i.0, j.1]\n  read b[i.0, j.1]\n"
    "map y.2[i.0, j.1] {i.0, j.1} = (*.f32 (+.f32 a[i.0, j.1] b[i.0, j.1]) (exp.f32 a[i.0, j.1]))\n";

static void loops_merge(void **state) {
    (void)state;
    generates(map, "a 30 40, b 30 40", 1, "1200: lanes j\n");
    /* rows with a gap: two loops */
    generates(map, "a 30 400 by 500 1, b 30 400", 1, "12000: each i lanes j\n");
    /* rows without lengths of their own: an empty axis is nothing to do */
    generates(map, "a 30 0, b 30 0", 1, "");
    /* one axis of 1 in memory */
    generates(map, "a 30 400 by 400 1, b 30 400 by 0 1", 1, "12000: each i lanes j\n");
}

#define THREE_AXES                                                                                                     \
    "symbol a: f32[n, m, l]\nsymbol y: f32[i, j, k]\ninput a: f32[n, m, l] of a\nvalue y.1: f32[i, j, k] of y "        \
    "wanted\n"                                                                                                         \
    "index i.0\nindex j.1\nindex k.2 in 0 .. 3 at 1:1+1\n"                                                             \
    "statement assign y makes left [i.0, j.1, k.2] free {i.0, j.1, k.2} all {i.0, j.1, k.2}\n"

/* A computed subscript makes an offset of all axes that move with the lanes: it knows no merged index. */
static void loops_beside_a_computed_subscript_do_not_merge(void **state) {
    (void)state;
    generates(THREE_AXES "  read a[i.0, j.1, k.2]\nmap y.1[i.0, j.1, k.2] {i.0, j.1, k.2} = a[i.0, j.1, k.2]\n",
              "a 4 50 3", 1, "600: lanes k\n");
    generates(THREE_AXES
              "  read a[i.0, j.1, (% k.2 2)]\nmap y.1[i.0, j.1, k.2] {i.0, j.1, k.2} = a[i.0, j.1, (% k.2 2)]?0\n",
              "a 4 50 3", 1, "600: each i lanes j each k\n");
}

static void tasks_share_the_loops(void **state) {
    (void)state;
    generates(map, "a 1000 4096, b 1000 4096", 1, "4096000: lanes j\n");
    generates(map, "a 1000 4096, b 1000 4096", 2, "4096000 in 8 tasks: lanes j/512000\n");
    generates(map, "a 1000 4096 by 5000 1, b 1000 4096", 2, "4096000 in 8 tasks: each i/125 lanes j\n");
    generates(map, "a 3 400000 by 500000 1, b 3 400000", 2, "1200000 in 9 tasks: each i/1 lanes j/134144\n");
}

static const char column[] = TWO_AXES
    "statement assign y makes left [i.0, j.1] free {i.0, j.1} all {i.0, j.1}\n  read a[i.0, j.1]\n  read b[i.0, j.1]\n"
    "map y.2[i.0, j.1] {i.0, j.1} = (-.f32 a[i.0, j.1] (*.f32 b[i.0, j.1] b[i.0, j.1]))\n";

static void lanes_go_where_memory_does(void **state) {
    (void)state;
    generates(column, "a 300 400 by 1 300, b 300 400 by 1 300", 1, "120000: lanes i each j\n");
    generates(column, "a 100000 3, b 100000 3 by 4 1", 1, "300000: lanes i each j\n");
    generates(column, "a 3 100000, b 3 100000 by 200000 1", 1, "300000: each i lanes j\n");
}

static const char stencil[] =
    TWO_AXES "statement assign y makes else left [i.0, j.1] free {i.0, j.1} all {i.0, j.1}\n  read a[(- i.0 1), j.1]\n"
             "  read a[(+ i.0 1), j.1]\n  read a[i.0, (- j.1 1)]\n  read a[i.0, (+ j.1 1)]\n  read b[i.0, j.1]\n"
             "map y.2[i.0, j.1] {i.0, j.1} = (else (+.f32 (+.f32 a[(- i.0 1), j.1]?0 a[(+ i.0 1), j.1]?1)\
 (+.f32 a[i.0, (- j.1 1)]?2 a[i.0, (+ j.1 1)]?3)) 0:f32)\n";

static void borders_are_boxes(void **state) {
    (void)state;
    generates(
        stencil, "a 100 200, b 100 200", 1,
        "200: each i lanes j\n200: each i lanes j\n98: lanes i each j\n98: lanes i each j\n19404: each i lanes j\n");
    generates(stencil, "a 2 200, b 2 200", 1, "400: each i lanes j\n"); /* all border */
}

static const char rows[] =
    TWO_AXES "statement assign y makes left [i.0, j.1] free {i.0, j.1} all {i.0, j.1, k.2}\n  read a[i.0, j.1]\n  read "
             "b[i.0, j.1]\n"
             "  read a[i.0, k.2] around {k.2}\n"
             "map y.2[i.0, j.1] {i.0, j.1} = (/.f32 a[i.0, j.1] (sum {k.2} (exp.f32 a[i.0, k.2])))\n";

static void a_row_is_one_kernel(void **state) {
    (void)state;
    generates(rows, "a 100 4096, b 100 4096", 1, "409600: each i lanes k lanes j\n");
    generates(rows, "a 100 4096, b 100 4096", 2, "409600 in 8 tasks: each i/13 lanes k lanes j\n");
    generates(rows, "a 100000 20, b 100000 20", 1, "2000000: each i lanes k lanes j\n");
    /* shorter ones: lane by lane, the sum written out */
    generates(rows, "a 100000 4, b 100000 4", 1, "400000: lanes i each j\n");
}

static const char total[] = "symbol a: f64[n, m]\nsymbol s: f64\ninput a: f64[n, m] of a\nvalue s.1: f64 of s wanted\n"
                            "index i.0\nindex j.1\nstatement assign s makes all {i.0, j.1}\n"
                            "  read a[i.0, j.1] around {i.0, j.1}\nmap s.1 = (sum {i.0, j.1} a[i.0, j.1])\n";

static void totals_come_in_parts(void **state) {
    (void)state;
    generates(total, "a 30 40", 2, "1: lanes j\n");
    generates(total, "a 1024 1024", 1, "1 in 8 tasks in parts: lanes j/131072\n");
    generates(total, "a 1024 1024", 2, "1 in 16 tasks in parts: lanes j/65536\n");
    generates(total, "a 1024 1024 by 2000 1", 2, "1 in 16 tasks in parts: each i/65536 lanes j\n");
}

static const char histogram[] =
    "symbol a: i64[n]\nsymbol y: f64[k]\ninput a: i64[n] of a\nvalue y.1: f64[k] of y\nvalue y.2: f64[k] of y wanted\n"
    "index i.0\nstatement new y sizes [10]\nfill y.1 = 0:f64\n"
    "statement assign y left [a[i.0]] free {i.0} all {i.0}\n  write y[a[i.0]]\n  read a[i.0]\n"
    "scatter add y.2[a[i.0]] {i.0} over y.1 access 0 = 1:f64\n";

static void scatters_go_to_copies(void **state) {
    (void)state;
    generates(histogram, "a 1000", 2, "1000: lanes i\n");
    generates(histogram, "a 1000000", 2, "1000000 in 15 tasks into copies: lanes i/66667\n");
}

/* a chain of forty temporaries, none of them needed for long */
static void slots_are_packed(void **state) {
    struct le_text text = {0};
    (void)state;
    le_text_add(&text,
                "symbol a: f64[n]\nsymbol y: f64[i]\ninput a: f64[n] of a\nvalue y.1: f64[i] of y wanted\nindex i.0\n"
                "statement assign y makes left [i.0] free {i.0} all {i.0}\n  read a[i.0]\n%%0 = (exp.f64 a[i.0])\n");
    for (int k = 1; k < 40; k++)
        le_text_add(&text, "%%%d = (*.f64 (sin.f64 %%%d) (cos.f64 %%%d))\n", k, k - 1, k - 1);
    le_text_add(&text, "map y.1[i.0] {i.0} = %%39\n");
    generates(text.at, "a 5000", 1, "5000: lanes i\n");
    le_text_finish(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_merge),           cmocka_unit_test(loops_beside_a_computed_subscript_do_not_merge),
        cmocka_unit_test(tasks_share_the_loops), cmocka_unit_test(lanes_go_where_memory_does),
        cmocka_unit_test(borders_are_boxes),     cmocka_unit_test(a_row_is_one_kernel),
        cmocka_unit_test(totals_come_in_parts),  cmocka_unit_test(scatters_go_to_copies),
        cmocka_unit_test(slots_are_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
