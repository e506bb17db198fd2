/* Tables of text: numbers, headers, errors with their location, and saving and loading the same values. */
#include "array/array_testing.h"
#include "array/csv.h"
#include "array/load.h"
#include <math.h>

static char noted[200];

static void keep_note(leat_log_level level, const char *text, void *user) {
    (void)level;
    (void)user;
    snprintf(noted, sizeof noted, "%s", text);
}

static struct le_memory_pool *noting_pool(void) {
    struct le_pool_options options = {.log = keep_note};
    struct le_memory_pool *pool = NULL;
    assert_ok(le_memory_pool_new(&options, &pool));
    noted[0] = '\0';
    return pool;
}

static leat_status load(struct le_memory_pool *pool, const char *text, leat_dtype declared, leat_array **array) {
    return le_csv_load(pool, "t.csv", (const uint8_t *)text, strlen(text), ',', declared, array);
}

/* Loads text and expects a table with two axes, of i64 or f64. */
static void expect(const char *text, leat_dtype dtype, int64_t rows, int64_t columns, const double *values) {
    struct le_memory_pool *pool = noting_pool();
    leat_array *array = NULL;
    assert_ok(load(pool, text, (leat_dtype)0, &array));
    assert_int_equal(array->dtype, dtype);
    assert_int_equal(array->rank, columns == 1 ? 1 : 2);
    assert_int_equal(array->shape[0], rows);
    assert_true(columns == 1 || array->shape[1] == columns);
    for (int64_t k = 0; k < rows * columns; k++) {
        double value = le_real_element(dtype, (char *)array->data + k * 8);
        assert_true(value == values[k] || (isnan(value) && isnan(values[k])));
    }
    le_array_free(array);
    le_memory_pool_close(pool);
}

static void tables(void **state) {
    (void)state;
    const double four[] = {1, 2, 3, 4}, real[] = {1, 2.5, -3e-7, 4}, special[] = {(double)NAN, -(double)INFINITY};
    expect("1,2\n3,4\n", LEAT_I64, 2, 2, four);
    expect("1,2\n3,4", LEAT_I64, 2, 2, four);
    expect("1,2\r\n3,4\r\n\r\n", LEAT_I64, 2, 2, four);
    expect("\xef\xbb\xbf 1 ,\"2\"\n+3,004\n \n", LEAT_I64, 2, 2, four);
    expect("1\n2\n3\n4\n", LEAT_I64, 4, 1, four);
    expect("1,2,3,4\n", LEAT_I64, 1, 4, four);
    expect("1,2.5\n-3e-7,4\n", LEAT_F64, 2, 2, real);
    expect("nan,-Infinity\n", LEAT_F64, 1, 2, special);
    assert_string_equal(noted, "");
}

static void headers_are_skipped(void **state) {
    (void)state;
    const double four[] = {1, 2, 3, 4};
    expect("a,b\n1,2\n3,4\n", LEAT_I64, 2, 2, four);
    assert_string_equal(noted, "t.csv: skipped line 1, a header");
    expect("\"x, y\",,z\n1,2\n3,4\n", LEAT_I64, 2, 2, four);
    expect("run 1,run 2\n1,2\n3,4\n", LEAT_I64, 2, 2, four);
    expect("# made by\n# someone\nvalue\n1\n2\n3\n4\n", LEAT_I64, 4, 1, four);
    assert_string_equal(noted, "t.csv: skipped line 3, a header");
}

/* The help names the mistake: another separator, or a type that can be changed. */
static void help_fits(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
        leat_dtype declared;
    } CASES[] = {
        {"1\t2\n", "fields of a .csv file are separated by commas; name a file with tabs .tsv", 0},
        {"1;2\n", "write numbers separated by commas", 0},
        {"1\n9223372036854775808\n", "declare the input as u64 or f64", 0},
        {"1e999\n", "", 0},
        {"256\n", "", LEAT_U8},
    };
    struct le_memory_pool *pool = open_pool();
    for (size_t k = 0; k < ARRAY_LEN(CASES); k++) {
        leat_array *array = NULL;
        assert_int_equal(load(pool, CASES[k].text, CASES[k].declared, &array), LEAT_FILE);
        assert_string_equal(le_error_at(0)->expected, CASES[k].expected);
    }
    le_memory_pool_close(pool);
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        leat_dtype declared;
    } CASES[] = {
        {"1,2\n3,abc\n", "t.csv: line 2, column 2: 'abc' is not a number", 0},
        {"a,b\n1,2\n3,\n", "t.csv: line 3, column 2 is empty", 0},
        {"1,,3\n", "t.csv: line 1, column 2 is empty", 0},
        {"1,2,\n", "t.csv: line 1, column 3 is empty", 0},
        {"1,x\n", "t.csv: line 1, column 2: 'x' is not a number", 0},
        {"1\n\n2\n", "t.csv: line 2, column 1 is empty", 0},
        {"1,2\n\n3,4\n", "t.csv: line 2 is empty", 0},
        {"1,2\n3\n", "t.csv: line 2 has 1 field, and line 1 has 2", 0},
        {"a,b\n1,2\n3,4,5\n", "t.csv: line 3 has 3 fields, and line 2 has 2", 0},
        {"a,b\n", "t.csv: contains no numbers", 0},
        {"\n\n", "t.csv: contains no numbers", 0},
        {"1 2\n3 4\n", "t.csv: line 1, column 1: '1 2' is not a number", 0},
        {"1;2\n3;4\n5;6\n", "t.csv: line 1, column 1: '1;2' is not a number", 0},
        {"1\t2\n", "t.csv: line 1, column 1: '1\\t2' is not a number", 0},
        {"1.5.2\n", "no numbers", 0},
        {"1\n1.5.2\n", "'1.5.2' is not a number", 0},
        {"1\n0x10\n", "'0x10' is not a number", 0},
        {"1\n1e\n", "'1e' is not a number", 0},
        {"1\n.\n", "'.' is not a number", 0},
        {"1\n-\n", "'-' is not a number", 0},
        {"1\na\x01long field that goes on and on and on and on\n",
         "'a?long field that goes on and on and on ...' is not", 0},
        {"1\n9223372036854775808\n", "line 2, column 1: '9223372036854775808' does not fit in i64", 0},
        {"1.5\n1e999\n", "'1e999' does not fit in f64", 0},
        {"1\n256\n", "'256' does not fit in u8", LEAT_U8},
        {"1\n-1\n", "'-1' does not fit in u8", LEAT_U8},
        {"1\n-129\n", "'-129' does not fit in i8", LEAT_I8},
        {"1\n2.0\n", "'2.0' is not a whole number, as i32 needs", LEAT_I32},
        {"1\nnan\n", "'nan' is not a whole number", LEAT_I32},
        {"1\n2\n", "'2' does not fit in bool", LEAT_BOOL},
        {"1\n70000\n", "'70000' does not fit in f16", LEAT_F16},
    };
    struct le_memory_pool *pool = open_pool();
    for (size_t k = 0; k < ARRAY_LEN(CASES); k++) {
        leat_array *array = NULL;
        leat_status status = load(pool, CASES[k].text, CASES[k].declared, &array);
        if (status != LEAT_FILE)
            fail_msg("%s: status %d", CASES[k].text, (int)status);
        assert_message(CASES[k].message);
    }
    le_memory_pool_close(pool);
}

/* A ragged table is refused before memory of its size is allocated. */
static void ragged_tables_take_no_memory(void **state) {
    (void)state;
    size_t size = (size_t)200000;
    char *text = malloc(2 * size + 1);
    assert_non_null(text);
    for (size_t k = 0; k < size; k++) { /* one line with many fields, then many lines with one */
        text[k] = k % 2 ? ',' : '1';
        text[size + k] = k % 2 ? '\n' : '1';
    }
    text[size - 1] = '\n';
    text[2 * size] = '\0';
    struct le_memory_pool *pool = open_pool();
    leat_array *array = NULL;
    assert_int_equal(load(pool, text, (leat_dtype)0, &array), LEAT_FILE);
    assert_message("line 2 has 1 field, and line 1 has 100000");
    le_memory_pool_close(pool);
    free(text);
}

/* ---- single numbers */

static void expect_real(const char *text, double value) {
    double got = 0;
    assert_int_equal(le_csv_parse(text, strlen(text), LEAT_F64, &got), LE_CSV_OK);
    if (memcmp(&got, &value, sizeof got) != 0)
        fail_msg("%s: %a, not %a", text, got, value);
}

static void numbers(void **state) {
    (void)state;
    expect_real("-0", -0.0);
    expect_real(".5", 0.5);
    expect_real("5.", 5);
    expect_real("+1E+2", 100);
    expect_real("0.1", 0.1);
    expect_real("9007199254740993", 9007199254740992.0);
    expect_real("9007199254740993.0000000000000000000000000000000001", 9007199254740994.0);
    expect_real("1e22", 1e22);
    expect_real("1e23", 1e23);
    expect_real("0.000000000000000000000000000000000000000001e42", 1);
    expect_real("123456789012345678901234567890e-20", 1234567890.1234567890);
    expect_real("2.2250738585072012e-308", 2.2250738585072012e-308);
    expect_real("5e-324", 5e-324);
    expect_real("1e-999", 0);
    expect_real("1.7976931348623157e308", 1.7976931348623157e308);
    /* 1 plus half of its last place, and a digit far after it */
    char text[1200] = "1.00000000000000011102230246251565404236316680908203125", digits[1200];
    expect_real(text, 1);
    memset(digits, '0', sizeof digits);
    snprintf(digits + snprintf(digits, sizeof digits, "%s", text), 2, "0");
    digits[strlen(digits)] = '0';
    digits[1000] = '1';
    digits[1001] = '\0';
    expect_real(digits, 1.0000000000000002);
}

/* Shortest decimals of random values. */
static void random_reals(void **state) {
    (void)state;
    uint64_t bits = 88172645463325252u;
    for (int k = 0; k < 100000; k++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double value;
        float single, got;
        char text[64];
        memcpy(&value, &bits, sizeof value);
        memcpy(&single, &bits, sizeof single);
        if (isfinite(value)) {
            snprintf(text, sizeof text, "%.*g", (int)(bits % 20) + 1, value);
            double nearest = strtod(text, NULL);
            if (isfinite(nearest))
                expect_real(text, nearest);
        }
        snprintf(text, sizeof text, "%.9g", (double)single);
        if (isfinite(single)) {
            assert_int_equal(le_csv_parse(text, strlen(text), LEAT_F32, &got), LE_CSV_OK);
            assert_memory_equal(&got, &single, sizeof got);
        }
    }
}

/* ---- saving and loading again */

static void round_trip(struct le_memory_pool *pool, const char *path, leat_array *array) {
    leat_array *back = NULL;
    assert_ok(le_array_save(array, path, SAVE_AS(0)));
    assert_ok(le_array_load(pool, path, NULL, array->dtype, &back));
    assert_int_equal(back->dtype, array->dtype);
    assert_int_equal(back->rank, array->rank);
    assert_memory_equal(back->shape, array->shape, (size_t)array->rank * sizeof *array->shape);
    size_t size_bytes = le_array_bytes(array);
    char *before = malloc(size_bytes), *after = malloc(size_bytes);
    assert_true(before && after);
    le_array_read(array, before);
    le_array_read(back, after);
    assert_memory_equal(before, after, size_bytes);
    free(before);
    free(after);
    le_array_free(back);
}

/* Every type, with all values of the small types. NaN has many bit patterns; only one of them is read. */
static void all_types(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    char folder[64];
    make_folder(folder);
    for (leat_dtype dtype = LEAT_BOOL; dtype <= LEAT_F64; dtype++) {
        leat_array *array = new_array(pool, dtype, 2, SHAPE(256, 256));
        size_t size = leat_dtype_size_bytes(dtype);
        uint64_t bits = 1;
        for (size_t k = 0; k < 65536; k++) {
            bits = bits * 6364136223846793005u + 1442695040888963407u;
            uint64_t mixed = size <= 2 ? k : bits ^ bits >> 29;
            char *at = (char *)array->data + k * size;
            memcpy(at, &mixed, size);
            if (dtype == LEAT_BOOL)
                *at = k % 3 == 0;
            bool is_float = dtype == LEAT_F16 || dtype == LEAT_BF16 || dtype == LEAT_F32 || dtype == LEAT_F64;
            if (is_float && isnan(le_real_element(dtype, at)))
                memset(at, 0, size);
        }
        round_trip(pool, path_in(folder, dtype % 2 ? "t.csv" : "t.TSV"), array);
        unlink(path_in(folder, dtype % 2 ? "t.csv" : "t.TSV"));
        le_array_free(array);
    }
    remove_folder(folder);
    le_memory_pool_close(pool);
}

static void file_is(const char *path, const char *text) {
    char got[200] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size_bytes = fread(got, 1, sizeof got - 1, file);
    fclose(file);
    got[size_bytes] = '\0';
    assert_string_equal(got, text);
}

static void files(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    leat_array *array = counted(pool, 2, SHAPE(2, 3)), *turned, *back = NULL;
    char folder[64], path[160];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/t.csv", folder);
    assert_ok(le_array_transpose(array, NULL, &turned));
    assert_ok(le_array_save(turned, path, SAVE_AS(0)));
    file_is(path, "0,3\n1,4\n2,5\n");
    assert_int_equal(le_array_load(pool, path, "key", (leat_dtype)0, &back), LEAT_INVALID);
    le_array_free(array);
    array = counted(pool, 1, SHAPE(3));
    assert_ok(le_array_save(array, path, SAVE_AS(0)));
    file_is(path, "0\n1\n2\n");
    le_array_free(array);
    array = new_array(pool, LEAT_C64, 1, SHAPE(3));
    assert_int_equal(le_array_save(array, path, SAVE_AS(0)), LEAT_INVALID);
    assert_message("c64[3] is complex");
    le_array_free(array);
    array = counted(pool, 3, SHAPE(2, 1, 1));
    assert_int_equal(le_array_save(array, path, SAVE_AS(0)), LEAT_INVALID);
    assert_message("i32[2,1,1] has more than the two axes of a table");
    file_is(path, "0\n1\n2\n");
    le_array_free(array);
    le_array_free(turned);
    unlink(path);
    remove_folder(folder);
    le_memory_pool_close(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
        cmocka_unit_test(headers_are_skipped),
        cmocka_unit_test(refused),
        cmocka_unit_test(help_fits),
        cmocka_unit_test(ragged_tables_take_no_memory),
        cmocka_unit_test(numbers),
        cmocka_unit_test(random_reals),
        cmocka_unit_test(all_types),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
