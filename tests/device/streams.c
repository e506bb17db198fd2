/* Streams: work on shared arrays is ordered in any streams; tickets; streams that are freed with work in them, streams
 * of other libraries, and streams of several threads. */
#include "work.h"
#include <pthread.h>
#include <stdatomic.h>

/* The same on the host. */
static void model_mix(unsigned *y, const unsigned *x) {
    for (int k = 0; k < WORDS; k++)
        y[k] = 3 * y[k] + x[k];
}

static unsigned model_checksum(const unsigned *values) {
    unsigned sum = 0;
    for (unsigned k = 0; k < WORDS; k++)
        sum = sum * 31 + values[k];
    return sum;
}

static void test_own_stream(void **state) {
    (void)state;
    leat_array *y = words(LEAT_MEMORY_DEVICE, 1), *x = words(LEAT_MEMORY_DEVICE, 7);
    for (int k = 0; k < 10; k++)
        assert_ok(mix(NULL, y, x));
    say("ten in the context's own stream: %08x", checksum(y));
    leat_array_free(y);
    leat_array_free(x);
}

/* Random operations on four arrays in five streams, compared with the same operations in sequence. */
static void test_hazards(void **state) {
    enum { ARRAYS = 4, STREAMS = 5, OPERATIONS = 300 };
    (void)state;
    unsigned seed = 11;
    leat_array *arrays[ARRAYS];
    leat_stream *streams[STREAMS];
    unsigned *model[ARRAYS];
    for (unsigned k = 0; k < ARRAYS; k++) {
        arrays[k] = words(k == 3 ? LEAT_MEMORY_MAPPED : LEAT_MEMORY_DEVICE, 100 * k);
        model[k] = malloc(WORDS * sizeof **model);
        for (unsigned m = 0; m < WORDS; m++)
            model[k][m] = 100 * k + m;
    }
    for (int k = 0; k < STREAMS; k++)
        streams[k] = new_stream();
    for (int k = 0; k < OPERATIONS; k++) {
        int y = rand_r(&seed) % ARRAYS, x = (y + 1 + rand_r(&seed) % (ARRAYS - 1)) % ARRAYS,
            s = rand_r(&seed) % STREAMS;
        if (rand_r(&seed) % 4 == 0) {
            leat_ticket ticket;
            assert_ok(leat_array_copy(arrays[y], arrays[x], streams[s], &ticket));
            memcpy(model[y], model[x], WORDS * sizeof **model);
        } else {
            assert_ok(mix(streams[s], arrays[y], arrays[x]));
            model_mix(model[y], model[x]);
        }
        if (rand_r(&seed) % 25 == 0) { /* a temporary, released at once */
            leat_array *temporary = NULL;
            assert_ok(leat_array_new_empty(ctx, LEAT_U32, 1, SHAPE(WORDS), LEAT_MEMORY_DEVICE, &temporary));
            assert_ok(leat_array_copy(temporary, arrays[x], streams[s], &(leat_ticket){0}));
            assert_ok(mix(streams[(s + 1) % STREAMS], arrays[y], temporary));
            model_mix(model[y], model[x]);
            leat_array_free(temporary);
        }
        if (rand_r(&seed) % 60 == 0) {
            leat_stream_free(streams[s]);
            streams[s] = new_stream();
        }
    }
    for (int k = 0; k < ARRAYS; k++) {
        unsigned sum = checksum(arrays[k]);
        say("array %d after %d operations in %d streams: %08x", k, OPERATIONS, STREAMS, sum);
        assert_int_equal(sum, model_checksum(model[k]));
        leat_array_free(arrays[k]);
        free(model[k]);
    }
    for (int k = 0; k < STREAMS; k++)
        leat_stream_free(streams[k]);
}

static void test_many_readers(void **state) {
    enum { READERS = 12 };
    (void)state;
    leat_array *x = words(LEAT_MEMORY_DEVICE, 5), *y[READERS];
    leat_stream *streams[READERS];
    for (int k = 0; k < READERS; k++) {
        streams[k] = new_stream();
        y[k] = words(LEAT_MEMORY_DEVICE, (unsigned)k);
    }
    for (int round = 0; round < 5; round++) {
        for (int k = 0; k < READERS; k++)
            assert_ok(mix(streams[k], y[k], x));
        assert_ok(mix(streams[round], x, y[round])); /* after all of them */
    }
    for (int k = 0; k < READERS; k++) {
        say("reader %d: %08x", k, checksum(y[k]));
        leat_array_free(y[k]);
        leat_stream_free(streams[k]);
    }
    say("what they read: %08x", checksum(x));
    leat_array_free(x);
}

static void test_tickets(void **state) {
    (void)state;
    leat_stream *stream = new_stream();
    leat_array *y = words(LEAT_MEMORY_DEVICE, 1), *x = words(LEAT_MEMORY_DEVICE, 2);
    static unsigned back[WORDS];
    leat_ticket none = {0}, first, second, read;
    assert_ok(leat_ticket_wait(ctx, none));
    assert_ok(leat_stream_ticket(ctx, stream, &first));
    assert_ok(leat_ticket_wait(ctx, first)); /* the stream has no work */
    assert_ok(spin(stream, y, 20000));
    assert_ok(mix(stream, y, x));
    assert_ok(leat_stream_ticket(ctx, stream, &second));
    assert_ok(leat_array_read(y, back, sizeof back, stream, &read));
    assert_true(second.number >= first.number && second.stream_id == first.stream_id);
    assert_ok(leat_ticket_wait(ctx, second));
    leat_stream_free(stream);
    assert_ok(leat_ticket_wait(ctx, read)); /* the stream was freed, its work continues */
    say("read through a stream that was freed: %08x", model_checksum(back));
    assert_status(leat_ticket_wait(ctx, (leat_ticket){.stream_id = 1u << 30, .number = 1}), LEAT_INVALID);
    leat_array_free(y);
    leat_array_free(x);
}

static void test_wrapped(void **state) {
    (void)state;
    leat_stream *theirs = new_stream(), *wrapped = NULL;
    leat_array *y = words(LEAT_MEMORY_DEVICE, 1), *x = words(LEAT_MEMORY_DEVICE, 2);
    void *native = NULL, *again = NULL;
    assert_ok(leat_stream_native(theirs, &native));
    if (on_cpu()) {
        assert_null(native);
        assert_status(leat_stream_wrap(ctx, y, &wrapped), LEAT_INVALID);
        for (int k = 0; k < 3; k++)
            assert_ok(mix(theirs, y, x));
    } else {
        assert_ok(leat_stream_wrap(ctx, native, &wrapped));
        assert_ok(leat_stream_native(wrapped, &again));
        assert_ptr_equal(native, again);
        assert_ok(mix(NULL, y, x));
        assert_ok(mix(wrapped, y, x));
        assert_ok(leat_stream_synchronize(wrapped));
        assert_ok(mix(NULL, y, x));
        assert_ok(mix(theirs, x, x));
        leat_ticket ticket;
        assert_ok(leat_stream_ticket(ctx, wrapped, &ticket)); /* also covers work that others enqueued */
        assert_ok(leat_ticket_wait(ctx, ticket));
        leat_stream_free(wrapped);
    }
    say("in a wrapped stream and out of it: %08x", checksum(y));
    leat_stream_free(theirs);
    leat_array_free(y);
    leat_array_free(x);
}

static void test_other_context(void **state) {
    (void)state;
    leat_context *other = open_device(NULL);
    leat_stream *elsewhere = NULL;
    leat_ticket ticket;
    assert_ok(leat_stream_new(other, &elsewhere));
    assert_status(leat_stream_ticket(ctx, elsewhere, &ticket), LEAT_INVALID);
    say_failure(LEAT_INVALID);
    leat_stream_free(elsewhere);
    leat_close(other);
}

static void test_come_and_go(void **state) {
    enum { ROUNDS = 200 };
    (void)state;
    leat_array *y = words(LEAT_MEMORY_DEVICE, 1), *x = words(LEAT_MEMORY_DEVICE, 2);
    for (int k = 0; k < ROUNDS; k++) {
        leat_stream *stream = new_stream();
        assert_ok(mix(stream, y, x));
        leat_stream_free(stream); /* with work in it */
    }
    assert_ok(leat_context_synchronize(ctx));
    say("%d streams, each freed with work in it: %08x", ROUNDS, checksum(y));
    leat_array_free(y);
    leat_array_free(x);
}

/* ---- threads, each with a stream of its own */

enum { THREADS = 4 };
struct party {
    pthread_t thread;
    leat_array *shared, *own;
    leat_status status;
};

static void *work(void *argument) {
    struct party *party = argument;
    leat_stream *stream = NULL;
    party->status = leat_stream_new(ctx, &stream);
    for (int k = 0; k < 50 && !party->status; k++) {
        leat_array *temporary = NULL;
        leat_ticket ticket = {0};
        party->status = leat_array_new_empty(ctx, LEAT_U32, 1, SHAPE(WORDS), LEAT_MEMORY_DEVICE, &temporary);
        if (!party->status)
            party->status = leat_array_copy(temporary, party->shared, stream, &ticket);
        if (!party->status)
            party->status = mix(stream, party->own, temporary);
        if (!party->status && k % 10 == 0)
            party->status = leat_ticket_wait(ctx, ticket);
        leat_array_free(temporary);
    }
    leat_stream_free(stream);
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    struct party parties[THREADS];
    leat_array *shared = words(LEAT_MEMORY_DEVICE, 3);
    for (unsigned k = 0; k < THREADS; k++) {
        parties[k] = (struct party){.shared = shared, .own = words(LEAT_MEMORY_DEVICE, k)};
        assert_int_equal(pthread_create(&parties[k].thread, NULL, work, &parties[k]), 0);
    }
    for (unsigned k = 0; k < THREADS; k++) {
        pthread_join(parties[k].thread, NULL);
        assert_ok(parties[k].status);
        say("thread %u: %08x", k, checksum(parties[k].own));
        leat_array_free(parties[k].own);
    }
    leat_array_free(shared);
}

/* Threads wait for the whole device, while copies from pageable memory begin in a stream that other streams wait for.
 */
static atomic_bool waiting_ends;

static void *wait_on(void *unused) {
    leat_status status = LEAT_OK;
    (void)unused;
    while (!atomic_load(&waiting_ends) && !status)
        status = leat_context_synchronize(ctx);
    return status ? &waiting_ends : NULL;
}

static void test_waiting_threads(void **state) {
    enum { COUNT = 70000, TURNS = 400 };
    (void)state;
    pthread_t threads[THREADS];
    leat_array *first, *second;
    leat_stream *s, *t;
    leat_ticket ticket;
    unsigned *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out), wrong = 0;
    assert_ok(leat_array_new(ctx, LEAT_U32, 1, SHAPE(COUNT), LEAT_MEMORY_DEVICE, &first));
    assert_ok(leat_array_new(ctx, LEAT_U32, 1, SHAPE(COUNT), LEAT_MEMORY_DEVICE, &second));
    assert_ok(leat_stream_new(ctx, &s));
    assert_ok(leat_stream_new(ctx, &t));
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, wait_on, NULL), 0);
    for (unsigned turn = 1; turn <= TURNS; turn++) {
        for (int k = 0; k < COUNT; k++)
            in[k] = turn;
        assert_ok(leat_array_write(first, in, COUNT * sizeof *in, s, &ticket));
        assert_ok(leat_array_copy(second, first, t, &ticket));
        assert_ok(leat_array_read(second, out, COUNT * sizeof *out, t, NULL));
        wrong += memcmp(in, out, COUNT * sizeof *in) != 0;
    }
    atomic_store(&waiting_ends, true);
    for (int k = 0; k < THREADS; k++) {
        void *failed;
        pthread_join(threads[k], &failed);
        assert_null(failed);
    }
    assert_int_equal(wrong, 0);
    leat_stream_free(s);
    leat_stream_free(t);
    leat_array_free(first);
    leat_array_free(second);
    free(in);
    free(out);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_stream),  cmocka_unit_test(test_hazards), cmocka_unit_test(test_many_readers),
        cmocka_unit_test(test_tickets),     cmocka_unit_test(test_wrapped), cmocka_unit_test(test_other_context),
        cmocka_unit_test(test_come_and_go), cmocka_unit_test(test_threads), cmocka_unit_test(test_waiting_threads),
    };
    if (!start(count, arguments) || !work_begin(NULL))
        return SKIPPED;
    int failed = cmocka_run_group_tests_name(device_name, tests, NULL, NULL);
    work_end();
    return failed;
}
