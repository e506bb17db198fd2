/* Regions as nodes: sharing, whether values vary between steps, and substitution in their loops. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "ir/ir.h"
#include "tests/ir/reader/ir_reader.h"

static struct le_arena arena;
static struct le_ir *ir;

static int set_up(void **state) {
    static const char text[] = "symbol a: f64[n]\n"
                               "input a: f64[n] of a\n"
                               "value y.1: f64[n] temporary\n"
                               "local $s.0: f64\n"
                               "local $z.1: f64\n"
                               "index i.0\n"
                               "index j.1\n"
                               "index k.2 in 0 .. i.0 depends\n"
                               "index l.3 in 0 .. k.2 depends\n"
                               "%0 = region.f64\n"
                               "  $s.0 = a[i.0]\n"
                               "  for k.2\n"
                               "    for l.3\n"
                               "      $s.0 = (+.f64 $s.0 (f64 (+ k.2 l.3)))\n"
                               "    end\n"
                               "  end\n"
                               "  return $s.0\n"
                               "end\n"
                               "map y.1[i.0] {i.0} = %0\n";
    (void)state;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        return -1;
    return le_ir_read(&arena, text, sizeof text - 1, &ir) == LEAT_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    le_arena_finish(&arena);
    return 0;
}

static struct le_node *the_region(void) {
    return ir->stages.at[0].node;
}

static struct le_node *local(int number) {
    return le_node_make(ir, &(struct le_node){.kind = LE_NODE_LOCAL, .type = LE_F64, .local = number});
}

/* A region of the given steps over two operands. */
static struct le_node *region_of(struct le_region_step *steps, int count, struct le_node *a, struct le_node *b) {
    struct le_region *region = LE_NEW(&arena, struct le_region);
    struct le_node *x[] = {a, b};
    *region = (struct le_region){.steps = steps, .step_count = count};
    return le_node_make(
        ir,
        &(struct le_node){.kind = LE_NODE_REGION, .type = LE_F64, .region = region, .operands = x, .operand_count = 2});
}

static void equal_regions_are_shared(void **state) {
    struct le_region_step steps[] = {{.kind = LE_REGION_SET, .local = 1, .value = 0},
                                     {.kind = LE_REGION_RETURN, .value = 1}};
    struct le_region_step same[] = {{.kind = LE_REGION_SET, .local = 1, .value = 0, .text = "another text"},
                                    {.kind = LE_REGION_RETURN, .value = 1}};
    struct le_region_step other[] = {{.kind = LE_REGION_SET, .local = 0, .value = 0},
                                     {.kind = LE_REGION_RETURN, .value = 1}};
    struct le_node *one = le_node_real(ir, LE_F64, 1.0), *z = local(1);
    (void)state;
    assert_ptr_equal(region_of(steps, 2, one, z), region_of(same, 2, one, z));
    assert_ptr_not_equal(region_of(steps, 2, one, z), region_of(other, 2, one, z));
    assert_ptr_not_equal(region_of(steps, 2, one, z), region_of(steps, 2, one, one));
}

static void nodes_with_variables_change(void **state) {
    struct le_region_step steps[] = {{.kind = LE_REGION_SET, .local = 1, .value = 0},
                                     {.kind = LE_REGION_RETURN, .value = 1}};
    struct le_node *one = le_node_real(ir, LE_F64, 1.0);
    (void)state;
    assert_true(local(0)->changes && le_node_has_free_local(ir, local(0)));
    assert_false(the_region()->changes || le_node_has_free_local(ir, the_region()));
    assert_false(region_of(steps, 2, one, local(1))->changes); /* it sets its own */
    assert_true(region_of(steps, 2, local(0), local(1))->changes);
    assert_true(le_node_has_free_local(ir, region_of(steps, 2, local(0), local(1))));
    /* a variable set only inside an inner region is free outside of it */
    struct le_node *inner = region_of(steps, 2, one, local(1)), *x[] = {inner, local(1)};
    assert_true(le_node_has_free_local(ir, le_node_op(ir, LE_OP_ADD, LE_F64, x, 2)));
    struct le_node *index = le_node_index(ir, 0);
    struct le_node load = {.kind = LE_NODE_LOAD, .type = LE_F64, .value = 1, .operands = &index, .operand_count = 1};
    struct le_node *plain = le_node_make(ir, &load);
    load.live = true;
    assert_ptr_not_equal(plain, le_node_make(ir, &load));
    assert_ptr_equal(le_node_make(ir, &load), le_node_make(ir, &load));
    assert_true(!plain->changes && le_node_make(ir, &load)->changes);
    assert_false(le_node_has_free_local(ir, le_node_make(ir, &load)));
}

static void loops_belong_to_regions(void **state) {
    (void)state;
    assert_int_equal(the_region()->free_count, 1);
    assert_true(le_node_depends(the_region(), 0));
    assert_true(the_region()->cost > 16 * 16); /* the innermost step is counted once per estimated iteration */
}

static void dependent_loops_get_indices_of_their_own(void **state) {
    int from = 0, before = ir->indices.count;
    struct le_node *to = le_node_index(ir, 1), *made = le_node_substitute(ir, the_region(), &from, &to, 1);
    (void)state;
    assert_int_equal(made->index_count, 2);
    assert_true(made->indices[0] >= before && made->indices[1] >= before && made->indices[0] != made->indices[1]);
    assert_ptr_equal(ir->indices.at[made->indices[0]].range.high, to);
    assert_ptr_equal(ir->indices.at[made->indices[1]].range.high, le_node_index(ir, made->indices[0]));
    assert_true(made->free_count == 1 && made->free[0] == 1);
    struct le_node *sum[] = {le_node_index(ir, made->indices[0]), le_node_index(ir, made->indices[1])};
    struct le_node *step = made->operands[made->region->steps[3].value];
    assert_ptr_equal(step->operands[1]->operands[0], le_node_op(ir, LE_OP_ADD, LE_I64, sum, 2));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(equal_regions_are_shared),
        TEST(nodes_with_variables_change),
        TEST(loops_belong_to_regions),
        TEST(dependent_loops_get_indices_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
