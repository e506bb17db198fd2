/* Construction of nodes: sharing, exact folding and substitution; affine combinations and intervals. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "ir/ranges.h"
#include "tests/ir/reader/ir_reader.h"
#include <math.h>
#include <string.h>

static struct le_arena arena;
static struct le_ir *ir;

static int set_up(void **state) {
    static const char text[] = "symbol a: f64[n, m]\n"
                               "symbol u: u8[n]\n"
                               "input a: f64[n, m] of a\n"
                               "input u: u8[n] of u\n"
                               "index i.0\n"
                               "index j.1\n"
                               "index k.2 in 0 .. (+ i.0 1) depends\n";
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

static struct le_node *op2(int code, enum le_type type, struct le_node *a, struct le_node *b) {
    struct le_node *x[] = {a, b};
    return le_node_op(ir, code, type, x, 2);
}

static struct le_node *i64(int64_t value) {
    return le_node_i64(ir, value);
}
static struct le_node *index_of(int index) {
    return le_node_index(ir, index);
}
static struct le_node *add(struct le_node *a, struct le_node *b) {
    return op2(LE_OP_ADD, LE_I64, a, b);
}
static struct le_node *mul(struct le_node *a, struct le_node *b) {
    return op2(LE_OP_MUL, LE_I64, a, b);
}

static struct le_node *element(int value, struct le_node *first, struct le_node *second) {
    struct le_node *x[] = {first, second};
    struct le_node model = {.kind = LE_NODE_LOAD, .value = value, .operands = x, .operand_count = second ? 2 : 1};
    model.type = le_type_compute(ir->values.at[value].type);
    return le_node_make(ir, &model);
}

/* ---- sharing */

static void equal_nodes_are_shared(void **state) {
    (void)state;
    struct le_node *a = add(index_of(0), i64(3)), *b = add(index_of(0), i64(3));
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, add(index_of(0), i64(4)));
    assert_ptr_not_equal(a, add(i64(3), index_of(0))); /* operands are not reordered */
    assert_ptr_not_equal(le_node_real(ir, LE_F64, 0.0), le_node_real(ir, LE_F64, -0.0));
    assert_ptr_not_equal(le_node_real(ir, LE_F64, 1.0), le_node_real(ir, LE_F32, 1.0));
    assert_ptr_equal(element(0, index_of(0), index_of(1)), element(0, index_of(0), index_of(1)));
    assert_ptr_not_equal(element(0, index_of(0), index_of(1)), element(0, index_of(1), index_of(0)));
    for (int k = 0; k < 1000; k++) /* the table grows */
        assert_ptr_equal(i64(k), i64(k));
    assert_ptr_equal(a, add(index_of(0), i64(3)));
}

static void derives_facts_from_operands(void **state) {
    (void)state;
    struct le_node *load = element(0, index_of(1), index_of(0));
    assert_true(load->loads && !load->reduces && load->free_count == 2 && load->free[0] == 0 && load->free[1] == 1);
    int k = 2;
    struct le_node *sum = le_node_reduce(ir, LE_RED_SUM, LE_F64, element(0, index_of(0), index_of(2)), &k, 1);
    assert_true(sum->reduces && sum->free_count == 1 && sum->free[0] == 0);
    /* bounds count: the body does not depend on i, but k ranges to i + 1 */
    struct le_node *one = le_node_reduce(ir, LE_RED_SUM, LE_I64, i64(1), &k, 1);
    assert_true(le_node_depends(one, 0) && !le_node_depends(one, 2));
    assert_int_equal(add(index_of(0), i64(1))->depth, 1);
}

/* ---- folding */

static void folds_integer_arithmetic(void **state) {
    (void)state;
    assert_ptr_equal(add(i64(2), i64(3)), i64(5));
    assert_ptr_equal(op2(LE_OP_SUB, LE_I64, i64(2), i64(3)), i64(-1));
    assert_ptr_equal(mul(i64(-4), i64(3)), i64(-12));
    struct le_node *x = i64(7), *least = i64(INT64_MIN);
    assert_ptr_equal(le_node_op(ir, LE_OP_NEG, LE_I64, &x, 1), i64(-7));
    assert_ptr_equal(op2(LE_OP_FLOORDIV, LE_I64, i64(-7), i64(2)), i64(-4));
    /* overflow is left to the machine, which wraps */
    assert_int_equal(add(i64(INT64_MAX), i64(1))->kind, LE_NODE_OP);
    assert_int_equal(mul(i64(INT64_MAX), i64(2))->kind, LE_NODE_OP);
    assert_int_equal(le_node_op(ir, LE_OP_NEG, LE_I64, &least, 1)->kind, LE_NODE_OP);
    assert_int_equal(op2(LE_OP_FLOORDIV, LE_I64, i64(7), i64(0))->kind, LE_NODE_OP);
    /* floats may round: they are not folded */
    assert_int_equal(op2(LE_OP_ADD, LE_F64, le_node_real(ir, LE_F64, 1), le_node_real(ir, LE_F64, 2))->kind,
                     LE_NODE_OP);
}

/* Folded comparisons of constants, as for `wide` in a complex division. */
static void folds_exact_comparisons(void **state) {
    (void)state;
    struct le_node *two = le_node_real(ir, LE_F64, -2), *zero = le_node_real(ir, LE_F64, -0.0);
    struct le_node *none = le_node_real(ir, LE_F64, (double)NAN), *size = le_node_op(ir, LE_OP_ABS, LE_F64, &two, 1);
    struct le_node *no = le_node_bool(ir, false), *yes = le_node_bool(ir, true),
                   *open = op2(LE_OP_LT, LE_BOOL, index_of(0), i64(5));
    assert_true(size->kind == LE_NODE_CONST && le_const_real(size) == 2);
    assert_ptr_equal(op2(LE_OP_GE, LE_BOOL, size, zero), yes);
    assert_ptr_equal(op2(LE_OP_EQ, LE_BOOL, zero, le_node_real(ir, LE_F64, 0)), yes);
    for (int code = LE_OP_EQ; code <= LE_OP_GE; code++)
        assert_ptr_equal(op2(code, LE_BOOL, none, none), code == LE_OP_NE ? yes : no);
    assert_ptr_equal(op2(LE_OP_AND, LE_BOOL, yes, no), no);
    assert_ptr_equal(op2(LE_OP_LOR, LE_BOOL, no, yes), yes);
    assert_int_equal(op2(LE_OP_AND, LE_BOOL, open, yes)->kind, LE_NODE_OP);
    assert_int_equal(op2(LE_OP_DIV, LE_F64, size, two)->kind, LE_NODE_OP);
}

static void folds_casts(void **state) {
    static const struct {
        enum le_type from;
        uint64_t bits;
        enum le_type to;
        int64_t value;
    } cases[] = {
        {LE_I64, 300, LE_U8, 44},  {LE_I64, 200, LE_I8, -56},  {LE_I64, (uint64_t)-1, LE_U64, -1},
        {LE_I8, 0xff, LE_I64, -1}, {LE_U8, 0xff, LE_I64, 255}, {LE_I32, 0x80000000u, LE_I64, INT32_MIN},
        {LE_BOOL, 1, LE_I16, 1},   {LE_I64, 5, LE_BOOL, 1},    {LE_I64, 0, LE_BOOL, 0},
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        struct le_node *n = le_node_cast(ir, cases[k].to, le_node_const(ir, cases[k].from, cases[k].bits));
        if (n->kind != LE_NODE_CONST || n->type != cases[k].to || le_const_i64(n) != cases[k].value)
            fail_msg("case %zu: %lld", k, (long long)le_const_i64(n));
    }
    struct le_node *big = le_node_const(ir, LE_U64, UINT64_MAX);
    assert_true(le_const_real(le_node_cast(ir, LE_F64, big)) == 18446744073709551616.0);
    assert_true(le_const_real(le_node_cast(ir, LE_F32, i64(16777217))) == 16777216.0);
    assert_true(le_const_real(le_node_cast(ir, LE_F32, le_node_real(ir, LE_F64, 0.1))) == (double)0.1f);
    /* casting a float to an integer saturates: left to the machine */
    assert_int_equal(le_node_cast(ir, LE_I64, le_node_real(ir, LE_F64, 1e300))->kind, LE_NODE_CAST);
    /* a cast to its own type does nothing; a 16-bit float computes in f32 */
    assert_ptr_equal(le_node_cast(ir, LE_I64, index_of(0)), index_of(0));
    struct le_node *single = le_node_real(ir, LE_F32, 2);
    assert_ptr_equal(le_node_cast(ir, LE_F16, single), single);
}

static void folds_selects(void **state) {
    (void)state;
    assert_ptr_equal(le_node_select(ir, le_node_bool(ir, true), i64(1), i64(2)), i64(1));
    assert_ptr_equal(le_node_select(ir, le_node_bool(ir, false), i64(1), i64(2)), i64(2));
    struct le_node *x = le_node_cast(ir, LE_F32, index_of(0)), *once = le_node_round(ir, LE_F16, x);
    assert_ptr_equal(le_node_round(ir, LE_F16, once), once);
    assert_ptr_not_equal(le_node_round(ir, LE_BF16, once), once);
    struct le_node *half = le_node_real(ir, LE_F32, 0.0);
    assert_true(signbit(le_const_real(le_node_op(ir, LE_OP_NEG, LE_F32, &half, 1))));
}

/* ---- substitution */

static void substitutes_indices_simultaneously(void **state) {
    (void)state;
    int from[] = {0, 1};
    struct le_node *to[] = {index_of(1), index_of(0)};
    struct le_node *load = element(0, index_of(0), add(index_of(1), i64(2)));
    assert_ptr_equal(le_node_substitute(ir, load, from, to, 2), element(0, index_of(1), add(index_of(0), i64(2))));
    struct le_node *apart = le_node_len(ir, 0, 1);
    assert_ptr_equal(le_node_substitute(ir, apart, from, to, 2), apart);
    struct le_node *two[] = {i64(5),
                             i64(6)}; /* rebuilt, but not folded: substitution does not change the shape of a node */
    assert_int_equal(le_node_substitute(ir, add(index_of(0), index_of(1)), from, two, 2)->free_count, 0);
}

static void a_dependent_range_gets_its_own_index(void **state) {
    (void)state;
    int k = 2, from = 0, before = ir->indices.count;
    struct le_node *to = index_of(1);
    struct le_node *sum = le_node_reduce(ir, LE_RED_SUM, LE_F64, element(0, index_of(0), index_of(2)), &k, 1);
    struct le_node *made = le_node_substitute(ir, sum, &from, &to, 1);
    assert_int_equal(ir->indices.count, before + 1);
    assert_int_equal(made->indices[0], before);
    assert_ptr_equal(ir->indices.at[before].range.high, add(index_of(1), i64(1)));
    assert_ptr_equal(made->operands[0], element(0, index_of(1), index_of(before)));
    assert_true(made->free_count == 1 && made->free[0] == 1);
}

static void walks_shared_nodes_once(void **state) {
    (void)state;
    struct le_node *x = index_of(0); /* 2**100 leaves, if it were a tree */
    for (int k = 0; k < 100; k++)
        x = mul(x, x);
    int from = 0;
    struct le_node *to = index_of(1), *y = le_node_substitute(ir, x, &from, &to, 1);
    assert_int_equal(y->depth, 100);
    assert_true(le_node_depends(y, 1) && !le_node_depends(y, 0));
}

/* ---- affine combinations, intervals */

static leat_status no_value(void *user, struct le_node *node, int64_t *value) {
    (void)user, (void)node, (void)value;
    return LEAT_MISSING;
}

static struct le_space *space_of(void) {
    static int64_t shape[2][LEAT_RANK_MAX] = {{4, 5}, {100}};
    static bool shaped[2] = {true, true};
    static struct le_range ranges[3] = {
        {.low = 0, .high = 4, .by = 1, .solved = true},
        {.low = -3, .high = 9, .by = 2, .solved = true},
        {.low = 0, .high = 4, .by = 1, .solved = true, .dynamic = true, .bounded = true}};
    static struct le_space space;
    space = (struct le_space){
        .ir = ir, .arena = &arena, .shape = shape, .shaped = shaped, .ranges = ranges, .evaluate = no_value};
    return &space;
}

static void affine_combinations(void **state) {
    struct le_affine f;
    (void)state;
    struct le_node *x = add(mul(i64(2), index_of(0)), op2(LE_OP_SUB, LE_I64, index_of(1), le_node_len(ir, 0, 1)));
    assert_true(le_affine_of(space_of(), x, &f));
    assert_true(f.count == 2 && f.constant == -5 && f.factor[0] == 2 && f.factor[1] == 1);
    assert_true(le_affine_of(space_of(), op2(LE_OP_SUB, LE_I64, x, x), &f) && f.count == 0 && f.constant == 0);
    assert_true(le_affine_of(space_of(), mul(add(index_of(0), i64(1)), le_node_len(ir, 0, 0)), &f));
    assert_true(f.count == 1 && f.factor[0] == 4 && f.constant == 4);
    assert_false(le_affine_of(space_of(), mul(index_of(0), index_of(1)), &f));
    assert_false(le_affine_of(space_of(), op2(LE_OP_FLOORDIV, LE_I64, index_of(0), i64(2)), &f));
    assert_false(le_affine_of(space_of(), element(1, index_of(0), NULL), &f));
    assert_false(le_affine_of(space_of(), add(mul(i64(INT64_MAX), index_of(0)), mul(i64(2), index_of(0))), &f));
}

static void interval_is(struct le_node *node, int64_t low, int64_t high) {
    int64_t least, most;
    assert_true(le_interval(space_of(), node, &least, &most));
    if (least != low || most != high)
        fail_msg("%lld..%lld, not %lld..%lld", (long long)least, (long long)most, (long long)low, (long long)high);
}

static void intervals(void **state) {
    int64_t low, high;
    (void)state;
    interval_is(index_of(0), 0, 3);
    interval_is(index_of(1), -3, 7); /* by 2: the last is 7 */
    interval_is(index_of(2), 0, 3);
    interval_is(op2(LE_OP_SUB, LE_I64, index_of(0), index_of(1)), -7, 6);
    interval_is(mul(index_of(0), index_of(1)), -9, 21);
    interval_is(mul(i64(-2), index_of(1)), -14, 6);
    interval_is(op2(LE_OP_FLOORDIV, LE_I64, index_of(1), i64(2)), -2, 3);
    interval_is(op2(LE_OP_MOD, LE_I64, mul(index_of(1), index_of(0)), i64(5)), 0, 4);
    interval_is(op2(LE_OP_MIN, LE_I64, index_of(1), i64(2)), -3, 2);
    interval_is(op2(LE_OP_MAX, LE_I64, index_of(1), i64(0)), 0, 7);
    interval_is(le_node_cast(ir, LE_I64, element(1, index_of(0), NULL)), 0, 255);
    interval_is(le_node_cast(ir, LE_I64, op2(LE_OP_LT, LE_BOOL, index_of(0), i64(2))), 0, 1);
    interval_is(le_node_select(ir, op2(LE_OP_LT, LE_BOOL, index_of(0), i64(2)), index_of(0), i64(-8)), -8, 3);
    struct le_node *clamped[] = {mul(index_of(0), index_of(1)), i64(-1), i64(5)};
    interval_is(le_node_op(ir, LE_OP_CLAMP, LE_I64, clamped, 3), -1, 5);
    assert_false(le_interval(space_of(), mul(i64(INT64_MAX), index_of(1)), &low, &high));
    assert_false(le_interval(space_of(), element(0, index_of(0), index_of(1)), &low, &high));
    assert_false(le_interval(space_of(), op2(LE_OP_FLOORDIV, LE_I64, index_of(0), index_of(1)), &low, &high));
}

static void counts_of_ranges(void **state) {
    struct le_range none = {.low = 5, .high = 5, .by = 1}, odd = {.low = -3, .high = 8, .by = 3};
    (void)state;
    assert_int_equal(le_range_count(&none), 0);
    assert_int_equal(le_range_count(&odd), 4);
    assert_int_equal(le_range_last(&odd), 6);
}

/* ---- forks */

static void forks_share_nodes_and_leave_the_parent_alone(void **state) {
    (void)state;
    struct le_node *x[] = {index_of(0), i64(3)}, *sum = le_node_op(ir, LE_OP_ADD, LE_I64, x, 2);
    struct le_node *count = le_node_make(
        ir, &(struct le_node){.kind = LE_NODE_COUNT, .type = LE_I64, .indices = (int[]){2}, .index_count = 1});
    struct le_node_marks marks = {.arena = &arena};
    const int nodes = ir->node_count, indices = ir->indices.count, from = 0;
    struct le_ir *fork = le_ir_fork(ir, &arena, &marks), *other = le_ir_fork(ir, &arena, &marks);
    assert_ptr_equal(le_node_op(fork, LE_OP_ADD, LE_I64, x, 2), sum);
    struct le_node *y[] = {sum, le_node_i64(fork, 99)}, *made = le_node_op(fork, LE_OP_MUL, LE_I64, y, 2);
    assert_int_equal(made->id, nodes + 1);
    assert_ptr_equal(le_node_op(fork, LE_OP_MUL, LE_I64, y, 2), made);
    assert_int_equal(le_node_i64(other, 98)->id, nodes);
    /* the range 0 .. i+1 of index 2 becomes that of a new index */
    assert_ptr_not_equal(le_node_substitute(fork, count, &from, &made, 1), count);
    assert_int_equal(fork->indices.count, indices + 1);
    assert_int_equal(ir->node_count, nodes);
    assert_int_equal(ir->indices.count, indices);
    /* a node that the parent has got meanwhile is not the fork's */
    struct le_node *later = i64(77);
    assert_int_equal(later->id, nodes);
    assert_ptr_not_equal(le_node_i64(fork, 77), later);
}

static void nodes_of_forks_are_adopted(void **state) {
    (void)state;
    struct le_node_marks marks = {.arena = &arena};
    struct le_ir *fork = le_ir_fork(ir, &arena, &marks), *inner;
    struct le_node *x[] = {le_node_i64(fork, 99), le_node_index(fork, 1)};
    x[1] = le_node_op(fork, LE_OP_ADD, LE_I64, x, 2);
    inner = le_ir_fork(fork, &arena, &marks);
    struct le_node *made = le_node_op(inner, LE_OP_MUL, LE_I64, x, 2), *model = mul(i64(99), add(i64(99), index_of(1)));
    assert_ptr_not_equal(made, model);
    assert_ptr_equal(le_node_adopt(ir, made), model);
    assert_ptr_equal(le_node_adopt(ir, model), model);
    assert_ptr_equal(le_node_adopt(inner, x[1]), x[1]);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(equal_nodes_are_shared),
        TEST(derives_facts_from_operands),
        TEST(folds_integer_arithmetic),
        TEST(folds_exact_comparisons),
        TEST(folds_casts),
        TEST(folds_selects),
        TEST(substitutes_indices_simultaneously),
        TEST(a_dependent_range_gets_its_own_index),
        TEST(walks_shared_nodes_once),
        TEST(forks_share_nodes_and_leave_the_parent_alone),
        TEST(nodes_of_forks_are_adopted),
        TEST(affine_combinations),
        TEST(intervals),
        TEST(counts_of_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
