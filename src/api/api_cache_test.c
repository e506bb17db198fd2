/* The code cache through leat.h: listing entries that a store has written, and wrong arguments. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/store_testing.h"
#include "leat.h"

static void keep_note(leat_log_level level, const char *text, void *user) {
    assert_int_equal(level, LEAT_LOG_NOTE);
    snprintf(user, 200, "%s", text);
}

static leat_context *open_context(char *note) {
    leat_context *ctx = NULL;
    const leat_options options = {.device = "cpu", .threads = 1, .log = keep_note, .log_user = note};
    assert_int_equal(leat_open(&options, &ctx), LEAT_OK);
    return ctx;
}

static void tells_what_is_kept(void **state) {
    (void)state;
    struct scratch scratch;
    leat_cache_info info;
    leat_cache_entry *entries;
    size_t count;
    char note[200] = "";
    scratch_make(&scratch);
    setenv("LEAT_CACHE_DIR", scratch.folder, 1);
    leat_context *ctx = open_context(note);
    assert_int_equal(leat_cache_stat(ctx, &info), LEAT_OK);
    assert_true(info.count == 0 && info.size_bytes == 0 && info.cap_bytes == 1 << 30);
    put_anew(scratch.folder, "older", "value");
    put_anew(scratch.folder, "newer", "value");
    for (int k = 0; k < 3; k++)
        assert_true(get_anew(scratch.folder, "newer", "value"));
    assert_int_equal(leat_cache_stat(ctx, &info), LEAT_OK);
    assert_true(info.count == 2 && info.size_bytes == 2 * (HEADER_BYTES + 10));
    assert_string_equal(info.folder, scratch.folder);
    assert_int_equal(leat_cache_list(ctx, &entries, &count), LEAT_OK);
    assert_int_equal(count, 2);
    assert_string_equal(entries[0].label, "older");
    assert_string_equal(entries[1].label, "newer");
    assert_true(entries[0].uses == 0 && entries[1].uses == 3);
    assert_true(entries[1].used_s >= entries[1].made_s && entries[1].made_s > 1500000000);
    leat_memory_free(entries);
    assert_int_equal(leat_cache_clear(ctx, &info), LEAT_OK);
    assert_int_equal(info.count, 2);
    assert_int_equal(leat_cache_clear(ctx, NULL), LEAT_OK);
    assert_int_equal(count_files(scratch.folder), 0);
    assert_string_equal(note, "");
    leat_close(ctx);
    setenv("LEAT_CACHE_CAP_BYTES", "lots", 1);
    ctx = open_context(note);
    assert_int_equal(leat_cache_stat(ctx, &info), LEAT_OK);
    assert_non_null(strstr(note, "LEAT_CACHE_CAP_BYTES=lots"));
    unsetenv("LEAT_CACHE_CAP_BYTES");
    leat_close(ctx);
    scratch_remove(&scratch);
}

static void refuses(void **state) {
    (void)state;
    struct scratch scratch;
    leat_cache_info info = {.count = 7};
    leat_cache_entry *entries = NULL;
    size_t count = 7;
    char note[200] = "";
    scratch_make(&scratch);
    setenv("LEAT_CACHE_DIR", scratch.folder, 1);
    leat_context *ctx = open_context(note);
    assert_int_equal(leat_cache_stat(NULL, &info), LEAT_INVALID);
    assert_int_equal(leat_cache_stat(ctx, NULL), LEAT_INVALID);
    assert_int_equal(leat_cache_list(NULL, &entries, &count), LEAT_INVALID);
    assert_int_equal(leat_cache_list(ctx, NULL, &count), LEAT_INVALID);
    assert_int_equal(leat_cache_list(ctx, &entries, NULL), LEAT_INVALID);
    assert_int_equal(leat_cache_clear(NULL, &info), LEAT_INVALID);
    assert_int_equal(mkdir(scratch.folder, 0700), 0);
    assert_int_equal(chmod(scratch.folder, 0777), 0);
    assert_int_equal(leat_cache_stat(ctx, &info), LEAT_FILE);
    assert_int_equal(leat_cache_list(ctx, &entries, &count), LEAT_FILE);
    assert_int_equal(leat_cache_clear(ctx, &info), LEAT_FILE);
    assert_true(info.count == 7 && count == 7 && !entries);
    leat_close(ctx);
    scratch_remove(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tells_what_is_kept), cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
