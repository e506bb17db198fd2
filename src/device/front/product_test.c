/* Matrix products through the front door, on sim's cuBLAS: every layout of the matrices, against plain loops; order
 * with earlier and later work; rejected arguments. */
#include "device/front/device_testing.h"
#include <math.h>
#include <stdio.h>

enum { ROWS = 5, COLUMNS = 7, TERMS = 6, BATCH = 3, ELEMENTS = 400 };

struct matrix_layout { /* the layout of a matrix in its allocation of ELEMENTS */
    bool transposed;
    int stride, first;
    int64_t batch_stride;
};

static int64_t element_offset(const struct matrix_layout *l, int batch, int row, int column) {
    return l->first + batch * l->batch_stride + (l->transposed ? column * l->stride + row : row * l->stride + column);
}

static double element_value(int64_t k, int salt) {
    return (double)((k * 31 + salt) % 17 - 8);
}

static struct le_allocation *new_allocation(struct le_device *device, leat_dtype dtype, int salt, bool nan) {
    struct le_allocation *allocation = NULL;
    size_t size = dtype == LEAT_F32 ? 4 : 8;
    assert_ok(le_allocation_new(device, LE_MEMORY_MAPPED, ELEMENTS * size, NULL, &allocation));
    for (int64_t k = 0; k < ELEMENTS; k++) {
        double x = nan ? (double)NAN : element_value(k, salt);
        if (dtype == LEAT_F32)
            ((float *)allocation->host)[k] = (float)x;
        else
            ((double *)allocation->host)[k] = x;
    }
    return allocation;
}

static struct le_matrix matrix(struct le_allocation *allocation, leat_dtype dtype, const struct matrix_layout *l) {
    return (struct le_matrix){.allocation = allocation,
                              .address = allocation->address + (uint64_t)l->first * (dtype == LEAT_F32 ? 4 : 8),
                              .stride = l->stride,
                              .transposed = l->transposed,
                              .batch_stride = l->batch_stride};
}

struct matrices {
    struct le_allocation *left, *right, *target;
};

static struct le_product product_of(const struct matrices *b, leat_dtype dtype, const struct matrix_layout l[3]) {
    return (struct le_product){.dtype = dtype,
                               .rows = ROWS,
                               .columns = COLUMNS,
                               .terms = TERMS,
                               .batch = BATCH,
                               .left = matrix(b->left, dtype, &l[0]),
                               .right = matrix(b->right, dtype, &l[1]),
                               .target = matrix(b->target, dtype, &l[2]),
                               .scale = 2,
                               .kept = -3,
                               .what = "test"};
}

static double expected(const struct matrix_layout l[3], int batch, int i, int j, double scale, double kept) {
    double sum = 0;
    for (int k = 0; k < TERMS; k++)
        sum +=
            element_value(element_offset(&l[0], batch, i, k), 1) * element_value(element_offset(&l[1], batch, k, j), 2);
    return scale * sum + (kept != 0 ? kept * element_value(element_offset(&l[2], batch, i, j), 3) : 0);
}

static void multiply(struct le_device *device, leat_dtype dtype, const struct matrix_layout l[3], double kept) {
    struct matrices b = {new_allocation(device, dtype, 1, false), new_allocation(device, dtype, 2, false),
                         new_allocation(device, dtype, 3, kept == 0)};
    struct le_product p = product_of(&b, dtype, l);
    p.kept = kept;
    assert_ok(le_device_product(le_device_stream_own(device), &p));
    assert_ok(le_allocation_wait(b.target, LE_ACCESS_READ));
    int64_t written = 0;
    for (int batch = 0; batch < BATCH; batch++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++, written++) {
                int64_t k = element_offset(&l[2], batch, i, j);
                double x = dtype == LEAT_F32 ? (double)((float *)b.target->host)[k] : ((double *)b.target->host)[k];
                assert_true(x == expected(l, batch, i, j, p.scale, kept));
            }
    for (int64_t k = 0; k < ELEMENTS && kept != 0; k++) /* everything else is unchanged */
        written += (dtype == LEAT_F32 ? (double)((float *)b.target->host)[k] : ((double *)b.target->host)[k]) ==
                   element_value(k, 3);
    assert_true(kept == 0 || written >= ELEMENTS);
    le_allocation_free(b.left);
    le_allocation_free(b.right);
    le_allocation_free(b.target);
}

static struct le_device *open_sim(void) {
    struct le_device *device = NULL;
    assert_ok(le_device_open("sim", &(struct le_device_options){.sim_check = true}, &device));
    return device;
}

static const struct matrix_layout dense[3] = {
    {false, TERMS, 0, ROWS *TERMS}, {false, COLUMNS, 0, TERMS *COLUMNS}, {false, COLUMNS, 0, ROWS *COLUMNS}};

static void test_layouts(void **state) {
    (void)state;
    struct le_device *device = open_sim();
    for (int way = 0; way < 16; way++) {
        struct matrix_layout l[3] = {dense[0], dense[1], dense[2]};
        if (way & 1)
            l[0] = (struct matrix_layout){true, ROWS + 2, 3, 0};
        if (way & 2)
            l[1] = (struct matrix_layout){true, TERMS, 1, 50};
        if (way & 4)
            l[2] = (struct matrix_layout){false, 11, 7, 100};
        multiply(device, way & 8 ? LEAT_F64 : LEAT_F32, l, -3);
        multiply(device, way & 8 ? LEAT_F64 : LEAT_F32, l, 0);
    }
    le_device_close(device);
}

/* A chain over two streams: each product's target is a factor of the next one. */
static void test_order(void **state) {
    (void)state;
    struct le_device *device = open_sim();
    struct le_device_stream *other = fake_stream_of(device), *own = le_device_stream_own(device);
    struct le_allocation *x[3];
    const struct matrix_layout l = {false, 2, 0, 0};
    for (int k = 0; k < 3; k++) {
        assert_ok(le_allocation_new(device, LE_MEMORY_MAPPED, 4 * sizeof(float), NULL, &x[k]));
        for (int q = 0; q < 4; q++)
            ((float *)x[k]->host)[q] = q == 0 || q == 3 ? 2.0F : 0.0F;
    }
    for (int k = 0; k < 12; k++) {
        const struct le_product p = {.dtype = LEAT_F32,
                                     .rows = 2,
                                     .columns = 2,
                                     .terms = 2,
                                     .batch = 1,
                                     .left = matrix(x[k % 3], LEAT_F32, &l),
                                     .right = matrix(x[(k + 1) % 3], LEAT_F32, &l),
                                     .target = matrix(x[(k + 2) % 3], LEAT_F32, &l),
                                     .scale = 0.5,
                                     .what = "chain"};
        assert_ok(le_device_product(k % 2 ? own : other, &p));
    }
    assert_ok(le_allocation_wait(x[1], LE_ACCESS_READ));
    assert_true(((float *)x[1]->host)[0] == 2.0F && ((float *)x[1]->host)[1] == 0.0F);
    for (int k = 0; k < 3; k++)
        le_allocation_free(x[k]);
    le_device_stream_free(other);
    le_device_close(device);
}

static void expect_refusal(struct le_device *device, const struct le_product *p, const char *part) {
    assert_int_equal(le_device_product(le_device_stream_own(device), p), LEAT_INVALID);
    assert_message(part);
}

static void test_refused(void **state) {
    (void)state;
    struct le_device *device = open_sim(), *cpu = NULL;
    struct matrices b = {new_allocation(device, LEAT_F32, 1, false), new_allocation(device, LEAT_F32, 2, false),
                         new_allocation(device, LEAT_F32, 3, false)};
    const struct le_product right = product_of(&b, LEAT_F32, dense);
    struct le_product p = right;
    p.dtype = LEAT_I32;
    expect_refusal(device, &p, "only f32 and f64");
    p = right;
    p.terms = 0;
    expect_refusal(device, &p, "5 x 7 x 0, batch of 3");
    p = right;
    p.target.transposed = true;
    expect_refusal(device, &p, "5 x 7 x 6");
    p = right;
    p.left.stride = TERMS - 1;
    expect_refusal(device, &p, "invalid stride 5 of the left matrix, 5 x 6");
    p = right;
    p.right.address += ELEMENTS * 4 - 16;
    expect_refusal(device, &p, "the right matrix extends beyond its memory");
    p = right;
    p.target.batch_stride = ELEMENTS;
    expect_refusal(device, &p, "the target matrix extends beyond its memory");
    assert_ok(le_device_open("cpu", NULL, &cpu));
    assert_int_equal(le_device_product_open(cpu), LEAT_UNSUPPORTED);
    assert_int_equal(le_device_product(le_device_stream_own(cpu), &right), LEAT_UNSUPPORTED);
    le_allocation_free(b.left);
    le_allocation_free(b.right);
    le_allocation_free(b.target);
    le_device_close(device);
    le_device_close(cpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layouts), cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
