/* Matrix products through the front door, on sim's cuBLAS: every layout of the matrices and every type, against
 * plain loops; order with earlier and later work; rejected arguments. */
#include "device/front/device_testing.h"
#include "spec/type.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

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

static size_t size_of(leat_dtype dtype) {
    return le_type_size((enum le_type)dtype);
}

/* 16-bit floats hold whole numbers of up to 8 bits here, which both types represent. */
static void put(leat_dtype dtype, void *at, double x) {
    const float single = (float)x;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (dtype == LEAT_F64)
        *(double *)at = x;
    else if (dtype == LEAT_F32)
        *(float *)at = single;
    else if (dtype == LEAT_BF16 || isnan(x) || x == 0)
        *(uint16_t *)at = (uint16_t)(bits >> 16);
    else
        *(uint16_t *)at = (uint16_t)((bits >> 16 & 0x8000) | ((bits & 0x7fffffff) - (112U << 23)) >> 13);
}

static double get(leat_dtype dtype, const void *at) {
    if (dtype == LEAT_F64)
        return *(const double *)at;
    if (dtype == LEAT_F32)
        return (double)*(const float *)at;
    const uint16_t half = *(const uint16_t *)at;
    if (dtype == LEAT_BF16) {
        const uint32_t bits = (uint32_t)half << 16;
        float single;
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    }
    if ((half & 0x7fff) == 0x7c00)
        return half & 0x8000 ? -(double)INFINITY : (double)INFINITY;
    const double x = ldexp((half & 0x3ff) + (half & 0x7c00 ? 1024 : 0), (half >> 10 & 31) - 25);
    return half & 0x8000 ? -x : x;
}

static struct le_allocation *new_allocation(struct le_device *device, leat_dtype dtype, int salt, bool nan) {
    struct le_allocation *allocation = NULL;
    const size_t size = size_of(dtype);
    assert_ok(le_allocation_new(device, LE_MEMORY_MAPPED, ELEMENTS * size, NULL, &allocation));
    for (int64_t k = 0; k < ELEMENTS; k++)
        put(dtype, (char *)allocation->host + (size_t)k * size, nan ? (double)NAN : element_value(k, salt));
    return allocation;
}

static double number_at(const struct le_allocation *allocation, leat_dtype dtype, int64_t k) {
    return get(dtype, (const char *)allocation->host + (size_t)k * size_of(dtype));
}

static struct le_matrix matrix(struct le_allocation *allocation, leat_dtype dtype, const struct matrix_layout *l) {
    return (struct le_matrix){.allocation = allocation,
                              .address = allocation->address + (uint64_t)l->first * size_of(dtype),
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

static void multiply(struct le_device *device, leat_dtype dtype, leat_dtype target, const struct matrix_layout l[3],
                     double kept) {
    struct matrices b = {new_allocation(device, dtype, 1, false), new_allocation(device, dtype, 2, false),
                         new_allocation(device, target, 3, kept == 0)};
    struct le_product p = product_of(&b, dtype, l);
    p.target = matrix(b.target, target, &l[2]);
    p.target_dtype = target;
    p.kept = kept;
    assert_ok(le_device_product(le_device_stream_own(device), &p));
    assert_ok(le_allocation_wait(b.target, LE_ACCESS_READ));
    int64_t written = 0;
    for (int batch = 0; batch < BATCH; batch++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++, written++)
                assert_true(number_at(b.target, target, element_offset(&l[2], batch, i, j)) ==
                            expected(l, batch, i, j, p.scale, kept));
    for (int64_t k = 0; k < ELEMENTS && kept != 0; k++) /* everything else is unchanged */
        written += number_at(b.target, target, k) == element_value(k, 3);
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
    static const leat_dtype types[][2] = {
        {LEAT_F32, LEAT_F32}, {LEAT_F64, LEAT_F64}, {LEAT_F16, LEAT_F16}, {LEAT_F16, LEAT_F32}, {LEAT_BF16, LEAT_F32}};
    struct le_device *device = open_sim();
    for (size_t t = 0; t < ARRAY_LEN(types); t++)
        for (int way = 0; way < 8; way++) {
            struct matrix_layout l[3] = {dense[0], dense[1], dense[2]};
            if (way & 1)
                l[0] = (struct matrix_layout){true, ROWS + 2, 3, 0};
            if (way & 2)
                l[1] = (struct matrix_layout){true, TERMS, 1, 50};
            if (way & 4)
                l[2] = (struct matrix_layout){false, 11, 7, 100};
            multiply(device, types[t][0], types[t][1], l, -3);
            multiply(device, types[t][0], types[t][1], l, 0);
        }
    le_device_close(device);
}

/* A product of one element, 2 * x * y. */
static double multiply_one(struct le_device *device, leat_dtype dtype, bool tf32, double x, double y) {
    static const struct matrix_layout one[3] = {{false, 1, 0, 0}, {false, 1, 0, 0}, {false, 1, 0, 0}};
    struct matrices b = {new_allocation(device, dtype, 1, false), new_allocation(device, dtype, 2, false),
                         new_allocation(device, dtype, 3, false)};
    struct le_product p = product_of(&b, dtype, one);
    p.rows = p.columns = p.terms = p.batch = 1;
    p.kept = 0;
    p.tf32 = tf32;
    put(dtype, b.left->host, x);
    put(dtype, b.right->host, y);
    assert_ok(le_device_product(le_device_stream_own(device), &p));
    assert_ok(le_allocation_wait(b.target, LE_ACCESS_READ));
    double product = number_at(b.target, dtype, 0);
    le_allocation_free(b.left);
    le_allocation_free(b.right);
    le_allocation_free(b.target);
    return product;
}

/* The results of 16-bit floats are rounded to even once. TF32 has 10 bits after the first one, and is used only if
 * asked for. */
static void test_roundings(void **state) {
    (void)state;
    struct le_device *device = open_sim();
    assert_true(multiply_one(device, LEAT_BF16, false, 129, 65) == 16768); /* 16770 is 16768 + 2, of steps of 128 */
    assert_true(multiply_one(device, LEAT_BF16, false, 3, 171) == 1024);   /* 1026, of steps of 8 */
    assert_true(multiply_one(device, LEAT_F16, false, 3, 683) == 4096);    /* 4098, half of a step of 4 */
    assert_true(multiply_one(device, LEAT_F16, false, 3, 685) == 4112);    /* 4110, half of a step */
    assert_true(multiply_one(device, LEAT_F16, false, 250, 250) == (double)INFINITY);
    assert_true(multiply_one(device, LEAT_F32, false, 4097, 1) == 8194);
    assert_true(multiply_one(device, LEAT_F32, true, 4097, 1) == 8192);
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
    expect_refusal(device, &p, "only floats and complex numbers");
    p = right;
    p.target_dtype = LEAT_F16;
    expect_refusal(device, &p, "only floats and complex numbers");
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layouts), cmocka_unit_test(test_roundings),
                                       cmocka_unit_test(test_order), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
