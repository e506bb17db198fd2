/* PNG: loading all kinds of pictures, saving arrays, scaling of numbers, failures. */
#include "array/array_testing.h"
#include "array/load.h"
#include "array/png.h"
#include <math.h>
#include <png.h>

static char last_note[512];
static void take_note(leat_log_level level, const char *text, void *user) {
    (void)level;
    (void)user;
    snprintf(last_note, sizeof last_note, "%s", text);
}

static struct le_memory_pool *open_noting_pool(void) {
    const struct le_pool_options options = {.log = take_note};
    struct le_memory_pool *pool = NULL;
    assert_ok(le_memory_pool_new(&options, &pool));
    last_note[0] = 0;
    return pool;
}

/* A picture of 2 by 2 pixels, written with libpng directly. */
struct kind {
    int colour, depth;
    bool transparent;
    leat_dtype dtype;
    int rank;
    int64_t channels;
    uint8_t rows[2][16];
    uint16_t first[4]; /* the expected first pixel */
};
static const struct kind kinds[] = {
    {PNG_COLOR_TYPE_GRAY, 1, false, LEAT_U8, 2, 1, {{0x80}, {0x40}}, {255}},
    {PNG_COLOR_TYPE_GRAY, 4, false, LEAT_U8, 2, 1, {{0x70}, {0x4f}}, {0x77}},
    {PNG_COLOR_TYPE_GRAY, 8, false, LEAT_U8, 2, 1, {{9, 8}, {7, 6}}, {9}},
    {PNG_COLOR_TYPE_GRAY, 16, false, LEAT_U16, 2, 1, {{1, 2, 3, 4}, {5, 6, 7, 8}}, {0x0102}},
    {PNG_COLOR_TYPE_GRAY, 8, true, LEAT_U8, 3, 4, {{5, 8}, {7, 6}}, {5, 5, 5, 0}},
    {PNG_COLOR_TYPE_GRAY_ALPHA, 8, false, LEAT_U8, 3, 4, {{9, 8, 7, 6}, {5, 4, 3, 2}}, {9, 9, 9, 8}},
    {PNG_COLOR_TYPE_RGB, 8, false, LEAT_U8, 3, 3, {{1, 2, 3, 4, 5, 6}, {0}}, {1, 2, 3}},
    {PNG_COLOR_TYPE_RGB, 16, false, LEAT_U16, 3, 3, {{1, 2, 3, 4, 5, 6}, {0}}, {0x0102, 0x0304, 0x0506}},
    {PNG_COLOR_TYPE_RGB_ALPHA, 8, false, LEAT_U8, 3, 4, {{1, 2, 3, 4}, {0}}, {1, 2, 3, 4}},
    {PNG_COLOR_TYPE_RGB_ALPHA,
     16,
     false,
     LEAT_U16,
     3,
     4,
     {{1, 2, 3, 4, 5, 6, 7, 8}, {0}},
     {0x102, 0x304, 0x506, 0x708}},
    {PNG_COLOR_TYPE_PALETTE, 8, false, LEAT_U8, 3, 3, {{1, 0}, {0, 1}}, {40, 50, 60}},
    {PNG_COLOR_TYPE_PALETTE, 2, true, LEAT_U8, 3, 4, {{0x40}, {0x40}}, {40, 50, 60, 7}},
};

static void write_kind(const char *path, const struct kind *kind) {
    static const png_color palette[] = {{10, 20, 30}, {40, 50, 60}};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, 2, 2, kind->depth, kind->colour, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (kind->colour == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 2);
    if (kind->transparent)
        png_set_tRNS(png, info, (png_const_bytep) "\xff\x07", 2, &(png_color_16){.gray = 5});
    png_write_info(png, info);
    png_write_row(png, kind->rows[0]);
    png_write_row(png, kind->rows[1]);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

static unsigned value_at(const leat_array *array, size_t k) {
    return array->dtype == LEAT_U16 ? ((uint16_t *)array->data)[k] : ((uint8_t *)array->data)[k];
}

/* Each kind is loaded correctly, saved, and loaded again with the same result. */
static void test_kinds(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_noting_pool();
    char folder[64];
    make_folder(folder);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        leat_array *array = NULL, *back = NULL;
        write_kind(path_in(folder, "a.png"), &kinds[k]);
        assert_ok(le_array_load(pool, path_in(folder, "a.png"), NULL, (leat_dtype)0, &array));
        assert_int_equal(array->dtype, kinds[k].dtype);
        assert_int_equal(array->rank, kinds[k].rank);
        if (array->rank == 3)
            assert_int_equal(array->shape[2], kinds[k].channels);
        for (size_t c = 0; c < (size_t)kinds[k].channels; c++)
            assert_int_equal(value_at(array, c), kinds[k].first[c]);
        assert_ok(le_array_save(array, path_in(folder, "b.png"), SAVE_AS(.colormap = LEAT_COLORMAP_VIRIDIS)));
        assert_string_equal(last_note, "");
        assert_ok(le_array_load(pool, path_in(folder, "b.png"), NULL, (leat_dtype)0, &back));
        assert_int_equal(le_array_bytes(back), le_array_bytes(array));
        assert_memory_equal(back->data, array->data, le_array_bytes(array));
        le_array_free(array);
        le_array_free(back);
    }
    unlink(path_in(folder, "a.png"));
    unlink(path_in(folder, "b.png"));
    remove_folder(folder);
    le_memory_pool_close(pool);
}

static leat_array *save_and_load(const char *folder, const leat_array *array, leat_colormap colormap) {
    leat_array *back = NULL;
    assert_ok(le_array_save(array, path_in(folder, "s.png"), SAVE_AS(.colormap = colormap)));
    assert_ok(le_array_load(array->buffer->pool, path_in(folder, "s.png"), NULL, (leat_dtype)0, &back));
    unlink(path_in(folder, "s.png"));
    return back;
}

static void test_scaled(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_noting_pool();
    char folder[64];
    make_folder(folder);
    leat_array *array = new_array(pool, LEAT_F64, 2, SHAPE(2, 4));
    const double values[] = {-2, 0, 3, NAN, INFINITY, -INFINITY, 0.5, 3};
    le_array_write(array, values);
    leat_array *grey = save_and_load(folder, array, LEAT_COLORMAP_GREY);
    assert_int_equal(grey->rank, 2);
    assert_memory_equal(grey->data, ((uint8_t[]){0, 102, 255, 0, 255, 0, 128, 255}), 8);
    assert_non_null(strstr(last_note, "s.png: scaled from -2 (black) to 3 (white)"));
    leat_array *viridis = save_and_load(folder, array, LEAT_COLORMAP_VIRIDIS);
    assert_int_equal(viridis->rank, 3);
    assert_memory_equal(viridis->data, ((uint8_t[]){68, 1, 84}), 3);
    assert_memory_equal((uint8_t *)viridis->data + 6, ((uint8_t[]){253, 231, 37, 0, 0, 0}), 6);
    le_array_free(array);
    le_array_free(grey);
    le_array_free(viridis);
    remove_folder(folder);
    le_memory_pool_close(pool);
}

/* Elements of every type are scaled correctly, and the extremes of f64 do not overflow. */
static void test_scaled_types(void **state) {
    static const struct {
        leat_dtype dtype;
        uint64_t bits[2]; /* of any two different values, such as 1 and 3 */
        const char *note;
    } cases[] = {
        {LEAT_BOOL, {0, 1}, "" /* not scaled */},
        {LEAT_I8, {0xff, 3}, "from -1 (black) to 3 "},
        {LEAT_I16, {0xffff, 3}, "from -1 (black) to 3 "},
        {LEAT_I32, {0xffffffff, 3}, "from -1 (black) to 3 "},
        {LEAT_I64, {UINT64_MAX, 3}, "from -1 (black) to 3 "},
        {LEAT_U32, {1, 0xffffffff}, "from 1 (black) to 4294967295 "},
        {LEAT_U64, {1, UINT64_MAX}, "from 1 (black) to "},
        {LEAT_F16, {0xc200, 0x3555}, "from -3 (black) to 0.333251953125 "},
        {LEAT_F16, {0x0001, 0x0400}, "to 6.103515625e-05 "},
        {LEAT_BF16, {0xc040, 0x3f80}, "from -3 (black) to 1 "},
        {LEAT_F32, {0xc0400000, 0x3f800000}, "from -3 (black) to 1 "},
        {LEAT_F64, {0xffefffffffffffff, 0x7fefffffffffffff}, "to 1.7976931348623157e+308 "},
    };
    (void)state;
    struct le_memory_pool *pool = open_noting_pool();
    char folder[64];
    make_folder(folder);
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        leat_array *array = new_array(pool, cases[k].dtype, 2, SHAPE(1, 2));
        size_t size = le_array_bytes(array) / 2;
        memcpy(array->data, &cases[k].bits[0], size); /* in little-endian order */
        memcpy((char *)array->data + size, &cases[k].bits[1], size);
        leat_array *back = save_and_load(folder, array, LEAT_COLORMAP_GREY);
        assert_memory_equal(back->data, "\0\xff", 2);
        if (!strstr(last_note, cases[k].note))
            fail_msg("\"%s\" is not in \"%s\"", cases[k].note, last_note);
        le_array_free(array);
        le_array_free(back);
    }
    remove_folder(folder);
    le_memory_pool_close(pool);
}

static void test_scaled_constant(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_noting_pool();
    char folder[64];
    make_folder(folder);
    leat_array *array = new_array(pool, LEAT_F32, 2, SHAPE(1, 2));
    leat_array *back = save_and_load(folder, array, LEAT_COLORMAP_GREY);
    assert_memory_equal(back->data, "\0\0", 2);
    le_array_free(back);
    ((float *)array->data)[0] = ((float *)array->data)[1] = NAN;
    back = save_and_load(folder, array, LEAT_COLORMAP_GREY);
    assert_memory_equal(back->data, "\0\0", 2);
    assert_non_null(strstr(last_note, "no finite value"));
    le_array_free(back);
    le_array_free(array);
    remove_folder(folder);
    le_memory_pool_close(pool);
}

static void test_refused(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_noting_pool();
    char folder[64];
    make_folder(folder);
    static const struct {
        leat_dtype dtype;
        int rank;
        int64_t shape[3];
    } shapes[] = {{LEAT_U8, 1, {4}},    {LEAT_F32, 3, {2, 2, 3}},   {LEAT_U8, 3, {2, 2, 2}}, {LEAT_F32, 2, {0, 5}},
                  {LEAT_U8, 2, {5, 0}}, {LEAT_U8, 2, {1, 1000001}}, {LEAT_U16, 3, {2, 0, 3}}};
    for (size_t k = 0; k < ARRAY_LEN(shapes); k++) {
        leat_array *array = new_array(pool, shapes[k].dtype, shapes[k].rank, shapes[k].shape);
        assert_int_equal(le_array_save(array, path_in(folder, "a.png"), SAVE_AS(0)), LEAT_INVALID);
        le_array_free(array);
    }
    write_kind(path_in(folder, "a.png"), &kinds[2]);
    FILE *file = fopen(path_in(folder, "a.png"), "rb");
    uint8_t bytes[400];
    size_t size_bytes = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    leat_array *array = NULL;
    for (size_t cut = 8; cut + 12 < size_bytes; cut++) {
        assert_int_equal(le_png_load(pool, "x.png", bytes, cut, &array), LEAT_FILE);
        assert_message("x.png: the picture cannot be read: ");
    }
    unlink(path_in(folder, "a.png"));
    remove_folder(folder);
    le_memory_pool_close(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),           cmocka_unit_test(test_scaled),  cmocka_unit_test(test_scaled_types),
        cmocka_unit_test(test_scaled_constant), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
