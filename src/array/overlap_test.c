/* Which arrays share memory, and which overlap themselves: compared with marking every byte, for views and random
 * strides. */
#include "array/array_testing.h"
#include "spec/type.h"

enum { BYTES = 512, CASES = 40000 };

static uint64_t random_state = 1;

static int64_t random_between(int64_t low, int64_t high) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return low + (int64_t)((random_state >> 33) % (uint64_t)(high - low + 1));
}

/* Marks the bytes of all elements; false if a byte is marked twice. */
static bool mark(const leat_array *array, const char *memory, bool *marks) {
    size_t size = le_type_size((enum le_type)array->dtype);
    bool once = true;
    for (size_t element = 0; element < le_array_count(array); element++) {
        int64_t offset = 0;
        size_t rest = element;
        for (int k = array->rank - 1; k >= 0; k--) {
            offset += (int64_t)(rest % (size_t)array->shape[k]) * array->strides[k];
            rest /= (size_t)array->shape[k];
        }
        size_t at = (size_t)((const char *)array->data - memory + offset * (int64_t)size);
        assert_true(at + size <= BYTES);
        for (size_t byte = 0; byte < size; byte++) {
            once = once && !marks[at + byte];
            marks[at + byte] = true;
        }
    }
    return once;
}

static bool share_a_byte(const leat_array *a, const leat_array *b, const char *memory) {
    bool marks[2][BYTES] = {{false}}, shared = false;
    mark(a, memory, marks[0]);
    mark(b, memory, marks[1]);
    for (int k = 0; k < BYTES; k++)
        shared = shared || (marks[0][k] && marks[1][k]);
    return shared;
}

/* A random array with up to three axes, somewhere in the memory. */
static leat_array random_array(struct le_buffer *buffer, char *memory) {
    static const leat_dtype types[] = {LEAT_U8, LEAT_I16, LEAT_F32, LEAT_F64, LEAT_C128};
    for (;;) {
        leat_array a = {.dtype = types[random_between(0, 4)], .rank = (int)random_between(0, 3), .buffer = buffer};
        for (int k = 0; k < a.rank; k++) {
            a.shape[k] = random_between(random_between(0, 9) == 0 ? 0 : 1, 4);
            a.strides[k] = random_between(-9, 9);
        }
        const char *low, *high;
        a.data = memory + BYTES / 2;
        le_array_range(&a, &low, &high);
        if (high - low > BYTES)
            continue;
        int64_t size = (int64_t)le_type_size((enum le_type)a.dtype);
        int64_t first = (const char *)a.data - low, last = BYTES - (high - (const char *)a.data);
        a.data =
            memory + random_between(0, (last - first) / size) * size + first; /* may be misaligned, but is never read */
        return a;
    }
}

static void test_random(void **state) {
    (void)state;
    char memory[BYTES];
    struct le_buffer buffer = {.kind = LE_BUFFER_USER};
    int shared = 0, repeated = 0;
    for (int k = 0; k < CASES; k++) {
        bool marks[BYTES] = {false};
        leat_array a = random_array(&buffer, memory), b = random_array(&buffer, memory);
        bool shares = share_a_byte(&a, &b, memory), repeats = !mark(&a, memory, marks);
        shared += shares;
        repeated += repeats;
        if (le_array_shares(&a, &b) != shares || le_array_shares(&b, &a) != shares)
            fail_msg("case %d: two arrays that %s", k, shares ? "share memory" : "do not");
        if (le_array_repeats(&a) != repeats)
            fail_msg("case %d: an array that %s", k, repeats ? "repeats memory" : "does not");
    }
    assert_in_range(shared, CASES / 10, CASES * 9 / 10);
    assert_in_range(repeated, CASES / 10, CASES * 9 / 10);
}

/* Arrays too large to mark each element. */
static void test_views(void **state) {
    (void)state;
    struct le_memory_pool *pool = open_pool();
    leat_array *a = new_array(pool, LEAT_F64, 2, SHAPE(3000, 1001)), *even, *odd, *top, *turned, *middle;
    assert_ok(le_array_slice(a, SHAPE(0, 0), SHAPE(3000, 1001), SHAPE(2, 3), &even));
    assert_ok(le_array_slice(a, SHAPE(0, 1), SHAPE(3000, 1001), SHAPE(2, 3), &odd));
    assert_ok(le_array_slice(a, SHAPE(0, 0), SHAPE(1500, 1001), SHAPE(1, 1), &top));
    assert_ok(le_array_slice(a, SHAPE(1498, 1000), SHAPE(1600, -1), SHAPE(1, -1), &middle));
    assert_ok(le_array_transpose(odd, NULL, &turned));
    assert_true(le_array_overlaps(even, odd));
    assert_false(le_array_shares(even, odd));
    assert_false(le_array_shares(even, turned));
    assert_true(le_array_shares(odd, turned));
    assert_true(le_array_shares(a, turned));
    assert_true(le_array_shares(top, even));
    assert_true(le_array_shares(top, middle));
    assert_false(le_array_repeats(turned));
    leat_array *all[] = {a, even, odd, top, middle, turned};
    for (size_t k = 0; k < ARRAY_LEN(all); k++)
        le_array_free(all[k]);
    le_memory_pool_close(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_views)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
