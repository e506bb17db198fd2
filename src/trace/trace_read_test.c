/* The reader: files with one or more parts, damaged files, a file cut at every byte and with every bit flipped. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "trace/trace_testing.h"

static const char *text(const struct le_trace_index *index, int32_t position) {
    return index->texts.at[position];
}

static bool has_note(const struct le_trace_index *index, const char *part) {
    for (int32_t k = 0; k < index->notes.count; k++)
        if (strstr(index->notes.at[k], part))
            return true;
    return false;
}

/* Checks that all positions in the index are valid and its tables are sorted. */
static void check_index(const struct le_trace_index *index) {
    for (int32_t k = 0; k < index->operations.count; k++) {
        const struct le_operation *operation = &index->operations.at[k];
        assert_true(operation->start_ns && operation->start_ns <= operation->end_ns);
        assert_true(k == 0 || index->operations.at[k - 1].start_ns <= operation->start_ns);
        assert_in_range(operation->name, 0, index->texts.count - 1);
        assert_in_range(operation->shape, 0, index->shapes.count - 1);
        assert_in_range(operation->stream, 0, index->streams.count - 1);
        assert_true(operation->call >= LE_NONE && operation->call < index->calls.count);
    }
    for (int32_t k = 0; k < index->calls.count; k++) {
        const struct le_call *call = &index->calls.at[k];
        assert_true(call->start_ns && call->start_ns <= call->end_ns);
        assert_true(k == 0 || index->calls.at[k - 1].start_ns <= call->start_ns);
        assert_in_range(call->thread, 0, index->threads.count - 1);
        assert_in_range(call->function, 0, index->texts.count - 1);
        assert_true(call->source >= LE_NONE && call->source < index->sources.count);
        assert_true(call->transfer >= LE_NONE && call->transfer < index->transfers.count);
        assert_true(call->operation >= LE_NONE && call->operation < index->operations.count);
        assert_true(call->operation == LE_NONE || index->operations.at[call->operation].call == k);
    }
    for (int32_t k = 0; k < index->sources.count; k++)
        assert_true(index->sources.at[k].parent < k);
    for (int32_t k = 0; k < index->waits.count; k++) {
        assert_true(index->waits.at[k].call < index->calls.count && index->waits.at[k].stream < index->streams.count);
        assert_true(index->waits.at[k].device >= LE_NONE && index->waits.at[k].device < index->devices.count);
    }
    for (int32_t k = 0; k < index->uses.count; k++) {
        assert_in_range(index->uses.at[k].process, 0, index->processes.count - 1);
        assert_in_range(index->uses.at[k].device, 0, index->devices.count - 1);
    }
    for (int32_t k = 0; k < index->streams.count; k++)
        assert_true(index->streams.at[k].device < index->devices.count);
}

static void make_small(struct le_made_trace *made) {
    le_made_part(made, 100);
    le_made_process(made, "python3 app.py", "Python 3.12.1");
    le_made_device(made, 0, "H200", 132);
    le_made_thread(made, 5, "main");
    le_made_switch(made, 500, true);
    uint32_t outer = le_made_source(made, "main", "app.py", 40, 0);
    uint32_t inner = le_made_source(made, "step", "app.py", 12, outer);
    le_made_flush(made);
    uint32_t call = le_made_call_from(made, 5, "cudaLaunchKernel_v7000", 1000, 3000, inner);
    le_made_call(made, 5, "cuLaunchKernel", 1500, 2000);
    le_made_kernel(made, call, 7, "saxpy", 4500, 2000, 132, 256);
    uint32_t copy = le_made_call_from(made, 5, "cudaMemcpy_ptds", 5000, 3000, outer);
    le_made_transfer(made, copy, 0x1000, 0x2000, 4096, 77);
    le_made_copy(made, copy, 7, LE_TRACE_DTOH, LE_TRACE_PAGEABLE, false, 4096, 7000, 500);
    le_made_end(made, 9000, 123);
    le_made_flush(made);
}

static void reads_a_part(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    make_small(&made);
    struct le_trace_index *index = le_made_index(&made);
    check_index(index);
    assert_int_equal(index->processes.count, 1);
    assert_string_equal(text(index, index->processes.at[0].command), "python3 app.py");
    assert_true(index->processes.at[0].ended && !index->processes.at[0].is_cut);
    assert_true(index->processes.at[0].recorder_ns == 123 && !index->processes.at[0].is_switched);
    assert_true(index->start_ns == 500 && index->end_ns == 9000);
    assert_int_equal(index->notes.count, 0);
    assert_int_equal(index->operations.count, 2);
    assert_int_equal(index->calls.count, 2); /* the driver call is inside the runtime call */
    const struct le_operation *kernel = &index->operations.at[0];
    assert_string_equal(text(index, kernel->name), "saxpy");
    assert_true(kernel->kind == LE_OPERATION_KERNEL && kernel->start_ns == 4500 && kernel->end_ns == 6500);
    assert_int_equal(index->shapes.at[kernel->shape].grid[0], 132);
    const struct le_stream *stream = &index->streams.at[kernel->stream];
    assert_true(stream->is_null && stream->id == 7 && stream->device == 0);
    const struct le_call *launch = &index->calls.at[kernel->call];
    assert_string_equal(text(index, launch->function), "cudaLaunchKernel");
    assert_int_equal(launch->kind, LE_CALL_LAUNCH);
    assert_int_equal(index->sources.at[launch->source].line, 12);
    assert_int_equal(index->sources.at[index->sources.at[launch->source].parent].line, 40);
    const struct le_call *copy = &index->calls.at[index->operations.at[1].call];
    assert_string_equal(text(index, copy->function), "cudaMemcpy");
    assert_int_equal(copy->kind, LE_CALL_COPY);
    assert_true(index->transfers.at[copy->transfer].sample == 77);
    assert_string_equal(text(index, index->operations.at[1].name), "[copy device to host]");
    le_trace_free(index);
    le_made_finish(&made);
}

/* An operation may have the correlation of an inner call. The operations of a graph share a correlation. */
static void links_graphs_and_inner_calls(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    le_made_part(&made, 1);
    le_made_call(&made, 5, "cudaGraphLaunch", 1000, 1000);
    uint32_t inner = le_made_call(&made, 5, "cuGraphLaunch", 1000, 1000);
    le_made_call(&made, 6, "cuStreamSynchronize", 1200, 500); /* on another thread, so not inside */
    le_made_kernel(&made, inner, 13, "b", 4000, 100, 1, 32);
    le_made_kernel(&made, inner, 13, "a", 3000, 100, 1, 32);
    le_made_kernel(&made, 999, 13, "nobody's", 5000, 100, 1, 32);
    struct le_trace_index *index = le_made_index(&made);
    check_index(index);
    assert_int_equal(index->calls.count, 2);
    assert_string_equal(text(index, index->calls.at[0].function), "cudaGraphLaunch");
    assert_int_equal(index->calls.at[0].operation, 0);
    assert_int_equal(index->operations.at[1].call, 0);
    assert_int_equal(index->operations.at[2].call, LE_NONE);
    assert_true(has_note(index, "did not end normally"));
    le_trace_free(index);
    le_made_finish(&made);
}

/* Two parts that are interleaved in time, with their own correlations and texts, and shared devices. */
static void joins_processes(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    for (uint32_t process = 1; process <= 2; process++) {
        le_made_part(&made, process);
        made.correlation = 0;
        le_made_device(&made, 0, "H200", 132);
        for (uint64_t k = 0; k < 100; k++) {
            uint32_t call = le_made_call(&made, 5, "cuLaunchKernel", 1000 * k + 100 * process, 50);
            le_made_kernel(&made, call, 13, process == 1 ? "one" : "two", 1000 * k + 100 * process + 60, 30, 1, 32);
        }
        le_made_end(&made, 200000, 0);
    }
    struct le_trace_index *index = le_made_index(&made);
    check_index(index);
    assert_int_equal(index->devices.count, 1);
    assert_int_equal(index->processes.count, 2);
    assert_int_equal(index->operations.count, 200);
    for (int32_t k = 0; k < 200; k++) {
        const struct le_operation *operation = &index->operations.at[k];
        const struct le_call *call = &index->calls.at[operation->call];
        assert_string_equal(text(index, operation->name), k % 2 ? "two" : "one");
        assert_true(call->start_ns + 60 == operation->start_ns);
        assert_int_equal(index->threads.at[call->thread].process, k % 2);
    }
    le_trace_free(index);
    le_made_finish(&made);
}

static struct le_trace_index *two_workers(uint8_t first_uuid, uint32_t first, uint8_t second_uuid, uint32_t second) {
    struct le_made_trace made = {0};
    for (uint32_t process = 1; process <= 2; process++) {
        le_made_part(&made, process);
        made.correlation = 0;
        made.uuid = process == 1 ? first_uuid : second_uuid;
        le_made_device(&made, process == 1 ? first : second, "H200", 132);
        le_made_kernel(&made, 0, 7, "kernel", 1000 * process, 100, 1, 32);
        le_made_end(&made, 9000, 0);
    }
    struct le_trace_index *index = le_made_index(&made);
    check_index(index);
    le_made_finish(&made);
    return index;
}

/* Device numbers are valid within a process only; a UUID identifies the device. */
static void devices_are_known_by_their_uuid(void **state) {
    (void)state;
    struct le_trace_index *index = two_workers(0xa0, 0, 0xb0, 0);
    assert_int_equal(index->devices.count, 2);
    assert_string_equal(text(index, (int32_t)index->devices.at[0].name), "H200 GPU-a0000000");
    assert_string_equal(text(index, (int32_t)index->devices.at[1].name), "H200 GPU-b0000000");
    le_trace_free(index);
    index = two_workers(0xa0, 0, 0xa0, 3);
    assert_int_equal(index->devices.count, 1);
    assert_string_equal(text(index, (int32_t)index->devices.at[0].name), "H200");
    assert_true(index->streams.at[0].device == 0 && index->streams.at[1].device == 0);
    le_trace_free(index);
    index = two_workers(0, 0, 0xa0, 0); /* one trace is older and has no UUID; all its properties are equal */
    assert_int_equal(index->devices.count, 1);
    le_trace_free(index);
    index = two_workers(0, 0, 0, 3);
    assert_int_equal(index->devices.count, 2);
    le_trace_free(index);
}

static void a_number_alone_is_ambiguous(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    for (uint32_t process = 1; process <= 3; process++) {
        le_made_part(&made, process);
        le_made_kernel(&made, 0, 7, "kernel", 1000 * process, 100, 1, 32);
        le_made_end(&made, 9000, 0);
    }
    struct le_trace_index *index = le_made_index(&made);
    check_index(index);
    assert_int_equal(index->devices.count, 3);
    assert_int_equal(index->notes.count, 1);
    assert_true(has_note(index, "device 0 has no UUID in 3 processes: it may be one device or several"));
    le_trace_free(index);
    le_made_finish(&made);
}

/* A wait's device is that of its context, which is known from the context's record, before or after the wait, or from
 * the work in its streams. */
static void waits_have_a_device(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    le_made_part(&made, 1);
    made.device = 1;
    le_made_sync(&made, le_made_call(&made, 5, "cuCtxSynchronize", 1000, 50), LE_TRACE_SYNC_CONTEXT, LE_TRACE_NO_STREAM,
                 1000, 50);
    le_made_device(&made, 0, "H200", 132);
    le_made_device(&made, 1, "H200", 132);
    made.device = 2; /* no record describes it */
    le_made_kernel(&made, 0, 13, "kernel", 1500, 50, 1, 32);
    le_made_sync(&made, le_made_call(&made, 5, "cuCtxSynchronize", 2000, 50), LE_TRACE_SYNC_CONTEXT, LE_TRACE_NO_STREAM,
                 2000, 50);
    made.device = 3; /* nothing is known about it */
    le_made_sync(&made, le_made_call(&made, 5, "cuCtxSynchronize", 3000, 50), LE_TRACE_SYNC_CONTEXT, LE_TRACE_NO_STREAM,
                 3000, 50);
    le_made_end(&made, 9000, 0);
    struct le_trace_index *index = le_made_index(&made);
    check_index(index);
    assert_int_equal(index->waits.count, 3);
    assert_int_equal(index->devices.at[index->waits.at[0].device].id, 1);
    assert_int_equal(index->devices.at[index->waits.at[1].device].id, 2);
    assert_int_equal(index->waits.at[2].device, LE_NONE);
    assert_int_equal(index->uses.count, 3);
    le_trace_free(index);
    le_made_finish(&made);
}

/* A part with a different clock: its times are shifted by the difference of the wall clocks. */
static void moves_clocks(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    for (uint64_t k = 0; k < 2; k++) {
        struct le_trace_header *header;
        size_t at = made.file.length;
        le_made_part(&made, 1);
        header = (struct le_trace_header *)(void *)(made.file.at + at);
        header->unix_ns = 5000000000 + 100 * k; /* the second part's clock is 2 s behind and was read 100 ns later */
        header->time_ns = 3000000000 - 2000000000 * k;
        header->checksum = le_hash(header, offsetof(struct le_trace_header, checksum), 0);
        le_made_kernel(&made, 0, 13, "k", header->time_ns + 10, 5, 1, 32);
        le_made_flush(&made);
    }
    struct le_trace_index *index = le_made_index(&made);
    assert_int_equal(index->operations.count, 2);
    assert_true(index->operations.at[0].start_ns == 3000000010);
    assert_true(index->operations.at[1].start_ns == 3000000110);
    le_trace_free(index);
    le_made_finish(&made);
}

static void reads_pauses(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    le_made_part(&made, 1);
    le_made_switch(&made, 100, false);
    le_made_switch(&made, 1000, true);
    uint32_t call = le_made_call(&made, 5, "cuLaunchKernel", 1100, 50);
    le_made_switch(&made, 2000, false);
    le_made_switch(&made, 3000, true);
    le_made_switch(&made, 4000, false);
    le_made_kernel(&made, call, 7, "in time", 4100, 50, 1, 32);     /* by its call */
    le_made_kernel(&made, call + 1, 7, "in time", 3100, 50, 1, 32); /* by its start */
    le_made_kernel(&made, call + 2, 7, "too early", 500, 50, 1, 32);
    le_made_kernel(&made, call + 3, 7, "in the pause", 2500, 50, 1, 32);
    le_made_kernel(&made, call + 4, 7, "too late", 4500, 50, 1, 32);
    le_made_end(&made, 9000, 0);
    struct le_trace_index *index = le_made_index(&made);
    assert_int_equal(index->operations.count, 2);
    assert_string_equal(index->texts.at[index->operations.at[0].name], "in time");
    assert_string_equal(index->texts.at[index->operations.at[1].name], "in time");
    assert_true(index->processes.at[0].is_switched);
    assert_int_equal(index->pauses.count, 1);
    assert_true(index->pauses.at[0].start_ns == 2000 && index->pauses.at[0].end_ns == 3000);
    assert_true(index->start_ns == 1000 && index->end_ns == 4150);
    le_trace_free(index);
    le_made_finish(&made);
}

/* Invalid records: numbers out of range, invalid times, lengths that are too short. */
static void rejects_invalid_records(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    le_made_part(&made, 1);
    struct le_trace_call call = {.start_ns = 5000, .end_ns = 4000, .thread = 77, .function = 55, .library = 9};
    struct le_trace_copy copy = {.start_ns = 1, .end_ns = UINT64_MAX, .direction = 1};
    struct le_trace_copy odd = {
        .start_ns = 1, .end_ns = 2, .direction = 200, .from = 99, .to = 98, .is_async = 7, .device = UINT32_MAX};
    struct le_trace_source source = {.id = 1, .parent = 1, .line = UINT32_MAX, .language = 12};
    struct le_trace_string string = {.id = 3, .length = UINT32_MAX};
    struct le_trace_sync sync = {.start_ns = 1, .end_ns = 2, .kind = 99};
    LE_MADE_RECORD(&made, LE_TRACE_CALL, call);
    LE_MADE_RECORD(&made, LE_TRACE_COPY, copy);
    LE_MADE_RECORD(&made, LE_TRACE_COPY, odd);
    LE_MADE_RECORD(&made, LE_TRACE_SOURCE, source);
    LE_MADE_RECORD(&made, LE_TRACE_STRING, string);
    LE_MADE_RECORD(&made, LE_TRACE_SYNC, sync);
    LE_MADE_RECORD(&made, LE_TRACE_KERNEL, string);
    LE_MADE_RECORD(&made, (enum le_trace_kind)4242, string);
    le_made_kernel(&made, 1, 3, "evil \x1b[2J\n\xff name", 10, 10, 1, 1);
    struct le_trace_index *index = le_made_index(&made);
    check_index(index);
    assert_int_equal(index->calls.count, 1);
    assert_true(index->calls.at[0].end_ns == 5000);
    assert_int_equal(index->operations.count, 2);
    assert_int_equal(index->streams.at[index->operations.at[0].stream].device, LE_NONE);
    assert_string_equal(text(index, index->operations.at[1].name), "evil  [2J \xef\xbf\xbd name");
    assert_true(has_note(index, "1 record without times"));
    assert_true(has_note(index, "3 invalid records skipped"));
    le_trace_free(index);
    le_made_finish(&made);
}

static void rejects_files_that_are_no_traces(void **state) {
    (void)state;
    struct le_trace_index *index;
    static const unsigned char other[100] = "\x7f"
                                            "ELF and so on";
    assert_int_equal(le_made_read(other, sizeof other, &index), LEAT_FILE);
    assert_null(index);
    assert_int_equal(le_made_read(other, 0, &index), LEAT_FILE);
    assert_int_equal(le_trace_read("/nowhere/at.all", &index), LEAT_FILE);
    assert_int_equal(le_trace_read("/", &index), LEAT_FILE);
    struct le_made_trace made = {0};
    le_made_part(&made, 1);
    struct le_trace_header *header = (struct le_trace_header *)(void *)made.file.at;
    header->version = 2;
    header->checksum = le_hash(header, offsetof(struct le_trace_header, checksum), 0);
    assert_int_equal(le_made_read(made.file.at, made.file.length, &index), LEAT_FILE);
    assert_non_null(strstr(le_error_at(0)->message, "version 2"));
    le_made_finish(&made);
}

/* Texts are UTF-8 that is safe for terminals and XML, whatever the program's names are. */
static void texts_can_be_shown(void **state) {
    (void)state;
    static const struct {
        const char *name, *shown;
    } cases[] = {
        {"\xef\xbf\xbe!", "\xef\xbf\xbd!"},         /* U+FFFE is not allowed in XML */
        {"\xef\xbf\xbf!", "\xef\xbf\xbd!"},         /* U+FFFF */
        {"\xe2\x80\xae!", "\xef\xbf\xbd!"},         /* U+202E changes the direction of text */
        {"\xe2\x81\xa6!", "\xef\xbf\xbd!"},         /* and so does U+2066 */
        {"\xc2\x9b!", "\xef\xbf\xbd!"},             /* U+009B starts a terminal command */
        {"\xe2\x80\xa6!", "\xe2\x80\xa6!"},         /* U+2026 is text */
        {"\xf0\x9f\x98\x80!", "\xf0\x9f\x98\x80!"}, /* and so is U+1F600 */
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        struct le_made_trace made = {0};
        le_made_part(&made, 1);
        le_made_kernel(&made, 1, 3, cases[k].name, 10, 10, 1, 1);
        struct le_trace_index *index = le_made_index(&made);
        assert_string_equal(text(index, index->operations.at[0].name), cases[k].shown);
        le_trace_free(index);
        le_made_finish(&made);
    }
}

/* A note that is too long is cut at the beginning of a character. */
static void notes_are_cut_between_characters(void **state) {
    (void)state;
    for (size_t before = 0; before < 4; before++) {
        char said[1024] = "";
        memset(said, 'a', before);
        for (size_t k = 0; k < 200; k++)
            memcpy(said + before + 4 * k, "\xf0\x9f\x98\x80", 4);
        struct le_made_trace made = {0};
        le_made_part(&made, 1);
        struct le_trace_note note = {.text = le_made_text(&made, said)};
        LE_MADE_RECORD(&made, LE_TRACE_NOTE, note);
        struct le_trace_index *index = le_made_index(&made);
        size_t length = strlen(index->notes.at[0]);
        assert_in_range(length, 508, 511);
        assert_int_equal((length - before) % 4, 0);
        assert_memory_equal(index->notes.at[0], said, length);
        le_trace_free(index);
        le_made_finish(&made);
    }
}

static void finds_the_next_part(void **state) {
    (void)state;
    struct le_made_trace made = {0}, cut = {0};
    make_small(&cut);
    for (int k = 0; k < 3; k++) {
        make_small(&made);
        if (k == 1)
            made.file.length -= 13;
    }
    struct le_trace_index *index = le_made_index(&made);
    check_index(index);
    assert_int_equal(index->processes.count, 3);
    assert_int_equal(index->operations.count, 4);
    assert_true(!index->processes.at[0].is_cut && index->processes.at[1].is_cut && !index->processes.at[2].is_cut);
    assert_false(index->processes.at[1].ended);
    assert_true(has_note(index, "damaged or cut off"));
    le_trace_free(index);
    le_made_finish(&cut);
    le_made_finish(&made);
}

/* A block in the middle is damaged or missing: the others are read. */
static void skips_a_damaged_block(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    size_t ends[3];
    le_made_part(&made, 1);
    for (uint64_t k = 0; k < 3; k++) {
        le_made_kernel(&made, 0, 13, "k", 1000 * k + 1, 5, 1, 32);
        le_made_flush(&made);
        ends[k] = made.file.length;
    }
    for (int missing = 0; missing < 2; missing++) {
        made.file.at[ends[0] + 40] ^= 1;
        if (missing)
            memmove(made.file.at + ends[0], made.file.at + ends[1], ends[2] - ends[1]);
        struct le_trace_index *index;
        assert_int_equal(le_made_read(made.file.at, missing ? ends[0] + ends[2] - ends[1] : ends[2], &index), LEAT_OK);
        check_index(index);
        assert_int_equal(index->operations.count, 2);
        assert_true(index->processes.at[0].is_cut);
        assert_true(has_note(index, missing ? "1 block of records missing from the file" : "damaged or cut off"));
        le_trace_free(index);
    }
    le_made_finish(&made);
}

/* Reading succeeds, or fails with an error message of one line. */
static void check_damaged(const unsigned char *bytes, size_t size_bytes, int32_t operations_most) {
    struct le_trace_index *index;
    leat_status status = le_made_read(bytes, size_bytes, &index);
    if (status) {
        assert_int_equal(status, LEAT_FILE);
        assert_null(index);
        assert_null(strchr(le_error_at(0)->message, '\n'));
        return;
    }
    check_index(index);
    assert_in_range(index->operations.count, 0, operations_most);
    assert_true(index->operations.count == operations_most || index->notes.count > 0);
    le_trace_free(index);
}

static void survives_every_cut(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    make_small(&made);
    for (size_t length = 0; length < made.file.length; length++)
        check_damaged(made.file.at, length, 2);
    le_made_finish(&made);
}

static void survives_every_flipped_bit(void **state) {
    (void)state;
    struct le_made_trace made = {0};
    make_small(&made);
    for (size_t bit = 0; bit < 8 * made.file.length; bit++) {
        unsigned char mask = (unsigned char)(1u << bit % 8);
        made.file.at[bit / 8] ^= mask;
        check_damaged(made.file.at, made.file.length, 2);
        made.file.at[bit / 8] ^= mask;
    }
    le_made_finish(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_part),
        cmocka_unit_test(links_graphs_and_inner_calls),
        cmocka_unit_test(joins_processes),
        cmocka_unit_test(devices_are_known_by_their_uuid),
        cmocka_unit_test(a_number_alone_is_ambiguous),
        cmocka_unit_test(waits_have_a_device),
        cmocka_unit_test(moves_clocks),
        cmocka_unit_test(reads_pauses),
        cmocka_unit_test(rejects_invalid_records),
        cmocka_unit_test(texts_can_be_shown),
        cmocka_unit_test(notes_are_cut_between_characters),
        cmocka_unit_test(finds_the_next_part),
        cmocka_unit_test(rejects_files_that_are_no_traces),
        cmocka_unit_test(skips_a_damaged_block),
        cmocka_unit_test(survives_every_cut),
        cmocka_unit_test(survives_every_flipped_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
