/* The table of source lines at its limits and from many threads, and CPython's line tables byte by byte. */
#include "trace/recorder/source_lines.h"
#include "trace/recorder/source_table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

static uint32_t line(enum le_python_lines form, int32_t first, const void *bytes, size_t length, int64_t offset) {
    /* exactly this length, so that a sanitizer detects reads beyond it */
    unsigned char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    if (length)
        memcpy(copy, bytes, length);
    struct le_line_table table = {.bytes = copy, .length = length, .first_line = first};
    uint32_t found = le_line_at(&table, form, offset);
    free(copy);
    return found;
}

static void steps(void **state) {
    (void)state;
    static const unsigned char table[] = {6, 1, 255, 0, 50, 127, 0, 10, 8, 0xfe};
    assert_int_equal(line(LE_PYTHON_LNOTAB, 10, table, sizeof table, 0), 10);
    assert_int_equal(line(LE_PYTHON_LNOTAB, 10, table, sizeof table, 5), 10);
    assert_int_equal(line(LE_PYTHON_LNOTAB, 10, table, sizeof table, 6), 11);
    assert_int_equal(line(LE_PYTHON_LNOTAB, 10, table, sizeof table, 310), 11);
    assert_int_equal(line(LE_PYTHON_LNOTAB, 10, table, sizeof table, 311), 148);
    assert_int_equal(line(LE_PYTHON_LNOTAB, 10, table, sizeof table, 319), 146);
    assert_int_equal(line(LE_PYTHON_LNOTAB, 10, table, 9, 319), 148); /* cut */
    assert_int_equal(line(LE_PYTHON_LNOTAB, 10, table, 0, 4), 10);
}

static void ranges(void **state) {
    (void)state;
    static const unsigned char table[] = {4, 1, 6, 0x80, 0, 127, 8, 3, 2, 0xff};
    assert_int_equal(line(LE_PYTHON_RANGES, 10, table, sizeof table, 3), 11);
    assert_int_equal(line(LE_PYTHON_RANGES, 10, table, sizeof table, 4), 0); /* no line */
    assert_int_equal(line(LE_PYTHON_RANGES, 10, table, sizeof table, 10), 141);
    assert_int_equal(line(LE_PYTHON_RANGES, 10, table, sizeof table, 19), 140);
    assert_int_equal(line(LE_PYTHON_RANGES, 10, table, sizeof table, 20), 0);
}

static void locations(void **state) {
    (void)state;
    static const unsigned char table[] = {
        0x80 | 3 << 3 | 1, 0x11,             /* short: 2 code units on the same line */
        0x80 | 12 << 3,    0x01, 0x02,       /* 1 unit, two lines further */
        0x80 | 13 << 3,    0x43, 0x02,       /* no columns: a 12-bit number, 67 | 2 << 6: 65 lines back */
        0x80 | 14 << 3,    0x0a, 0x01, 1, 1, /* long: 5 lines further */
        0x80 | 15 << 3 | 7                   /* no line, 8 units */
    };
    assert_int_equal(line(LE_PYTHON_LOCATIONS, 100, table, sizeof table, 0), 100);
    assert_int_equal(line(LE_PYTHON_LOCATIONS, 100, table, sizeof table, 3), 100);
    assert_int_equal(line(LE_PYTHON_LOCATIONS, 100, table, sizeof table, 4), 102);
    assert_int_equal(line(LE_PYTHON_LOCATIONS, 100, table, sizeof table, 6), 37);
    assert_int_equal(line(LE_PYTHON_LOCATIONS, 100, table, sizeof table, 8), 42);
    assert_int_equal(line(LE_PYTHON_LOCATIONS, 100, table, sizeof table, 10), 0);
    assert_int_equal(line(LE_PYTHON_LOCATIONS, 100, table, sizeof table, 26), 0);
}

/* Arbitrary bytes: some line is returned, and nothing beyond the bytes is read. */
static void any_bytes(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int k = 0; k < 20000; k++) {
        unsigned char bytes[16];
        for (size_t i = 0; i < sizeof bytes; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (unsigned char)(random >> 40);
        }
        for (int form = LE_PYTHON_LNOTAB; form <= (int)LE_PYTHON_LOCATIONS; form++)
            line((enum le_python_lines)form, 1, bytes, (size_t)(k % 17), k % 40);
    }
}

static struct le_source_location *place_of(uint32_t number, size_t text_bytes) {
    struct le_source_location *location = calloc(1, sizeof *location);
    assert_non_null(location);
    location->line = number;
    location->function.length = (uint32_t)text_bytes;
    memset(location->function.bytes, 'x', text_bytes);
    memcpy(location->function.bytes, &number, sizeof number);
    return location;
}

/* Takes all records from the table, and checks that no piece is larger than asked for and that references follow what
 * they refer to. */
struct counts {
    uint32_t texts, sources, notes, bytes;
};
static struct counts take_all(struct le_source_table *table) {
    struct counts counts = {0};
    const void *records;
    size_t bytes;
    while ((bytes = le_source_table_take(table, 4096, &records))) {
        assert_true(bytes <= 4096);
        counts.bytes += (uint32_t)bytes;
        struct le_trace_record head;
        for (const char *at = records; bytes; at += head.bytes, bytes -= head.bytes) {
            uint32_t body[6];
            memcpy(&head, at, sizeof head);
            assert_true(head.bytes <= bytes && head.bytes % 8 == 0);
            memcpy(body, at + sizeof head,
                   head.bytes - sizeof head < sizeof body ? head.bytes - sizeof head : sizeof body);
            counts.texts += head.kind == LE_TRACE_STRING;
            counts.notes += head.kind == LE_TRACE_NOTE;
            if (head.kind == LE_TRACE_SOURCE) {
                counts.sources++;
                assert_true(body[1] < body[0] && body[2] <= counts.texts);
            } else if (head.kind == LE_TRACE_NOTE)
                assert_true(body[0] <= counts.texts);
        }
    }
    return counts;
}

/* Adds locations until the table is full, and returns how many there was room for. */
static uint32_t fill(struct le_source_table *table, size_t text_bytes, uint32_t most) {
    for (uint32_t k = 1; k <= most; k++) {
        struct le_source_location *location = place_of(k, text_bytes);
        uint64_t key = le_source_key(LE_KEY_LOCATION, &k, sizeof k);
        uint32_t number = le_source_table_locate(table, key, location);
        free(location);
        uint32_t source = le_source_table_find(table, key ^ 1);
        if (number && !source)
            source = le_source_table_chain(table, key ^ 1, &number, 1);
        if (!source)
            return k - 1;
        assert_int_equal(le_source_table_find(table, key), number);
        assert_int_equal(le_source_table_find(table, key ^ 1), source);
    }
    return most;
}

static void a_full_table_says_so_once(void **state) {
    (void)state;
    static const size_t text_bytes[] = {8, LE_SOURCE_TEXT_BYTES};
    for (int k = 0; k < 2; k++) {
        _Atomic uint32_t texts = 0;
        struct le_source_table *table = le_source_table_new(&texts);
        assert_non_null(table);
        uint32_t later = le_source_table_defer(table, 5, &(uintptr_t){4711}, 1);
        assert_int_equal(later, 1);
        uint32_t most = fill(table, text_bytes[k], 1 << 20);
        assert_true(most > 10000 && most < 1 << 20);
        assert_true(le_source_table_is_full(table));
        assert_int_equal(fill(table, text_bytes[k], 1 << 20),
                         most); /* known locations are still found, new ones are not added */
        le_source_table_note(table, "One more.");
        struct le_source_deferred deferred;
        assert_true(le_source_table_deferred(table, &deferred));
        assert_int_equal(deferred.source, later);
        assert_int_equal(deferred.addresses[0], 4711);
        assert_false(le_source_table_deferred(table, &(struct le_source_deferred){0}));
        le_source_table_define(table, later, &(uint32_t){0},
                               1); /* works although the table is full, because the number is in use */
        struct counts counts = take_all(table);
        assert_int_equal(counts.notes, 1);
        assert_in_range(counts.sources, most + 1, most + 2);
        assert_int_equal(counts.texts, texts);
        le_source_table_free(table);
    }
}

static void a_note_is_written_once(void **state) {
    (void)state;
    _Atomic uint32_t texts = 7;
    struct le_source_table *table = le_source_table_new(&texts);
    for (int k = 0; k < 3; k++)
        le_source_table_note(table, "Something is left out.");
    le_source_table_note(table, "And something else.");
    const void *records;
    assert_true(le_source_table_take(table, 4096, &records) > 0);
    assert_int_equal(texts, 9);
    assert_int_equal(take_all(table).notes, 0);
    le_source_table_free(table);
}

enum { THREADS = 4, NUMBERS = 3000 };
struct worker {
    struct le_source_table *table;
    uint32_t sources[NUMBERS];
};

static void *work(void *data) {
    struct worker *worker = data;
    for (uint32_t k = 0; k < NUMBERS; k++) {
        uint32_t places[3];
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t number = (k + i) % 500;
            struct le_source_location *location = place_of(number + 1, 16);
            places[i] =
                le_source_table_locate(worker->table, le_source_key(LE_KEY_LOCATION, &number, sizeof number), location);
            free(location);
        }
        uint64_t key = le_source_key(LE_KEY_CHAIN, &k, sizeof k);
        worker->sources[k] = le_source_table_find(worker->table, key);
        if (!worker->sources[k])
            worker->sources[k] = le_source_table_chain(worker->table, key, places, 3);
    }
    return NULL;
}

static void threads_agree(void **state) {
    (void)state;
    _Atomic uint32_t texts = 0;
    struct le_source_table *table = le_source_table_new(&texts);
    struct worker *workers = calloc(THREADS, sizeof *workers);
    pthread_t threads[THREADS];
    for (int k = 0; k < THREADS; k++) {
        workers[k].table = table;
        assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    for (int k = 1; k < THREADS; k++)
        assert_memory_equal(workers[k].sources, workers[0].sources, sizeof workers[0].sources);
    struct counts counts = take_all(table);
    assert_int_equal(counts.texts, 500);
    assert_int_equal(counts.sources, 1500);
    free(workers);
    le_source_table_free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),
        cmocka_unit_test(ranges),
        cmocka_unit_test(locations),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(a_full_table_says_so_once),
        cmocka_unit_test(a_note_is_written_once),
        cmocka_unit_test(threads_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
